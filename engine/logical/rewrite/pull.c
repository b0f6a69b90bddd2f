/*
 * pull.c: conditions of a subquery that compare its columns with outer ones become the join's (rewrite.h).
 *
 *     ... (select max(b.x) from b where b.k = a.k)      join b's maxima by k on b.k = a.k
 *
 * Above an aggregate, a window or a limit only equalities can be pulled: the subquery's side of each becomes one more
 * group, partition or key.
 */
#include "engine/logical/rewrite/rewrite.h"

#include <string.h>

/* ---- What can be pulled ---- */

static bool names_only(const struct sql_expression *expression, const struct logical_set *set)
{
    bool only = expression->operation != SQL_INPUT || logical_has(set, expression->index);
    for (uint32_t c = 0; c < expression->child_count && only; c++)
        only = names_only(expression->children[c], set);
    return only;
}

/* True for an equality of the subquery's own columns with outer ones, each on their side. */
static bool is_equality(const struct sql_expression *condition, const struct logical_set *outer)
{
    if (condition->operation != SQL_EQUAL)
        return false;
    const bool left = rewrite_names_any(condition->children[0], outer),
               right = rewrite_names_any(condition->children[1], outer);
    return left != right && names_only(condition->children[right], outer);
}

/* The side of an equality without outer columns has only columns of the subquery, so it names at least one. */
static bool names_input(const struct sql_expression *expression)
{
    bool any = expression->operation == SQL_INPUT;
    for (uint32_t c = 0; c < expression->child_count && !any; c++)
        any = names_input(expression->children[c]);
    return any;
}

static enum pullable of_condition(const struct sql_expression *condition, const struct logical_set *outer)
{
    enum pullable most = PULL_NOTHING;
    if (!condition || !rewrite_names_any(condition, outer))
        return PULL_NOTHING;
    if (condition->operation != SQL_AND) {
        const bool left = is_equality(condition, outer) && rewrite_names_any(condition->children[0], outer);
        return is_equality(condition, outer) && names_input(condition->children[left]) ? PULL_EQUALITIES
                                                                                       : PULL_CONDITIONS;
    }
    for (uint32_t c = 0; c < condition->child_count; c++) {
        const enum pullable here = of_condition(condition->children[c], outer);
        most = here > most ? here : most;
    }
    return most;
}

static enum pullable greater(enum pullable a, enum pullable b)
{
    return a > b ? a : b;
}

/* The node's expressions name outer columns, though it is no condition. */
static bool names_outer(const struct logical_node *node, const struct logical_set *outer)
{
    struct logical_node alone = *node;
    alone.input_count = 0;
    return rewrite_tree_names_any(&alone, outer);
}

static enum pullable of_join(const struct logical_node *node, const struct logical_set *outer)
{
    const enum pullable left = rewrite_pullable(node->inputs[0], outer);
    const enum pullable right = rewrite_pullable(node->inputs[1], outer);
    const enum pullable condition = of_condition(node->join.condition, outer);
    if (node->join.join == LOGICAL_INNER)
        return greater(condition, greater(left, right));
    const bool keeps_left = node->join.join != LOGICAL_FULL;
    return right == PULL_NOTHING && condition == PULL_NOTHING && !rewrite_names_any(node->join.test, outer) &&
                   (keeps_left || left == PULL_NOTHING)
               ? left
               : PULL_NOT;
}

