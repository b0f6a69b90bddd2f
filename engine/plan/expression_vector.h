/*
 * expression_vector.h: evaluates expressions (expression.h) on a CPU, over vectors of up to 1024 rows:
 * survivors of a tile, rows of a dimension or groups of an answer.
 *
 * A program has the nodes that some roots need, in order, each with its own vector. The caller fills the
 * leaves (columns, groups, aggregates), runs the program and reads the roots. Each thread has its own
 * program. Loops are compiled for each instruction set (storage/base/isa.h). A node takes about 20 ns a call
 * and 0.1 to 1 ns a row.
 */
#ifndef TESSERA_ENGINE_PLAN_EXPRESSION_VECTOR_H
#define TESSERA_ENGINE_PLAN_EXPRESSION_VECTOR_H

#include "engine/function/string_body.h"
#include "engine/plan/expression.h"

#define VECTOR_ROWS 1024u

/* `nulls` has a 1 for each NULL, whose value is undefined; `nulls` is NULL if no value is NULL. `values` of strings that
 * have no dictionary are views of 16 bytes (functions/text_call.h). */
struct vector {
    int64_t *values;
    uint8_t *nulls;
};

struct expression_program;

/* The list must outlive the program. */
NODISCARD enum status expression_program_create(const struct expression_list *list, const uint32_t *roots,
                                                uint32_t root_count, struct expression_program **program,
                                                struct error *error);
/* The same over values that are known: nodes with a 1 in `given` are leaves. */
NODISCARD enum status expression_program_over(const struct expression_list *list, const uint8_t *given,
                                              const uint32_t *roots, uint32_t root_count,
                                              struct expression_program **program, struct error *error);
void expression_program_free(struct expression_program *program);

/* The strings of a leaf are those of another dictionary than its type's. */
void expression_program_strings(struct expression_program *program, uint32_t node,
                                const struct dictionary *dictionary);
/* A string that has no dictionary and is not NULL; until the next run. */
struct string_value expression_program_string(const struct expression_program *program, uint32_t node,
                                              uint32_t row);

/* The leaves that the roots need: nodes whose operation is EXPRESSION_COLUMN, _GROUP or _AGGREGATE. */
uint32_t expression_program_leaves(const struct expression_program *program, const uint32_t **nodes);

/* The vector of a leaf, which the caller fills before a run, or of any needed node, which has its values
 * after a run. `nulls` exists for all nullable nodes; the caller fills it for leaves. */
struct vector expression_program_vector(const struct expression_program *program, uint32_t node);

/* Evaluates all nodes for rows 0 .. rows-1 (at most VECTOR_ROWS). */
void expression_program_run(struct expression_program *program, uint32_t rows);

#endif
