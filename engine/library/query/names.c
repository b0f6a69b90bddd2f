/* names.c: names and conditions of a level that asks answers (joining.h). */
#include "engine/library/query/joining.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- Names ---- */

/* True for the alias of an item. */
static bool is_alias(const struct sql_select *select, const struct sql_expression *name)
{
    for (uint32_t i = 0; i < select->item_count; i++)
        if (name->operation == SQL_COLUMN && !name->qualifier && select->items[i].alias &&
            word_compare(select->items[i].alias, name->name) == 0)
            return true;
    return false;
}

const char *query_item_name(const struct sql_item *item)
{
    return item->alias                                                   ? item->alias
           : item->expression->operation == SQL_COLUMN && !item->of_star ? item->expression->name
                                                                         : item->text;
}

/* True if both names are the same column of FROM. */
static bool is_same(const struct sql_scope *scope, const struct sql_expression *a,
                    const struct sql_expression *b)
{
    struct sql_scope_column columns[2];
    bool same = sql_scope_find(scope, a, &columns[0]) == 1 && sql_scope_find(scope, b, &columns[1]) == 1 &&
                columns[0].count == columns[1].count;
    for (uint32_t i = 0; same && i < columns[0].count; i++)
        same =
            columns[0].sources[i] == columns[1].sources[i] && columns[0].columns[i] == columns[1].columns[i];
    return same;
}

/* The item that a name in ORDER BY means: the one with this alias, else the one that is this column, else, if it could be
 * several columns, the one that is one of them. item_count: none. */
static uint32_t item_of(const struct sql_scope *scope, const struct sql_select *select,
                        const struct sql_expression *name)
{
    struct sql_scope_column column;
    const bool unique = sql_scope_find(scope, name, &column) == 1;
    for (uint32_t i = 0; i < select->item_count; i++)
        if (select->items[i].alias && word_compare(select->items[i].alias, name->name) == 0)
            return i;
    for (uint32_t i = 0; i < select->item_count; i++) {
        const struct sql_expression *const item = select->items[i].expression;
        if (item->operation == SQL_COLUMN &&
            (unique ? is_same(scope, item, name) : word_compare(item->name, name->name) == 0))
            return i;
    }
    return select->item_count;
}

enum status query_order_term(struct query *query, const struct query_sources *sources,
                             const struct sql_select *select, struct sql_expression **term)
{
    const struct sql_expression *const name = *term;
    char text[16];
    if (name->operation != SQL_COLUMN || name->qualifier)
        return STATUS_OK;
    const uint32_t item = item_of(&sources->scope, select, name);
    if (item == select->item_count)
        return STATUS_OK;
    snprintf(text, sizeof text, "%u", item + 1);
    RETURN_IF_ERROR(query_node(query, SQL_NUMBER, name->position, term));
    (*term)->text = query_text(query, text);
    return (*term)->text ? STATUS_OK : error_out_of_memory(query->error, sizeof text, "a statement");
}

static void mark_used(void *context, const struct sql_expression *node)
{
    const struct query_sources *const sources = context;
    uint32_t s, c;
    if (node->operation == SQL_COLUMN && query_column_of(sources, node, &s, &c))
        sources->list[s].used[c] = true;
}

/* Names of columns become those by which the tables in memory are asked, with their sources. */
static enum status replace_name(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    struct joining *const joining = context;
    const struct sql_scope *const scope = &joining->sources->scope;
    struct sql_scope_column column;
    if (node->operation != SQL_COLUMN)
        return STATUS_OK;
    if (sql_scope_find(scope, node, &column) != 1)
        return is_alias(joining->select, node) || functions_is_current_time(node)
                   ? STATUS_OK
                   : query_column_missing(joining->query, joining->sources, node);
    RETURN_IF_ERROR(
        sql_scope_tree(scope, joining->query->tree, &column, node->position, out, joining->query->error));
    query_visit(*out, mark_used, joining->sources);
    return STATUS_OK;
}

/* Gives each join the condition of its ON and USING. */
static enum status resolve_joins(struct joining *joining)
{
    struct query *const query = joining->query;
    struct sql_select *const select = joining->select;
    struct sql_source *sources;
    RETURN_IF_ERROR(query_memory(query, (select->source_count + 1) * sizeof *sources, &sources));
    memcpy(sources, select->sources, select->source_count * sizeof *sources);
    joining->sources->scope.sources = select->sources = sources;
    RETURN_IF_ERROR(sql_scope_resolve(&joining->sources->scope, query->tree, sources, query->error));
    for (uint32_t s = 0; s < select->source_count; s++) {
        RETURN_IF_ERROR(query_rewrite(query, sources[s].on, replace_name, joining, &sources[s].on));
        joining->sources->list[s].from = &sources[s];
    }
    return STATUS_OK;
}

enum status joining_rename(struct joining *joining)
{
    struct query *const query = joining->query;
    struct sql_select *const select = joining->select;
    struct sql_expression **groups;
    struct sql_order *orders;
    struct sql_item *items;
    RETURN_IF_ERROR(query_rewrite(query, select->where, replace_name, joining, &select->where));
    RETURN_IF_ERROR(query_rewrite(query, select->having, replace_name, joining, &select->having));
    RETURN_IF_ERROR(query_memory(query, (select->group_count + 1) * sizeof *groups, &groups));
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(query_rewrite(query, select->groups[g], replace_name, joining, &groups[g]));
    select->groups = groups;
    RETURN_IF_ERROR(query_memory(query, (select->order_count + 1) * sizeof *orders, &orders));
    for (uint32_t o = 0; o < select->order_count; o++) {
        orders[o] = select->orders[o];
        RETURN_IF_ERROR(query_order_term(query, joining->sources, select, &orders[o].expression));
        RETURN_IF_ERROR(
            query_rewrite(query, orders[o].expression, replace_name, joining, &orders[o].expression));
    }
    select->orders = orders;
    RETURN_IF_ERROR(resolve_joins(joining));
    RETURN_IF_ERROR(query_memory(query, (select->item_count + 1) * sizeof *items, &items));
    for (uint32_t i = 0; i < select->item_count; i++) {
        const struct sql_expression *const written = select->items[i].expression;
        items[i] = select->items[i];
        RETURN_IF_ERROR(query_rewrite(query, written, replace_name, joining, &items[i].expression));
        if (written->operation == SQL_COLUMN && !items[i].alias && !is_alias(select, written))
            items[i].alias = query_item_name(&select->items[i]); /* its new name may be another one */
    }
    select->items = items;
    return STATUS_OK;
}

/* ---- Conditions ---- */

struct reading {
    const struct query_sources *sources;
    uint64_t mask;
    bool unknown; /* there is a name that is no column */
};

static void read_name(void *context, const struct sql_expression *node)
{
    struct reading *const reading = context;
    uint32_t s, c;
    if (node->operation != SQL_COLUMN)
        return;
    if (query_column_of(reading->sources, node, &s, &c))
        reading->mask |= UINT64_C(1) << s;
    else
        reading->unknown = true;
}

static struct reading read_tree(const struct joining *joining, const struct sql_expression *tree)
{
    struct reading reading = {.sources = joining->sources};
    query_visit(tree, read_name, &reading);
    return reading;
}

uint64_t joining_reads(const struct joining *joining, const struct sql_expression *tree)
{
    const struct reading reading = read_tree(joining, tree);
    return reading.unknown ? ALL_SOURCES : reading.mask;
}

uint64_t joining_columns(const struct joining *joining, const struct sql_expression *tree)
{
    return read_tree(joining, tree).mask;
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
