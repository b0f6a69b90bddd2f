/*
 * sql_bind_expression.c: operators get their types (sql_bind_internal.h): decimals one scale, dates and times
 * one unit, strings one dictionary; literals the type of what they are compared with.
 */
#include "engine/sql_bind_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum status bind_refuse(const struct binder *binder, struct sql_position position, const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(binder->error, STATUS_BAD_INPUT, "line %u, column %u: %s", position.line,
                     position.column, text);
}

enum status bind_placed(const struct binder *binder, struct sql_position position, enum status status)
{
    if (status == STATUS_BAD_INPUT && binder->error && strncmp(binder->error->text, "line ", 5) != 0) {
        char text[ERROR_TEXT_BYTES];
        memcpy(text, binder->error->text, sizeof text);
        return bind_refuse(binder, position, "%.900s", text);
    }
    return status;
}

enum status bind_apply(struct binder *binder, struct sql_position position,
                       enum expression_operation operation, uint32_t a, uint32_t b, uint32_t c,
                       uint32_t *node)
{
    return bind_placed(binder, position,
                       expression_apply(binder->list, operation, a, b, c, node, binder->error));
}

static const struct expression *at(const struct binder *binder, uint32_t node)
{
    return &binder->list->nodes[node];
}

static enum value_kind kind_of(const struct binder *binder, uint32_t node)
{
    return at(binder, node)->type.kind;
}

static bool is_null(const struct binder *binder, uint32_t node)
{
    return at(binder, node)->operation == EXPRESSION_CONSTANT && at(binder, node)->is_null;
}

static const char *kind_name(enum value_kind kind)
{
    static const char *const names[] = {"a number",      "a date",   "a timestamp",
                                        "a truth value", "a string", "a floating-point number"};
    return names[kind];
}

static int64_t power_of_ten(unsigned exponent)
{
    int64_t power = 1;
    for (; exponent > 0; exponent--)
        power *= 10;
    return power;
}

static enum status integer(struct binder *binder, int64_t value, uint8_t scale, uint32_t *node)
{
    return expression_constant(binder->list, (struct value_type){.kind = VALUE_INTEGER, .scale = scale},
                               value, node, binder->error);
}

/* A truth value counts as 0 or 1. */
static enum status as_number(struct binder *binder, struct sql_position position, uint32_t *node)
{
    uint32_t zero;
    if (kind_of(binder, *node) == VALUE_INTEGER || kind_of(binder, *node) == VALUE_DOUBLE)
        return STATUS_OK;
    if (kind_of(binder, *node) != VALUE_BOOLEAN)
        return bind_refuse(binder, position, "this needs a number, not %s",
                           kind_name(kind_of(binder, *node)));
    RETURN_IF_ERROR(integer(binder, 0, 0, &zero));
    return bind_apply(binder, position, EXPRESSION_ADD, zero, *node, EXPRESSION_NONE, node);
}

enum status bind_rescale(struct binder *binder, struct sql_position position, uint32_t *node, uint8_t scale)
{
    const uint8_t own = at(binder, *node)->type.scale;
    uint32_t factor;
    if (own >= scale)
        return STATUS_OK;
    if (is_null(binder, *node))
        return expression_null(binder->list, (struct value_type){.kind = VALUE_INTEGER, .scale = scale}, node,
                               binder->error);
    RETURN_IF_ERROR(integer(binder, power_of_ten(scale - own), (uint8_t)(scale - own), &factor));
    return bind_apply(binder, position, EXPRESSION_MULTIPLY, *node, factor, EXPRESSION_NONE, node);
}

enum status bind_double(struct binder *binder, struct sql_position position, uint32_t *node)
{
    if (kind_of(binder, *node) == VALUE_DOUBLE)
        return STATUS_OK;
    RETURN_IF_ERROR(as_number(binder, position, node));
    return bind_apply(binder, position, EXPRESSION_TO_DOUBLE, *node, EXPRESSION_NONE, EXPRESSION_NONE, node);
}

/* ---- Alike ---- */

