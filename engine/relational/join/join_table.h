/* join_table.h: the right side of a join, by the hash of its keys: rows of one bucket stand together, in their order. */
#ifndef TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H
#define TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H

#include "engine/relational/rows/rows_hash.h"
#include "engine/relational/join/join.h"

struct join_entry {
    uint64_t hash, row;
};

struct join_table {
    const struct join_task *task;
    uint64_t mask;
    uint64_t *ends;             /* of each bucket, in the entries */
    struct join_entry *entries; /* without rows that have a NULL that equals nothing */
    bool exact; /* equal hashes are equal keys: one key of 64 bits, whose hash can be inverted */
};

NODISCARD enum status join_table_create(const struct join_task *task, struct join_table *table,
                                        struct error *error);
void join_table_free(struct join_table *table);

/* True if one of a row's keys is a NULL that equals nothing. */
static inline bool join_has_null(const struct join_task *task, const struct rowset_column *keys, uint64_t row)
{
    for (uint32_t k = 0; k < task->key_count; k++)
        if (keys[k].nulls && keys[k].nulls[row] && !task->nulls_match[k])
            return true;
    return false;
}

static inline uint64_t join_hash(const struct join_task *task, const struct rowset_column *keys, uint64_t row)
{
    return row_hash(keys, task->key_count, row);
}

static inline uint64_t join_bucket_begin(const struct join_table *table, uint64_t hash)
{
    const uint64_t bucket = hash & table->mask;
    return bucket ? table->ends[bucket - 1] : 0;
}

static inline uint64_t join_bucket_end(const struct join_table *table, uint64_t hash)
{
    return table->ends[hash & table->mask];
}

/* True if an entry has the keys of a left row with this hash. */
static inline bool join_entry_is(const struct join_table *table, const struct join_entry *entry,
                                 uint64_t left, uint64_t hash)
{
    const struct join_task *const task = table->task;
    return entry->hash == hash &&
           (table->exact || rows_equal(task->right_keys, entry->row, task->left_keys, left, task->key_count));
}

#endif
