/*
 * group_states_internal.h: the states of a thread, for group_states.c, and for merge.c, which merges them.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_STATES_INTERNAL_H
#define TESSERA_ENGINE_CPU_GROUP_STATES_INTERNAL_H

#include "engine/cpu/distinct_set.h"
#include "engine/cpu/group_states.h"
#include "storage/base/hash.h"
#include "storage/base/huge_pages.h"

struct group_states {
    const struct plan *plan;
    bool hashed;
    uint64_t count, capacity;          /* the number of groups, and the room for them */
    uint32_t words;                    /* of a key */
    uint64_t *keys;                    /* hashed: the groups' keys, `words` each */
    uint32_t *table;                   /* hashed: 2 * capacity places with group + 1, or 0 for a free place */
    uint64_t *rows;                    /* the number of rows of each group */
    int64_t *low[PLAN_AGGREGATES_MAX]; /* the states: [aggregate][group] */
    int64_t *high[PLAN_AGGREGATES_MAX]; /* the high words of AGGREGATE_SUM_WIDE */
    struct distinct_set sets[PLAN_AGGREGATES_MAX];
};

static inline uint64_t group_states_hash(const uint64_t *key, uint32_t words)
{
    uint64_t hash = hash_mix(key[0]);
    for (uint32_t word = 1; word < words; word++)
        hash = hash_mix(hash ^ key[word]);
    return hash;
}

/* Makes room for `more` hashed groups. */
NODISCARD enum status group_states_reserve(struct group_states *states, uint64_t more, struct error *error);

/* Finds or adds the groups of `count` keys, at most VECTOR_ROWS, of `words` words each. */
NODISCARD enum status group_states_find(struct group_states *states, uint32_t count, const uint64_t *keys,
                                        uint64_t *groups, struct error *error);

#endif
