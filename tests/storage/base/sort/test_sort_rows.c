/* test_sort_rows.c: rows come in the order of their terms as a plain sort gives it: few rows and many, values of few bits
 * and of all, NULLs first and last, terms that fit one rank and terms that do not, all rows and the first ones; in memory, and by runs. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/execution/execution.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/sort/sort_rows.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>
#include <string.h>

#define TERMS 4u

static struct sort_term terms[TERMS];
static uint32_t term_count;

static int64_t value_of(const struct sort_term *term, uint64_t row, bool *null)
{
    const uint64_t at = term->through ? term->through[row] : row;
    *null = (term->nulls && term->nulls[at]) || (term->validity && !(term->validity[at / 64] >> at % 64 & 1));
    return term->values ? term->values[at] : term->small ? (int64_t)term->small[at] : term->narrow[at];
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

static int mark_of(uint64_t before, uint64_t row, uint32_t prefix)
{
    for (uint32_t t = 0; t < term_count; t++) {
        bool a_null, b_null;
        const int64_t x = value_of(&terms[t], before, &a_null), y = value_of(&terms[t], row, &b_null);
        if (a_null != b_null || (!a_null && x != y))
            return SORT_BEGINS | (t < prefix ? SORT_BEGINS_PREFIX : 0);
    }
    return 0;
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

/* Values in one of three widths, of which only the widest can be moved. */
static void make_term(uint64_t rows, uint32_t kind, bool movable)
{
    struct sort_term *const term = &terms[term_count++];
    int64_t *values = malloc(rows * sizeof *values);
    uint32_t *small = malloc(rows * sizeof *small);
    uint64_t *through = malloc(rows * sizeof *through), *validity = calloc(rows / 64 + 1, sizeof *validity);
    uint8_t *nulls = malloc(rows);
    assert_true(values && small && through && nulls && validity);
    for (uint64_t row = 0; row < rows; row++) {
        values[row] = random_value(kind);
        small[row] = chance(50) ? below(1000) : below(UINT32_MAX);
        through[row] = below((uint32_t)rows);
        nulls[row] = chance(10);
        validity[row / 64] |= (uint64_t)chance(90) << row % 64;
    }
    const uint32_t width = movable ? 0 : below(5), null = below(movable ? 2 : 3);
    *term = (struct sort_term){.values = width > 1 || movable ? values : NULL,
                               .small = width == 0 && !movable ? small : NULL,
                               .narrow = width == 1 ? (const int32_t *)small : NULL,
                               .nulls = null == 0 ? nulls : NULL,
                               .validity = null == 2 ? validity : NULL,
                               .through = chance(30) ? through : NULL,
                               .descending = chance(50),
                               .nulls_first = chance(50)};
    free(term->values ? (void *)small : (void *)values);
    if (!term->nulls)
        free(nulls);
    if (!term->validity)
        free(validity);
    if (!term->through)
        free(through);
}

static uint64_t stood,
    firsts[2]; /* rows that were left as they stood; lists of first rows: of rows in no order, and in one */

/* So many terms before term `end` become numbers in whose order the rows stand, which repeat or do not, and often rise and fall
 * with NULLs; sometimes one row stands elsewhere. */
static void make_stand_at(uint64_t rows, uint32_t end, uint32_t count)
{
    const uint64_t repeats = chance(50) ? 1 : 3, steps = count > 1 ? 1 + below(9) : UINT64_MAX,
                   fallen = chance(30) ? below((uint32_t)rows) : rows;
    for (uint32_t last = 0; last < count; last++) {
        struct sort_term *const term = &terms[end - 1 - last];
        int64_t *const values = (int64_t *)(uintptr_t)term->values;
        uint8_t *const nulls = (uint8_t *)(uintptr_t)term->nulls;
        if (!values || term->through || term->validity)
            return;
        for (uint64_t row = 0; row < rows; row++) {
            const uint64_t key = row == fallen ? below((uint32_t)rows) : row / repeats;
            const int64_t value = (int64_t)(last == 0 ? key % steps : key / steps);
            values[row] = term->descending ? -value : value;
            if (nulls)
                nulls[row] = steps == UINT64_MAX && term->nulls_first && row < rows / 10;
        }
    }
}

