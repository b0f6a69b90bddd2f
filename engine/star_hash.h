/* star_hash.h: what the hash tables of groups and of distinct values have in common. */
#ifndef TESSERA_ENGINE_STAR_HASH_H
#define TESSERA_ENGINE_STAR_HASH_H

#include <stdint.h>
#include <sys/mman.h>

/* The finaliser of MurmurHash3. */
static inline uint64_t star_hash(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ull;
    return key ^ key >> 33;
}

/* To which of `parts` (below 2^24) a hash belongs, by its high bits; places in tables go by the low ones. */
static inline uint64_t star_part_of(uint64_t hash, uint64_t parts)
{
    return (hash >> 40) * parts >> 24;
}

/* From this size on memory is asked for in huge pages: 4 KB ones cost a fault each, and an entry of the processor's
 * page buffer for nearly every group. */
#define STAR_HUGE_BYTES (4u << 20)

/* Before it is first touched; NULL is legal. */
static inline void star_prefer_huge_pages(void *memory, uint64_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t begin = ((uintptr_t)memory + 4095) & ~(uintptr_t)4095, end = (uintptr_t)memory + bytes;
    if (memory && bytes >= STAR_HUGE_BYTES)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* a wish */
#else
    (void)memory;
    (void)bytes;
#endif
}

#endif
