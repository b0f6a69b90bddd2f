/* test_sort.c: storage/base/sort/sort.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/hash.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>

struct item {
    int32_t key;
    uint32_t number;
    char rest[70]; /* more than is swapped at a time */
};

enum { RANDOM, EQUAL, FEW, ASCENDING, DESCENDING, PIPE, SHAPES };

static int64_t key_at(int shape, uint64_t i, uint64_t count)
{
    switch (shape) {
    case RANDOM:
        return (int64_t)hash_mix(i + 1);
    case FEW:
        return (int64_t)(hash_mix(i + 1) % 3) - 1;
    case ASCENDING:
        return (int64_t)i - 5;
    case DESCENDING:
        return -(int64_t)i;
    case PIPE:
        return (int64_t)(i < count / 2 ? i : count - i);
    default:
        return 7;
    }
}

static int by_key(const void *left, const void *right, const void *context)
{
    const struct item *const a = left, *const b = right;
    const int sign = *(const int *)context;
    return sign * ((a->key > b->key) - (a->key < b->key));
}

static void integers_of_all_shapes(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 12, 13, 64, 65, 1000, 100000};
    int64_t *const values = malloc(100000 * sizeof *values);
    (void)state;
    assert_non_null(values);
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            uint64_t sum = 0, sorted = 0;
            for (uint64_t i = 0; i < counts[c]; i++)
                sum += (uint64_t)(values[i] = key_at(shape, i, counts[c]));
            sort_integers(values, counts[c]);
            for (uint64_t i = 0; i < counts[c]; i++) {
                sorted += (uint64_t)values[i];
                assert_true(i == 0 || values[i - 1] <= values[i]);
            }
            assert_true(sum == sorted);
        }
    free(values);
}

static void different_integers(void **state)
{
    int64_t values[] = {3, INT64_MIN, 3, 3, INT64_MAX, -1, INT64_MIN};
    const int64_t expected[] = {INT64_MIN, -1, 3, INT64_MAX};
    (void)state;
    assert_int_equal(sort_distinct(values, 7), 4);
    assert_memory_equal(values, expected, sizeof expected);
    assert_int_equal(sort_distinct(values, 0), 0);
}

/* The context turns the order; few items keep the order of equal ones; no item is lost. */
static void items_with_a_context(void **state)
{
    static struct item items[3000];
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2)
        for (uint32_t count = 0; count <= 3000; count = 3 * count + 1) {
            uint8_t seen[3000] = {0};
            for (uint32_t i = 0; i < count; i++) {
                items[i] = (struct item){.key = (int32_t)(hash_mix(i + 1) % 5), .number = i};
                items[i].rest[69] = (char)i;
            }
            sort_items(items, count, sizeof *items, by_key, &sign);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(seen[items[i].number]++, 0);
                assert_int_equal(items[i].rest[69], (char)items[i].number);
                assert_true(i == 0 || by_key(&items[i - 1], &items[i], &sign) <= 0);
                assert_true(i == 0 || count > SORT_STABLE || items[i - 1].key != items[i].key ||
                            items[i - 1].number < items[i].number);
            }
        }
}

/* McIlroy's adversary: it makes every pivot a bad one, and the comparisons stay few. */
struct adversary {
    int64_t values[4096], solid, gas;
    uint32_t candidate;
    uint64_t asked;
};

static int ask(const void *left, const void *right, const void *context)
{
    struct adversary *const adversary = (struct adversary *)(uintptr_t)context;
    const uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    adversary->asked++;
    if (adversary->values[x] == adversary->gas && adversary->values[y] == adversary->gas)
        adversary->values[x == adversary->candidate ? x : y] = adversary->solid++;
    if (adversary->values[x] == adversary->gas)
        adversary->candidate = x;
    else if (adversary->values[y] == adversary->gas)
        adversary->candidate = y;
    return (adversary->values[x] > adversary->values[y]) - (adversary->values[x] < adversary->values[y]);
}

static void no_order_is_slow(void **state)
{
    static struct adversary adversary = {.gas = INT64_MAX};
    uint32_t numbers[4096];
    (void)state;
    for (uint32_t i = 0; i < 4096; i++) {
        numbers[i] = i;
        adversary.values[i] = adversary.gas;
    }
    sort_items(numbers, 4096, sizeof *numbers, ask, &adversary);
    for (uint32_t i = 1; i < 4096; i++)
        assert_true(adversary.values[numbers[i - 1]] <= adversary.values[numbers[i]]);
    assert_true(adversary.asked < 400000); /* n² / 4 is 4 million */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_all_shapes),
        cmocka_unit_test(different_integers),
        cmocka_unit_test(items_with_a_context),
        cmocka_unit_test(no_order_is_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
