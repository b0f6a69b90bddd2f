/*
 * domain.c: the general way to unnest (rewrite.h): the subquery is answered once for each distinct value of the outer
 * columns that it names, its *domain*, which is joined into it as deep as it is needed.
 *
 *     left L, right R that names columns a of L        L join R' on a is not distinct from d
 *                                                      R': R with d for a, for each d of D = (select distinct a from L)
 *
 * L and D are shared queries, so that each is answered once.
 */
#include "engine/logical/rewrite/rewrite.h"

#include <string.h>

struct domain {
    struct rewriter *rewriter;
    const struct logical_set *outer; /* columns of L */
    uint32_t count;
    uint32_t *columns; /* those that R names */
    uint32_t shared;   /* D */
};

/* ---- Shared queries ---- */

static enum status refer(struct rewriter *rewriter, uint32_t shared, struct logical_node **node)
{
    return logical_refer(rewriter->tree, shared, rewriter->tree->shared[shared].root->position, node,
                         rewriter->error);
}

/* D: the distinct values of the columns in L's answer. */
static enum status make_domain(struct domain *domain, uint32_t left)
{
    struct rewriter *const rewriter = domain->rewriter;
    const struct logical_node *const root = rewriter->tree->shared[left].root;
    struct logical_node *reference, *distinct;
    RETURN_IF_ERROR(refer(rewriter, left, &reference));
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_AGGREGATE, root->position, reference, NULL,
                                     &distinct, rewriter->error));
    for (uint32_t i = 0; i < domain->count; i++)
        for (uint32_t c = 0; c < root->column_count; c++) {
            struct sql_expression *input;
            uint32_t column;
            if (root->columns[c] != domain->columns[i])
                continue;
            RETURN_IF_ERROR(rewrite_input(rewriter, root->position, reference->columns[c], &input));
            RETURN_IF_ERROR(rewrite_add_group(rewriter, distinct, input, &column));
            break;
        }
    return logical_share(rewriter->tree, "domain", distinct, NULL, &domain->shared, rewriter->error);
}

/* ---- Into the subquery ---- */

/* a IS NOT DISTINCT FROM b, for each column */
static enum status equal_columns(struct rewriter *rewriter, struct sql_position position, const uint32_t *a,
                                 const uint32_t *b, uint32_t count, struct conjuncts *conjuncts)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sql_expression *left, *right, *same;
        RETURN_IF_ERROR(rewrite_input(rewriter, position, a[i], &left));
        RETURN_IF_ERROR(rewrite_input(rewriter, position, b[i], &right));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_IS_DISTINCT, NULL, left, right, &same));
        same->negated = true;
        RETURN_IF_ERROR(rewrite_add(rewriter, same, conjuncts));
    }
    return STATUS_OK;
}

/* The node's expressions take the domain's columns for the outer ones. */
static enum status map_node(const struct domain *domain, const uint32_t *columns, struct logical_node *node)
{
    struct column_map map = {0};
    for (uint32_t i = 0; i < domain->count; i++) {
        struct sql_expression *input;
        RETURN_IF_ERROR(rewrite_input(domain->rewriter, node->position, columns[i], &input));
        RETURN_IF_ERROR(rewrite_map_add(domain->rewriter, &map, domain->columns[i], input));
    }
    return rewrite_map_node(domain->rewriter, &map, node);
}

/* Makes *node one that gives its columns, and in `columns` the domain's, for each value of the domain. */
static enum status attach(const struct domain *domain, struct logical_node **node, uint32_t *columns);

static enum status new_columns(const struct domain *domain, uint32_t **columns)
{
    return sql_tree_take(domain->rewriter->tree->arena, (domain->count + 1) * sizeof **columns, columns,
                         domain->rewriter->error);
}

