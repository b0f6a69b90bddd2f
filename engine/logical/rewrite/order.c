/*
 * order.c: the order of inner joins (rewrite.h). A region is inner joins without another node between them. Stored tables
 * in it that declared references join become stars, the fact first, for these are one scan; then the two parts that an
 * equality joins and that give the fewest rows are joined, again and again, and those that nothing joins come last.
 */
#include "engine/logical/rewrite/rewrite.h"

#include <string.h>

struct part {
    struct logical_node *node;
    struct logical_set columns;
    double rows, base;               /* expected; without conditions */
    const struct logical_node *scan; /* of a stored table, under filters; or NULL */
    bool bound;                      /* another table references it in its star */
};

struct region {
    struct rewriter *rewriter;
    uint32_t count;
    struct part *parts;
    struct conjuncts conditions;
};

/* ---- Estimates ---- */

/* The expected share of rows for which a condition is true. */
static double share_of(const struct sql_expression *condition)
{
    double share = 1;
    switch (condition->operation) {
    case SQL_AND:
        for (uint32_t c = 0; c < condition->child_count; c++)
            share *= share_of(condition->children[c]);
        return share;
    case SQL_OR:
        for (uint32_t c = 0; c < condition->child_count; c++)
            share *= 1 - share_of(condition->children[c]);
        return 1 - share;
    case SQL_NOT:
        return 1 - share_of(condition->children[0]);
    case SQL_EQUAL:
        return 0.05;
    case SQL_IN:
        return condition->negated ? 0.9 : 0.15;
    case SQL_LIKE:
    case SQL_MATCHES:
        return condition->negated ? 0.9 : 0.1;
    case SQL_BETWEEN:
        return condition->negated ? 0.8 : 0.2;
    case SQL_IS_NULL:
        return condition->negated ? 0.95 : 0.05;
    default: /* comparisons, and what is not known */
        return 0.35;
    }
}

static double rows_of(const struct logical_tree *tree, const struct logical_node *node, double *base)
{
    double left, right;
    switch (node->kind) {
    case LOGICAL_SCAN:
        return *base = (double)node->scan.table->rows + 1;
    case LOGICAL_VALUES:
        return *base = node->values.row_count;
    case LOGICAL_FILTER:
        return share_of(node->filter.condition) * rows_of(tree, node->inputs[0], base);
    case LOGICAL_AGGREGATE:
        left = rows_of(tree, node->inputs[0], base);
        return *base = node->aggregate.group_count ? left / 4 + 1 : 1;
    case LOGICAL_LIMIT:
        left = rows_of(tree, node->inputs[0], base);
        return left < 100 ? left : 100;
    case LOGICAL_SET:
        left = rows_of(tree, node->inputs[0], base);
        return *base = left + rows_of(tree, node->inputs[1], &right);
    case LOGICAL_SHARED:
        return rows_of(tree, tree->shared[node->shared.shared].root, base);
    case LOGICAL_RECURSIVE:
        return 10 * rows_of(tree, tree->shared[node->recursive.first].root, base);
    case LOGICAL_WORKING:
        return *base = 1000;
    case LOGICAL_JOIN:
        left = rows_of(tree, node->inputs[0], base);
        if (node->join.join == LOGICAL_SEMI || node->join.join == LOGICAL_ANTI)
            return left / 2;
        right = rows_of(tree, node->inputs[1], &right);
        return node->join.join == LOGICAL_INNER && right > left ? right : left;
    case LOGICAL_PROJECT:
    case LOGICAL_WINDOW:
    case LOGICAL_SORT:
        break;
    }
    return rows_of(tree, node->inputs[0], base);
}

/* ---- The region ---- */

