/*
 * casts.c: CAST(x AS type), x::type and TRY_CAST (functions.h). Strings are read once for each string of a
 * dictionary. A string that is no such value gives NULL, because it may be in no row that is asked for; a
 * literal is refused, but not by TRY_CAST.
 */
#include "engine/sql/functions/functions.h"

#include "storage/base/calendar_text.h"
#include "storage/base/number/number_text.h"
#include "storage/base/words/word.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum cast_type {
    CAST_INTEGER,
    CAST_DECIMAL,
    CAST_DOUBLE,
    CAST_TEXT,
    CAST_DATE,
    CAST_TIMESTAMP,
    CAST_INSTANT, /* a timestamp with time zone */
    CAST_BOOLEAN
};

static const struct {
    const char *name;
    enum cast_type type;
} types[] = {{"integer", CAST_INTEGER},
             {"int", CAST_INTEGER},
             {"bigint", CAST_INTEGER},
             {"smallint", CAST_INTEGER},
             {"tinyint", CAST_INTEGER},
             {"int2", CAST_INTEGER},
             {"int4", CAST_INTEGER},
             {"int8", CAST_INTEGER},
             {"signed", CAST_INTEGER},
             {"decimal", CAST_DECIMAL},
             {"numeric", CAST_DECIMAL},
             {"double", CAST_DOUBLE},
             {"real", CAST_DOUBLE},
             {"float", CAST_DOUBLE},
             {"float4", CAST_DOUBLE},
             {"float8", CAST_DOUBLE},
             {"double precision", CAST_DOUBLE},
             {"varchar", CAST_TEXT},
             {"text", CAST_TEXT},
             {"string", CAST_TEXT},
             {"char", CAST_TEXT},
             {"character", CAST_TEXT},
             {"bpchar", CAST_TEXT},
             {"character varying", CAST_TEXT},
             {"date", CAST_DATE},
             {"timestamp", CAST_TIMESTAMP},
             {"datetime", CAST_TIMESTAMP},
             {"timestamptz", CAST_INSTANT},
             {"boolean", CAST_BOOLEAN},
             {"bool", CAST_BOOLEAN}};

/* ---- Strings ---- */

static void trim_blanks(struct string_value *string)
{
    for (; string->length && string->text[0] == ' '; string->text++)
        string->length--;
    while (string->length && string->text[string->length - 1] == ' ')
        string->length--;
}

/* The parts of a number's text: sign, digits of which `whole` are before the point, and an exponent. */
struct number_text {
    bool negative;
    const char *digits, *end; /* with the point in between */
    int64_t whole, exponent;
};

/* No number that fits has an exponent beyond this one. */
#define EXPONENT_MOST 100000

static bool exponent_of(const char *at, const char *end, int64_t *exponent)
{
    const bool negative = at < end && *at == '-';
    *exponent = 0;
    at += at < end && (*at == '-' || *at == '+');
    if (at == end)
        return false;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        *exponent = *exponent < EXPONENT_MOST ? *exponent * 10 + (*at - '0') : EXPONENT_MOST;
    *exponent = negative ? -*exponent : *exponent;
    return at == end;
}

/* False if the text is no number. */
static bool divide_number(struct string_value string, struct number_text *number)
{
    bool point = false;
    uint32_t digits = 0;
    trim_blanks(&string);
    const char *at = string.text, *const end = string.text + string.length;
    *number = (struct number_text){.negative = at < end && *at == '-'};
    at += at < end && (*at == '-' || *at == '+');
    number->digits = at;
    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !point)); at++) {
        point |= *at == '.';
        digits += *at != '.';
        number->whole += !point;
    }
    number->end = at;
    if (at < end && (*at == 'e' || *at == 'E'))
        return digits && exponent_of(at + 1, end, &number->exponent);
    return digits && at == end;
}

