/* parts.c: see rewrite.h. */
#include "engine/logical/rewrite/rewrite.h"

#include <string.h>

/* ---- Conditions ---- */

enum status rewrite_add(struct rewriter *rewriter, struct sql_expression *condition,
                        struct conjuncts *conjuncts)
{
    return sql_tree_append(rewriter->tree->arena, &conjuncts->list, &conjuncts->count, sizeof condition,
                           &condition, rewriter->error);
}

enum status rewrite_split(struct rewriter *rewriter, struct sql_expression *condition,
                          struct conjuncts *conjuncts)
{
    if (!condition)
        return STATUS_OK;
    if (condition->operation != SQL_AND)
        return rewrite_add(rewriter, condition, conjuncts);
    for (uint32_t c = 0; c < condition->child_count; c++)
        RETURN_IF_ERROR(rewrite_split(rewriter, condition->children[c], conjuncts));
    return STATUS_OK;
}

enum status rewrite_join(struct rewriter *rewriter, const struct conjuncts *conjuncts,
                         struct sql_expression **condition)
{
    struct sql_statement_tree *const arena = rewriter->tree->arena;
    *condition = conjuncts->count ? conjuncts->list[0] : NULL;
    if (conjuncts->count < 2)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_node(arena, SQL_AND, conjuncts->list[0]->position, condition, rewriter->error));
    for (uint32_t c = 0; c < conjuncts->count; c++)
        RETURN_IF_ERROR(sql_tree_child(arena, *condition, conjuncts->list[c], rewriter->error));
    return STATUS_OK;
}

enum status rewrite_filter(struct rewriter *rewriter, const struct conjuncts *conjuncts,
                           struct logical_node **node)
{
    struct sql_expression *condition;
    RETURN_IF_ERROR(rewrite_join(rewriter, conjuncts, &condition));
    return condition ? logical_filter(rewriter->tree, condition, node, rewriter->error) : STATUS_OK;
}

bool rewrite_never_fails(const struct sql_expression *expression)
{
    bool never = expression->operation <= SQL_INPUT || expression->operation == SQL_NOT ||
                 (expression->operation >= SQL_EQUAL && expression->operation <= SQL_LIKE) ||
                 (expression->operation >= SQL_IS_NULL && expression->operation <= SQL_IS_DISTINCT) ||
                 expression->operation == SQL_CASE;
    for (uint32_t c = 0; c < expression->child_count && never; c++)
        never = rewrite_never_fails(expression->children[c]);
    return never;
}

/* ---- Names ---- */

bool rewrite_names_any(const struct sql_expression *expression, const struct logical_set *set)
{
    if (!expression)
        return false;
    bool any = expression->operation == SQL_INPUT && logical_has(set, expression->index);
    for (uint32_t c = 0; c < expression->child_count && !any; c++)
        any = rewrite_names_any(expression->children[c], set);
    return any;
}

static bool list_names_any(struct sql_expression *const *list, uint32_t count, const struct logical_set *set)
{
    bool any = false;
    for (uint32_t i = 0; i < count && !any; i++)
        any = rewrite_names_any(list[i], set);
    return any;
}

static bool windows_name_any(const struct logical_node *node, const struct logical_set *set)
{
    bool any = false;
    for (uint32_t w = 0; w < node->window.count && !any; w++) {
        const struct sql_window *const window = node->window.windows[w].window;
        any = rewrite_names_any(node->window.windows[w].call, set) ||
              list_names_any(window->partitions, window->partition_count, set) ||
              (window->begin_value && rewrite_names_any(window->begin_value, set)) ||
              (window->end_value && rewrite_names_any(window->end_value, set));
        for (uint32_t o = 0; o < window->order_count && !any; o++)
            any = rewrite_names_any(window->orders[o].expression, set);
    }
    return any;
}

