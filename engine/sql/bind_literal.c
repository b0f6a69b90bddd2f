/* bind_literal.c: makes constants from text (bind_internal.h). */
#include "engine/sql/functions/functions.h"
#include "storage/base/calendar_text.h"
#include "storage/base/number/number_text.h"
#include "storage/base/words/word.h"

#include <string.h>

bool bind_date_parse(const char *text, size_t length, int64_t *days)
{
    const char *const end = text + length;
    return !calendar_parse_date(&text, end, days) && text == end;
}

bool bind_timestamp_parse(const char *text, size_t length, int64_t *microseconds)
{
    const char *const end = text + length, *const point = memchr(text, '.', length), *digit = point;
    while (digit && ++digit < end && *digit >= '0' && *digit <= '9')
        ;
    return !calendar_parse_timestamp(text, end, microseconds) &&
           (!point || digit - point <= 7); /* at most six digits after the point */
}

/* Gives "12" or "12.50" as digits and scale; a number with an exponent is a double. */
static enum status number_value(const struct binder *binder, const struct sql_expression *ast, bool negative,
                                struct sql_parameter *number)
{
    __int128 value = 0;
    uint32_t scale = 0;
    if (strpbrk(ast->text, "eE")) {
        const double real = negative ? -number_parse(ast->text, NULL) : number_parse(ast->text, NULL);
        number->type.kind = VALUE_DOUBLE;
        number->value = double_key_of(real);
        return STATUS_OK;
    }
    const char *const point = strchr(ast->text, '.');
    for (const char *c = ast->text; *c && value <= INT64_MAX && scale <= 18; c++)
        if (*c != '.') {
            value = value * 10 + (*c - '0');
            scale += point && c > point;
        }
    if (value > (__int128)INT64_MAX + negative || scale > 18)
        return bind_refuse(
            binder, ast->position,
            "the number %.100s does not fit: numbers have 64 bits, whole ones up to "
            "9223372036854775807, and up to 18 digits behind the point; write fewer digits, or an "
            "exponent for a floating-point number (1e30)",
            ast->text);
    number->type =
        (struct value_type){.kind = VALUE_INTEGER, .scale = (uint8_t)scale, .decimal = point != NULL};
    number->value = (int64_t)(negative ? -value : value);
    return STATUS_OK;
}

static enum status parameter_value(const struct binder *binder, uint32_t index, struct sql_parameter *value)
{
    static const struct sql_parameter null = {.is_null = true, .type = {.untyped = true}};
    *value = index < binder->parameter_count ? binder->parameters[index] : null;
    return STATUS_OK;
}

bool bind_is_literal(const struct sql_expression *ast)
{
    return ast->operation <= SQL_PARAMETER ||
           (ast->operation == SQL_NEGATE && ast->children[0]->operation == SQL_NUMBER);
}

enum status bind_literal_value(const struct binder *binder, const struct sql_expression *ast,
                               struct sql_parameter *value)
{
    const bool negative = ast->operation == SQL_NEGATE;
    const size_t length = ast->text ? strlen(ast->text) : 0;
    *value = (struct sql_parameter){.type = {.kind = VALUE_INTEGER}};
    if (negative || ast->operation == SQL_NUMBER)
        return number_value(binder, negative ? ast->children[0] : ast, negative, value);
    if (ast->operation == SQL_PARAMETER)
        return parameter_value(binder, ast->index, value);
    if (ast->operation == SQL_STRING) {
        value->type = (struct value_type){.kind = VALUE_STRING, .literal = true};
        value->string = ast->text;
        value->length = (uint32_t)length;
    } else if (ast->operation == SQL_TRUE || ast->operation == SQL_FALSE) {
        value->type.kind = VALUE_BOOLEAN;
        value->value = ast->operation == SQL_TRUE;
    } else if (ast->operation == SQL_DATE) {
        value->type.kind = VALUE_DATE;
        if (!bind_date_parse(ast->text, length, &value->value))
            return bind_refuse(binder, ast->position, "'%s' is no date; write DATE 'YYYY-MM-DD'", ast->text);
    } else if (ast->operation == SQL_TIMESTAMP) {
        value->type.kind = VALUE_TIMESTAMP;
        if (!bind_timestamp_parse(ast->text, length, &value->value))
            return bind_refuse(binder, ast->position,
                               "'%s' is no time; write TIMESTAMP 'YYYY-MM-DD HH:MM:SS'", ast->text);
    } else if (ast->operation == SQL_INTERVAL) {
        return bind_refuse(binder, ast->position,
                           "an INTERVAL stands alone; add it to a date or timestamp, or subtract it");
    } else {
        value->is_null = true;
        value->type = VALUE_UNTYPED;
    }
    return STATUS_OK;
}

