/* select.c: binds one SELECT, clause by clause, each over the node of those before it (bind.h). */
#include "engine/logical/bind/bind.h"
#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

/* ---- Columns ---- */

enum status bind_column_of(struct bind_state *state, const char *name,
                           const struct sql_expression *expression, uint32_t *column)
{
    struct sql_input type;
    RETURN_IF_ERROR(sql_scalar_type(state->scalars, expression, &type, state->error));
    return logical_column_new(state->tree, name, type.type, type.nullable, column, state->error);
}

/* A projection without columns yet, with room for `count`. */
static enum status project(const struct bind_state *state, uint32_t count, struct logical_node **node)
{
    struct logical_node *const input = *node;
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_PROJECT, input->position, input, NULL, node, state->error));
    return sql_tree_take(state->arena, (count + 1) * sizeof *(*node)->project.expressions,
                         &(*node)->project.expressions, state->error);
}

static enum status add_output(const struct bind_state *state, struct logical_node *node,
                              struct sql_expression *expression, uint32_t column)
{
    node->project.expressions[node->column_count] = expression;
    return logical_gives(state->tree, node, column, state->error);
}

static enum status pass(const struct bind_state *state, struct logical_node *node, uint32_t column)
{
    struct sql_expression *input;
    RETURN_IF_ERROR(logical_input(state->tree, node->position, column, &input, state->error));
    return add_output(state, node, input, column);
}

enum status bind_extend(struct bind_state *state, struct sql_expression *const *expressions,
                        const uint32_t *columns, uint32_t count, struct logical_node **node)
{
    const struct logical_node *const input = *node;
    RETURN_IF_ERROR(project(state, input->column_count + count, node));
    for (uint32_t c = 0; c < input->column_count; c++)
        RETURN_IF_ERROR(pass(state, *node, input->columns[c]));
    for (uint32_t i = 0; i < count; i++)
        RETURN_IF_ERROR(add_output(state, *node, expressions[i], columns[i]));
    return STATUS_OK;
}

enum status bind_number(struct bind_state *state, const struct sql_expression *term, const char *clause,
                        uint32_t count, uint32_t *place)
{
    char *end;
    const unsigned long number = strtoul(term->text, &end, 10);
    if (*end || number < 1 || number > count)
        return logical_refuse(state, term->position, "%s %s: the select list has no item of that number",
                              clause, term->text);
    *place = (uint32_t)number - 1;
    return STATUS_OK;
}

/* ---- Groups ---- */

/* What is to be answered of a SELECT: each expression that may hold an aggregate or a window. */
typedef enum status each_expression(const struct bind_place *place, const struct sql_expression *expression);

static enum status for_each(const struct bind_place *place, each_expression *call, bool having)
{
    const struct sql_select *const select = place->block->select;
    for (uint32_t i = 0; i < select->item_count; i++)
        if (select->items[i].expression->operation != SQL_STAR)
            RETURN_IF_ERROR(call(place, select->items[i].expression));
    for (uint32_t o = 0; o < select->order_count; o++)
        RETURN_IF_ERROR(call(place, select->orders[o].expression));
    if (select->qualify)
        RETURN_IF_ERROR(call(place, select->qualify));
    return having && select->having ? call(place, select->having) : STATUS_OK;
}

static bool is_aggregated(const struct bind_block *block)
{
    const struct sql_select *const select = block->select;
    bool any = select->group_count > 0 || select->set_count > 0 || select->having;
    for (uint32_t i = 0; i < select->item_count && !any; i++)
        any = select->items[i].expression->operation != SQL_STAR &&
              bind_reaches_aggregate(block, select->items[i].expression);
    for (uint32_t o = 0; o < select->order_count && !any; o++)
        any = bind_reaches_aggregate(block, select->orders[o].expression);
    return any || (select->qualify && bind_reaches_aggregate(block, select->qualify));
}

