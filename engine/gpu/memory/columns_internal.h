/* columns_internal.h: the list of what a GPU keeps between statements (columns.h), for the files of this folder. */
#ifndef TESSERA_ENGINE_GPU_MEMORY_COLUMNS_INTERNAL_H
#define TESSERA_ENGINE_GPU_MEMORY_COLUMNS_INTERNAL_H

#include "engine/gpu/memory/columns.h"

#include <pthread.h>

/* Every piece of data is followed by at least one more word, because decoders may read one word beyond the end of a packed
 * stream. */
static inline uint64_t piece_bytes(uint64_t bytes)
{
    return cuda_aligned(bytes) + PIECE_ALIGNMENT;
}

enum entry_kind {
    ENTRY_CHUNKS,
    ENTRY_ARRAY,  /* a dimension's values */
    ENTRY_WORK,   /* of a scan of the table whose first column it is */
    ENTRY_VECTORS /* of the column's index */
};

struct entry {
    struct cuda_column column; /* the first member, so that a pointer to it is one to the entry */
    struct entry *next;
    const struct column *key;
    enum codec_id codec; /* of chunks */
    enum entry_kind kind;
    uint32_t shift;  /* of an array; else 0 */
    uint64_t number; /* of an array of a dimension of a dimension: that of struct kept_array; else 0 */
    unsigned uses;   /* of all but chunks: prepared statements that hold their address */
    unsigned wishes; /* of chunks: prepared statements that have listed them */
    cuda_address memory;
    uint64_t *segments; /* of chunks and vectors: column.segments */

    /* Of chunks. */
    struct cuda_range *ranges; /* NULL: whole ones; else of cuts */
    uint32_t range_count;
    uint64_t whole_bytes; /* of whole chunks: those of all segments of a statement's share */
    bool running;         /* the run that is being placed reads them */
    unsigned holders;     /* runs that read them now */
    double score; /* bytes that a run saves for each byte kept, summed over runs, recent ones counting most */
    const void **pins;  /* what was pinned for reading from the host's memory: two a segment, or NULL */
    cuda_address *host; /* where kernels read the pieces there: two a segment; 0: not pinned */
};

struct cuda_columns {
    struct cuda *cuda;
    uint64_t budget; /* bytes */

    /* A lock that its owner may take again, and leave altogether while it waits. */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* it has no owner, or `ended` has changed */
    pthread_t owner;
    unsigned depth; /* 0: there is no owner */

    /* Under the lock: */
    struct entry *entries;
    uint64_t epoch; /* changes when chunks come or go */
    struct cuda_tenant *first, *last;
    unsigned busy, waiting; /* tenants */
    uint64_t ended;         /* runs have let their columns go, and tenants are not busy any more, so often */
};

/* Waits until a run or a statement has ended; the caller has the lock, and not while it waits. */
void columns_wait(struct cuda_columns *columns);

/* Frees what the statement has that was not busy for longest; false: there is none. */
bool columns_evict_tenant(struct cuda_columns *columns);

/* Nothing uses the entry's memory at the moment. */
static inline bool entry_is_idle(const struct entry *entry)
{
    return entry->memory && !entry->uses && !entry->holders;
}

/* Of any kind but arrays; of chunks, that of whole ones. */
struct entry *columns_find(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                           enum entry_kind kind);

/* Adds an entry; with `bytes` of memory, unless they are 0. */
NODISCARD enum status columns_add(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                                  enum entry_kind kind, uint64_t bytes, struct entry **added,
                                  struct error *error);
/* Frees the entry's memory. An entry of chunks stays in the list, but for cuts that no statement has listed; others leave it. */
void columns_drop(struct cuda_columns *columns, struct entry *entry);

/* Frees an entry that has left the list. */
void columns_free(struct cuda_columns *columns, struct entry *entry);
/* What the entry reads from the host's memory is pinned no longer. */
void columns_unpin(struct cuda_columns *columns, struct entry *entry);

/* Of the entries that nothing uses at the moment, the one that saves least, if that is less than `most`. */
struct entry *columns_least(struct cuda_columns *columns, double most);

#endif
