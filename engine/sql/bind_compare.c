/* engine/sql/bind_compare.c: comparisons, BETWEEN, IN and LIKE (engine/sql/bind_internal.h). */
#include "engine/sql/bind_internal.h"

#include <stdlib.h>

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
    const struct value_type type = bind_node(binder, value)->type;
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
    const uint8_t scale = bind_node(binder, value)->type.scale;
    const int64_t unit = power_of_ten(bind_node(binder, constant)->type.scale - scale);
    const int64_t whole = calendar_floor(bind_node(binder, constant)->constant, unit);
    const bool exact = whole * unit == bind_node(binder, constant)->constant;
    uint32_t cut;
    if (operation == EXPRESSION_EQUAL && !exact)
        return never(binder, value, node);
    RETURN_IF_ERROR(bind_integer(binder, whole, scale, &cut));
    if (!exact) /* value < c and value <= c: value <= floor(c);  c < value and c <= value: floor(c) < value */
        operation = turned ? EXPRESSION_LESS : EXPRESSION_LESS_EQUAL;
    return turned
               ? expression_apply(binder->list, operation, cut, value, EXPRESSION_NONE, node, binder->error)
               : expression_apply(binder->list, operation, value, cut, EXPRESSION_NONE, node, binder->error);
}

/* left OPERATION right, where the operation is EQUAL, LESS or LESS_EQUAL. */
enum status bind_compare(struct binder *binder, struct sql_position position,
                         enum expression_operation operation, uint32_t left, uint32_t right, uint32_t *node)
{
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
    uint32_t left, right;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &left));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &right));
    switch (ast->operation) {
    case SQL_LESS:
        return bind_compare(binder, ast->position, EXPRESSION_LESS, left, right, node);
    case SQL_LESS_EQUAL:
        return bind_compare(binder, ast->position, EXPRESSION_LESS_EQUAL, left, right, node);
    case SQL_GREATER:
        return bind_compare(binder, ast->position, EXPRESSION_LESS, right, left, node);
    case SQL_GREATER_EQUAL:
        return bind_compare(binder, ast->position, EXPRESSION_LESS_EQUAL, right, left, node);
    default:
        RETURN_IF_ERROR(bind_compare(binder, ast->position, EXPRESSION_EQUAL, left, right, node));
        return bind_negate(binder, ast->position, ast->operation == SQL_NOT_EQUAL, node);
    }
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

static int compare_values(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Constants of the value's own type become one set; what is none is compared by itself. */
enum status bind_in(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
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
            status = bind_compare(binder, ast->children[c]->position, EXPRESSION_EQUAL, value, item, &test);
        if (status != STATUS_OK)
            break;
        const struct expression *made = bind_node(binder, test);
        const bool plain = made->operation == EXPRESSION_EQUAL && made->child[0] == value &&
                           expression_is_constant(binder->list, made->child[1]) &&
                           made->type.kind != VALUE_DOUBLE && bind_kind(binder, value) != VALUE_DOUBLE;
        if (plain)
            set[count++] = bind_node(binder, made->child[1])->constant;
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
    return bind_negate(binder, ast->position, ast->negated, node);
}

enum status bind_like(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                      uint32_t *node)
{
    uint32_t value, pattern, escape, length = 0, escape_length = 0;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &value));
    RETURN_IF_ERROR(bind_expression(binder, ast->children[1], level, &pattern));
    if (bind_is_null(binder, value) || bind_is_null(binder, pattern))
        return expression_null(binder->list, (struct value_type){.kind = VALUE_BOOLEAN}, node, binder->error);
    if (bind_kind(binder, value) != VALUE_STRING)
        return bind_refuse(binder, ast->position, "LIKE needs a string on its left, not %s",
                           bind_kind_name(bind_kind(binder, value)));
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
    return bind_negate(binder, ast->position, ast->negated, node);
}