static enum status bind_group(const struct bind_place *place, const struct sql_expression *written)
{
    struct bind_block *const block = place->block;
    struct bind_state *const state = block->state;
    struct logical_node *const node = block->aggregate;
    const struct sql_expression *term = written;
    struct sql_expression *resolved;
    uint32_t item, column;
    if (written->operation == SQL_NUMBER) {
        RETURN_IF_ERROR(bind_number(state, written, "GROUP BY", block->select->item_count, &item));
        term = block->select->items[item].expression;
    }
    if (bind_reaches_aggregate(block, term))
        return logical_refuse(state, term->position, "GROUP BY cannot hold an aggregate");
    block->group_trees[node->aggregate.group_count] = term;
    RETURN_IF_ERROR(bind_resolve(place, term, &resolved));
    if (block->select->set_count &&
        resolved->operation < SQL_PARAMETER) { /* it is NULL where it is left out */
        block->group_trees[node->aggregate.group_count] = resolved;
        RETURN_IF_ERROR(bind_column_of(state, "", resolved, &column));
        RETURN_IF_ERROR(bind_extend(state, &resolved, &column, 1, place->node));
        RETURN_IF_ERROR(logical_input(state->tree, term->position, column, &resolved, state->error));
    }
    RETURN_IF_ERROR(
        bind_column_of(state, term->operation == SQL_COLUMN ? term->name : "", resolved, &column));
    state->tree->columns[column].nullable |= block->select->set_count > 0;
    RETURN_IF_ERROR(sql_tree_append(state->arena, &node->aggregate.groups, &node->aggregate.group_count,
                                    sizeof resolved, &resolved, state->error));
    return logical_gives(state->tree, node, column, state->error);
}

static enum status bind_groups(struct bind_block *block, struct logical_node **node)
{
    struct bind_state *const state = block->state;
    const struct sql_select *const select = block->select;
    const struct bind_place groups = {.block = block, .node = node, .aliases = true},
                            arguments = {.block = block, .node = node, .aliases = true};
    RETURN_IF_ERROR(logical_node_new(state->tree, LOGICAL_AGGREGATE, select->position, NULL, NULL,
                                     &block->aggregate, state->error));
    block->aggregate->aggregate.set_count = select->set_count;
    RETURN_IF_ERROR(sql_tree_take(state->arena, (select->set_count + 1) * sizeof *select->sets,
                                  &block->aggregate->aggregate.sets, state->error));
    if (select->set_count) /* a copy, because the rewriter changes them */
        memcpy(block->aggregate->aggregate.sets, select->sets, select->set_count * sizeof *select->sets);
    RETURN_IF_ERROR(sql_tree_take(state->arena, (select->group_count + 1) * sizeof *block->group_trees,
                                  &block->group_trees, state->error));
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(bind_group(&groups, select->groups[g]));
    RETURN_IF_ERROR(for_each(&arguments, bind_find_aggregates, true));
    block->aggregate->inputs[0] = *node;
    block->aggregate->input_count = 1;
    *node = block->aggregate;
    return STATUS_OK;
}

/* ---- Windows ---- */

static enum status bind_windows(struct bind_block *block, struct logical_node **node)
{
    const struct bind_place place = {
        .block = block, .node = node, .above = block->aggregated, .aliases = true};
    RETURN_IF_ERROR(bind_windows_open(block));
    RETURN_IF_ERROR(for_each(&place, bind_find_windows, false));
    if (block->window->window.count == 0 && block->select->qualify)
        return logical_refuse(block->state, block->select->qualify->position,
                              "QUALIFY sets a condition on window functions; write WHERE or HAVING");
    return bind_windows_close(block, node);
}

/* ---- The select list ---- */

struct output {
    const char *name;
    struct sql_expression *expression;
    const struct sql_item *item; /* NULL: of a star */
};

struct outputs {
    const struct bind_place *place;
    uint32_t count, visible;
    struct output *list;
    uint32_t *columns;
};

static enum status append(struct outputs *outputs, const char *name, struct sql_expression *expression,
                          const struct sql_item *item)
{
    const struct bind_state *const state = outputs->place->block->state;
    const struct output made = {name, expression, item};
    return sql_tree_append(state->arena, &outputs->list, &outputs->count, sizeof made, &made, state->error);
}

static enum status add_column(struct outputs *outputs, uint32_t s, uint32_t c, bool qualified,
                              struct sql_position position)
{
    struct bind_block *const block = outputs->place->block;
    struct bind_state *const state = block->state;
    struct sql_scope_column value = {.count = 1, .sources = {s}, .columns = {c}};
    struct sql_expression *name, *resolved;
    if (!qualified && !sql_scope_visible(&block->scope, s, c, &value))
        return STATUS_OK;
    RETURN_IF_ERROR(sql_scope_tree(&block->scope, state->arena, &value, position, &name, state->error));
    RETURN_IF_ERROR(bind_resolve(outputs->place, name, &resolved));
    return append(outputs, block->sources[s].names[c], resolved, NULL);
}

