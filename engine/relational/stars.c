/* stars.c: which stored tables of a region one plan answers, and that plan (region.h). */
#include "engine/relational/region.h"

#include "engine/sql/tree/scope.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <string.h>

/* ---- Units ---- */

static bool is_stored(const struct source *source)
{
    return source->node->kind == LOGICAL_SCAN &&
           (source->join == LOGICAL_INNER || source->join == LOGICAL_LEFT);
}

static bool is_inner(const struct source *source)
{
    return source->node->kind == LOGICAL_SCAN && source->join == LOGICAL_INNER;
}

bool region_is_stored(const struct region *region)
{
    bool inner = false;
    for (uint32_t s = 0; s < region->source_count; s++) {
        if (!is_stored(&region->sources[s]))
            return false;
        inner |= is_inner(&region->sources[s]);
    }
    return inner && region->source_count <= SQL_SOURCES_MAX && !region->full;
}

/* The source and the stored column of an expression that is one. */
static const struct column *column_of(const struct region *region, const struct sql_expression *tree,
                                      uint32_t *source)
{
    if (tree->operation != SQL_INPUT || !region_maker(region, tree->index))
        return NULL;
    *source = region_maker(region, tree->index) - 1;
    const struct source *const of = &region->sources[*source];
    return of->node->kind == LOGICAL_SCAN
               ? &of->node->scan.table->columns[region->run->uses[tree->index].stored]
               : NULL;
}

/* True if the condition is an equality along a reference: from source *child to source *parent. */
static bool is_reference(const struct region *region, const struct sql_expression *tree, uint32_t *child,
                         uint32_t *parent)
{
    uint32_t s[2] = {0};
    if (tree->operation != SQL_EQUAL)
        return false;
    const struct column *const columns[2] = {column_of(region, tree->children[0], &s[0]),
                                             column_of(region, tree->children[1], &s[1])};
    for (int turned = 0; turned < 2; turned++)
        if (columns[0] && columns[1] && s[0] != s[1] && columns[turned]->references == columns[!turned]) {
            *child = s[turned];
            *parent = s[!turned];
            return true;
        }
    return false;
}

/* True if the conditions compare columns a of source `child` and b of source `parent`. */
static bool has_pair(const struct region *region, const struct conjuncts *conjuncts, uint32_t child,
                     const struct column *a, uint32_t parent, const struct column *b)
{
    for (uint32_t i = 0; i < conjuncts->count; i++) {
        const struct sql_expression *const tree = conjuncts->list[i].tree;
        uint32_t s[2] = {0};
        if (tree->operation != SQL_EQUAL)
            continue;
        const struct column *const columns[2] = {column_of(region, tree->children[0], &s[0]),
                                                 column_of(region, tree->children[1], &s[1])};
        for (int turned = 0; turned < 2; turned++)
            if (columns[turned] == a && columns[!turned] == b && s[turned] == child && s[!turned] == parent)
                return true;
    }
    return false;
}

/* True if the conditions compare all columns of a reference of several columns. */
static bool is_reference_of_several(const struct region *region, const struct conjuncts *conjuncts,
                                    uint32_t child, uint32_t parent)
{
    const struct source *const from = &region->sources[child], *const to = &region->sources[parent];
    const struct table *const table = from->node->scan.table, *const other = to->node->scan.table;
    for (uint32_t c = table_visible_columns(table); c < table->column_count; c++) {
        const struct key_columns *const of = &table->columns[c].schema.of, *const key =
                                                                               &table->columns[c].schema.key;
        bool all = table->columns[c].references && table->columns[c].references->table == other;
        for (uint32_t k = 0; all && k < key->count; k++)
            all = has_pair(region, conjuncts, child, &table->columns[of->columns[k]], parent,
                           &other->columns[key->columns[k]]);
        if (all)
            return true;
    }
    return false;
}

static void unite(struct region *region, uint32_t child, uint32_t parent)
{
    const uint32_t from = region->sources[parent].unit, into = region->sources[child].unit;
    for (uint32_t s = 0; s < region->source_count; s++)
        if (region->sources[s].unit == from)
            region->sources[s].unit = into;
}

static uint64_t unit_sources(const struct region *region, uint32_t unit)
{
    uint64_t sources = 0;
    for (uint32_t s = 0; s < region->source_count; s++)
        sources |= (uint64_t)(region->sources[s].unit == unit) << s;
    return sources;
}

/* An inner table is joined to one that references it, unless another one has done so. */
static void unite_inner(struct region *region)
{
    bool bound[REGION_SOURCES_MAX] = {false};
    uint32_t child, parent;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        if (!is_reference(region, region->conjuncts.list[i].tree, &child, &parent) || bound[parent] ||
            !is_inner(&region->sources[child]) || !is_inner(&region->sources[parent]) ||
            region->sources[child].unit == region->sources[parent].unit)
            continue;
        bound[parent] = true;
        unite(region, child, parent);
    }
    for (parent = 0; parent < region->source_count; parent++)
        for (child = 0; child < region->source_count && !bound[parent]; child++)
            if (is_inner(&region->sources[child]) && is_inner(&region->sources[parent]) &&
                region->sources[child].unit != region->sources[parent].unit &&
                is_reference_of_several(region, &region->conjuncts, child, parent)) {
                bound[parent] = true;
                unite(region, child, parent);
            }
}

