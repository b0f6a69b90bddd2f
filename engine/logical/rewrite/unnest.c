/* unnest.c: dependent joins become joins (rewrite.h), from the innermost one on. */
#include "engine/logical/rewrite/rewrite.h"

#include "engine/sql/aggregates/aggregate_names.h"

/* ---- Aggregates of no rows ---- */

enum status rewrite_of_empty(struct rewriter *rewriter, const struct sql_expression *call,
                             struct sql_expression **value)
{
    const struct aggregate_name *const name = aggregate_name_find(call->name);
    struct sql_expression *zero;
    if (!name || !name->counts)
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_number(rewriter, call->position, "0", &zero));
    return rewrite_apply(rewriter, SQL_FUNCTION, "coalesce", *value, zero, value);
}

/* A subquery that always has one row: projections and filters over an aggregate without groups. */
static struct logical_node **find_total(struct logical_node **node)
{
    while ((*node)->kind == LOGICAL_PROJECT || (*node)->kind == LOGICAL_FILTER)
        node = &(*node)->inputs[0];
    return (*node)->kind == LOGICAL_AGGREGATE && (*node)->aggregate.group_count == 0 &&
                   (*node)->aggregate.set_count == 0
               ? node
               : NULL;
}

static bool is_total_pullable(struct logical_node *total, const struct logical_set *outer)
{
    struct logical_node alone = *total;
    alone.input_count = 0;
    return !rewrite_tree_names_any(&alone, outer) &&
           rewrite_pullable(total->inputs[0], outer) <= PULL_EQUALITIES;
}

/* What the projections and filters from `node` to the aggregate compute, over the aggregate's columns. */
static enum status compute_chain(struct rewriter *rewriter, const struct logical_node *node,
                                 const struct logical_node *total, struct column_map *map,
                                 struct conjuncts *tests)
{
    struct sql_expression *made;
    if (node == total)
        return STATUS_OK;
    RETURN_IF_ERROR(compute_chain(rewriter, node->inputs[0], total, map, tests));
    if (node->kind == LOGICAL_FILTER) {
        RETURN_IF_ERROR(rewrite_map(rewriter, map, node->filter.condition, &made));
        return rewrite_add(rewriter, made, tests);
    }
    for (uint32_t c = 0; c < node->column_count; c++) {
        const struct sql_expression *const expression = node->project.expressions[c];
        if (expression->operation == SQL_INPUT && expression->index == node->columns[c])
            continue;
        RETURN_IF_ERROR(rewrite_map(rewriter, map, (struct sql_expression *)expression, &made));
        RETURN_IF_ERROR(rewrite_map_add(rewriter, map, node->columns[c], made));
    }
    return STATUS_OK;
}

/* CASE WHEN test THEN value [ELSE otherwise] END; without a test the value. */
static enum status choose(struct rewriter *rewriter, struct sql_expression *test,
                          struct sql_expression *value, struct sql_expression *otherwise,
                          struct sql_expression **out)
{
    *out = value;
    if (!test)
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_CASE, NULL, test, value, out));
    (*out)->has_else = otherwise != NULL;
    return otherwise ? sql_tree_child(rewriter->tree->arena, *out, otherwise, rewriter->error) : STATUS_OK;
}

static enum status truth(struct rewriter *rewriter, struct sql_position position, bool value,
                         struct sql_expression **out)
{
    return sql_tree_node(rewriter->tree->arena, value ? SQL_TRUE : SQL_FALSE, position, out, rewriter->error);
}

/* The subquery's values for each row of the left, which is now joined with its aggregate. */
static enum status project_total(struct rewriter *rewriter, const struct logical_node *join,
                                 const struct logical_node *left, const struct column_map *map,
                                 const struct conjuncts *tests, struct logical_node **node)
{
    const bool mark = join->join.join == LOGICAL_MARK;
    const struct logical_node *const query = join->inputs[1];
    struct logical_node *const joined = *node;
    struct sql_expression *test, *value, *no = NULL;
    RETURN_IF_ERROR(rewrite_join(rewriter, tests, &test));
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, join->position, joined, NULL, node,
                                     rewriter->error));
    for (uint32_t c = 0; c < left->column_count; c++)
        RETURN_IF_ERROR(rewrite_pass(rewriter, *node, left->columns[c]));
    if (mark) {
        RETURN_IF_ERROR(truth(rewriter, join->position, false, &no));
        if (join->join.test)
            RETURN_IF_ERROR(rewrite_map(rewriter, map, join->join.test, &value));
        else
            RETURN_IF_ERROR(truth(rewriter, join->position, true, &value));
        RETURN_IF_ERROR(choose(rewriter, test, value, no, &value));
        return rewrite_project_add(rewriter, *node, value, join->join.mark);
    }
    for (uint32_t c = 0; c < query->column_count; c++) {
        RETURN_IF_ERROR(rewrite_input(rewriter, join->position, query->columns[c], &value));
        RETURN_IF_ERROR(rewrite_map(rewriter, map, value, &value));
        RETURN_IF_ERROR(choose(rewriter, test, value, NULL, &value));
        RETURN_IF_ERROR(rewrite_project_add(rewriter, *node, value, query->columns[c]));
    }
    return STATUS_OK;
}

