/* pool.c: see pool.h. */
#include "engine/cuda/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Free pieces of one size, 2^n to 2^(n+1) - 1 times POOL_ALIGNMENT, are in one list. */
#define SIZES   56u
#define BUCKETS 4096u

struct chunk {
    uint64_t bytes;
    bool small;
    struct piece *first;
    struct chunk *next, **link; /* in the pool's list */
};

struct piece {
    uint64_t address, bytes;
    bool used;
    struct chunk *chunk;
    struct piece *before, *after; /* of the chunk, by address */
    struct piece *next, **link;   /* in the list of free ones of its size, or of used ones by address */
};

struct pool {
    struct pool_source source;
    pthread_mutex_t lock; /* of all below */
    struct chunk *chunks;
    struct piece *free[2][SIZES]; /* of chunks of large and of small pieces */
    struct piece *used[BUCKETS];
    struct pool_use use;
    uint64_t bound;
};

struct pool *pool_create(const struct pool_source *source)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->source = *source;
    pool->bound = UINT64_MAX;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

/* ---- Lists ---- */

static unsigned size_class(uint64_t bytes)
{
    return 63u - (unsigned)__builtin_clzll(bytes / POOL_ALIGNMENT);
}

static struct piece **bucket(struct pool *pool, uint64_t address)
{
    return &pool->used[address / POOL_ALIGNMENT * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static void list_add(struct piece **list, struct piece *piece)
{
    piece->next = *list;
    piece->link = list;
    if (*list)
        (*list)->link = &piece->next;
    *list = piece;
}

static void list_remove(struct piece *piece)
{
    *piece->link = piece->next;
    if (piece->next)
        piece->next->link = piece->link;
}

static void add_free(struct pool *pool, struct piece *piece)
{
    piece->used = false;
    list_add(&pool->free[piece->chunk->small][size_class(piece->bytes)], piece);
}

/* ---- Chunks ---- */

static void free_chunk(struct pool *pool, struct chunk *chunk)
{
    pool->source.give(pool->source.context, chunk->first->address);
    pool->use.reserved -= chunk->bytes;
    *chunk->link = chunk->next;
    if (chunk->next)
        chunk->next->link = chunk->link;
    for (struct piece *piece = chunk->first, *after; piece; piece = after) {
        after = piece->after;
        free(piece);
    }
    free(chunk);
}

static bool is_free(const struct chunk *chunk)
{
    return !chunk->first->used && !chunk->first->after;
}

static void trim(struct pool *pool)
{
    for (struct chunk *chunk = pool->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        if (!is_free(chunk))
            continue;
        list_remove(chunk->first);
        free_chunk(pool, chunk);
    }
}

void pool_destroy(struct pool *pool)
{
    if (!pool)
        return;
    while (pool->chunks)
        free_chunk(pool, pool->chunks);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void pool_bound(struct pool *pool, uint64_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    pool->bound = bytes;
    pthread_mutex_unlock(&pool->lock);
}

static int add_chunk(struct pool *pool, uint64_t bytes, bool small)
{
    struct chunk *chunk = malloc(sizeof *chunk);
    struct piece *piece = malloc(sizeof *piece);
    uint64_t address = 0;
    const int result =
        chunk && piece ? pool->source.take(pool->source.context, bytes, &address) : POOL_NO_MEMORY;
    if (result != 0) {
        free(chunk);
        free(piece);
        return result;
    }
    *piece = (struct piece){.address = address, .bytes = bytes, .chunk = chunk};
    *chunk = (struct chunk){
        .bytes = bytes, .small = small, .first = piece, .next = pool->chunks, .link = &pool->chunks};
    if (pool->chunks)
        pool->chunks->link = &chunk->next;
    pool->chunks = chunk;
    pool->use.reserved += bytes;
    add_free(pool, piece);
    return 0;
}

/* ---- Pieces ---- */

/* The smallest free piece of at least `bytes`, or NULL. */
static struct piece *best_fit(const struct pool *pool, uint64_t bytes, bool small)
{
    for (unsigned size = size_class(bytes); size < SIZES; size++) {
        struct piece *best = NULL;
        for (struct piece *piece = pool->free[small][size]; piece; piece = piece->next)
            if (piece->bytes >= bytes && (!best || piece->bytes < best->bytes))
                best = piece;
        if (best)
            return best;
    }
    return NULL;
}

static uint64_t units(const struct pool *pool, uint64_t bytes)
{
    return (bytes + pool->source.unit_bytes - 1) / pool->source.unit_bytes * pool->source.unit_bytes;
}

/* A free chunk for a large piece, or NULL. */
static struct piece *large_fit(const struct pool *pool, uint64_t bytes)
{
    struct piece *const piece = best_fit(pool, bytes, false);
    return piece && piece->bytes - bytes <= bytes / 8 + pool->source.unit_bytes ? piece : NULL;
}

/* Finds a free piece, perhaps in a new chunk, which is as small as can be where the source has no more. */
static int find_piece(struct pool *pool, uint64_t bytes, struct piece **found)
{
    const bool small = bytes <= pool->source.small_bytes;
    const uint64_t chunk = small ? pool->source.chunk_bytes : units(pool, bytes);
    *found = small ? best_fit(pool, bytes, true) : large_fit(pool, bytes);
    if (*found)
        return 0;
    if (pool->use.reserved + chunk > pool->bound)
        trim(pool);
    int result = add_chunk(pool, chunk, small);
    if (result != 0 && result != POOL_NO_MEMORY) {
        trim(pool);
        result = add_chunk(pool, units(pool, bytes), small);
    }
    *found = result == 0 ? best_fit(pool, bytes, small) : NULL;
    return result;
}

/* Cuts what is more than `bytes` off a small piece that is in no list; it stays whole if the host has no memory for that. */
static void cut(struct pool *pool, struct piece *piece, uint64_t bytes)
{
    struct piece *rest = piece->chunk->small && piece->bytes > bytes ? malloc(sizeof *rest) : NULL;
    if (!rest)
        return;
    *rest = (struct piece){.address = piece->address + bytes,
                           .bytes = piece->bytes - bytes,
                           .chunk = piece->chunk,
                           .before = piece,
                           .after = piece->after};
    if (rest->after)
        rest->after->before = rest;
    piece->after = rest;
    piece->bytes = bytes;
    add_free(pool, rest);
}

int pool_take(struct pool *pool, uint64_t bytes, uint64_t *address)
{
    struct piece *piece;
    bytes = bytes > UINT64_MAX / 4 ? UINT64_MAX / 4 : bytes ? bytes : 1;
    bytes = (bytes + POOL_ALIGNMENT - 1) / POOL_ALIGNMENT * POOL_ALIGNMENT;
    pthread_mutex_lock(&pool->lock);
    const int result = find_piece(pool, bytes, &piece);
    if (result == 0) {
        list_remove(piece);
        cut(pool, piece, bytes);
        piece->used = true;
        list_add(bucket(pool, piece->address), piece);
        pool->use.used += piece->bytes;
        *address = piece->address;
    }
    pthread_mutex_unlock(&pool->lock);
    return result;
}

/* Makes one piece of two neighbours that are in no list. */
static struct piece *join(struct piece *piece, struct piece *after)
{
    piece->bytes += after->bytes;
    piece->after = after->after;
    if (piece->after)
        piece->after->before = piece;
    free(after);
    return piece;
}

void pool_give(struct pool *pool, uint64_t address)
{
    pthread_mutex_lock(&pool->lock);
    struct piece *piece = *bucket(pool, address);
    while (piece->address != address)
        piece = piece->next;
    list_remove(piece);
    pool->use.used -= piece->bytes;
    piece->used = false;
    if (piece->after && !piece->after->used) {
        list_remove(piece->after);
        join(piece, piece->after);
    }
    if (piece->before && !piece->before->used) {
        list_remove(piece->before);
        piece = join(piece->before, piece);
    }
    if (is_free(piece->chunk) && piece->bytes > pool->source.kept_bytes)
        free_chunk(pool, piece->chunk);
    else
        add_free(pool, piece);
    pthread_mutex_unlock(&pool->lock);
}

struct pool_use pool_use(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const struct pool_use use = pool->use;
    pthread_mutex_unlock(&pool->lock);
    return use;
}