/* True if an expression of the node itself names a column of the set. */
static bool node_names_any(const struct logical_node *node, const struct logical_set *set)
{
    bool any = false;
    switch (node->kind) {
    case LOGICAL_SCAN:
    case LOGICAL_SHARED:
    case LOGICAL_LIMIT:
    case LOGICAL_SET:
        break;
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING: {
        const struct logical_outer *const outer =
            node->kind == LOGICAL_WORKING ? &node->working.outer : &node->recursive.outer;
        for (uint32_t c = 0; c < outer->count && !any; c++)
            any = logical_has(set, outer->columns[c]);
        break;
    }
    case LOGICAL_VALUES:
        for (uint32_t r = 0; r < node->values.row_count && node->column_count && !any; r++)
            any = list_names_any(node->values.rows[r], node->column_count, set);
        break;
    case LOGICAL_FILTER:
        return rewrite_names_any(node->filter.condition, set);
    case LOGICAL_PROJECT:
        return list_names_any(node->project.expressions, node->column_count, set);
    case LOGICAL_JOIN:
        return rewrite_names_any(node->join.condition, set) || rewrite_names_any(node->join.test, set);
    case LOGICAL_AGGREGATE:
        return list_names_any(node->aggregate.groups, node->aggregate.group_count, set) ||
               list_names_any(node->aggregate.aggregates, node->aggregate.aggregate_count, set);
    case LOGICAL_WINDOW:
        return windows_name_any(node, set);
    case LOGICAL_SORT:
        for (uint32_t o = 0; o < node->sort.count && !any; o++)
            any = logical_has(set, node->sort.orders[o].column);
        break;
    }
    return any;
}

bool rewrite_tree_names_any(const struct logical_node *node, const struct logical_set *set)
{
    bool any = node_names_any(node, set);
    for (uint32_t i = 0; i < node->input_count && !any; i++)
        any = rewrite_tree_names_any(node->inputs[i], set);
    return any;
}

enum status rewrite_gives(struct rewriter *rewriter, const struct logical_node *node, struct logical_set *set)
{
    RETURN_IF_ERROR(logical_set_new(rewriter->tree, set, rewriter->error));
    for (uint32_t c = 0; c < node->column_count; c++)
        logical_put(set, node->columns[c]);
    return STATUS_OK;
}

enum status rewrite_regive(struct rewriter *rewriter, struct logical_node *node)
{
    const uint32_t *const before = node->columns;
    const uint32_t count = node->column_count;
    node->columns = NULL;
    node->column_count = 0;
    RETURN_IF_ERROR(logical_gives_all(rewriter->tree, node, node->inputs[0], rewriter->error));
    if (node->kind == LOGICAL_JOIN && (node->join.join <= LOGICAL_FULL || node->join.join == LOGICAL_SINGLE))
        return logical_gives_all(rewriter->tree, node, node->inputs[1], rewriter->error);
    if (node->kind == LOGICAL_JOIN && node->join.join == LOGICAL_MARK)
        return logical_gives(rewriter->tree, node, node->join.mark, rewriter->error);
    for (uint32_t w = 0; node->kind == LOGICAL_WINDOW && w < node->window.count; w++)
        RETURN_IF_ERROR(
            logical_gives(rewriter->tree, node, before[count - node->window.count + w], rewriter->error));
    return STATUS_OK;
}

/* ---- Expressions ---- */

enum status rewrite_input(struct rewriter *rewriter, struct sql_position position, uint32_t column,
                          struct sql_expression **input)
{
    return logical_input(rewriter->tree, position, column, input, rewriter->error);
}

bool rewrite_is_same_type(struct value_type a, struct value_type b)
{
    return a.kind == b.kind && a.scale == b.scale && value_is_decimal(a) == value_is_decimal(b) &&
           a.zoned == b.zoned && !a.untyped && !b.untyped;
}

enum status rewrite_column(struct rewriter *rewriter, const struct sql_expression *expression,
                           uint32_t *column)
{
    struct sql_input type;
    RETURN_IF_ERROR(sql_scalar_type(rewriter->scalars, expression, &type, rewriter->error));
    return logical_column_new(
        rewriter->tree,
        expression->operation == SQL_INPUT ? rewriter->tree->columns[expression->index].name : "", type.type,
        type.nullable, column, rewriter->error);
}

enum status rewrite_apply(struct rewriter *rewriter, enum sql_operation operation, const char *function,
                          struct sql_expression *a, struct sql_expression *b, struct sql_expression **out)
{
    struct sql_statement_tree *const arena = rewriter->tree->arena;
    struct sql_expression *made;
    RETURN_IF_ERROR(sql_tree_node(arena, operation, a->position, &made, rewriter->error));
    made->name = function;
    RETURN_IF_ERROR(sql_tree_child(arena, made, a, rewriter->error));
    if (b)
        RETURN_IF_ERROR(sql_tree_child(arena, made, b, rewriter->error));
    *out = made;
    return STATUS_OK;
}

