/* hash.h: the hash function of tables of numbers; strings are hashed by xxHash. */
#ifndef TESSERA_STORAGE_BASE_HASH_H
#define TESSERA_STORAGE_BASE_HASH_H

#include <stdint.h>

/* The finaliser of MurmurHash3: every bit of the key affects every bit of the hash. */
static inline uint64_t hash_mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ull;
    return key ^ key >> 33;
}

/* The partition of a hash among `parts` (below 2^24), from its high bits; places in tables use the low
 * bits. */
static inline uint64_t hash_part(uint64_t hash, uint64_t parts)
{
    return (hash >> 40) * parts >> 24;
}

#endif
