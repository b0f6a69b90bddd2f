/*
 * shared.c: queries of WITH that are named several times are answered once, with the rows that any of their references wants
 * (rewrite.h). So the conditions go down from the references before they go down in the query:
 *
 *     select … from y a, y b where a.k = b.k and a.year = 2001 and b.year = 2002        year = 2001 or year = 2002, in y
 */
#include "engine/logical/rewrite/rewrite.h"

/* A condition of more nodes is not asked: queries that name each other double it. */
#define CONDITION_NODES_MAX 1000u

static uint32_t size_of(const struct sql_expression *expression)
{
    uint32_t size = 1;
    for (uint32_t c = 0; c < expression->child_count && size <= CONDITION_NODES_MAX; c++)
        size += size_of(expression->children[c]);
    return size;
}

/* Adds a branch to the OR of what the references ask, once. */
static enum status add_branch(struct rewriter *rewriter, struct sql_expression *branch,
                              struct shared_query *asked)
{
    struct sql_expression *const first = asked->any;
    const bool is_list = first && first->operation == SQL_OR;
    if (!first) {
        asked->any = branch;
        return STATUS_OK;
    }
    for (uint32_t b = 0; is_list && b < first->child_count; b++)
        if (sql_same_expression(first->children[b], branch))
            return STATUS_OK;
    if (sql_same_expression(first, branch))
        return STATUS_OK;
    RETURN_IF_ERROR(
        sql_tree_node(rewriter->tree->arena, SQL_OR, branch->position, &asked->any, rewriter->error));
    for (uint32_t b = 0; b < (is_list ? first->child_count : 1); b++)
        RETURN_IF_ERROR(sql_tree_child(rewriter->tree->arena, asked->any,
                                       is_list ? first->children[b] : first, rewriter->error));
    return sql_tree_child(rewriter->tree->arena, asked->any, branch, rewriter->error);
}

enum status rewrite_ask_shared(struct rewriter *rewriter, const struct logical_node *node,
                               const struct conjuncts *conditions)
{
    const struct logical_node *const root = rewriter->tree->shared[node->shared.shared].root;
    struct shared_query *const asked = rewriter->shared ? &rewriter->shared[node->shared.shared] : NULL;
    struct column_map map = {0};
    struct sql_expression *all = NULL;
    struct logical_set gives;
    if (!asked)
        return STATUS_OK;
    asked->references++;
    RETURN_IF_ERROR(rewrite_gives(rewriter, node, &gives));
    for (uint32_t c = 0; c < node->column_count; c++) {
        struct sql_expression *input;
        RETURN_IF_ERROR(rewrite_input(rewriter, node->position, root->columns[c], &input));
        RETURN_IF_ERROR(rewrite_map_add(rewriter, &map, node->columns[c], input));
    }
    for (uint32_t c = 0; c < conditions->count; c++) {
        struct sql_expression *made;
        if (!rewrite_is_over(conditions->list[c], &gives))
            continue;
        RETURN_IF_ERROR(rewrite_map(rewriter, &map, conditions->list[c], &made));
        RETURN_IF_ERROR(logical_and(rewriter->tree, all, made, &all, rewriter->error));
    }
    if (all)
        RETURN_IF_ERROR(add_branch(rewriter, all, asked));
    asked->whole |= !all || size_of(asked->any) > CONDITION_NODES_MAX;
    return STATUS_OK;
}

/* Of those that are left one of whose references all have asked, or else one that the fewest have: the parts of recursive
 * queries, which none asks, before what they name. */
static uint32_t next_of(const struct rewriter *rewriter)
{
    const struct logical_tree *const tree = rewriter->tree;
    uint32_t next = tree->shared_count;
    for (uint32_t s = 0; s < tree->shared_count; s++) {
        const struct shared_query *const asked = &rewriter->shared[s];
        if (asked->done || tree->shared[s].references == 0)
            continue;
        if (asked->references == tree->shared[s].references)
            return s;
        if (next == tree->shared_count || asked->references < rewriter->shared[next].references)
            next = s;
    }
    return next;
}

static enum status begin(struct rewriter *rewriter)
{
    return sql_tree_take(rewriter->tree->arena, (rewriter->tree->shared_count + 1) * sizeof *rewriter->shared,
                         &rewriter->shared, rewriter->error);
}