/* A string that is compared with a date or time is one, as SQLite has it, where dates are such texts. */
static enum status string_as_time(struct binder *binder, struct sql_position position, enum value_kind kind,
                                  uint32_t *node)
{
    uint32_t length;
    int64_t value;
    const char *text = bind_string_of(binder, *node, &length);
    if (!text || kind_of(binder, *node) == kind)
        return STATUS_OK;
    if (kind == VALUE_DATE ? !bind_date_parse(text, length, &value)
                           : !bind_timestamp_parse(text, length, &value))
        return bind_refuse(binder, position, "'%.*s' is compared with %s, but is none; write %s", (int)length,
                           text, kind_name(kind),
                           kind == VALUE_DATE ? "'YYYY-MM-DD'" : "'YYYY-MM-DD HH:MM:SS'");
    return expression_constant(binder->list, (struct value_type){.kind = kind}, value, node, binder->error);
}

static enum status date_as_timestamp(struct binder *binder, struct sql_position position, uint32_t *node)
{
    uint32_t day;
    if (kind_of(binder, *node) != VALUE_DATE)
        return STATUS_OK;
    RETURN_IF_ERROR(expression_constant(binder->list, (struct value_type){.kind = VALUE_TIMESTAMP},
                                        CALENDAR_DAY_MICROSECONDS, &day, binder->error));
    return bind_apply(binder, position, EXPRESSION_MULTIPLY, day, *node, EXPRESSION_NONE, node);
}

/* NULL takes the other's type. */
static enum status null_alike(struct binder *binder, uint32_t *left, uint32_t *right)
{
    uint32_t *const null = is_null(binder, *left) ? left : is_null(binder, *right) ? right : NULL;
    if (!null || (is_null(binder, *left) && is_null(binder, *right)))
        return STATUS_OK;
    return expression_null(binder->list, at(binder, null == left ? *right : *left)->type, null,
                           binder->error);
}

enum status bind_alike(struct binder *binder, struct sql_position position, uint32_t *left, uint32_t *right)
{
    RETURN_IF_ERROR(null_alike(binder, left, right));
    enum value_kind a = kind_of(binder, *left), b = kind_of(binder, *right);
    if (a == VALUE_DATE || a == VALUE_TIMESTAMP)
        RETURN_IF_ERROR(string_as_time(binder, position, a, right));
    if (b == VALUE_DATE || b == VALUE_TIMESTAMP)
        RETURN_IF_ERROR(string_as_time(binder, position, b, left));
    a = kind_of(binder, *left);
    b = kind_of(binder, *right);
    if (a != b && (a == VALUE_TIMESTAMP || b == VALUE_TIMESTAMP)) {
        RETURN_IF_ERROR(date_as_timestamp(binder, position, left));
        RETURN_IF_ERROR(date_as_timestamp(binder, position, right));
    }
    if (a != b && (a == VALUE_BOOLEAN || b == VALUE_BOOLEAN) &&
        (a == VALUE_INTEGER || b == VALUE_INTEGER || a == VALUE_DOUBLE || b == VALUE_DOUBLE)) {
        RETURN_IF_ERROR(as_number(binder, position, left));
        RETURN_IF_ERROR(as_number(binder, position, right));
    }
    a = kind_of(binder, *left);
    b = kind_of(binder, *right);
    if (a == VALUE_INTEGER && b == VALUE_INTEGER) {
        const uint8_t scale = at(binder, *left)->type.scale > at(binder, *right)->type.scale
                                  ? at(binder, *left)->type.scale
                                  : at(binder, *right)->type.scale;
        RETURN_IF_ERROR(bind_rescale(binder, position, left, scale));
        return bind_rescale(binder, position, right, scale);
    }
    if ((a == VALUE_DOUBLE || b == VALUE_DOUBLE) && (a == VALUE_INTEGER || b == VALUE_INTEGER || a == b)) {
        RETURN_IF_ERROR(bind_double(binder, position, left));
        return bind_double(binder, position, right);
    }
    if (a != b)
        return bind_refuse(binder, position, "%s and %s cannot be compared or mixed", kind_name(a),
                           kind_name(b));
    if (a == VALUE_STRING)
        return bind_placed(binder, position,
                           expression_string_unify(binder->list, left, right, binder->error));
    return STATUS_OK;
}

/* ---- Comparisons ---- */

/* false, or NULL where the value is. */
static enum status never(struct binder *binder, uint32_t value, uint32_t *node)
{
    return expression_in_set(binder->list, value, NULL, 0, node, binder->error);
}

/* A string column and a constant: its place in the column's dictionary decides. below: strings that are less;
 * found: whether it is there. */
