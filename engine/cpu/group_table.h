/*
 * group_table.h: a hash table of entries. An entry is a key of some words, and after it the states of aggregates: all
 * in one or two lines of the cache. The table is meant to fit a core's second-level cache; group_hash.h empties it when
 * it becomes larger, and the parts that are merged at the end are that small, too.
 *
 * A key without states is a member of a set: the pairs of group and value of a count(distinct).
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_TABLE_H
#define TESSERA_ENGINE_CPU_GROUP_TABLE_H

#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/hash.h"

/* The words of an entry. Aggregate a's state begins at word offset[a], and its words follow each other; a distinct
 * aggregate has none. */
struct group_layout {
    const struct plan_aggregate *aggregates;
    uint32_t aggregate_count;
    uint32_t words;      /* of the key */
    uint32_t part_words; /* those of its first words whose hash decides the part (group_parts.h); */
    uint32_t part_shift; /* or 0: the part is the first word >> part_shift, and no entries are merged */
    uint32_t stride;     /* of an entry */
    uint32_t offset[PLAN_AGGREGATES_MAX];
    int64_t clear[AGGREGATE_WORDS_MAX * PLAN_AGGREGATES_MAX]; /* the states' words before the first value */
};

/* Makes a layout, which is large: threads share it. `aggregates` must outlive it. */
void group_layout_make(struct group_layout *layout, const struct plan_aggregate *aggregates,
                       uint32_t aggregate_count, uint32_t words, uint32_t part_words);

/* Sets the states of an entry as they are before the first value. */
static inline void group_layout_clear(const struct group_layout *layout, uint64_t *entry, uint32_t words,
                                      uint32_t stride)
{
    for (uint32_t word = words; word < stride; word++)
        entry[word] = (uint64_t)layout->clear[word - words];
}

/* Valid if zero-initialised, but for `layout`. */
struct group_table {
    const struct group_layout *layout;
    uint64_t count, capacity; /* the capacity is 0 or a power of two */
    uint64_t *entries;        /* in the order in which they were added */
    uint32_t *places;         /* 2 * capacity: entry + 1, or 0 for a free place */
    struct memory_charge charge;
};

void group_table_free(struct group_table *table);
void group_table_clear(struct group_table *table);

/* Finds or adds the entries of `count` keys, at most VECTOR_ROWS; the next key begins layout->stride words after a key.
 * index[i] is the first word of its entry in table->entries, which may move. New states are clear. */
NODISCARD enum status group_table_find(struct group_table *table, uint32_t count, const uint64_t *keys,
                                       uint64_t *index, struct error *error);

/* Adds `count` entries of another table or part: their states are merged with those of the same key. */
NODISCARD enum status group_table_merge(struct group_table *table, uint64_t count, const uint64_t *entries,
                                        struct error *error);

static inline uint64_t group_hash_of(const uint64_t *key, uint32_t words)
{
    uint64_t hash = hash_mix(key[0]);
    for (uint32_t word = 1; word < words; word++)
        hash = hash_mix(hash ^ key[word]);
    return hash;
}

#endif
