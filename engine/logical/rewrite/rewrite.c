/* rewrite.c: the steps of the rewriter, in their order (rewrite.h). */
#include "engine/logical/rewrite/rewrite.h"

static struct sql_input scalar_input(const void *context, uint32_t index)
{
    const struct logical_tree *const tree = context;
    return (struct sql_input){tree->columns[index].type, tree->columns[index].nullable};
}

/* Calls a step for each shared query, also for those that the step adds, and for the statement. */
static enum status each_root(struct rewriter *rewriter,
                             enum status (*step)(struct rewriter *rewriter, struct logical_node **node))
{
    struct logical_tree *const tree = rewriter->tree;
    RETURN_IF_ERROR(step(rewriter, &tree->root));
    for (uint32_t s = 0; s < tree->shared_count; s++) {
        struct logical_node *root = tree->shared[s].root; /* the list may move */
        RETURN_IF_ERROR(step(rewriter, &root));
        tree->shared[s].root = root;
    }
    return STATUS_OK;
}

/* All columns of a root are needed, in their order. */
static enum status prune_root(struct rewriter *rewriter, struct logical_node **node)
{
    struct logical_set needed;
    RETURN_IF_ERROR(rewrite_gives(rewriter, *node, &needed));
    return rewrite_prune(rewriter, &needed, node);
}

/* Joins and aggregates that went into parts have conditions that may go further there. */
static enum status unite_root(struct rewriter *rewriter, struct logical_node **node)
{
    rewriter->united = false;
    RETURN_IF_ERROR(prune_root(rewriter, node));
    RETURN_IF_ERROR(rewrite_union(rewriter, node));
    return rewriter->united ? rewrite_push(rewriter, node) : STATUS_OK;
}

static enum status rewrite_all(struct rewriter *rewriter, const struct logical_options *options)
{
    RETURN_IF_ERROR(each_root(rewriter, rewrite_inline));
    RETURN_IF_ERROR(each_root(rewriter, rewrite_unnest));
    RETURN_IF_ERROR(rewrite_push_shared(rewriter));
    RETURN_IF_ERROR(each_root(rewriter, rewrite_merge));
    RETURN_IF_ERROR(each_root(rewriter, unite_root));
    RETURN_IF_ERROR(each_root(rewriter, rewrite_order));
    if (options->device_totals || options->host_totals)
        RETURN_IF_ERROR(each_root(rewriter, rewrite_same));
    RETURN_IF_ERROR(each_root(rewriter, rewrite_early));
    RETURN_IF_ERROR(rewrite_prune_shared(rewriter));
    if (options->device_totals)
        RETURN_IF_ERROR(each_root(rewriter, rewrite_own_groups));
    return each_root(rewriter, rewrite_split_values);
}

enum status logical_rewrite(const struct logical_options *options, struct logical_tree *tree,
                            struct error *error)
{
    const struct sql_scalar_options scalars = {.parameters = options->parameters,
                                               .parameter_count = options->parameter_count,
                                               .like = options->like,
                                               .zone = options->zone,
                                               .now = options->now,
                                               .input = scalar_input,
                                               .context = tree};
    struct rewriter rewriter = {.tree = tree, .on_host = !options->device_totals, .error = error};
    RETURN_IF_ERROR(sql_scalars_new(&scalars, &rewriter.scalars, error));
    const enum status status = rewrite_all(&rewriter, options);
    sql_scalars_free(rewriter.scalars);
    return status;
}
