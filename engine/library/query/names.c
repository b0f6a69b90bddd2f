/* names.c: names and conditions of a level that asks answers (joining.h). */
#include "engine/library/query/joining.h"

#include <strings.h>

/* ---- Names ---- */

/* True for the alias of an item. ORDER BY takes it before a column of that name, others after it. */
static bool is_alias(const struct sql_select *select, const struct sql_expression *name)
{
    for (uint32_t i = 0; i < select->item_count; i++)
        if (name->operation == SQL_COLUMN && !name->qualifier && select->items[i].alias &&
            strcasecmp(select->items[i].alias, name->name) == 0)
            return true;
    return false;
}

static enum status name_column(struct joining *joining, const struct sql_expression *node, uint32_t s,
                               uint32_t c, struct sql_expression **out)
{
    struct query_source *const source = &joining->sources->list[s];
    source->used[c] = true;
    return query_column_node(joining->query, node->position, source->name, source->columns[c], out);
}

/* RIGHT and FULL JOIN ... USING (k) leave rows of which only one source has k: k is coalesce(a.k, b.k). */
static enum status shared_column(struct joining *joining, const struct sql_expression *node,
                                 struct sql_expression **out)
{
    uint32_t s, c;
    RETURN_IF_ERROR(query_node(joining->query, SQL_FUNCTION, node->position, out));
    (*out)->name = "coalesce";
    for (uint32_t at = 0; at < joining->sources->count; at++) {
        struct sql_expression own = *node, *column;
        own.qualifier = joining->sources->list[at].name;
        if (!query_column_of(joining->sources, &own, &s, &c))
            continue;
        RETURN_IF_ERROR(name_column(joining, node, s, c, &column));
        RETURN_IF_ERROR(query_child(joining->query, *out, column));
    }
    return STATUS_OK;
}

/* Names of columns become those by which the tables in memory are asked, with their sources. */
static enum status replace_name(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    struct joining *const joining = context;
    uint32_t s, c;
    if (node->operation != SQL_COLUMN)
        return STATUS_OK;
    if (joining->sources->any_strict && !joining->in_on && query_is_shared(joining->sources, node))
        return shared_column(joining, node, out);
    if (!query_column_of(joining->sources, node, &s, &c))
        return is_alias(joining->select, node) ? STATUS_OK
                                               : query_column_missing(joining->query, joining->sources, node);
    return name_column(joining, node, s, c, out);
}

enum status joining_rename(struct joining *joining)
{
    struct query *const query = joining->query;
    struct sql_select *const select = joining->select;
    struct sql_expression **groups;
    struct sql_order *orders;
    struct sql_source *sources;
    struct sql_item *const items = select->items; /* made by query_expand_stars */
    for (uint32_t i = 0; i < select->item_count; i++) {
        struct sql_expression *const written = items[i].expression;
        RETURN_IF_ERROR(query_rewrite(query, written, replace_name, joining, &items[i].expression));
        if (items[i].expression != written && written->operation == SQL_COLUMN && !items[i].alias)
            items[i].alias = written->name;
    }
    RETURN_IF_ERROR(query_rewrite(query, select->where, replace_name, joining, &select->where));
    RETURN_IF_ERROR(query_rewrite(query, select->having, replace_name, joining, &select->having));
    RETURN_IF_ERROR(query_memory(query, (select->group_count + 1) * sizeof *groups, &groups));
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(query_rewrite(query, select->groups[g], replace_name, joining, &groups[g]));
    select->groups = groups;
    RETURN_IF_ERROR(query_memory(query, (select->order_count + 1) * sizeof *orders, &orders));
    for (uint32_t o = 0; o < select->order_count; o++) {
        orders[o] = select->orders[o];
        if (is_alias(select, orders[o].expression))
            continue;
        RETURN_IF_ERROR(
            query_rewrite(query, select->orders[o].expression, replace_name, joining, &orders[o].expression));
    }
    select->orders = orders;
    RETURN_IF_ERROR(query_memory(query, (select->source_count + 1) * sizeof *sources, &sources));
    joining->in_on = true;
    for (uint32_t s = 0; s < select->source_count; s++) {
        sources[s] = select->sources[s];
        RETURN_IF_ERROR(query_rewrite(query, sources[s].on, replace_name, joining, &sources[s].on));
        joining->sources->list[s].from = &sources[s];
    }
    select->sources = sources;
    return STATUS_OK;
}

/* ---- Conditions ---- */

struct reading {
    const struct query_sources *sources;
    uint64_t mask;
};

static void read_name(void *context, const struct sql_expression *node)
{
    struct reading *const reading = context;
    uint32_t s, c;
    if (node->operation != SQL_COLUMN)
        return;
    reading->mask |= query_column_of(reading->sources, node, &s, &c) ? UINT64_C(1) << s : ALL_SOURCES;
}

uint64_t joining_reads(const struct joining *joining, const struct sql_expression *tree)
{
    struct reading reading = {.sources = joining->sources};
    query_visit(tree, read_name, &reading);
    return reading.mask;
}

enum status joining_split(struct joining *joining, const struct sql_expression *tree, struct conjunct **list,
                          uint32_t *count)
{
    struct query *const query = joining->query;
    if (!tree)
        return STATUS_OK;
    if (tree->operation == SQL_AND) {
        for (uint32_t c = 0; c < tree->child_count; c++)
            RETURN_IF_ERROR(joining_split(joining, tree->children[c], list, count));
        return STATUS_OK;
    }
    const struct conjunct conjunct = {.tree = tree, .sources = joining_reads(joining, tree)};
    return sql_tree_append(query->tree, list, count, sizeof conjunct, &conjunct, query->error);
}
