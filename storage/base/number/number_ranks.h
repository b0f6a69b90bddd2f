/*
 * number_ranks.h: sets of numbers that give each number its rank: how many of the set are less. Of 32 numbers that follow
 * each other a word has a bit for each that is in the set and, above these bits, how many numbers before them are: so a
 * rank takes one load (a concise array table: Barber et al., VLDB 2014).
 *
 *     bit  63 ................. 32 31 ................ 0
 *          numbers before the word   number 32 w + bit is in the set
 *
 * Bits are counted by an instruction in code for processors that have it (isa.h).
 */
#ifndef TESSERA_STORAGE_BASE_NUMBER_NUMBER_RANKS_H
#define TESSERA_STORAGE_BASE_NUMBER_NUMBER_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#define NUMBER_RANKS_A_WORD 32u

static inline uint32_t number_ranks_count(uint32_t bits)
{
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcount(bits);
#endif
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    return ((bits + (bits >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
}

/* Whether a number is in the set, and its rank if it is; `word` is that of the number. */
static inline bool number_ranks_has(uint64_t word, uint64_t number)
{
    return word >> (number & 31) & 1;
}

static inline uint32_t number_ranks_of(uint64_t word, uint64_t number)
{
    return (uint32_t)(word >> 32) + number_ranks_count((uint32_t)word & ((1u << (number & 31)) - 1));
}

/* Fills in the numbers before each of `count` words that have their bits alone, `before` of them before the first word.
 * Returns how many there are before the word after the last one. */
static inline uint64_t number_ranks_sum(uint64_t *marks, uint64_t count, uint64_t before)
{
    for (uint64_t w = 0; w < count; w++) {
        const uint32_t bits = (uint32_t)marks[w];
        marks[w] = before << 32 | bits;
        before += number_ranks_count(bits);
    }
    return before;
}

#endif
