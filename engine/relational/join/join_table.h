/* join_table.h: the right side of a join, by its keys: equal hashes are lists, in the order of their rows. */
#ifndef TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H
#define TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H

#include "engine/answer/relation/rows_hash.h"
#include "engine/relational/join/join.h"

struct join_table {
    const struct join_task *task;
    uint64_t mask;
    uint64_t *heads;  /* for each bucket its first row, or RELATION_NO_ROW */
    uint64_t *nexts;  /* for each row the next one of its bucket */
    uint64_t *hashes; /* of each row; 0: it has a NULL that equals nothing, and is in no bucket */
};

NODISCARD enum status join_table_create(const struct join_task *task, struct join_table *table,
                                        struct error *error);
void join_table_free(struct join_table *table);

/* The hash of a row's keys; 0 if one of them is a NULL that equals nothing. */
static inline uint64_t join_hash(const struct join_task *task, const struct rowset_column *keys, uint64_t row)
{
    for (uint32_t k = 0; k < task->key_count; k++)
        if (keys[k].nulls && keys[k].nulls[row] && !task->nulls_match[k])
            return 0;
    return row_hash(keys, task->key_count, row) | 1;
}

/* The first row from `row` on in its bucket that has the keys of a left row; RELATION_NO_ROW: there is none. */
static inline uint64_t join_table_find(const struct join_table *table, uint64_t row, uint64_t left,
                                       uint64_t hash)
{
    const struct join_task *const task = table->task;
    while (row != RELATION_NO_ROW &&
           (table->hashes[row] != hash ||
            !rows_equal(task->right_keys, row, task->left_keys, left, task->key_count)))
        row = table->nexts[row];
    return row;
}

static inline uint64_t join_table_first(const struct join_table *table, uint64_t left, uint64_t hash)
{
    return hash ? join_table_find(table, table->heads[hash >> 1 & table->mask], left, hash) : RELATION_NO_ROW;
}

static inline uint64_t join_table_next(const struct join_table *table, uint64_t row, uint64_t left,
                                       uint64_t hash)
{
    return join_table_find(table, table->nexts[row], left, hash);
}

#endif