/* Reads a number in units of its last digit. numbers[0]: the digits after the point; the others are rounded, or, if
 * numbers[1], cut; the most is numbers[2]. Of whole numbers one more is below zero. False if it is none or too large. */
static bool scaled_number(const struct string_call *call, struct string_value string, int64_t *scaled)
{
    struct number_text text;
    __int128 value = 0;
    if (!divide_number(string, &text))
        return false;
    const __int128 most = (__int128)call->numbers[2] + (text.negative && call->numbers[1]);
    int64_t left = text.whole + text.exponent + call->numbers[0]; /* digits that are kept */
    bool up = false;
    for (const char *at = text.digits; at < text.end; at++) {
        if (*at == '.')
            continue;
        if (left > 0)
            value = value * 10 + (*at - '0');
        else
            up |= left == 0 && *at >= '5' && !call->numbers[1];
        left--;
        if (value > most)
            return false;
    }
    for (; left > 0 && value && value <= most; left--)
        value *= 10;
    value += up;
    *scaled = (int64_t)(text.negative ? -value : value);
    return value <= most;
}

/* `context`, if there is one, is told that there is -2^63, which tables of numbers cannot hold: there it is NULL. */
static void read_number(const struct string_call *call, const struct string_value *strings,
                        struct string_result *result)
{
    result->null = !scaled_number(call, strings[0], &result->number);
    if (!result->null && result->number == INT64_MIN && call->context)
        atomic_store((atomic_bool *)call->context, true);
}

static void is_least_number(const struct string_call *call, const struct string_value *strings,
                            struct string_result *result)
{
    int64_t number;
    result->number = scaled_number(call, strings[0], &number) && number == INT64_MIN;
}

static void read_double(const struct string_call *call, const struct string_value *strings,
                        struct string_result *result)
{
    struct string_value string = strings[0];
    char text[400], *end;
    (void)call;
    trim_blanks(&string);
    result->null = true;
    if (string.length == 0 || string.length >= sizeof text || memchr(string.text, 'x', string.length) ||
        memchr(string.text, 'X', string.length)) /* hexadecimal numbers are not SQL's */
        return;
    memcpy(text, string.text, string.length);
    text[string.length] = '\0';
    const double number = number_parse(text, &end);
    result->null = end != text + string.length;
    result->number = double_key_of(number);
}

static void read_date(const struct string_call *call, const struct string_value *strings,
                      struct string_result *result)
{
    struct string_value string = strings[0];
    int64_t microseconds;
    (void)call;
    trim_blanks(&string);
    result->null = !bind_date_parse(string.text, string.length, &result->number);
    if (result->null && bind_timestamp_parse(string.text, string.length, &microseconds)) {
        result->null = false;
        result->number = calendar_floor(microseconds, CALENDAR_DAY_MICROSECONDS);
    }
}

static void read_timestamp(const struct string_call *call, const struct string_value *strings,
                           struct string_result *result)
{
    struct string_value string = strings[0];
    int64_t days;
    (void)call;
    trim_blanks(&string);
    result->null = !bind_timestamp_parse(string.text, string.length, &result->number);
    if (result->null && bind_date_parse(string.text, string.length, &days)) {
        result->null = false;
        result->number = days * CALENDAR_DAY_MICROSECONDS;
    }
}

/* The context is the zone of texts without an offset. */
static void read_instant(const struct string_call *call, const struct string_value *strings,
                         struct string_result *result)
{
    struct string_value string = strings[0];
    trim_blanks(&string);
    result->null = !bind_zoned_parse(call->context, string.text, string.length, &result->number);
}

static void read_boolean(const struct string_call *call, const struct string_value *strings,
                         struct string_result *result)
{
    static const char *const words[] = {"false", "f", "no", "n", "0", "true", "t", "yes", "y", "1"};
    struct string_value string = strings[0];
    (void)call;
    trim_blanks(&string);
    result->null = true;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strlen(words[w]) == string.length &&
            word_compare_bytes(words[w], string.text, string.length) == 0) {
            result->null = false;
            result->number = w >= 5;
        }
}

