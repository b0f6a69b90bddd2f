/*
 * expression_vector.h: expressions (expression.h) over vectors of up to 1024 rows, on a CPU: what a tile's
 * survivors, a dimension's rows or an answer's groups are computed with.
 *
 * A program is the nodes that some roots need, in order, each with a vector of its own; the caller fills the
 * leaves (columns, groups, aggregates), runs, and reads the roots. One program a thread. Loops are built for
 * each instruction set (storage/base/isa.h); a node costs some 20 ns a call beside 0.1 to 1 ns a row.
 */
#ifndef TESSERA_ENGINE_PLAN_EXPRESSION_VECTOR_H
#define TESSERA_ENGINE_PLAN_EXPRESSION_VECTOR_H

#include "engine/plan/expression.h"

#define VECTOR_ROWS 1024u

/* `nulls`: 1 for NULL, whose value means nothing; NULL pointer: no value is NULL. */
struct vector {
    int64_t *values;
    uint8_t *nulls;
};

struct expression_program;

/* The list must outlive the program. */
NODISCARD enum status expression_program_create(const struct expression_list *list, const uint32_t *roots,
                                                uint32_t root_count, struct expression_program **program,
                                                struct error *error);
void expression_program_free(struct expression_program *program);

/* The leaves that the roots need: nodes whose operation is EXPRESSION_COLUMN, _GROUP or _AGGREGATE. */
uint32_t expression_program_leaves(const struct expression_program *program, const uint32_t **nodes);

/* Where a leaf's values are to be put before a run, and where any needed node's are after it. `nulls` is there
 * for every node that is nullable, and must be filled for leaves that are. */
struct vector expression_program_vector(const struct expression_program *program, uint32_t node);

/* Evaluates all nodes for rows 0 .. rows-1 (at most VECTOR_ROWS). */
void expression_program_run(struct expression_program *program, uint32_t rows);

#endif
