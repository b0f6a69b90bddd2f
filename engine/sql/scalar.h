/*
 * scalar.h: types of expressions over inputs: columns that have a number and a type, and no table (SQL_INPUT).
 *
 * A type follows from the types of the inputs alone, so an expression is bound over one value of each, and over no
 * strings. What it computes is not asked; but if the ranges of inputs are known it can be, row by row.
 */
#ifndef TESSERA_ENGINE_SQL_SCALAR_H
#define TESSERA_ENGINE_SQL_SCALAR_H

#include "engine/sql/sql.h"

struct sql_input {
    struct value_type type; /* its dictionary is not read, unless ranges are known */
    bool nullable;
};

struct sql_scalar_options {
    const struct sql_parameter *parameters;
    uint32_t parameter_count;
    enum sql_like like;
    const struct zone *zone;
    int64_t now; /* struct sql_options */
    /* Gives the input of a number. */
    struct sql_input (*input)(const void *context, uint32_t index);
    /* NULL; or gives the range of an input's values: then inputs are columns of rows, and what is bound can be computed. */
    void (*range)(const void *context, uint32_t index, int64_t *low, int64_t *high);
    unsigned threads; /* with `range`: that compute tables over dictionaries */
    const void *context;
};

struct sql_scalars;

/* Free with sql_scalars_free; options, and what they point to, must outlive it. */
NODISCARD enum status sql_scalars_new(const struct sql_scalar_options *options, struct sql_scalars **scalars,
                                      struct error *error);
void sql_scalars_free(struct sql_scalars *scalars); /* NULL is legal */

/* Gives the type of an expression without aggregates, windows and subqueries. STATUS_BAD_INPUT, "line L, column C: ...",
 * for wrong types and functions that there are not. */
NODISCARD enum status sql_scalar_type(struct sql_scalars *scalars, const struct sql_expression *expression,
                                      struct sql_input *type, struct error *error);
/* The same, of a condition: what is no truth value, and no number, is refused. */
NODISCARD enum status sql_scalar_condition(struct sql_scalars *scalars,
                                           const struct sql_expression *condition, struct error *error);
/* The same over inputs whose ranges are known; gives the nodes, which belong to `scalars`, and the condition's. A leaf's `index` is its
 * input's number. */
NODISCARD enum status sql_scalar_condition_node(struct sql_scalars *scalars,
                                                const struct sql_expression *condition,
                                                const struct expression_list **list, uint32_t *node,
                                                struct error *error);
/* Gives the type of an aggregate over expressions. */
NODISCARD enum status sql_aggregate_type(struct sql_scalars *scalars, const struct sql_expression *call,
                                         struct sql_input *type, struct error *error);
/* Gives the type that values of both types have in one column, as in UNION. */
NODISCARD enum status sql_common_type(struct sql_scalars *scalars, struct sql_position position,
                                      struct sql_input a, struct sql_input b, struct sql_input *type,
                                      struct error *error);

#endif