/* CASE WHEN the string is -2^63 THEN -2^63 ELSE what was read END */
static enum status choose_least(struct binder *binder, struct sql_position position,
                                const struct string_call *read, uint32_t string, uint32_t *node)
{
    struct string_call call = *read;
    uint32_t is_least, least;
    call.body = is_least_number;
    call.type = (struct value_type){.kind = VALUE_BOOLEAN};
    RETURN_IF_ERROR(bind_placed(
        binder, position, expression_string_call(binder->list, &call, &string, &is_least, binder->error)));
    RETURN_IF_ERROR(bind_integer(binder, INT64_MIN, 0, &least));
    return bind_apply(binder, position, EXPRESSION_CHOOSE, is_least, least, *node, node);
}

static enum status cast_string(struct binder *binder, const struct sql_expression *ast, enum cast_type type,
                               uint8_t scale, int64_t most, uint32_t *node)
{
    static string_call_body *const bodies[] = {
        [CAST_INTEGER] = read_number, [CAST_DECIMAL] = read_number,      [CAST_DOUBLE] = read_double,
        [CAST_DATE] = read_date,      [CAST_TIMESTAMP] = read_timestamp, [CAST_INSTANT] = read_instant,
        [CAST_BOOLEAN] = read_boolean};
    static const enum value_kind kinds[] = {
        [CAST_INTEGER] = VALUE_INTEGER, [CAST_DECIMAL] = VALUE_INTEGER,     [CAST_DOUBLE] = VALUE_DOUBLE,
        [CAST_DATE] = VALUE_DATE,       [CAST_TIMESTAMP] = VALUE_TIMESTAMP, [CAST_INSTANT] = VALUE_TIMESTAMP,
        [CAST_BOOLEAN] = VALUE_INTEGER};
    atomic_bool least = false;
    const struct string_call call = {.body = bodies[type],
                                     .type = {.kind = kinds[type],
                                              .scale = scale,
                                              .decimal = type == CAST_DECIMAL,
                                              .zoned = type == CAST_INSTANT},
                                     .numbers = {scale, type == CAST_INTEGER, most},
                                     .count = 1,
                                     .wide = true,
                                     .bounded = type == CAST_TIMESTAMP || type == CAST_INSTANT,
                                     .low = BIND_TIME_LEAST -
                                            CALENDAR_DAY_MICROSECONDS, /* by the clock of a zone */
                                     .high = BIND_TIME_MOST + CALENDAR_DAY_MICROSECONDS,
                                     .context = type == CAST_INSTANT ? (void *)binder->zone : &least,
                                     .release = type == CAST_INSTANT ? bind_keep_zone : NULL};
    uint32_t length, zero, string = *node;
    const char *const text = bind_literal_of(binder, *node, &length);
    RETURN_IF_ERROR(bind_placed(binder, ast->position,
                                expression_string_call(binder->list, &call, node, node, binder->error)));
    if (least)
        RETURN_IF_ERROR(choose_least(binder, ast->position, &call, string, node));
    if (text && bind_is_null(binder, *node) && !ast->distinct)
        return bind_refuse(binder, ast->position, "'%.*s' is no %s; TRY_CAST gives NULL for such strings",
                           (int)length, text, ast->name);
    if (type != CAST_BOOLEAN)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero));
    RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_LESS, zero, *node, EXPRESSION_NONE, node));
    return STATUS_OK;
}

/* ---- Numbers ---- */

static enum status cast_double(struct binder *binder, const struct sql_expression *ast,
                               enum row_function function, uint8_t scale, int64_t most, uint32_t *node)
{
    uint32_t unit, limit;
    RETURN_IF_ERROR(bind_double_constant(binder, (double)power_of_ten(scale), &unit));
    const struct value_type type = {.kind = VALUE_INTEGER, .scale = scale, .decimal = function == ROW_WHOLE};
    RETURN_IF_ERROR(expression_constant(binder->list, type, most, &limit, binder->error));
    return bind_row_call(binder, ast->position, function, 0, *node, unit, limit, node);
}

