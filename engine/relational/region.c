/* region.c: see region.h. */
#include "engine/relational/region.h"

#include <stdlib.h>
#include <string.h>

/* A region takes the joins below it as long as they have no more sources than this; deeper ones are answered first. */
#define SOURCES_AT_ONCE 56u

/* A projection whose expressions would become larger than this is answered first. */
#define DEFINITION_NODES_MAX 2000u

enum status region_open(struct relational *run, bool opaque, struct folded **folded, struct region *region)
{
    *region = (struct region){.run = run, .opaque = opaque, .folded = folded};
    return STATUS_OK;
}

/* Columns are again what they were in the region around this one. */
void region_close(struct region *region)
{
    for (uint32_t s = 0; s < region->source_count; s++)
        result_free(&region->sources[s].answered);
    while (region->use_count) {
        const struct column_use_before *const before = &region->before[--region->use_count];
        region->run->uses[before->column] = before->use;
    }
}

enum status region_use(struct region *region, uint32_t column, struct column_use **use)
{
    struct relational *const run = region->run;
    *use = &run->uses[column];
    const struct column_use_before before = {column, **use};
    return sql_tree_append(run->arena, &region->before, &region->use_count, sizeof before, &before,
                           run->error);
}

/* ---- Expressions ---- */

static enum status replace_defined(void *context, const struct sql_expression *node,
                                   struct sql_expression **out)
{
    const struct region *const region = context;
    if (node->operation == SQL_INPUT)
        *out = region->run->uses[node->index].definition;
    return STATUS_OK;
}

enum status region_rewrite(struct region *region, const struct sql_expression *from,
                           struct sql_expression **to)
{
    return sql_tree_rewrite(region->run->arena, from, replace_defined, region, to, region->run->error);
}

/* The nodes of an expression when columns are replaced; at most about the number that is too many. */
static uint32_t size_of(const struct region *region, const struct sql_expression *expression)
{
    uint32_t size = 1;
    if (expression->operation == SQL_INPUT && region->run->uses[expression->index].definition)
        return region->run->uses[expression->index].size;
    for (uint32_t c = 0; c < expression->child_count && size <= DEFINITION_NODES_MAX; c++)
        size += size_of(region, expression->children[c]);
    return size;
}

enum status region_define(struct region *region, uint32_t column, const struct sql_expression *expression)
{
    const uint32_t size = size_of(region, expression);
    struct sql_expression *definition; /* it may name the column itself: what that was below */
    struct column_use *use;
    RETURN_IF_ERROR(region_rewrite(region, expression, &definition));
    RETURN_IF_ERROR(region_use(region, column, &use));
    use->size = size;
    use->definition = definition;
    return STATUS_OK;
}

enum status region_after(struct region *region, const char **after, uint32_t column)
{
    const struct logical_tree *const tree = region->run->tree;
    const char *const name =
        column < tree->column_count && tree->columns[column].name ? tree->columns[column].name : "a subquery";
    const size_t bytes = strlen(name) + (*after ? strlen(*after) : 0) + 3;
    char *list;
    if (*after && strstr(*after, name))
        return STATUS_OK;
    RETURN_IF_ERROR(relational_memory(region->run, bytes, &list));
    snprintf(list, bytes, "%s%s%s", *after ? *after : "", *after ? ", " : "", name);
    *after = list;
    return STATUS_OK;
}

uint64_t region_reads(const struct region *region, const struct sql_expression *expression)
{
    uint64_t sources = 0;
    if (expression->operation == SQL_INPUT && region_maker(region, expression->index))
        return UINT64_C(1) << (region_maker(region, expression->index) - 1);
    for (uint32_t c = 0; c < expression->child_count; c++)
        sources |= region_reads(region, expression->children[c]);
    return sources;
}

enum status region_split(struct region *region, struct sql_expression *condition, struct conjuncts *conjuncts)
{
    struct relational *const run = region->run;
    if (!condition)
        return STATUS_OK;
    if (condition->operation == SQL_AND) {
        for (uint32_t c = 0; c < condition->child_count; c++)
            RETURN_IF_ERROR(region_split(region, condition->children[c], conjuncts));
        return STATUS_OK;
    }
    const struct conjunct conjunct = {.tree = condition, .sources = region_reads(region, condition)};
    return sql_tree_append(run->arena, &conjuncts->list, &conjuncts->count, sizeof conjunct, &conjunct,
                           run->error);
}

