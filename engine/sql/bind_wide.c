/*
 * bind_wide.c: terms of GROUP BY whose values may be any of 64 bits (bind_internal.h). A group's number has a place for
 * each value from the least to the greatest one, and one for NULL; 2^64 of them have no place. So such a term becomes two,
 * x / 2^32 and x % 2^32, whose order is that of x, and its value is put together again above the groups.
 */
#include "engine/sql/bind_internal.h"
#include "storage/base/memory.h"

#define HALF (INT64_C(1) << 32)

bool bind_is_wide(const struct binder *binder, uint32_t node)
{
    const struct expression *const made = bind_node(binder, node);
    return binder->select->set_count == 0 && made->type.kind == VALUE_INTEGER &&
           plan_group_domain(made->low, made->high, made->nullable) == 0;
}

enum status bind_wide_term(struct binder *binder, const struct sql_expression *ast, uint32_t node)
{
    static const enum expression_operation operations[] = {EXPRESSION_DIVIDE, EXPRESSION_REMAINDER};
    struct bind_wide wide = {.node = node};
    uint32_t half, made;
    RETURN_IF_ERROR(memory_grow(&binder->wide, (binder->wide_count + 1) * sizeof *binder->wide, "a statement",
                                binder->error));
    RETURN_IF_ERROR(bind_integer(binder, HALF, 0, &half));
    for (int i = 0; i < 2; i++) {
        RETURN_IF_ERROR(bind_apply(binder, ast->position, operations[i], node, half, EXPRESSION_NONE, &made));
        RETURN_IF_ERROR(bind_group_term(binder, ast->position, made, &wide.terms[i]));
        binder->groups[wide.terms[i]].tree = ast;
    }
    binder->wide[binder->wide_count++] = wide;
    return STATUS_OK;
}

enum status bind_group_leaf(struct binder *binder, uint32_t term, uint32_t *node)
{
    struct expression leaf = *bind_node(binder, binder->groups[term].node);
    leaf.operation = EXPRESSION_GROUP;
    leaf.children = 0;
    leaf.index = term;
    leaf.table = leaf.field = 0;
    leaf.nullable = true;
    return expression_add(binder->list, &leaf, node, binder->error);
}

enum status bind_wide_value(struct binder *binder, struct sql_position position, uint32_t below, bool *found,
                            uint32_t *node)
{
    uint32_t w = 0, high, low, half;
    while (w < binder->wide_count && binder->wide[w].node != below)
        w++;
    *found = w < binder->wide_count;
    if (!*found)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_group_leaf(binder, binder->wide[w].terms[0], &high));
    RETURN_IF_ERROR(bind_group_leaf(binder, binder->wide[w].terms[1], &low));
    RETURN_IF_ERROR(bind_integer(binder, HALF, 0, &half));
    RETURN_IF_ERROR(bind_apply(binder, position, EXPRESSION_MULTIPLY, high, half, EXPRESSION_NONE, &high));
    return bind_apply(binder, position, EXPRESSION_ADD, high, low, EXPRESSION_NONE, node);
}