enum status bind_value(struct binder *binder, struct sql_position position, const struct sql_parameter *value,
                       uint32_t *node)
{
    if (value->is_null && value->type.kind == VALUE_STRING)
        return bind_null_string(binder, node);
    if (value->is_null)
        return expression_null(binder->list, value->type, node, binder->error);
    if (value->type.kind == VALUE_STRING) {
        RETURN_IF_ERROR(
            expression_string_constant(binder->list, value->string, value->length, node, binder->error));
        struct value_type type = bind_node(binder, *node)->type;
        type.literal = value->type.literal;
        return expression_constant(binder->list, type, 0, node, binder->error);
    }
    return bind_placed(binder, position,
                       expression_constant(binder->list, value->type, value->value, node, binder->error));
}

enum status bind_literal(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    struct sql_parameter value;
    RETURN_IF_ERROR(bind_literal_value(binder, ast, &value));
    return bind_value(binder, ast->position, &value, node);
}

const char *bind_string_of(const struct binder *binder, uint32_t node, uint32_t *length)
{
    const struct expression *constant = &binder->list->nodes[node];
    if (constant->type.kind == VALUE_STRING && bind_may_be_constant(binder, node)) {
        *length = 0; /* the value does not change the type */
        return "";
    }
    if (constant->operation != EXPRESSION_CONSTANT || constant->is_null ||
        constant->type.kind != VALUE_STRING)
        return NULL;
    return dictionary_string(constant->type.dictionary, constant->constant, length);
}

const char *bind_literal_of(const struct binder *binder, uint32_t node, uint32_t *length)
{
    return bind_node(binder, node)->type.literal ? bind_string_of(binder, node, length) : NULL;
}

enum status bind_date_of_string(struct binder *binder, uint32_t *node)
{
    uint32_t length;
    int64_t days;
    const char *const text = bind_literal_of(binder, *node, &length);
    return text && bind_date_parse(text, length, &days)
               ? expression_constant(binder->list, (struct value_type){.kind = VALUE_DATE}, days, node,
                                     binder->error)
               : STATUS_OK;
}

/* True if the text is digits, maybe with a point and an exponent, as SQL writes numbers. */
static bool is_number_text(const char *text)
{
    const size_t whole = strspn(text, "0123456789"), point = text[whole] == '.';
    const size_t digits = whole + strspn(text + whole + point, "0123456789");
    text += digits + point;
    if (digits && (*text == 'e' || *text == 'E')) {
        text += 1 + (text[1] == '+' || text[1] == '-');
        return *text && text[strspn(text, "0123456789")] == '\0';
    }
    return digits && !*text;
}

/* Longer texts might not fit 64 bits; they stay strings. */
#define STRING_NUMBER_DIGITS 18u

static enum status number_of_string(struct binder *binder, const char *text, uint32_t *node)
{
    const bool negative = *text == '-';
    const struct sql_expression written = {.operation = SQL_NUMBER, .text = text + negative};
    struct sql_parameter number = {0};
    if (!is_number_text(written.text) || strlen(text) > STRING_NUMBER_DIGITS)
        return STATUS_OK;
    RETURN_IF_ERROR(number_value(binder, &written, negative, &number));
    return expression_constant(binder->list, number.type, number.value, node, binder->error);
}

enum status bind_value_of_string(struct binder *binder, uint32_t beside, uint32_t *node)
{
    const struct value_type type = bind_node(binder, beside)->type;
    char copy[64];
    uint32_t length;
    const char *const text = bind_literal_of(binder, *node, &length);
    if (!text || length == 0 || length >= sizeof copy || bind_is_untyped(binder, beside))
        return STATUS_OK;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (type.kind == VALUE_INTEGER || type.kind == VALUE_DOUBLE)
        return number_of_string(binder, copy, node);
    const bool is_true = word_compare(copy, "true") == 0;
    return type.kind == VALUE_BOOLEAN && (is_true || word_compare(copy, "false") == 0)
               ? expression_constant(binder->list, (struct value_type){.kind = VALUE_BOOLEAN}, is_true, node,
                                     binder->error)
               : STATUS_OK;
}

enum status bind_row_count(struct binder *binder, const struct sql_expression *ast, uint64_t *count)
{
    uint32_t node;
    RETURN_IF_ERROR(bind_expression(binder, ast, BIND_BELOW, &node));
    const struct expression *const made = bind_node(binder, node);
    if (made->operation != EXPRESSION_CONSTANT || made->is_null || made->type.kind != VALUE_INTEGER ||
        made->type.scale || made->constant < 0)
        return bind_refuse(binder, ast->position, "LIMIT and OFFSET take whole numbers from 0");
    *count = (uint64_t)made->constant;
    return STATUS_OK;
}
