/* bitset_loops.c: the loops of bitset.h; the compiler makes vector instructions of them (isa.h). */
#include "storage/index/bitset_loops.h"

#include "storage/base/isa.h"

#include <string.h>

#define BLOCK_WORDS 1024u /* 8 KiB of the result stay in the first-level cache while the sets pass */

static void or_words(uint64_t *restrict into, const uint64_t *restrict other, uint64_t words)
{
    for (uint64_t w = 0; w < words; w++)
        into[w] |= other[w];
}

static void and_words(uint64_t *restrict into, const uint64_t *restrict other, uint64_t words)
{
    for (uint64_t w = 0; w < words; w++)
        into[w] &= other[w];
}

static void or_many(const uint64_t *const *sets, uint64_t count, uint64_t words, uint64_t *out)
{
    for (uint64_t first = 0; first < words; first += BLOCK_WORDS) {
        const uint64_t here = words - first < BLOCK_WORDS ? words - first : BLOCK_WORDS;
        memset(out + first, 0, here * sizeof *out);
        for (uint64_t s = 0; s < count; s++)
            or_words(out + first, sets[s] + first, here);
    }
}

static uint64_t count_bits(const uint64_t *bits, uint64_t words)
{
    uint64_t count = 0;
    for (uint64_t w = 0; w < words; w++)
        count += (uint64_t)__builtin_popcountll(bits[w]);
    return count;
}

const struct bitset_loops ISA(bitset_loops) = {
    .and_words = and_words, .or_many = or_many, .count = count_bits};
