/* number_set.c: see number_set.h. */
#include "storage/base/number/number_set.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort.h"

#include <pthread.h>
#include <stdatomic.h>
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

bool number_range_is_near(const struct number_range *range, uint64_t count, uint64_t apart)
{
    return count > 0 && ((uint64_t)range->greatest - (uint64_t)range->least) / apart < count;
}

bool number_set_is_dense(const int64_t *numbers, uint64_t count)
{
    struct number_range range = {0};
    find_bounds(numbers, count, &range.least, &range.greatest);
    return number_range_is_near(&range, count, 64);
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

/* ---- On all threads ---- */

#define SLICE_NUMBERS 65536u

/* A set that is measured, or made a bitmap. */
struct slices {
    const int64_t *numbers;
    uint64_t count;
    pthread_mutex_t lock; /* of the range */
    struct number_range *range;
    struct number_bits *bits;
    _Atomic uint64_t added;
};

static uint64_t slice_end(const struct slices *slices, uint64_t slice)
{
    const uint64_t end = (slice + 1) * SLICE_NUMBERS;
    return end < slices->count ? end : slices->count;
}

static enum status measure_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    struct slices *const slices = context;
    const int64_t *const numbers = slices->numbers;
    const uint64_t begin = slice * SLICE_NUMBERS, end = slice_end(slices, slice);
    struct number_range range = {.ascends = (begin == 0 || numbers[begin - 1] <= numbers[begin]) &&
                                            ascends(numbers + begin, end - begin)};
    (void)thread;
    if (range.ascends) {
        range.least = numbers[begin];
        range.greatest = numbers[end - 1];
    } else {
        find_bounds(numbers + begin, end - begin, &range.least, &range.greatest);
    }
    pthread_mutex_lock(&slices->lock);
    struct number_range *const all = slices->range;
    all->least = range.least < all->least ? range.least : all->least;
    all->greatest = range.greatest > all->greatest ? range.greatest : all->greatest;
    all->ascends &= range.ascends;
    pthread_mutex_unlock(&slices->lock);
    return cancel_check(error);
}

enum status number_range_find(const int64_t *numbers, uint64_t count, unsigned threads,
                              struct number_range *range, struct error *error)
{
    struct slices slices = {
        .numbers = numbers, .count = count, .lock = PTHREAD_MUTEX_INITIALIZER, .range = range};
    *range = (struct number_range){INT64_MAX, INT64_MIN, true};
    return parallel_for(threads, (count + SLICE_NUMBERS - 1) / SLICE_NUMBERS, measure_slice, &slices, error);
}

static uint64_t word_of(const struct slices *slices, uint64_t i)
{
    return ((uint64_t)slices->numbers[i] - (uint64_t)slices->range->least) / 64;
}

/* Sets the bits of numbers that ascend. A word is written by the slice in which its first number is; one without
 * numbers by that of the next number. */
static enum status set_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    struct slices *const slices = context;
    uint64_t begin = slice * SLICE_NUMBERS, end = slice_end(slices, slice);
    (void)thread;
    while (begin && begin < end && word_of(slices, begin) == word_of(slices, begin - 1))
        begin++;
    while (begin < end && end < slices->count && word_of(slices, end) == word_of(slices, end - 1))
        end++;
    if (begin == end)
        return cancel_check(error);
    const uint64_t first = begin ? word_of(slices, begin - 1) + 1 : 0, after = word_of(slices, end - 1) + 1;
    uint64_t *const words = slices->bits->words;
    memset(words + first, 0, (after - first) * sizeof *words);
    atomic_fetch_add(&slices->added,
                     set_bits(slices->numbers + begin, end - begin, slices->range->least, words));
    return cancel_check(error);
}

enum status number_bits_make(const int64_t *numbers, uint64_t count, const struct number_range *range,
                             unsigned threads, struct number_bits *bits, struct error *error)
{
    const uint64_t words = ((uint64_t)range->greatest - (uint64_t)range->least) / 64 + 1;
    struct number_range copy = *range;
    struct slices slices = {.numbers = numbers, .count = count, .range = &copy, .bits = bits};
    *bits = (struct number_bits){.low = range->least};
    RETURN_IF_ERROR(memory_take(&bits->words, words * sizeof *bits->words, "a set of values", error));
    huge_pages_prefer(bits->words, words * sizeof *bits->words);
    enum status status = STATUS_OK;
    if (range->ascends) {
        status =
            parallel_for(threads, (count + SLICE_NUMBERS - 1) / SLICE_NUMBERS, set_slice, &slices, error);
    } else {
        memset(bits->words, 0, words * sizeof *bits->words);
        slices.added = set_bits(numbers, count, range->least, bits->words);
    }
    if (status != STATUS_OK) {
        free(bits->words);
        bits->words = NULL;
        return status;
    }
    bits->count = slices.added;
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
