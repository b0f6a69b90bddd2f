/*
 * state.h: the words of an aggregate's state, for CPUs and GPUs alike: how two states of a group become one, and how a
 * GPU keeps minima and maxima. Which aggregate has which state is said once, in engine/aggregate/aggregate.c. All words
 * are whole numbers and merging is exact, so no result depends on the order of rows, segments or devices. This header is
 * C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GROUP_STATE_H
#define TESSERA_OPERATORS_GROUP_STATE_H

#ifdef TILE_CUDA
#define STATE_INLINE static __device__ __forceinline__
#else
#include <stdbool.h>
#include <stdint.h>
#define STATE_INLINE static inline
#endif

/* A block's states in shared memory have slots for a multiple of its banks. */
#define STATE_BANKS 32u

/* How a state is merged. A word that no row has reached is 0 and changes nothing.
 *
 *     MERGE_ADD        one word, a sum modulo 2^64
 *     MERGE_ADD_WIDE   two words, a sum modulo 2^128, the low one first
 *     MERGE_GREATEST   one word, the greatest of unsigned numbers
 *     MERGE_OR         one word, bits of one or the other
 *     MERGE_XOR        one word, bits of one and not of the other
 */
enum merge_kind { MERGE_ADD, MERGE_ADD_WIDE, MERGE_GREATEST, MERGE_OR, MERGE_XOR };

/* Merges another state into *low and *high; the high words are those of MERGE_ADD_WIDE, and else not used. */
STATE_INLINE void state_merge_words(uint32_t kind, uint64_t *low, uint64_t *high, uint64_t other,
                                    uint64_t other_high)
{
    if (kind == MERGE_GREATEST) {
        *low = other > *low ? other : *low;
        return;
    }
    if (kind == MERGE_OR || kind == MERGE_XOR) {
        *low = kind == MERGE_OR ? *low | other : *low ^ other;
        return;
    }
    *low += other;
    if (kind == MERGE_ADD_WIDE)
        *high += other_high + (*low < other);
}

/* On a GPU minima and maxima are both kept as the greatest of unsigned numbers, so that 0 can mean "no row yet": a
 * maximum as value + 2^63, a minimum as 2^63 - 1 - value. */
STATE_INLINE uint64_t greatest_of_max(int64_t value)
{
    return (uint64_t)value ^ 1ull << 63;
}
STATE_INLINE uint64_t greatest_of_min(int64_t value)
{
    return ~greatest_of_max(value);
}
STATE_INLINE int64_t max_of_greatest(uint64_t word)
{
    return (int64_t)(word ^ 1ull << 63);
}
STATE_INLINE int64_t min_of_greatest(uint64_t word)
{
    return max_of_greatest(~word);
}

/* What all values have is what no complement has. */
STATE_INLINE uint64_t bits_of_and(int64_t value)
{
    return ~(uint64_t)value;
}
STATE_INLINE int64_t and_of_bits(uint64_t word)
{
    return (int64_t)~word;
}

/* What a row adds to a state on a GPU: 1, its value, or a word made of that. */
enum state_value { STATE_OF_ROW, STATE_OF_VALUE, STATE_OF_MIN, STATE_OF_MAX, STATE_OF_AND };

STATE_INLINE uint64_t state_word_of(uint32_t kind, int64_t value)
{
    return kind == STATE_OF_ROW   ? 1
           : kind == STATE_OF_MIN ? greatest_of_min(value)
           : kind == STATE_OF_MAX ? greatest_of_max(value)
           : kind == STATE_OF_AND ? bits_of_and(value)
                                  : (uint64_t)value;
}

#endif
