/* test_number_set.c: sets of numbers are sorted, each once, whether a bitmap or comparisons do it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "storage/base/number/number_set.h"

#include <stdlib.h>
#include <string.h>

#define NUMBERS 2000

static uint64_t seed = 20261123;

static int64_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 1);
}

/* True if the number is among the first `count`. */
static bool has(const int64_t *numbers, uint64_t count, int64_t number)
{
    bool found = false;
    for (uint64_t i = 0; i < count; i++)
        found |= numbers[i] == number;
    return found;
}

static int compare(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* `in_order`: they stand in their order before, too. */
static void check(const int64_t *numbers, uint64_t count, bool in_order)
{
    int64_t sorted[NUMBERS];
    memcpy(sorted, numbers, count * sizeof *sorted);
    if (in_order)
        qsort(sorted, count, sizeof *sorted, compare);
    const uint64_t kept = number_set_sort(sorted, count);
    assert_true(kept <= count && (kept > 0) == (count > 0));
    for (uint64_t i = 1; i < kept; i++)
        assert_true(sorted[i - 1] < sorted[i]);
    for (uint64_t i = 0; i < kept; i++)
        assert_true(has(numbers, count, sorted[i]));
    for (uint64_t i = 0; i < count; i++)
        assert_true(has(sorted, kept, numbers[i]));
}

static void numbers_are_sorted_each_once(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 63, 64, 65, NUMBERS};
    static const int64_t domains[] = {1, 2, 64, 1000, 64 * NUMBERS, INT64_MAX};
    static const int64_t lows[] = {0, -7, INT64_MIN, INT64_MAX / 2};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t d = 0; d < sizeof domains / sizeof *domains; d++)
            for (size_t l = 0; l < sizeof lows / sizeof *lows; l++) {
                int64_t numbers[NUMBERS];
                for (uint64_t i = 0; i < counts[c]; i++)
                    numbers[i] = (int64_t)((uint64_t)lows[l] + (uint64_t)(draw() % domains[d]));
                check(numbers, counts[c], false);
                check(numbers, counts[c], true);
            }
}

static void both_ends_of_64_bits_are_far_apart(void **state)
{
    int64_t numbers[] = {INT64_MAX, INT64_MIN, 0, INT64_MAX};
    (void)state;
    assert_false(number_set_is_dense(numbers, 4));
    assert_int_equal(number_set_sort(numbers, 4), 3);
    assert_true(numbers[0] == INT64_MIN && numbers[1] == 0 && numbers[2] == INT64_MAX);
}

static void density_is_a_mean_distance_of_64(void **state)
{
    const int64_t near[] = {127, 0}, far[] = {0, 128};
    (void)state;
    assert_true(number_set_is_dense(near, 2));
    assert_false(number_set_is_dense(far, 2));
    assert_true(number_set_is_dense(near, 1));
    assert_false(number_set_is_dense(near, 0));
}

/* A bitmap has the numbers of the sorted set, also after words of zeros were put around it. */
static void check_bits(const int64_t *numbers, uint64_t count)
{
    struct number_bits bits;
    struct error error;
    int64_t sorted[NUMBERS], listed[NUMBERS];
    memcpy(sorted, numbers, count * sizeof *numbers);
    const uint64_t kept = number_set_sort(sorted, count);
    struct number_range range;
    assert_int_equal(number_range_find(numbers, count, 2, &range, &error), STATUS_OK);
    assert_int_equal(number_bits_make(numbers, count, &range, 2, &bits, &error), STATUS_OK);
    assert_int_equal(bits.count, kept);
    assert_true(bits.low <= sorted[0] && bits.low > sorted[0] - 64 && bits.high == sorted[kept - 1]);
    number_bits_list(&bits, listed);
    assert_memory_equal(listed, sorted, kept * sizeof *sorted);
    const uint64_t words = number_bits_words(&bits);
    struct number_bits wide = {
        .low = bits.low - 3 * 64, .count = bits.count, .words = calloc(words + 5, sizeof *wide.words)};
    assert_non_null(wide.words);
    memcpy(wide.words + 3, bits.words, words * sizeof *bits.words);
    number_bits_trim(&wide, words + 5);
    assert_true(wide.low == bits.low && wide.high == bits.high && wide.count == bits.count);
    assert_memory_equal(wide.words, bits.words, words * sizeof *bits.words);
    free(wide.words);
    free(bits.words);
}

