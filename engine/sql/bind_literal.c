/* engine/sql/bind_literal.c: constants from text (engine/sql/bind_internal.h). */
#include "engine/sql/bind_internal.h"

#include <stdlib.h>

/* Up to `most` digits; how many there were, 0 for none. */
static uint32_t digits(const char **text, const char *end, uint32_t most, int64_t *number)
{
    uint32_t count = 0;
    *number = 0;
    for (; *text < end && **text >= '0' && **text <= '9' && count < most; (*text)++, count++)
        *number = *number * 10 + (**text - '0');
    return count;
}

static bool take(const char **text, const char *end, char wanted)
{
    if (*text == end || **text != wanted)
        return false;
    (*text)++;
    return true;
}

static bool date_part(const char **text, const char *end, int64_t *days)
{
    int64_t year, month, day;
    if (digits(text, end, 4, &year) != 4 || !take(text, end, '-') || digits(text, end, 2, &month) != 2 ||
        !take(text, end, '-') || digits(text, end, 2, &day) != 2 || month < 1 || month > 12 || day < 1 ||
        day > calendar_month_days(year, (int32_t)month))
        return false;
    *days = calendar_days(year, (int32_t)month, (int32_t)day);
    return true;
}

bool bind_date_parse(const char *text, size_t length, int64_t *days)
{
    const char *const end = text + length;
    return date_part(&text, end, days) && text == end;
}

bool bind_timestamp_parse(const char *text, size_t length, int64_t *microseconds)
{
    const char *const end = text + length;
    int64_t days, hour = 0, minute = 0, second = 0, fraction = 0;
    if (!date_part(&text, end, &days))
        return false;
    if (take(&text, end, ' ') || take(&text, end, 'T')) {
        if (digits(&text, end, 2, &hour) != 2 || !take(&text, end, ':') ||
            digits(&text, end, 2, &minute) != 2 || hour > 23 || minute > 59)
            return false;
        if (take(&text, end, ':') && (digits(&text, end, 2, &second) != 2 || second > 59))
            return false;
        if (take(&text, end, '.')) {
            uint32_t count = digits(&text, end, 6, &fraction);
            if (count == 0)
                return false;
            fraction *= power_of_ten(6 - count);
        }
        (void)take(&text, end, 'Z');
    }
    *microseconds =
        days * CALENDAR_DAY_MICROSECONDS + ((hour * 60 + minute) * 60 + second) * 1000000 + fraction;
    return text == end;
}

/* "12", "12.50": digits and scale; what has an exponent is a double. */
static enum status bind_number(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    struct value_type type = {.kind = VALUE_INTEGER};
    __int128 value = 0;
    bool behind = false, exponent = false;
    for (const char *c = ast->text; *c; c++) {
        if (*c == '.') {
            behind = true;
        } else if (*c >= '0' && *c <= '9') {
            value = value * 10 + (*c - '0');
            type.scale = (uint8_t)(type.scale + behind);
        } else {
            exponent = true;
        }
        if (!exponent && (value > INT64_MAX || type.scale > 18))
            return bind_refuse(binder, ast->position,
                               "the number %s has more than 18 digits; write fewer, or with an exponent",
                               ast->text);
    }
    while (!exponent && type.scale > 1 &&
           value % 10 == 0) { /* 1.50 is 1.5, but 1.0 no whole number: 1.0 / 2 */
        value /= 10;
        type.scale--;
    }
    int64_t stored = (int64_t)value;
    if (exponent) {
        char *end;
        const double number = strtod(ast->text, &end);
        type = (struct value_type){.kind = VALUE_DOUBLE};
        memcpy(&stored, &number, sizeof stored);
    }
    return bind_placed(binder, ast->position,
                       expression_constant(binder->list, type, stored, node, binder->error));
}

enum status bind_literal(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const size_t length = ast->text ? strlen(ast->text) : 0;
    struct value_type type = {.kind = VALUE_BOOLEAN};
    int64_t value;
    switch (ast->operation) {
    case SQL_NULL:
        type.kind = VALUE_INTEGER;
        return expression_null(binder->list, type, node, binder->error);
    case SQL_NUMBER:
        return bind_number(binder, ast, node);
    case SQL_STRING:
        return expression_string_constant(binder->list, ast->text, (uint32_t)length, node, binder->error);
    case SQL_TRUE:
    case SQL_FALSE:
        return expression_constant(binder->list, type, ast->operation == SQL_TRUE, node, binder->error);
    case SQL_DATE:
        type.kind = VALUE_DATE;
        if (!bind_date_parse(ast->text, length, &value))
            return bind_refuse(binder, ast->position, "'%s' is no date; write DATE 'YYYY-MM-DD'", ast->text);
        return expression_constant(binder->list, type, value, node, binder->error);
    case SQL_TIMESTAMP:
        type.kind = VALUE_TIMESTAMP;
        if (!bind_timestamp_parse(ast->text, length, &value))
            return bind_refuse(binder, ast->position,
                               "'%s' is no time; write TIMESTAMP 'YYYY-MM-DD HH:MM:SS'", ast->text);
        return expression_constant(binder->list, type, value, node, binder->error);
    default:
        return bind_refuse(binder, ast->position,
                           "an INTERVAL stands alone; add it to a date or timestamp, or subtract it");
    }
}

enum status bind_parameter(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const struct sql_parameter *value =
        ast->index < binder->parameter_count ? &binder->parameters[ast->index] : NULL;
    if (!value || value->is_null)
        return expression_null(binder->list, (struct value_type){.kind = VALUE_INTEGER}, node, binder->error);
    if (value->type.kind == VALUE_STRING)
        return expression_string_constant(binder->list, value->string, value->length, node, binder->error);
    return expression_constant(binder->list, value->type, value->value, node, binder->error);
}

const char *bind_string_of(const struct binder *binder, uint32_t node, uint32_t *length)
{
    const struct expression *constant = &binder->list->nodes[node];
    if (constant->operation != EXPRESSION_CONSTANT || constant->is_null ||
        constant->type.kind != VALUE_STRING)
        return NULL;
    return dictionary_string(constant->type.dictionary, constant->constant, length);
}

enum status bind_row_count(struct binder *binder, const struct sql_expression *ast, uint64_t *count)
{
    uint32_t node;
    RETURN_IF_ERROR(ast->operation == SQL_PARAMETER ? bind_parameter(binder, ast, &node)
                                                    : bind_literal(binder, ast, &node));
    const struct expression *constant = &binder->list->nodes[node];
    if (constant->is_null || constant->type.kind != VALUE_INTEGER || constant->type.scale ||
        constant->constant < 0)
        return bind_refuse(binder, ast->position, "LIMIT and OFFSET take whole numbers from 0");
    *count = (uint64_t)constant->constant;
    return STATUS_OK;
}
