/* window.c: binds window functions (bind.h). Arguments, partitions, orders and bounds become columns of the node under the
 * windows, so that the operator computes nothing but frames and what stands in them. */
#include "engine/logical/bind/bind.h"

#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

/* ---- Windows with names ---- */

static enum status window_before(struct bind_block *block, const struct sql_window *written, uint32_t before,
                                 const struct sql_window **window);

/* The window of the WINDOW clause that has this name, among the first `before`. */
static enum status named_window(struct bind_block *block, const struct sql_window *written, const char *name,
                                uint32_t before, const struct sql_window **window)
{
    const struct sql_select *const select = block->select;
    for (uint32_t w = 0; w < before; w++)
        if (word_compare(select->windows[w].name, name) == 0)
            return window_before(block, select->windows[w].window, w, window);
    return logical_refuse(block->state, written->position, "there is no WINDOW %s%s", name,
                          before < select->window_count ? " before this one" : "");
}

/* OVER (base ORDER BY ... ROWS ...): the standard lets it add an order if the base has none, and a frame. */
static enum status window_before(struct bind_block *block, const struct sql_window *written, uint32_t before,
                                 const struct sql_window **window)
{
    const struct bind_state *const state = block->state;
    const struct sql_window *base;
    struct sql_window *made;
    *window = written;
    if (written->name)
        return named_window(block, written, written->name, before, window);
    if (!written->base)
        return STATUS_OK;
    RETURN_IF_ERROR(named_window(block, written, written->base, before, &base));
    if (written->partition_count)
        return logical_refuse(state, written->position,
                              "PARTITION BY cannot stand here: the partitions are those of %s",
                              written->base);
    if (written->order_count && base->order_count)
        return logical_refuse(state, written->position, "ORDER BY cannot stand here: %s has an order",
                              written->base);
    if (base->frame != SQL_FRAME_NONE)
        return logical_refuse(state, written->position,
                              "%s has a frame, so it can only be used as it is: OVER %s", written->base,
                              written->base);
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *made, &made, state->error));
    *made = *written;
    made->base = NULL;
    made->partition_count = base->partition_count;
    made->partitions = base->partitions;
    if (base->order_count) {
        made->order_count = base->order_count;
        made->orders = base->orders;
    }
    *window = made;
    return STATUS_OK;
}

enum status bind_window_of(struct bind_block *block, const struct sql_window *written,
                           const struct sql_window **window)
{
    return window_before(block, written, block->select->window_count, window);
}

/* ---- Columns ---- */

/* Resolves what a window names, and lets the node under the windows give it as a column. */
static enum status window_column(const struct bind_place *place, const struct sql_expression *expression,
                                 struct sql_expression **out)
{
    struct bind_state *const state = place->block->state;
    struct sql_expression *resolved;
    uint32_t column;
    RETURN_IF_ERROR(bind_resolve(place, expression, &resolved));
    *out = resolved;
    if (resolved->operation == SQL_INPUT || resolved->operation <= SQL_PARAMETER)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_column_of(state, "", resolved, &column));
    RETURN_IF_ERROR(bind_extend(state, &resolved, &column, 1, place->node));
    return logical_input(state->tree, expression->position, column, out, state->error);
}

/* Refuses what is no whole number of at least `least`, as far as the statement says it. */
static enum status check_whole(const struct bind_state *state, const struct sql_expression *number,
                               const char *what, int64_t least)
{
    struct sql_input type;
    RETURN_IF_ERROR(sql_scalar_type(state->scalars, number, &type, state->error));
    if (type.type.kind != VALUE_INTEGER || value_is_decimal(type.type) ||
        (number->operation == SQL_NUMBER && strtoll(number->text, NULL, 10) < least))
        return logical_refuse(state, number->position, "%s takes a whole number%s", what,
                              least == 1   ? " from 1"
                              : least == 0 ? " from 0"
                                           : "");
    return STATUS_OK;
}

/* ---- Frames ---- */