/* A value, EXISTS or IN of such a subquery: the left rows are joined with its aggregate, by group. */
static enum status unnest_total(struct rewriter *rewriter, const struct logical_set *outer,
                                struct logical_node *total, struct logical_node **node)
{
    struct logical_node *const join = *node, *const left = join->inputs[0];
    struct conjuncts pulled = {0}, tests = {0};
    struct column_map map = {0};
    struct sql_expression *condition;
    const uint32_t aggregates = total->aggregate.aggregate_count;
    RETURN_IF_ERROR(rewrite_pull(rewriter, outer, &total->inputs[0], &pulled));
    RETURN_IF_ERROR(rewrite_group_by(rewriter, outer, total, &pulled));
    RETURN_IF_ERROR(rewrite_join(rewriter, &pulled, &condition));
    for (uint32_t a = 0; a < aggregates; a++) {
        const uint32_t column = total->columns[total->aggregate.group_count + a];
        struct sql_expression *input, *value;
        RETURN_IF_ERROR(rewrite_input(rewriter, join->position, column, &input));
        value = input;
        RETURN_IF_ERROR(rewrite_of_empty(rewriter, total->aggregate.aggregates[a], &value));
        if (value != input)
            RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, column, value));
    }
    RETURN_IF_ERROR(compute_chain(rewriter, join->inputs[1], total, &map, &tests));
    RETURN_IF_ERROR(logical_join_new(rewriter->tree, LOGICAL_LEFT, join->position, left, total, condition,
                                     node, rewriter->error));
    return project_total(rewriter, join, left, &map, &tests, node);
}

/* ---- The whole ---- */

static enum status unnest_join(struct rewriter *rewriter, const struct logical_set *outer,
                               struct logical_node **node)
{
    struct logical_node *const join = *node;
    struct conjuncts pulled = {0};
    struct logical_set free;
    struct logical_node **const total = find_total(&join->inputs[1]);
    if (total && (join->join.join == LOGICAL_SINGLE || join->join.join == LOGICAL_MARK) &&
        !join->join.condition && is_total_pullable(*total, outer))
        return unnest_total(rewriter, outer, *total, node);
    if (rewrite_pullable(join->inputs[1], outer) == PULL_NOT) {
        /* The left is answered once, so it must not depend on a join around it: that one comes first. */
        RETURN_IF_ERROR(logical_free(rewriter->tree, join->inputs[0], &free, rewriter->error));
        rewriter->waiting |= !logical_is_empty(&free);
        return logical_is_empty(&free) ? rewrite_by_domain(rewriter, outer, join) : STATUS_OK;
    }
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &pulled));
    RETURN_IF_ERROR(rewrite_pull(rewriter, outer, &join->inputs[1], &pulled));
    RETURN_IF_ERROR(rewrite_join(rewriter, &pulled, &join->join.condition));
    return rewrite_regive(rewriter, join);
}

/* Unnests a join, and then those below it that waited for it, unless they wait for one around it, too. */
static enum status unnest_and_waiting(struct rewriter *rewriter, struct logical_node **node)
{
    struct logical_set outer, free;
    RETURN_IF_ERROR(rewrite_regive(rewriter, *node));
    RETURN_IF_ERROR(rewrite_gives(rewriter, (*node)->inputs[0], &outer));
    if (!rewrite_tree_names_any((*node)->inputs[1], &outer))
        return STATUS_OK;
    RETURN_IF_ERROR(unnest_join(rewriter, &outer, node));
    if (!rewriter->waiting)
        return STATUS_OK;
    RETURN_IF_ERROR(logical_free(rewriter->tree, *node, &free, rewriter->error));
    return logical_is_empty(&free) ? rewrite_unnest(rewriter, node) : STATUS_OK;
}

/* Conditions on the left rows of a dependent join alone go below it, so that its right side is answered for fewer values. */
static enum status sink(struct rewriter *rewriter, struct logical_node **node)
{
    struct logical_node *const join = (*node)->inputs[0];
    struct conjuncts all = {0}, below = {0}, above = {0};
    struct logical_set left;
    if (join->kind != LOGICAL_JOIN || join->join.join == LOGICAL_FULL)
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_gives(rewriter, join->inputs[0], &left));
    if (!rewrite_tree_names_any(join->inputs[1], &left))
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_split(rewriter, (*node)->filter.condition, &all));
    for (uint32_t i = 0; i < all.count; i++)
        RETURN_IF_ERROR(
            rewrite_add(rewriter, all.list[i], rewrite_is_over(all.list[i], &left) ? &below : &above));
    *node = join;
    RETURN_IF_ERROR(rewrite_filter(rewriter, &below, &join->inputs[0]));
    return rewrite_filter(rewriter, &above, node);
}

enum status rewrite_unnest(struct rewriter *rewriter, struct logical_node **node)
{
    if ((*node)->kind == LOGICAL_FILTER)
        RETURN_IF_ERROR(sink(rewriter, node));
    struct logical_node *const at = *node;
    for (uint32_t i = 0; i < at->input_count; i++)
        RETURN_IF_ERROR(rewrite_unnest(rewriter, &at->inputs[i]));
    switch (at->kind) {
    case LOGICAL_FILTER:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
    case LOGICAL_WINDOW:
        return rewrite_regive(rewriter, at);
    case LOGICAL_JOIN:
        return unnest_and_waiting(rewriter, node);
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_PROJECT:
    case LOGICAL_AGGREGATE:
    case LOGICAL_SET:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    return STATUS_OK;
}
