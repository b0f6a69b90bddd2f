/*
 * scalar_call.h: the functions that EXPRESSION_CALL computes, row by row, with the same text on a CPU and in a
 * CUDA kernel. A call's function is the node's `field`, its unit of time (enum calendar_field) the node's
 * `index`. To add one: a line here, its body in scalar_call_body.h, and its range in scalar_call.c.
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_SCALAR_CALL_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_SCALAR_CALL_H

#include "engine/plan/expression_vector.h"

/* X(name, function, may be NULL where no child is, what EXPLAIN writes) */
#define SCALAR_CALLS(X)                                                                       \
    X(FLOOR, floor, false, "floor") /* of a double, as the next ones */                       \
    X(CEIL, ceil, false, "ceil")                                                              \
    X(TRUNC, trunc, false, "trunc")                                                           \
    X(ROUND, round, false, "round")           /* x, 10^n: to n digits after the point */      \
    X(ROUND_TENS, round_tens, false, "round") /* x, 10^n: to a multiple of 10^n */            \
    X(SQRT, sqrt, true, "sqrt")               /* NULL for x < 0 */                            \
    X(EXP, exp, false, "exp")                                                                 \
    X(LN, ln, true, "ln") /* this and the next two: NULL for x <= 0 */                        \
    X(LOG10, log10, true, "log10")                                                            \
    X(LOG2, log2, true, "log2")                                                               \
    X(POWER, power, true, "power")   /* x, y; NULL if no real number is the power */          \
    X(WHOLE, whole, true, "decimal") /* x, 10^scale, the most: a number, rounded; or NULL */  \
    X(CUT, cut, true, "integer")     /* the same, truncated */                                \
    X(DATE_TRUNC, date_trunc, false, "date_trunc")                                            \
    X(TIME_TRUNC, time_trunc, false, "date_trunc")                                            \
    X(MAKE_DATE, make_date, true, "make_date") /* year, month, day; NULL if there is none */  \
    X(SKETCH_REGISTER, sketch_register, false, "sketch_register") /* the cells of sketches */ \
    X(SKETCH_RANK, sketch_rank, false, "sketch_rank")                                         \
    X(SKETCH_BUCKET, sketch_bucket, false, "sketch_bucket")                                   \
    X(SKETCH_DOUBLE_BUCKET, sketch_double_bucket, false, "sketch_double_bucket")

#define SCALAR_CALL_NUMBER(name, function, may_be_null, text) CALL_##name,
enum scalar_call { SCALAR_CALLS(SCALAR_CALL_NUMBER) SCALAR_CALL_COUNT };
#undef SCALAR_CALL_NUMBER

/* "floor", ... */
const char *scalar_call_text(const struct expression *call);
/* The function in scalar_call_body.h: "call_floor". */
const char *scalar_call_function(const struct expression *call);

/* The function that EXPLAIN writes so; SCALAR_CALL_COUNT: there is none. */
enum scalar_call scalar_call_named(const char *text);

/* What expression.c must know of a call whose children are made. The type is that of the node if the function
 * gives numbers. */
struct value_type scalar_call_type(const struct expression_list *list, const struct expression *call);
bool scalar_call_may_be_null(const struct expression *call);
void scalar_call_range(const struct expression_list *list, const struct expression *call, __int128 *low,
                       __int128 *high);

/* Computes a call for each row. */
void scalar_call_loop(const struct expression *call, uint32_t rows, const struct vector *children,
                      struct vector out);

#endif