enum pullable rewrite_pullable(const struct logical_node *node, const struct logical_set *outer)
{
    if (!rewrite_tree_names_any(node, outer))
        return PULL_NOTHING;
    const enum pullable below = node->input_count ? rewrite_pullable(node->inputs[0], outer) : PULL_NOT;
    switch (node->kind) {
    case LOGICAL_FILTER:
        return greater(below, of_condition(node->filter.condition, outer));
    case LOGICAL_PROJECT:
    case LOGICAL_SORT:
        return names_outer(node, outer) ? PULL_NOT : below;
    case LOGICAL_JOIN:
        return of_join(node, outer);
    case LOGICAL_AGGREGATE:
        return node->aggregate.group_count && !node->aggregate.set_count && !names_outer(node, outer) &&
                       below == PULL_EQUALITIES
                   ? below
                   : PULL_NOT;
    case LOGICAL_WINDOW:
    case LOGICAL_LIMIT:
        return !names_outer(node, outer) && below == PULL_EQUALITIES ? below : PULL_NOT;
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_SET:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    return PULL_NOT;
}

/* ---- Pulling ---- */

/* Splits a condition into those with outer columns, which are pulled, and the others. */
static enum status divide(struct rewriter *rewriter, const struct logical_set *outer,
                          struct sql_expression *condition, struct conjuncts *pulled,
                          struct conjuncts *others)
{
    struct conjuncts all = {0};
    RETURN_IF_ERROR(rewrite_split(rewriter, condition, &all));
    for (uint32_t c = 0; c < all.count; c++)
        RETURN_IF_ERROR(
            rewrite_add(rewriter, all.list[c], rewrite_names_any(all.list[c], outer) ? pulled : others));
    return STATUS_OK;
}

static enum status pull_filter(struct rewriter *rewriter, const struct logical_set *outer,
                               struct logical_node **node, struct conjuncts *pulled)
{
    struct conjuncts others = {0};
    struct sql_expression *const condition = (*node)->filter.condition;
    *node = (*node)->inputs[0];
    RETURN_IF_ERROR(divide(rewriter, outer, condition, pulled, &others));
    return rewrite_filter(rewriter, &others, node);
}

/* A projection gives what the conditions name of its input. */
static enum status pull_project(struct rewriter *rewriter, struct logical_node *node,
                                const struct conjuncts *pulled)
{
    struct logical_set given, named;
    RETURN_IF_ERROR(rewrite_gives(rewriter, node, &given));
    RETURN_IF_ERROR(logical_set_new(rewriter->tree, &named, rewriter->error));
    for (uint32_t c = 0; c < pulled->count; c++)
        logical_names(pulled->list[c], &named);
    const struct logical_node *const input = node->inputs[0];
    for (uint32_t c = 0; c < input->column_count; c++)
        if (logical_has(&named, input->columns[c]) && !logical_has(&given, input->columns[c]))
            RETURN_IF_ERROR(rewrite_pass(rewriter, node, input->columns[c]));
    return STATUS_OK;
}

/* The subquery's side of an equality, which the caller may replace. */
static struct sql_expression **own_side(struct sql_expression *equality, const struct logical_set *outer)
{
    return &equality->children[rewrite_names_any(equality->children[0], outer)];
}

/* Equalities with their own sides as columns: the expressions are copied, because trees share them. */
static enum status with_column(struct rewriter *rewriter, const struct logical_set *outer,
                               struct sql_expression **equality, uint32_t column)
{
    struct sql_expression *sides[2] = {(*equality)->children[0], (*equality)->children[1]};
    const bool second = rewrite_names_any(sides[0], outer);
    RETURN_IF_ERROR(rewrite_input(rewriter, sides[second]->position, column, &sides[second]));
    return rewrite_apply(rewriter, SQL_EQUAL, NULL, sides[0], sides[1], equality);
}

enum status rewrite_group_by(struct rewriter *rewriter, const struct logical_set *outer,
                             struct logical_node *node, struct conjuncts *pulled)
{
    for (uint32_t c = 0; c < pulled->count; c++) {
        uint32_t column;
        RETURN_IF_ERROR(rewrite_add_group(rewriter, node, *own_side(pulled->list[c], outer), &column));
        RETURN_IF_ERROR(with_column(rewriter, outer, &pulled->list[c], column));
    }
    return STATUS_OK;
}

enum status rewrite_partition_by(struct rewriter *rewriter, const uint32_t *keys, uint32_t count,
                                 struct logical_node *window)
{
    struct sql_statement_tree *const arena = rewriter->tree->arena;
    for (uint32_t w = 0; w < window->window.count; w++) {
        struct sql_window *made;
        struct sql_expression **partitions;
        const struct sql_window *const from = window->window.windows[w].window;
        RETURN_IF_ERROR(sql_tree_take(arena, sizeof *made, &made, rewriter->error));
        RETURN_IF_ERROR(sql_tree_take(arena, (from->partition_count + count + 1) * sizeof *partitions,
                                      &partitions, rewriter->error));
        *made = *from;
        if (from->partition_count)
            memcpy(partitions, from->partitions, from->partition_count * sizeof *partitions);
        for (uint32_t k = 0; k < count; k++)
            RETURN_IF_ERROR(
                rewrite_input(rewriter, window->position, keys[k], &partitions[made->partition_count++]));
        made->partitions = partitions;
        window->window.windows[w].window = made;
    }
    return STATUS_OK;
}

/* The own sides of equalities as columns of *node. */
static enum status key_columns(struct rewriter *rewriter, const struct logical_set *outer,
                               struct logical_node **node, struct conjuncts *pulled, uint32_t **keys)
{
    RETURN_IF_ERROR(
        sql_tree_take(rewriter->tree->arena, (pulled->count + 1) * sizeof **keys, keys, rewriter->error));
    for (uint32_t c = 0; c < pulled->count; c++) {
        RETURN_IF_ERROR(rewrite_compute(rewriter, *own_side(pulled->list[c], outer), node, &(*keys)[c]));
        RETURN_IF_ERROR(with_column(rewriter, outer, &pulled->list[c], (*keys)[c]));
    }
    return STATUS_OK;
}

/* row_number() OVER (PARTITION BY keys ORDER BY orders) of the rows of *node; *number is its column. */
static enum status number_rows(struct rewriter *rewriter, struct sql_position position,
                               const struct logical_node *sort, const uint32_t *keys, uint32_t count,
                               struct logical_node **node, uint32_t *number)
{
    RETURN_IF_ERROR(logical_number_rows(rewriter->tree, position, sort, node, number, rewriter->error));
    return rewrite_partition_by(rewriter, keys, count, *node);
}

enum status rewrite_limit_by(struct rewriter *rewriter, const struct logical_node *limit,
                             const uint32_t *keys, uint32_t count, struct logical_node **node)
{
    const struct logical_node *const sort = (*node)->kind == LOGICAL_SORT ? *node : NULL;
    struct sql_expression *most = (struct sql_expression *)limit->limit.limit, *row, *test;
    struct conjuncts tests = {0};
    uint32_t number;
    if (sort)
        *node = sort->inputs[0];
    RETURN_IF_ERROR(number_rows(rewriter, limit->position, sort, keys, count, node, &number));
    RETURN_IF_ERROR(rewrite_input(rewriter, limit->position, number, &row));
    if (limit->limit.offset) {
        struct sql_expression *const offset = (struct sql_expression *)limit->limit.offset;
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_GREATER, NULL, row, offset, &test));
        RETURN_IF_ERROR(rewrite_add(rewriter, test, &tests));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_SUBTRACT, NULL, row, offset, &row));
    }
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_LESS_EQUAL, NULL, row, most, &test));
    RETURN_IF_ERROR(rewrite_add(rewriter, test, &tests));
    return rewrite_filter(rewriter, &tests, node);
}

