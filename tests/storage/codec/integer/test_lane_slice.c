/* test_lane_slice.c: lane-slice: the general cases, its size, its bits, and ranges on its planes. */
#include "storage/codec/integer/lane_slice.h"
#include "tests/support/codec/codec_cases.h"

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
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 128 + 3 * 128 + 256);
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
            codec_encode(codec, values, TILE_ROWS, value_bytes, chunk);
            const uint32_t *planes = (const uint32_t *)(chunk + 128);
            for (uint32_t r = 0; r < TILE_ROWS; r++)
                for (unsigned k = 0; k < width; k++)
                    assert_int_equal(planes[k * 32 + r % 32] >> r / 32 & 1,
                                     ((uint64_t)cases_value(values, r, value_bytes) - reference) >> k & 1);
            free(chunk);
        }
}

static void check_range(const struct chunk_view *chunk, const int32_t *values, int64_t low, int64_t high)
{
    if (low < INT32_MIN || low > INT32_MAX || high < INT32_MIN || high > INT32_MAX)
        return;
    for (int level = 0; level <= (int)isa_level(); level++)
        for (uint32_t t = 0; t < chunk->tiles; t++) {
            uint64_t bits[TILE_ROWS / 64];
            memset(bits, 0x5a, sizeof bits);
            codec_by_id_isa(CODEC_LANE_SLICE, (enum isa_level)level)
                ->in_range(chunk, t, (int32_t)low, (int32_t)high, bits);
            for (uint32_t row = t * TILE_ROWS; row < (t + 1) * TILE_ROWS && row < chunk->rows; row++)
                if ((bits[row % TILE_ROWS / 64] >> row % 64 & 1) !=
                    (values[row] >= low && values[row] <= high))
                    fail_msg("%s: row %u, %d, is on the wrong side of %lld .. %lld",
                             isa_name((enum isa_level)level), row, values[row], (long long)low,
                             (long long)high);
        }
}

/* Tiles of every width at references in the middle and at both ends of the type; bounds at, next to and
 * between all corners, in both orders. */
static void ranges_are_those_of_the_values(void **state)
{
    (void)state;
    enum { ROWS = TILE_ROWS + 300 };
    uint64_t random = CODEC_CASES_SEED;
    int32_t values[ROWS];
    const struct codec *codec = codec_by_id(CODEC_LANE_SLICE);
    uint8_t *bytes = cases_allocate(codec->bound(ROWS, 4));
    for (unsigned width = 0; width <= 32; width++)
        for (int place = 0; place < 3; place++) {
            const int64_t most = (int64_t)((UINT64_C(1) << width) - 1);
            const int64_t reference = place == 0   ? INT32_MIN
                                      : place == 1 ? INT32_MAX - most
                                                   : (INT32_MIN + INT32_MAX - most) / 2;
            for (uint32_t i = 0; i < ROWS; i++)
                values[i] = (int32_t)(reference + (int64_t)random_bits(&random, width));
            values[0] = values[ROWS - 1] = (int32_t)reference;
            values[TILE_ROWS - 1] = values[TILE_ROWS] = (int32_t)(reference + most);
            struct chunk_view chunk;
            struct error error = {0};
            const size_t size = codec_encode(codec, values, ROWS, 4, bytes);
            assert_int_equal(chunk_open(bytes, size, &chunk, &error), STATUS_OK);
            const int64_t somewhere = reference + (int64_t)random_bits(&random, width);
            const int64_t bounds[] = {INT32_MIN,
                                      INT32_MAX,
                                      reference - 1,
                                      reference,
                                      reference + 1,
                                      somewhere,
                                      values[777],
                                      (int64_t)values[778] + 1,
                                      reference + most - 1,
                                      reference + most,
                                      reference + most + 1};
            for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
                for (size_t j = 0; j < sizeof bounds / sizeof *bounds; j++)
                    check_range(&chunk, values, bounds[i], bounds[j]);
        }
    free(bytes);
}

int main(void)
{
    static enum codec_id id = CODEC_LANE_SLICE;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(it_is_as_large_as_lane_for, &id),
        cmocka_unit_test(bits_are_where_the_format_says),
        cmocka_unit_test(every_bit_is_in_its_plane),
        cmocka_unit_test(ranges_are_those_of_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
