/* number_set.h: sets of whole numbers as sorted arrays, and as bitmaps. */
#ifndef TESSERA_STORAGE_BASE_NUMBER_NUMBER_SET_H
#define TESSERA_STORAGE_BASE_NUMBER_NUMBER_SET_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* True if a bitmap from the least to the greatest takes no more memory than the numbers: their mean distance is at most
 * 64. They need not be sorted. False if there are none. */
bool number_set_is_dense(const int64_t *numbers, uint64_t count);

/* The least and the greatest of numbers, and whether they ascend as they stand; without numbers least > greatest. */
struct number_range {
    int64_t least, greatest;
    bool ascends;
};

NODISCARD enum status number_range_find(const int64_t *numbers, uint64_t count, unsigned threads,
                                        struct number_range *range, struct error *error);
/* True if the mean distance of `count` numbers is at most `apart`. */
bool number_range_is_near(const struct number_range *range, uint64_t count, uint64_t apart);

/* Sorts the numbers, and leaves each once; returns how many are left. A dense set takes 3 ns a number, another one 80 ns. */
uint64_t number_set_sort(int64_t *numbers, uint64_t count);

/* A set that is not empty as a bitmap: bit i of word w is set if low + 64 w + i is in it. The greatest number is `high`; the
 * least one is in the first word. */
struct number_bits {
    int64_t low, high;
    uint64_t count;  /* of the numbers */
    uint64_t *words; /* number_bits_words; from malloc */
};

static inline uint64_t number_bits_words(const struct number_bits *bits)
{
    return ((uint64_t)bits->high - (uint64_t)bits->low) / 64 + 1;
}

/* Makes the bitmap of a set (number_range_is_near), whose numbers may come in any order and several times. All threads make
 * one of numbers that ascend. */
NODISCARD enum status number_bits_make(const int64_t *numbers, uint64_t count,
                                       const struct number_range *range, unsigned threads,
                                       struct number_bits *bits, struct error *error);
/* Finds `low` and `high` in a bitmap of `words` words at bits->words whose first bit is that of `low`, and which has bits->count
 * bits: it loses the words before and after the numbers. */
void number_bits_trim(struct number_bits *bits, uint64_t words);
/* Writes the numbers, ascending: bits->count of them. */
void number_bits_list(const struct number_bits *bits, int64_t *numbers);

#endif
