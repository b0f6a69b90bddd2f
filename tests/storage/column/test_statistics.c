/* test_statistics.c: minima, maxima, nulls, runs and distinct counts against the obvious loops. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/column/statistics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEED     7u
#define ROWS_MAX 3000

static uint64_t random_state;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Values of both widths, a validity, and the answers by the obvious loops. */
struct case_data {
    uint32_t rows;
    int32_t narrow[ROWS_MAX];
    int64_t wide[ROWS_MAX];
    uint64_t validity[ROWS_MAX / 64 + 1];
};

static void check_case(const struct case_data *data, uint32_t value_bytes, bool with_nulls)
{
    const void *values = value_bytes == 4 ? (const void *)data->narrow : (const void *)data->wide;
    int64_t tile_min_max[2 * (ROWS_MAX / TILE_ROWS + 1)];
    struct column_statistics got, want = COLUMN_STATISTICS_NONE;
    statistics_segment(values, value_bytes, data->rows, with_nulls ? data->validity : NULL, tile_min_max,
                       &got);
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (uint32_t r = 0; r < data->rows; r++) {
        int64_t value = value_bytes == 4 ? data->narrow[r] : data->wide[r];
        int64_t before = r == 0 ? 0 : value_bytes == 4 ? data->narrow[r - 1] : data->wide[r - 1];
        bool valid = !with_nulls || (data->validity[r / 64] >> r % 64 & 1);
        want.runs += r == 0 || value != before;
        want.nulls += !valid;
        if (r % TILE_ROWS == 0)
            min = INT64_MAX, max = INT64_MIN;
        if (valid && value < min)
            min = value;
        if (valid && value > max)
            max = value;
        if (r % TILE_ROWS == TILE_ROWS - 1 || r == data->rows - 1) {
            assert_int_equal(tile_min_max[2 * (r / TILE_ROWS)], min);
            assert_int_equal(tile_min_max[2 * (r / TILE_ROWS) + 1], max);
            want.min = min < want.min ? min : want.min;
            want.max = max > want.max ? max : want.max;
        }
    }
    assert_int_equal(got.min, want.min);
    assert_int_equal(got.max, want.max);
    assert_int_equal(got.nulls, want.nulls);
    assert_int_equal(got.runs, want.runs);
}

static void segments_agree_with_the_obvious_loop(void **state)
{
    (void)state;
    static struct case_data data;
    const uint32_t sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, ROWS_MAX};
    random_state = SEED;
    print_message("seed %u\n", SEED);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int shape = 0; shape < 5; shape++) {
            data.rows = sizes[s];
            for (uint32_t r = 0; r < data.rows; r++) {
                uint64_t random = random_next();
                int64_t shapes[] = {-7, (int64_t)random, (int64_t)(random % 3), r / 10,
                                    r % 2 ? INT64_MIN : INT64_MAX};
                data.wide[r] = shapes[shape];
                data.narrow[r] = shape == 4 ? (r % 2 ? INT32_MIN : INT32_MAX) : (int32_t)shapes[shape];
            }
            for (size_t w = 0; w < sizeof data.validity / 8; w++)
                data.validity[w] = s % 3 == 0 ? 0 : random_next() & random_next();
            for (uint32_t bytes = 4; bytes <= 8; bytes += 4)
                for (int nulls = 0; nulls < 2; nulls++)
                    check_case(&data, bytes, nulls);
        }
}

static void no_rows_have_no_least_value(void **state)
{
    (void)state;
    struct column_statistics got;
    int64_t none[1];
    statistics_segment(NULL, 4, 0, NULL, none, &got);
    assert_true(got.min > got.max);
    assert_int_equal(got.runs, 0);
    assert_int_equal(got.nulls, 0);
}

static void merging_adds_up(void **state)
{
    (void)state;
    struct column_statistics into = COLUMN_STATISTICS_NONE;
    statistics_merge(&into, &(struct column_statistics){.min = -5, .max = 3, .nulls = 2, .runs = 4});
    statistics_merge(&into, &(struct column_statistics){.min = -1, .max = 9, .nulls = 1, .runs = 6});
    statistics_merge(&into, &COLUMN_STATISTICS_NONE);
    assert_int_equal(into.min, -5);
    assert_int_equal(into.max, 9);
    assert_int_equal(into.nulls, 3);
    assert_int_equal(into.runs, 10);
}