static enum status add_condition(struct region *region, const struct sql_expression *condition,
                                 struct conjuncts *conjuncts)
{
    struct sql_expression *rewritten;
    RETURN_IF_ERROR(region_rewrite(region, condition, &rewritten));
    return region_split(region, rewritten, conjuncts);
}

/* ---- Sources ---- */

static uint32_t count_sources(const struct logical_node *node)
{
    const bool through = node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT ||
                         node->kind == LOGICAL_JOIN || node->kind == LOGICAL_SORT;
    uint32_t count = !through;
    for (uint32_t i = 0; through && i < node->input_count; i++)
        count += count_sources(node->inputs[i]);
    return count;
}

static enum status add_source(struct region *region, const struct logical_node *node, enum logical_join join,
                              struct source **source)
{
    if (region->source_count == REGION_SOURCES_MAX)
        return relational_refuse(region->run, node->position,
                                 "FROM joins more than %u tables at once; ask in several query blocks",
                                 REGION_SOURCES_MAX);
    *source = &region->sources[region->source_count++];
    **source = (struct source){.node = node, .join = join, .position = node->position, .reduced = 1};
    for (uint32_t c = 0; c < node->column_count; c++) {
        struct column_use *use;
        RETURN_IF_ERROR(region_use(region, node->columns[c], &use));
        *use = (struct column_use){.maker = (uint8_t)region->source_count,
                                   .stored = node->kind == LOGICAL_SCAN ? node->scan.stored[c] : 0};
    }
    return STATUS_OK;
}

static bool is_computing(const struct region *region, const struct logical_node *project, bool *large)
{
    bool computing = false;
    *large = false;
    for (uint32_t c = 0; c < project->column_count; c++) {
        const struct sql_expression *const expression = project->project.expressions[c];
        const bool computed = expression->operation != SQL_INPUT; /* a name makes nothing larger */
        computing |= computed;
        *large |= computed && size_of(region, expression) > DEFINITION_NODES_MAX;
    }
    return computing;
}

enum status region_project(struct region *region, const struct logical_node *node)
{
    bool large;
    const bool computes = is_computing(region, node, &large);
    region->computes |= computes;
    region->large |= large && !region->opaque;
    if (region->large)
        return relational_refuse(region->run, node->position,
                                 "the expressions of this SELECT are too large when they are put into each "
                                 "other"); /* block.c then answers it first */
    for (uint32_t c = 0; c < node->column_count; c++)
        RETURN_IF_ERROR(region_define(region, node->columns[c], node->project.expressions[c]));
    return STATUS_OK;
}

static enum status collect_project(struct region *region, const struct logical_node *node)
{
    struct source *source;
    bool large;
    if (is_computing(region, node, &large) && region->opaque)
        return add_source(region, node, LOGICAL_INNER, &source);
    RETURN_IF_ERROR(region_collect(region, node->inputs[0], false));
    return region_project(region, node);
}

/* ---- Joins ---- */

/* The stored table that filters and projections of its columns stand over, or NULL. */
static const struct logical_node *scan_below(const struct region *region, const struct logical_node *node)
{
    bool large;
    while (node->kind == LOGICAL_FILTER ||
           (node->kind == LOGICAL_PROJECT && !is_computing(region, node, &large)))
        node = node->inputs[0];
    return node->kind == LOGICAL_SCAN ? node : NULL;
}

/* Conditions on the right side of a LEFT JOIN are as good in its ON. */
static enum status collect_filters(struct region *region, const struct logical_node *node,
                                   struct conjuncts *on)
{
    if (node->kind == LOGICAL_SCAN)
        return STATUS_OK;
    RETURN_IF_ERROR(collect_filters(region, node->inputs[0], on));
    return node->kind == LOGICAL_FILTER ? add_condition(region, node->filter.condition, on)
                                        : region_project(region, node);
}