/* The value at which a RANGE begins or ends: the order's term, less or more the bound's number or INTERVAL. */
static enum status range_value(const struct bind_place *place, const struct sql_window *window,
                               enum sql_bound bound, struct sql_expression **value)
{
    const struct bind_state *const state = place->block->state;
    const struct sql_order *const order = &window->orders[0];
    struct sql_expression *node;
    if (window->order_count != 1)
        return logical_refuse(
            state, (*value)->position,
            "RANGE with a number or an INTERVAL needs one term in the window's ORDER BY, to "
            "which it is added; ROWS and GROUPS count rows and groups");
    RETURN_IF_ERROR(sql_tree_node(state->arena,
                                  (bound == SQL_BOUND_BEFORE) != order->descending ? SQL_SUBTRACT : SQL_ADD,
                                  (*value)->position, &node, state->error));
    RETURN_IF_ERROR(sql_tree_child(state->arena, node, order->expression, state->error));
    RETURN_IF_ERROR(sql_tree_child(state->arena, node, *value, state->error));
    return window_column(place, node, value);
}

static enum status resolve_bound(const struct bind_place *place, const struct sql_window *window,
                                 enum sql_bound bound, struct sql_expression **value)
{
    struct sql_expression *number;
    if (!*value)
        return STATUS_OK;
    if (window->frame == SQL_FRAME_RANGE)
        return range_value(place, window, bound, value);
    RETURN_IF_ERROR(window_column(place, *value, &number));
    *value = number;
    return check_whole(place->block->state, number, window->frame == SQL_FRAME_ROWS ? "ROWS" : "GROUPS", 0);
}

static enum status resolve_window(const struct bind_place *place, const struct sql_window *from,
                                  struct sql_window **out)
{
    const struct bind_state *const state = place->block->state;
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof **out, out, state->error));
    **out = *from;
    RETURN_IF_ERROR(sql_tree_take(state->arena, (from->partition_count + 1) * sizeof *from->partitions,
                                  &(*out)->partitions, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena, (from->order_count + 1) * sizeof *from->orders,
                                  &(*out)->orders, state->error));
    for (uint32_t p = 0; p < from->partition_count; p++)
        RETURN_IF_ERROR(window_column(place, from->partitions[p], &(*out)->partitions[p]));
    for (uint32_t o = 0; o < from->order_count; o++) {
        (*out)->orders[o] = from->orders[o];
        RETURN_IF_ERROR(window_column(place, from->orders[o].expression, &(*out)->orders[o].expression));
    }
    RETURN_IF_ERROR(resolve_bound(place, from, from->begin, &(*out)->begin_value));
    return resolve_bound(place, from, from->end, &(*out)->end_value);
}

/* ---- Functions ---- */

struct window_name {
    const char *name;
    enum window_function function;
    uint32_t least, most; /* arguments */
    bool takes_nulls;     /* IGNORE NULLS may follow it */
};

static const struct window_name names[] = {
    {"row_number", WINDOW_ROW_NUMBER, 0, 0, false},
    {"rank", WINDOW_RANK, 0, 0, false},
    {"dense_rank", WINDOW_DENSE_RANK, 0, 0, false},
    {"percent_rank", WINDOW_PERCENT_RANK, 0, 0, false},
    {"cume_dist", WINDOW_CUME_DIST, 0, 0, false},
    {"ntile", WINDOW_NTILE, 1, 1, false},
    {"lag", WINDOW_LAG, 1, 3, true},
    {"lead", WINDOW_LEAD, 1, 3, true},
    {"first_value", WINDOW_FIRST_VALUE, 1, 1, true},
    {"last_value", WINDOW_LAST_VALUE, 1, 1, true},
    {"nth_value", WINDOW_NTH_VALUE, 2, 2, true},
};

const char *logical_window_name(size_t index)
{
    return index < sizeof names / sizeof *names ? names[index].name : NULL;
}

/* NULL: it is not one of these, but perhaps an aggregate. */
static const struct window_name *find_name(const struct sql_expression *call)
{
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (strcmp(names[n].name, call->name) == 0)
            return &names[n];
    return NULL;
}

