/*
 * cut.c: makes two SELECTs of one that a plan refused, because it needs values that are computed row by row (enum
 * sql_cut). The first computes them for its rows, from FROM and WHERE; the second is over these rows, where the values
 * are those of a column.
 *
 *     SELECT a || b, count(*) FROM t WHERE c = 1 GROUP BY a || b
 *     SELECT a || b AS @7 FROM t WHERE c = 1                           first
 *     SELECT @7, count(*) GROUP BY @7                                  second, over the rows of the first
 */
#include "engine/relational/relational.h"
#include "engine/sql/aggregates/aggregate_names.h"

#include <string.h>

struct cut {
    struct relational *run;
    bool whole;                      /* groups and aggregates are columns of the first, too */
    struct sql_select *first;        /* its items are all different */
    uint32_t number_count, *numbers; /* of the items */
};

/* ---- Columns of the first SELECT ---- */

static bool has_column(const struct sql_expression *tree)
{
    bool any = tree->operation == SQL_INPUT;
    for (uint32_t c = 0; c < tree->child_count && !any; c++)
        any = has_column(tree->children[c]);
    return any;
}

/* Finds the item that the expression is; first->item_count: none. */
static uint32_t find_item(const struct cut *cut, const struct sql_expression *expression)
{
    uint32_t i = 0;
    while (i < cut->first->item_count && !sql_same_expression(cut->first->items[i].expression, expression))
        i++;
    return i;
}

/* The first SELECT computes the expression, and *tree names its column. */
static enum status move(struct cut *cut, struct sql_expression *expression, struct sql_expression **tree)
{
    struct relational *const run = cut->run;
    const uint32_t i = find_item(cut, expression), number = run->next_column;
    if (i == cut->first->item_count) {
        RETURN_IF_ERROR(relational_item(run, cut->first, expression, number));
        RETURN_IF_ERROR(sql_tree_append(run->arena, &cut->numbers, &cut->number_count, sizeof number, &number,
                                        run->error));
        run->next_column++;
    }
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, expression->position, tree, run->error));
    (*tree)->index = cut->numbers[i];
    return STATUS_OK;
}

/* Constants stay, as places in the select list and arguments that must be constant. */
static enum status move_columns(struct cut *cut, struct sql_expression **tree)
{
    return has_column(*tree) ? move(cut, *tree, tree) : STATUS_OK;
}

/* ---- Expressions of the second ---- */

static enum status replace(void *context, const struct sql_expression *node, struct sql_expression **out)
{
    struct cut *const cut = context;
    struct relational *const run = cut->run;
    const bool aggregate = sql_is_aggregate(node);
    struct sql_expression *copy;
    if (node->operation == SQL_INPUT || (aggregate && cut->whole) ||
        (!aggregate && find_item(cut, node) < cut->first->item_count))
        return move(cut, (struct sql_expression *)node, out);
    if (!aggregate)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_memory(run, sizeof *copy, &copy));
    *copy = *node;
    RETURN_IF_ERROR(
        relational_memory(run, (node->child_count + 1) * sizeof *copy->children, &copy->children));
    for (uint32_t c = 0; c < node->child_count; c++) {
        copy->children[c] = node->children[c];
        RETURN_IF_ERROR(move_columns(cut, &copy->children[c]));
    }
    *out = copy;
    return STATUS_OK;
}

static enum status rewrite(struct cut *cut, struct sql_expression **tree)
{
    return sql_tree_rewrite(cut->run->arena, *tree, replace, cut, tree, cut->run->error);
}

static bool is_aggregated(const struct sql_select *select)
{
    bool any = select->group_count || select->set_count || select->having;
    for (uint32_t i = 0; i < select->item_count; i++)
        any |= sql_has_aggregate(select->items[i].expression);
    for (uint32_t o = 0; o < select->order_count; o++)
        any |= sql_has_aggregate(select->orders[o].expression);
    return any;
}

static enum status rewrite_all(struct cut *cut, bool aggregated, struct sql_select *second)
{
    /* a constant that a grouping set leaves out is NULL, which the first SELECT knows */
    const bool sets = cut->whole && second->set_count;
    for (uint32_t g = 0; g < second->group_count; g++)
        RETURN_IF_ERROR(sets ? move(cut, second->groups[g], &second->groups[g])
                             : move_columns(cut, &second->groups[g]));
    for (uint32_t i = 0; i < second->item_count; i++)
        RETURN_IF_ERROR((aggregated ? rewrite : move_columns)(cut, &second->items[i].expression));
    for (uint32_t o = 0; o < second->order_count; o++)
        RETURN_IF_ERROR((aggregated ? rewrite : move_columns)(cut, &second->orders[o].expression));
    return rewrite(cut, &second->having);
}

/* ---- Conditions ---- */

/* True if the children from `first` on are constants, as LIKE's patterns mostly are. */
static bool has_constants(const struct sql_expression *tree, uint32_t first)
{
    while (first < tree->child_count && !has_column(tree->children[first]))
        first++;
    return first == tree->child_count;
}

