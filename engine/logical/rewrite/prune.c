/* prune.c: what gives columns that nobody needs is left out; queries of WITH that are named once (rewrite.h). */
#include "engine/logical/rewrite/rewrite.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- WITH ---- */

enum status rewrite_inline(struct rewriter *rewriter, struct logical_node **node)
{
    if ((*node)->kind == LOGICAL_SHARED && rewriter->tree->shared[(*node)->shared.shared].references == 1) {
        const uint32_t *const columns = (*node)->columns; /* are now those of the query */
        struct logical_shared *const shared = &rewriter->tree->shared[(*node)->shared.shared];
        shared->references = 0;
        *node = shared->root;
        RETURN_IF_ERROR(logical_rename(rewriter->tree, columns, node, rewriter->error));
    }
    for (uint32_t i = 0; i < (*node)->input_count; i++)
        RETURN_IF_ERROR(rewrite_inline(rewriter, &(*node)->inputs[i]));
    return STATUS_OK;
}

/* ---- Columns ---- */

static void prune_scan(struct logical_node *node, const struct logical_set *needed)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < node->column_count; c++)
        if (logical_has(needed, node->columns[c])) {
            node->columns[kept] = node->columns[c];
            node->scan.stored[kept++] = node->scan.stored[c];
        }
    node->column_count = kept;
}

static void prune_project(struct logical_node *node, const struct logical_set *needed)
{
    uint32_t kept = 0;
    for (uint32_t c = 0; c < node->column_count; c++)
        if (logical_has(needed, node->columns[c])) {
            node->columns[kept] = node->columns[c];
            node->project.expressions[kept++] = node->project.expressions[c];
        }
    node->column_count = kept;
}

static void prune_aggregates(struct logical_node *node, const struct logical_set *needed)
{
    const uint32_t groups = node->aggregate.group_count;
    uint32_t kept = 0;
    for (uint32_t a = 0; a < node->aggregate.aggregate_count; a++)
        if (logical_has(needed, node->columns[groups + a])) {
            node->columns[groups + kept] = node->columns[groups + a];
            node->aggregate.aggregates[kept++] = node->aggregate.aggregates[a];
        }
    node->aggregate.aggregate_count = kept;
    node->column_count = groups + kept;
}

static void prune_windows(struct logical_node *node, const struct logical_set *needed)
{
    const uint32_t first = node->column_count - node->window.count;
    uint32_t kept = 0;
    for (uint32_t w = 0; w < node->window.count; w++)
        if (logical_has(needed, node->columns[first + w])) {
            node->columns[first + kept] = node->columns[first + w];
            node->window.windows[kept++] = node->window.windows[w];
        }
    node->window.count = kept;
    node->column_count = first + kept;
}

/* True if rows of input i that come several times are as good as one: of the node's rows `once` says so. */
static bool is_once(const struct logical_node *node, uint32_t i, bool once)
{
    bool extremes = true;
    switch (node->kind) {
    case LOGICAL_FILTER:
    case LOGICAL_PROJECT:
    case LOGICAL_SORT:
        return once;
    case LOGICAL_JOIN:
        if (node->join.join <= LOGICAL_FULL)
            return once;
        return node->join.join == LOGICAL_SINGLE ? once && i == 0 : once || i == 1;
    case LOGICAL_AGGREGATE:
        for (uint32_t a = 0; a < node->aggregate.aggregate_count && extremes; a++) {
            const char *const name = node->aggregate.aggregates[a]->name;
            extremes = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
        }
        return extremes;
    case LOGICAL_SET:
        return !node->set.all || (once && node->set.set == SQL_SET_UNION);
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_WINDOW:
    case LOGICAL_LIMIT:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    return false;
}

static enum status prune_each(struct rewriter *rewriter, const struct logical_set *below,
                              struct logical_node *node)
{
    const bool once = rewriter->once;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < node->input_count; i++) {
        rewriter->once = is_once(node, i, once);
        status = rewrite_prune(rewriter, below, &node->inputs[i]);
    }
    rewriter->once = once;
    return status;
}

