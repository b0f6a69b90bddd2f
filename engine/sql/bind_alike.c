/*
 * bind_alike.c: coerces values to a common type (bind_internal.h): decimals to one scale, dates and times to
 * one unit, strings to one dictionary, and literals to the type of the value that they are compared with.
 */
#include "engine/sql/functions/functions.h"
#include "engine/sql/sql_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum status bind_refuse(const struct binder *binder, struct sql_position position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(binder->error, position, format, arguments);
    va_end(arguments);
    return status;
}

enum status bind_refuse_star(const struct binder *binder, struct sql_position position, const char *format,
                             ...)
{
    va_list arguments;
    bind_cut(binder, SQL_CUT_JOINS);
    va_start(arguments, format);
    const enum status status = sql_refuse(binder->error, position, format, arguments);
    va_end(arguments);
    return status;
}

enum status bind_placed(const struct binder *binder, struct sql_position position, enum status status)
{
    return sql_placed(binder->error, position, status);
}

enum status bind_apply(struct binder *binder, struct sql_position position,
                       enum expression_operation operation, uint32_t a, uint32_t b, uint32_t c,
                       uint32_t *node)
{
    return bind_placed(binder, position,
                       expression_apply(binder->list, operation, a, b, c, node, binder->error));
}

enum status bind_refuse_text(const struct binder *binder, struct sql_position position, enum sql_cut cut)
{
    bind_cut(binder, cut);
    return bind_refuse(
        binder, position,
        "this is computed row by row: grouping, aggregates and ORDER BY take it over the rows of "
        "another SELECT, as does a condition on a GPU");
}

const char *bind_kind_name(enum value_kind kind)
{
    switch (kind) {
    case VALUE_INTEGER:
        return "a number";
    case VALUE_DATE:
        return "a date";
    case VALUE_TIMESTAMP:
        return "a timestamp";
    case VALUE_BOOLEAN:
        return "a truth value";
    case VALUE_STRING:
        return "a string";
    case VALUE_DOUBLE:
        return "a floating-point number";
    }
    return NULL;
}

enum status bind_integer(struct binder *binder, int64_t value, uint8_t scale, uint32_t *node)
{
    return expression_constant(binder->list, (struct value_type){.kind = VALUE_INTEGER, .scale = scale},
                               value, node, binder->error);
}

/* "this needs a number, not a string: 'x'": a literal is told, and what is to be done. */
static enum status refuse_kind(struct binder *binder, struct sql_position position, const char *needs,
                               uint32_t node)
{
    const char *const kind = bind_kind_name(bind_kind(binder, node));
    uint32_t length;
    const char *const text = bind_literal_of(binder, node, &length);
    if (text)
        return bind_refuse(binder, position, "%s, not %s: '%.*s'; write a number without quotes", needs, kind,
                           (int)(length < 60 ? length : 60), text);
    return bind_refuse(binder, position, "%s, not %s%s", needs, kind,
                       bind_kind(binder, node) == VALUE_STRING ? "; CAST(x AS DOUBLE) reads one from a string"
                                                               : "");
}

enum status bind_number_of(struct binder *binder, struct sql_position position, uint32_t *node)
{
    uint32_t zero;
    if (bind_kind(binder, *node) == VALUE_INTEGER || bind_kind(binder, *node) == VALUE_DOUBLE)
        return STATUS_OK;
    if (bind_kind(binder, *node) != VALUE_BOOLEAN)
        return refuse_kind(binder, position, "this needs a number", *node);
    RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero));
    return bind_apply(binder, position, EXPRESSION_ADD, zero, *node, EXPRESSION_NONE, node);
}

enum status bind_rescale(struct binder *binder, struct sql_position position, uint32_t *node, uint8_t scale)
{
    const uint8_t own = bind_node(binder, *node)->type.scale;
    uint32_t factor;
    if (own >= scale)
        return STATUS_OK;
    if (bind_is_null(binder, *node))
        return expression_null(binder->list, (struct value_type){.kind = VALUE_INTEGER, .scale = scale}, node,
                               binder->error);
    RETURN_IF_ERROR(bind_integer(binder, power_of_ten(scale - own), (uint8_t)(scale - own), &factor));
    return bind_apply(binder, position, EXPRESSION_MULTIPLY, *node, factor, EXPRESSION_NONE, node);
}

enum status bind_relabel(struct binder *binder, struct sql_position position, struct value_type type,
                         uint32_t *node)
{
    uint32_t zero;
    RETURN_IF_ERROR(expression_constant(binder->list, type, 0, &zero, binder->error));
    return bind_apply(binder, position, EXPRESSION_ADD, zero, *node, EXPRESSION_NONE, node);
}

enum status bind_double(struct binder *binder, struct sql_position position, uint32_t *node)
{
    if (bind_kind(binder, *node) == VALUE_DOUBLE)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_number_of(binder, position, node));
    const struct expression *const number = bind_node(binder, *node);
    if (expression_is_constant(binder->list, *node)) /* as strtod reads it, also beyond 2^53 */
        return expression_constant(binder->list, (struct value_type){.kind = VALUE_DOUBLE},
                                   double_key_of(decimal_to_double(number->constant, number->type.scale)),
                                   node, binder->error);
    return bind_apply(binder, position, EXPRESSION_TO_DOUBLE, *node, EXPRESSION_NONE, EXPRESSION_NONE, node);
}

/* ---- Two values ---- */

/* A literal that is compared with a date or time is taken as one, as in SQLite, where dates are such
 * strings. */
