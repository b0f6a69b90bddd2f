/* bind_compare.c: binds comparisons, BETWEEN and LIKE (bind_internal.h). */
#include "engine/plan/functions/string_call.h"
#include "engine/plan/functions/text_call.h"
#include "engine/sql/bind_internal.h"

/* A condition that is never true: false, or NULL if the value is NULL. */
static enum status never(struct binder *binder, uint32_t value, uint32_t *node)
{
    return expression_in_set(binder->list, value, NULL, 0, node, binder->error);
}

/* Compares a string column with a constant by codes: dictionaries are sorted, so the constant's place in the
 * column's dictionary decides. `turned`: the constant is on the left. */
static enum status compare_string(struct binder *binder, enum expression_operation operation, uint32_t value,
                                  const char *text, uint32_t length, bool turned, uint32_t *node)
{
    const struct value_type type = bind_node(binder, value)->type;
    const int64_t below = dictionary_lower_bound(type.dictionary, text, length);
    const bool found = dictionary_find(type.dictionary, text, length) >= 0;
    uint32_t place;
    if (operation == EXPRESSION_EQUAL && !found)
        return never(binder, value, node);
    /* `below` is the number of strings that are less than the constant, `found` is 1 if it is in the
     * dictionary:
     *
     *     value < text     code < below              text < value     code >= below + found
     *     value <= text    code < below + found      text <= value    code >= below
     */
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

/* Compares a number with a constant of a larger scale: the constant is rounded down to the number's scale, so
 * that a column is compared as it is stored. */
static enum status compare_decimals(struct binder *binder, enum expression_operation operation,
                                    uint32_t value, uint32_t constant, bool turned, uint32_t *node)
{
    const uint8_t scale = bind_node(binder, value)->type.scale;
    const int64_t unit = power_of_ten(bind_node(binder, constant)->type.scale - scale);
    const int64_t whole = calendar_floor(bind_node(binder, constant)->constant, unit);
    const bool exact = bind_node(binder, constant)->constant % unit == 0;
    uint32_t cut;
    if (operation == EXPRESSION_EQUAL && !exact)
        return never(binder, value, node);
    RETURN_IF_ERROR(bind_integer(binder, whole, scale, &cut));
    /* If c is not whole: value < c and value <= c are value <= floor(c); c < value and c <= value are
     * floor(c) < value. */
    if (!exact)
        operation = turned ? EXPRESSION_LESS : EXPRESSION_LESS_EQUAL;
    return turned
               ? expression_apply(binder->list, operation, cut, value, EXPRESSION_NONE, node, binder->error)
               : expression_apply(binder->list, operation, value, cut, EXPRESSION_NONE, node, binder->error);
}

/* Compares strings of which some have no code: by a number that says their order. */
static enum status compare_texts(struct binder *binder, enum expression_operation operation, uint32_t left,
                                 uint32_t right, uint32_t *node)
{
    const struct string_call call = {
        .body = string_order, .type = {.kind = VALUE_INTEGER}, .count = 2, .total = true};
    const uint32_t strings[] = {left, right};
    uint32_t zero;
    RETURN_IF_ERROR(expression_string_call(binder->list, &call, strings, node, binder->error));
    RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero));
    return expression_apply(binder->list, operation, *node, zero, EXPRESSION_NONE, node, binder->error);
}

enum status bind_compare(struct binder *binder, struct sql_position position,
                         enum expression_operation operation, uint32_t left, uint32_t right, uint32_t *node)
{
    RETURN_IF_ERROR(bind_value_of_string(binder, left, &right));
    RETURN_IF_ERROR(bind_value_of_string(binder, right, &left));
    if (bind_kind(binder, left) == VALUE_STRING && bind_kind(binder, right) == VALUE_STRING &&
        (is_run_time(bind_node(binder, left)->type) || is_run_time(bind_node(binder, right)->type)))
        return compare_texts(binder, operation, left, right, node);
    for (int turned = 0; turned < 2; turned++) {
        const uint32_t value = turned ? right : left, constant = turned ? left : right;
        uint32_t length;
        const char *text = bind_string_of(binder, constant, &length);
        if (bind_kind(binder, value) == VALUE_STRING && text)
            return compare_string(binder, operation, value, text, length, turned, node);
        if (bind_kind(binder, value) == VALUE_INTEGER && bind_kind(binder, constant) == VALUE_INTEGER &&
            expression_is_constant(binder->list, constant) &&
            bind_node(binder, constant)->type.scale > bind_node(binder, value)->type.scale)
            return compare_decimals(binder, operation, value, constant, turned, node);
    }
    RETURN_IF_ERROR(bind_alike(binder, position, &left, &right));
    return bind_apply(binder, position, operation, left, right, EXPRESSION_NONE, node);
}

enum status bind_comparison(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                            uint32_t *node)
{
    const bool turned = ast->operation == SQL_GREATER || ast->operation == SQL_GREATER_EQUAL;
    const enum expression_operation operation =
        ast->operation == SQL_EQUAL || ast->operation == SQL_NOT_EQUAL ? EXPRESSION_EQUAL
        : ast->operation == SQL_LESS || ast->operation == SQL_GREATER  ? EXPRESSION_LESS
                                                                       : EXPRESSION_LESS_EQUAL;
    uint32_t left, right;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &left));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &right));
    RETURN_IF_ERROR(
        bind_compare(binder, ast->position, operation, turned ? right : left, turned ? left : right, node));
    return bind_negate(binder, ast->position, ast->operation == SQL_NOT_EQUAL, node);
}

enum status bind_between(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                         uint32_t *node)
{
    uint32_t value, low, high, above, below;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &value));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &low));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[2], level, &high));
    RETURN_IF_ERROR(bind_compare(binder, ast->position, EXPRESSION_LESS_EQUAL, low, value, &above));
    RETURN_IF_ERROR(bind_compare(binder, ast->position, EXPRESSION_LESS_EQUAL, value, high, &below));
    RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_AND, above, below, EXPRESSION_NONE, node));
    return bind_negate(binder, ast->position, ast->negated, node);
}