static enum status add_part(struct region *region, struct logical_node *node)
{
    struct part part = {.node = node, .scan = node};
    RETURN_IF_ERROR(rewrite_order(region->rewriter, &part.node));
    RETURN_IF_ERROR(rewrite_gives(region->rewriter, part.node, &part.columns));
    part.rows = rows_of(region->rewriter->tree, part.node, &part.base);
    while (part.scan->kind == LOGICAL_FILTER)
        part.scan = part.scan->inputs[0];
    if (part.scan->kind != LOGICAL_SCAN)
        part.scan = NULL;
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

/* ---- Joining two parts ---- */

static bool is_within(const struct sql_expression *condition, const struct logical_set *a,
                      const struct logical_set *b)
{
    bool within = condition->operation != SQL_INPUT || logical_has(a, condition->index) ||
                  logical_has(b, condition->index);
    for (uint32_t c = 0; c < condition->child_count && within; c++)
        within = is_within(condition->children[c], a, b);
    return within;
}

/* True for an equality of one side's columns with the other's. */
static bool is_key(const struct sql_expression *condition, const struct logical_set *a,
                   const struct logical_set *b)
{
    if (condition->operation != SQL_EQUAL)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        const struct sql_expression *const left = condition->children[turned], *const right =
                                                                                   condition
                                                                                       ->children[!turned];
        if (rewrite_names_any(left, a) && !rewrite_names_any(left, b) && rewrite_names_any(right, b) &&
            !rewrite_names_any(right, a) && is_within(condition, a, b))
            return true;
    }
    return false;
}

/* The expected rows of a join of two parts; below 0: nothing joins them. */
static double rows_joined(const struct region *region, const struct part *a, const struct part *b)
{
    const double base = a->base > b->base ? a->base : b->base;
    double rows = a->rows * b->rows;
    bool any = false;
    for (uint32_t c = 0; c < region->conditions.count; c++) {
        const struct sql_expression *const condition = region->conditions.list[c];
        if (is_key(condition, &a->columns, &b->columns)) {
            rows /= any ? 10 : base;
            any = true;
        } else if (rewrite_names_any(condition, &a->columns) && rewrite_names_any(condition, &b->columns) &&
                   is_within(condition, &a->columns, &b->columns)) {
            rows *= share_of(condition);
        }
    }
    return any ? rows : -1;
}

/* Joins part b to part a, on all conditions that are over both; b is gone. */
static enum status join_parts(struct region *region, uint32_t a, uint32_t b, double rows)
{
    struct rewriter *const rewriter = region->rewriter;
    struct part *const into = &region->parts[a], *const from = &region->parts[b];
    struct conjuncts taken = {0}, left = {0};
    struct sql_expression *condition;
    struct logical_node *node;
    for (uint32_t c = 0; c < region->conditions.count; c++)
        RETURN_IF_ERROR(rewrite_add(
            rewriter, region->conditions.list[c],
            is_within(region->conditions.list[c], &into->columns, &from->columns) ? &taken : &left));
    region->conditions = left;
    RETURN_IF_ERROR(rewrite_join(rewriter, &taken, &condition));
    RETURN_IF_ERROR(logical_join_new(rewriter->tree, LOGICAL_INNER, into->node->position, into->node,
                                     from->node, condition, &node, rewriter->error));
    into->node = node;
    into->rows = rows;
    into->base = into->base > from->base ? into->base : from->base;
    into->scan = NULL;
    for (uint32_t w = 0; w < into->columns.words; w++)
        into->columns.bits[w] |= from->columns.bits[w];
    *from = region->parts[--region->count];
    return STATUS_OK;
}

/* ---- Stars ---- */

/* The stored column of a scan that has a number; NULL: none. */
static const struct column *stored_column(const struct logical_node *scan, uint32_t number)
{
    for (uint32_t c = 0; c < scan->column_count; c++)
        if (scan->columns[c] == number)
            return &scan->scan.table->columns[scan->scan.stored[c]];
    return NULL;
}

/* True if the condition joins the tables of two parts along a reference of the first. */
static bool along_reference(const struct sql_expression *condition, const struct part *child,
                            const struct part *parent)
{
    if (condition->operation != SQL_EQUAL || !child->scan || !parent->scan)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        const struct sql_expression *const a = condition->children[turned], *const b =
                                                                                condition->children[!turned];
        if (a->operation != SQL_INPUT || b->operation != SQL_INPUT)
            return false;
        const struct column *const key = stored_column(child->scan, a->index), *const referenced =
                                                                                   stored_column(parent->scan,
                                                                                                 b->index);
        if (key && referenced && key->references == referenced)
            return true;
    }
    return false;
}

