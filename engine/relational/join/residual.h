/*
 * residual.h: conditions of a join beside its keys, or of a filter, computed over up to 1024 pairs of rows at once.
 *
 * Each thread has its own program (engine/plan/expression_vector.h). A pair takes about 10 ns, and 2 ns more for each column
 * and each operation.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_JOIN_RESIDUAL_H
#define TESSERA_ENGINE_RELATIONAL_JOIN_RESIDUAL_H

#include "engine/relational/join/join.h"
#include "engine/relational/relational.h"

struct residual;

/* `right` may be NULL: then pairs are rows of `left` alone. STATUS_BAD_INPUT if the condition cannot be computed so. Results
 * must outlive it. *test is for join_rows. */
NODISCARD enum status residual_create(struct relational *run, const struct sql_expression *condition,
                                      const struct result *left, const struct result *right, unsigned threads,
                                      struct residual **residual, struct join_test *test);
void residual_free(struct residual *residual); /* NULL is legal */

/* Keeps the rows of a result for which a condition is true. */
NODISCARD enum status residual_filter(struct relational *run, const struct sql_expression *condition,
                                      struct result *result);

#endif
