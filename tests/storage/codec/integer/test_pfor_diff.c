/* test_pfor_diff.c: pfor-diff: the general cases, its size on time series, and its bits. */
#include "tests/support/codec/outliers.h"

#define ROWS (256 * TILE_ROWS)
static int32_t values[ROWS];

/* A walk of steps of 4 bits with a jump of 20 bits up or down in every twentieth row. */
static void jumps_of_a_time_series_are_exceptions(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    int32_t value = 100000000;
    for (uint32_t i = 0; i < ROWS; i++) {
        const int32_t jump = (int32_t)(1u << 19 | random_bits(&random, 19));
        value += (int32_t)random_bits(&random, 4) - 8 + (i % 20 ? 0 : random_bits(&random, 1) ? jump : -jump);
        values[i] = value;
    }
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 4 + 0.05 * (10 + 21 - 4) + 6 * 32 / 1024.0,
               0.06);
}

/* Differences that are all alike leave six words a tile. */
static void a_straight_line_takes_the_header_alone(void **state)
{
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = 7 * (int32_t)i - 12345;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 6 * 32 / 1024.0, 0.01);
}

/* The worked example of docs/codecs.md: 100, 103, 106, …, and 1000 more from row 700 on. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = 100 + 3 * (int32_t)r + (r < 700 ? 0 : 1000);
    const struct codec *codec = codec_by_id(CODEC_PFOR_DIFF);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 128 + 128);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128);
    assert_int_equal(directory[0], 0);
    assert_int_equal(directory[1], 5);
    /* all widths are 0; one exception, row 700; references 3 and 1000; before row 0 stands 97 */
    static const uint32_t block[] = {0, 1 | 700 << 16, 3, 1000, 97};
    assert_memory_equal(data, block, sizeof block);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_PFOR_DIFF;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(outliers_round_trip, &id),
        cmocka_unit_test_prestate(jumps_of_a_time_series_are_exceptions, &id),
        cmocka_unit_test_prestate(a_straight_line_takes_the_header_alone, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
