/*
 * expand.c: writes out what a SELECT says in short, once the columns of FROM are known (bind.h).
 *
 *     SELECT * EXCLUDE (b) REPLACE (a + 1 AS a), sum(v) FROM t GROUP BY ALL ORDER BY ALL
 *     SELECT a + 1 AS a, t.c, sum(v) FROM t GROUP BY 1, 2 ORDER BY 1, 2, 3
 */
#include "engine/logical/bind/bind.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/word.h"

#include <stdio.h>

struct expansion {
    struct bind_block *block;
    struct sql_select *select; /* with the items so far */
    const struct sql_item *star;
    bool *used; /* of each of its changes: a column has its name */
};

/* ---- Numbers of items ---- */

static enum status number_of(const struct bind_state *state, uint32_t item, struct sql_position position,
                             struct sql_expression **number)
{
    char *text;
    RETURN_IF_ERROR(sql_tree_take(state->arena, 16, &text, state->error));
    snprintf(text, 16, "%u", item + 1);
    RETURN_IF_ERROR(sql_tree_node(state->arena, SQL_NUMBER, position, number, state->error));
    (*number)->text = text;
    return STATUS_OK;
}

bool bind_names_column(const struct bind_block *block, const struct sql_expression *name)
{
    struct sql_scope_column column;
    return sql_scope_find(&block->scope, name, &column) > 0 ||
           bind_alias_of(block, name) < block->select->item_count;
}

enum status bind_order_all(const struct bind_state *state, const struct sql_order *all, uint32_t count,
                           struct sql_order **orders)
{
    RETURN_IF_ERROR(sql_tree_take(state->arena, (count + 1) * sizeof **orders, orders, state->error));
    for (uint32_t i = 0; i < count; i++) {
        (*orders)[i] = *all;
        RETURN_IF_ERROR(number_of(state, i, all->expression->position, &(*orders)[i].expression));
    }
    return STATUS_OK;
}

static enum status group_by_all(const struct bind_state *state, struct sql_select *select)
{
    select->groups = NULL;
    select->group_count = 0;
    for (uint32_t i = 0; i < select->item_count; i++) {
        struct sql_expression *number;
        if (sql_is_computed_above(select->items[i].expression))
            continue;
        RETURN_IF_ERROR(number_of(state, i, select->items[i].expression->position, &number));
        RETURN_IF_ERROR(sql_tree_append(state->arena, &select->groups, &select->group_count, sizeof number,
                                        &number, state->error));
    }
    return STATUS_OK;
}

/* ---- Stars ---- */

/* The change of a column, or NULL. */
static const struct sql_star_change *change_of(const struct expansion *expansion, uint32_t s, uint32_t c)
{
    const struct bind_source *const source = &expansion->block->sources[s];
    const struct sql_star_change *found = NULL;
    for (uint32_t i = expansion->star->change_count; i-- > 0;) {
        const struct sql_star_change *const change = &expansion->star->changes[i];
        if (word_compare(change->name, source->names[c]) != 0 ||
            (change->qualifier && word_compare(change->qualifier, source->name) != 0))
            continue;
        expansion->used[i] = true;
        found = change;
    }
    return found;
}

static enum status add_item(struct expansion *expansion, const struct sql_item *item)
{
    const struct bind_state *const state = expansion->block->state;
    return sql_tree_append(state->arena, &expansion->select->items, &expansion->select->item_count,
                           sizeof *item, item, state->error);
}

static enum status add_column(struct expansion *expansion, uint32_t s, uint32_t c)
{
    const struct bind_block *const block = expansion->block;
    const struct sql_expression *const star = expansion->star->expression;
    const struct sql_star_change *const change = change_of(expansion, s, c);
    struct sql_scope_column value = {.count = 1, .sources = {s}, .columns = {c}};
    struct sql_item item = {.text = block->sources[s].names[c], .of_star = true};
    if ((!star->qualifier && !sql_scope_visible(&block->scope, s, c, &value)) ||
        (change && !change->expression && !change->alias))
        return STATUS_OK;
    if (change && change->expression) {
        item.expression = change->expression;
        item.alias = change->name;
    } else {
        item.alias = change ? change->alias : NULL;
        RETURN_IF_ERROR(sql_scope_tree(&block->scope, block->state->arena, &value, star->position,
                                       &item.expression, block->state->error));
    }
    return add_item(expansion, &item);
}

