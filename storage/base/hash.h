/* hash.h: the hash function of tables of numbers, on CPUs and in CUDA kernels; strings are hashed by xxHash. */
#ifndef TESSERA_STORAGE_BASE_HASH_H
#define TESSERA_STORAGE_BASE_HASH_H

#ifdef TILE_CUDA
#define HASH_INLINE static __device__ __forceinline__
#else
#include <stdint.h>
#define HASH_INLINE static inline
#endif

/* The finaliser of MurmurHash3: every bit of the key affects every bit of the hash. */
HASH_INLINE uint64_t hash_mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ull;
    return key ^ key >> 33;
}

/* The partition of a hash among `parts` (below 2^24), from its high bits; places in tables use the low
 * bits. */
HASH_INLINE uint64_t hash_part(uint64_t hash, uint64_t parts)
{
    return (hash >> 40) * parts >> 24;
}

#endif
