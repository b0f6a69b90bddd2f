/* fuzz_random.h: the random numbers of the fuzzers, and damage to bytes. */
#ifndef TESSERA_TESTS_FUZZ_FUZZ_RANDOM_H
#define TESSERA_TESTS_FUZZ_FUZZ_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint64_t random_state; /* not 0 */

static inline uint32_t below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16) % bound;
}

static inline bool chance(uint32_t percent)
{
    return below(100) < percent;
}

/* Flips, overwrites, clears or cuts; returns the new size. */
static inline size_t mutate(uint8_t *data, size_t size)
{
    const uint32_t kind = below(8), count = 1 + below(8);
    if (kind == 0)
        return below((uint32_t)size);
    /* Most of a small column file is the header's empty page: half of the hits go where something is. */
    for (uint32_t i = 0; i < count; i++) {
        const size_t place = size > 4096 && below(4)  ? 4096 + below((uint32_t)(size - 4096))
                             : size > 256 && below(2) ? below(256)
                                                      : below((uint32_t)size);
        if (kind < 4)
            data[place] ^= (uint8_t)(1u << below(8));
        else if (kind < 7)
            data[place] = (uint8_t)(below(2) ? 0xff : below(256));
        else
            memset(data + place, 0, size - place < 64 ? size - place : 64);
    }
    return size;
}

#endif