/* A table of a LEFT JOIN is joined to one that references it if ON reads nothing outside its unit. */
static void unite_left(struct region *region, uint32_t s)
{
    const struct conjuncts *const on = &region->sources[s].on;
    uint64_t reads = 0;
    uint32_t child = s, from, to;
    for (uint32_t i = 0; i < on->count; i++) {
        reads |= on->list[i].sources;
        if (is_reference(region, on->list[i].tree, &from, &to) && to == s &&
            is_stored(&region->sources[from]))
            child = from;
    }
    for (uint32_t other = 0; other < s && child == s; other++)
        if (is_stored(&region->sources[other]) && is_reference_of_several(region, on, other, s))
            child = other;
    if (child != s && !(reads & ~(unit_sources(region, region->sources[child].unit) | UINT64_C(1) << s)))
        unite(region, child, s);
}

void region_find_units(struct region *region)
{
    for (uint32_t s = 0; s < region->source_count; s++)
        region->sources[s].unit = s;
    unite_inner(region);
    for (uint32_t s = 0; s < region->source_count; s++)
        if (is_stored(&region->sources[s]) && region->sources[s].join == LOGICAL_LEFT)
            unite_left(region, s);
}

/* ---- The plan ---- */

/* Columns of stored tables get the names of their tables. */
static enum status replace_input(void *context, const struct sql_expression *node,
                                 struct sql_expression **out)
{
    const struct region *const region = context;
    uint32_t source;
    const struct column *const column =
        node->operation == SQL_INPUT ? column_of(region, node, &source) : NULL;
    return column ? sql_tree_column(region->run->arena, node->position, region->sources[source].alias,
                                    column->schema.name, out, region->run->error)
                  : STATUS_OK;
}

static enum status rewrite(struct region *region, struct sql_expression **tree)
{
    return sql_tree_rewrite(region->run->arena, *tree, replace_input, region, tree, region->run->error);
}

/* A table's alias, or another one if a table before it has that. */
static enum status name_source(struct region *region, uint64_t sources, uint32_t s)
{
    struct source *const source = &region->sources[s];
    const char *const name =
        source->node->scan.name ? source->node->scan.name : source->node->scan.table->name;
    source->alias = name;
    for (uint32_t number = 2;; number++) {
        bool taken = false;
        char *made;
        for (uint32_t other = 0; other < s; other++)
            taken |= (sources >> other & 1) && word_compare(region->sources[other].alias, source->alias) == 0;
        if (!taken)
            return STATUS_OK;
        RETURN_IF_ERROR(relational_memory(region->run, strlen(name) + 12, &made));
        snprintf(made, strlen(name) + 12, "%s_%u", name, number);
        source->alias = made;
    }
}

static enum status add_source(struct region *region, const struct source *source, bool alone,
                              struct sql_select *select)
{
    const bool left = source->join == LOGICAL_LEFT && !alone;
    struct relational *const run = region->run;
    struct sql_source from = {.table = source->node->scan.table->name,
                              .alias = source->alias,
                              .position = source->position,
                              .join = left                   ? SQL_JOIN_LEFT
                                      : select->source_count ? SQL_JOIN_CROSS
                                                             : SQL_JOIN_NONE};
    if (!left && source->filter)
        RETURN_IF_ERROR(relational_and(run, &select->where, source->filter));
    for (uint32_t i = 0; left && i < source->on.count; i++)
        RETURN_IF_ERROR(relational_and(run, &from.on, source->on.list[i].tree));
    if (from.on)
        RETURN_IF_ERROR(rewrite(region, &from.on));
    return sql_tree_append(run->arena, &select->sources, &select->source_count, sizeof from, &from,
                           run->error);
}

enum status region_plan(struct region *region, uint64_t sources, struct sql_select *select,
                        const uint32_t *numbers, bool last, struct result *result)
{
    struct relational *const run = region->run;
    struct rowset rows;
    *result = (struct result){0};
    for (uint32_t s = 0; s < region->source_count; s++) {
        if (!(sources >> s & 1))
            continue;
        RETURN_IF_ERROR(name_source(region, sources, s));
    }
    for (uint32_t s = 0; s < region->source_count; s++)
        if (sources >> s & 1)
            RETURN_IF_ERROR(add_source(region, &region->sources[s], (sources & (sources - 1)) == 0, select));
    for (uint32_t i = 0; i < select->item_count; i++)
        RETURN_IF_ERROR(rewrite(region, &select->items[i].expression));
    for (uint32_t g = 0; g < select->group_count; g++)
        RETURN_IF_ERROR(rewrite(region, &select->groups[g]));
    for (uint32_t o = 0; o < select->order_count; o++)
        RETURN_IF_ERROR(rewrite(region, &select->orders[o].expression));
    RETURN_IF_ERROR(rewrite(region, &select->where));
    RETURN_IF_ERROR(rewrite(region, &select->having));
    RETURN_IF_ERROR(relational_plan(run, run->task->database, select, last, &rows));
    return result_of_rows(run, &rows, numbers, result);
}