/* What depends on nothing is the same for each value. */
static enum status attach_cross(const struct domain *domain, struct logical_node **node, uint32_t *columns)
{
    struct rewriter *const rewriter = domain->rewriter;
    struct logical_node *values;
    RETURN_IF_ERROR(refer(rewriter, domain->shared, &values));
    memcpy(columns, values->columns, domain->count * sizeof *columns);
    return logical_join_new(rewriter->tree, LOGICAL_INNER, (*node)->position, *node, values, NULL, node,
                            rewriter->error);
}

static enum status attach_project(const struct domain *domain, struct logical_node *node, uint32_t *columns)
{
    RETURN_IF_ERROR(attach(domain, &node->inputs[0], columns));
    RETURN_IF_ERROR(map_node(domain, columns, node));
    for (uint32_t i = 0; i < domain->count; i++)
        RETURN_IF_ERROR(rewrite_pass(domain->rewriter, node, columns[i]));
    return STATUS_OK;
}

/* Adds to a join's condition that both sides are of one value of the domain. */
static enum status same_value(const struct domain *domain, struct logical_node *join, const uint32_t *left,
                              const uint32_t *right)
{
    struct rewriter *const rewriter = domain->rewriter;
    struct conjuncts conjuncts = {0};
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &conjuncts));
    RETURN_IF_ERROR(equal_columns(rewriter, join->position, left, right, domain->count, &conjuncts));
    return rewrite_join(rewriter, &conjuncts, &join->join.condition);
}

/* Of FULL JOIN, the value is that of the side that has a row. */
static enum status attach_full(const struct domain *domain, struct logical_node **node, const uint32_t *left,
                               const uint32_t *right, uint32_t *columns)
{
    struct rewriter *const rewriter = domain->rewriter;
    RETURN_IF_ERROR(rewrite_project(rewriter, node));
    for (uint32_t i = 0; i < domain->count; i++) {
        struct sql_expression *a, *b, *value;
        RETURN_IF_ERROR(rewrite_input(rewriter, (*node)->position, left[i], &a));
        RETURN_IF_ERROR(rewrite_input(rewriter, (*node)->position, right[i], &b));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, "coalesce", a, b, &value));
        RETURN_IF_ERROR(rewrite_column(rewriter, value, &columns[i]));
        RETURN_IF_ERROR(rewrite_project_add(rewriter, *node, value, columns[i]));
    }
    return STATUS_OK;
}

static enum status attach_join(const struct domain *domain, struct logical_node **node, uint32_t *columns)
{
    struct logical_node *const join = *node;
    const bool inner = join->join.join == LOGICAL_INNER, full = join->join.join == LOGICAL_FULL;
    const bool right = full || rewrite_tree_names_any(join->inputs[1], domain->outer);
    const bool left = !inner || !right || rewrite_tree_names_any(join->inputs[0], domain->outer);
    uint32_t *others;
    RETURN_IF_ERROR(new_columns(domain, &others));
    if (left)
        RETURN_IF_ERROR(attach(domain, &join->inputs[0], columns));
    if (right)
        RETURN_IF_ERROR(attach(domain, &join->inputs[1], left ? others : columns));
    RETURN_IF_ERROR(map_node(domain, columns, join));
    if (left && right)
        RETURN_IF_ERROR(same_value(domain, join, columns, others));
    RETURN_IF_ERROR(rewrite_regive(domain->rewriter, join));
    return full ? attach_full(domain, node, columns, others, columns) : STATUS_OK;
}

