/*
 * engine/cpu/dimension_match.h: a join's condition, if it is of the common shape: ranges of single columns, all of which must hold.
 * Then dimension_filter (operators/) finds the rows that fulfil it, 32 at a time, some twenty times faster than
 * vectors of expressions.
 */
#ifndef TESSERA_ENGINE_CPU_DIMENSION_MATCH_H
#define TESSERA_ENGINE_CPU_DIMENSION_MATCH_H

#include "engine/plan/plan.h"
#include "operators/dialect/dimension_filter.h"

#define DIMENSION_MATCH_PREDICATES 8u

struct dimension_match {
    uint32_t count;
    struct dimension_predicate predicates[DIMENSION_MATCH_PREDICATES];
    const uint32_t *valid[DIMENSION_MATCH_PREDICATES]; /* as in plan_array: a NULL fulfils nothing */
};

/* False, and *match undefined, if the condition has another shape. Arrays stay the plan's. */
bool dimension_match_of(const struct plan *plan, uint32_t join, struct dimension_match *match);

/* Bitmap words of rows first .. first + rows - 1; first is a multiple of 32. */
void dimension_match_run(const struct dimension_match *match, uint64_t first, uint64_t rows,
                         uint32_t *bitmap);

#endif