static enum status compare_string(struct binder *binder, enum expression_operation operation, uint32_t value,
                                  const char *text, uint32_t length, bool turned, uint32_t *node)
{
    const struct value_type type = at(binder, value)->type;
    const int64_t below = dictionary_lower_bound(type.dictionary, text, length);
    const bool found = dictionary_find(type.dictionary, text, length) >= 0;
    uint32_t place;
    if (operation == EXPRESSION_EQUAL && !found)
        return never(binder, value, node);
    /* value < text: code < below;  value <= text: code < below + found; turned, the rest:
     * text < value: code >= below + found;  text <= value: code >= below */
    int64_t bound = below;
    if (operation != EXPRESSION_EQUAL)
        bound += found && (operation == EXPRESSION_LESS_EQUAL) != turned;
    RETURN_IF_ERROR(expression_constant(binder->list, type, bound, &place, binder->error));
    if (operation == EXPRESSION_EQUAL)
        return expression_apply(binder->list, EXPRESSION_EQUAL, value, place, EXPRESSION_NONE, node,
                                binder->error);
    return turned ? expression_apply(binder->list, EXPRESSION_LESS_EQUAL, place, value, EXPRESSION_NONE, node,
                                     binder->error)
                  : expression_apply(binder->list, EXPRESSION_LESS, value, place, EXPRESSION_NONE, node,
                                     binder->error);
}

/* A number and a constant with more decimals than it has: the constant is cut, so that the column stays as it
 * is stored. */
static enum status compare_decimals(struct binder *binder, enum expression_operation operation,
                                    uint32_t value, uint32_t constant, bool turned, uint32_t *node)
{
    const uint8_t scale = at(binder, value)->type.scale;
    const int64_t unit = power_of_ten(at(binder, constant)->type.scale - scale);
    const int64_t whole = calendar_floor(at(binder, constant)->constant, unit);
    const bool exact = whole * unit == at(binder, constant)->constant;
    uint32_t cut;
    if (operation == EXPRESSION_EQUAL && !exact)
        return never(binder, value, node);
    RETURN_IF_ERROR(integer(binder, whole, scale, &cut));
    if (!exact) /* value < c and value <= c: value <= floor(c);  c < value and c <= value: floor(c) < value */
        operation = turned ? EXPRESSION_LESS : EXPRESSION_LESS_EQUAL;
    return turned
               ? expression_apply(binder->list, operation, cut, value, EXPRESSION_NONE, node, binder->error)
               : expression_apply(binder->list, operation, value, cut, EXPRESSION_NONE, node, binder->error);
}

/* left OPERATION right, where the operation is EQUAL, LESS or LESS_EQUAL. */
static enum status compare(struct binder *binder, struct sql_position position,
                           enum expression_operation operation, uint32_t left, uint32_t right, uint32_t *node)
{
    for (int turned = 0; turned < 2; turned++) {
        const uint32_t value = turned ? right : left, constant = turned ? left : right;
        uint32_t length;
        const char *text = bind_string_of(binder, constant, &length);
        if (kind_of(binder, value) == VALUE_STRING && text)
            return compare_string(binder, operation, value, text, length, turned, node);
        if (kind_of(binder, value) == VALUE_INTEGER && kind_of(binder, constant) == VALUE_INTEGER &&
            expression_is_constant(binder->list, constant) &&
            at(binder, constant)->type.scale > at(binder, value)->type.scale)
            return compare_decimals(binder, operation, value, constant, turned, node);
    }
    RETURN_IF_ERROR(bind_alike(binder, position, &left, &right));
    return bind_apply(binder, position, operation, left, right, EXPRESSION_NONE, node);
}

static enum status negate_truth(struct binder *binder, struct sql_position position, bool negated,
                                uint32_t *node)
{
    return negated
               ? bind_apply(binder, position, EXPRESSION_NOT, *node, EXPRESSION_NONE, EXPRESSION_NONE, node)
               : STATUS_OK;
}

static enum status bind_comparison(struct binder *binder, const struct sql_expression *ast,
                                   enum bind_level level, uint32_t *node)
{
    uint32_t left, right;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &left));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &right));
    switch (ast->operation) {
    case SQL_LESS:
        return compare(binder, ast->position, EXPRESSION_LESS, left, right, node);
    case SQL_LESS_EQUAL:
        return compare(binder, ast->position, EXPRESSION_LESS_EQUAL, left, right, node);
    case SQL_GREATER:
        return compare(binder, ast->position, EXPRESSION_LESS, right, left, node);
    case SQL_GREATER_EQUAL:
        return compare(binder, ast->position, EXPRESSION_LESS_EQUAL, right, left, node);
    default:
        RETURN_IF_ERROR(compare(binder, ast->position, EXPRESSION_EQUAL, left, right, node));
        return negate_truth(binder, ast->position, ast->operation == SQL_NOT_EQUAL, node);
    }
}

