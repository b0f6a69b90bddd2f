/* bind_arithmetic.c: binds + - * / % of numbers, dates and intervals (bind_internal.h). */
#include "engine/sql/bind_internal.h"
#include "engine/sql/functions/functions.h"

#include <stdlib.h>

struct interval {
    int64_t months, microseconds;
};

static enum status interval_of(struct binder *binder, const struct sql_expression *ast,
                               struct interval *interval)
{
    static const struct {
        const char *unit;
        int64_t months, microseconds;
    } units[] = {{"year", 12, 0},
                 {"quarter", 3, 0},
                 {"month", 1, 0},
                 {"week", 0, 7 * CALENDAR_DAY_MICROSECONDS},
                 {"day", 0, CALENDAR_DAY_MICROSECONDS},
                 {"hour", 0, 3600000000},
                 {"minute", 0, 60000000},
                 {"second", 0, 1000000}};
    char *end;
    const long long count = strtoll(ast->text, &end, 10);
    if (*end || end == ast->text || count > 999999999 || count < -999999999)
        return bind_refuse(binder, ast->position, "INTERVAL '%s' is no whole number of up to 9 digits",
                           ast->text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].unit, ast->name) == 0) {
            interval->months = count * units[i].months;
            if (!__builtin_mul_overflow(count, units[i].microseconds, &interval->microseconds))
                return STATUS_OK;
            return bind_refuse(binder, ast->position, "INTERVAL '%s' %s is longer than 292,000 years",
                               ast->text, ast->name);
        }
    return bind_refuse(binder, ast->position,
                       "INTERVAL counts years, quarters, months, weeks, days, hours, minutes or seconds, not "
                       "'%s'",
                       ast->name);
}

static bool is_time(enum value_kind kind)
{
    return kind == VALUE_DATE || kind == VALUE_TIMESTAMP;
}

/* An INTERVAL, or a product of one and a number: INTERVAL '1 day' * n. */
struct interval_term {
    const struct sql_expression *interval, *factor; /* factor may be NULL */
};

static bool is_interval(const struct sql_expression *ast, struct interval_term *term)
{
    *term = (struct interval_term){ast, NULL};
    if (ast->operation == SQL_MULTIPLY) {
        const bool first = ast->children[0]->operation == SQL_INTERVAL;
        *term = (struct interval_term){ast->children[!first], ast->children[first]};
    }
    return term->interval->operation == SQL_INTERVAL;
}

/* The months, days or microseconds of a term. */
static enum status amount_of(struct binder *binder, const struct interval_term *term, int64_t one,
                             enum bind_level level, uint32_t *amount)
{
    uint32_t factor;
    RETURN_IF_ERROR(bind_integer(binder, one, 0, amount));
    if (!term->factor)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_expression(binder, term->factor, level, &factor));
    const struct value_type type = bind_node(binder, factor)->type;
    if (type.kind != VALUE_INTEGER || type.scale)
        return bind_refuse(binder, term->factor->position,
                           "an INTERVAL is multiplied by whole numbers, not %s",
                           type.kind == VALUE_INTEGER ? "decimals" : bind_kind_name(type.kind));
    return bind_apply(binder, term->factor->position, EXPRESSION_MULTIPLY, *amount, factor, EXPRESSION_NONE,
                      amount);
}

static enum status add_to_time(struct binder *binder, const struct sql_expression *ast, uint32_t time,
                               const struct interval_term *term, struct interval interval, bool subtract,
                               enum bind_level level, uint32_t *node)
{
    uint32_t amount;
    if (bind_is_untyped(binder, time))
        RETURN_IF_ERROR(
            expression_null(binder->list, (struct value_type){.kind = VALUE_DATE}, &time, binder->error));
    const enum value_kind kind = bind_kind(binder, time);
    if (!is_time(kind))
        return bind_refuse(binder, ast->position, "an INTERVAL is added to a date or timestamp, not to %s",
                           bind_kind_name(kind));
    if (interval.months) {
        RETURN_IF_ERROR(
            amount_of(binder, term, subtract ? -interval.months : interval.months, level, &amount));
        return bind_add_months(binder, ast->position, time, amount, node);
    }
    if (kind == VALUE_DATE && interval.microseconds % CALENDAR_DAY_MICROSECONDS)
        RETURN_IF_ERROR(bind_timestamp_of_date(binder, ast->position, &time));
    RETURN_IF_ERROR(amount_of(binder, term,
                              bind_kind(binder, time) == VALUE_DATE
                                  ? interval.microseconds / CALENDAR_DAY_MICROSECONDS
                                  : interval.microseconds,
                              level, &amount));
    return bind_apply(binder, ast->position, subtract ? EXPRESSION_SUBTRACT : EXPRESSION_ADD, time, amount,
                      EXPRESSION_NONE, node);
}