/* count values first, first + step, ... each twice, in two segments that share a third of them. */
static uint64_t count_progression(int64_t first, int64_t step, uint32_t count, uint32_t value_bytes)
{
    struct distinct all = {0};
    for (int segment = 0; segment < 2; segment++) {
        struct distinct part;
        uint32_t from = segment ? count / 3 : 0, to = segment ? count : count / 3 * 2 + 1,
                 rows = 2 * (to - from);
        int64_t *wide = malloc(rows * sizeof *wide);
        int32_t *narrow = malloc(rows * sizeof *narrow);
        assert_true(wide && narrow);
        for (uint32_t r = 0; r < rows; r++) {
            wide[r] = first + step * (from + r / 2);
            narrow[r] = (int32_t)wide[r];
        }
        int64_t last = first + step * (to - 1);
        assert_int_equal(distinct_take(&part, value_bytes == 4 ? (void *)narrow : (void *)wide, value_bytes,
                                       rows, first + step * from, last, NULL),
                         STATUS_OK);
        assert_int_equal(distinct_merge(&all, &part, NULL), STATUS_OK);
        distinct_free(&part);
        free(wide);
        free(narrow);
    }
    uint64_t result = distinct_count(&all);
    distinct_free(&all);
    return result;
}

static void narrow_spans_are_counted_exactly(void **state)
{
    (void)state;
    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
        assert_int_equal(count_progression(0, 1, 1, bytes), 1);
        assert_int_equal(count_progression(-500, 1, 1000, bytes), 1000);
        assert_int_equal(count_progression(19920101, 4, 2557, bytes), 2557);
        assert_int_equal(count_progression(-3, 4, DISTINCT_SPAN_MAX / 4, bytes), DISTINCT_SPAN_MAX / 4);
    }
    assert_int_equal(count_progression(INT64_MIN, 1, 100, 8), 100);
    assert_int_equal(count_progression(INT64_MAX - 99, 1, 100, 8), 100);
}

/* Five standard errors of 0.81 %: a failure means that the sketch is wrong, not unlucky. */
static void assert_near(uint64_t got, uint64_t want)
{
    if (100 * got < 96 * want || 100 * got > 104 * want)
        fail_msg("estimated %" PRIu64 " of %" PRIu64 " values", got, want);
}

static void wide_spans_are_estimated(void **state)
{
    (void)state;
    const uint32_t counts[] = {2, 100, 5000, 40000, 80000, 300000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        assert_near(count_progression(-1000000000, 2000000000 / counts[c], counts[c], 4), counts[c]);
        assert_near(count_progression(INT64_MIN, INT64_MAX / counts[c], counts[c], 8), counts[c]);
        assert_near(count_progression(1, 1ll << 40, counts[c], 8), counts[c]);
    }
    assert_near(count_progression(0, 4, DISTINCT_SPAN_MAX / 2, 4), DISTINCT_SPAN_MAX / 2);
}

static void exact_and_estimated_sets_merge(void **state)
{
    (void)state;
    struct distinct exact, estimated;
    int32_t values[20000];
    for (int r = 0; r < 20000; r++)
        values[r] = r % 10000;
    assert_int_equal(distinct_take(&exact, values, 4, 20000, 0, 9999, NULL), STATUS_OK);
    for (int r = 0; r < 20000; r++)
        values[r] = (int32_t)((int64_t)r * 100000); /* shares only 0 */
    assert_int_equal(distinct_take(&estimated, values, 4, 20000, 0, values[19999], NULL), STATUS_OK);
    assert_int_equal(distinct_merge(&exact, &estimated, NULL), STATUS_OK);
    assert_near(distinct_count(&exact), 29999);
    distinct_free(&exact);
    distinct_free(&estimated);
    assert_int_equal(distinct_count(&exact), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_agree_with_the_obvious_loop),
        cmocka_unit_test(no_rows_have_no_least_value),
        cmocka_unit_test(merging_adds_up),
        cmocka_unit_test(narrow_spans_are_counted_exactly),
        cmocka_unit_test(wide_spans_are_estimated),
        cmocka_unit_test(exact_and_estimated_sets_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
