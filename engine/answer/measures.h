/* measures.h: computes the measures of a plan from its groups (engine/plan/grouping/grouping.h). */
#ifndef TESSERA_ENGINE_ANSWER_MEASURES_H
#define TESSERA_ENGINE_ANSWER_MEASURES_H

#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"

/* Fills the leaf with a measure of groups first .. first + count - 1. */
void measure_values(const struct plan *plan, const struct partial *groups, uint32_t measure, uint64_t first,
                    uint32_t count, struct vector leaf);

#endif
