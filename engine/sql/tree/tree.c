/* tree.c: see tree.h. */
#include "engine/sql/tree/tree.h"

#include <string.h>

enum status sql_tree_take(struct sql_statement_tree *tree, size_t bytes, void *memory, struct error *error)
{
    void *const made = sql_tree_memory(tree, bytes);
    memcpy(memory, &made, sizeof made);
    return made ? STATUS_OK : error_out_of_memory(error, bytes, "a statement");
}

enum status sql_tree_node(struct sql_statement_tree *tree, enum sql_operation operation,
                          struct sql_position position, struct sql_expression **node, struct error *error)
{
    RETURN_IF_ERROR(sql_tree_take(tree, sizeof **node, node, error));
    (*node)->operation = operation;
    (*node)->position = position;
    (*node)->depth = 1;
    return STATUS_OK;
}

enum status sql_tree_child(struct sql_statement_tree *tree, struct sql_expression *node,
                           struct sql_expression *child, struct error *error)
{
    node->depth = child->depth < node->depth ? node->depth : child->depth + 1;
    return sql_tree_append(tree, &node->children, &node->child_count, sizeof child, &child, error);
}

enum status sql_tree_column(struct sql_statement_tree *tree, struct sql_position position,
                            const char *qualifier, const char *name, struct sql_expression **node,
                            struct error *error)
{
    RETURN_IF_ERROR(sql_tree_node(tree, SQL_COLUMN, position, node, error));
    (*node)->qualifier = qualifier;
    (*node)->name = name;
    return STATUS_OK;
}

static enum status rewrite_children(struct sql_statement_tree *tree, const struct sql_expression *from,
                                    sql_replace *replace, void *context, struct sql_expression **out,
                                    struct error *error)
{
    struct sql_expression *copy = NULL;
    for (uint32_t c = 0; c < from->child_count; c++) {
        struct sql_expression *child;
        RETURN_IF_ERROR(sql_tree_rewrite(tree, from->children[c], replace, context, &child, error));
        if (child == from->children[c])
            continue;
        if (!copy) {
            RETURN_IF_ERROR(sql_tree_take(tree, sizeof *copy, &copy, error));
            *copy = *from;
            RETURN_IF_ERROR(
                sql_tree_take(tree, from->child_count * sizeof *copy->children, &copy->children, error));
            memcpy(copy->children, from->children, from->child_count * sizeof *copy->children);
        }
        copy->children[c] = child;
    }
    *out = copy ? copy : (struct sql_expression *)from;
    return STATUS_OK;
}

enum status sql_tree_rewrite(struct sql_statement_tree *tree, const struct sql_expression *from,
                             sql_replace *replace, void *context, struct sql_expression **out,
                             struct error *error)
{
    *out = NULL;
    if (!from)
        return STATUS_OK;
    RETURN_IF_ERROR(replace(context, from, out));
    return *out ? STATUS_OK : rewrite_children(tree, from, replace, context, out, error);
}

enum sql_operation sql_turned(enum sql_operation operation)
{
    switch (operation) {
    case SQL_LESS:
        return SQL_GREATER;
    case SQL_LESS_EQUAL:
        return SQL_GREATER_EQUAL;
    case SQL_GREATER:
        return SQL_LESS;
    case SQL_GREATER_EQUAL:
        return SQL_LESS_EQUAL;
    default:
        return operation;
    }
}
