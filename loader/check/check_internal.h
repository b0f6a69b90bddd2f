/* check_internal.h: a condition that has been read (check.c), as those that test rows by it see it (check_test.c). */
#ifndef TESSERA_LOADER_CHECK_CHECK_INTERNAL_H
#define TESSERA_LOADER_CHECK_CHECK_INTERNAL_H

#include "engine/plan/expression_vector.h"
#include "engine/sql/scalar.h"
#include "loader/check/check.h"

/* A column that a condition names: input i of the expression is columns[i]. */
struct check_column {
    uint32_t column;
    struct sql_input input;
    int64_t low, high; /* what its type holds */
};

struct check {
    char *text;
    struct sql_statement_tree *tree;
    const struct sql_expression *condition;
    uint32_t column_count;
    struct check_column *columns; /* in the tree's memory */
    uint32_t rows; /* that it may be bound over at once; CHECK_ROWS: over all that its columns' types hold */
};

/* A condition bound over columns whose ranges and dictionaries are known. */
struct check_bound {
    const struct check *check;
    struct check_column *columns; /* with these ranges; input.type.dictionary of strings */
    struct sql_scalar_options options;
    struct sql_scalars *scalars;
    struct expression_program *program;
    const struct expression_list *list;
    uint32_t root;
};

/* Binds again after `columns` have changed. End with check_bound_free, also after an error. */
NODISCARD enum status check_bind(struct check_bound *bound, struct error *error);
void check_bound_free(struct check_bound *bound);

#endif