enum status rewrite_number(struct rewriter *rewriter, struct sql_position position, const char *text,
                           struct sql_expression **number)
{
    RETURN_IF_ERROR(sql_tree_node(rewriter->tree->arena, SQL_NUMBER, position, number, rewriter->error));
    (*number)->text = text;
    return STATUS_OK;
}

/* ---- Projections and groups ---- */

/* A list may have been allocated for its very count, so a longer one is a copy. */
static enum status append(struct rewriter *rewriter, struct sql_expression *expression,
                          struct sql_expression ***list, uint32_t count)
{
    struct sql_expression **made;
    RETURN_IF_ERROR(sql_tree_take(rewriter->tree->arena, (count + 1) * sizeof *made, &made, rewriter->error));
    if (count)
        memcpy(made, *list, count * sizeof *made);
    made[count] = expression;
    *list = made;
    return STATUS_OK;
}

enum status rewrite_project_add(struct rewriter *rewriter, struct logical_node *project,
                                struct sql_expression *expression, uint32_t column)
{
    RETURN_IF_ERROR(append(rewriter, expression, &project->project.expressions, project->column_count));
    return logical_gives(rewriter->tree, project, column, rewriter->error);
}

enum status rewrite_pass(struct rewriter *rewriter, struct logical_node *project, uint32_t column)
{
    struct sql_expression *input;
    RETURN_IF_ERROR(rewrite_input(rewriter, project->position, column, &input));
    return rewrite_project_add(rewriter, project, input, column);
}

enum status rewrite_project(struct rewriter *rewriter, struct logical_node **node)
{
    return logical_rename(rewriter->tree, (*node)->columns, node, rewriter->error);
}

enum status rewrite_compute(struct rewriter *rewriter, struct sql_expression *expression,
                            struct logical_node **node, uint32_t *column)
{
    *column = expression->index;
    if (expression->operation == SQL_INPUT)
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_column(rewriter, expression, column));
    RETURN_IF_ERROR(rewrite_project(rewriter, node));
    return rewrite_project_add(rewriter, *node, expression, *column);
}

enum status rewrite_add_group(struct rewriter *rewriter, struct logical_node *aggregate,
                              struct sql_expression *term, uint32_t *column)
{
    const uint32_t groups = aggregate->aggregate.group_count, all = aggregate->column_count;
    RETURN_IF_ERROR(rewrite_column(rewriter, term, column));
    RETURN_IF_ERROR(append(rewriter, term, &aggregate->aggregate.groups, groups));
    aggregate->aggregate.group_count++;
    RETURN_IF_ERROR(logical_gives(rewriter->tree, aggregate, *column, rewriter->error));
    memmove(aggregate->columns + groups + 1, aggregate->columns + groups,
            (all - groups) * sizeof *aggregate->columns);
    aggregate->columns[groups] = *column;
    return STATUS_OK;
}

/* ---- Columns in the place of others ---- */

enum status rewrite_map_add(struct rewriter *rewriter, struct column_map *map, uint32_t from,
                            struct sql_expression *to)
{
    uint32_t count = map->count;
    RETURN_IF_ERROR(
        sql_tree_append(rewriter->tree->arena, &map->from, &count, sizeof from, &from, rewriter->error));
    return sql_tree_append(rewriter->tree->arena, &map->to, &map->count, sizeof to, &to, rewriter->error);
}

static enum status replace(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    const struct column_map *const map = context;
    for (uint32_t i = 0; node->operation == SQL_INPUT && i < map->count && !*out; i++)
        if (map->from[i] == node->index)
            *out = map->to[i];
    return STATUS_OK;
}

enum status rewrite_map(struct rewriter *rewriter, const struct column_map *map,
                        struct sql_expression *expression, struct sql_expression **out)
{
    return sql_tree_rewrite(rewriter->tree->arena, expression, replace, (void *)map, out, rewriter->error);
}

