/*
 * partial.h: the result of a plan over some segments of its fact table, from one device: groups with their
 * aggregate states, or rows. Partial results of disjoint segments can be merged in any order and from any
 * devices. engine/answer/output.h makes the answer from the merged result.
 */
#ifndef TESSERA_ENGINE_PLAN_PARTIAL_H
#define TESSERA_ENGINE_PLAN_PARTIAL_H

#include "engine/plan/device/device_rows.h"
#include "engine/plan/plan.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/hash_table.h"
#include "storage/base/number/number_set.h"

/* The values that a count(distinct) has seen: pairs of a group (its index in the partial result) and a value,
 * without duplicates, in no order. */
struct partial_set {
    uint64_t count;
    uint64_t *groups;
    int64_t *values;
};

/* What a measure of values (engine/aggregate/measure.h) needs of a group's, which a GPU has sorted. */
struct partial_digest {
    uint64_t rows; /* of values that are not NULL; of a measure of distinct values, these values */
    int64_t values
        [2]; /* those of the two rows that it wants; or the sum of the distinct values in 128 bits, low word first */
};

/* PLAN_ROWS: `rows` has `count` row numbers of the fact table, ascending. With a limit and without an order,
 * the first limit + offset of them are the first rows of the segments that pass; rows after these may be
 * missing. Other shapes: `count` groups that have rows, in no order, with the state of each aggregate;
 * PLAN_TOTAL always has one group. */
struct partial {
    uint64_t count;
    uint32_t aggregates;                /* those that have memory here: what partial_free looks at */
    uint64_t *keys[PLAN_KEY_WORDS_MAX]; /* group numbers, word by word */

    /* `count` states each, word by word; states_high is NULL if a state has one. Undefined if no value was added. */
    int64_t *states[PLAN_AGGREGATES_MAX];
    int64_t *states_high[PLAN_AGGREGATES_MAX];
    struct partial_set sets[PLAN_AGGREGATES_MAX]; /* of distinct aggregates, if the result is mergeable */
    uint64_t total_rows;                          /* PLAN_TOTAL: 0 if no row survived */
    bool ascending; /* PLAN_HASH: the groups are in the order of their numbers */

    /* The words of the states of plan->totals, two each, and total_rows is the number of groups that passed: then no group is
     * here. Or NULL. */
    int64_t *totals;

    /* `count` for each measure: then the groups are those of the plan's only grouping set, with codes 0 of the terms that are
     * not in it, ascending. Or NULL. */
    struct partial_digest *digests;
    /* Of a plan whose `set` is set: the values of that output, of which number_bits has the words if there are any, and whether
     * NULL is one. Then no group is here. */
    bool is_set, set_null;
    struct number_bits set;
    struct device_rows *taken;   /* PLAN_ROWS: the outputs' values (device_rows.h), and no rows; or NULL */
    uint64_t *rows;              /* PLAN_ROWS; spillable */
    struct memory_charge charge; /* of groups; moves with them */
};

/* Takes the groups of a run instead of its result: some at a time, at most VECTOR_ROWS, each once and complete, from
 * several threads, which have numbers from 0. */
struct group_sink {
    enum status (*take)(struct group_sink *sink, const struct partial *groups, unsigned thread,
                        struct error *error);
    bool taken; /* the device has given all groups, and its result has none */
};

/* The number that an aggregate's state of a group stands for. */
static inline __int128 partial_number(const struct plan *plan, const struct partial *partial, uint32_t a,
                                      uint64_t group)
{
    return aggregate_number(plan_aggregate_of(plan, a), partial->states[a], partial->states_high[a], group);
}

/* Allocates `count` groups, all zeros. Free with partial_free, also after an error. */
NODISCARD enum status partial_allocate(const struct plan *plan, uint64_t count, struct partial *partial,
                                       struct error *error);

/* The same, but keys and states are the caller's to write, on any threads; numbers of distinct values are zeros. */
NODISCARD enum status partial_open(const struct plan *plan, uint64_t count, struct partial *partial,
                                   struct error *error);

/* Asks the account of memory for `count` groups more, which the caller allocates. */
NODISCARD enum status partial_charge_groups(const struct plan *plan, uint64_t count, struct partial *partial,
                                            struct error *error);

/* Allocates `count` pairs of a set, which the caller fills in. */
NODISCARD enum status partial_set_allocate(struct partial_set *set, uint64_t count, struct error *error);

/* Makes the partial result of a plan that counts rows (plan_counts_rows) and has found `rows` of them. */
NODISCARD enum status partial_of_rows(const struct plan *plan, uint64_t rows, struct partial *partial,
                                      struct error *error);

void partial_free(struct partial *partial);

/* The bytes of its groups, values and rows. */
uint64_t partial_bytes(const struct plan *plan, const struct partial *partial);

/* Makes the table of all groups by their numbers, with room for `more`. */
NODISCARD enum status partial_index_make(const struct plan *plan, const struct partial *partial,
                                         uint64_t more, struct hash_table *index, struct error *error);

/* The group with this number, of key_words words, or HASH_TABLE_NONE. */
uint32_t partial_index_find(const struct plan *plan, const struct partial *partial,
                            const struct hash_table *index, const uint64_t *number);

/* Adds `from`, which is of other segments, to `into`. If the plan counts distinct values, both must be
 * mergeable (struct device_request). Takes about 20 ns for each group and distinct value. After an error
 * `into` can only be freed. */
NODISCARD enum status partial_merge(const struct plan *plan, struct partial *into, const struct partial *from,
                                    struct error *error);

/* ---- Many results, many owners (engine/plan/partial/) ---- */

/* Copies the groups into `count` parts, by their owners: the hash of a group's number decides its owner, so that
 * it is the same in all partial results of a plan. Rows, and the group of PLAN_TOTAL, all have owner 0. Fills the
 * parts, which need not be initialised; free each with partial_free. After an error none is left. */
NODISCARD enum status partial_split(const struct plan *plan, const struct partial *from, uint32_t count,
                                    struct partial *parts, struct error *error);

/* Merges `count` (at least 1) results of disjoint segments into `into`, on up to `threads` threads, and frees them,
 * also after an error, when nothing is left of `into`. If the plan counts distinct values, all must be mergeable,
 * and so is the result. Empty results ({0}) are legal. */
NODISCARD enum status partial_merge_all(const struct plan *plan, struct partial *from, uint32_t count,
                                        unsigned threads, struct partial *into, struct error *error);

#endif
