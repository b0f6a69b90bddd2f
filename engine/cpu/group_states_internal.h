/*
 * engine/cpu/group_states_internal.h: what the states of a thread are (engine/cpu/group_states.c), for those who bring all threads' together
 * (engine/cpu/merge.c).
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
    uint64_t count, capacity; /* groups; hashed: that were met, and that there is room for */
    uint32_t words;           /* of a key */
    uint64_t *keys;           /* hashed: of each group, `words` each */
    uint32_t *table;          /* hashed: 2 * capacity places, group + 1 or 0 */
    uint64_t *rows;           /* of each group */
    int64_t *low[PLAN_AGGREGATES_MAX];
    int64_t *high[PLAN_AGGREGATES_MAX]; /* AGGREGATE_SUM_WIDE */
    struct distinct_set sets[PLAN_AGGREGATES_MAX];
};

static inline uint64_t group_states_hash(const uint64_t *key, uint32_t words)
{
    uint64_t hash = hash_mix(key[0]);
    for (uint32_t word = 1; word < words; word++)
        hash = hash_mix(hash ^ key[word]);
    return hash;
}

/* Room for `more` hashed groups. */
NODISCARD enum status group_states_reserve(struct group_states *states, uint64_t more, struct error *error);

/* The groups of `count` keys, at most VECTOR_ROWS, of `words` words each. */
NODISCARD enum status group_states_find(struct group_states *states, uint32_t count, const uint64_t *keys,
                                        uint64_t *groups, struct error *error);

#endif
