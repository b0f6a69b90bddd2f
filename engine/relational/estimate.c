/*
 * estimate.c: rows that operators are expected to give (relational.h): before they run, from the different values of stored
 * columns and from shares of conditions that nobody counted. They choose orders and are told by EXPLAIN; no type, no refusal
 * and no answer depends on them.
 */
#include "engine/relational/relational.h"

#include "engine/sql/aggregates/aggregate_names.h"

#include <stdlib.h>

/* ---- Values of columns ---- */

static double values_of_set(const struct relational *run, const struct logical_node *node, uint32_t c)
{
    const double left = run->values[node->inputs[0]->columns[c]],
                 right = run->values[node->inputs[1]->columns[c]];
    return node->set.set != SQL_SET_UNION ? left : left > 0 && right > 0 ? left + right : 0;
}

static bool is_column(const struct sql_expression *expression)
{
    return expression->operation == SQL_INPUT;
}

static double values_of_expression(const struct relational *run, const struct sql_expression *expression)
{
    double values = 1;
    if (is_column(expression))
        return expression->index < run->tree->column_count ? run->values[expression->index] : 0;
    for (uint32_t c = 0; c < expression->child_count; c++)
        values *= values_of_expression(run, expression->children[c]);
    return values;
}

static void fill_node(struct relational *run, const struct logical_node *node)
{
    const struct logical_tree *const tree = run->tree;
    for (uint32_t i = 0; i < node->input_count; i++)
        fill_node(run, node->inputs[i]);
    for (uint32_t c = 0; c < node->column_count; c++) {
        double *const values = &run->values[node->columns[c]];
        switch (node->kind) {
        case LOGICAL_SCAN:
            *values = (double)node->scan.table->columns[node->scan.stored[c]].statistics.distinct;
            break;
        case LOGICAL_PROJECT:
            *values = values_of_expression(run, node->project.expressions[c]);
            break;
        case LOGICAL_AGGREGATE:
            if (c < node->aggregate.group_count)
                *values = values_of_expression(run, node->aggregate.groups[c]);
            break;
        case LOGICAL_SET:
            *values = values_of_set(run, node, c);
            break;
        case LOGICAL_SHARED:
            *values = run->values[tree->shared[node->shared.shared].root->columns[c]];
            break;
        case LOGICAL_VALUES:
            *values = node->values.row_count;
            break;
        case LOGICAL_FILTER:
        case LOGICAL_JOIN:
        case LOGICAL_WINDOW:
        case LOGICAL_SORT:
        case LOGICAL_LIMIT:
        case LOGICAL_RECURSIVE:
        case LOGICAL_WORKING:
            break;
        }
    }
}

enum status estimate_columns(struct relational *run)
{
    RETURN_IF_ERROR(
        relational_memory(run, (run->tree->column_count + 1) * sizeof *run->values, &run->values));
    for (uint32_t s = run->tree->shared_count; s-- > 0;) /* a query names those before it */
        fill_node(run, run->tree->shared[s].root);
    fill_node(run, run->tree->root);
    return STATUS_OK;
}

double estimate_values(const struct relational *run, const struct sql_expression *expression, double rows)
{
    const double values = values_of_expression(run, expression);
    return values > 0 && values < rows ? values : rows;
}

/* ---- Conditions ---- */

static bool has_input(const struct sql_expression *expression)
{
    bool any = is_column(expression);
    for (uint32_t c = 0; c < expression->child_count && !any; c++)
        any = has_input(expression->children[c]);
    return any;
}

/* Of two sides, each value of the one with fewer is expected to be a value of the other. */
static double share_of_equal(const struct relational *run, const struct sql_expression *equal)
{
    double most = 0;
    for (uint32_t c = 0; c < 2; c++) {
        const double values =
            has_input(equal->children[c]) ? values_of_expression(run, equal->children[c]) : 0;
        most = values > most ? values : most;
    }
    return most > 0 ? 1 / most : 0.05;
}

static double share_of_list(const struct relational *run, const struct sql_expression *in)
{
    const double values = values_of_expression(run, in->children[0]);
    double listed = in->keys ? (double)in->keys->count : 0, share = 0.15;
    for (uint32_t c = 1; c < in->child_count; c++) {
        const double more = values_of_expression(run, in->children[c]);
        listed += more > 1 ? more : 1;
    }
    if (values > 0)
        share = listed < values ? listed / values : 1;
    return in->negated ? 1 - share : share;
}

double estimate_share(const struct relational *run, const struct sql_expression *condition)
{
    double share = 1;
    if (!condition)
        return 1;
    switch (condition->operation) {
    case SQL_AND:
        for (uint32_t c = 0; c < condition->child_count; c++)
            share *= estimate_share(run, condition->children[c]);
        return share;
    case SQL_OR:
        for (uint32_t c = 0; c < condition->child_count; c++)
            share *= 1 - estimate_share(run, condition->children[c]);
        return 1 - share;
    case SQL_NOT:
        return 1 - estimate_share(run, condition->children[0]);
    case SQL_FALSE:
        return 0;
    case SQL_TRUE:
        return 1;
    case SQL_EQUAL:
        return share_of_equal(run, condition);
    case SQL_NOT_EQUAL:
        return 1 - share_of_equal(run, condition);
    case SQL_IN:
        return share_of_list(run, condition);
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

/* ---- SELECT ---- */

bool estimate_is_aggregated(const struct sql_select *select)
{
    bool any = select->having || select->group_count;
    for (uint32_t i = 0; i < select->item_count && !any; i++)
        any = sql_has_aggregate(select->items[i].expression);
    return any;
}

double estimate_select(const struct relational *run, const struct sql_select *select, double rows)
{
    double groups = select->set_count ? select->set_count : 1;
    rows *= estimate_share(run, select->where);
    for (uint32_t g = 0; g < select->group_count; g++)
        groups *= estimate_values(run, select->groups[g], rows);
    if (estimate_is_aggregated(select))
        rows = (groups < rows || !select->group_count ? groups : rows) * estimate_share(run, select->having);
    if (select->limit && select->limit->operation == SQL_NUMBER) {
        const double limit = strtoull(select->limit->text, NULL, 10);
        rows = limit < rows ? limit : rows;
    }
    return rows;
}
