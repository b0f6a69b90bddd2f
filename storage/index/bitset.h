/*
 * bitset.h: flat bitsets: row r is bit r % 64 of word r / 64; bits after the last row are 0. They are the baseline of
 * compressed vectors. The loops run at the memory's speed and are compiled once for each instruction set (isa.h).
 */
#ifndef TESSERA_STORAGE_INDEX_BITSET_H
#define TESSERA_STORAGE_INDEX_BITSET_H

#include <stdint.h>

static inline uint64_t bitset_words(uint64_t rows)
{
    return rows / 64 + (rows % 64 != 0);
}

/* into &= other; `words` words each. */
void bitset_and(uint64_t *into, const uint64_t *other, uint64_t words);

/* out = sets[0] | sets[1] | ...; reads each set once and writes `out` once. No sets give zeros. */
void bitset_or_many(const uint64_t *const *sets, uint64_t count, uint64_t words, uint64_t *out);

/* The bits that are set. */
uint64_t bitset_count(const uint64_t *bits, uint64_t words);

#endif
