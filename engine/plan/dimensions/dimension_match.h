/*
 * dimension_match.h: dimension predicates of the common shape: a conjunction of ranges of single columns. For
 * these, dimension_filter (operators/dialect/) finds the matching rows, 32 at a time, about twenty times as
 * fast as vectors of expressions.
 */
#ifndef TESSERA_ENGINE_PLAN_DIMENSIONS_DIMENSION_MATCH_H
#define TESSERA_ENGINE_PLAN_DIMENSIONS_DIMENSION_MATCH_H

#include "engine/plan/plan.h"
#include "operators/dialect/dimension_filter.h"

#define DIMENSION_MATCH_PREDICATES 8u

struct dimension_match {
    uint32_t count;
    struct dimension_predicate predicates[DIMENSION_MATCH_PREDICATES];
    const uint32_t *valid[DIMENSION_MATCH_PREDICATES]; /* as in plan_array; NULL satisfies no predicate */
};

/* Makes the predicates of a join's condition, which refer to the plan's arrays. False, and *match undefined,
 * if the condition has another shape. */
bool dimension_match_of(const struct plan *plan, uint32_t join, struct dimension_match *match);

/* Writes the bitmap words of positions first .. first + count - 1; `first` is a multiple of 32. */
void dimension_match_run(const struct dimension_match *match, uint64_t first, uint64_t count,
                         uint32_t *bitmap);

#endif