/* An aggregate without groups has a row for each value, also where no row is: counts are then 0. */
static enum status attach_total(const struct domain *domain, struct logical_node **node, uint32_t *columns)
{
    struct rewriter *const rewriter = domain->rewriter;
    struct logical_tree *const tree = rewriter->tree;
    struct logical_node *const aggregate = *node, *values;
    const uint32_t groups = aggregate->aggregate.group_count;
    struct conjuncts same = {0};
    struct sql_expression *condition;
    RETURN_IF_ERROR(refer(rewriter, domain->shared, &values));
    RETURN_IF_ERROR(
        equal_columns(rewriter, aggregate->position, values->columns, columns, domain->count, &same));
    RETURN_IF_ERROR(rewrite_join(rewriter, &same, &condition));
    RETURN_IF_ERROR(logical_join_new(tree, LOGICAL_LEFT, aggregate->position, values, aggregate, condition,
                                     node, rewriter->error));
    memcpy(columns, values->columns, domain->count * sizeof *columns);
    struct logical_node *const joined = *node;
    RETURN_IF_ERROR(
        logical_node_new(tree, LOGICAL_PROJECT, aggregate->position, joined, NULL, node, rewriter->error));
    for (uint32_t i = 0; i < domain->count; i++)
        RETURN_IF_ERROR(rewrite_pass(rewriter, *node, columns[i]));
    for (uint32_t a = 0; a < aggregate->aggregate.aggregate_count; a++) {
        const uint32_t given = aggregate->columns[groups + a];
        const struct logical_column of = tree->columns[given];
        uint32_t column;
        struct sql_expression *value;
        RETURN_IF_ERROR(logical_column_new(tree, of.name, of.type, of.nullable, &column, rewriter->error));
        aggregate->columns[groups + a] = column;
        RETURN_IF_ERROR(rewrite_input(rewriter, aggregate->position, column, &value));
        RETURN_IF_ERROR(rewrite_of_empty(rewriter, aggregate->aggregate.aggregates[a], &value));
        RETURN_IF_ERROR(rewrite_project_add(rewriter, *node, value, given));
    }
    return rewrite_regive(rewriter, joined);
}

static enum status attach_aggregate(const struct domain *domain, struct logical_node **node,
                                    uint32_t *columns)
{
    struct rewriter *const rewriter = domain->rewriter;
    struct logical_node *const aggregate = *node;
    const bool total = aggregate->aggregate.group_count == 0;
    const uint32_t listed = aggregate->aggregate.group_count;
    RETURN_IF_ERROR(attach(domain, &aggregate->inputs[0], columns));
    RETURN_IF_ERROR(map_node(domain, columns, aggregate));
    for (uint32_t i = 0; i < domain->count; i++) {
        struct sql_expression *term;
        RETURN_IF_ERROR(rewrite_input(rewriter, aggregate->position, columns[i], &term));
        RETURN_IF_ERROR(rewrite_add_group(rewriter, aggregate, term, &columns[i]));
    }
    for (uint32_t s = 0; s < aggregate->aggregate.set_count; s++) /* each set is of one value */
        for (uint32_t i = 0; i < domain->count; i++)
            aggregate->aggregate.sets[s] |= UINT64_C(1) << (listed + i);
    return total ? attach_total(domain, node, columns) : STATUS_OK;
}

/* The inputs of a set give its columns, and then the domain's. */
static enum status attach_part(const struct domain *domain, struct logical_node **part)
{
    struct rewriter *const rewriter = domain->rewriter;
    const struct logical_node *const before = *part;
    const uint32_t count = before->column_count;
    uint32_t *columns, *given;
    RETURN_IF_ERROR(new_columns(domain, &columns));
    RETURN_IF_ERROR(
        sql_tree_take(rewriter->tree->arena, (count + 1) * sizeof *given, &given, rewriter->error));
    memcpy(given, before->columns, count * sizeof *given);
    RETURN_IF_ERROR(attach(domain, part, columns));
    struct logical_node *const input = *part;
    RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, input->position, input, NULL, part,
                                     rewriter->error));
    for (uint32_t c = 0; c < count; c++)
        RETURN_IF_ERROR(rewrite_pass(rewriter, *part, given[c]));
    for (uint32_t i = 0; i < domain->count; i++)
        RETURN_IF_ERROR(rewrite_pass(rewriter, *part, columns[i]));
    return STATUS_OK;
}

