/*
 * group_states_internal.h: the states of a thread, for group_states.c, and for merge.c and merge_hash.c, which merge
 * them.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_STATES_INTERNAL_H
#define TESSERA_ENGINE_CPU_GROUP_STATES_INTERNAL_H

#include "engine/cpu/distinct_set.h"
#include "engine/cpu/group_hash.h"
#include "engine/cpu/list/group_list.h"
#include "engine/cpu/group_states.h"
#include "engine/cpu/stream/group_stream.h"

struct group_states {
    const struct plan *plan;
    bool hashed;
    uint32_t words;         /* of a key */
    struct group_hash hash; /* hashed: the groups and their states */
    uint32_t past_runs;     /* vectors that are still not looked at for runs */
    bool streamed;          /* hashed, but groups whose rows follow each other are in: */
    struct group_stream stream;
    struct group_layout layout, pairs; /* of the groups, and of the pairs of all sets */
    bool listed;                       /* hashed, but each row's number is only put aside, */
    bool worded;                       /* or its word (group_list.h): */
    struct group_parts values;         /* by ranges, of layout `pairs` (merge_values.c, list/merge_list.c) */
    struct row_words words_of;         /* worded */

    /* Slots: */
    bool made;                         /* they have been cleared */
    uint64_t capacity;                 /* the number of slots of a copy */
    uint32_t copies;                   /* 1 or GROUP_COPIES */
    uint64_t *rows;                    /* the number of rows of each slot: [copy * capacity + slot] */
    int64_t *low[PLAN_AGGREGATES_MAX]; /* the states: [aggregate][...]; those of numbers of rows are `rows` */
    int64_t *high[PLAN_AGGREGATES_MAX]; /* the second words of states that have two */

    /* Words of rows * 2^48 + sum, modulo 2^64: a row of a group is one addition. They are added to the states before a sum
     * or a number of rows could leave its bits. NULL: there are none. */
    uint64_t *packed;
    uint32_t packed_sum, packed_rows; /* the aggregate, and the rows since then */

    struct distinct_set sets[PLAN_AGGREGATES_MAX];
};

/* Adds the packed words to the states. */
void group_states_unpack(struct group_states *states);

/* What the merging of a plan's states shares. */
struct merge {
    const struct plan *plan;
    struct group_states **from;
    uint32_t from_count;
    unsigned threads;
    bool mergeable;                    /* the answer has the values of each count(distinct), and all groups */
    struct group_delivery *deliveries; /* of each thread: the groups go there; or NULL */
    struct partial *groups;
};

/* Merges hashed groups (merge_hash.c). */
NODISCARD enum status merge_hashed(const struct merge *merge, struct error *error);

/* The groups of streams in the order of their numbers, if nearly all of them are complete (stream/merge_stream.c);
 * `table` is free. */
bool merge_streams_suit(const struct merge *merge);
NODISCARD enum status merge_streams(const struct merge *merge, struct group_table *table,
                                    struct error *error);

/* Whether the groups of a plan are needed for quantiles alone, and may be many for its rows. Then its numbers are listed,
 * and merged so (merge_values.c). */
bool values_are_listed(const struct plan *plan);
/* Makes the layout of parts that divide the numbers of such a plan. */
void values_layout(const struct plan *plan, struct group_layout *layout);
NODISCARD enum status merge_values(const struct merge *merge, struct error *error);

/* Copies what the sources have put aside in a part to `words`, one after the other, or back. */
void merge_copy_part(const struct merge *merge, uint32_t part, uint64_t *words, bool back);

/* Adds up the groups of words (list/merge_list.c). */
NODISCARD enum status merge_lists(const struct merge *merge, struct error *error);

/* Merges the hashed pairs of slot and value of a count(distinct): adds the number of each slot's values to its count,
 * and lists them if the answer is mergeable. place[slot] is the slot's group in the answer. */
NODISCARD enum status merge_slot_pairs(const struct merge *merge, uint32_t aggregate, const uint64_t *place,
                                       struct error *error);

#endif
