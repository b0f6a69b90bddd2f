/* join_table.h: the right side of a join by buckets of its keys: rows of one bucket stand together, in their order. */
#ifndef TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H
#define TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H

#include "engine/relational/rows/rows_hash.h"
#include "engine/relational/join/join.h"

/* How a row finds its bucket, and what its entries are told by. */
enum join_lookup {
    JOIN_BY_HASH, /* the low bits of the keys' hash; the tag is its high half, and equal ones are compared */
    JOIN_BY_NUMBER, /* keys of less than 2^32 combinations: so, but the tag is the combination's number, and says all */
    JOIN_BY_PLACE /* the same, with a bucket for some numbers that follow each other: rows in the order of their keys
                     * find their partners in that order */
};

#define JOIN_NOWHERE UINT64_MAX /* the place of a row that has no partner */

/* The numbers that a key has on the right side: low .. low + span. Unless JOIN_BY_HASH a row's number is the sum of
 * (key - low) * stride. */
struct join_range {
    uint64_t low, span, stride;
};

struct join_entry {
    uint32_t tag, row;
};

struct join_table {
    const struct join_task *task;
    enum join_lookup lookup;
    struct join_range *ranges;  /* of each key, unless JOIN_BY_HASH */
    unsigned shift;             /* JOIN_BY_PLACE: from a number to its bucket */
    uint64_t buckets;           /* unless JOIN_BY_PLACE a power of two */
    uint32_t *ends;             /* of each bucket, in the entries */
    struct join_entry *entries; /* without rows that have a NULL that equals nothing */
};

/* STATUS_MACHINE for 2^32 rows or more. */
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

/* Where the partners of a row are looked for: the number of its keys, or their hash. */
static inline uint64_t join_place(const struct join_table *table, const struct rowset_column *keys,
                                  uint64_t row)
{
    if (table->lookup == JOIN_BY_HASH)
        return row_hash(keys, table->task->key_count, row) >> 1; /* never JOIN_NOWHERE */
    uint64_t place = 0;
    for (uint32_t k = 0; k < table->task->key_count; k++) {
        const struct join_range *const range = &table->ranges[k];
        const uint64_t number = (uint64_t)keys[k].values[row] - range->low;
        if (number > range->span || (keys[k].nulls && keys[k].nulls[row]))
            return JOIN_NOWHERE;
        place += number * range->stride;
    }
    return place;
}

static inline uint64_t join_bucket(const struct join_table *table, uint64_t place)
{
    const uint64_t hash = table->lookup == JOIN_BY_NUMBER ? place * ROW_HASH_SEED >> 32 : place;
    return table->lookup == JOIN_BY_PLACE ? place >> table->shift : hash & (table->buckets - 1);
}

static inline uint32_t join_tag(const struct join_table *table, uint64_t place)
{
    return (uint32_t)(table->lookup == JOIN_BY_HASH ? place >> 32 : place);
}

static inline uint64_t join_bucket_begin(const struct join_table *table, uint64_t bucket)
{
    return bucket ? table->ends[bucket - 1] : 0;
}

/* True if an entry has the keys of a left row with this tag. */
static inline bool join_entry_is(const struct join_table *table, const struct join_entry *entry,
                                 uint64_t left, uint32_t tag)
{
    const struct join_task *const task = table->task;
    return entry->tag == tag &&
           (table->lookup != JOIN_BY_HASH ||
            rows_equal(task->right_keys, entry->row, task->left_keys, left, task->key_count));
}

#endif