static bool is_short_unit(const char *unit)
{
    return strcmp(unit, "hour") == 0 || strcmp(unit, "minute") == 0 || strcmp(unit, "second") == 0;
}

/* Months and days are added to what the clock shows of a time with time zone, shorter times to the instant. */
static enum status add_interval(struct binder *binder, const struct sql_expression *ast, uint32_t time,
                                const struct interval_term *term, bool subtract, enum bind_level level,
                                uint32_t *node)
{
    struct interval interval = {0, 0};
    RETURN_IF_ERROR(interval_of(binder, term->interval, &interval));
    RETURN_IF_ERROR(bind_date_of_string(binder, &time));
    const bool by_clock = bind_is_zoned(binder, time) && !is_short_unit(term->interval->name);
    if (by_clock)
        RETURN_IF_ERROR(bind_local(binder, ast->position, &time));
    RETURN_IF_ERROR(add_to_time(binder, ast, time, term, interval, subtract, level, node));
    return by_clock ? bind_instant(binder, ast->position, node) : STATUS_OK;
}

/* The microseconds from one timestamp to another, of which one may be a date or a string. */
static enum status time_between(struct binder *binder, const struct sql_expression *ast, uint32_t left,
                                uint32_t right, bool *taken, uint32_t *node)
{
    uint32_t zero;
    const bool zoned = bind_is_zoned(binder, left) || bind_is_zoned(binder, right);
    const struct value_type type = {.kind = VALUE_TIMESTAMP, .zoned = zoned};
    RETURN_IF_ERROR(bind_time_of_string(binder, ast->position, type, &left));
    RETURN_IF_ERROR(bind_time_of_string(binder, ast->position, type, &right));
    *taken = is_time(bind_kind(binder, left)) && is_time(bind_kind(binder, right));
    if (!*taken)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_timestamp_of_date(binder, ast->position, &left));
    RETURN_IF_ERROR(bind_timestamp_of_date(binder, ast->position, &right));
    RETURN_IF_ERROR(bind_same_clock(binder, ast->position, &left, &right));
    RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero)); /* (0 - right) + left is an integer */
    RETURN_IF_ERROR(
        bind_apply(binder, ast->position, EXPRESSION_SUBTRACT, zero, right, EXPRESSION_NONE, &right));
    return bind_apply(binder, ast->position, EXPRESSION_ADD, right, left, EXPRESSION_NONE, node);
}

/* Binds date + n, n + date and date - n, where n is a number of days, and date - date, which is the number of
 * days between them. */
static enum status date_arithmetic(struct binder *binder, const struct sql_expression *ast, uint32_t left,
                                   uint32_t right, uint32_t *node)
{
    const enum value_kind a = bind_kind(binder, left), b = bind_kind(binder, right);
    const bool subtract = ast->operation == SQL_SUBTRACT;
    if (!subtract && ast->operation != SQL_ADD)
        return bind_refuse(binder, ast->position, "dates are added and subtracted only");
    if (bind_is_untyped(binder, left) || bind_is_untyped(binder, right)) {
        const struct value_type type = {.kind = subtract && is_time(b) ? VALUE_INTEGER : VALUE_DATE};
        return expression_null(binder->list, type, node, binder->error);
    }
    if (a == VALUE_DATE && b == VALUE_INTEGER && bind_node(binder, right)->type.scale == 0)
        return bind_apply(binder, ast->position, subtract ? EXPRESSION_SUBTRACT : EXPRESSION_ADD, left, right,
                          EXPRESSION_NONE, node);
    if (a == VALUE_INTEGER && b == VALUE_DATE && !subtract && bind_node(binder, left)->type.scale == 0)
        return bind_apply(binder, ast->position, EXPRESSION_ADD, right, left, EXPRESSION_NONE, node);
    if (subtract && (a == VALUE_DATE || b == VALUE_DATE)) {
        const struct value_type date = {.kind = VALUE_DATE};
        RETURN_IF_ERROR(bind_time_of_string(binder, ast->position, date, &left));
        RETURN_IF_ERROR(bind_time_of_string(binder, ast->position, date, &right));
        if (bind_kind(binder, left) == VALUE_DATE && bind_kind(binder, right) == VALUE_DATE) {
            uint32_t zero, days;
            RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero)); /* (0 - right) + left is an integer */
            RETURN_IF_ERROR(
                bind_apply(binder, ast->position, EXPRESSION_SUBTRACT, zero, right, EXPRESSION_NONE, &days));
            return bind_apply(binder, ast->position, EXPRESSION_ADD, days, left, EXPRESSION_NONE, node);
        }
    }
    if (subtract && (a == VALUE_TIMESTAMP || b == VALUE_TIMESTAMP)) {
        bool taken;
        RETURN_IF_ERROR(time_between(binder, ast, left, right, &taken, node));
        if (taken)
            return STATUS_OK;
    }
    return bind_refuse(binder, ast->position, "%s and %s cannot be added or subtracted%s", bind_kind_name(a),
                       bind_kind_name(b),
                       a == VALUE_TIMESTAMP || b == VALUE_TIMESTAMP ? "; write + INTERVAL '1' DAY" : "");
}

