/*
 * order.c: the order of inner joins in the tree (rewrite.h). A region is inner joins without another node between them. They
 * are joined in the order of FROM, but each by an equality as long as there is one: so no part of a tree, however it is
 * divided, pairs all rows of two tables. Which are joined first when they are answered is chosen by their rows
 * (engine/relational/order.c).
 */
#include "engine/logical/rewrite/rewrite.h"

struct part {
    struct logical_node *node;
    struct logical_set columns;
};

struct region {
    struct rewriter *rewriter;
    uint32_t count;
    struct part *parts;
    struct conjuncts conditions;
};

static enum status add_part(struct region *region, struct logical_node *node)
{
    struct part part = {.node = node};
    RETURN_IF_ERROR(rewrite_order(region->rewriter, &part.node));
    RETURN_IF_ERROR(rewrite_gives(region->rewriter, part.node, &part.columns));
    return sql_tree_append(region->rewriter->tree->arena, &region->parts, &region->count, sizeof part, &part,
                           region->rewriter->error);
}

static enum status collect(struct region *region, struct logical_node *node)
{
    if (node->kind != LOGICAL_JOIN || node->join.join != LOGICAL_INNER)
        return add_part(region, node);
    for (uint32_t i = 0; i < 2; i++)
        RETURN_IF_ERROR(collect(region, node->inputs[i]));
    return rewrite_split(region->rewriter, node->join.condition, &region->conditions);
}

static bool is_within(const struct sql_expression *condition, const struct logical_set *a,
                      const struct logical_set *b)
{
    bool within = condition->operation != SQL_INPUT || logical_has(a, condition->index) ||
                  logical_has(b, condition->index);
    for (uint32_t c = 0; c < condition->child_count && within; c++)
        within = is_within(condition->children[c], a, b);
    return within;
}

/* True if an equality joins the columns of two parts. */
static bool is_joined(const struct region *region, const struct logical_set *a, const struct logical_set *b)
{
    for (uint32_t c = 0; c < region->conditions.count; c++) {
        const struct sql_expression *const condition = region->conditions.list[c];
        if (condition->operation == SQL_EQUAL && is_within(condition, a, b) &&
            rewrite_names_any(condition, a) && rewrite_names_any(condition, b))
            return true;
    }
    return false;
}

/* Joins the part to the first one, on all conditions that are over both. */
static enum status join_part(struct region *region, const struct part *part)
{
    struct rewriter *const rewriter = region->rewriter;
    struct part *const into = &region->parts[0];
    struct conjuncts taken = {0}, left = {0};
    struct sql_expression *condition;
    for (uint32_t c = 0; c < region->conditions.count; c++)
        RETURN_IF_ERROR(rewrite_add(
            rewriter, region->conditions.list[c],
            is_within(region->conditions.list[c], &into->columns, &part->columns) ? &taken : &left));
    region->conditions = left;
    RETURN_IF_ERROR(rewrite_join(rewriter, &taken, &condition));
    RETURN_IF_ERROR(logical_join_new(rewriter->tree, LOGICAL_INNER, into->node->position, into->node,
                                     part->node, condition, &into->node, rewriter->error));
    for (uint32_t w = 0; w < into->columns.words; w++)
        into->columns.bits[w] |= part->columns.bits[w];
    return STATUS_OK;
}

static enum status order_region(struct rewriter *rewriter, struct logical_node **node)
{
    struct region region = {.rewriter = rewriter};
    RETURN_IF_ERROR(collect(&region, *node));
    for (uint32_t done = 1; done < region.count; done++) {
        uint32_t next = done;
        while (next < region.count &&
               !is_joined(&region, &region.parts[0].columns, &region.parts[next].columns))
            next++;
        next = next < region.count ? next : done;
        const struct part part = region.parts[next];
        for (; next > done; next--)
            region.parts[next] = region.parts[next - 1];
        RETURN_IF_ERROR(join_part(&region, &part));
    }
    *node = region.parts[0].node;
    return rewrite_filter(rewriter, &region.conditions, node);
}

enum status rewrite_order(struct rewriter *rewriter, struct logical_node **node)
{
    struct logical_node *const at = *node;
    if (at->kind == LOGICAL_JOIN && at->join.join == LOGICAL_INNER)
        return order_region(rewriter, node);
    for (uint32_t i = 0; i < at->input_count; i++)
        RETURN_IF_ERROR(rewrite_order(rewriter, &at->inputs[i]));
    return at->kind == LOGICAL_FILTER || at->kind == LOGICAL_SORT || at->kind == LOGICAL_LIMIT ||
                   at->kind == LOGICAL_WINDOW || at->kind == LOGICAL_JOIN
               ? rewrite_regive(rewriter, at)
               : STATUS_OK;
}