/* The node gives new columns for the domain's. */
static enum status give_columns(const struct domain *domain, struct logical_node *node, uint32_t *columns)
{
    struct logical_tree *const tree = domain->rewriter->tree;
    for (uint32_t i = 0; i < domain->count; i++) {
        const struct logical_column of = tree->columns[domain->columns[i]];
        RETURN_IF_ERROR(
            logical_column_new(tree, of.name, of.type, of.nullable, &columns[i], domain->rewriter->error));
        RETURN_IF_ERROR(logical_gives(tree, node, columns[i], domain->rewriter->error));
    }
    return STATUS_OK;
}

static enum status attach_set(const struct domain *domain, struct logical_node *node, uint32_t *columns)
{
    for (uint32_t i = 0; i < 2; i++)
        RETURN_IF_ERROR(attach_part(domain, &node->inputs[i]));
    return give_columns(domain, node, columns);
}

/* The domain's columns are none from outside any more. */
static enum status forget(const struct domain *domain, struct logical_outer *outer)
{
    struct logical_outer left = {0};
    for (uint32_t c = 0; c < outer->count; c++) {
        uint32_t i = 0;
        while (i < domain->count && domain->columns[i] != outer->columns[c])
            i++;
        if (i == domain->count)
            RETURN_IF_ERROR(sql_tree_append(domain->rewriter->tree->arena, &left.columns, &left.count,
                                            sizeof *left.columns, &outer->columns[c],
                                            domain->rewriter->error));
    }
    *outer = left;
    return STATUS_OK;
}

/* True if the subtree has rows only where the step before found some: of an aggregate without groups, for one, there is a
 * row without any. */
static bool ends_with_working(const struct logical_node *node, uint32_t step)
{
    const struct logical_node *const *const inputs = (const struct logical_node *const *)node->inputs;
    const bool first = node->input_count && ends_with_working(inputs[0], step);
    const bool second = node->input_count > 1 && ends_with_working(inputs[1], step);
    switch (node->kind) {
    case LOGICAL_WORKING:
        return node->working.step == step;
    case LOGICAL_FILTER:
    case LOGICAL_PROJECT:
    case LOGICAL_WINDOW:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        return first;
    case LOGICAL_AGGREGATE:
        return first && node->aggregate.group_count && !node->aggregate.set_count;
    case LOGICAL_JOIN:
        return node->join.join == LOGICAL_FULL    ? first && second
               : node->join.join == LOGICAL_INNER ? first || second
                                                  : first;
    case LOGICAL_SET:
        return first && (second || node->set.set != SQL_SET_UNION);
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
        break;
    }
    return false;
}

/* Leaves out of the step the rows for values for which the step before found none: for them it has ended. */
static enum status end_step(const struct domain *domain, const struct logical_node *node,
                            struct logical_node **root)
{
    struct rewriter *const rewriter = domain->rewriter;
    struct logical_tree *const tree = rewriter->tree;
    const uint32_t others = node->column_count - domain->count, *const columns = (*root)->columns;
    struct logical_node *working;
    RETURN_IF_ERROR(
        logical_node_new(tree, LOGICAL_WORKING, node->position, NULL, NULL, &working, rewriter->error));
    working->working.step = node->recursive.step;
    for (uint32_t c = 0; c < node->column_count; c++) {
        const struct logical_column of = tree->columns[node->columns[c]];
        uint32_t column;
        RETURN_IF_ERROR(logical_column_new(tree, of.name, of.type, of.nullable, &column, rewriter->error));
        RETURN_IF_ERROR(logical_gives(tree, working, column, rewriter->error));
    }
    RETURN_IF_ERROR(
        logical_join_new(tree, LOGICAL_SEMI, node->position, *root, working, NULL, root, rewriter->error));
    RETURN_IF_ERROR(same_value(domain, *root, columns + others, working->columns + others));
    return logical_rename(tree, (*root)->columns, root, rewriter->error);
}

