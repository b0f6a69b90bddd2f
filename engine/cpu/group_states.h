/*
 * group_states.h: the aggregate states of a thread. Groups are slots that exist from the start (PLAN_TOTAL,
 * PLAN_DENSE) or entries of a hash table by group number (PLAN_HASH). There is a state for each aggregate and
 * group, and a set for each count(distinct). The states of all threads are merged at the end.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_STATES_H
#define TESSERA_ENGINE_CPU_GROUP_STATES_H

#include "engine/cpu/stream/group_delivery.h"
#include "engine/cpu/row_vector.h"
#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"

struct group_states;

/* Its slots are made by the first group_states_clear, which comes before rows are added, or the states are merged: on the thread
 * that adds them, so that threads touch their memory at the same time, and those that have no rows do not. */
NODISCARD enum status group_states_create(const struct plan *plan, struct group_states **states,
                                          struct error *error);
void group_states_free(struct group_states *states);

/* Whether a plan's groups may go to a sink (struct group_sink) as they are completed. */
bool group_states_deliverable(const struct plan *plan);
/* Lets the groups that this thread completes go there; NULL: to the result. */
void group_states_deliver(struct group_states *states, struct group_delivery *delivery);

/* Makes the states those of no rows. */
void group_states_clear(struct group_states *states);

/* The number of slots of one copy, if slots are kept GROUP_COPIES times; else 0. */
uint32_t group_states_spread(const struct group_states *states);

/* Adds `count` rows, at most VECTOR_ROWS. numbers[word][i] is the group number of row i, of slots with any multiple of
 * group_states_spread, and less than GROUP_COPIES of them; PLAN_TOTAL needs none. arguments[a] has the values of
 * aggregate a. If plan->in_order, keys[i] is that column's value in row i; else `keys` is NULL. */
NODISCARD enum status group_states_add(struct group_states *states, uint32_t count,
                                       const uint64_t (*numbers)[VECTOR_ROWS], const int32_t *keys,
                                       const struct row_vector *arguments, struct error *error);

/* The next rows do not follow those that have been added, or there are none. */
NODISCARD enum status group_states_end(struct group_states *states, struct error *error);

/* The slots of a plan whose only aggregate is a 64-bit sum, for a kernel that adds to them itself: the sums,
 * and `present`, which the kernel sets to a value other than 0 if it adds a row. */
void group_states_slots(struct group_states *states, int64_t **sums, uint64_t **present);

/* Merges the states of `count` threads, at least 1, and gives the groups that have rows (merge.c). The states
 * can only be cleared or freed afterwards. `mergeable`: also gives the values of each count(distinct), and
 * all groups; else those that cannot be in the answer may be missing. `deliveries` is NULL, or has one for each
 * thread, and the groups go there. */
NODISCARD enum status group_states_collect(const struct plan *plan, struct group_states **from,
                                           uint32_t count, unsigned threads, bool mergeable,
                                           struct group_delivery *deliveries, struct partial *groups,
                                           struct error *error);

#endif