static void bitmaps_have_the_same_numbers(void **state)
{
    static const uint64_t counts[] = {1, 2, 31, 33, 1000}, domains[] = {1, 63, 64, 65, 5000};
    static const int64_t lows[] = {0, -7, -64, INT64_MIN + 1000, INT64_MAX / 2};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t d = 0; d < sizeof domains / sizeof *domains; d++)
            for (size_t l = 0; l < sizeof lows / sizeof *lows; l++) {
                int64_t numbers[NUMBERS];
                for (uint64_t i = 0; i < counts[c]; i++)
                    numbers[i] = lows[l] + (int64_t)(draw() % domains[d]);
                check_bits(numbers, counts[c]);
                qsort(numbers, counts[c], sizeof *numbers, compare);
                check_bits(numbers, counts[c]);
            }
}

/* Numbers in order whose words lie across the slices of threads, as words with many numbers and as numbers that are alike. */
static void threads_make_the_same_bitmap(void **state)
{
    enum { COUNT = 300000, SPACES = 5 };
    static const uint64_t spaces[SPACES] = {1, 2, 63, 64, 200};
    int64_t *const numbers = malloc(COUNT * sizeof *numbers), *const listed = malloc(COUNT * sizeof *listed);
    (void)state;
    for (int s = 0; s < SPACES; s++)
        for (uint64_t alike = 1; alike <= COUNT; alike *= 70)
            for (unsigned threads = 1; threads <= 4; threads++) {
                struct number_range range;
                struct number_bits bits;
                struct error error;
                for (uint64_t i = 0; i < COUNT; i++)
                    numbers[i] = (int64_t)((i + 7) / alike * spaces[s]) - 1000;
                assert_int_equal(number_range_find(numbers, COUNT, threads, &range, &error), STATUS_OK);
                assert_true(range.ascends && range.least == numbers[0] &&
                            range.greatest == numbers[COUNT - 1]);
                assert_int_equal(number_bits_make(numbers, COUNT, &range, threads, &bits, &error), STATUS_OK);
                assert_int_equal(bits.count, (COUNT + 6) / alike - 7 / alike + 1);
                number_bits_list(&bits, listed);
                for (uint64_t i = 0, at = 0; i < COUNT; i++) {
                    at += i && numbers[i] != numbers[i - 1];
                    assert_int_equal(listed[at], numbers[i]);
                }
                free(bits.words);
                numbers[COUNT / 2] = 1 << 30;
                assert_int_equal(number_range_find(numbers, COUNT, threads, &range, &error), STATUS_OK);
                assert_true(!range.ascends && range.least == numbers[0] && range.greatest == 1 << 30);
            }
    free(numbers);
    free(listed);
}

static void a_bitmap_of_nothing_has_no_numbers(void **state)
{
    uint64_t words[3] = {0};
    struct number_bits bits = {.low = 5, .words = words};
    (void)state;
    number_bits_trim(&bits, 3);
    assert_int_equal(bits.count, 0);
    number_bits_list(&bits, NULL);
}

static void nearness_is_a_mean_distance(void **state)
{
    const int64_t numbers[] = {0, 511};
    struct number_range range;
    struct error error;
    (void)state;
    assert_int_equal(number_range_find(numbers, 2, 1, &range, &error), STATUS_OK);
    assert_true(number_range_is_near(&range, 2, 256));
    assert_false(number_range_is_near(&range, 2, 255));
    assert_int_equal(number_range_find(numbers, 0, 1, &range, &error), STATUS_OK);
    assert_false(number_range_is_near(&range, 0, 255));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_sorted_each_once),
        cmocka_unit_test(both_ends_of_64_bits_are_far_apart),
        cmocka_unit_test(density_is_a_mean_distance_of_64),
        cmocka_unit_test(bitmaps_have_the_same_numbers),
        cmocka_unit_test(threads_make_the_same_bitmap),
        cmocka_unit_test(a_bitmap_of_nothing_has_no_numbers),
        cmocka_unit_test(nearness_is_a_mean_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
