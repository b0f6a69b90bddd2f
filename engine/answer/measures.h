/* measures.h: computes the measures of a plan from its groups (engine/plan/grouping/grouping.h). */
#ifndef TESSERA_ENGINE_ANSWER_MEASURES_H
#define TESSERA_ENGINE_ANSWER_MEASURES_H

#include "engine/answer/regrouped.h"
#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"

/* Fills the leaf with a measure of groups first .. first + count - 1. `regrouped` is NULL if the groups are those of the
 * scan. */
void measure_values(const struct plan *plan, const struct partial *groups, const struct regrouped *regrouped,
                    uint32_t measure, uint64_t first, uint32_t count, struct vector leaf);

#endif
