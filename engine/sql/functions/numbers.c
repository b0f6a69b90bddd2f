/* numbers.c: functions of numbers (functions.h). Decimals are rounded exactly; a double is rounded as DuckDB
 * rounds it. */
#include "engine/sql/functions/functions.h"

#include <math.h>
#include <stdlib.h>

enum status bind_row_call(struct binder *binder, struct sql_position position, enum row_function function,
                          int unit, uint32_t a, uint32_t b, uint32_t c, uint32_t *node)
{
    struct expression call = {.operation = EXPRESSION_CALL,
                              .field = (uint8_t)function,
                              .index = (uint32_t)unit,
                              .children = (uint8_t)(1 + (b != EXPRESSION_NONE) + (c != EXPRESSION_NONE)),
                              .child = {a, b, c}};
    for (uint32_t i = call.children; i < 3; i++)
        call.child[i] = 0;
    return bind_placed(binder, position, expression_add(binder->list, &call, node, binder->error));
}

enum status bind_double_constant(struct binder *binder, double value, uint32_t *node)
{
    return expression_constant(binder->list, (struct value_type){.kind = VALUE_DOUBLE}, double_key_of(value),
                               node, binder->error);
}

enum status bind_choice(struct binder *binder, struct sql_position position, uint32_t condition, uint32_t a,
                        uint32_t b, uint32_t *node)
{
    RETURN_IF_ERROR(bind_alike(binder, position, &a, &b));
    return bind_apply(binder, position, EXPRESSION_CHOOSE, condition, a, b, node);
}

enum status bind_missing(struct binder *binder, uint32_t value, uint32_t *node)
{
    return expression_apply(binder->list, EXPRESSION_IS_NULL, value, EXPRESSION_NONE, EXPRESSION_NONE, node,
                            binder->error);
}

/* ---- Rounding ---- */

/* Adds `amount` to the numbers below zero if `negative`, to the others if not. */
static enum status add_where(struct binder *binder, struct sql_position position, bool negative,
                             int64_t amount, uint32_t *node)
{
    const uint8_t scale = bind_node(binder, *node)->type.scale;
    const int64_t low = bind_node(binder, *node)->low, high = bind_node(binder, *node)->high;
    uint32_t zero, below, added;
    if (negative ? low >= 0 : high < 0)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_integer(binder, amount, scale, &added));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_ADD, *node, added, EXPRESSION_NONE, &added));
    if (negative ? high < 0 : low >= 0) {
        *node = added;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(bind_integer(binder, 0, scale, &zero));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_LESS, *node, zero, EXPRESSION_NONE, &below));
    return bind_apply(binder, position, EXPRESSION_CHOOSE, below, negative ? added : *node,
                      negative ? *node : added, node);
}

enum status bind_rounded(struct binder *binder, struct sql_position position, enum rounding rounding,
                         int places, uint32_t *node)
{
    const int scale = bind_node(binder, *node)->type.scale;
    const struct value_type type = {.kind = VALUE_INTEGER,
                                    .scale = (uint8_t)(places > 0 ? places : 0),
                                    .decimal = value_is_decimal(bind_node(binder, *node)->type)};
    uint32_t unit;
    if (places >= scale)
        return STATUS_OK;
    if (bind_is_null(binder, *node))
        return expression_null(binder->list, type, node, binder->error);
    if (scale - places > 18) { /* no number has so many digits */
        RETURN_IF_ERROR(bind_integer(binder, 0, 0, &unit));
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_MULTIPLY, *node, unit, EXPRESSION_NONE, node));
        return bind_relabel(binder, position, type, node);
    }
    const int64_t size = power_of_ten((unsigned)(scale - places));
    if (rounding == ROUND_NEAREST || rounding == ROUND_DOWN)
        RETURN_IF_ERROR(
            add_where(binder, position, true, rounding == ROUND_DOWN ? 1 - size : -(size / 2), node));
    if (rounding == ROUND_NEAREST || rounding == ROUND_UP)
        RETURN_IF_ERROR(add_where(binder, position, false, rounding == ROUND_UP ? size - 1 : size / 2, node));
    RETURN_IF_ERROR(bind_integer(binder, size, (uint8_t)scale, &unit));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_DIVIDE, *node, unit, EXPRESSION_NONE, node));
    RETURN_IF_ERROR(bind_relabel(binder, position, type, node));
    if (places >= 0)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_integer(binder, power_of_ten((unsigned)-places), 0, &unit));
    return bind_apply(binder, position, EXPRESSION_MULTIPLY, *node, unit, EXPRESSION_NONE, node);
}

