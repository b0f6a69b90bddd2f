/* group_leaves.h: what expressions over groups read of them (expression_vector.h). */
#ifndef TESSERA_ENGINE_ANSWER_GROUP_LEAVES_H
#define TESSERA_ENGINE_ANSWER_GROUP_LEAVES_H

#include "engine/answer/regrouped.h"
#include "engine/plan/expression_vector.h"
#include "engine/plan/partial.h"

/* Fills the leaf with the values that a node, a term of GROUP BY, an aggregate or a measure, has in groups first ..
 * first + count - 1, at most VECTOR_ROWS. `regrouped` is NULL if the groups are those of the scan. STATUS_BAD_INPUT
 * if a sum exceeds 64 bits. */
NODISCARD enum status group_leaf_fill(const struct plan *plan, const struct partial *groups,
                                      const struct regrouped *regrouped, const struct expression *node,
                                      uint64_t first, uint32_t count, struct vector leaf,
                                      struct error *error);

#endif
