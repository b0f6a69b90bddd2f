/* test_sort_rows.c: rows come in the order of their terms as a plain sort gives it: few rows and many, values of few bits
 * and of all, NULLs first and last, terms that fit one rank and terms that do not, all rows and the first ones. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/answer/sort_rows.h"
#include "storage/base/execution/spillable.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>
#include <string.h>

#define TERMS 4u

static struct sort_term terms[TERMS];
static uint32_t term_count;

static int64_t value_of(const struct sort_term *term, uint64_t row, bool *null)
{
    const uint64_t at = term->through ? term->through[row] : row;
    *null = term->nulls && term->nulls[at];
    return term->values ? term->values[at] : term->small[at];
}

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    for (uint32_t t = 0; t < term_count; t++) {
        bool a_null, b_null;
        const int64_t x = value_of(&terms[t], a, &a_null), y = value_of(&terms[t], b, &b_null);
        if (a_null != b_null)
            return a_null == terms[t].nulls_first ? -1 : 1;
        if (!a_null && x != y)
            return (x < y) == terms[t].descending ? 1 : -1;
    }
    return a < b ? -1 : 1;
}

static int64_t random_value(uint32_t kind)
{
    const uint64_t wide = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
    switch (kind) {
    case 0:
        return 7;
    case 1:
        return below(5);
    case 2:
        return (int64_t)below(100000) - 50000;
    case 3:
        return chance(50) ? INT64_MIN + below(3) : INT64_MAX - below(3);
    case 4:
        return chance(1) ? (int64_t)wide : below(3); /* skewed */
    default:
        return (int64_t)wide;
    }
}

static void make_term(uint64_t rows, uint32_t kind)
{
    struct sort_term *const term = &terms[term_count++];
    int64_t *values = malloc(rows * sizeof *values);
    uint32_t *small = malloc(rows * sizeof *small);
    uint64_t *through = malloc(rows * sizeof *through);
    uint8_t *nulls = malloc(rows);
    assert_true(values && small && through && nulls);
    for (uint64_t row = 0; row < rows; row++) {
        values[row] = random_value(kind);
        small[row] = below(1000);
        through[row] = below((uint32_t)rows);
        nulls[row] = chance(10);
    }
    const bool use_small = chance(20);
    *term = (struct sort_term){.values = use_small ? NULL : values,
                               .small = use_small ? small : NULL,
                               .nulls = chance(50) ? nulls : NULL,
                               .through = chance(30) ? through : NULL,
                               .descending = chance(50),
                               .nulls_first = chance(50)};
    free(use_small ? (void *)values : (void *)small);
    if (!term->nulls)
        free(nulls);
    if (!term->through)
        free(through);
}

static void free_terms(void)
{
    for (uint32_t t = 0; t < term_count; t++) {
        free((void *)(uintptr_t)terms[t].values);
        free((void *)(uintptr_t)terms[t].small);
        free((void *)(uintptr_t)terms[t].nulls);
        free((void *)(uintptr_t)terms[t].through);
    }
    term_count = 0;
}

static void check(uint64_t rows, uint32_t count, uint64_t wanted, unsigned threads)
{
    struct error error;
    uint64_t *places, *expected = malloc((rows + 1) * sizeof *expected);
    assert_non_null(expected);
    for (uint32_t t = 0; t < count; t++)
        make_term(rows ? rows : 1, below(6));
    if (sort_rows_make(terms, term_count, rows, wanted, threads, &places, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    for (uint64_t row = 0; row < rows; row++)
        expected[row] = row;
    qsort(expected, rows, sizeof *expected, compare);
    assert_memory_equal(places, expected, (wanted < rows ? wanted : rows) * sizeof *expected);
    spillable_free(places);
    free(expected);
    free_terms();
}

static void as_a_plain_sort(void **state)
{
    static const uint64_t rows[] = {0, 1, 2, 100, 511, 512, 1500, 5000, 70000};
    (void)state;
    random_state = 20261122;
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint32_t count = 0; count <= TERMS; count++)
            for (uint32_t round = 0; round < 6; round++) {
                check(rows[r], count, UINT64_MAX, 1 + below(4));
                check(rows[r], count, below(100), 1 + below(4));
                check(rows[r], count, below((uint32_t)rows[r] + 1), 1 + below(4));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_a_plain_sort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