static enum status round_double(struct binder *binder, const struct bound_call *call, int places,
                                uint32_t *node)
{
    static const enum row_function calls[] = {[ROUND_NEAREST] = ROW_TRUNC, /* not used */
                                              [ROUND_DOWN] = ROW_FLOOR,
                                              [ROUND_UP] = ROW_CEIL,
                                              [ROUND_CUT] = ROW_TRUNC};
    uint32_t unit;
    if (call->function->argument != ROUND_NEAREST && places)
        return bind_refuse(binder, call->ast->position,
                           "%s of a floating-point number takes no digits; use round(x, n)", call->ast->name);
    if (call->function->argument != ROUND_NEAREST)
        return bind_row_call(binder, call->ast->position, calls[call->function->argument], 0, *node,
                             EXPRESSION_NONE, EXPRESSION_NONE, node);
    RETURN_IF_ERROR(bind_double_constant(binder, pow(10, abs(places)), &unit));
    return bind_row_call(binder, call->ast->position, places < 0 ? ROW_ROUND_TENS : ROW_ROUND, 0, *node, unit,
                         EXPRESSION_NONE, node);
}

/* round, floor, ceil and trunc: the function's argument is an enum rounding. */
enum status bind_round(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    int places = 0;
    *node = call->values[0];
    RETURN_IF_ERROR(bind_number_of(binder, position, node));
    if (call->count > 1 && bind_is_null(binder, call->values[1]))
        return expression_null(binder->list, bind_node(binder, *node)->type, node, binder->error);
    if (call->count > 1) {
        const struct expression *digits = bind_node(binder, call->values[1]);
        if (!expression_is_constant(binder->list, call->values[1]) || digits->type.kind != VALUE_INTEGER ||
            digits->type.scale)
            return bind_refuse(binder, call->ast->children[1]->position,
                               "%s takes a constant number of digits", call->ast->name);
        places = digits->constant > 300 ? 300 : digits->constant < -300 ? -300 : (int)digits->constant;
    }
    if (bind_kind(binder, *node) == VALUE_DOUBLE)
        return round_double(binder, call, places, node);
    return bind_rounded(binder, position, (enum rounding)call->function->argument, places, node);
}

/* ---- Others ---- */

enum status bind_row_function(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    uint32_t values[FUNCTION_ARGUMENTS_MAX] = {EXPRESSION_NONE, EXPRESSION_NONE, EXPRESSION_NONE};
    for (uint32_t v = 0; v < call->count; v++) {
        const struct expression *const value = bind_node(binder, call->values[v]);
        values[v] = call->values[v];
        if (call->function->takes[v] == 'd')
            RETURN_IF_ERROR(bind_double(binder, position, &values[v]));
        else if (value->type.kind != VALUE_INTEGER || value->type.scale)
            return bind_refuse(binder, call->ast->children[v]->position,
                               "%s takes a whole number here, not %s", call->ast->name,
                               bind_kind_name(value->type.kind));
    }
    return bind_row_call(binder, position, call->function->row, 0, values[0], values[1], values[2], node);
}

/* log(x), and log(base, x) as the quotient of logarithms; NULL for the base 1, too. */
enum status bind_log(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    uint32_t logarithms[2];
    for (uint32_t v = 0; v < call->count; v++) {
        uint32_t value = call->values[v];
        RETURN_IF_ERROR(bind_double(binder, position, &value));
        RETURN_IF_ERROR(bind_row_call(binder, position, ROW_LOG10, 0, value, EXPRESSION_NONE, EXPRESSION_NONE,
                                      &logarithms[v]));
    }
    *node = logarithms[0];
    return call->count == 1 ? STATUS_OK
                            : bind_apply(binder, position, EXPRESSION_DIVIDE, logarithms[1], logarithms[0],
                                         EXPRESSION_NONE, node);
}

enum status bind_pi(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    (void)call;
    return bind_double_constant(binder, 3.14159265358979323846, node);
}

/* coalesce(a, b, ...), from the last argument. */
enum status bind_coalesce(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    *node = call->values[call->count - 1];
    for (uint32_t c = call->count - 1; c-- > 0;) {
        uint32_t present;
        RETURN_IF_ERROR(bind_missing(binder, call->values[c], &present));
        RETURN_IF_ERROR(bind_negate(binder, position, true, &present));
        RETURN_IF_ERROR(bind_choice(binder, position, present, call->values[c], *node, node));
    }
    return STATUS_OK;
}

/* nullif(a, b) is CASE WHEN a = b THEN NULL ELSE a END. */
enum status bind_nullif(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    const uint32_t a = call->values[0];
    uint32_t equal, null;
    RETURN_IF_ERROR(bind_compare(binder, position, EXPRESSION_EQUAL, a, call->values[1], &equal));
    RETURN_IF_ERROR(expression_null(binder->list, bind_node(binder, a)->type, &null, binder->error));
    return bind_apply(binder, position, EXPRESSION_CHOOSE, equal, null, a, node);
}

