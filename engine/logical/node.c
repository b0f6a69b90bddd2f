/* node.c: see node.h. */
#include "engine/logical/node.h"

#include "engine/sql/tree/tree.h"

#include <string.h>

/* ---- Making nodes ---- */

enum status logical_gives(struct logical_tree *tree, struct logical_node *node, uint32_t column,
                          struct error *error)
{
    return sql_tree_append(tree->arena, &node->columns, &node->column_count, sizeof column, &column, error);
}

/* Of a join that gives the columns of its left side alone, or those of both. */
static bool gives_right(const struct logical_node *node)
{
    return node->kind == LOGICAL_JOIN && node->join.join != LOGICAL_SEMI && node->join.join != LOGICAL_ANTI &&
           node->join.join != LOGICAL_MARK;
}

enum status logical_node_new(struct logical_tree *tree, enum logical_kind kind, struct sql_position position,
                             struct logical_node *first, struct logical_node *second,
                             struct logical_node **node, struct error *error)
{
    RETURN_IF_ERROR(sql_tree_take(tree->arena, sizeof **node, node, error));
    (*node)->kind = kind;
    (*node)->position = position;
    (*node)->inputs[0] = first;
    (*node)->inputs[1] = second;
    (*node)->input_count = (first != NULL) + (second != NULL);
    return STATUS_OK;
}

enum status logical_gives_all(struct logical_tree *tree, struct logical_node *node,
                              const struct logical_node *input, struct error *error)
{
    for (uint32_t c = 0; c < input->column_count; c++)
        RETURN_IF_ERROR(logical_gives(tree, node, input->columns[c], error));
    return STATUS_OK;
}

enum status logical_column_new(struct logical_tree *tree, const char *name, struct value_type type,
                               bool nullable, uint32_t *column, struct error *error)
{
    const struct logical_column made = {name, type, nullable};
    *column = tree->column_count;
    return sql_tree_append(tree->arena, &tree->columns, &tree->column_count, sizeof made, &made, error);
}

enum status logical_input(struct logical_tree *tree, struct sql_position position, uint32_t column,
                          struct sql_expression **input, struct error *error)
{
    RETURN_IF_ERROR(sql_tree_node(tree->arena, SQL_INPUT, position, input, error));
    (*input)->index = column;
    return STATUS_OK;
}

enum status logical_filter(struct logical_tree *tree, struct sql_expression *condition,
                           struct logical_node **node, struct error *error)
{
    struct logical_node *const input = *node;
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_FILTER, condition->position, input, NULL, node, error));
    (*node)->filter.condition = condition;
    return logical_gives_all(tree, *node, input, error);
}

enum status logical_join_new(struct logical_tree *tree, enum logical_join join, struct sql_position position,
                             struct logical_node *left, struct logical_node *right,
                             struct sql_expression *condition, struct logical_node **node,
                             struct error *error)
{
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_JOIN, position, left, right, node, error));
    (*node)->join.join = join;
    (*node)->join.condition = condition;
    RETURN_IF_ERROR(logical_gives_all(tree, *node, left, error));
    return gives_right(*node) ? logical_gives_all(tree, *node, right, error) : STATUS_OK;
}

enum status logical_number_rows(struct logical_tree *tree, struct sql_position position,
                                const struct logical_node *sort, struct logical_node **node, uint32_t *number,
                                struct error *error)
{
    struct logical_node *const input = *node;
    struct sql_expression *call;
    struct sql_window *window;
    RETURN_IF_ERROR(sql_tree_node(tree->arena, SQL_FUNCTION, position, &call, error));
    call->name = "row_number";
    RETURN_IF_ERROR(sql_tree_take(tree->arena, sizeof *window, &window, error));
    window->position = position;
    for (uint32_t o = 0; sort && o < sort->sort.count; o++) {
        struct sql_order order = {.descending = sort->sort.orders[o].descending,
                                  .nulls_first = sort->sort.orders[o].nulls_first};
        RETURN_IF_ERROR(logical_input(tree, position, sort->sort.orders[o].column, &order.expression, error));
        RETURN_IF_ERROR(
            sql_tree_append(tree->arena, &window->orders, &window->order_count, sizeof order, &order, error));
    }
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_WINDOW, position, input, NULL, node, error));
    const struct logical_window made = {WINDOW_ROW_NUMBER, call, window};
    RETURN_IF_ERROR(sql_tree_append(tree->arena, &(*node)->window.windows, &(*node)->window.count,
                                    sizeof made, &made, error));
    RETURN_IF_ERROR(logical_gives_all(tree, *node, input, error));
    RETURN_IF_ERROR(logical_column_new(tree, "row_number", (struct value_type){.kind = VALUE_INTEGER}, false,
                                       number, error));
    return logical_gives(tree, *node, *number, error);
}

