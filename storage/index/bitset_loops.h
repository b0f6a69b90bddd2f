/* bitset_loops.h: the loops of bitset.h, for bitset.c alone: one table for each instruction set. */
#ifndef TESSERA_STORAGE_INDEX_BITSET_LOOPS_H
#define TESSERA_STORAGE_INDEX_BITSET_LOOPS_H

#include <stdint.h>

struct bitset_loops {
    void (*and_words)(uint64_t *into, const uint64_t *other, uint64_t words);
    void (*or_many)(const uint64_t *const *sets, uint64_t count, uint64_t words, uint64_t *out);
    uint64_t (*count)(const uint64_t *bits, uint64_t words);
};

extern const struct bitset_loops bitset_loops_baseline, bitset_loops_avx2, bitset_loops_avx512;

#endif