enum status bind_time_of_string(struct binder *binder, struct sql_position position, struct value_type type,
                                uint32_t *node)
{
    const enum value_kind kind = type.kind;
    uint32_t length;
    int64_t value;
    const char *text = bind_literal_of(binder, *node, &length);
    if (!text || bind_kind(binder, *node) == kind)
        return STATUS_OK;
    if (kind == VALUE_DATE ? !bind_date_parse(text, length, &value)
        : type.zoned       ? !bind_zoned_parse(binder->zone, text, length, &value)
                           : !bind_timestamp_parse(text, length, &value))
        return bind_refuse(binder, position, "'%.*s' is compared with %s, but is none; write %s", (int)length,
                           text, bind_kind_name(kind),
                           kind == VALUE_DATE ? "'YYYY-MM-DD'" : "'YYYY-MM-DD HH:MM:SS'");
    return expression_constant(binder->list, (struct value_type){.kind = kind, .zoned = type.zoned}, value,
                               node, binder->error);
}

enum status bind_timestamp_of_date(struct binder *binder, struct sql_position position, uint32_t *node)
{
    uint32_t day;
    if (bind_kind(binder, *node) != VALUE_DATE)
        return STATUS_OK;
    RETURN_IF_ERROR(expression_constant(binder->list, (struct value_type){.kind = VALUE_TIMESTAMP},
                                        CALENDAR_DAY_MICROSECONDS, &day, binder->error));
    return bind_apply(binder, position, EXPRESSION_MULTIPLY, day, *node, EXPRESSION_NONE, node);
}

/* A NULL that has no type gets that of the other value. */
static enum status null_alike(struct binder *binder, uint32_t other, uint32_t *null)
{
    return bind_is_untyped(binder, *null) && !bind_is_untyped(binder, other)
               ? expression_null(binder->list, bind_node(binder, other)->type, null, binder->error)
               : STATUS_OK;
}

static enum status refuse_mixed(struct binder *binder, struct sql_position position, uint32_t left,
                                uint32_t right)
{
    const char *const a = bind_kind_name(bind_kind(binder, left)), *const b = bind_kind_name(
                                                                       bind_kind(binder, right));
    uint32_t length;
    const char *text = bind_literal_of(binder, left, &length);
    const char *const other = text ? b : a;
    if (!text)
        text = bind_literal_of(binder, right, &length);
    if (text)
        return bind_refuse(binder, position, "%s and %s cannot be compared or mixed: '%.*s' is not %s", a, b,
                           (int)(length < 60 ? length : 60), text, other);
    return bind_refuse(binder, position, "%s and %s cannot be compared or mixed; CAST one of them", a, b);
}

enum status bind_alike(struct binder *binder, struct sql_position position, uint32_t *left, uint32_t *right)
{
    RETURN_IF_ERROR(null_alike(binder, *right, left));
    RETURN_IF_ERROR(null_alike(binder, *left, right));
    RETURN_IF_ERROR(bind_value_of_string(binder, *left, right));
    RETURN_IF_ERROR(bind_value_of_string(binder, *right, left));
    enum value_kind a = bind_kind(binder, *left), b = bind_kind(binder, *right);
    if (a == VALUE_DATE || a == VALUE_TIMESTAMP)
        RETURN_IF_ERROR(bind_time_of_string(binder, position, bind_node(binder, *left)->type, right));
    if (b == VALUE_DATE || b == VALUE_TIMESTAMP)
        RETURN_IF_ERROR(bind_time_of_string(binder, position, bind_node(binder, *right)->type, left));
    a = bind_kind(binder, *left);
    b = bind_kind(binder, *right);
    if (a != b && (a == VALUE_TIMESTAMP || b == VALUE_TIMESTAMP)) {
        RETURN_IF_ERROR(bind_timestamp_of_date(binder, position, left));
        RETURN_IF_ERROR(bind_timestamp_of_date(binder, position, right));
    }
    RETURN_IF_ERROR(bind_same_clock(binder, position, left, right));
    if (a != b && (a == VALUE_BOOLEAN || b == VALUE_BOOLEAN) &&
        (a == VALUE_INTEGER || b == VALUE_INTEGER || a == VALUE_DOUBLE || b == VALUE_DOUBLE)) {
        RETURN_IF_ERROR(bind_number_of(binder, position, left));
        RETURN_IF_ERROR(bind_number_of(binder, position, right));
    }
    a = bind_kind(binder, *left);
    b = bind_kind(binder, *right);
    if (a == VALUE_INTEGER && b == VALUE_INTEGER) {
        const uint8_t scale = bind_node(binder, *left)->type.scale > bind_node(binder, *right)->type.scale
                                  ? bind_node(binder, *left)->type.scale
                                  : bind_node(binder, *right)->type.scale;
        RETURN_IF_ERROR(bind_rescale(binder, position, left, scale));
        return bind_rescale(binder, position, right, scale);
    }
    if ((a == VALUE_DOUBLE || b == VALUE_DOUBLE) && (a == VALUE_INTEGER || b == VALUE_INTEGER || a == b)) {
        RETURN_IF_ERROR(bind_double(binder, position, left));
        return bind_double(binder, position, right);
    }
    if (a != b)
        return refuse_mixed(binder, position, *left, *right);
    if (a == VALUE_STRING)
        return bind_placed(binder, position,
                           expression_string_unify(binder->list, left, right, binder->error));
    return STATUS_OK;
}

enum status bind_negate(struct binder *binder, struct sql_position position, bool negated, uint32_t *node)
{
    return negated
               ? bind_apply(binder, position, EXPRESSION_NOT, *node, EXPRESSION_NONE, EXPRESSION_NONE, node)
               : STATUS_OK;
}
