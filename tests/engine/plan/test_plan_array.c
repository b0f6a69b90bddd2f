/* test_plan_array.c: arrays of dimension columns: plan_array_fill keeps each value in the fewest bytes that hold all, by
 * element or gathered through rows, on any number of threads; plan_array_read and plan_array_gather give them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/plan/levels/level_plan.h"
#include "tests/support/codec/codec_cases.h"

#include <stdlib.h>

#define VALUES_MOST 200001u /* four parts of plan_array_fill, the last of one element more than whole words */

static int64_t values[VALUES_MOST];
static uint8_t nulls[VALUES_MOST];
static int32_t rows[VALUES_MOST];
static uint64_t state = 29;

/* Draws values of low .. high, NULLs whose values are beyond them, and rows, of which some are none. */
static void draw(int64_t low, int64_t high, bool any_null)
{
    for (uint32_t i = 0; i < VALUES_MOST; i++) {
        nulls[i] = any_null && random_next(&state) % 20 == 0;
        values[i] =
            nulls[i] ? INT64_MIN : low + (int64_t)(random_next(&state) % ((uint64_t)(high - low) + 1));
        rows[i] = (int32_t)(random_next(&state) % 1000);
    }
    nulls[0] = nulls[1] = 0;
    values[0] = low;
    values[1] = high;
}

static void check_element(int64_t from, int64_t value, uint8_t null)
{
    const bool expected = from < 0 || nulls[from];
    assert_int_equal(null, expected);
    assert_int_equal(value, expected ? 0 : values[from]);
}

/* Reads stretches that begin at any place of a word. */
static void check(const struct plan_array *array, const int32_t *through, uint32_t count)
{
    int64_t read[1024], positions[1024];
    uint8_t null[1024], gathered_null[1024];
    for (uint32_t first = 0, step; first < count; first += step) {
        step = 1 + (uint32_t)(random_next(&state) % 1024);
        step = step < count - first ? step : count - first;
        plan_array_read(array, first, step, read, null);
        for (uint32_t i = 0; i < step; i++) {
            positions[i] = first + i;
            check_element(through ? through[first + i] : (int64_t)first + i, read[i], null[i]);
        }
        plan_array_gather(array, positions, NULL, step, read, gathered_null);
        assert_memory_equal(null, gathered_null, step);
    }
}

static void fill_and_check(uint32_t count, uint32_t value_count, bool any_null, bool gathered, uint32_t bytes)
{
    static const struct column column = {.schema = {.name = "size"}};
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct plan_array array = {.column = &column, .rows = count};
        assert_int_equal(plan_array_fill(&array, values, any_null ? nulls : NULL, value_count,
                                         gathered ? rows : NULL, count, threads, NULL),
                         STATUS_OK);
        if (value_count > 1)
            assert_int_equal(array.value_bytes, bytes);
        check(&array, gathered ? rows : NULL, count);
        free(array.copy);
        free(array.valid_copy);
    }
}

static void arrays_have_their_values(void **unused)
{
    static const struct {
        int64_t low, high;
        uint32_t bytes;
    } ranges[] = {{0, 255, 1},
                  {0, 256, 2},
                  {0, 65535, 2},
                  {-1, 100, 4},
                  {0, 65536, 4},
                  {INT32_MIN, INT32_MAX, 4},
                  {0, INT64_C(1) << 31, 8},
                  {INT64_MIN / 2, 0, 8}};
    static const uint32_t counts[] = {0, 1, 31, 32, 33, 1023, 65536, 65537, VALUES_MOST};
    (void)unused;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int any_null = 0; any_null < 2; any_null++) {
            draw(ranges[r].low, ranges[r].high, any_null);
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                fill_and_check(counts[c], counts[c], any_null, false, ranges[r].bytes);
                fill_and_check(counts[c], 1000, any_null, true, ranges[r].bytes);
            }
        }
}

static void rows_without_a_match_are_null(void **unused)
{
    (void)unused;
    for (int any_null = 0; any_null < 2; any_null++) {
        draw(0, 200, any_null);
        for (uint32_t i = 0; i < VALUES_MOST; i += 7)
            rows[i] = -1;
        fill_and_check(VALUES_MOST, 1000, any_null, true, 1);
        fill_and_check(8, 1000, any_null, true, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_have_their_values),
                                       cmocka_unit_test(rows_without_a_match_are_null)};
    return cmocka_run_group_tests_name("plan_array", tests, NULL, NULL);
}
