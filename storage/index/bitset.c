/* bitset.c: see bitset.h. */
#include "storage/index/bitset.h"

#include "storage/base/isa.h"
#include "storage/index/bitset_loops.h"

void bitset_and(uint64_t *into, const uint64_t *other, uint64_t words)
{
    ISA_CHOICE(bitset_loops).and_words(into, other, words);
}

void bitset_or_many(const uint64_t *const *sets, uint64_t count, uint64_t words, uint64_t *out)
{
    ISA_CHOICE(bitset_loops).or_many(sets, count, words, out);
}

uint64_t bitset_count(const uint64_t *bits, uint64_t words)
{
    return ISA_CHOICE(bitset_loops).count(bits, words);
}