static enum status bind_between(struct binder *binder, const struct sql_expression *ast,
                                enum bind_level level, uint32_t *node)
{
    uint32_t value, low, high, above, below;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &value));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &low));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[2], level, &high));
    RETURN_IF_ERROR(compare(binder, ast->position, EXPRESSION_LESS_EQUAL, low, value, &above));
    RETURN_IF_ERROR(compare(binder, ast->position, EXPRESSION_LESS_EQUAL, value, high, &below));
    RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_AND, above, below, EXPRESSION_NONE, node));
    return negate_truth(binder, ast->position, ast->negated, node);
}

static int compare_values(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Constants of the value's own type become one set; what is none is compared by itself. */
static enum status bind_in(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                           uint32_t *node)
{
    uint32_t value, any = EXPRESSION_NONE;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &value));
    int64_t *set = malloc(ast->child_count * sizeof *set);
    if (!set)
        return error_out_of_memory(binder->error, ast->child_count * sizeof *set, "a list of values");
    uint64_t count = 0;
    enum status status = STATUS_OK;
    for (uint32_t c = 1; c < ast->child_count && status == STATUS_OK; c++) {
        uint32_t item, test;
        status = bind_expression(binder, ast->children[c], level, &item);
        if (status == STATUS_OK)
            status = compare(binder, ast->children[c]->position, EXPRESSION_EQUAL, value, item, &test);
        if (status != STATUS_OK)
            break;
        const struct expression *made = at(binder, test);
        const bool plain = made->operation == EXPRESSION_EQUAL && made->child[0] == value &&
                           expression_is_constant(binder->list, made->child[1]) &&
                           made->type.kind != VALUE_DOUBLE && kind_of(binder, value) != VALUE_DOUBLE;
        if (plain)
            set[count++] = at(binder, made->child[1])->constant;
        else if (made->operation == EXPRESSION_IN_SET && binder->list->tables[made->table].count == 0 &&
                 made->child[0] == value)
            continue; /* a string that the dictionary does not have */
        else if (any == EXPRESSION_NONE)
            any = test;
        else
            status = bind_apply(binder, ast->position, EXPRESSION_OR, any, test, EXPRESSION_NONE, &any);
    }
    if (status != STATUS_OK) {
        free(set);
        return status;
    }
    qsort(set, count, sizeof *set, compare_values);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || set[i] != set[kept - 1])
            set[kept++] = set[i];
    RETURN_IF_ERROR(bind_placed(binder, ast->position,
                                expression_in_set(binder->list, value, set, kept, node, binder->error)));
    if (any != EXPRESSION_NONE)
        RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_OR, *node, any, EXPRESSION_NONE, node));
    return negate_truth(binder, ast->position, ast->negated, node);
}

static enum status bind_like(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                             uint32_t *node)
{
    uint32_t value, pattern, escape, length = 0, escape_length = 0;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &value));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &pattern));
    if (is_null(binder, value) || is_null(binder, pattern))
        return expression_null(binder->list, (struct value_type){.kind = VALUE_BOOLEAN}, node, binder->error);
    if (kind_of(binder, value) != VALUE_STRING)
        return bind_refuse(binder, ast->position, "LIKE needs a string on its left, not %s",
                           kind_name(kind_of(binder, value)));
    const char *const text = bind_string_of(binder, pattern, &length);
    if (!text)
        return bind_refuse(binder, ast->children[1]->position, "LIKE takes a constant string as its pattern");
    char mark = 0;
    if (ast->child_count > 2) {
        RETURN_IF_ERROR(bind_expression(binder, ast->children[2], level, &escape));
        const char *const escape_text = bind_string_of(binder, escape, &escape_length);
        if (!escape_text || escape_length != 1)
            return bind_refuse(binder, ast->children[2]->position, "ESCAPE takes one character of ASCII");
        mark = *escape_text;
    }
    RETURN_IF_ERROR(
        bind_placed(binder, ast->position,
                    expression_string_like(binder->list, value, text, length, mark, node, binder->error)));
    return negate_truth(binder, ast->position, ast->negated, node);
}

