/*
 * engine/plan/partial.h: what a device brings back from some segments of a plan's fact table: groups with the states of
 * their aggregates, or rows. Partial results of disjoint segments merge into that of all of them, whichever devices
 * they come from and in whichever order; engine/answer/output.h makes rows of them.
 */
#ifndef TESSERA_ENGINE_PLAN_PARTIAL_H
#define TESSERA_ENGINE_PLAN_PARTIAL_H

#include "engine/plan/plan.h"

/* The values that a count(distinct) saw, as pairs of a group (its place in the partial result) and a value, none of them
 * twice and in no order. */
struct partial_set {
    uint64_t count;
    uint64_t *groups;
    int64_t *values;
};

/* PLAN_ROWS: `rows`, ascending row numbers of the fact table. If there is a limit and no order, the first limit +
 * offset of them are the segments' first ones, or all that they have. Else `count` groups that have rows (PLAN_TOTAL:
 * one, always), in no order, with the state of each aggregate. */
struct partial {
    uint64_t count;
    uint64_t *keys[PLAN_KEY_WORDS_MAX]; /* group numbers, word by word */
    int64_t *
        states[PLAN_AGGREGATES_MAX]; /* count each; a sum's low 64 bits; undefined where no value was added */
    int64_t *states_high[PLAN_AGGREGATES_MAX]; /* AGGREGATE_SUM_WIDE: the high 64 bits */
    struct partial_set
        sets[PLAN_AGGREGATES_MAX]; /* AGGREGATE_COUNT_DISTINCT, of results that can be merged */
    uint64_t total_rows;           /* PLAN_TOTAL: 0 if no row was left */
    uint64_t *rows;                /* PLAN_ROWS: `count` of them */
};

/* Room for that many groups, all zeros. What there is, also after an error, is freed by partial_free. */
NODISCARD enum status partial_allocate(const struct plan *plan, uint64_t count, struct partial *partial,
                                       struct error *error);

/* Room for `count` pairs of a set, to be filled in. */
NODISCARD enum status partial_set_allocate(struct partial_set *set, uint64_t count, struct error *error);

void partial_free(struct partial *partial);

/* Places of a partial result's groups by their numbers; freed by partial_index_free. */
struct partial_index {
    uint64_t last;    /* places - 1: a power of two less one */
    uint64_t *places; /* group + 1, or 0 */
};

/* Of all groups, with room for `more`. */
NODISCARD enum status partial_index_make(const struct plan *plan, const struct partial *partial,
                                         uint64_t more, struct partial_index *index, struct error *error);
void partial_index_free(struct partial_index *index);

/* Where in the index the group with this number (key_words words) is, or would be. */
uint64_t *partial_index_find(const struct plan *plan, const struct partial *partial,
                             const struct partial_index *index, const uint64_t *number);

/* Adds state `at` of one list to state `to` of another: both have a value, or 0 or the far end for none. The high
 * words are those of AGGREGATE_SUM_WIDE. */
static inline void state_merge(enum aggregate_kind kind, int64_t *low, int64_t *high, uint64_t to,
                               const int64_t *from_low, const int64_t *from_high, uint64_t at)
{
    const int64_t other = from_low[at];
    switch (kind) {
    case AGGREGATE_MIN:
        low[to] = other < low[to] ? other : low[to];
        break;
    case AGGREGATE_MAX:
        low[to] = other > low[to] ? other : low[to];
        break;
    case AGGREGATE_SUM_WIDE: {
        const uint64_t sum = (uint64_t)low[to] + (uint64_t)other;
        high[to] += from_high[at] + (sum < (uint64_t)other);
        low[to] = (int64_t)sum;
        break;
    }
    case AGGREGATE_COUNT:
    case AGGREGATE_SUM:
    case AGGREGATE_COUNT_DISTINCT:
        low[to] = (int64_t)((uint64_t)low[to] + (uint64_t)other);
        break;
    }
}

/* Adds `from`, of other segments, to `into`. Both must have been made to be merged (struct device_request) if the plan
 * counts distinct values. Some 20 ns a group and a distinct value. After an error `into` may only be freed. */
NODISCARD enum status partial_merge(const struct plan *plan, struct partial *into, const struct partial *from,
                                    struct error *error);

#endif
