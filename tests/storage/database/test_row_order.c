/* test_row_order.c: rows come NULLs first, then by value, equal ones as they came: as a comparison sort has
 * them, whatever the values span, the number of rows and the threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "storage/database/row_order.h"

#include <stdlib.h>
#include <string.h>

/* All tests run in it. */
static struct execution execution;

static uint64_t seed = 42;

static uint64_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 32 | seed << 32;
}

struct expected {
    bool valid;
    int64_t value;
    uint32_t row;
};

static int compare(const void *left, const void *right)
{
    const struct expected *a = left, *b = right;
    if (a->valid != b->valid)
        return a->valid - b->valid;
    if (a->valid && a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Values from `base` on, `span` apart at the most; every `nulls`-th is NULL (0: none). */
static void check(uint64_t rows, uint32_t value_bytes, int64_t base, uint64_t span, uint64_t nulls,
                  unsigned threads)
{
    struct row_order_key key = {.value_bytes = value_bytes, .rows = rows, .min = INT64_MAX, .max = INT64_MIN};
    struct expected *expected = malloc((rows + 1) * sizeof *expected);
    uint64_t *validity = calloc(rows / 64 + 1, sizeof *validity);
    char *values = malloc((rows + 1) * value_bytes);
    for (uint64_t r = 0; r < rows; r++) {
        const int64_t value = (int64_t)((uint64_t)base + (span == UINT64_MAX ? draw() : draw() % (span + 1)));
        const bool valid = nulls == 0 || r % nulls != 0;
        if (value_bytes == 8)
            memcpy(values + 8 * r, &value, 8);
        else
            memcpy(values + 4 * r, &(int32_t){(int32_t)value}, 4);
        expected[r] = (struct expected){valid, value, (uint32_t)r};
        validity[r / 64] |= (uint64_t)valid << r % 64;
        if (valid && value < key.min)
            key.min = value;
        if (valid && value > key.max)
            key.max = value;
    }
    key.values = values;
    key.validity = nulls ? validity : NULL;
    qsort(expected, rows, sizeof *expected, compare);
    uint32_t *order;
    struct error error = {0};
    if (row_order_find(&key, threads, &order, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    for (uint64_t i = 0; i < rows; i++)
        if (order[i] != expected[i].row)
            fail_msg("%llu rows of %u bytes, span %llu, nulls %llu: place %llu has row %u, not %u",
                     (unsigned long long)rows, value_bytes, (unsigned long long)span,
                     (unsigned long long)nulls, (unsigned long long)i, order[i], expected[i].row);
    free(order);
    free(values);
    free(validity);
    free(expected);
}

static void rows_come_as_a_comparison_sort_has_them(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1, 2, 31, 1023, 1025, 70000, 200001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned threads = 1; threads <= 3; threads += 2)
            for (uint64_t nulls = 0; nulls <= 3; nulls++) { /* 1: all */
                check(sizes[s], 4, -7, 0, nulls, threads);
                check(sizes[s], 4, 0, 2556, nulls, threads);
                check(sizes[s], 4, INT32_MIN, UINT32_MAX, nulls, threads);
                check(sizes[s], 8, -1, (uint64_t)1 << 33, nulls, threads);
                check(sizes[s], 8, INT64_MIN, UINT64_MAX, nulls, threads);
            }
}

static void sorting_stops_when_asked_to(void **state)
{
    (void)state;
    int32_t values[1000] = {0};
    const struct row_order_key key = {.values = values, .value_bytes = 4, .rows = 1000, .max = 1};
    uint32_t *order;
    execution_stop(&execution);
    assert_int_equal(row_order_find(&key, 1, &order, NULL), STATUS_INTERRUPTED);
    execution_resume(&execution);
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_as_a_comparison_sort_has_them),
        cmocka_unit_test(sorting_stops_when_asked_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