static enum status divide(struct binder *binder, const struct sql_expression *ast, uint32_t left,
                          uint32_t right, uint32_t *node)
{
    const struct value_type a = bind_node(binder, left)->type, b = bind_node(binder, right)->type;
    const bool whole = a.kind == VALUE_INTEGER && b.kind == VALUE_INTEGER && !a.scale && !b.scale;
    if (ast->operation == SQL_REMAINDER && (a.kind == VALUE_DOUBLE || b.kind == VALUE_DOUBLE))
        return bind_refuse(binder, ast->position,
                           "%% takes whole numbers and decimals; for floating-point numbers write a - b * "
                           "trunc(a / b)");
    if (ast->operation == SQL_REMAINDER)
        RETURN_IF_ERROR(bind_alike(binder, ast->position, &left, &right));
    if (ast->operation == SQL_DIVIDE && (!whole || value_is_decimal(a) || value_is_decimal(b))) {
        RETURN_IF_ERROR(bind_double(binder, ast->position, &left));
        RETURN_IF_ERROR(bind_double(binder, ast->position, &right));
    }
    return bind_apply(binder, ast->position,
                      ast->operation == SQL_REMAINDER ? EXPRESSION_REMAINDER : EXPRESSION_DIVIDE, left, right,
                      EXPRESSION_NONE, node);
}

/* The digits of a factor that is written with more of them: its last zeros, as in 0.0001000000, say nothing, but take
 * digits of the product's 18. */
#define FACTOR_DIGITS 6

static enum status shorten_factor(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const struct expression *const written = bind_node(binder, *node);
    struct value_type type = written->type;
    int64_t value = written->constant;
    if (ast->operation != SQL_NUMBER || type.kind != VALUE_INTEGER || type.scale <= FACTOR_DIGITS)
        return STATUS_OK;
    for (; type.scale > 1 && value % 10 == 0; type.scale--)
        value /= 10;
    return expression_constant(binder->list, type, value, node, binder->error);
}

enum status bind_arithmetic(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                            uint32_t *node)
{
    const struct sql_expression *const first = ast->children[0], *const second = ast->children[1];
    struct interval_term term;
    uint32_t left, right;
    if ((ast->operation == SQL_ADD || ast->operation == SQL_SUBTRACT) && is_interval(second, &term)) {
        RETURN_IF_ERROR(bind_expression(binder, first, level, &left));
        return add_interval(binder, ast, left, &term, ast->operation == SQL_SUBTRACT, level, node);
    }
    if (ast->operation == SQL_ADD && is_interval(first, &term)) {
        RETURN_IF_ERROR(bind_expression(binder, second, level, &right));
        return add_interval(binder, ast, right, &term, false, level, node);
    }
    RETURN_IF_ERROR(bind_expression(binder, first, level, &left));
    RETURN_IF_ERROR(bind_expression(binder, second, level, &right));
    if (is_time(bind_kind(binder, left)) || is_time(bind_kind(binder, right)))
        return date_arithmetic(binder, ast, left, right, node);
    RETURN_IF_ERROR(bind_number_of(binder, first->position, &left));
    RETURN_IF_ERROR(bind_number_of(binder, second->position, &right));
    if (ast->operation == SQL_DIVIDE || ast->operation == SQL_REMAINDER)
        return divide(binder, ast, left, right, node);
    if (ast->operation == SQL_MULTIPLY) {
        RETURN_IF_ERROR(shorten_factor(binder, first, &left));
        RETURN_IF_ERROR(shorten_factor(binder, second, &right));
    }
    if (ast->operation != SQL_MULTIPLY || bind_kind(binder, left) != bind_kind(binder, right))
        RETURN_IF_ERROR(bind_alike(binder, ast->position, &left, &right));
    if (ast->operation != SQL_MULTIPLY && !value_is_decimal(bind_node(binder, left)->type) &&
        value_is_decimal(bind_node(binder, right)->type)) /* a sum has the type of its first term */
        RETURN_IF_ERROR(bind_relabel(binder, ast->position, bind_node(binder, right)->type, &left));
    return bind_apply(binder, ast->position,
                      ast->operation == SQL_ADD        ? EXPRESSION_ADD
                      : ast->operation == SQL_SUBTRACT ? EXPRESSION_SUBTRACT
                                                       : EXPRESSION_MULTIPLY,
                      left, right, EXPRESSION_NONE, node);
}
