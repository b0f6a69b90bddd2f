/* test_gpu_bp128.c: gpu-bp128: the general cases, the published sizes, its bits, and end points that it refuses. */
#include "tests/support/posting_lists.h"

#define ROWS (512 * TILE_ROWS)
static int32_t values[ROWS];

/* Table 1 of the paper, uniform lists. */
static void gaps_take_the_published_bits(void **state)
{
    check_published_bits(cases_codec(state), 16.22, 7.18);
}

static void overhead_is_an_end_point_a_block(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 8; width <= 32; width++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + 0.25, 0.01);
    }
}

static void zeros_take_only_end_points(void **state)
{
    memset(values, 0, sizeof values);
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 0.25, 0.01);
}

/* There is no reference. */
static void a_negative_value_widens_its_block(void **state)
{
    memset(values, 0, sizeof values);
    for (uint32_t i = 0; i < ROWS; i += 128)
        values[i] = -1;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 32 + 0.25, 0.01);
}

/* The worked example of docs/codecs.md. */
static void bits_are_where_the_format_says(void **state)
{
    uint8_t *chunk = check_packed_example(cases_codec(state), 128);
    static const uint32_t ends[] = {0, 12, 52, 64, 76, 88, 100, 112, 124};
    assert_memory_equal(chunk + 64, ends, sizeof ends);
    free(chunk);
}

static void wrong_end_points_are_refused(void **state)
{
    uint8_t *chunk = check_packed_example(cases_codec(state), 128);
    check_end_point_refused(chunk, 0, 4);     /* the first is 0 */
    check_end_point_refused(chunk, 1, 1);     /* a width is whole */
    check_end_point_refused(chunk, 1, 4);     /* the header has the widths */
    check_end_point_refused(chunk, 2, 4000);  /* too wide */
    check_end_point_refused(chunk, 2, -1000); /* before the end point before it */
    check_end_point_refused(chunk, 8, 4);     /* the end of the data */
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_GPU_BP128;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(gaps_take_the_published_bits, &id),
        cmocka_unit_test_prestate(overhead_is_an_end_point_a_block, &id),
        cmocka_unit_test_prestate(zeros_take_only_end_points, &id),
        cmocka_unit_test_prestate(a_negative_value_widens_its_block, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
        cmocka_unit_test_prestate(wrong_end_points_are_refused, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