static void make_stand(uint64_t rows, uint32_t count)
{
    make_stand_at(rows, chance(50) ? term_count : count, count);
}

static void free_terms(void)
{
    for (uint32_t t = 0; t < term_count; t++) {
        free((void *)(uintptr_t)terms[t].values);
        free((void *)(uintptr_t)terms[t].small);
        free((void *)(uintptr_t)terms[t].narrow);
        free((void *)(uintptr_t)terms[t].nulls);
        free((void *)(uintptr_t)terms[t].validity);
        free((void *)(uintptr_t)terms[t].through);
    }
    term_count = 0;
}

/* The columns of the terms, and `numbers`. */
static struct sort_moved moved_of(int64_t *numbers, int64_t *words[TERMS + 1], uint8_t *bytes[TERMS])
{
    struct sort_moved moved = {.words = words, .bytes = bytes};
    words[moved.word_count++] = numbers;
    for (uint32_t t = 0; t < term_count; t++)
        if (terms[t].through) {
            words[moved.word_count++] = (int64_t *)(uintptr_t)terms[t].through;
        } else {
            words[moved.word_count++] = (int64_t *)(uintptr_t)terms[t].values;
            if (terms[t].nulls)
                bytes[moved.byte_count++] = (uint8_t *)(uintptr_t)terms[t].nulls;
        }
    return moved;
}

static void check(uint64_t rows, uint32_t count, uint64_t wanted, unsigned threads, bool moves)
{
    struct error error;
    int64_t *words[TERMS + 1], *const numbers = malloc((rows + 1) * sizeof *numbers);
    uint8_t *bytes[TERMS];
    uint64_t *places, *expected = malloc((rows + 1) * sizeof *expected);
    assert_true(expected && numbers);
    for (uint32_t t = 0; t < count; t++)
        make_term(rows ? rows : 1, below(6), moves);
    if (rows && chance(40))
        make_stand(rows, below(count + 1 < 3 ? count + 1 : 3));
    for (uint64_t row = 0; row < rows; row++)
        expected[row] = (uint64_t)(numbers[row] = (int64_t)row);
    qsort(expected, rows, sizeof *expected, compare);
    const struct sort_moved moved = moved_of(numbers, words, bytes);
    const struct sort_marks marks = {
        .prefix = below(count + 1), .may_stand = chance(50), .marks = malloc(rows + 1)};
    assert_non_null(marks.marks);
    if (sort_rows_make(terms, term_count, rows, wanted, moves ? &moved : NULL, &marks, threads, &places,
                       &error) != STATUS_OK)
        fail_msg("%s", error.text);
    for (uint64_t i = 0; i < (wanted < rows ? wanted : rows); i++) {
        const uint64_t row = places ? places[i] : i;
        assert_true((uint64_t)numbers[row] == expected[i]);
        assert_int_equal(marks.marks[i], i ? mark_of(places ? places[i - 1] : i - 1, row, marks.prefix)
                                           : SORT_BEGINS | SORT_BEGINS_PREFIX);
        stood += !places;
    }
    spillable_free(places);
    free(marks.marks);
    free(expected);
    free(numbers);
    free_terms();
}