static enum status prune_inputs(struct rewriter *rewriter, const struct logical_set *needed,
                                struct logical_node *node)
{
    struct logical_set below = {.words = rewriter->tree->column_count / 64 + 1};
    enum status status = STATUS_OK;
    /* not of the statement's memory: a union may have many thousand parts */
    RETURN_IF_ERROR(
        memory_zeros(&below.bits, below.words * sizeof *below.bits, "a statement", rewriter->error));
    const bool passes = node->kind != LOGICAL_PROJECT && node->kind != LOGICAL_AGGREGATE;
    for (uint32_t w = 0; passes && w < needed->words; w++)
        below.bits[w] = needed->bits[w];
    logical_node_names(node, &below);
    status = prune_each(rewriter, &below, node);
    free(below.bits);
    return status;
}

/* True if the node gives exactly what is needed of its columns, in their order, when it is pruned. */
static bool gives_by_place(const struct logical_node *node)
{
    return node->kind == LOGICAL_PROJECT ||
           (node->kind == LOGICAL_SET && node->set.set == SQL_SET_UNION && node->set.all &&
            gives_by_place(node->inputs[0]) && gives_by_place(node->inputs[1]));
}

/* A union of all rows of parts that give by place: a column that is not needed goes from all parts; one stays. */
static enum status prune_union(struct rewriter *rewriter, const struct logical_set *needed,
                               struct logical_node *node)
{
    struct logical_set below = {.words = rewriter->tree->column_count / 64 + 1};
    uint32_t kept = 0, last = node->column_count - 1;
    RETURN_IF_ERROR(
        memory_zeros(&below.bits, below.words * sizeof *below.bits, "a statement", rewriter->error));
    for (uint32_t c = 0; c < node->column_count; c++) {
        if (!logical_has(needed, node->columns[c]) && (kept || c < last))
            continue;
        for (uint32_t i = 0; i < 2; i++)
            logical_put(&below, node->inputs[i]->columns[c]);
        node->columns[kept++] = node->columns[c];
    }
    node->column_count = kept;
    const enum status status = prune_each(rewriter, &below, node);
    free(below.bits);
    return status;
}

enum status rewrite_prune(struct rewriter *rewriter, const struct logical_set *needed,
                          struct logical_node **node)
{
    struct logical_node *const at = *node;
    switch (at->kind) {
    case LOGICAL_SCAN:
        prune_scan(at, needed);
        return STATUS_OK;
    case LOGICAL_PROJECT:
        prune_project(at, needed);
        return prune_inputs(rewriter, needed, at);
    case LOGICAL_AGGREGATE:
        prune_aggregates(at, needed);
        return prune_inputs(rewriter, needed, at);
    case LOGICAL_WINDOW:
        prune_windows(at, needed);
        if (at->window.count == 0) {
            *node = at->inputs[0];
            return rewrite_prune(rewriter, needed, node);
        }
        break;
    case LOGICAL_JOIN:
        if (at->join.join == LOGICAL_MARK && !logical_has(needed, at->join.mark)) {
            *node = at->inputs[0];
            return rewrite_prune(rewriter, needed, node);
        }
        RETURN_IF_ERROR(rewrite_cheaper_join(rewriter, needed, at));
        break;
    case LOGICAL_SET:
        return gives_by_place(at) && at->column_count ? prune_union(rewriter, needed, at)
                                                      : prune_inputs(rewriter, needed, at);
    case LOGICAL_SHARED:
        return rewrite_need_shared(rewriter, at, needed);
    case LOGICAL_VALUES:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        return STATUS_OK;
    case LOGICAL_FILTER:
        RETURN_IF_ERROR(rewrite_cheaper_filter(rewriter, needed, node));
        if (*node != at)
            return rewrite_prune(rewriter, needed, node);
        break;
    case LOGICAL_SORT:
    case LOGICAL_LIMIT:
        break;
    }
    RETURN_IF_ERROR(prune_inputs(rewriter, needed, at));
    return rewrite_regive(rewriter, at);
}
