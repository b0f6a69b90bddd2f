/* test_lane_delta.c: lane-delta: the general cases, the size of sorted columns, and its bits. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (512 * TILE_ROWS)
static int32_t values[ROWS];

/* All differences are 32: width 0; the first values need 5 bits: 5 words and a directory entry for 1024 rows.
 */
static void sorted_numbers_take_almost_nothing(void **state)
{
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)i + 1;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), (16 + 32) * 8.0 / 1024, 0.01);
}

/* The worked example of docs/codecs.md: row r holds 100 + r, but row 32 one more. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = 100 + (int32_t)r + (r == 32);
    const struct codec *codec = codec_by_id(CODEC_LANE_DELTA);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk),
                     128 + 640); /* 288 bytes and 256 spare */
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128);
    /* lane 0 goes 100, 133, 164, ...: differences 33, 31, 32, 32, ..., minus 31: 2, 0, 1, 1, ... */
    assert_int_equal(directory[0], 2u << 26);
    assert_int_equal(directory[1], 5);
    assert_int_equal(directory[2], 100);
    assert_int_equal(directory[3], 31);
    assert_int_equal(data[0], 0x55555552);
    assert_int_equal(data[1], 0x55555555);
    assert_int_equal(data[32], 0x15555555); /* 15 of 16 places: there are 31 deltas */
    /* 0, 1, 2, ... in 5 bits each */
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t two;
        memcpy(&two, data + 64 + lane * 5 / 32, sizeof two);
        assert_int_equal(two >> lane * 5 % 32 & 31, lane);
    }
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_LANE_DELTA;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(sorted_numbers_take_almost_nothing, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
