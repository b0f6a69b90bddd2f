/* test_cells.c: rows go to the places that a stable sort by their codes gives them, on one thread and on several, at odd sizes,
 * and values and NULLs follow them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/database/clustering/cells.h"
#include "tests/support/codec/codec_cases.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 300001u

static int32_t narrow[ROWS_MOST];
static int64_t wide[ROWS_MOST];
static uint64_t validity[ROWS_MOST / 64 + 1], moved_bits[ROWS_MOST / 64 + 1];
static uint32_t places[ROWS_MOST], expected[ROWS_MOST];

/* Three terms: three bits of positions, values from -3 on, of which some are NULL, and leading bits of 64-bit values. */
static const struct cell_term terms[] = {
    {.values = narrow, .value_bytes = 4, .shift = 10, .bits = 3},
    {.values = wide, .validity = validity, .value_bytes = 8, .shift = 0, .bits = 3, .least = -3},
    {.values = wide, .value_bytes = 8, .shift = 1, .bits = 2, .least = -3},
};

static void make_rows(uint32_t rows, uint64_t *random)
{
    memset(validity, 0, sizeof validity);
    for (uint32_t r = 0; r < rows; r++) {
        narrow[r] = (int32_t)random_bits(random, 13);
        wide[r] = (int64_t)(random_next(random) % 7) - 3;
        validity[r / 64] |= (uint64_t)(random_next(random) % 5 != 0) << r % 64;
    }
}

static uint32_t cell_of(uint32_t row)
{
    const bool valid = validity[row / 64] >> row % 64 & 1;
    const uint32_t second = valid ? (uint32_t)(wide[row] + 3) + 1 : 0, third = (uint32_t)(wide[row] + 3) >> 1;
    return (uint32_t)narrow[row] >> 10 << 5 | second << 2 | third;
}

static int by_cell(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b, of_x = cell_of(x), of_y = cell_of(y);
    return of_x != of_y ? (of_x > of_y) - (of_x < of_y) : (x > y) - (x < y);
}

static void check(uint32_t rows, unsigned threads, uint64_t *random)
{
    uint32_t cells, used = 0;
    struct error error;
    int32_t *const to_narrow = malloc(rows * sizeof *to_narrow + 1);
    int64_t *const to_wide = malloc(rows * sizeof *to_wide + 1);
    make_rows(rows, random);
    assert_int_equal(cells_place(terms, 3, rows, threads, places, &cells, &error), STATUS_OK);
    for (uint32_t r = 0; r < rows; r++)
        expected[r] = r;
    qsort(expected, rows, sizeof *expected, by_cell);
    cells_scatter(places, rows, 4, narrow, to_narrow);
    cells_scatter(places, rows, 8, wide, to_wide);
    cells_scatter_bits(places, rows, validity, moved_bits);
    for (uint32_t p = 0; p < rows; p++) {
        const uint32_t row = expected[p];
        used += p == 0 || cell_of(row) != cell_of(expected[p - 1]);
        assert_int_equal(places[row], p);
        assert_int_equal(to_narrow[p], narrow[row]);
        assert_int_equal(to_wide[p], wide[row]);
        assert_int_equal(moved_bits[p / 64] >> p % 64 & 1, validity[row / 64] >> row % 64 & 1);
    }
    assert_int_equal(cells, used);
    free(to_narrow);
    free(to_wide);
}

static void rows_go_where_a_stable_sort_puts_them(void **state)
{
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 65535, 65537, ROWS_MOST};
    uint64_t random = CODEC_CASES_SEED;
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned threads = 1; threads <= 4; threads += 3)
            check(sizes[s], threads, &random);
}

static void without_terms_rows_stay(void **state)
{
    uint32_t cells;
    struct error error;
    (void)state;
    assert_int_equal(cells_place(NULL, 0, 1025, 2, places, &cells, &error), STATUS_OK);
    assert_int_equal(cells, 1);
    for (uint32_t r = 0; r < 1025; r++)
        assert_int_equal(places[r], r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_where_a_stable_sort_puts_them),
        cmocka_unit_test(without_terms_rows_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