static enum status add_star(struct outputs *outputs, const struct sql_expression *star)
{
    const struct bind_block *const block = outputs->place->block;
    bool any = false;
    if (block->select->source_count == 0)
        return logical_refuse(block->state, star->position, "* needs tables, and the statement has no FROM");
    if (block->aggregated)
        return logical_refuse(block->state, star->position, "* cannot stand beside aggregates or GROUP BY");
    for (uint32_t s = 0; s < block->scope.count; s++) {
        if (star->qualifier && word_compare(star->qualifier, block->sources[s].name) != 0)
            continue;
        any = true;
        for (uint32_t c = 0; c < block->sources[s].count; c++)
            RETURN_IF_ERROR(add_column(outputs, s, c, star->qualifier != NULL, star->position));
    }
    return any ? STATUS_OK
               : logical_refuse(block->state, star->position, "there is no table or alias '%s' in FROM",
                                star->qualifier);
}

static enum status add_items(struct outputs *outputs)
{
    const struct sql_select *const select = outputs->place->block->select;
    for (uint32_t i = 0; i < select->item_count; i++) {
        const struct sql_item *const item = &select->items[i];
        struct sql_expression *resolved;
        if (item->expression->operation == SQL_STAR) {
            RETURN_IF_ERROR(add_star(outputs, item->expression));
            continue;
        }
        RETURN_IF_ERROR(bind_resolve(outputs->place, item->expression, &resolved));
        const bool column = item->expression->operation == SQL_COLUMN && !item->of_star;
        RETURN_IF_ERROR(append(outputs,
                               item->alias ? item->alias
                               : column    ? item->expression->name
                                           : item->text,
                               resolved, item));
    }
    outputs->visible = outputs->count;
    return STATUS_OK;
}

/* ---- ORDER BY ---- */

/* The output that a name in ORDER BY means by its alias, or because it is written so; `visible`: none. */
static uint32_t output_named(const struct outputs *outputs, const struct sql_expression *name, bool column)
{
    uint32_t o = 0;
    for (; o < outputs->visible; o++) {
        const struct sql_item *const item = outputs->list[o].item;
        if (!item && column && word_compare(outputs->list[o].name, name->name) == 0)
            break;
        if (!item)
            continue;
        if (!column && item->alias && word_compare(item->alias, name->name) == 0)
            break;
        if (column && item->expression->operation == SQL_COLUMN &&
            word_compare(item->expression->name, name->name) == 0)
            break;
    }
    return o;
}

static enum status order_output(struct outputs *outputs, const struct sql_expression *term, uint32_t *output)
{
    const struct bind_block *const block = outputs->place->block;
    const bool name = term->operation == SQL_COLUMN && !term->qualifier;
    struct sql_scope_column column;
    struct sql_expression *resolved;
    if (term->operation == SQL_NUMBER)
        return bind_number(block->state, term, "ORDER BY", outputs->visible, output);
    *output = name ? output_named(outputs, term, false) : outputs->visible;
    if (name && *output == outputs->visible && sql_scope_find(&block->scope, term, &column) > 1)
        *output = output_named(outputs, term, true);
    if (*output < outputs->visible)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_resolve(outputs->place, term, &resolved));
    for (*output = 0; *output < outputs->count; (*output)++)
        if (sql_same_expression(outputs->list[*output].expression, resolved))
            return STATUS_OK;
    if (block->select->distinct)
        return logical_refuse(block->state, term->position,
                              "ORDER BY of SELECT DISTINCT names columns of the select list");
    return append(outputs, "", resolved, NULL);
}

/* ---- The end ---- */

static enum status make_distinct(const struct bind_state *state, struct outputs *outputs,
                                 struct logical_node **node)
{
    struct logical_node *const input = *node;
    RETURN_IF_ERROR(
        logical_node_new(state->tree, LOGICAL_AGGREGATE, input->position, input, NULL, node, state->error));
    for (uint32_t o = 0; o < outputs->count; o++) {
        const struct logical_column of = state->tree->columns[outputs->columns[o]];
        struct sql_expression *group;
        RETURN_IF_ERROR(
            logical_input(state->tree, input->position, outputs->columns[o], &group, state->error));
        RETURN_IF_ERROR(sql_tree_append(state->arena, &(*node)->aggregate.groups,
                                        &(*node)->aggregate.group_count, sizeof group, &group, state->error));
        RETURN_IF_ERROR(logical_column_new(state->tree, of.name, of.type, of.nullable, &outputs->columns[o],
                                           state->error));
        RETURN_IF_ERROR(logical_gives(state->tree, *node, outputs->columns[o], state->error));
    }
    return STATUS_OK;
}

