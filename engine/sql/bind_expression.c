/*
 * bind_expression.c: binds inputs, operators and CASE, and calls the other files for the rest
 * (bind_internal.h).
 */
#include "engine/sql/bind_internal.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>

/* What is bound of a CASE: of each pair the condition and the value. A value, and the condition after it, is asked for where
 * the conditions before are not true. */
struct case_pair {
    uint32_t condition, value;
    struct expression_guard is_true, is_not;
};

static enum status bind_pairs(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                              uint32_t count, struct case_pair *pairs)
{
    const uint32_t first = ast->has_operand;
    const struct expression_guard **const guard = &binder->list->guard;
    uint32_t operand = EXPRESSION_NONE;
    if (ast->has_operand)
        RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &operand));
    for (uint32_t p = 0; p < count; p++) {
        const struct sql_expression *const when = ast->children[first + 2 * p],
                                           *const then = ast->children[first + 2 * p + 1];
        struct case_pair *const pair = &pairs[p];
        if (ast->has_operand) {
            uint32_t value;
            RETURN_IF_ERROR(bind_expression(binder, when, level, &value));
            RETURN_IF_ERROR(
                bind_compare(binder, when->position, EXPRESSION_EQUAL, operand, value, &pair->condition));
        } else {
            RETURN_IF_ERROR(bind_condition(binder, when, level, &pair->condition));
        }
        pair->is_true = (struct expression_guard){pair->condition, true, *guard};
        pair->is_not = (struct expression_guard){pair->condition, false, *guard};
        *guard = &pair->is_true;
        RETURN_IF_ERROR(bind_expression(binder, then, level, &pair->value));
        *guard = &pair->is_not;
    }
    return STATUS_OK;
}

static enum status bind_case(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                             uint32_t *node)
{
    const uint32_t first = ast->has_operand, end = ast->child_count - ast->has_else,
                   count = (end - first) / 2;
    const struct expression_guard *const outer = binder->list->guard;
    struct case_pair *pairs;
    RETURN_IF_ERROR(memory_zeros(&pairs, (count + 1ull) * sizeof *pairs, "a statement", binder->error));
    enum status status = bind_pairs(binder, ast, level, count, pairs);
    if (status == STATUS_OK)
        status = ast->has_else ? bind_expression(binder, ast->children[end], level, node)
                               : expression_null(binder->list, VALUE_UNTYPED, node, binder->error);
    binder->list->guard = outer;
    for (uint32_t p = count; status == STATUS_OK && p-- > 0;) { /* the last pair is the innermost */
        const struct sql_position position = ast->children[first + 2 * p + 1]->position;
        status = bind_alike(binder, position, &pairs[p].value, node);
        status = AND_THEN(status, bind_apply(binder, ast->position, EXPRESSION_CHOOSE, pairs[p].condition,
                                             pairs[p].value, *node, node));
    }
    free(pairs);
    return status;
}

enum status bind_below(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const struct expression_guard *const guard = binder->list->guard;
    binder->list->guard = NULL;
    const enum status status = bind_expression(binder, ast, BIND_BELOW, node);
    binder->list->guard = guard;
    return status;
}

/* ---- Conditions ---- */

enum status bind_condition(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                           uint32_t *node)
{
    uint32_t zero, equal;
    RETURN_IF_ERROR(bind_expression(binder, ast, level, node));
    if (bind_is_untyped(binder, *node))
        return expression_null(binder->list, (struct value_type){.kind = VALUE_BOOLEAN}, node, binder->error);
    if (bind_kind(binder, *node) == VALUE_BOOLEAN)
        return STATUS_OK;
    if (bind_kind(binder, *node) != VALUE_INTEGER)
        return bind_refuse(binder, ast->position, "this needs a condition, not %s",
                           bind_kind_name(bind_kind(binder, *node)));
    RETURN_IF_ERROR(bind_integer(binder, 0, bind_node(binder, *node)->type.scale, &zero));
    RETURN_IF_ERROR(
        bind_apply(binder, ast->position, EXPRESSION_EQUAL, *node, zero, EXPRESSION_NONE, &equal));
    return bind_apply(binder, ast->position, EXPRESSION_NOT, equal, EXPRESSION_NONE, EXPRESSION_NONE, node);
}

/* A longer chain of ANDs or ORs is split into halves, because a chain is as deep as it is long and some
 * functions recurse over expressions. */
#define CHAIN_MAX 64u

/* Binds children first .. first + count - 1 of a chain. */
static enum status bind_chain(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                              uint32_t first, uint32_t count, uint32_t *node)
{
    const enum expression_operation operation = ast->operation == SQL_AND ? EXPRESSION_AND : EXPRESSION_OR;
    uint32_t next;
    if (count > CHAIN_MAX) {
        RETURN_IF_ERROR(bind_chain(binder, ast, level, first, count / 2, node));
        RETURN_IF_ERROR(bind_chain(binder, ast, level, first + count / 2, count - count / 2, &next));
        return bind_apply(binder, ast->position, operation, *node, next, EXPRESSION_NONE, node);
    }
    RETURN_IF_ERROR(bind_condition(binder, ast->children[first], level, node));
    for (uint32_t c = first + 1; c < first + count; c++) {
        RETURN_IF_ERROR(bind_condition(binder, ast->children[c], level, &next));
        RETURN_IF_ERROR(bind_apply(binder, ast->position, operation, *node, next, EXPRESSION_NONE, node));
    }
    return STATUS_OK;
}