enum status rewrite_push_shared(struct rewriter *rewriter)
{
    struct logical_tree *const tree = rewriter->tree;
    RETURN_IF_ERROR(begin(rewriter));
    RETURN_IF_ERROR(rewrite_push(rewriter, &tree->root));
    for (uint32_t s = next_of(rewriter); s < tree->shared_count; s = next_of(rewriter)) {
        struct shared_query *const asked = &rewriter->shared[s];
        struct logical_node **const root = &tree->shared[s].root;
        asked->done = true;
        if (asked->references == tree->shared[s].references && !asked->whole)
            RETURN_IF_ERROR(logical_filter(tree, asked->any, root, rewriter->error));
        RETURN_IF_ERROR(rewrite_push(rewriter, root));
    }
    rewriter->shared = NULL;
    return STATUS_OK;
}

/* ---- Columns ---- */

enum status rewrite_need_shared(struct rewriter *rewriter, struct logical_node *node,
                                const struct logical_set *needed)
{
    struct shared_query *const asked = rewriter->shared ? &rewriter->shared[node->shared.shared] : NULL;
    if (!asked)
        return STATUS_OK;
    if (!asked->needed)
        RETURN_IF_ERROR(sql_tree_take(rewriter->tree->arena, (node->column_count + 1) * sizeof *asked->needed,
                                      &asked->needed, rewriter->error));
    for (uint32_t c = 0; c < node->column_count; c++)
        asked->needed[c] |= logical_has(needed, node->columns[c]);
    asked->whole |= !rewriter->once;
    return sql_tree_append(rewriter->tree->arena, &asked->nodes, &asked->references, sizeof node, &node,
                           rewriter->error);
}

/* Leaves out of the references, and of what is needed of the query, the columns that none needs; one stays. */
static enum status drop_columns(struct rewriter *rewriter, const struct shared_query *asked,
                                struct logical_shared *query, struct logical_set *needed)
{
    struct logical_node *const root = query->root, *project = root;
    const uint32_t count = root->column_count;
    uint32_t kept = 0;
    for (uint32_t c = 0; c < count; c++)
        kept += asked->needed[c];
    asked->needed[0] |= kept == 0;
    RETURN_IF_ERROR(logical_set_new(rewriter->tree, needed, rewriter->error));
    if (kept < count && root->kind != LOGICAL_PROJECT)
        RETURN_IF_ERROR(logical_node_new(rewriter->tree, LOGICAL_PROJECT, root->position, root, NULL,
                                         &project, rewriter->error));
    kept = 0;
    for (uint32_t c = 0; c < count; c++) {
        if (!asked->needed[c])
            continue;
        logical_put(needed, root->columns[c]);
        if (project != root)
            RETURN_IF_ERROR(rewrite_pass(rewriter, project, root->columns[c]));
        for (uint32_t r = 0; r < asked->references; r++)
            asked->nodes[r]->columns[kept] = asked->nodes[r]->columns[c];
        query->names[kept++] = query->names[c];
    }
    for (uint32_t r = 0; r < asked->references; r++)
        asked->nodes[r]->column_count = kept;
    query->root = project;
    return STATUS_OK;
}

enum status rewrite_prune_shared(struct rewriter *rewriter)
{
    struct logical_tree *const tree = rewriter->tree;
    struct logical_set needed;
    RETURN_IF_ERROR(begin(rewriter));
    rewriter->once = false;
    RETURN_IF_ERROR(rewrite_gives(rewriter, tree->root, &needed));
    RETURN_IF_ERROR(rewrite_prune(rewriter, &needed, &tree->root));
    for (uint32_t s = next_of(rewriter); s < tree->shared_count; s = next_of(rewriter)) {
        struct shared_query *const asked = &rewriter->shared[s];
        struct logical_shared *const query = &tree->shared[s];
        const bool all = asked->references == query->references;
        asked->done = true;
        RETURN_IF_ERROR(all ? drop_columns(rewriter, asked, query, &needed)
                            : rewrite_gives(rewriter, query->root, &needed));
        rewriter->once = all && !asked->whole;
        RETURN_IF_ERROR(rewrite_prune(rewriter, &needed, &query->root));
    }
    return STATUS_OK;
}
