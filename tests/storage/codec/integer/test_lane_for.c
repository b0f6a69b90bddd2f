/* test_lane_for.c: lane-for: the general cases, its overhead, and its bits. */
#include "tests/support/codec/codec_cases.h"

static void overhead_is_a_sixteenth_of_a_bit(void **state)
{
    static int32_t values[256 * TILE_ROWS];
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 1; width < 32; width++) {
        for (uint32_t i = 0; i < 256 * TILE_ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, 256 * TILE_ROWS, 4), width + 0.0625, 0.02);
    }
}

/* The worked example of docs/codecs.md: row r holds 100 + r % 8. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    int32_t values[TILE_ROWS];
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = 100 + (int32_t)(r % 8);
    const struct codec *codec = codec_by_id(CODEC_LANE_FOR);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 128 + 3 * 128 + 256);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128);
    assert_int_equal(directory[0], 3u << 26);
    assert_int_equal(directory[1], 100);
    /* lane 5: all 32 items are 5, that is 101 over and over; lane 0: all 0 */
    assert_int_equal(data[5], 0x6db6db6du);
    assert_int_equal(data[32 + 5], 0xdb6db6dbu);
    assert_int_equal(data[64 + 5], 0xb6db6db6u);
    assert_int_equal(data[0] | data[32] | data[64], 0);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_LANE_FOR;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(overhead_is_a_sixteenth_of_a_bit, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