enum status logical_share(struct logical_tree *tree, const char *name, struct logical_node *root,
                          const char **names, uint32_t *shared, struct error *error)
{
    struct logical_shared made = {.name = name, .root = root, .names = names};
    *shared = tree->shared_count;
    if (!names)
        RETURN_IF_ERROR(
            sql_tree_take(tree->arena, (root->column_count + 1) * sizeof *made.names, &made.names, error));
    for (uint32_t c = 0; !names && c < root->column_count; c++)
        made.names[c] = tree->columns[root->columns[c]].name;
    return sql_tree_append(tree->arena, &tree->shared, &tree->shared_count, sizeof made, &made, error);
}

enum status logical_refer(struct logical_tree *tree, uint32_t shared, struct sql_position position,
                          struct logical_node **node, struct error *error)
{
    const struct logical_node *const root = tree->shared[shared].root;
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_SHARED, position, NULL, NULL, node, error));
    (*node)->shared.shared = shared;
    tree->shared[shared].references++;
    for (uint32_t c = 0; c < root->column_count; c++) {
        const struct logical_column of = tree->columns[root->columns[c]];
        uint32_t column;
        RETURN_IF_ERROR(
            logical_column_new(tree, tree->shared[shared].names[c], of.type, of.nullable, &column, error));
        RETURN_IF_ERROR(logical_gives(tree, *node, column, error));
    }
    return STATUS_OK;
}

enum status logical_rename(struct logical_tree *tree, const uint32_t *columns, struct logical_node **node,
                           struct error *error)
{
    struct logical_node *const input = *node, *made;
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_PROJECT, input->position, input, NULL, &made, error));
    RETURN_IF_ERROR(sql_tree_take(tree->arena, (input->column_count + 1) * sizeof *made->project.expressions,
                                  &made->project.expressions, error));
    for (uint32_t c = 0; c < input->column_count; c++) {
        RETURN_IF_ERROR(
            logical_input(tree, input->position, input->columns[c], &made->project.expressions[c], error));
        RETURN_IF_ERROR(logical_gives(tree, made, columns[c], error));
    }
    *node = made;
    return STATUS_OK;
}

enum status logical_share_in_place(struct logical_tree *tree, const char *name, struct logical_node **node,
                                   uint32_t *shared, struct error *error)
{
    struct logical_node *root = *node;
    RETURN_IF_ERROR(logical_rename(tree, root->columns, &root, error));
    RETURN_IF_ERROR(logical_share(tree, name, root, NULL, shared, error));
    RETURN_IF_ERROR(logical_refer(tree, *shared, root->position, node, error));
    return logical_rename(tree, root->columns, node, error);
}

enum status logical_and(struct logical_tree *tree, struct sql_expression *a, struct sql_expression *b,
                        struct sql_expression **both, struct error *error)
{
    *both = a ? a : b;
    if (!a || !b)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_node(tree->arena, SQL_AND, a->position, both, error));
    RETURN_IF_ERROR(sql_tree_child(tree->arena, *both, a, error));
    return sql_tree_child(tree->arena, *both, b, error);
}

/* ---- Sets of columns ---- */

enum status logical_set_new(struct logical_tree *tree, struct logical_set *set, struct error *error)
{
    set->words = tree->column_count / 64 + 1;
    return sql_tree_take(tree->arena, set->words * sizeof *set->bits, &set->bits, error);
}

bool logical_is_empty(const struct logical_set *set)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < set->words; w++)
        any |= set->bits[w];
    return any == 0;
}