/* True if columns among the children are brought to one number of decimals, or one is to that of a constant. */
static bool rescales(const struct relational *run, const struct sql_expression *tree)
{
    const struct sql_expression *first = NULL;
    for (uint32_t c = 0; c < tree->child_count; c++) {
        const struct sql_expression *const child = tree->children[c];
        if (child->operation != SQL_INPUT)
            continue;
        if (first &&
            run->tree->columns[child->index].type.scale != run->tree->columns[first->index].type.scale)
            return true;
        first = child;
    }
    return first && (tree->operation == SQL_CASE || tree->operation == SQL_IS_DISTINCT);
}

static bool is_arithmetic(enum sql_operation operation)
{
    return operation == SQL_ADD || operation == SQL_SUBTRACT || operation == SQL_MULTIPLY ||
           operation == SQL_NEGATE;
}

/* The zone of a time may be asked for each row. */
static bool has_clock(const struct relational *run, const struct sql_expression *tree)
{
    return run->task->zone && tree->operation == SQL_INPUT && run->tree->columns[tree->index].type.zoned;
}

/* True if the condition may have a value that is computed row by row. */
static bool may_compute(const struct relational *run, const struct sql_expression *tree)
{
    bool any =
        tree->operation == SQL_FUNCTION || tree->operation == SQL_CONCAT || tree->operation == SQL_CAST ||
        tree->operation == SQL_MATCHES || (tree->operation == SQL_LIKE && !has_constants(tree, 1)) ||
        (is_arithmetic(tree->operation) && has_column(tree)) || rescales(run, tree) || has_clock(run, tree);
    for (uint32_t c = 0; c < tree->child_count && !any; c++)
        any = may_compute(run, tree->children[c]);
    return any;
}

/* Conditions that may compute become the second's. */
static enum status divide_where(struct cut *cut, struct sql_expression *condition, struct sql_select *second)
{
    if (condition->operation == SQL_AND) {
        for (uint32_t c = 0; c < condition->child_count; c++)
            RETURN_IF_ERROR(divide_where(cut, condition->children[c], second));
        return STATUS_OK;
    }
    if (!may_compute(cut->run, condition))
        return relational_and(cut->run, &cut->first->where, condition);
    RETURN_IF_ERROR(move_columns(cut, &condition));
    return relational_and(cut->run, &second->where, condition);
}

/* ---- The whole ---- */

enum status relational_copy_select(struct relational *run, const struct sql_select *from,
                                   struct sql_select **copy)
{
    RETURN_IF_ERROR(relational_memory(run, sizeof **copy, copy));
    **copy = *from;
    RETURN_IF_ERROR(relational_memory(run, (from->item_count + 1) * sizeof *from->items, &(*copy)->items));
    RETURN_IF_ERROR(relational_memory(run, (from->group_count + 1) * sizeof *from->groups, &(*copy)->groups));
    RETURN_IF_ERROR(relational_memory(run, (from->order_count + 1) * sizeof *from->orders, &(*copy)->orders));
    memcpy((*copy)->items, from->items, from->item_count * sizeof *from->items);
    if (from->group_count)
        memcpy((*copy)->groups, from->groups, from->group_count * sizeof *from->groups);
    if (from->order_count)
        memcpy((*copy)->orders, from->orders, from->order_count * sizeof *from->orders);
    return STATUS_OK;
}

enum status relational_cut(struct relational *run, enum sql_cut where, struct sql_select *second,
                           struct sql_select **first, uint32_t **numbers)
{
    const bool aggregated = is_aggregated(second);
    struct cut cut = {.run = run, .whole = where == SQL_CUT_ABOVE_GROUPS};
    struct sql_expression *const condition = second->where;
    RETURN_IF_ERROR(relational_memory(run, sizeof *cut.first, first));
    cut.first = *first;
    cut.first->position = second->position;
    second->where = NULL;
    if (where != SQL_CUT_BELOW_WHERE)
        cut.first->where = condition;
    else
        RETURN_IF_ERROR(divide_where(&cut, condition, second));
    if (aggregated && cut.whole) {
        RETURN_IF_ERROR(
            relational_memory(run, (second->group_count + 1) * sizeof *second->groups, &cut.first->groups));
        if (second->group_count)
            memcpy(cut.first->groups, second->groups, second->group_count * sizeof *second->groups);
        cut.first->group_count = second->group_count;
        cut.first->set_count = second->set_count;
        cut.first->sets = second->sets;
    }
    RETURN_IF_ERROR(rewrite_all(&cut, aggregated, second));
    if (aggregated && cut.whole) {
        second->where = second->having;
        second->having = NULL;
        second->group_count = second->set_count = 0;
    }
    if (!cut.number_count) { /* the rows are counted */
        struct sql_expression *one, *column;
        RETURN_IF_ERROR(relational_literal(run, second->position, SQL_NUMBER, "1", &one));
        RETURN_IF_ERROR(move(&cut, one, &column));
    }
    *numbers = cut.numbers;
    return STATUS_OK;
}
