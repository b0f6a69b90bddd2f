/*
 * split.c: an aggregation that needs the values of several arguments becomes a join of several (rewrite.h).
 *
 *     select a, sum(x), median(y), median(z) .. group by a
 *     one scan with groups a, y, z: about as many as rows
 *     select a, sum(x) .. group by a    joined with    select a, median(y) .. group by a    and    select a, median(z) ..
 *     three scans, each with the groups a, or the groups of a quantile (engine/plan/grouping/quantiles.h)
 *
 * Only a scan of stored tables, of which one at most is large, costs so little that it is asked again. The parts have the
 * same node below them, which therefore no later step may change.
 */
#include "engine/logical/rewrite/rewrite.h"
#include "engine/sql/aggregates/aggregate_names.h"

#include <string.h>

#define LARGE_ROWS (UINT64_C(1) << 18)

/* What a scan must know of rows to make an aggregate. */
enum demand {
    DEMAND_ROWS,  /* count(*), which every scan has */
    DEMAND_STATE, /* a word or two of each group, or few cells */
    DEMAND_SET,   /* count(distinct): a set; or all values if there are other ones */
    DEMAND_VALUES,
    DEMAND_QUANTILE
};

static enum demand demand_of(const struct sql_expression *call)
{
    const struct aggregate_name *const name = aggregate_name_find(call->name);
    switch (name->family) {
    case FAMILY_BASIC:
        if (call->distinct && name->distinct)
            return name->counts ? DEMAND_SET : DEMAND_VALUES;
        return call->child_count == 1 && call->children[0]->operation == SQL_STAR ? DEMAND_ROWS
                                                                                  : DEMAND_STATE;
    case FAMILY_QUANTILE:
        return DEMAND_QUANTILE;
    case FAMILY_ARGUMENT:
    case FAMILY_VALUES:
    case FAMILY_STRINGS:
        return DEMAND_VALUES;
    case FAMILY_SELECT:
    case FAMILY_TRUTH:
    case FAMILY_COUNT_IF:
    case FAMILY_SPREAD:
    case FAMILY_PAIR:
    case FAMILY_SKETCH:
    case FAMILY_GROUPING:
    case FAMILY_FOREIGN:
        break;
    }
    return DEMAND_STATE;
}

/* True if one scan has the values of both. */
static bool are_alike(const struct sql_expression *a, const struct sql_expression *b)
{
    const enum aggregate_family family = aggregate_name_find(a->name)->family,
                                other = aggregate_name_find(b->name)->family;
    const bool one = (family == FAMILY_BASIC || family == FAMILY_QUANTILE || family == FAMILY_VALUES) &&
                     (other == FAMILY_BASIC || other == FAMILY_QUANTILE || other == FAMILY_VALUES);
    return one ? sql_same_expression(a->children[0], b->children[0]) : sql_same_expression(a, b);
}

/* Part 0 has the states, the others those of one argument each. Gives each aggregate's part, and returns their number, or 1
 * if the aggregation stays whole. */
static uint32_t divide(const struct logical_node *node, uint32_t *parts)
{
    uint32_t count = 1;
    bool states = false, sets = false, quantiles = true;
    for (uint32_t a = 0; a < node->aggregate.aggregate_count; a++) {
        const enum demand demand = demand_of(node->aggregate.aggregates[a]);
        states |= demand == DEMAND_STATE;
        sets |= demand == DEMAND_SET;
        quantiles &= demand != DEMAND_VALUES;
        parts[a] = 0;
        if (demand != DEMAND_VALUES && demand != DEMAND_QUANTILE)
            continue;
        for (uint32_t b = 0; b < a && !parts[a]; b++)
            if (parts[b] && are_alike(node->aggregate.aggregates[a], node->aggregate.aggregates[b]))
                parts[a] = parts[b];
        if (!parts[a])
            parts[a] = count++;
    }
    const bool whole = count == 2 && !sets && !(states && quantiles);
    if (!whole && !states && !sets && count > 1) { /* numbers of rows are counted with the first argument */
        count--;
        for (uint32_t a = 0; a < node->aggregate.aggregate_count; a++)
            parts[a] -= parts[a] > 0;
    }
    return whole ? 1 : count;
}

/* True if it is a column of a stored table that references another one. */
static bool is_reference(const struct logical_node *node, const struct sql_expression *tree)
{
    bool found = false;
    for (uint32_t c = 0; node->kind == LOGICAL_SCAN && tree->operation == SQL_INPUT && c < node->column_count;
         c++)
        found |=
            node->columns[c] == tree->index && node->scan.table->columns[node->scan.stored[c]].references;
    for (uint32_t i = 0; i < node->input_count && !found; i++)
        found = is_reference(node->inputs[i], tree);
    return found;
}

/* True if a join of the node has an equality with such a column, so that it has no more rows than one side. */
static bool joins_by_reference(const struct logical_node *node, const struct sql_expression *condition)
{
    if (!condition || (condition->operation != SQL_AND && condition->operation != SQL_EQUAL))
        return false;
    bool found = false;
    for (uint32_t c = 0; c < condition->child_count && !found; c++)
        found = condition->operation == SQL_AND ? joins_by_reference(node, condition->children[c])
                                                : is_reference(node, condition->children[c]);
    return found;
}