static int compare_rows(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The first row of each set that the first terms make, where rows stand in the order of these, or in none. */
static void check_first(uint64_t rows, uint32_t count, unsigned threads, bool stand)
{
    struct error error;
    uint64_t *list, found = 0, *expected = malloc((rows + 1) * sizeof *expected);
    assert_non_null(expected);
    for (uint32_t t = 0; t < count; t++)
        make_term(rows ? rows : 1, below(6), false);
    const uint32_t prefix = below(count + 1 < 3 ? count + 1 : 3);
    if (rows && stand)
        make_stand_at(rows, prefix, prefix);
    for (uint64_t row = 0; row < rows; row++)
        expected[row] = row;
    qsort(expected, rows, sizeof *expected, compare);
    assert_int_equal(sort_first_of_each(terms, count, prefix, rows, threads, &list, &found, &error),
                     STATUS_OK);
    uint64_t begins = 0;
    for (uint64_t i = 0, before = 0; i < rows; i++) {
        const uint64_t row = expected[i];
        if (i == 0 || mark_of(before, row, prefix) & SORT_BEGINS_PREFIX)
            expected[begins++] = row;
        before = row;
    }
    qsort(expected, begins, sizeof *expected, compare_rows);
    assert_true(!list || begins == found);
    for (uint64_t i = 0; list && i < begins; i++)
        assert_int_equal(list[i], expected[i]);
    firsts[stand] += list != NULL;
    spillable_free(list);
    free(expected);
    free_terms();
}

static void first_of_each(void **state)
{
    static const uint64_t rows[] = {0, 1, 31, 1023, 1025, 5000, 140000};
    (void)state;
    random_state = 20261128;
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint32_t count = 0; count <= TERMS; count++)
            for (uint32_t round = 0; round < 8; round++)
                check_first(rows[r], count, 1 + below(4), round % 2 || rows[r] > 10000);
    assert_true(firsts[false] > 0 && firsts[true] > 0);
}

static void as_a_plain_sort(void **state)
{
    static const uint64_t rows[] = {0, 1, 2, 100, 511, 512, 1500, 5000, 70000};
    (void)state;
    random_state = 20261122;
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint32_t count = 0; count <= TERMS; count++)
            for (uint32_t round = 0; round < 6; round++) {
                check(rows[r], count, UINT64_MAX, 1 + below(4), chance(50));
                check(rows[r], count, below(100), 1 + below(4), chance(50));
                check(rows[r], count, below((uint32_t)rows[r] + 1), 1 + below(4), chance(50));
            }
    assert_true(stood > 0);
}

/* With memory for some runs of the least size, for longer ones, and for none. */
static void by_runs(void **state)
{
    static const uint64_t rows[] = {512, 4095, 4096, 4097, 8192, 9000, 70000};
    static const uint64_t limits[] = {0, 3000, 100000, 500000};
    (void)state;
    random_state = 20261123;
    for (uint32_t l = 0; l < sizeof limits / sizeof *limits; l++)
        for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (uint32_t count = 0; count <= TERMS; count++) {
                struct memory_account account = {.limit = limits[l]};
                struct execution execution = {.memory = &account};
                execution_enter(&execution);
                check(rows[r], count, UINT64_MAX, 1, chance(50));
                check(rows[r], count, UINT64_MAX, 2, true);
                check(rows[r], count, rows[r] / 2 + 1, 3, chance(50));
                assert_int_equal(account.used, 0);
                assert_true(account.spilled > 0 || 24 * rows[r] < limits[l]);
                execution_leave(&execution);
            }
}

static void stops_when_asked_to(void **state)
{
    static int64_t values[20000];
    const struct sort_term term = {.values = values};
    (void)state;
    for (uint64_t limit = 1000; limit <= 10000000; limit *= 10000) {
        struct memory_account account = {.limit = limit};
        struct execution execution = {.memory = &account};
        uint64_t *places;
        execution_enter(&execution);
        execution_stop(&execution);
        assert_int_equal(sort_rows_make(&term, 1, 20000, 20000, NULL, NULL, 2, &places, NULL),
                         STATUS_INTERRUPTED);
        execution_leave(&execution);
        assert_int_equal(account.used, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_plain_sort),
        cmocka_unit_test(first_of_each),
        cmocka_unit_test(by_runs),
        cmocka_unit_test(stops_when_asked_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