static bool is_of_star(const struct expansion *expansion, uint32_t s)
{
    const char *const qualifier = expansion->star->expression->qualifier;
    const char *const name = expansion->block->sources[s].name;
    return !qualifier || (name && word_compare(qualifier, name) == 0);
}

/* Refuses a change of a column that the star does not have. */
static enum status refuse_unused(const struct expansion *expansion, const struct sql_star_change *change)
{
    const struct bind_block *const block = expansion->block;
    struct near_word near = near_word_begin(change->name);
    for (uint32_t s = 0; s < block->scope.count; s++)
        for (uint32_t c = 0; is_of_star(expansion, s) && c < block->sources[s].count; c++)
            near_word_try(&near, block->sources[s].names[c]);
    return logical_refuse(
        block->state, change->position, "%s names the column %s%s%s, which * does not have%s%s%s",
        change->expression ? "REPLACE"
        : change->alias    ? "RENAME"
                           : "EXCLUDE",
        change->qualifier ? change->qualifier : "", change->qualifier ? "." : "", change->name,
        near.nearest ? "; did you mean " : "", near.nearest ? near.nearest : "", near.nearest ? "?" : "");
}

/* Two changes of one column, of which the second would have no effect. */
static enum status refuse_twice(const struct expansion *expansion)
{
    const struct sql_item *const star = expansion->star;
    for (uint32_t i = 0; i < star->change_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (word_compare(star->changes[i].name, star->changes[j].name) == 0 &&
                !star->changes[i].qualifier == !star->changes[j].qualifier &&
                (!star->changes[i].qualifier ||
                 word_compare(star->changes[i].qualifier, star->changes[j].qualifier) == 0))
                return logical_refuse(expansion->block->state, star->changes[i].position,
                                      "column %s is changed twice after *", star->changes[i].name);
    return STATUS_OK;
}

static enum status add_star(struct expansion *expansion, const struct sql_item *star)
{
    struct bind_block *const block = expansion->block;
    const uint32_t before = expansion->select->item_count;
    bool any = false;
    expansion->star = star;
    RETURN_IF_ERROR(refuse_twice(expansion));
    RETURN_IF_ERROR(
        sql_tree_take(block->state->arena, star->change_count + 1, &expansion->used, block->state->error));
    for (uint32_t s = 0; s < block->scope.count; s++) {
        any |= is_of_star(expansion, s);
        for (uint32_t c = 0; is_of_star(expansion, s) && c < block->sources[s].count; c++)
            RETURN_IF_ERROR(add_column(expansion, s, c));
    }
    if (!any) /* which is refused as a star */
        return add_item(expansion, star);
    if (star->of_pivot)
        return STATUS_OK;
    for (uint32_t i = 0; i < star->change_count; i++)
        if (!expansion->used[i])
            return refuse_unused(expansion, &star->changes[i]);
    if (expansion->select->item_count == before)
        return logical_refuse(block->state, star->expression->position, "EXCLUDE leaves no column of *");
    return STATUS_OK;
}

enum status bind_expand(struct bind_block *block)
{
    const struct sql_select *const written = block->select;
    struct bind_state *const state = block->state;
    const bool orders = written->order_all && !bind_names_column(block, written->orders->expression);
    struct expansion expansion = {.block = block};
    bool stars = false, changes = false;
    for (uint32_t i = 0; i < written->item_count; i++) {
        stars |= written->items[i].expression->operation == SQL_STAR;
        changes |= written->items[i].change_count > 0;
    }
    const bool groups = written->group_all && stars;
    if (!changes && !orders && !groups)
        return STATUS_OK;
    RETURN_IF_ERROR(sql_tree_take(state->arena, sizeof *expansion.select, &expansion.select, state->error));
    struct sql_select *const select = expansion.select;
    *select = *written;
    select->items = NULL;
    select->item_count = 0;
    for (uint32_t i = 0; i < written->item_count; i++)
        if (written->items[i].expression->operation == SQL_STAR &&
            (written->items[i].change_count || orders || groups))
            RETURN_IF_ERROR(add_star(&expansion, &written->items[i]));
        else
            RETURN_IF_ERROR(add_item(&expansion, &written->items[i]));
    if (groups)
        RETURN_IF_ERROR(group_by_all(state, select));
    if (orders) {
        select->order_count = select->item_count;
        RETURN_IF_ERROR(bind_order_all(state, written->orders, select->item_count, &select->orders));
    }
    block->select = select;
    block->open = block->seen[0] = block->seen[1] = NULL; /* they have a bit for each item */
    return sql_tree_take(state->arena, select->item_count + 1, &block->reaches, state->error);
}