/* Both parts give the domain's columns, and so do the rows that the step found last: a step goes on for each value. */
static enum status attach_recursive(const struct domain *domain, struct logical_node *node, uint32_t *columns)
{
    struct logical_tree *const tree = domain->rewriter->tree;
    const uint32_t parts[] = {node->recursive.first, node->recursive.step};
    RETURN_IF_ERROR(forget(domain, &node->recursive.outer));
    RETURN_IF_ERROR(give_columns(domain, node, columns));
    for (uint32_t i = 0; i < 2; i++) {
        struct logical_node *root = tree->shared[parts[i]].root; /* the list may move */
        const bool ends = i == 0 || ends_with_working(root, node->recursive.step);
        RETURN_IF_ERROR(rewrite_unnest(domain->rewriter, &root));
        RETURN_IF_ERROR(attach_part(domain, &root));
        if (!ends)
            RETURN_IF_ERROR(end_step(domain, node, &root));
        RETURN_IF_ERROR(rewrite_unnest(domain->rewriter, &root)); /* what waited for the columns */
        tree->shared[parts[i]].root = root;
    }
    return STATUS_OK;
}

static enum status attach_limit(const struct domain *domain, struct logical_node **node, uint32_t *columns)
{
    struct logical_node *const limit = *node;
    RETURN_IF_ERROR(attach(domain, &limit->inputs[0], columns));
    *node = limit->inputs[0];
    return rewrite_limit_by(domain->rewriter, limit, columns, domain->count, node);
}

static enum status attach(const struct domain *domain, struct logical_node **node, uint32_t *columns)
{
    struct logical_node *const at = *node;
    if (!rewrite_tree_names_any(at, domain->outer))
        return attach_cross(domain, node, columns);
    switch (at->kind) {
    case LOGICAL_PROJECT:
        return attach_project(domain, at, columns);
    case LOGICAL_JOIN:
        return attach_join(domain, node, columns);
    case LOGICAL_AGGREGATE:
        return attach_aggregate(domain, node, columns);
    case LOGICAL_SET:
        return attach_set(domain, at, columns);
    case LOGICAL_LIMIT:
        return attach_limit(domain, node, columns);
    case LOGICAL_FILTER:
    case LOGICAL_WINDOW:
    case LOGICAL_SORT:
        RETURN_IF_ERROR(attach(domain, &at->inputs[0], columns));
        RETURN_IF_ERROR(map_node(domain, columns, at));
        if (at->kind == LOGICAL_WINDOW)
            RETURN_IF_ERROR(rewrite_partition_by(domain->rewriter, columns, domain->count, at));
        return rewrite_regive(domain->rewriter, at);
    case LOGICAL_RECURSIVE:
        return attach_recursive(domain, at, columns);
    case LOGICAL_WORKING:
        RETURN_IF_ERROR(forget(domain, &at->working.outer));
        return give_columns(domain, at, columns);
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_SHARED:
        break;
    }
    return attach_cross(domain, node, columns);
}

/* ---- The whole ---- */

enum status rewrite_by_domain(struct rewriter *rewriter, const struct logical_set *outer,
                              struct logical_node *join)
{
    struct domain domain = {.rewriter = rewriter, .outer = outer};
    struct logical_set named;
    uint32_t left, *columns;
    RETURN_IF_ERROR(logical_free(rewriter->tree, join->inputs[1], &named, rewriter->error));
    for (uint32_t c = 0; c < join->inputs[0]->column_count; c++)
        if (logical_has(&named, join->inputs[0]->columns[c]))
            RETURN_IF_ERROR(sql_tree_append(rewriter->tree->arena, &domain.columns, &domain.count,
                                            sizeof *domain.columns, &join->inputs[0]->columns[c],
                                            rewriter->error));
    RETURN_IF_ERROR(new_columns(&domain, &columns));
    RETURN_IF_ERROR(
        logical_share_in_place(rewriter->tree, "outer", &join->inputs[0], &left, rewriter->error));
    RETURN_IF_ERROR(make_domain(&domain, left));
    RETURN_IF_ERROR(attach(&domain, &join->inputs[1], columns));
    RETURN_IF_ERROR(same_value(&domain, join, domain.columns, columns));
    return rewrite_regive(rewriter, join);
}