static enum status cast_integer(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    if (bind_kind(binder, *node) == VALUE_DOUBLE)
        return cast_double(binder, ast, ROW_CUT, 0, INT64_MAX, node);
    RETURN_IF_ERROR(bind_number_of(binder, ast->position, node));
    RETURN_IF_ERROR(bind_rounded(binder, ast->position, ROUND_CUT, 0, node));
    return value_is_decimal(bind_node(binder, *node)->type)
               ? bind_relabel(binder, ast->position, (struct value_type){.kind = VALUE_INTEGER}, node)
               : STATUS_OK;
}

static enum status cast_decimal(struct binder *binder, const struct sql_expression *ast, unsigned digits,
                                uint8_t scale, uint32_t *node)
{
    const int64_t most = power_of_ten(digits) - 1;
    if (bind_kind(binder, *node) == VALUE_DOUBLE)
        return cast_double(binder, ast, ROW_WHOLE, scale, most, node);
    RETURN_IF_ERROR(bind_number_of(binder, ast->position, node));
    if (bind_node(binder, *node)->type.scale > scale)
        RETURN_IF_ERROR(bind_rounded(binder, ast->position, ROUND_NEAREST, scale, node));
    else
        RETURN_IF_ERROR(bind_rescale(binder, ast->position, node, scale));
    if (!value_is_decimal(bind_node(binder, *node)->type))
        RETURN_IF_ERROR(bind_relabel(binder, ast->position,
                                     (struct value_type){.kind = VALUE_INTEGER, .decimal = true}, node));
    if (bind_node(binder, *node)->low < -most || bind_node(binder, *node)->high > most)
        return bind_refuse(
            binder, ast->position,
            "a value may have more digits than %s(%u,%u), going by the least and greatest values "
            "of its columns; write more digits, up to (18,%u)",
            ast->name, digits, (unsigned)scale, (unsigned)scale);
    return STATUS_OK;
}

static enum status cast_boolean(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    uint32_t zero;
    if (bind_kind(binder, *node) == VALUE_BOOLEAN)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_number_of(binder, ast->position, node));
    RETURN_IF_ERROR(
        expression_constant(binder->list, bind_node(binder, *node)->type, 0, &zero, binder->error));
    RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_EQUAL, *node, zero, EXPRESSION_NONE, node));
    return bind_negate(binder, ast->position, true, node);
}

/* ---- All ---- */

static enum status cast_time(struct binder *binder, const struct sql_expression *ast, enum cast_type type,
                             uint32_t *node)
{
    const enum value_kind kind = bind_kind(binder, *node);
    if (type == CAST_INSTANT && (kind == VALUE_DATE || kind == VALUE_TIMESTAMP))
        return bind_instant(binder, ast->position, node);
    if (bind_is_zoned(binder, *node))
        RETURN_IF_ERROR(bind_local_of(binder, ast->position, binder->zone, node));
    if (kind == VALUE_DATE && type == CAST_TIMESTAMP)
        return bind_timestamp_of_date(binder, ast->position, node);
    if (kind == VALUE_TIMESTAMP && type == CAST_DATE)
        return bind_apply(binder, ast->position, EXPRESSION_TO_DATE, *node, EXPRESSION_NONE, EXPRESSION_NONE,
                          node);
    if (kind == VALUE_DATE || kind == VALUE_TIMESTAMP)
        return STATUS_OK;
    return bind_refuse(binder, ast->position,
                       "%s cannot become a %s; make_date(year, month, day) makes dates", bind_kind_name(kind),
                       ast->name);
}

