/*
 * cheaper.c: joins that become cheaper ones when it is known which of their columns are needed, and whether rows that come
 * several times matter (rewrite.h). What IN, EXISTS, UNION, min and max read may have each row once:
 *
 *     inner join, of whose right side nothing is needed      semi-join, if it has several rows for a left one
 *     semi-join: a.k = b.k and a.x <> b.x                    inner join with min(x) and max(x) of b by k, of which a.x is not both
 *     left join, b.k is null, where a.k = b.k                anti-join
 */
#include "engine/logical/rewrite/rewrite.h"

#include <string.h>

/* ---- Sides with several rows for one ---- */

static bool is_any_needed(const struct logical_node *node, const struct logical_set *needed)
{
    bool any = false;
    for (uint32_t c = 0; c < node->column_count && !any; c++)
        any = logical_has(needed, node->columns[c]);
    return any;
}

/* True if a stored column has hardly a value twice. */
static bool is_key(void *context, const struct column *column)
{
    (void)context;
    return column && (column->schema.primary_key || 2 * column->statistics.distinct > column->table->rows);
}

static bool is_grouped(const struct logical_node *node)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT)
        node = node->inputs[0];
    return node->kind == LOGICAL_AGGREGATE;
}

/* True if an equality joins the node to the columns of another one, and none of them says that it has one row for each. */
static bool has_several(const struct conjuncts *conditions, const struct logical_node *node,
                        const struct logical_set *own)
{
    bool any = false;
    for (uint32_t c = 0; c < conditions->count; c++)
        for (int turned = 0; turned < 2 && conditions->list[c]->operation == SQL_EQUAL; turned++) {
            const struct sql_expression *const key = conditions->list[c]->children[turned];
            if (key->operation != SQL_INPUT || !logical_has(own, key->index) ||
                rewrite_names_any(conditions->list[c]->children[!turned], own))
                continue;
            if (rewrite_all_stored(node, key->index, is_key, NULL))
                return false;
            any = true;
        }
    return any && !is_grouped(node);
}

static enum status inner_to_semi(struct rewriter *rewriter, const struct logical_set *needed,
                                 struct logical_node *join)
{
    struct conjuncts conditions = {0};
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &conditions));
    for (int side = 1; side >= 0; side--) {
        struct logical_node *const once = join->inputs[side];
        struct logical_set own;
        RETURN_IF_ERROR(rewrite_gives(rewriter, once, &own));
        if (is_any_needed(once, needed) || !has_several(&conditions, once, &own))
            continue;
        join->inputs[0] = join->inputs[!side];
        join->inputs[1] = once;
        join->join.join = LOGICAL_SEMI;
        return rewrite_regive(rewriter, join);
    }
    return STATUS_OK;
}

/* ---- Semi-joins by an inequality ---- */

/* own OPERATION outer, where the right side has `own`. */
struct inequality {
    enum sql_operation operation; /* SQL_NULL: there is none */
    struct sql_expression *own, *outer;
};

static bool is_inequality(enum sql_operation operation)
{
    return operation >= SQL_NOT_EQUAL && operation <= SQL_GREATER_EQUAL;
}

/* Divides the conditions into equalities of columns of the right side and one inequality of a column that has an order without
 * exceptions; false: there are others. */
static bool find_inequality(const struct rewriter *rewriter, const struct conjuncts *conditions,
                            const struct logical_set *right, struct inequality *found)
{
    *found = (struct inequality){.operation = SQL_NULL};
    for (uint32_t c = 0; c < conditions->count; c++) {
        const struct sql_expression *const condition = conditions->list[c];
        if (condition->operation != SQL_EQUAL && !is_inequality(condition->operation))
            return false;
        const bool first = rewrite_names_any(condition->children[0], right);
        struct sql_expression *const own = condition->children[!first], *const outer =
                                                                            condition->children[first];
        if (own->operation != SQL_INPUT || !logical_has(right, own->index) || rewrite_names_any(outer, right))
            return false;
        if (condition->operation == SQL_EQUAL)
            continue;
        const enum value_kind kind = rewriter->tree->columns[own->index].type.kind;
        if (found->own || (kind != VALUE_INTEGER && kind != VALUE_DATE))
            return false;
        *found =
            (struct inequality){first ? condition->operation : sql_turned(condition->operation), own, outer};
    }
    return found->own && conditions->count > 1;
}

/* Adds `extreme`(own) to the aggregate, and a comparison of it to the conditions. */
static enum status compare_extreme(struct rewriter *rewriter, const struct inequality *by,
                                   const char *extreme, struct logical_node *aggregate,
                                   struct sql_expression **comparison)
{
    struct logical_tree *const tree = rewriter->tree;
    const struct logical_column of = tree->columns[by->own->index];
    struct sql_expression *call;
    uint32_t column;
    RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_FUNCTION, extreme, by->own, NULL, &call));
    RETURN_IF_ERROR(sql_tree_append(tree->arena, &aggregate->aggregate.aggregates,
                                    &aggregate->aggregate.aggregate_count, sizeof call, &call,
                                    rewriter->error));
    RETURN_IF_ERROR(logical_column_new(tree, extreme, of.type, true, &column, rewriter->error));
    RETURN_IF_ERROR(logical_gives(tree, aggregate, column, rewriter->error));
    RETURN_IF_ERROR(rewrite_input(rewriter, by->own->position, column, &call));
    return rewrite_apply(rewriter, by->operation, NULL, call, by->outer, comparison);
}