/* ---- Arithmetic ---- */

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
    if (*end || end == ast->text || count > 1000000000 || count < -1000000000)
        return bind_refuse(binder, ast->position, "INTERVAL '%s' is no whole number of up to 9 digits",
                           ast->text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].unit, ast->name) == 0) {
            *interval = (struct interval){count * units[i].months, count * units[i].microseconds};
            return STATUS_OK;
        }
    return bind_refuse(binder, ast->position,
                       "INTERVAL counts years, quarters, months, weeks, days, hours, minutes or seconds, not "
                       "'%s'",
                       ast->name);
}

static enum status add_interval(struct binder *binder, const struct sql_expression *ast, uint32_t time,
                                const struct sql_expression *written, bool subtract, uint32_t *node)
{
    struct interval interval = {0, 0};
    uint32_t amount, length;
    int64_t days;
    const char *const text = bind_string_of(binder, time, &length);
    RETURN_IF_ERROR(interval_of(binder, written, &interval));
    if (text && bind_date_parse(text, length, &days))
        RETURN_IF_ERROR(expression_constant(binder->list, (struct value_type){.kind = VALUE_DATE}, days,
                                            &time, binder->error));
    const enum value_kind kind = kind_of(binder, time);
    if (kind != VALUE_DATE && kind != VALUE_TIMESTAMP)
        return bind_refuse(binder, ast->position, "an INTERVAL is added to a date or timestamp, not to %s",
                           kind_name(kind));
    if (interval.months) {
        if (kind != VALUE_DATE)
            return bind_refuse(binder, written->position,
                               "months are added to dates only; cast the timestamp to DATE");
        RETURN_IF_ERROR(integer(binder, subtract ? -interval.months : interval.months, 0, &amount));
        return bind_apply(binder, ast->position, EXPRESSION_ADD_MONTHS, time, amount, EXPRESSION_NONE, node);
    }
    if (kind == VALUE_DATE && interval.microseconds % CALENDAR_DAY_MICROSECONDS)
        RETURN_IF_ERROR(date_as_timestamp(binder, ast->position, &time));
    RETURN_IF_ERROR(integer(binder,
                            kind_of(binder, time) == VALUE_DATE
                                ? interval.microseconds / CALENDAR_DAY_MICROSECONDS
                                : interval.microseconds,
                            0, &amount));
    return bind_apply(binder, ast->position, subtract ? EXPRESSION_SUBTRACT : EXPRESSION_ADD, time, amount,
                      EXPRESSION_NONE, node);
}

/* date + n, n + date, date - n: days; date - date: days between. True if it was one of them. */
static enum status date_arithmetic(struct binder *binder, const struct sql_expression *ast, uint32_t left,
                                   uint32_t right, uint32_t *node)
{
    const enum value_kind a = kind_of(binder, left), b = kind_of(binder, right);
    const bool subtract = ast->operation == SQL_SUBTRACT;
    if (!subtract && ast->operation != SQL_ADD)
        return bind_refuse(binder, ast->position, "dates are added and subtracted only");
    if (a == VALUE_DATE && b == VALUE_INTEGER && at(binder, right)->type.scale == 0)
        return bind_apply(binder, ast->position, subtract ? EXPRESSION_SUBTRACT : EXPRESSION_ADD, left, right,
                          EXPRESSION_NONE, node);
    if (a == VALUE_INTEGER && b == VALUE_DATE && !subtract && at(binder, left)->type.scale == 0)
        return bind_apply(binder, ast->position, EXPRESSION_ADD, right, left, EXPRESSION_NONE, node);
    if (subtract && (a == VALUE_DATE || b == VALUE_DATE)) {
        RETURN_IF_ERROR(string_as_time(binder, ast->position, VALUE_DATE, &left));
        RETURN_IF_ERROR(string_as_time(binder, ast->position, VALUE_DATE, &right));
        if (kind_of(binder, left) == VALUE_DATE && kind_of(binder, right) == VALUE_DATE) {
            uint32_t zero, days;
            RETURN_IF_ERROR(integer(binder, 0, 0, &zero)); /* a number of days, no date */
            RETURN_IF_ERROR(
                bind_apply(binder, ast->position, EXPRESSION_SUBTRACT, zero, right, EXPRESSION_NONE, &days));
            return bind_apply(binder, ast->position, EXPRESSION_ADD, days, left, EXPRESSION_NONE, node);
        }
    }
    return bind_refuse(binder, ast->position, "%s and %s cannot be added or subtracted", kind_name(a),
                       kind_name(b));
}