/* True if a group's expression may be a ||, which is a look-up: else there is no need to make its table. */
static bool groups_by_text(const struct binder *binder)
{
    bool any = false;
    for (uint32_t g = 0; g < binder->plan->grouping.listed; g++)
        any |= bind_node(binder, binder->groups[g].node)->operation == EXPRESSION_LOOKUP;
    return any;
}

/* Finds an expression that is a group's expression, whose value is that of the group, or a constant. */
static enum status find_group(struct binder *binder, const struct sql_expression *ast, bool *found,
                              uint32_t *node)
{
    *found = false;
    if (sql_has_aggregate(ast))
        return STATUS_OK;
    uint32_t below;
    if (ast->operation == SQL_CONCAT && !groups_by_text(binder))
        return STATUS_OK;
    RETURN_IF_ERROR(bind_below(binder, ast, &below));
    /* A constant that a grouping set leaves out is NULL. */
    *found = bind_node(binder, below)->operation == EXPRESSION_CONSTANT && binder->select->set_count == 0;
    *node = below;
    const uint32_t term = bind_listed_term(binder, ast, below);
    if (!*found && term < binder->plan->grouping.listed) {
        *found = true;
        return bind_group_leaf(binder, term, node);
    }
    if (!*found)
        RETURN_IF_ERROR(bind_wide_value(binder, ast->position, below, found, node));
    *found |= bind_node(binder, below)->operation == EXPRESSION_CONSTANT;
    return STATUS_OK;
}

static enum status bind_operation(struct binder *binder, const struct sql_expression *ast,
                                  enum bind_level level, uint32_t *node)
{
    if (level == BIND_ABOVE) {
        bool found;
        RETURN_IF_ERROR(find_group(binder, ast, &found, node));
        if (found)
            return STATUS_OK;
    }
    switch (ast->operation) {
    case SQL_COLUMN: /* all others are inputs */
        return functions_current_time(binder, ast, node);
    case SQL_INPUT:
        return level == BIND_BELOW
                   ? bind_input(binder, ast, node)
                   : bind_refuse(binder, ast->position, "this is neither a group nor inside an aggregate");
    case SQL_STAR:
        return bind_refuse(binder, ast->position, "* stands alone in a select list or in count(*)");
    case SQL_NEGATE:
        RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, node));
        RETURN_IF_ERROR(bind_number_of(binder, ast->position, node));
        return bind_apply(binder, ast->position, EXPRESSION_NEGATE, *node, EXPRESSION_NONE, EXPRESSION_NONE,
                          node);
    case SQL_NOT:
        RETURN_IF_ERROR(bind_condition(binder, ast->children[0], level, node));
        return bind_negate(binder, ast->position, true, node);
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
        return bind_chain(binder, ast, level, 0, ast->child_count, node);
    case SQL_BETWEEN:
        return bind_between(binder, ast, level, node);
    case SQL_IN:
        return bind_in(binder, ast, level, node);
    case SQL_LOOKUP:
        return bind_lookup(binder, ast, level, node);
    case SQL_LIKE:
        return bind_like(binder, ast, level, node);
    case SQL_MATCHES:
        return bind_matches(binder, ast, level, node);
    case SQL_IS_TRUTH:
    case SQL_IS_DISTINCT:
        return bind_is(binder, ast, level, node);
    case SQL_CONCAT:
        return bind_concat_operator(binder, ast, level, node);
    case SQL_IS_NULL:
        RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, node));
        RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_IS_NULL, *node, EXPRESSION_NONE,
                                   EXPRESSION_NONE, node));
        return bind_negate(binder, ast->position, ast->negated, node);
    case SQL_CASE:
        return bind_case(binder, ast, level, node);
    case SQL_EXTRACT:
        return bind_extract(binder, ast, level, node);
    case SQL_CAST:
        return bind_cast(binder, ast, level, node);
    case SQL_FUNCTION:
        return bind_function(binder, ast, level, node);
    case SQL_SUBQUERY:
    case SQL_EXISTS:
        return bind_refuse(binder, ast->position,
                           "a subquery cannot stand here"); /* they are answered first */
    case SQL_NULL:
    case SQL_NUMBER:
    case SQL_STRING:
    case SQL_DATE:
    case SQL_TIMESTAMP:
    case SQL_INTERVAL:
    case SQL_TRUE:
    case SQL_FALSE:
    case SQL_PARAMETER:
        break;
    }
    return bind_literal(binder, ast, node);
}

enum status bind_expression(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                            uint32_t *node)
{
    if (bind_is_literal(ast))
        return bind_literal(binder, ast, node);
    RETURN_IF_ERROR(cancel_check(binder->error));
    if (binder->depth > SQL_TREE_DEPTH_MAX)
        return bind_refuse(binder, ast->position,
                           "an expression with what it names is more than %u operators deep; use fewer",
                           SQL_TREE_DEPTH_MAX);
    binder->depth++;
    const enum status status = bind_operation(binder, ast, level, node);
    binder->depth--;
    return status;
}
