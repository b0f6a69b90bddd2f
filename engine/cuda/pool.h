/*
 * pool.h: one allocator for the memory of a device, or for pinned memory of the host, under cuda_allocate (cuda.h).
 *
 * The driver takes 50 to 160 microseconds for an allocation of a device and 40 to 600 for a free, and a millisecond for pinned
 * memory. So what is freed stays here. Small pieces are cut from chunks; a piece is the best fit among the free ones, and
 * neighbours that are free become one again. A large piece is a chunk of its own, which is never cut: what gives way to
 * another one then goes back to the driver whole, which makes one range of addresses of it. A few thousand pieces are
 * expected; both calls take less than a microsecond then.
 *
 * A piece that is freed may be given to another stream at once: whoever frees it has waited for the work that uses it.
 * All functions may be called from several threads at once.
 */
#ifndef TESSERA_ENGINE_CUDA_POOL_H
#define TESSERA_ENGINE_CUDA_POOL_H

#include <stdint.h>

/* Pieces are multiples of this, and aligned to it. */
#define POOL_ALIGNMENT 256u

/* What pool_take returns if the host has no memory for the description of a piece; else it is 0 or what `take` returns. */
#define POOL_NO_MEMORY (-1)

/* Where chunks come from. */
struct pool_source {
    int (*take)(void *context, uint64_t bytes, uint64_t *address); /* 0, or the driver's error */
    void (*give)(void *context, uint64_t address);
    void *context;
    uint64_t small_bytes; /* a piece up to this size is small */
    uint64_t chunk_bytes; /* of a chunk of small pieces */
    uint64_t
        unit_bytes; /* a large piece is a multiple of it, and wastes an eighth of its chunk and one unit at most */
    uint64_t kept_bytes; /* a larger chunk is given back as soon as it is free */
};

struct pool_use {
    uint64_t used;     /* bytes of all pieces */
    uint64_t reserved; /* bytes of all chunks */
};

struct pool;

/* NULL if the host has no memory. */
struct pool *pool_create(const struct pool_source *source);
/* Gives all chunks back, those with pieces too; NULL is legal. */
void pool_destroy(struct pool *pool);

/* Free chunks are given back before more than `bytes` are reserved; at first no chunk is. */
void pool_bound(struct pool *pool, uint64_t bytes);

/* Takes a piece of at least `bytes`, which may be 0. */
int pool_take(struct pool *pool, uint64_t bytes, uint64_t *address);
/* `address` is that of a piece. */
void pool_give(struct pool *pool, uint64_t address);

struct pool_use pool_use(struct pool *pool);

#endif
