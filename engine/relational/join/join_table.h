/*
 * join_table.h: the right side of a join by buckets of its keys: rows of one bucket stand together, in their order.
 *
 * Where the numbers of keys are dense, a key is a bit, and its bucket is the number of keys before it: a concise array table
 * (Barber et al., Memory-Efficient Hash Joins, VLDB 2014). A row without a partner then reads a word of two bits a number,
 * and another one, if no key has two rows, a word of four bytes a row:
 *
 *     marks    number / 32:  0                 1                 2
 *              keys          00100100...0      0...0             10...0
 *              before        0                 2                 2
 *     rows     rank:         0  1  2           the rows with the numbers 2, 5 and 64; NULL: 0, 1, 2, as they stand
 */
#ifndef TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H
#define TESSERA_ENGINE_RELATIONAL_JOIN_JOIN_TABLE_H

#include "engine/relational/rows/rows_hash.h"
#include "engine/relational/join/join.h"
#include "storage/base/number/number_ranks.h"

/* How a row finds its bucket, and what its entries are told by. */
enum join_lookup {
    JOIN_BY_HASH, /* the low bits of the keys' hash; the tag is its high half, and equal ones are compared */
    JOIN_BY_NUMBER, /* keys of less than 2^32 combinations: so, but the tag is the combination's number, and says all */
    JOIN_BY_RANK /* dense numbers: the bucket is the key's rank, and has the rows of no other key. Rows in the order of
                    * their keys find their partners in that order */
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
    uint64_t buckets;           /* a power of two; JOIN_BY_RANK: the words of `marks` */
    uint32_t *ends;             /* of each bucket, in the entries or rows; NULL: a bucket has one row */
    struct join_entry *entries; /* unless JOIN_BY_RANK: those without a NULL that equals nothing */

    /* JOIN_BY_RANK: the numbers that are keys (number_ranks.h). A rank is at least the number of keys before, and at most
     * that of rows. */
    uint64_t *marks;
    uint32_t *rows; /* of the buckets; NULL: the rows stand in the order of their keys */
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

/* Unless JOIN_BY_RANK. */
static inline uint64_t join_bucket(const struct join_table *table, uint64_t place)
{
    return (table->lookup == JOIN_BY_NUMBER ? place * ROW_HASH_SEED >> 32 : place) & (table->buckets - 1);
}

static inline uint32_t join_tag(const struct join_table *table, uint64_t place)
{
    return (uint32_t)(table->lookup == JOIN_BY_HASH ? place >> 32 : place);
}

static inline uint64_t join_bucket_begin(const struct join_table *table, uint64_t bucket)
{
    return !table->ends ? bucket : bucket ? table->ends[bucket - 1] : 0;
}

static inline uint64_t join_bucket_end(const struct join_table *table, uint64_t bucket)
{
    return table->ends ? table->ends[bucket] : bucket + 1;
}

/* The row at a place of a bucket. */
static inline uint64_t join_row(const struct join_table *table, uint64_t at)
{
    return table->lookup != JOIN_BY_RANK ? table->entries[at].row : table->rows ? table->rows[at] : at;
}

/* True if what stands at a place of its bucket has the keys of a left row with this tag. */
static inline bool join_matches(const struct join_table *table, uint64_t at, uint64_t left, uint32_t tag)
{
    const struct join_task *const task = table->task;
    if (table->lookup == JOIN_BY_RANK)
        return true;
    return table->entries[at].tag == tag &&
           (table->lookup != JOIN_BY_HASH ||
            rows_equal(task->right_keys, table->entries[at].row, task->left_keys, left, task->key_count));
}

#endif
