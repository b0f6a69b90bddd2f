/*
 * planner.h: builds a plan that can be run. The binder (engine/sql/bind.c) adds joins, leaves, conditions,
 * groups, aggregates and outputs; then planner_complete decides how they are answered. It runs once for a
 * statement and reads the condition columns of dimensions whole.
 *
 *     leaves.c      columns become leaves of expressions, and are opened
 *     dimensions/   which row of a dimension each row references, and which rows satisfy its predicate
 *     predicates.c  conditions become ranges of fact columns, dimension predicates, or conditions on rows
 *     cost.c        the cost of a step, and its selectivity
 *     index_terms.c conditions that bitmap indexes can decide, as vectors of the index
 *     index_step.c  which of them it pays to decide so
 *     steps.c       the cheapest order of steps
 *     groups.c      the possible groups, their numbers, the shape of the answer
 */
#ifndef TESSERA_ENGINE_PLAN_PLANNER_H
#define TESSERA_ENGINE_PLAN_PLANNER_H

#include "engine/plan/plan.h"

/* A plan that is being built, and how it reads columns. `codec` is as for fact_data_open. */
struct planner {
    struct plan *plan;
    const char *codec;
    unsigned threads;
    bool on_gpu; /* the plan is for a GPU */
    enum plan_index_use index_use;
    struct error *error;
};

/* All functions give STATUS_BAD_INPUT, with a message without a position, if a limit is exceeded: one of the plan
 * (PLAN_..._MAX), or one that a GPU's kernel has (ARGUMENT_JOINS_MAX). */

/* ---- Joins and columns (leaves.c) ---- */

/* True if the plan is for a GPU, whose kernels have arguments for no more joins. */
bool planner_joins_full(const struct planner *planner);
/* Adds a join through a foreign key of the fact; `name` is for EXPLAIN. */
NODISCARD enum status planner_join(struct planner *planner, const struct column *key, const char *name,
                                   bool inner, uint32_t *join);

/* Gives the leaf of a fact column. The value of a foreign key is that of the key that it references. */
NODISCARD enum status planner_fact_leaf(struct planner *planner, const struct column *column, uint32_t *node);

/* Gives the leaf of a column of a join's table or, with `rows` (planner_rows), of a table that this one references. */
NODISCARD enum status planner_dimension_leaf(struct planner *planner, uint32_t join,
                                             const struct kept_array *rows, const struct column *column,
                                             uint32_t *node);

/* Gives for each of the `count` positions of a join's table the row that `key` references; -1: none. The value of
 * `key` is taken in row rows[position] or, without `rows`, in the join's table. The database keeps it; the caller releases
 * it; in dimensions/references.c. */
NODISCARD enum status planner_rows(struct planner *planner, const struct column *key,
                                   const struct kept_array *rows, uint64_t count,
                                   const struct kept_array **referenced);

/* Gives the bits of the positions that some row of a stored foreign key references (ARRAY_USED of kept_arrays.h). The
 * database keeps them; the caller releases them. In dimensions/used_positions.c. */
NODISCARD enum status planner_used_positions(struct planner *planner, const struct column *key,
                                             const struct kept_array **used);

/* ---- Conditions (predicates.c) ---- */

/* The join whose columns, and no others, an expression reads. */
#define PLAN_READS_NOTHING (-1)
#define PLAN_READS_MORE    (-2) /* columns of the fact, or of several joins */
int32_t plan_join_read(const struct plan *plan, uint32_t node);

/* Adds a condition that rows must satisfy. */
NODISCARD enum status planner_condition(struct planner *planner, uint32_t node);

/* Adds a dimension predicate: a condition on columns of the join's table only, which its rows must
 * satisfy. */
NODISCARD enum status planner_match(struct planner *planner, uint32_t join, uint32_t node);

NODISCARD enum status planner_step(struct planner *planner, struct plan_step step);

/* ---- Costs (cost.c) ---- */

/* The cycles that a range or semi-join costs for each row of a tile if the fraction `share` of the rows
 * reaches it. */
double plan_step_cost(const struct plan *plan, const struct plan_step *step, double share);

/* The bytes that a range or semi-join reads of its column on a GPU for each row, if the fraction `share` of the rows
 * reaches it. */
double plan_step_bytes(const struct plan *plan, const struct plan_step *step, double share);

/* The same two for the values of a column in the fraction `share` of the rows. */
double plan_fetch_cost(const struct plan *plan, uint32_t column, double share);
double plan_fetch_bytes(const struct plan *plan, uint32_t column, double share);

/* The fraction of the units of `rows` rows in which a row survives, if the fraction `share` of all rows does. */
double plan_touched(double share, uint32_t rows);

/* The selectivity of a range, if values are uniformly distributed. */
double plan_range_share(const struct plan *plan, const struct plan_step *step);

/* ---- The whole (planner.c) ---- */

/* Completes the plan after all has been added. `aggregated`: the answer is groups or aggregates, not rows. */
NODISCARD enum status planner_complete(struct planner *planner, bool aggregated);

/* The parts of planner_complete. In steps.c: makes steps of joins that drop rows. */
NODISCARD enum status planner_find_steps(struct planner *planner);
/* In planner.c: marks the columns that steps read, and those whose values the surviving rows need. */
void planner_mark_columns(struct plan *plan);
/* In grouping/known_values.c: aggregates that the statistics know become constants, and the columns are marked. */
NODISCARD enum status planner_know_values(struct planner *planner);
/* In index_step.c: lets bitmap indexes decide conditions: the first step becomes STEP_INDEX, and the steps that it
 * decides wholly leave the plan. */
NODISCARD enum status planner_use_indexes(struct planner *planner);
/* In steps.c: orders all steps. */
void planner_order_steps(struct plan *plan);
/* In steps.c: puts `count` ranges and semi-joins, by ascending selectivity, into the cheapest order, and returns its
 * cost for each row of the table. The fraction `share` of the rows reaches the first of them. `on_gpu`: the cost is that
 * of plan_step_bytes, else of plan_step_cost. */
double planner_cheapest_order(const struct plan *plan, struct plan_step *steps, uint32_t count, double share,
                              bool on_gpu);
/* In groups.c: finds the rows that satisfy the join's predicate, and narrows groups to the values of these
 * rows. */
NODISCARD enum status planner_narrow_groups(struct planner *planner, uint32_t join);
/* In groups.c: numbers the groups and chooses the plan's shape, after groups have been narrowed. */
NODISCARD enum status planner_shape(struct planner *planner, bool aggregated);

#endif