/* A term of GROUP BY has the name of the item that it is, for EXPLAIN. */
static void name_column(struct logical_column *column, const char *name)
{
    if (!column->name || !*column->name)
        column->name = name;
}

static enum status bind_outputs(struct outputs *outputs, struct logical_node **node, const char ***names)
{
    struct bind_state *const state = outputs->place->block->state;
    const struct sql_select *const select = outputs->place->block->select;
    uint32_t *orders;
    RETURN_IF_ERROR(add_items(outputs));
    RETURN_IF_ERROR(
        sql_tree_take(state->arena, (select->order_count + 1) * sizeof *orders, &orders, state->error));
    for (uint32_t o = 0; o < select->order_count; o++)
        RETURN_IF_ERROR(order_output(outputs, select->orders[o].expression, &orders[o]));
    RETURN_IF_ERROR(sql_tree_take(state->arena, (outputs->count + 1) * sizeof *outputs->columns,
                                  &outputs->columns, state->error));
    RETURN_IF_ERROR(sql_tree_take(state->arena, (outputs->count + 1) * sizeof **names, names, state->error));
    RETURN_IF_ERROR(project(state, outputs->count, node));
    for (uint32_t o = 0; o < outputs->count; o++) {
        const struct sql_expression *const made = outputs->list[o].expression;
        (*names)[o] = outputs->list[o].name;
        if (made->operation == SQL_INPUT)
            name_column(&state->tree->columns[made->index], (*names)[o]);
        RETURN_IF_ERROR(
            bind_column_of(state, (*names)[o], outputs->list[o].expression, &outputs->columns[o]));
        RETURN_IF_ERROR(add_output(state, *node, outputs->list[o].expression, outputs->columns[o]));
    }
    if (select->distinct)
        RETURN_IF_ERROR(make_distinct(state, outputs, node));
    for (uint32_t o = 0; o < select->order_count; o++)
        orders[o] = outputs->columns[orders[o]];
    RETURN_IF_ERROR(bind_sort(state, select->orders, select->order_count, orders, node));
    RETURN_IF_ERROR(bind_limit(outputs->place->block, node));
    if ((*node)->column_count == outputs->visible)
        return STATUS_OK;
    RETURN_IF_ERROR(project(state, outputs->visible, node));
    for (uint32_t o = 0; o < outputs->visible; o++)
        RETURN_IF_ERROR(pass(state, *node, outputs->columns[o]));
    return STATUS_OK;
}

/* ---- The whole ---- */

static enum status filter_by(const struct bind_place *place, const struct sql_expression *written)
{
    struct sql_expression *condition;
    if (!written)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_resolve_condition(place, written, &condition));
    return logical_filter(place->block->state->tree, condition, place->node, place->block->state->error);
}

static enum status one_row(const struct bind_state *state, struct sql_position position,
                           struct logical_node **node)
{
    RETURN_IF_ERROR(logical_node_new(state->tree, LOGICAL_VALUES, position, NULL, NULL, node, state->error));
    (*node)->values.row_count = 1;
    return sql_tree_take(state->arena, sizeof *(*node)->values.rows, &(*node)->values.rows, state->error);
}

enum status bind_one_select(struct bind_state *state, const struct sql_select *select,
                            const struct bind_named *named, const struct bind_place *around,
                            struct logical_node **node, const char ***names)
{
    struct bind_block block = {.state = state, .select = select, .named = named, .around = around};
    const struct bind_place where = {.block = &block, .node = node, .aliases = true};
    struct bind_place above = {.block = &block, .node = node, .aliases = true};
    struct outputs outputs = {.place = &above};
    RETURN_IF_ERROR(sql_tree_take(state->arena, select->item_count + 1, &block.reaches, state->error));
    if (select->source_count)
        RETURN_IF_ERROR(bind_from(&block, node));
    else
        RETURN_IF_ERROR(one_row(state, select->position, node));
    RETURN_IF_ERROR(bind_expand(&block));
    select = block.select;
    RETURN_IF_ERROR(filter_by(&where, select->where));
    block.aggregated = above.above = is_aggregated(&block);
    if (block.aggregated) {
        RETURN_IF_ERROR(bind_groups(&block, node));
        RETURN_IF_ERROR(filter_by(&above, select->having));
    }
    RETURN_IF_ERROR(bind_windows(&block, node));
    if (select->qualify && block.window->window.count == 0)
        return logical_refuse(state, select->qualify->position,
                              "QUALIFY sets a condition on window functions; write WHERE or HAVING");
    RETURN_IF_ERROR(filter_by(&above, select->qualify));
    return bind_outputs(&outputs, node, names);
}
