/*
 * gpu_bp_cases.h: the tests of a codec of binary packing in blocks (gpu_bp.h), whatever the block's size. The file that
 * includes it defines BLOCK_ROWS, PUBLISHED_SPARSE and PUBLISHED_DENSE, the bits an integer of the paper's table 1.
 */
#include "tests/support/codec/posting_lists.h"

#define ROWS           (512 * TILE_ROWS)
#define END_POINT_BITS (32.0 / BLOCK_ROWS)
#define BLOCK_WORDS    (BLOCK_ROWS / 32) /* of a width of 1 */
static int32_t values[ROWS];

/* Table 1 of the paper, uniform lists. */
static void gaps_take_the_published_bits(void **state)
{
    check_published_bits(cases_codec(state), PUBLISHED_SPARSE, PUBLISHED_DENSE);
}

static void overhead_is_an_end_point_a_block(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 8; width <= 32; width++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + END_POINT_BITS, 0.01);
    }
}

static void zeros_take_only_end_points(void **state)
{
    memset(values, 0, sizeof values);
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), END_POINT_BITS, 0.01);
}

/* There is no reference. */
static void a_negative_value_widens_its_block(void **state)
{
    memset(values, 0, sizeof values);
    for (uint32_t i = 0; i < ROWS; i += BLOCK_ROWS)
        values[i] = -1;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 32 + END_POINT_BITS, 0.01);
}

/* The worked example of docs/codecs.md. */
static void bits_are_where_the_format_says(void **state)
{
    uint8_t *chunk = check_packed_example(cases_codec(state), BLOCK_ROWS);
    assert_memory_equal(chunk + 64, example_ends, sizeof example_ends);
    free(chunk);
}

static void wrong_end_points_are_refused(void **state)
{
    uint8_t *chunk = check_packed_example(cases_codec(state), BLOCK_ROWS);
    check_end_point_refused(chunk, 0, BLOCK_WORDS);                      /* the first is 0 */
    check_end_point_refused(chunk, 1, 1);                                /* a width is whole */
    check_end_point_refused(chunk, 1, BLOCK_WORDS);                      /* the header has the widths */
    check_end_point_refused(chunk, 2, 4000);                             /* too wide */
    check_end_point_refused(chunk, 2, -1000);                            /* before the end point before it */
    check_end_point_refused(chunk, TILE_ROWS / BLOCK_ROWS, BLOCK_WORDS); /* the end of the data */
    free(chunk);
}

#define GPU_BP_CASES(ID)                                                            \
    CODEC_CASES(ID), cmocka_unit_test_prestate(gaps_take_the_published_bits, (ID)), \
        cmocka_unit_test_prestate(overhead_is_an_end_point_a_block, (ID)),          \
        cmocka_unit_test_prestate(zeros_take_only_end_points, (ID)),                \
        cmocka_unit_test_prestate(a_negative_value_widens_its_block, (ID)),         \
        cmocka_unit_test_prestate(bits_are_where_the_format_says, (ID)),            \
        cmocka_unit_test_prestate(wrong_end_points_are_refused, (ID))
