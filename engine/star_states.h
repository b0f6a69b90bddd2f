/*
 * star_states.h: what a thread knows of the groups that it met: slots that are there from the start (PLAN_TOTAL,
 * PLAN_DENSE) or a hash table of group numbers (PLAN_HASH), a state for each aggregate and group, and the sets
 * of count(distinct). Threads' states are merged into one.
 */
#ifndef TESSERA_ENGINE_STAR_STATES_H
#define TESSERA_ENGINE_STAR_STATES_H

#include "engine/expression_vector.h"
#include "engine/star_plan.h"

struct star_states;

NODISCARD enum status star_states_create(const struct star_plan *plan, struct star_states **states,
                                         struct error *error);
void star_states_free(struct star_states *states);

/* As after creation. */
void star_states_clear(struct star_states *states);

/* Adds `count` rows (at most VECTOR_ROWS): numbers[word][i] is row i's group number, arguments[a] aggregate a's values
 * (unused where it has no argument). */
NODISCARD enum status star_states_add(struct star_states *states, uint32_t count,
                                      const uint64_t (*numbers)[VECTOR_ROWS], const struct vector *arguments,
                                      struct error *error);

/* The groups that have rows, of all `count` (at least 1) threads' states, which are spent afterwards: engine/star_merge.c. */
NODISCARD enum status star_states_collect(const struct star_plan *plan, struct star_states **from,
                                          uint32_t count, unsigned threads, struct star_groups *groups,
                                          struct error *error);

#endif
