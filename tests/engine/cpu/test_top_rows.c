/* test_top_rows.c: the rows that are kept while few are wanted in an order contain the first ones, at odd sizes, and are
 * few. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cpu/top_rows.h"
#include "tests/fuzz/fuzz_random.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void the_first_rows_are_kept(void **state)
{
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1024, 1025, 20000};
    (void)state;
    random_state = 20261122;
    for (uint32_t round = 0; round < 200; round++) {
        const uint32_t count = sizes[below(7)], wanted = 1 + below(chance(50) ? 5 : 3000),
                       values = 1 + below(chance(30) ? 3 : 1u << 30);
        struct top_rows top = {.first = {.wanted = wanted, .bound = UINT64_MAX}};
        struct top_heap heap = {.ranks = calloc(wanted, sizeof *heap.ranks)};
        uint64_t *const ranks = calloc(count + 1, sizeof *ranks), *const kept =
                                                                      calloc(count + 1, sizeof *kept);
        uint32_t kept_count = 0;
        assert_true(heap.ranks && ranks && kept);
        top_rows_begin(&top);
        for (uint32_t i = 0; i < count; i++)
            ranks[i] = below(values);
        for (uint32_t first = 0; first < count; first += 1024) {
            const uint32_t some = count - first < 1024 ? count - first : 1024;
            uint16_t rows[1024];
            for (uint32_t i = 0; i < some; i++)
                rows[i] = (uint16_t)i;
            const uint32_t left = top_rows_keep(&top, &heap, ranks + first, rows, some);
            for (uint32_t i = 0; i < left; i++)
                kept[kept_count++] = ranks[first + rows[i]];
        }
        qsort(ranks, count, sizeof *ranks, compare);
        qsort(kept, kept_count, sizeof *kept, compare);
        assert_true(kept_count >= (count < wanted ? count : wanted));
        for (uint32_t i = 0; i < wanted && i < count; i++)
            assert_true(kept[i] == ranks[i]);
        if (count == 20000 && wanted <= 5 && values > 1000)
            assert_true(kept_count < 1000);
        free(heap.ranks);
        free(ranks);
        free(kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_rows_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