enum status region_collect_alone(struct region *region, const struct logical_node *node)
{
    struct result answered = {0};
    struct source *source;
    bool taken;
    RETURN_IF_ERROR(region_take_dimension(region, node, &taken, &answered));
    if (taken)
        return STATUS_OK;
    const enum status status = add_source(region, node, LOGICAL_INNER, &source);
    if (status == STATUS_OK)
        source->answered = answered;
    else
        result_free(&answered);
    return status;
}

static enum status collect_attached(struct region *region, const struct logical_node *join)
{
    const struct logical_node *const right = join->inputs[1], *const scan = join->join.join == LOGICAL_LEFT
                                                                                ? scan_below(region, right)
                                                                                : NULL;
    struct conjuncts asked = {0}; /* by the answer of a dimension */
    struct result answered = {0};
    struct source *source;
    bool folded = false;
    if (join->join.join >= LOGICAL_SEMI)
        RETURN_IF_ERROR(region_fold(region, join, &folded, &answered));
    else if (join->join.join == LOGICAL_LEFT && !join->join.condition)
        RETURN_IF_ERROR(region_fold_side(region, right, true, &folded));
    else if (join->join.join == LOGICAL_LEFT)
        RETURN_IF_ERROR(region_take_dimension(region, scan ? scan : right, &folded, &answered));
    if (folded)
        return scan ? collect_filters(region, right, &asked) : STATUS_OK;
    const enum status status = add_source(region, scan ? scan : right, join->join.join, &source);
    if (status != STATUS_OK) {
        result_free(&answered);
        return status;
    }
    source->answered = answered;
    source->position = join->position;
    if (join->join.join == LOGICAL_MARK) {
        struct column_use *use;
        source->mark = join->join.mark;
        RETURN_IF_ERROR(region_use(region, source->mark, &use));
        *use = (struct column_use){.maker = (uint8_t)region->source_count};
    }
    struct conjuncts on = {0};
    if (scan)
        RETURN_IF_ERROR(collect_filters(region, right, &on));
    RETURN_IF_ERROR(add_condition(region, join->join.condition, &on));
    source->on = on;
    if (join->join.join == LOGICAL_MARK)
        return add_condition(region, join->join.test, &source->test);
    return STATUS_OK;
}

static enum status collect_side(struct region *region, const struct logical_node *node)
{
    bool folded;
    RETURN_IF_ERROR(region_fold_side(region, node, false, &folded));
    return folded ? STATUS_OK : region_collect(region, node, false);
}

static enum status collect_join(struct region *region, const struct logical_node *node, bool root)
{
    const bool full = node->join.join == LOGICAL_FULL;
    if (!root && (full || region->source_count + count_sources(node) > SOURCES_AT_ONCE))
        return region_collect_alone(region, node);
    region->full |= full;
    if (full)
        RETURN_IF_ERROR(region_collect_alone(region, node->inputs[0]));
    else
        RETURN_IF_ERROR(collect_side(region, node->inputs[0]));
    if (node->join.join != LOGICAL_INNER)
        return collect_attached(region, node);
    RETURN_IF_ERROR(collect_side(region, node->inputs[1]));
    return node->join.condition ? add_condition(region, node->join.condition, &region->conjuncts) : STATUS_OK;
}

enum status region_collect(struct region *region, const struct logical_node *node, bool root)
{
    switch (node->kind) {
    case LOGICAL_FILTER:
        RETURN_IF_ERROR(region_collect(region, node->inputs[0], root));
        return add_condition(region, node->filter.condition, &region->conjuncts);
    case LOGICAL_PROJECT:
        return collect_project(region, node);
    case LOGICAL_SORT: /* without a limit it says nothing to what is above it */
        return region_collect(region, node->inputs[0], root);
    case LOGICAL_JOIN:
        return collect_join(region, node, root);
    case LOGICAL_VALUES:
        if (node->values.row_count == 1 && node->column_count == 0)
            return STATUS_OK;
        return region_collect_alone(region, node);
    case LOGICAL_SCAN:
    case LOGICAL_AGGREGATE:
    case LOGICAL_WINDOW:
    case LOGICAL_LIMIT:
    case LOGICAL_SET:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        return region_collect_alone(region, node);
    }
    return STATUS_OK;
}