static enum status cast_null(struct binder *binder, enum cast_type type, uint8_t scale, uint32_t *node)
{
    static const enum value_kind kinds[] = {
        [CAST_INTEGER] = VALUE_INTEGER,   [CAST_DECIMAL] = VALUE_INTEGER, [CAST_DOUBLE] = VALUE_DOUBLE,
        [CAST_TEXT] = VALUE_STRING,       [CAST_DATE] = VALUE_DATE,       [CAST_TIMESTAMP] = VALUE_TIMESTAMP,
        [CAST_INSTANT] = VALUE_TIMESTAMP, [CAST_BOOLEAN] = VALUE_BOOLEAN};
    struct value_type made = {.kind = kinds[type],
                              .scale = type == CAST_DECIMAL ? scale : 0,
                              .decimal = type == CAST_DECIMAL,
                              .zoned = type == CAST_INSTANT};
    if (type == CAST_TEXT) { /* strings have a dictionary */
        RETURN_IF_ERROR(expression_string_constant(binder->list, "", 0, node, binder->error));
        made = bind_node(binder, *node)->type;
    }
    return expression_null(binder->list, made, node, binder->error);
}

enum status bind_cast(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                      uint32_t *node)
{
    const unsigned digits = ast->has_operand ? ast->index >> 8 : 18;
    const uint8_t scale = (uint8_t)(ast->has_operand ? ast->index & 255 : 3);
    size_t t = 0;
    while (t < sizeof types / sizeof *types && word_compare(types[t].name, ast->name) != 0)
        t++;
    if (t == sizeof types / sizeof *types)
        return bind_refuse(binder, ast->position,
                           "CAST knows INTEGER, BIGINT, DECIMAL(p,s), DOUBLE, VARCHAR, DATE, TIMESTAMP, "
                           "TIMESTAMPTZ and BOOLEAN, not %s",
                           ast->name);
    const enum cast_type type = types[t].type;
    if (type == CAST_DECIMAL && (digits < 1 || digits > 18 || scale > digits))
        return bind_refuse(binder, ast->position,
                           "%s has 1 to 18 digits, of which 0 to all are after the point", ast->name);
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, node));
    if (bind_is_untyped(binder, *node))
        return cast_null(binder, type, scale, node);
    if (type == CAST_TEXT)
        return bind_text(binder, ast->position, node);
    if (bind_kind(binder, *node) == VALUE_STRING)
        return cast_string(binder, ast, type, type == CAST_DECIMAL ? scale : 0,
                           type == CAST_DECIMAL ? power_of_ten(digits) - 1 : INT64_MAX, node);
    switch (type) {
    case CAST_INTEGER:
        return cast_integer(binder, ast, node);
    case CAST_DECIMAL:
        return cast_decimal(binder, ast, digits, scale, node);
    case CAST_DOUBLE:
        return bind_double(binder, ast->position, node);
    case CAST_BOOLEAN:
        return cast_boolean(binder, ast, node);
    default:
        return cast_time(binder, ast, type, node);
    }
}

/* ---- Names ---- */

const char *bind_type_name(struct value_type type)
{
    static const char *const names[] = {
        [VALUE_INTEGER] = "BIGINT",  [VALUE_DATE] = "DATE",      [VALUE_TIMESTAMP] = "TIMESTAMP",
        [VALUE_BOOLEAN] = "BOOLEAN", [VALUE_STRING] = "VARCHAR", [VALUE_DOUBLE] = "DOUBLE"};
    return type.zoned ? "TIMESTAMP WITH TIME ZONE" : names[type.kind];
}

enum status bind_typeof(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct value_type type = bind_node(binder, call->values[0])->type;
    char decimal[32];
    snprintf(decimal, sizeof decimal, "DECIMAL(18,%u)", type.scale);
    const char *const name = type.untyped ? "NULL" : value_is_decimal(type) ? decimal : bind_type_name(type);
    return expression_string_constant(binder->list, name, (uint32_t)strlen(name), node, binder->error);
}