/* abs(x) is CASE WHEN x < 0 THEN -x ELSE x END. */
enum status bind_abs(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    const uint32_t value = call->values[0];
    const struct value_type type = bind_node(binder, value)->type;
    uint32_t zero, below, negated;
    if (type.kind != VALUE_INTEGER && type.kind != VALUE_DOUBLE)
        return bind_refuse(binder, position, "%s takes a number", call->ast->name);
    RETURN_IF_ERROR(expression_constant(binder->list, type, 0, &zero, binder->error));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_LESS, value, zero, EXPRESSION_NONE, &below));
    RETURN_IF_ERROR(
        bind_apply(binder, position, EXPRESSION_NEGATE, value, EXPRESSION_NONE, EXPRESSION_NONE, &negated));
    return bind_apply(binder, position, EXPRESSION_CHOOSE, below, negated, value, node);
}

/* mod(a, b) of whole numbers and decimals, with the dividend's sign; NULL for b = 0. */
enum status bind_mod(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    uint32_t a = call->values[0], b = call->values[1];
    RETURN_IF_ERROR(bind_number_of(binder, call->ast->position, &a));
    RETURN_IF_ERROR(bind_number_of(binder, call->ast->position, &b));
    if (bind_kind(binder, a) == VALUE_DOUBLE || bind_kind(binder, b) == VALUE_DOUBLE)
        return bind_refuse(binder, call->ast->position,
                           "mod takes whole numbers and decimals; for floating-point numbers write "
                           "a - b * trunc(a / b)");
    RETURN_IF_ERROR(bind_alike(binder, call->ast->position, &a, &b));
    return bind_apply(binder, call->ast->position, EXPRESSION_REMAINDER, a, b, EXPRESSION_NONE, node);
}

/* sign(x) is -1, 0 or 1. */
enum status bind_sign(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    uint32_t value = call->values[0], zero, below, above, choices[3];
    RETURN_IF_ERROR(bind_number_of(binder, position, &value));
    RETURN_IF_ERROR(
        expression_constant(binder->list, bind_node(binder, value)->type, 0, &zero, binder->error));
    for (int i = 0; i < 3; i++)
        RETURN_IF_ERROR(bind_integer(binder, i - 1, 0, &choices[i]));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_LESS, value, zero, EXPRESSION_NONE, &below));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_LESS, zero, value, EXPRESSION_NONE, &above));
    RETURN_IF_ERROR(bind_choice(binder, position, above, choices[2], choices[1], node));
    RETURN_IF_ERROR(bind_choice(binder, position, below, choices[0], *node, node));
    if (!bind_node(binder, value)->nullable)
        return STATUS_OK;
    uint32_t missing, null;
    RETURN_IF_ERROR(bind_missing(binder, value, &missing));
    RETURN_IF_ERROR(
        expression_null(binder->list, (struct value_type){.kind = VALUE_INTEGER}, &null, binder->error));
    return bind_choice(binder, position, missing, null, *node, node);
}

/* The greater (or less) of two values; that which is not NULL if the other is. */
static enum status extreme_of_two(struct binder *binder, const struct bound_call *call, uint32_t a,
                                  uint32_t b, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    uint32_t first, missing;
    RETURN_IF_ERROR(bind_alike(binder, position, &a, &b));
    RETURN_IF_ERROR(bind_compare(binder, position, EXPRESSION_LESS, call->function->argument ? b : a,
                                 call->function->argument ? a : b, &first));
    if (bind_node(binder, b)->nullable) {
        RETURN_IF_ERROR(bind_missing(binder, b, &missing));
        RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_OR, missing, first, EXPRESSION_NONE, &first));
    }
    return bind_apply(binder, position, EXPRESSION_CHOOSE, first, a, b, node);
}

/* greatest and least; call->function->argument: greatest. */
enum status bind_extreme(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    *node = call->values[0];
    for (uint32_t v = 1; v < call->count; v++)
        RETURN_IF_ERROR(extreme_of_two(binder, call, *node, call->values[v], node));
    return STATUS_OK;
}

/* isnan, isinf and isfinite: call->function->argument is 0, 1 or 2. */
enum status bind_special(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    const struct sql_position position = call->ast->position;
    uint32_t number = call->values[0], equal[3], other;
    RETURN_IF_ERROR(bind_double(binder, position, &number));
    for (uint32_t v = 0; v < 3; v++) {
        RETURN_IF_ERROR(bind_double_constant(binder, values[v], &other));
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_EQUAL, number, other, EXPRESSION_NONE, &equal[v]));
    }
    *node = equal[0];
    if (call->function->argument == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_OR, equal[1], equal[2], EXPRESSION_NONE, node));
    if (call->function->argument == 1)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_OR, *node, equal[0], EXPRESSION_NONE, node));
    return bind_negate(binder, position, true, node);
}
