/* number_set.c: see number_set.h. */
#include "storage/base/number/number_set.h"

#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

static void find_bounds(const int64_t *numbers, uint64_t count, int64_t *least, int64_t *greatest)
{
    *least = INT64_MAX;
    *greatest = INT64_MIN;
    for (uint64_t i = 0; i < count; i++) {
        *least = numbers[i] < *least ? numbers[i] : *least;
        *greatest = numbers[i] > *greatest ? numbers[i] : *greatest;
    }
}

bool number_set_is_near(const int64_t *numbers, uint64_t count, uint64_t apart)
{
    int64_t least, greatest;
    find_bounds(numbers, count, &least, &greatest);
    return count > 0 && ((uint64_t)greatest - (uint64_t)least) / apart < count;
}

bool number_set_is_dense(const int64_t *numbers, uint64_t count)
{
    return number_set_is_near(numbers, count, 64);
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

/* Returns how many bits were not set before. */
static uint64_t set_bits(const int64_t *numbers, uint64_t count, int64_t least, uint64_t *bits)
{
    uint64_t added = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = (uint64_t)numbers[i] - (uint64_t)least, word = bits[place / 64];
        added += !(word >> place % 64 & 1);
        bits[place / 64] = word | UINT64_C(1) << place % 64;
    }
    return added;
}

/* 0: there is no memory for a bitmap. */
static uint64_t sort_dense(int64_t *numbers, uint64_t count)
{
    int64_t least, greatest;
    find_bounds(numbers, count, &least, &greatest);
    const uint64_t words = ((uint64_t)greatest - (uint64_t)least) / 64 + 1;
    uint64_t *const bits = calloc(words, sizeof *bits);
    if (!bits)
        return 0;
    set_bits(numbers, count, least, bits);
    const uint64_t kept = read_bits(bits, words, least, numbers);
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

enum status number_bits_make(const int64_t *numbers, uint64_t count, struct number_bits *bits,
                             struct error *error)
{
    int64_t least, greatest;
    find_bounds(numbers, count, &least, &greatest);
    const uint64_t words = ((uint64_t)greatest - (uint64_t)least) / 64 + 1;
    *bits = (struct number_bits){.low = least};
    RETURN_IF_ERROR(memory_zeros(&bits->words, words * sizeof *bits->words, "a set of values", error));
    bits->count = set_bits(numbers, count, least, bits->words);
    number_bits_trim(bits, words);
    return STATUS_OK;
}

void number_bits_trim(struct number_bits *bits, uint64_t words)
{
    uint64_t first = 0;
    while (words && !bits->words[words - 1])
        words--;
    while (first < words && !bits->words[first])
        first++;
    if (first == words)
        return;
    words -= first;
    if (first)
        memmove(bits->words, bits->words + first, words * sizeof *bits->words);
    const uint64_t last = 63 - (uint64_t)__builtin_clzll(bits->words[words - 1]);
    bits->low = (int64_t)((uint64_t)bits->low + 64 * first);
    bits->high = (int64_t)((uint64_t)bits->low + 64 * (words - 1) + last);
}

void number_bits_list(const struct number_bits *bits, int64_t *numbers)
{
    if (bits->count)
        read_bits(bits->words, number_bits_words(bits), bits->low, numbers);
}