static enum status check_call(const struct bind_state *state, const struct sql_expression *call,
                              const struct window_name *name)
{
    const struct aggregate_name *const aggregate = aggregate_name_find(call->name);
    if (!name && (!sql_is_aggregate(call) || aggregate->family == FAMILY_GROUPING))
        return logical_refuse(
            state, call->position,
            "%s is no window function; there are row_number, rank, dense_rank, percent_rank, cume_dist, "
            "ntile, lag, lead, first_value, last_value, nth_value, and the aggregates",
            call->name);
    if (call->ignores_nulls && !(name && name->takes_nulls))
        return logical_refuse(state, call->position,
                              "IGNORE NULLS stands after lag, lead, first_value, last_value and nth_value; "
                              "aggregates leave NULLs out without it");
    if (!name)
        return STATUS_OK;
    if (call->distinct)
        return logical_refuse(state, call->position, "DISTINCT stands in aggregates, and %s is none",
                              call->name);
    if (call->child_count < name->least || call->child_count > name->most)
        return logical_refuse(state, call->position, "%s takes %u to %u arguments", call->name, name->least,
                              name->most);
    if (call->child_count && call->children[0]->operation == SQL_STAR)
        return logical_refuse(state, call->position, "* stands in count(*) only");
    return STATUS_OK;
}

/* Of a value of another row, or of what stands in its place. */
static enum status value_type(const struct bind_state *state, const struct sql_expression *call,
                              struct sql_input *type)
{
    struct sql_input other;
    RETURN_IF_ERROR(sql_scalar_type(state->scalars, call->children[0], type, state->error));
    type->nullable = true;
    if (call->child_count < 3)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_scalar_type(state->scalars, call->children[2], &other, state->error));
    return sql_common_type(state->scalars, call->position, *type, other, type, state->error);
}

static enum status window_type(const struct bind_state *state, const struct sql_expression *call,
                               enum window_function function, struct sql_input *type)
{
    *type = (struct sql_input){.type = {.kind = VALUE_INTEGER}};
    switch (function) {
    case WINDOW_ROW_NUMBER:
    case WINDOW_RANK:
    case WINDOW_DENSE_RANK:
        return STATUS_OK;
    case WINDOW_PERCENT_RANK:
    case WINDOW_CUME_DIST:
        type->type.kind = VALUE_DOUBLE;
        return STATUS_OK;
    case WINDOW_NTILE:
        type->nullable = true;
        return check_whole(state, call->children[0], call->name, 1);
    case WINDOW_NTH_VALUE:
        RETURN_IF_ERROR(check_whole(state, call->children[1], call->name, 1));
        return value_type(state, call, type);
    case WINDOW_LAG:
    case WINDOW_LEAD:
        if (call->child_count > 1)
            RETURN_IF_ERROR(check_whole(state, call->children[1], call->name, INT64_MIN));
        return value_type(state, call, type);
    case WINDOW_FIRST_VALUE:
    case WINDOW_LAST_VALUE:
        return value_type(state, call, type);
    case WINDOW_AGGREGATE:
        break;
    }
    RETURN_IF_ERROR(sql_aggregate_type(state->scalars, call, type, state->error));
    type->nullable = !aggregate_name_find(call->name)->counts; /* a frame may be empty */
    return STATUS_OK;
}

enum status bind_window(const struct bind_place *place, const struct sql_expression *node)
{
    struct bind_block *const block = place->block;
    struct bind_state *const state = block->state;
    const struct window_name *const name = find_name(node);
    struct logical_window made = {.function = name ? name->function : WINDOW_AGGREGATE};
    const struct sql_window *written;
    struct sql_expression *call, *input;
    struct sql_window *window;
    struct sql_input type;
    uint32_t column;
    RETURN_IF_ERROR(bind_window_of(block, node->window, &written));
    RETURN_IF_ERROR(check_call(state, node, name));
    RETURN_IF_ERROR(bind_arguments(place, node, &call));
    RETURN_IF_ERROR(window_type(state, call, made.function, &type));
    for (uint32_t c = 0; c < call->child_count; c++)
        if (call->children[c]->operation != SQL_STAR)
            RETURN_IF_ERROR(window_column(place, node->children[c], &call->children[c]));
    RETURN_IF_ERROR(resolve_window(place, written, &window));
    made.call = call;
    made.window = window;
    RETURN_IF_ERROR(sql_tree_append(state->arena, &block->window->window.windows,
                                    &block->window->window.count, sizeof made, &made, state->error));
    RETURN_IF_ERROR(
        logical_column_new(state->tree, node->name, type.type, type.nullable, &column, state->error));
    RETURN_IF_ERROR(logical_gives(state->tree, block->window, column, state->error));
    RETURN_IF_ERROR(logical_input(state->tree, node->position, column, &input, state->error));
    return bind_keep_made(block, node, input, true);
}
