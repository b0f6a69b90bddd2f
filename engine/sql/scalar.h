/*
 * scalar.h: types of expressions over inputs: columns that have a number and a type, and no table (SQL_INPUT).
 *
 * A type follows from the types of the inputs alone, so an expression is bound over one value of each, and over no
 * strings. What it computes is not asked; but with `exact` inputs it can be computed, row by row.
 */
#ifndef TESSERA_ENGINE_SQL_SCALAR_H
#define TESSERA_ENGINE_SQL_SCALAR_H

#include "engine/sql/sql.h"

struct sql_input {
    struct value_type type; /* its dictionary is not read, unless inputs are exact */
    bool nullable;
    int64_t low, high; /* the range of values, if inputs are exact */
};

struct sql_scalar_options {
    const struct sql_parameter *parameters;
    uint32_t parameter_count;
    enum sql_like like;
    int64_t now;      /* struct sql_options */
    bool exact;       /* inputs are columns of rows: what is bound can be computed */
    unsigned threads; /* that compute tables over dictionaries, if inputs are exact */
    /* Gives the input of a number. */
    struct sql_input (*input)(const void *context, uint32_t index);
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
/* The same over exact inputs; gives the nodes, which belong to `scalars`, and the condition's. A leaf's `index` is its
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