bool logical_is_subset(const struct logical_set *of, const struct logical_set *in)
{
    for (uint32_t w = 0; w < of->words; w++)
        if (of->bits[w] & ~(w < in->words ? in->bits[w] : 0))
            return false;
    return true;
}

void logical_names(const struct sql_expression *expression, struct logical_set *set)
{
    if (!expression)
        return;
    if (expression->operation == SQL_INPUT)
        logical_put(set, expression->index);
    for (uint32_t c = 0; c < expression->child_count; c++)
        logical_names(expression->children[c], set);
}

static void names_of_list(struct sql_expression *const *list, uint32_t count, struct logical_set *set)
{
    for (uint32_t i = 0; i < count; i++)
        logical_names(list[i], set);
}

static void names_of_window(const struct logical_window *window, struct logical_set *set)
{
    logical_names(window->call, set);
    names_of_list(window->window->partitions, window->window->partition_count, set);
    for (uint32_t o = 0; o < window->window->order_count; o++)
        logical_names(window->window->orders[o].expression, set);
    logical_names(window->window->begin_value, set);
    logical_names(window->window->end_value, set);
}

static void put_all(const struct logical_outer *outer, struct logical_set *set)
{
    for (uint32_t c = 0; c < outer->count; c++)
        logical_put(set, outer->columns[c]);
}

void logical_node_names(const struct logical_node *node, struct logical_set *set)
{
    switch (node->kind) {
    case LOGICAL_SCAN:
    case LOGICAL_SHARED:
    case LOGICAL_LIMIT:
        break;
    case LOGICAL_RECURSIVE:
        put_all(&node->recursive.outer, set);
        break;
    case LOGICAL_WORKING:
        put_all(&node->working.outer, set);
        break;
    case LOGICAL_SET:
        for (uint32_t i = 0; i < node->input_count; i++)
            for (uint32_t c = 0; c < node->inputs[i]->column_count; c++)
                logical_put(set, node->inputs[i]->columns[c]);
        break;
    case LOGICAL_VALUES:
        for (uint32_t r = 0; r < node->values.row_count; r++)
            names_of_list(node->values.rows[r], node->column_count, set);
        break;
    case LOGICAL_FILTER:
        logical_names(node->filter.condition, set);
        break;
    case LOGICAL_PROJECT:
        names_of_list(node->project.expressions, node->column_count, set);
        break;
    case LOGICAL_JOIN:
        logical_names(node->join.condition, set);
        logical_names(node->join.test, set);
        break;
    case LOGICAL_AGGREGATE:
        names_of_list(node->aggregate.groups, node->aggregate.group_count, set);
        names_of_list(node->aggregate.aggregates, node->aggregate.aggregate_count, set);
        break;
    case LOGICAL_WINDOW:
        for (uint32_t w = 0; w < node->window.count; w++)
            names_of_window(&node->window.windows[w], set);
        break;
    case LOGICAL_SORT:
        for (uint32_t o = 0; o < node->sort.count; o++)
            logical_put(set, node->sort.orders[o].column);
        break;
    }
}

void logical_makes(const struct logical_node *node, struct logical_set *set)
{
    for (uint32_t c = 0; c < node->column_count; c++)
        logical_put(set, node->columns[c]);
    for (uint32_t i = 0; i < node->input_count; i++)
        logical_makes(node->inputs[i], set);
}

static void all_names(const struct logical_node *node, struct logical_set *set)
{
    logical_node_names(node, set);
    for (uint32_t i = 0; i < node->input_count; i++)
        all_names(node->inputs[i], set);
}

enum status logical_free(struct logical_tree *tree, const struct logical_node *node, struct logical_set *set,
                         struct error *error)
{
    struct logical_set made;
    RETURN_IF_ERROR(logical_set_new(tree, set, error));
    RETURN_IF_ERROR(logical_set_new(tree, &made, error));
    all_names(node, set);
    logical_makes(node, &made);
    for (uint32_t w = 0; w < set->words; w++)
        set->bits[w] &= ~made.bits[w];
    return STATUS_OK;
}
