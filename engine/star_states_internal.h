/*
 * star_states_internal.h: what the states of a thread are (star_states.c), for those who bring all threads' together
 * (star_merge.c).
 */
#ifndef TESSERA_ENGINE_STAR_STATES_INTERNAL_H
#define TESSERA_ENGINE_STAR_STATES_INTERNAL_H

#include "engine/star_distinct.h"
#include "engine/star_states.h"
#include "storage/hash.h"
#include "storage/huge_pages.h"

struct star_states {
    const struct star_plan *plan;
    bool hashed;
    uint64_t count, capacity; /* groups; hashed: that were met, and that there is room for */
    uint32_t words;           /* of a key */
    uint64_t *keys;           /* hashed: of each group, `words` each */
    uint32_t *table;          /* hashed: 2 * capacity places, group + 1 or 0 */
    uint64_t *rows;           /* of each group */
    int64_t *low[PLAN_AGGREGATES_MAX];
    int64_t *high[PLAN_AGGREGATES_MAX]; /* AGGREGATE_SUM_WIDE */
    struct star_distinct sets[PLAN_AGGREGATES_MAX];
};

static inline uint64_t star_states_hash(const uint64_t *key, uint32_t words)
{
    uint64_t hash = hash_mix(key[0]);
    for (uint32_t word = 1; word < words; word++)
        hash = hash_mix(hash ^ key[word]);
    return hash;
}

/* Room for `more` hashed groups. */
NODISCARD enum status star_states_reserve(struct star_states *states, uint64_t more, struct error *error);

/* The groups of `count` keys, at most VECTOR_ROWS, of `words` words each. */
NODISCARD enum status star_states_find(struct star_states *states, uint32_t count, const uint64_t *keys,
                                       uint64_t *groups, struct error *error);

#endif