static enum status divide(struct binder *binder, const struct sql_expression *ast, uint32_t left,
                          uint32_t right, uint32_t *node)
{
    const bool whole = kind_of(binder, left) == VALUE_INTEGER && kind_of(binder, right) == VALUE_INTEGER &&
                       !at(binder, left)->type.scale && !at(binder, right)->type.scale;
    if (!whole && ast->operation == SQL_REMAINDER)
        return bind_refuse(binder, ast->position, "%% takes whole numbers");
    if (!whole) {
        RETURN_IF_ERROR(bind_double(binder, ast->position, &left));
        RETURN_IF_ERROR(bind_double(binder, ast->position, &right));
    }
    return bind_apply(binder, ast->position,
                      ast->operation == SQL_REMAINDER ? EXPRESSION_REMAINDER : EXPRESSION_DIVIDE, left, right,
                      EXPRESSION_NONE, node);
}

static enum status bind_arithmetic(struct binder *binder, const struct sql_expression *ast,
                                   enum bind_level level, uint32_t *node)
{
    const struct sql_expression *const first = ast->children[0], *const second = ast->children[1];
    uint32_t left, right;
    if (second->operation == SQL_INTERVAL && (ast->operation == SQL_ADD || ast->operation == SQL_SUBTRACT)) {
        RETURN_IF_ERROR(bind_expression(binder, first, level, &left));
        return add_interval(binder, ast, left, second, ast->operation == SQL_SUBTRACT, node);
    }
    if (first->operation == SQL_INTERVAL && ast->operation == SQL_ADD) {
        RETURN_IF_ERROR(bind_expression(binder, second, level, &right));
        return add_interval(binder, ast, right, first, false, node);
    }
    RETURN_IF_ERROR(bind_expression(binder, first, level, &left));
    RETURN_IF_ERROR(bind_expression(binder, second, level, &right));
    if ((kind_of(binder, left) == VALUE_DATE || kind_of(binder, right) == VALUE_DATE) &&
        !is_null(binder, left) && !is_null(binder, right))
        return date_arithmetic(binder, ast, left, right, node);
    RETURN_IF_ERROR(as_number(binder, first->position, &left));
    RETURN_IF_ERROR(as_number(binder, second->position, &right));
    if (ast->operation == SQL_DIVIDE || ast->operation == SQL_REMAINDER)
        return divide(binder, ast, left, right, node);
    if (ast->operation != SQL_MULTIPLY || kind_of(binder, left) != kind_of(binder, right))
        RETURN_IF_ERROR(bind_alike(binder, ast->position, &left, &right));
    return bind_apply(binder, ast->position,
                      ast->operation == SQL_ADD        ? EXPRESSION_ADD
                      : ast->operation == SQL_SUBTRACT ? EXPRESSION_SUBTRACT
                                                       : EXPRESSION_MULTIPLY,
                      left, right, EXPRESSION_NONE, node);
}

/* ---- CASE, EXTRACT ---- */

static enum status bind_case(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                             uint32_t *node)
{
    const uint32_t first = ast->has_operand, end = ast->child_count - ast->has_else;
    uint32_t operand = EXPRESSION_NONE;
    if (ast->has_operand)
        RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &operand));
    if (ast->has_else)
        RETURN_IF_ERROR(bind_expression(binder, ast->children[end], level, node));
    else
        RETURN_IF_ERROR(
            expression_null(binder->list, (struct value_type){.kind = VALUE_INTEGER}, node, binder->error));
    for (uint32_t c = end; c >= first + 2; c -= 2) { /* from the last pair */
        const struct sql_expression *const when = ast->children[c - 2], *const then = ast->children[c - 1];
        uint32_t condition, value;
        if (ast->has_operand) {
            RETURN_IF_ERROR(bind_expression(binder, when, level, &value));
            RETURN_IF_ERROR(compare(binder, when->position, EXPRESSION_EQUAL, operand, value, &condition));
        } else {
            RETURN_IF_ERROR(bind_condition(binder, when, level, &condition));
        }
        RETURN_IF_ERROR(bind_expression(binder, then, level, &value));
        RETURN_IF_ERROR(bind_alike(binder, then->position, &value, node));
        RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_CHOOSE, condition, value, *node, node));
    }
    return STATUS_OK;
}

