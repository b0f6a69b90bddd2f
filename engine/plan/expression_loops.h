/* expression_loops.h: evaluates one operation over vectors, compiled for each instruction set.
 * expression_vector.c calls it once for each node. */
#ifndef TESSERA_ENGINE_PLAN_EXPRESSION_LOOPS_H
#define TESSERA_ENGINE_PLAN_EXPRESSION_LOOPS_H

#include "engine/plan/expression_vector.h"

/* Evaluates `node` for `rows` rows (1 .. VECTOR_ROWS) from its children's vectors. out.nulls must exist if
 * the node is nullable. */
typedef void expression_loop(const struct expression_list *list, const struct expression *node, uint32_t rows,
                             const struct vector *children, struct vector out);
expression_loop expression_loop_baseline, expression_loop_avx2, expression_loop_avx512;

#endif
