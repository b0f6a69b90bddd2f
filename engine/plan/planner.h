/*
 * engine/plan/planner.h: from what a statement says to a plan that can be run. Whoever binds names and types
 * (engine/sql/bind.c) adds joins, leaves, conditions, groups, aggregates and outputs; then planner_complete
 * decides how they are answered. Once a statement; the dimensions that have conditions are read whole.
 *
 *     engine/plan/leaves.c      columns become leaves of expressions, and are opened
 *     engine/plan/predicates.c  conditions become ranges of fact columns, of dimensions, or conditions on rows
 *     engine/plan/cost.c        what a step costs, and which rows it is expected to keep
 *     engine/plan/steps.c       the cheapest order of steps
 *     engine/plan/groups.c      which groups there can be, their numbers, the shape of the answer
 */
#ifndef TESSERA_ENGINE_PLAN_PLANNER_H
#define TESSERA_ENGINE_PLAN_PLANNER_H

#include "engine/plan/plan.h"

/* A plan that is being made, and how it reads columns. `codec` as fact_data_open takes it. */
struct planner {
    struct plan *plan;
    const char *codec;
    unsigned threads;
    /* A left join whose ON has conditions of its own: its columns may be NULL where the key is not. */
    bool conditional[PLAN_JOINS_MAX];
    struct error *error;
};

/* All: STATUS_BAD_INPUT, a sentence without position, where a limit of the plan (PLAN_..._MAX) is reached. */

/* ---- Joins and columns: engine/plan/leaves.c ---- */

/* A join along a foreign key of the fact; `name` is for EXPLAIN. */
NODISCARD enum status planner_join(struct planner *planner, const struct column *key, const char *name,
                                   bool inner, uint32_t *join);

/* The leaf for a fact column; a foreign key has the value of the key that it references. */
NODISCARD enum status planner_fact_leaf(struct planner *planner, const struct column *column, uint32_t *node);

/* The leaf for a column of a join's table or, with `positions`, of a table beyond it: for each row of the
 * join's table its row there, -1: none. */
NODISCARD enum status planner_dimension_leaf(struct planner *planner, uint32_t join, const int32_t *positions,
                                             const struct column *column, uint32_t *node);

/* For each of `rows` rows of a join's table the row that `key`, at the row's own position or at
 * positions[row], points at; -1: none. Owned by the caller (free). */
NODISCARD enum status planner_positions(struct planner *planner, const struct column *key,
                                        const int32_t *positions, uint64_t rows, int32_t **composed);

/* ---- Conditions: engine/plan/predicates.c ---- */

/* What an expression over columns reads: the fact's own, and which joins, a bit each. */
struct plan_reads {
    bool fact;
    uint32_t joins;
};
struct plan_reads plan_reads(const struct plan *plan, uint32_t node);

/* A condition that rows must fulfil. */
NODISCARD enum status planner_condition(struct planner *planner, uint32_t node);

/* A condition that the join's rows must fulfil, over its columns alone. */
NODISCARD enum status planner_match(struct planner *planner, uint32_t join, uint32_t node);

NODISCARD enum status planner_step(struct planner *planner, struct plan_step step);

/* ---- Costs: engine/plan/cost.c ---- */

/* Cycles that a range or semi-join costs a row of a tile if `share` of the rows reach it. */
double plan_step_cost(const struct plan *plan, const struct plan_step *step, double share);

/* Selectivity of a range, as if values were spread evenly. */
double plan_range_share(const struct plan *plan, const struct plan_step *step);

/* ---- All together: engine/plan/planner.c ---- */

/* After everything was added. `aggregated`: groups or aggregates, not rows. */
NODISCARD enum status planner_complete(struct planner *planner, bool aggregated);

/* Its parts. engine/plan/steps.c: joins that drop rows become steps; all are put in order. */
NODISCARD enum status planner_order_steps(struct planner *planner);
/* engine/plan/groups.c: finds the join's rows that fulfil its condition, and narrows groups to their values. */
NODISCARD enum status planner_narrow_groups(struct planner *planner, uint32_t join);
/* Numbers and shape, once groups are narrow. */
NODISCARD enum status planner_shape(struct planner *planner, bool aggregated);

#endif