enum status rewrite_pull(struct rewriter *rewriter, const struct logical_set *outer,
                         struct logical_node **node, struct conjuncts *pulled)
{
    struct logical_node *const at = *node;
    struct conjuncts here = {0};
    uint32_t *keys;
    if (!rewrite_tree_names_any(at, outer))
        return STATUS_OK;
    for (uint32_t i = 0; i < at->input_count; i++)
        RETURN_IF_ERROR(rewrite_pull(rewriter, outer, &at->inputs[i], &here));
    switch (at->kind) {
    case LOGICAL_FILTER:
        RETURN_IF_ERROR(pull_filter(rewriter, outer, node, &here));
        break;
    case LOGICAL_PROJECT:
        RETURN_IF_ERROR(pull_project(rewriter, at, &here));
        break;
    case LOGICAL_JOIN: {
        struct conjuncts others = {0};
        RETURN_IF_ERROR(divide(rewriter, outer, at->join.condition, &here, &others));
        RETURN_IF_ERROR(rewrite_join(rewriter, &others, &at->join.condition));
        RETURN_IF_ERROR(rewrite_regive(rewriter, at));
        break;
    }
    case LOGICAL_AGGREGATE:
        RETURN_IF_ERROR(rewrite_group_by(rewriter, outer, at, &here));
        break;
    case LOGICAL_WINDOW:
        RETURN_IF_ERROR(key_columns(rewriter, outer, &at->inputs[0], &here, &keys));
        RETURN_IF_ERROR(rewrite_partition_by(rewriter, keys, here.count, at));
        RETURN_IF_ERROR(rewrite_regive(rewriter, at));
        break;
    case LOGICAL_SORT:
        RETURN_IF_ERROR(rewrite_regive(rewriter, at));
        break;
    case LOGICAL_LIMIT: {
        struct logical_node **const below =
            at->inputs[0]->kind == LOGICAL_SORT ? &at->inputs[0]->inputs[0] : &at->inputs[0];
        RETURN_IF_ERROR(key_columns(rewriter, outer, below, &here, &keys));
        *node = at->inputs[0];
        RETURN_IF_ERROR(rewrite_limit_by(rewriter, at, keys, here.count, node));
        break;
    }
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_SET:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    for (uint32_t c = 0; c < here.count; c++)
        RETURN_IF_ERROR(rewrite_add(rewriter, here.list[c], pulled));
    return STATUS_OK;
}
