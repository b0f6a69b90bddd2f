/* tree.c: makes trees from a statement's tree (query_internal.h). What is not changed is shared with it. */
#include "engine/library/query/query_internal.h"

#include <string.h>

enum status query_memory(struct query *query, size_t bytes, void *memory)
{
    return sql_tree_take(query->tree, bytes, memory, query->error);
}

const char *query_text(struct query *query, const char *text)
{
    char *const copy = sql_tree_memory(query->tree, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

enum status query_node(struct query *query, enum sql_operation operation, struct sql_position position,
                       struct sql_expression **node)
{
    return sql_tree_node(query->tree, operation, position, node, query->error);
}

enum status query_column_node(struct query *query, struct sql_position position, const char *qualifier,
                              const char *name, struct sql_expression **node)
{
    return sql_tree_column(query->tree, position, qualifier, name, node, query->error);
}

enum status query_child(struct query *query, struct sql_expression *node, struct sql_expression *child)
{
    return sql_tree_child(query->tree, node, child, query->error);
}

enum status query_item(struct query *query, struct sql_select *select, struct sql_expression *expression,
                       const char *alias)
{
    const struct sql_item item = {.expression = expression, .alias = alias, .text = alias ? alias : ""};
    return sql_tree_append(query->tree, &select->items, &select->item_count, sizeof item, &item,
                           query->error);
}

enum status query_and(struct query *query, struct sql_expression **all, struct sql_expression *condition)
{
    struct sql_expression *node = *all;
    if (!*all) {
        *all = condition;
        return STATUS_OK;
    }
    if ((*all)->operation != SQL_AND || !(*all)->index) { /* one that was not made here is shared */
        RETURN_IF_ERROR(query_node(query, SQL_AND, condition->position, &node));
        node->index = 1;
        RETURN_IF_ERROR(query_child(query, node, *all));
        *all = node;
    }
    return query_child(query, node, condition);
}

/* ---- Visits ---- */

void query_visit(const struct sql_expression *tree,
                 void (*visit)(void *context, const struct sql_expression *), void *context)
{
    if (!tree)
        return;
    visit(context, tree);
    for (uint32_t c = 0; c < tree->child_count; c++)
        query_visit(tree->children[c], visit, context);
    if (!tree->window)
        return;
    for (uint32_t p = 0; p < tree->window->partition_count; p++)
        query_visit(tree->window->partitions[p], visit, context);
    for (uint32_t o = 0; o < tree->window->order_count; o++)
        query_visit(tree->window->orders[o].expression, visit, context);
}

void query_visit_all(const struct sql_select *select,
                     void (*visit)(void *context, const struct sql_expression *), void *context)
{
    for (uint32_t i = 0; i < select->item_count; i++)
        query_visit(select->items[i].expression, visit, context);
    for (uint32_t s = 0; s < select->source_count; s++)
        query_visit(select->sources[s].on, visit, context);
    query_visit(select->where, visit, context);
    for (uint32_t g = 0; g < select->group_count; g++)
        query_visit(select->groups[g], visit, context);
    query_visit(select->having, visit, context);
    query_visit(select->qualify, visit, context);
    for (uint32_t o = 0; o < select->order_count; o++)
        query_visit(select->orders[o].expression, visit, context);
    for (uint32_t w = 0; w < select->window_count; w++) {
        const struct sql_expression over = {.window = select->windows[w].window};
        query_visit(&over, visit, context);
    }
}

enum status query_rewrite(struct query *query, const struct sql_expression *tree, sql_replace *replace,
                          void *context, struct sql_expression **out)
{
    return sql_tree_rewrite(query->tree, tree, replace, context, out, query->error);
}

/* ---- Values ---- */

enum status query_value_node(struct query *query, struct sql_position position,
                             const struct rowset_column *column, uint64_t row, struct sql_expression **node)
{
    const bool null = row == RELATION_NO_ROW || (column->nulls && column->nulls[row]);
    struct sql_parameter value = {
        .is_null = null, .type = column->type, .value = null ? 0 : column->values[row]};
    value.type.literal = false; /* in the subquery it may have been one */
    if (column->type.kind == VALUE_STRING && !null)
        value.string = dictionary_string(column->type.dictionary, value.value, &value.length);
    RETURN_IF_ERROR(query_node(query, SQL_PARAMETER, position, node));
    (*node)->index = query->parameter_count;
    return sql_tree_append(query->tree, &query->parameters, &query->parameter_count, sizeof value, &value,
                           query->error);
}