static bool is_cheap(const struct logical_node *node, uint32_t *large)
{
    bool cheap = node->kind == LOGICAL_SCAN || node->kind == LOGICAL_FILTER ||
                 node->kind == LOGICAL_PROJECT ||
                 (node->kind == LOGICAL_JOIN &&
                  (node->join.join == LOGICAL_INNER || node->join.join == LOGICAL_LEFT) &&
                  joins_by_reference(node, node->join.condition));
    *large += node->kind == LOGICAL_SCAN && table_whole_rows(node->scan.table) >= LARGE_ROWS;
    for (uint32_t i = 0; cheap && i < node->input_count; i++)
        cheap = is_cheap(node->inputs[i], large);
    return cheap && *large <= 1;
}

/* The parts of the aggregates, in memory of the arena; *count is 1 if the node stays whole. */
static enum status find_parts(const struct logical_tree *tree, const struct logical_node *node,
                              uint32_t **parts, uint32_t *count, struct error *error)
{
    uint32_t large = 0;
    *count = 1;
    if (node->kind != LOGICAL_AGGREGATE || node->aggregate.set_count || !is_cheap(node->inputs[0], &large))
        return STATUS_OK;
    RETURN_IF_ERROR(
        sql_tree_take(tree->arena, (node->aggregate.aggregate_count + 1) * sizeof **parts, parts, error));
    *count = divide(node, *parts);
    return STATUS_OK;
}

enum status logical_is_split(const struct logical_tree *tree, const struct logical_node *node, bool *split,
                             struct error *error)
{
    uint32_t *parts, count;
    const enum status status = find_parts(tree, node, &parts, &count, error);
    *split = count > 1;
    return status;
}

/* An aggregation with the same groups, and the aggregates of a part. */
static enum status make_part(struct rewriter *rewriter, const struct logical_node *node,
                             const uint32_t *parts, uint32_t part, struct logical_node **made)
{
    struct logical_tree *const tree = rewriter->tree;
    const uint32_t groups = node->aggregate.group_count;
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_AGGREGATE, node->position, node->inputs[0], NULL, made,
                                     rewriter->error));
    (*made)->aggregate.group_count = groups;
    (*made)->aggregate.groups = node->aggregate.groups;
    for (uint32_t g = 0; g < groups; g++) {
        const struct logical_column *const of = &tree->columns[node->columns[g]];
        uint32_t column = node->columns[g];
        if (part > 0)
            RETURN_IF_ERROR(
                logical_column_new(tree, of->name, of->type, of->nullable, &column, rewriter->error));
        RETURN_IF_ERROR(logical_gives(tree, *made, column, rewriter->error));
    }
    for (uint32_t a = 0; a < node->aggregate.aggregate_count; a++) {
        if (parts[a] != part)
            continue;
        RETURN_IF_ERROR(sql_tree_append(
            tree->arena, &(*made)->aggregate.aggregates, &(*made)->aggregate.aggregate_count,
            sizeof *node->aggregate.aggregates, &node->aggregate.aggregates[a], rewriter->error));
        RETURN_IF_ERROR(logical_gives(tree, *made, node->columns[groups + a], rewriter->error));
    }
    return STATUS_OK;
}

/* Joins a part to those before it, by the groups. */
static enum status join_part(struct rewriter *rewriter, const struct logical_node *node,
                             struct logical_node *part, struct logical_node **joined)
{
    struct conjuncts same = {0};
    struct sql_expression *condition;
    for (uint32_t g = 0; g < node->aggregate.group_count; g++) {
        struct sql_expression *left, *right, *equal;
        const bool nullable = rewriter->tree->columns[node->columns[g]].nullable;
        RETURN_IF_ERROR(rewrite_input(rewriter, node->position, node->columns[g], &left));
        RETURN_IF_ERROR(rewrite_input(rewriter, node->position, part->columns[g], &right));
        RETURN_IF_ERROR(
            rewrite_apply(rewriter, nullable ? SQL_IS_DISTINCT : SQL_EQUAL, NULL, left, right, &equal));
        equal->negated = nullable;
        RETURN_IF_ERROR(rewrite_add(rewriter, equal, &same));
    }
    RETURN_IF_ERROR(rewrite_join(rewriter, &same, &condition));
    return logical_join_new(rewriter->tree, LOGICAL_INNER, node->position, *joined, part, condition, joined,
                            rewriter->error);
}

static enum status split(struct rewriter *rewriter, const uint32_t *parts, uint32_t count,
                         struct logical_node **node)
{
    const struct logical_node *const whole = *node;
    struct logical_node *joined, *part, *project;
    RETURN_IF_ERROR(make_part(rewriter, whole, parts, 0, &joined));
    for (uint32_t p = 1; p < count; p++) {
        RETURN_IF_ERROR(make_part(rewriter, whole, parts, p, &part));
        RETURN_IF_ERROR(join_part(rewriter, whole, part, &joined));
    }
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, whole->position, joined, NULL, &project,
                                     rewriter->error));
    for (uint32_t c = 0; c < whole->column_count; c++)
        RETURN_IF_ERROR(rewrite_pass(rewriter, project, whole->columns[c]));
    *node = project;
    return STATUS_OK;
}

enum status rewrite_split_values(struct rewriter *rewriter, struct logical_node **node)
{
    uint32_t *parts, count;
    for (uint32_t i = 0; i < (*node)->input_count; i++)
        RETURN_IF_ERROR(rewrite_split_values(rewriter, &(*node)->inputs[i]));
    RETURN_IF_ERROR(find_parts(rewriter->tree, *node, &parts, &count, rewriter->error));
    return count > 1 ? split(rewriter, parts, count, node) : STATUS_OK;
}