/* One of several values is unequal to another one if the least or the greatest is; it is less if the least is. */
static enum status compare(struct rewriter *rewriter, const struct inequality *by,
                           struct logical_node *aggregate, struct sql_expression **comparison)
{
    struct sql_expression *greatest;
    if (by->operation != SQL_NOT_EQUAL)
        return compare_extreme(rewriter, by,
                               by->operation == SQL_LESS || by->operation == SQL_LESS_EQUAL ? "min" : "max",
                               aggregate, comparison);
    RETURN_IF_ERROR(compare_extreme(rewriter, by, "min", aggregate, comparison));
    RETURN_IF_ERROR(compare_extreme(rewriter, by, "max", aggregate, &greatest));
    return rewrite_apply(rewriter, SQL_OR, NULL, *comparison, greatest, comparison);
}

static enum status semi_to_extremes(struct rewriter *rewriter, struct logical_node *join)
{
    struct logical_tree *const tree = rewriter->tree;
    struct conjuncts conditions = {0}, made = {0};
    struct logical_node *aggregate;
    struct sql_expression *comparison;
    struct inequality by;
    struct logical_set right;
    RETURN_IF_ERROR(rewrite_gives(rewriter, join->inputs[1], &right));
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &conditions));
    if (!find_inequality(rewriter, &conditions, &right, &by) ||
        !has_several(&conditions, join->inputs[1], &right))
        return STATUS_OK;
    RETURN_IF_ERROR(logical_node_new(tree, LOGICAL_AGGREGATE, join->position, join->inputs[1], NULL,
                                     &aggregate, rewriter->error));
    for (uint32_t c = 0; c < conditions.count; c++) {
        const struct sql_expression *const condition = conditions.list[c];
        if (condition->operation != SQL_EQUAL)
            continue;
        const bool first = rewrite_names_any(condition->children[0], &right);
        struct sql_expression *input, *equal;
        uint32_t column;
        RETURN_IF_ERROR(rewrite_add_group(rewriter, aggregate, condition->children[!first], &column));
        RETURN_IF_ERROR(rewrite_input(rewriter, condition->position, column, &input));
        RETURN_IF_ERROR(rewrite_apply(rewriter, SQL_EQUAL, NULL, input, condition->children[first], &equal));
        RETURN_IF_ERROR(rewrite_add(rewriter, equal, &made));
    }
    RETURN_IF_ERROR(compare(rewriter, &by, aggregate, &comparison));
    RETURN_IF_ERROR(rewrite_add(rewriter, comparison, &made));
    RETURN_IF_ERROR(rewrite_join(rewriter, &made, &join->join.condition));
    join->join.join = LOGICAL_INNER; /* the groups are unique */
    join->inputs[1] = aggregate;
    return rewrite_regive(rewriter, join);
}

enum status rewrite_cheaper_join(struct rewriter *rewriter, const struct logical_set *needed,
                                 struct logical_node *join)
{
    if (join->join.join == LOGICAL_INNER && rewriter->once)
        RETURN_IF_ERROR(inner_to_semi(rewriter, needed, join));
    return join->join.join == LOGICAL_SEMI ? semi_to_extremes(rewriter, join) : STATUS_OK;
}

/* ---- Rows without a partner ---- */

/* True if the condition is `column IS NULL` of a column of the set that an equality of the join compares. */
static bool is_missing(const struct sql_expression *condition, const struct conjuncts *equalities,
                       const struct logical_set *set)
{
    if (condition->operation != SQL_IS_NULL || condition->negated ||
        condition->children[0]->operation != SQL_INPUT || !logical_has(set, condition->children[0]->index))
        return false;
    for (uint32_t e = 0; e < equalities->count; e++)
        for (int turned = 0; turned < 2 && equalities->list[e]->operation == SQL_EQUAL; turned++) {
            const struct sql_expression *const key = equalities->list[e]->children[turned];
            if (key->operation == SQL_INPUT && key->index == condition->children[0]->index)
                return true;
        }
    return false;
}

enum status rewrite_cheaper_filter(struct rewriter *rewriter, const struct logical_set *needed,
                                   struct logical_node **node)
{
    struct logical_node *const join = (*node)->inputs[0];
    struct conjuncts conditions = {0}, left = {0}, on = {0};
    struct logical_set right;
    bool anti = false;
    if (join->kind != LOGICAL_JOIN || join->join.join != LOGICAL_LEFT ||
        is_any_needed(join->inputs[1], needed))
        return STATUS_OK;
    RETURN_IF_ERROR(rewrite_gives(rewriter, join->inputs[1], &right));
    RETURN_IF_ERROR(rewrite_split(rewriter, (*node)->filter.condition, &conditions));
    RETURN_IF_ERROR(rewrite_split(rewriter, join->join.condition, &on));
    for (uint32_t c = 0; c < conditions.count; c++) {
        const bool missing = is_missing(conditions.list[c], &on, &right);
        anti |= missing;
        if (!missing && rewrite_names_any(conditions.list[c], &right))
            return STATUS_OK;
        if (!missing)
            RETURN_IF_ERROR(rewrite_add(rewriter, conditions.list[c], &left));
    }
    if (!anti)
        return STATUS_OK;
    join->join.join = LOGICAL_ANTI;
    RETURN_IF_ERROR(rewrite_regive(rewriter, join));
    *node = join;
    return rewrite_filter(rewriter, &left, node);
}