static enum status bind_extract(struct binder *binder, const struct sql_expression *ast,
                                enum bind_level level, uint32_t *node)
{
    static const char *const fields[] = {"year", "quarter", "month",  "day",   "dow",
                                         "doy",  "hour",    "minute", "second"};
    struct expression extract = {.operation = EXPRESSION_EXTRACT, .children = 1};
    uint32_t length;
    int64_t value;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &extract.child[0]));
    const char *const text = bind_string_of(binder, extract.child[0], &length);
    if (text && bind_date_parse(text, length, &value))
        RETURN_IF_ERROR(expression_constant(binder->list, (struct value_type){.kind = VALUE_DATE}, value,
                                            &extract.child[0], binder->error));
    if (is_null(binder, extract.child[0])) {
        *node = extract.child[0];
        return STATUS_OK;
    }
    if (kind_of(binder, extract.child[0]) != VALUE_DATE &&
        kind_of(binder, extract.child[0]) != VALUE_TIMESTAMP)
        return bind_refuse(binder, ast->position, "EXTRACT takes a date or timestamp, not %s",
                           kind_name(kind_of(binder, extract.child[0])));
    for (; extract.field < sizeof fields / sizeof *fields; extract.field++)
        if (strcmp(fields[extract.field], ast->name) == 0) {
            return bind_placed(binder, ast->position,
                               expression_add(binder->list, &extract, node, binder->error));
        }
    return bind_refuse(binder, ast->position,
                       "EXTRACT knows year, quarter, month, day, dow, doy, hour, minute and second, not '%s'",
                       ast->name);
}

/* ---- All of them ---- */

enum status bind_condition(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                           uint32_t *node)
{
    uint32_t zero, equal;
    RETURN_IF_ERROR(bind_expression(binder, ast, level, node));
    if (is_null(binder, *node))
        return expression_null(binder->list, (struct value_type){.kind = VALUE_BOOLEAN}, node, binder->error);
    if (kind_of(binder, *node) == VALUE_BOOLEAN)
        return STATUS_OK;
    if (kind_of(binder, *node) != VALUE_INTEGER)
        return bind_refuse(binder, ast->position, "this needs a condition, not %s",
                           kind_name(kind_of(binder, *node)));
    RETURN_IF_ERROR(integer(binder, 0, at(binder, *node)->type.scale, &zero));
    RETURN_IF_ERROR(
        bind_apply(binder, ast->position, EXPRESSION_EQUAL, *node, zero, EXPRESSION_NONE, &equal));
    return bind_apply(binder, ast->position, EXPRESSION_NOT, equal, EXPRESSION_NONE, EXPRESSION_NONE, node);
}

static enum status bind_logic(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                              uint32_t *node)
{
    const enum expression_operation operation = ast->operation == SQL_AND ? EXPRESSION_AND : EXPRESSION_OR;
    RETURN_IF_ERROR(bind_condition(binder, ast->children[0], level, node));
    for (uint32_t c = 1; c < ast->child_count; c++) {
        uint32_t next;
        RETURN_IF_ERROR(bind_condition(binder, ast->children[c], level, &next));
        RETURN_IF_ERROR(bind_apply(binder, ast->position, operation, *node, next, EXPRESSION_NONE, node));
    }
    return STATUS_OK;
}

/* A name that is no column may be an alias of the select list, as SQLite takes it. */
static enum status bind_alias(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                              bool *found, uint32_t *node)
{
    *found = false;
    for (uint32_t i = 0; i < binder->select->item_count && !ast->qualifier; i++) {
        const struct sql_item *item = &binder->select->items[i];
        if (!item->alias || strcmp(item->alias, ast->name) != 0)
            continue;
        if (binder->aliases_open == 8)
            return bind_refuse(binder, ast->position, "the alias %s leads to itself", ast->name);
        *found = true;
        binder->aliases_open++;
        const enum status status = bind_expression(binder, item->expression, level, node);
        binder->aliases_open--;
        return status;
    }
    return STATUS_OK;
}

static enum status bind_column_name(struct binder *binder, const struct sql_expression *ast,
                                    enum bind_level level, uint32_t *node)
{
    uint32_t table;
    const struct column *column;
    bool found;
    if (!bind_name_exists(binder, ast)) {
        RETURN_IF_ERROR(bind_alias(binder, ast, level, &found, node));
        if (found)
            return STATUS_OK;
    }
    RETURN_IF_ERROR(bind_name(binder, ast, &table, &column));
    if (level == BIND_ABOVE)
        return bind_refuse(binder, ast->position,
                           "%s is neither in GROUP BY nor inside an aggregate, so it has no one value",
                           ast->name);
    return bind_placed(binder, ast->position, bind_column(binder, table, column, node));
}

