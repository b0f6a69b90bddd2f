/* number_set.c: see number_set.h. */
#include "storage/base/number/number_set.h"

#include "storage/base/sort/sort.h"

#include <stdlib.h>

static void find_bounds(const int64_t *numbers, uint64_t count, int64_t *least, int64_t *greatest)
{
    *least = INT64_MAX;
    *greatest = INT64_MIN;
    for (uint64_t i = 0; i < count; i++) {
        *least = numbers[i] < *least ? numbers[i] : *least;
        *greatest = numbers[i] > *greatest ? numbers[i] : *greatest;
    }
}

bool number_set_is_dense(const int64_t *numbers, uint64_t count)
{
    int64_t least, greatest;
    find_bounds(numbers, count, &least, &greatest);
    return count > 0 && ((uint64_t)greatest - (uint64_t)least) / 64 < count;
}

/* Reads the numbers from a bitmap of them. */
static uint64_t read_bits(const uint64_t *bits, uint64_t words, int64_t least, int64_t *numbers)
{
    uint64_t count = 0;
    for (uint64_t word = 0; word < words; word++)
        for (uint64_t rest = bits[word]; rest; rest &= rest - 1)
            numbers[count++] = (int64_t)((uint64_t)least + 64 * word + (uint64_t)__builtin_ctzll(rest));
    return count;
}

/* 0: there is no memory for a bitmap. */
static uint64_t sort_dense(int64_t *numbers, uint64_t count)
{
    int64_t least, greatest;
    find_bounds(numbers, count, &least, &greatest);
    const uint64_t words = ((uint64_t)greatest - (uint64_t)least) / 64 + 1;
    uint64_t *const bits = calloc(words, sizeof *bits);
    for (uint64_t i = 0; bits && i < count; i++) {
        const uint64_t place = (uint64_t)numbers[i] - (uint64_t)least;
        bits[place / 64] |= UINT64_C(1) << place % 64;
    }
    const uint64_t kept = bits ? read_bits(bits, words, least, numbers) : 0;
    free(bits);
    return kept;
}

static bool ascends(const int64_t *numbers, uint64_t count)
{
    uint64_t i = 1;
    while (i < count && numbers[i - 1] <= numbers[i])
        i++;
    return i >= count;
}

/* Keeps one of each number, which are in order. */
static uint64_t squeeze(int64_t *numbers, uint64_t count)
{
    uint64_t kept = count > 0;
    for (uint64_t i = 1; i < count; i++) {
        numbers[kept] = numbers[i];
        kept += numbers[i] != numbers[kept - 1];
    }
    return kept;
}

/* Keys often come in order: those of groups, and of rows that were loaded so. */
uint64_t number_set_sort(int64_t *numbers, uint64_t count)
{
    if (ascends(numbers, count))
        return squeeze(numbers, count);
    const uint64_t kept = number_set_is_dense(numbers, count) ? sort_dense(numbers, count) : 0;
    return kept ? kept : sort_distinct(numbers, count);
}