struct star {
    uint32_t *parents; /* of each part: that which references it; its own number: none does */
};

static uint32_t fact_of(const struct star *star, uint32_t part)
{
    while (star->parents[part] != part)
        part = star->parents[part];
    return part;
}

static enum status find_stars(const struct region *region, struct star *star)
{
    RETURN_IF_ERROR(sql_tree_take(region->rewriter->tree->arena, (region->count + 1) * sizeof *star->parents,
                                  &star->parents, region->rewriter->error));
    for (uint32_t p = 0; p < region->count; p++)
        star->parents[p] = p;
    for (uint32_t c = 0; c < region->conditions.count; c++)
        for (uint32_t child = 0; child < region->count; child++)
            for (uint32_t parent = 0; parent < region->count; parent++)
                if (child != parent && star->parents[parent] == parent && fact_of(star, child) != parent &&
                    along_reference(region->conditions.list[c], &region->parts[child],
                                    &region->parts[parent]))
                    star->parents[parent] = child;
    return STATUS_OK;
}

/* Joins the tables of each star, the fact first, and then always one whose parent is in it. */
static enum status join_stars(struct region *region)
{
    struct star star;
    const uint32_t count = region->count;
    struct part *const tables = region->parts;
    bool *done;
    RETURN_IF_ERROR(find_stars(region, &star));
    RETURN_IF_ERROR(sql_tree_take(region->rewriter->tree->arena, (count + 1) * sizeof *done, &done,
                                  region->rewriter->error));
    region->parts = NULL;
    region->count = 0;
    for (uint32_t fact = 0; fact < count; fact++) {
        if (star.parents[fact] != fact)
            continue;
        const uint32_t place = region->count;
        done[fact] = true;
        RETURN_IF_ERROR(sql_tree_append(region->rewriter->tree->arena, &region->parts, &region->count,
                                        sizeof *tables, &tables[fact], region->rewriter->error));
        for (bool any = true; any;) {
            any = false;
            for (uint32_t p = 0; p < count; p++) {
                if (done[p] || !done[star.parents[p]] || fact_of(&star, p) != fact)
                    continue;
                const double kept = tables[p].rows / tables[p].base;
                RETURN_IF_ERROR(sql_tree_append(region->rewriter->tree->arena, &region->parts, &region->count,
                                                sizeof *tables, &tables[p], region->rewriter->error));
                RETURN_IF_ERROR(join_parts(region, place, region->count - 1,
                                           region->parts[place].rows * (kept < 1 ? kept : 1)));
                done[p] = any = true;
            }
        }
    }
    return STATUS_OK;
}

/* ---- The whole ---- */

/* Joins the two parts that give the fewest rows; the one with more rows is the left one. */
static enum status join_cheapest(struct region *region)
{
    uint32_t left = 0, right = 1;
    double least = -1;
    for (uint32_t a = 0; a < region->count; a++)
        for (uint32_t b = a + 1; b < region->count; b++) {
            const double rows = rows_joined(region, &region->parts[a], &region->parts[b]);
            if (rows < 0 || (least >= 0 && rows >= least))
                continue;
            least = rows;
            left = a;
            right = b;
        }
    if (least < 0) { /* nothing joins what is left: the two with the fewest rows */
        for (uint32_t p = 0; p < region->count; p++) {
            left = region->parts[p].rows < region->parts[left].rows ? p : left;
        }
        right = left == 0;
        for (uint32_t p = 0; p < region->count; p++)
            right = p != left && region->parts[p].rows < region->parts[right].rows ? p : right;
        least = region->parts[left].rows * region->parts[right].rows;
    }
    if (region->parts[left].rows < region->parts[right].rows) {
        const uint32_t swapped = left;
        left = right;
        right = swapped;
    }
    return join_parts(region, left, right, least);
}

static enum status order_region(struct rewriter *rewriter, struct logical_node **node)
{
    struct region region = {.rewriter = rewriter};
    RETURN_IF_ERROR(collect(&region, *node));
    RETURN_IF_ERROR(join_stars(&region));
    while (region.count > 1)
        RETURN_IF_ERROR(join_cheapest(&region));
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