/* An aggregate, also by an alias: HAVING s > 0, where s is sum(x). Aliases that lead to themselves end somewhere;
 * bind_alias refuses them. */
static bool reaches_aggregate(const struct binder *binder, const struct sql_expression *ast, uint32_t aliases)
{
    if (bind_is_aggregate(ast))
        return true;
    for (uint32_t c = 0; c < ast->child_count; c++)
        if (reaches_aggregate(binder, ast->children[c], aliases))
            return true;
    if (ast->operation != SQL_COLUMN || ast->qualifier || aliases == 8 || bind_name_exists(binder, ast))
        return false;
    for (uint32_t i = 0; i < binder->select->item_count; i++) {
        const struct sql_item *item = &binder->select->items[i];
        if (item->alias && strcmp(item->alias, ast->name) == 0)
            return reaches_aggregate(binder, item->expression, aliases + 1);
    }
    return false;
}

/* What is one of the groups' expressions is that group's value; constants are the same everywhere. */
static enum status find_group(struct binder *binder, const struct sql_expression *ast, bool *found,
                              uint32_t *node)
{
    *found = false;
    if (reaches_aggregate(binder, ast, 0) || (ast->operation == SQL_COLUMN && !bind_name_exists(binder, ast)))
        return STATUS_OK;
    uint32_t below;
    RETURN_IF_ERROR(bind_expression(binder, ast, BIND_BELOW, &below));
    *found = at(binder, below)->operation == EXPRESSION_CONSTANT;
    *node = below;
    for (uint32_t g = 0; g < binder->plan->group_count && !*found; g++)
        if (binder->group_nodes[g] == below) {
            struct expression leaf = *at(binder, below);
            leaf.operation = EXPRESSION_GROUP;
            leaf.children = 0;
            leaf.index = g;
            leaf.table = leaf.field = 0;
            leaf.nullable = true;
            *found = true;
            return expression_add(binder->list, &leaf, node, binder->error);
        }
    return STATUS_OK;
}

enum status bind_expression(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                            uint32_t *node)
{
    if (level == BIND_ABOVE) {
        bool found;
        RETURN_IF_ERROR(find_group(binder, ast, &found, node));
        if (found)
            return STATUS_OK;
    }
    switch (ast->operation) {
    case SQL_PARAMETER:
        return bind_parameter(binder, ast, node);
    case SQL_COLUMN:
        return bind_column_name(binder, ast, level, node);
    case SQL_STAR:
        return bind_refuse(binder, ast->position, "* stands alone in a select list or in count(*)");
    case SQL_NEGATE:
        RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, node));
        RETURN_IF_ERROR(as_number(binder, ast->position, node));
        return bind_apply(binder, ast->position, EXPRESSION_NEGATE, *node, EXPRESSION_NONE, EXPRESSION_NONE,
                          node);
    case SQL_NOT:
        RETURN_IF_ERROR(bind_condition(binder, ast->children[0], level, node));
        return negate_truth(binder, ast->position, true, node);
    case SQL_ADD:
    case SQL_SUBTRACT:
    case SQL_MULTIPLY:
    case SQL_DIVIDE:
    case SQL_REMAINDER:
        return bind_arithmetic(binder, ast, level, node);
    case SQL_EQUAL:
    case SQL_NOT_EQUAL:
    case SQL_LESS:
    case SQL_LESS_EQUAL:
    case SQL_GREATER:
    case SQL_GREATER_EQUAL:
        return bind_comparison(binder, ast, level, node);
    case SQL_AND:
    case SQL_OR:
        return bind_logic(binder, ast, level, node);
    case SQL_BETWEEN:
        return bind_between(binder, ast, level, node);
    case SQL_IN:
        return bind_in(binder, ast, level, node);
    case SQL_LIKE:
        return bind_like(binder, ast, level, node);
    case SQL_IS_NULL:
        RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, node));
        RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_IS_NULL, *node, EXPRESSION_NONE,
                                   EXPRESSION_NONE, node));
        return negate_truth(binder, ast->position, ast->negated, node);
    case SQL_CASE:
        return bind_case(binder, ast, level, node);
    case SQL_EXTRACT:
        return bind_extract(binder, ast, level, node);
    case SQL_CAST:
        return bind_cast(binder, ast, level, node);
    case SQL_FUNCTION:
        return bind_function(binder, ast, level, node);
    default:
        return bind_literal(binder, ast, node);
    }
}
