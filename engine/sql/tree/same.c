/* same.c: whether two trees are written alike (tree.h). */
#include "engine/sql/tree/tree.h"

#include "storage/base/words/word.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && word_compare(a, b) == 0);
}

static bool same_names(const char *const *a, uint32_t a_count, const char *const *b, uint32_t b_count)
{
    bool same = a_count == b_count;
    for (uint32_t i = 0; same && i < a_count; i++)
        same = same_name(a[i], b[i]);
    return same;
}

static bool same_list(struct sql_expression *const *a, uint32_t a_count, struct sql_expression *const *b,
                      uint32_t b_count)
{
    bool same = a_count == b_count;
    for (uint32_t i = 0; same && i < a_count; i++)
        same = sql_same_expression(a[i], b[i]);
    return same;
}

static bool same_orders(const struct sql_order *a, uint32_t a_count, const struct sql_order *b,
                        uint32_t b_count)
{
    bool same = a_count == b_count;
    for (uint32_t i = 0; same && i < a_count; i++)
        same = a[i].descending == b[i].descending && a[i].nulls_first == b[i].nulls_first &&
               sql_same_expression(a[i].expression, b[i].expression);
    return same;
}

static bool same_window(const struct sql_window *a, const struct sql_window *b)
{
    return a == b || (a && b && same_name(a->name, b->name) && same_name(a->base, b->base) &&
                      a->frame == b->frame && a->begin == b->begin && a->end == b->end &&
                      a->exclude == b->exclude && sql_same_expression(a->begin_value, b->begin_value) &&
                      sql_same_expression(a->end_value, b->end_value) &&
                      same_list(a->partitions, a->partition_count, b->partitions, b->partition_count) &&
                      same_orders(a->orders, a->order_count, b->orders, b->order_count));
}

bool sql_same_expression(const struct sql_expression *a, const struct sql_expression *b)
{
    return a == b ||
           (a && b && a->operation == b->operation && a->negated == b->negated &&
            a->distinct == b->distinct && a->has_operand == b->has_operand && a->has_else == b->has_else &&
            a->ordered == b->ordered && a->descending == b->descending && a->nulls_last == b->nulls_last &&
            a->ignores_nulls == b->ignores_nulls && a->index == b->index && a->comparison == b->comparison &&
            same_text(a->text, b->text) && same_name(a->name, b->name) &&
            same_name(a->qualifier, b->qualifier) && sql_same_query(a->query, b->query) &&
            same_window(a->window, b->window) && a->keys == b->keys &&
            same_list(a->children, a->child_count, b->children, b->child_count));
}

static bool same_source(const struct sql_source *a, const struct sql_source *b)
{
    bool same = a->join == b->join && a->group == b->group && a->depth == b->depth &&
                a->lateral == b->lateral && a->natural == b->natural && a->shared_count == b->shared_count &&
                same_name(a->table, b->table) && same_name(a->alias, b->alias) &&
                sql_same_query(a->query, b->query) &&
                same_names(a->columns, a->column_count, b->columns, b->column_count) &&
                sql_same_expression(a->on, b->on);
    for (uint32_t c = 0; same && c < a->shared_count; c++)
        same = same_name(a->shared[c].name, b->shared[c].name);
    return same;
}

static bool same_lists(const struct sql_select *a, const struct sql_select *b)
{
    bool same = a->item_count == b->item_count && a->source_count == b->source_count &&
                a->with_count == b->with_count && a->part_count == b->part_count &&
                a->window_count == b->window_count && a->set_count == b->set_count;
    for (uint32_t i = 0; same && i < a->item_count; i++)
        same = same_name(a->items[i].alias, b->items[i].alias) &&
               sql_same_expression(a->items[i].expression, b->items[i].expression) &&
               a->items[i].change_count == 0 && b->items[i].change_count == 0;
    for (uint32_t s = 0; same && s < a->source_count; s++)
        same = same_source(&a->sources[s], &b->sources[s]);
    for (uint32_t w = 0; same && w < a->with_count; w++)
        same = same_name(a->withs[w].name, b->withs[w].name) &&
               same_names(a->withs[w].columns, a->withs[w].column_count, b->withs[w].columns,
                          b->withs[w].column_count) &&
               sql_same_query(a->withs[w].query, b->withs[w].query);
    for (uint32_t p = 0; same && p < a->part_count; p++)
        same = a->parts[p].set == b->parts[p].set && a->parts[p].all == b->parts[p].all &&
               sql_same_query(a->parts[p].select, b->parts[p].select);
    for (uint32_t w = 0; same && w < a->window_count; w++)
        same = same_name(a->windows[w].name, b->windows[w].name) &&
               same_window(a->windows[w].window, b->windows[w].window);
    for (uint32_t s = 0; same && s < a->set_count; s++)
        same = a->sets[s] == b->sets[s];
    return same;
}

bool sql_same_query(const struct sql_select *a, const struct sql_select *b)
{
    return a == b || (a && b && a->distinct == b->distinct && a->summary == b->summary &&
                      a->group_all == b->group_all && a->order_all == b->order_all && same_lists(a, b) &&
                      sql_same_expression(a->where, b->where) && sql_same_expression(a->having, b->having) &&
                      sql_same_expression(a->qualify, b->qualify) &&
                      same_list(a->groups, a->group_count, b->groups, b->group_count) &&
                      same_list(a->first_of, a->first_count, b->first_of, b->first_count) &&
                      same_orders(a->orders, a->order_count, b->orders, b->order_count) &&
                      sql_same_expression(a->limit, b->limit) && sql_same_expression(a->offset, b->offset));
}
