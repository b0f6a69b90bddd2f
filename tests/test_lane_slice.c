/* test_lane_slice.c: lane-slice: the general cases, its size, and its bits. */
#include "tests/codec_cases.h"

static void it_is_as_large_as_lane_for(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    int64_t *values = cases_allocate(3001 * sizeof *values);
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
        for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4) {
            fills[f](values, 3001, value_bytes, &random);
            assert_int_equal(check_round_trip(cases_codec(state), values, 3001, value_bytes),
                             check_round_trip(CODEC_LANE_FOR, values, 3001, value_bytes));
        }
    free(values);
}

/* The worked example of docs/codecs.md: row r holds 100 + r / 32 % 8. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    int32_t values[TILE_ROWS];
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = 100 + (int32_t)(r / 32 % 8);
    values[37] = 100; /* item 1 of lane 5 */
    const struct codec *codec = codec_by_id(CODEC_LANE_SLICE);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec->encode(values, TILE_ROWS, 4, chunk), 128 + 3 * 128 + 256);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128);
    assert_int_equal(directory[0], 3u << 26);
    assert_int_equal(directory[1], 100);
    for (uint32_t lane = 0; lane < TILE_LANES; lane++) {
        assert_int_equal(data[lane], lane == 5 ? 0xaaaaaaa8u : 0xaaaaaaaau);
        assert_int_equal(data[32 + lane], 0xccccccccu);
        assert_int_equal(data[64 + lane], 0xf0f0f0f0u);
    }
    free(chunk);
}

/* By the rule of the format alone, in both value sizes and at every width. */
static void every_bit_is_in_its_plane(void **state)
{
    (void)state;
    uint64_t random = CODEC_CASES_SEED;
    const struct codec *codec = codec_by_id(CODEC_LANE_SLICE);
    for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4)
        for (unsigned width = 1; width <= value_bytes * 8; width++) {
            int64_t values[TILE_ROWS];
            const uint64_t reference = type_least(value_bytes);
            for (uint32_t r = 0; r < TILE_ROWS; r++)
                cases_set(values, r, value_bytes, reference + random_bits(&random, width));
            cases_set(values, 0, value_bytes, reference);
            cases_set(values, 1, value_bytes, reference + (UINT64_MAX >> (64 - width)));
            uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, value_bytes));
            codec->encode(values, TILE_ROWS, value_bytes, chunk);
            const uint32_t *planes = (const uint32_t *)(chunk + 128);
            for (uint32_t r = 0; r < TILE_ROWS; r++)
                for (unsigned k = 0; k < width; k++)
                    assert_int_equal(planes[k * 32 + r % 32] >> r / 32 & 1,
                                     ((uint64_t)cases_value(values, r, value_bytes) - reference) >> k & 1);
            free(chunk);
        }
}

int main(void)
{
    static enum codec_id id = CODEC_LANE_SLICE;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(it_is_as_large_as_lane_for, &id),
        cmocka_unit_test(bits_are_where_the_format_says),
        cmocka_unit_test(every_bit_is_in_its_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
