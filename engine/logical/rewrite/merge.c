/*
 * merge.c: aggregates of the same rows are computed together (rewrite.h): of joins with one row each, as subqueries that are
 * values are, those that aggregate the same tables by the same conditions become one.
 *
 *     join left                                   join left
 *       join left                                   scan a
 *         scan a                                    project 5 7: @4, @6
 *         project 5: @4                               aggregate 4 6: count(*), sum(@1)
 *           aggregate 4: count(*)                       filter @1 > 2
 *             filter @1 > 2                               scan b: 1
 *               scan b: 1
 *       project 7: @6
 *         aggregate 6: sum(@2)
 *           filter @2 > 2
 *             scan b: 2
 */
#include "engine/logical/rewrite/rewrite.h"

/* The aggregate without groups that the right side of a join without a condition is a projection of, or NULL. */
static struct logical_node *total_of(const struct logical_node *node)
{
    if (node->kind != LOGICAL_JOIN || node->join.condition ||
        (node->join.join != LOGICAL_INNER && node->join.join != LOGICAL_LEFT &&
         node->join.join != LOGICAL_SINGLE) ||
        node->inputs[1]->kind != LOGICAL_PROJECT)
        return NULL;
    struct logical_node *const total = node->inputs[1]->inputs[0];
    return total->kind == LOGICAL_AGGREGATE && !total->aggregate.group_count && !total->aggregate.set_count
               ? total
               : NULL;
}

static enum status same_expression(struct rewriter *rewriter, const struct column_map *map,
                                   const struct sql_expression *a, struct sql_expression *b, bool *same)
{
    struct sql_expression *made;
    RETURN_IF_ERROR(rewrite_map(rewriter, map, b, &made));
    *same = a && made ? sql_same_expression(a, made) : a == made;
    return STATUS_OK;
}

/* The column of scan `a` for each of scan `b` of the same table. */
static enum status same_scan(struct rewriter *rewriter, struct column_map *map, const struct logical_node *a,
                             const struct logical_node *b, bool *same)
{
    *same = a->scan.table == b->scan.table;
    for (uint32_t c = 0; c < b->column_count && *same; c++) {
        struct sql_expression *input;
        uint32_t of = 0;
        while (of < a->column_count && a->scan.stored[of] != b->scan.stored[c])
            of++;
        *same = of < a->column_count;
        if (!*same)
            break;
        RETURN_IF_ERROR(rewrite_input(rewriter, a->position, a->columns[of], &input));
        RETURN_IF_ERROR(rewrite_map_add(rewriter, map, b->columns[c], input));
    }
    return STATUS_OK;
}

/* Whether both have the same rows; the map gets the column of a for each of b. */
static enum status same_rows(struct rewriter *rewriter, struct column_map *map, const struct logical_node *a,
                             const struct logical_node *b, bool *same)
{
    *same = a->kind == b->kind;
    if (!*same)
        return STATUS_OK;
    if (a->kind == LOGICAL_SCAN)
        return same_scan(rewriter, map, a, b, same);
    *same = a->kind == LOGICAL_FILTER ||
            (a->kind == LOGICAL_JOIN && a->join.join == LOGICAL_INNER && b->join.join == LOGICAL_INNER);
    for (uint32_t i = 0; i < a->input_count && *same; i++)
        RETURN_IF_ERROR(same_rows(rewriter, map, a->inputs[i], b->inputs[i], same));
    if (!*same)
        return STATUS_OK;
    return a->kind == LOGICAL_FILTER
               ? same_expression(rewriter, map, a->filter.condition, b->filter.condition, same)
               : same_expression(rewriter, map, a->join.condition, b->join.condition, same);
}

/* Adds the aggregates of the right side of `from`, and what it computes from them, to that of `into`. */
static enum status take_totals(struct rewriter *rewriter, const struct column_map *map,
                               const struct logical_node *from, struct logical_node *into)
{
    const struct logical_node *const project = from->inputs[1], *const total = project->inputs[0];
    struct logical_node *const all = into->inputs[1]->inputs[0];
    for (uint32_t a = 0; a < total->aggregate.aggregate_count; a++) {
        struct sql_expression *made;
        RETURN_IF_ERROR(rewrite_map(rewriter, map, total->aggregate.aggregates[a], &made));
        RETURN_IF_ERROR(sql_tree_append(rewriter->tree->arena, &all->aggregate.aggregates,
                                        &all->aggregate.aggregate_count, sizeof made, &made,
                                        rewriter->error));
        RETURN_IF_ERROR(logical_gives(rewriter->tree, all, total->columns[a], rewriter->error));
    }
    for (uint32_t c = 0; c < project->column_count; c++)
        RETURN_IF_ERROR(rewrite_project_add(rewriter, into->inputs[1], project->project.expressions[c],
                                            project->columns[c]));
    return STATUS_OK;
}

/* Merges the right side of `from` into that of a join below `node`, which is on its left. Nodes between give its columns, too. */
static enum status merge_into(struct rewriter *rewriter, const struct logical_node *from,
                              struct logical_node *node, bool *merged)
{
    const struct logical_node *const total = total_of(node);
    *merged = false;
    if (total) {
        struct column_map map = {0};
        RETURN_IF_ERROR(same_rows(rewriter, &map, total->inputs[0], total_of(from)->inputs[0], merged));
        if (*merged)
            RETURN_IF_ERROR(take_totals(rewriter, &map, from, node));
    }
    if (!*merged && (node->kind == LOGICAL_JOIN || node->kind == LOGICAL_FILTER))
        RETURN_IF_ERROR(merge_into(rewriter, from, node->inputs[0], merged));
    return *merged ? rewrite_regive(rewriter, node) : STATUS_OK;
}

enum status rewrite_merge(struct rewriter *rewriter, struct logical_node **node)
{
    struct logical_node *const at = *node;
    bool merged = false;
    for (uint32_t i = 0; i < at->input_count; i++)
        RETURN_IF_ERROR(rewrite_merge(rewriter, &at->inputs[i]));
    if (total_of(at))
        RETURN_IF_ERROR(merge_into(rewriter, at, at->inputs[0], &merged));
    if (merged)
        *node = at->inputs[0];
    return STATUS_OK;
}
