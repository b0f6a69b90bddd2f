/*
 * needed.c: which columns of a bound tree decide its answer (logical.h): from the root down, what a column is computed of is
 * needed if it is. Conditions, groups, orders and the like are needed in any case, and so is whatever other sets than UNION ALL
 * compare, and recursive queries repeat.
 */
#include "engine/logical/logical.h"

struct needing {
    struct logical_tree *tree;
    struct logical_set *needed;
};

static void need_all(const struct needing *needing, const struct logical_node *node)
{
    for (uint32_t c = 0; c < node->column_count; c++)
        logical_put(needing->needed, node->columns[c]);
}

/* Columns are those of a shared query, one by one. */
static void need_shared(const struct needing *needing, const struct logical_node *node)
{
    const struct logical_node *const root = needing->tree->shared[node->shared.shared].root;
    for (uint32_t c = 0; c < node->column_count; c++)
        if (logical_has(needing->needed, node->columns[c]))
            logical_put(needing->needed, root->columns[c]);
}

/* The columns of UNION ALL, one by one. */
static void need_parts(const struct needing *needing, const struct logical_node *node)
{
    for (uint32_t c = 0; c < node->column_count; c++)
        for (uint32_t i = 0; i < 2 && logical_has(needing->needed, node->columns[c]); i++)
            logical_put(needing->needed, node->inputs[i]->columns[c]);
}

static void need_node(const struct needing *needing, const struct logical_node *node)
{
    const bool all = node->kind == LOGICAL_SET && node->set.set == SQL_SET_UNION && node->set.all;
    switch (node->kind) {
    case LOGICAL_PROJECT:
        for (uint32_t c = 0; c < node->column_count; c++)
            if (logical_has(needing->needed, node->columns[c]))
                logical_names(node->project.expressions[c], needing->needed);
        break;
    case LOGICAL_SHARED:
        need_shared(needing, node);
        break;
    case LOGICAL_RECURSIVE:
        need_all(needing, needing->tree->shared[node->recursive.first].root);
        need_all(needing, needing->tree->shared[node->recursive.step].root);
        break;
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_FILTER:
    case LOGICAL_JOIN:
    case LOGICAL_AGGREGATE:
    case LOGICAL_WINDOW:
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
    case LOGICAL_WORKING:
        break;
    case LOGICAL_SET:
        if (all)
            need_parts(needing, node);
    }
    if (node->kind != LOGICAL_PROJECT && !all)
        logical_node_names(node, needing->needed);
    for (uint32_t i = 0; i < node->input_count; i++)
        need_node(needing, node->inputs[i]);
}

static uint64_t count(const struct logical_set *set)
{
    uint64_t bits = 0;
    for (uint32_t w = 0; w < set->words; w++)
        bits += (uint64_t)__builtin_popcountll(set->bits[w]);
    return bits;
}

enum status logical_needed(struct logical_tree *tree, struct logical_set *needed, struct error *error)
{
    const struct needing needing = {tree, needed};
    uint64_t before = UINT64_MAX;
    RETURN_IF_ERROR(logical_set_new(tree, needed, error));
    need_all(&needing, tree->root);
    while (before != count(needed)) { /* a query of WITH may need more of another one */
        before = count(needed);
        need_node(&needing, tree->root);
        for (uint32_t s = 0; s < tree->shared_count; s++)
            need_node(&needing, tree->shared[s].root);
    }
    return STATUS_OK;
}
