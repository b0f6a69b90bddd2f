/*
 * engine/cpu/group_states.h: what a thread knows of the groups that it met: slots that are there from the start (PLAN_TOTAL,
 * PLAN_DENSE) or a hash table of group numbers (PLAN_HASH), a state for each aggregate and group, and the sets
 * of count(distinct). Threads' states are merged into one.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_STATES_H
#define TESSERA_ENGINE_CPU_GROUP_STATES_H

#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"

struct group_states;

NODISCARD enum status group_states_create(const struct plan *plan, struct group_states **states,
                                          struct error *error);
void group_states_free(struct group_states *states);

/* As after creation. */
void group_states_clear(struct group_states *states);

/* Adds `count` rows (at most VECTOR_ROWS): numbers[word][i] is row i's group number, arguments[a] aggregate a's values
 * (unused where it has no argument). */
NODISCARD enum status group_states_add(struct group_states *states, uint32_t count,
                                       const uint64_t (*numbers)[VECTOR_ROWS], const struct vector *arguments,
                                       struct error *error);

/* The slots of a plan of one 64-bit sum, for a kernel that adds to them by itself: the sums, and what is not 0 where a row
 * was added. */
void group_states_slots(struct group_states *states, int64_t **sums, uint64_t **present);

/* The groups that have rows, of all `count` (at least 1) threads' states, which are spent afterwards: engine/cpu/merge.c.
 * `mergeable`: also the values of each count(distinct). */
NODISCARD enum status group_states_collect(const struct plan *plan, struct group_states **from,
                                           uint32_t count, unsigned threads, bool mergeable,
                                           struct partial *groups, struct error *error);

#endif
