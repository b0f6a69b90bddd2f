/*
 * parts.h: what splitting and merging of partial results share (engine/plan/partial.h): the groups' hashes and states.
 */
#ifndef TESSERA_ENGINE_PLAN_PARTIAL_PARTS_H
#define TESSERA_ENGINE_PLAN_PARTIAL_PARTS_H

#include "engine/plan/partial.h"
#include "storage/base/hash.h"
#include "storage/base/sort/deal.h"

/* The hash of a group's number, by which partial_index_find places it too. */
static inline uint64_t partial_group_hash(const struct plan *plan, const struct partial *partial,
                                          uint64_t group)
{
    uint64_t hash = 0;
    for (uint32_t word = 0; word < plan->key_words; word++)
        hash = hash_mix(hash ^ partial->keys[word][group]);
    return hash;
}

static inline uint32_t partial_group_owner(const struct plan *plan, const struct partial *partial,
                                           uint64_t group, uint32_t owners)
{
    return (uint32_t)hash_part(partial_group_hash(plan, partial, group), owners);
}

/* Adds a pair to the set unless it has it; both have room for it. */
bool partial_pair_add(struct hash_table *index, struct partial_set *set, uint64_t group, int64_t value);

static inline uint64_t partial_pair_hash(uint64_t group, int64_t value)
{
    return hash_mix(group ^ hash_mix((uint64_t)value));
}

/* Copies number and states of group `at` to group `to`, whose memory exists. */
void partial_group_copy(const struct plan *plan, struct partial *into, uint64_t to,
                        const struct partial *from, uint64_t at);
/* Adds the states of group `at` to group `to`, which has the same number; not the sets, nor total_rows. */
void partial_group_add(const struct plan *plan, struct partial *into, uint64_t to, const struct partial *from,
                       uint64_t at);

/* Adds group `at` to the group of `into` that has this number, or makes that one, for which there is memory. Returns its
 * index. */
uint64_t partial_group_merge(const struct plan *plan, struct partial *into, struct hash_table *index,
                             const uint64_t *number, const struct partial *from, uint64_t at);

/* Merges the groups of a result that have the same number, which others never have; to[g] becomes the group of `into`
 * to which group g went. The plan counts no distinct values. `from` stays. */
NODISCARD enum status partial_merge_alike(const struct plan *plan, const struct partial *from,
                                          unsigned threads, struct partial *into, uint64_t *to,
                                          struct error *error);

/* Merges ascending lists of rows: each thread those of its range of row numbers. */
NODISCARD enum status partial_merge_rows(const struct partial *from, uint32_t count, unsigned threads,
                                         struct partial *into, struct error *error);

/* Sets the counts of a count(distinct), a, and lists its pairs. to[i][g] is the group of `into` to which group g
 * of from[i] went. */
NODISCARD enum status partial_merge_set(const struct partial *from, uint32_t count, uint32_t a,
                                        uint64_t *const *to, unsigned threads, struct partial *into,
                                        struct error *error);

#endif
