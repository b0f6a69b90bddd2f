/* order.c: binds ORDER BY, LIMIT and OFFSET (bind.h). */
#include "engine/logical/bind/bind.h"

/* ---- ORDER BY ---- */

enum status bind_sort(struct bind_state *state, const struct sql_order *orders, uint32_t count,
                      const uint32_t *columns, struct logical_node **node)
{
    struct logical_node *const input = *node;
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(logical_node_new(state->tree, LOGICAL_SORT, orders[0].expression->position, input, NULL,
                                     node, state->error));
    for (uint32_t o = 0; o < count; o++) {
        const struct logical_order made = {columns[o], orders[o].descending, orders[o].nulls_first};
        RETURN_IF_ERROR(sql_tree_append(state->arena, &(*node)->sort.orders, &(*node)->sort.count,
                                        sizeof made, &made, state->error));
    }
    return logical_gives_all(state->tree, *node, input, state->error);
}

/* ---- LIMIT ---- */

static bool has_query(const struct sql_expression *expression)
{
    bool any = expression && expression->query;
    for (uint32_t c = 0; expression && c < expression->child_count && !any; c++)
        any = has_query(expression->children[c]);
    return any;
}

/* Puts row_number() OVER (the order of *node, if that is a sort) over it. */
static enum status number_rows(struct bind_state *state, struct logical_node **node, uint32_t *number)
{
    struct logical_node *const input = *node, *window;
    struct sql_expression *call;
    struct sql_window *over;
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_WINDOW, input->position, input, NULL, &window, state->error));
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_FUNCTION, input->position, &call, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *over, &over, state->error));
    call->name = "row_number";
    for (uint32_t o = 0; input->kind == LOGICAL_SORT && o < input->sort.count; o++) {
        const struct logical_order *const from = &input->sort.orders[o];
        struct sql_order order = {.descending = from->descending, .nulls_first = from->nulls_first};
        RETURN_IF_ERROR(
            logical_input(state->tree, input->position, from->column, &order.expression, state->error));
        RETURN_IF_ERROR(sql_tree_append(state->arena, &over->orders, &over->order_count, sizeof order, &order,
                                        state->error));
    }
    const struct logical_window made = {.call = call, .window = over};
    RETURN_IF_ERROR(sql_tree_append(state->arena, &window->window.windows, &window->window.count, sizeof made,
                                    &made, state->error));
    RETURN_IF_ERROR(logical_gives_all(state->tree, window, input, state->error));
    RETURN_IF_ERROR(logical_column_new(state->tree, "", (struct value_type){.kind = VALUE_INTEGER}, false,
                                       number, state->error));
    *node = window;
    return logical_gives(state->tree, window, *number, state->error);
}

static enum status make_two(const struct bind_state *state, enum sql_operation operation,
                            struct sql_expression *first, struct sql_expression *second,
                            struct sql_expression **out)
{
    RETURN_IF_ERROR(sql_tree_node(state->arena, operation, first->position, out, state->error));
    RETURN_IF_ERROR(sql_tree_child(state->arena, *out, first, state->error));
    return second ? sql_tree_child(state->arena, *out, second, state->error) : STATUS_OK;
}

/* row <= bound or row > bound, or bound IS NULL */
static enum status bound_rows(const struct bind_place *place, const struct sql_expression *bound,
                              enum sql_operation comparison, struct sql_expression *row,
                              struct sql_expression **condition)
{
    const struct bind_state *const state = place->block->state;
    struct sql_expression *value, *test, *none;
    RETURN_IF_ERROR(bind_resolve(place, bound, &value));
    RETURN_IF_ERROR(make_two(state, comparison, row, value, &test));
    RETURN_IF_ERROR(make_two(state, SQL_IS_NULL, value, NULL, &none));
    RETURN_IF_ERROR(make_two(state, SQL_OR, test, none, &test));
    RETURN_IF_ERROR(sql_scalar_condition(state->scalars, test, state->error));
    return logical_and(state->tree, *condition, test, condition, state->error);
}

/* LIMIT and OFFSET of subqueries are conditions on the number of the row. One that is NULL limits nothing. */
static enum status limit_by_number(struct bind_block *block, struct logical_node **node)
{
    struct bind_state *const state = block->state;
    const struct sql_select *const select = block->select;
    const struct bind_place place = {.block = block, .node = node};
    const struct logical_node *const input = *node;
    struct sql_expression *condition = NULL, *row, *after;
    uint32_t number;
    RETURN_IF_ERROR(number_rows(state, node, &number));
    RETURN_IF_ERROR(logical_input(state->tree, select->limit->position, number, &row, state->error));
    after = row;
    if (select->offset) {
        struct sql_expression *none, *skipped;
        RETURN_IF_ERROR(bound_rows(&place, select->offset, SQL_GREATER, row, &condition));
        RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_NUMBER, row->position, &none, state->error));
        none->text = "0";
        RETURN_IF_ERROR(
            make_two(state, SQL_FUNCTION, (struct sql_expression *)select->offset, none, &skipped));
        skipped->name = "coalesce";
        RETURN_IF_ERROR(bind_resolve(&place, skipped, &skipped));
        RETURN_IF_ERROR(make_two(state, SQL_SUBTRACT, row, skipped, &after));
    }
    RETURN_IF_ERROR(bound_rows(&place, select->limit, SQL_LESS_EQUAL, after, &condition));
    RETURN_IF_ERROR(logical_filter(state->tree, condition, node, state->error));
    if (input->kind != LOGICAL_SORT)
        return STATUS_OK;
    struct logical_node *const limited = *node;
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_SORT, input->position, limited, NULL, node, state->error));
    (*node)->sort = input->sort;
    return logical_gives_all(state->tree, *node, limited, state->error);
}

enum status bind_limit(struct bind_block *block, struct logical_node **node)
{
    struct bind_state *const state = block->state;
    const struct sql_select *const select = block->select;
    struct logical_node *const input = *node;
    if (!select->limit)
        return STATUS_OK;
    if (has_query(select->limit) || has_query(select->offset))
        return limit_by_number(block, node);
    RETURN_IF_ERROR(logical_node_new(state->tree, LOGICAL_LIMIT, select->limit->position, input, NULL, node,
                                     state->error));
    (*node)->limit.limit = select->limit;
    (*node)->limit.offset = select->offset;
    return logical_gives_all(state->tree, *node, input, state->error);
}
