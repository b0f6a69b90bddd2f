/*
 * group_hash.h: the hashed entries (group_table.h) of a thread, however many. Rows go to a table that fits the
 * second-level cache. When it is full, it is emptied into parts (group_parts.h). If it has merged few rows until then,
 * the next rows go to the parts without it; later it is tried again, because rows that are close to each other may have
 * more in common there. In the end the parts of all threads are merged, each by one thread.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_HASH_H
#define TESSERA_ENGINE_CPU_GROUP_HASH_H

#include "engine/cpu/group_parts.h"

struct group_hash {
    const struct group_layout *layout;
    struct group_table table;
    struct group_parts parts;
    uint64_t most;    /* entries of the table */
    uint64_t rows;    /* that the table has taken since it was empty */
    uint64_t past;    /* rows that are still to go past the table */
    uint64_t *buffer; /* room for VECTOR_ROWS entries */
};

/* The entries that a thread's table has room for. */
uint64_t group_hash_most(const struct group_layout *layout);

/* The layout must outlive the entries. Free them also after an error. */
NODISCARD enum status group_hash_open(struct group_hash *hash, const struct group_layout *layout,
                                      struct error *error);
void group_hash_free(struct group_hash *hash); /* legal if zero-initialised */
void group_hash_clear(struct group_hash *hash);

/* Adds rows, at most VECTOR_ROWS, in two calls. Before the first one the caller writes each row's key to hash->buffer,
 * at i * layout->stride. Between the two it adds the rows' values to their states: row i's entry is *base + index[i]. */
NODISCARD enum status group_hash_find(struct group_hash *hash, uint32_t count, uint64_t **base,
                                      uint64_t *index, struct error *error);
NODISCARD enum status group_hash_added(struct group_hash *hash, uint32_t count, struct error *error);

/* Adds `count` entries that follow each other, with their states. */
NODISCARD enum status group_hash_put(struct group_hash *hash, uint64_t count, const uint64_t *entries,
                                     struct error *error);

/* True if there are parts. */
static inline bool group_hash_parted(const struct group_hash *hash)
{
    return hash->parts.parts != NULL;
}

/* Moves all entries to the parts. */
NODISCARD enum status group_hash_part(struct group_hash *hash, struct error *error);

/* Merges the entries of a part into a table; GROUP_HASH_WHOLE: those of the table, if there are no parts. */
#define GROUP_HASH_WHOLE UINT32_MAX
NODISCARD enum status group_hash_merge(const struct group_hash *hash, uint32_t part, struct group_table *into,
                                       struct error *error);

/* The number of entries; a key may have several. */
uint64_t group_hash_entries(const struct group_hash *hash);

#endif