static enum status map_list(struct rewriter *rewriter, const struct column_map *map,
                            struct sql_expression ***list, uint32_t count)
{
    struct sql_expression **made;
    RETURN_IF_ERROR(sql_tree_take(rewriter->tree->arena, (count + 1) * sizeof *made, &made, rewriter->error));
    for (uint32_t i = 0; i < count; i++)
        RETURN_IF_ERROR(rewrite_map(rewriter, map, (*list)[i], &made[i]));
    *list = made;
    return STATUS_OK;
}

static enum status map_window(struct rewriter *rewriter, const struct column_map *map,
                              struct logical_window *window)
{
    struct sql_statement_tree *const arena = rewriter->tree->arena;
    struct sql_expression *call;
    struct sql_window *made;
    struct sql_order *orders;
    RETURN_IF_ERROR(rewrite_map(rewriter, map, (struct sql_expression *)window->call, &call));
    RETURN_IF_ERROR(sql_tree_take(arena, sizeof *made, &made, rewriter->error));
    *made = *window->window;
    RETURN_IF_ERROR(map_list(rewriter, map, &made->partitions, made->partition_count));
    RETURN_IF_ERROR(sql_tree_take(arena, (made->order_count + 1) * sizeof *orders, &orders, rewriter->error));
    for (uint32_t o = 0; o < made->order_count; o++) {
        orders[o] = made->orders[o];
        RETURN_IF_ERROR(rewrite_map(rewriter, map, orders[o].expression, &orders[o].expression));
    }
    made->orders = orders;
    RETURN_IF_ERROR(rewrite_map(rewriter, map, made->begin_value, &made->begin_value));
    RETURN_IF_ERROR(rewrite_map(rewriter, map, made->end_value, &made->end_value));
    window->call = call;
    window->window = made;
    return STATUS_OK;
}

enum status rewrite_map_node(struct rewriter *rewriter, const struct column_map *map,
                             struct logical_node *node)
{
    switch (node->kind) {
    case LOGICAL_SCAN:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
    case LOGICAL_LIMIT:
    case LOGICAL_SET:
        break;
    case LOGICAL_VALUES:
        for (uint32_t r = 0; r < node->values.row_count && node->column_count; r++)
            RETURN_IF_ERROR(map_list(rewriter, map, &node->values.rows[r], node->column_count));
        break;
    case LOGICAL_FILTER:
        return rewrite_map(rewriter, map, node->filter.condition, &node->filter.condition);
    case LOGICAL_PROJECT:
        return map_list(rewriter, map, &node->project.expressions, node->column_count);
    case LOGICAL_JOIN:
        RETURN_IF_ERROR(rewrite_map(rewriter, map, node->join.test, &node->join.test));
        return rewrite_map(rewriter, map, node->join.condition, &node->join.condition);
    case LOGICAL_AGGREGATE:
        RETURN_IF_ERROR(map_list(rewriter, map, &node->aggregate.groups, node->aggregate.group_count));
        return map_list(rewriter, map, &node->aggregate.aggregates, node->aggregate.aggregate_count);
    case LOGICAL_WINDOW:
        for (uint32_t w = 0; w < node->window.count; w++)
            RETURN_IF_ERROR(map_window(rewriter, map, &node->window.windows[w]));
        break;
    case LOGICAL_SORT:
        for (uint32_t o = 0; o < node->sort.count; o++)
            for (uint32_t i = 0; i < map->count; i++)
                if (map->from[i] == node->sort.orders[o].column && map->to[i]->operation == SQL_INPUT)
                    node->sort.orders[o].column = map->to[i]->index;
        break;
    }
    return STATUS_OK;
}

enum status rewrite_aggregate_below(struct rewriter *rewriter, struct logical_node *aggregate)
{
    while (aggregate->inputs[0]->kind == LOGICAL_PROJECT) {
        const struct logical_node *const project = aggregate->inputs[0];
        struct column_map map = {0};
        for (uint32_t c = 0; c < project->column_count; c++)
            RETURN_IF_ERROR(
                rewrite_map_add(rewriter, &map, project->columns[c], project->project.expressions[c]));
        RETURN_IF_ERROR(rewrite_map_node(rewriter, &map, aggregate));
        aggregate->inputs[0] = project->inputs[0];
    }
    return STATUS_OK;
}
