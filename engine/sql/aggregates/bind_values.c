/*
 * bind_values.c: binds aggregates that need all values of their argument: sum and avg of distinct values, quantiles, mode
 * and string_agg; and approximations, which need the cells of all values. The argument, or its cell, becomes a term of the scan's groups (engine/plan/grouping/grouping.h).
 */
#include "engine/plan/functions/text_call.h"
#include "engine/sql/bind_internal.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/double_key.h"
#include "storage/base/memory.h"

enum status bind_measure(struct binder *binder, const struct sql_expression *ast,
                         const struct plan_measure *measure, struct expression leaf, uint32_t *node)
{
    struct plan *const plan = binder->plan;
    while (leaf.index < plan->measure_count &&
           memcmp(&plan->measures[leaf.index], measure, sizeof *measure) != 0)
        leaf.index++;
    if (leaf.index == PLAN_MEASURES_MAX)
        return bind_refuse(
            binder, ast->position,
            "the statement has more than %u variances, quantiles and the like; ask for them in "
            "several statements",
            PLAN_MEASURES_MAX);
    if (leaf.index == plan->measure_count) {
        RETURN_IF_ERROR(memory_grow(&plan->measures, (plan->measure_count + 1) * sizeof *plan->measures,
                                    "a plan", binder->error));
        plan->measures[plan->measure_count++] = *measure;
    }
    leaf.operation = EXPRESSION_MEASURE;
    leaf.nullable = true;
    return expression_add(binder->list, &leaf, node, binder->error);
}

/* Fills in the terms of a measure. */
static enum status take_term(struct binder *binder, const struct sql_expression *ast, uint32_t value,
                             enum measure_kind kind, struct plan_measure *measure)
{
    memset(measure, 0, sizeof *measure); /* also the gaps, which bind_measure compares */
    measure->kind = kind;
    measure->of_values = true;
    measure->argument = value;
    measure->scale = bind_node(binder, value)->type.scale;
    measure->separator = EXPRESSION_NONE;
    RETURN_IF_ERROR(bind_group_term(binder, ast->position, value, &measure->term));
    measure->order_term = measure->term;
    return STATUS_OK;
}

static enum status count_rows(struct binder *binder, struct plan_measure *measure)
{
    uint32_t one;
    RETURN_IF_ERROR(bind_integer(binder, 1, 0, &one));
    return bind_count_of(binder, one, &measure->count);
}

/* Fills in the terms and the count of rows of a measure. */
static enum status take_values(struct binder *binder, const struct sql_expression *ast, uint32_t value,
                               enum measure_kind kind, struct plan_measure *measure)
{
    RETURN_IF_ERROR(take_term(binder, ast, value, kind, measure));
    return count_rows(binder, measure);
}

static struct expression double_leaf(void)
{
    return (struct expression){
        .type = {.kind = VALUE_DOUBLE}, .low = DOUBLE_KEY_MINUS_INFINITY, .high = DOUBLE_KEY_INFINITY};
}

/* The leaf of a measure of the values of a node. */
static struct expression leaf_of(const struct binder *binder, enum measure_kind kind, uint32_t value)
{
    const struct expression of = *bind_node(binder, value);
    struct expression leaf = {.type = of.type, .low = of.low, .high = of.high};
    switch (measure_of(kind)->result) {
    case RESULT_DOUBLE:
        return double_leaf();
    case RESULT_COUNT:
        return (struct expression){.type = {.kind = VALUE_INTEGER},
                                   .high = measure_most(kind, table_whole_rows(binder->plan->fact))};
    case RESULT_SUM:
        bind_sum_range(binder, &(struct plan_aggregate){.low = of.low, .high = of.high}, &leaf);
        break;
    case RESULT_TEXT:
        leaf = (struct expression){.type = {.kind = VALUE_STRING, .dictionary = &run_time_strings},
                                   .high = UINT32_MAX};
        break;
    case RESULT_ARGUMENT:
        break;
    }
    return leaf;
}

enum status bind_values_aggregate(struct binder *binder, const struct sql_expression *ast,
                                  enum measure_kind kind, uint32_t *node)
{
    const bool sums = measure_of(kind)->sums;
    struct plan_measure measure;
    uint32_t value;
    if (ast->child_count != 1 || ast->children[0]->operation == SQL_STAR)
        return bind_refuse(binder, ast->position, "%s takes one value", ast->name);
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &value));
    if (sums && bind_kind(binder, value) == VALUE_BOOLEAN)
        RETURN_IF_ERROR(bind_number_of(binder, ast->position, &value));
    if (sums && bind_kind(binder, value) != VALUE_INTEGER)
        return bind_refuse(binder, ast->position, "%s(distinct x) takes whole numbers and decimals",
                           ast->name);
    RETURN_IF_ERROR(take_values(binder, ast, value, kind, &measure));
    return bind_measure(binder, ast, &measure, leaf_of(binder, kind, value), node);
}

enum status bind_double_spread(struct binder *binder, const struct sql_expression *ast,
                               enum measure_kind kind, uint32_t value, uint32_t *node)
{
    struct plan_measure measure;
    RETURN_IF_ERROR(take_values(binder, ast, value, kind, &measure));
    return bind_measure(binder, ast, &measure, double_leaf(), node);
}

/* ---- Quantiles ---- */

/* The fraction of a quantile, a constant between 0 and 1; that of the median is 1/2. */
static enum status take_fraction(struct binder *binder, const struct sql_expression *ast,
                                 struct plan_measure *measure)
{
    uint32_t node;
    measure->fraction = 1;
    measure->whole = 2;
    if (strcmp(ast->name, "median") == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_below(binder, ast->children[1], &node));
    const struct expression *const fraction = bind_node(binder, node);
    if (!expression_is_constant(binder->list, node) || fraction->type.kind != VALUE_INTEGER ||
        fraction->constant < 0 || fraction->constant > power_of_ten(fraction->type.scale))
        return bind_refuse(binder, ast->children[1]->position,
                           "%s takes a constant from 0 to 1, as in %s(x, 0.5)", ast->name, ast->name);
    measure->fraction = fraction->constant;
    measure->whole = power_of_ten(fraction->type.scale);
    if (ast->descending)
        measure->fraction = measure->whole - measure->fraction;
    return STATUS_OK;
}

enum status bind_quantile(struct binder *binder, const struct sql_expression *ast, enum measure_kind kind,
                          uint32_t *node)
{
    const uint32_t arguments = strcmp(ast->name, "median") == 0 ? 1 : 2;
    struct plan_measure measure;
    uint32_t value;
    if (ast->child_count != arguments || ast->distinct || ast->ordered)
        return bind_refuse(binder, ast->position,
                           arguments == 1 ? "median takes one value"
                                          : "%s takes a value and a constant from 0 to 1, as in %s(x, 0.5)",
                           ast->name, ast->name);
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &value));
    const struct expression of = *bind_node(binder, value);
    const bool number = of.type.kind == VALUE_INTEGER || of.type.kind == VALUE_DOUBLE;
    const bool exists = measure_of(kind)->result == RESULT_ARGUMENT;
    if (!exists && !number)
        return bind_refuse(
            binder, ast->position,
            "%s takes numbers, between which it can lie; write quantile_disc(x, 0.5) for a value "
            "that there is",
            ast->name);
    if (exists && ast->descending)
        return bind_refuse(binder, ast->position,
                           "%s takes ascending values; write quantile_disc(x, 1 - fraction)", ast->name);
    RETURN_IF_ERROR(take_values(binder, ast, value, kind, &measure));
    RETURN_IF_ERROR(take_fraction(binder, ast, &measure));
    return bind_measure(binder, ast, &measure, leaf_of(binder, kind, value), node);
}

/* ---- Sketches ---- */

/* Adds a scalar function of a value. */
static enum status apply_named(struct binder *binder, const struct sql_expression *ast, const char *function,
                               uint32_t value, uint32_t *node)
{
    return bind_row_call(binder, ast->position, row_function_named(function), 0, value, EXPRESSION_NONE,
                         EXPRESSION_NONE, node);
}

/* Fills in a measure of the cells of a value. */
static enum status take_cells(struct binder *binder, const struct sql_expression *ast, uint32_t value,
                              enum measure_kind kind, struct plan_measure *measure)
{
    const struct measure_sketch *const sketch = measure_of(kind)->sketch;
    const bool real = bind_kind(binder, value) == VALUE_DOUBLE;
    uint32_t cell, weight;
    RETURN_IF_ERROR(apply_named(binder, ast, real ? sketch->double_cell : sketch->cell, value, &cell));
    RETURN_IF_ERROR(take_term(binder, ast, cell, kind, measure));
    measure->argument = value;
    measure->scale = bind_node(binder, value)->type.scale;
    if (sketch->weight) {
        RETURN_IF_ERROR(apply_named(binder, ast, sketch->weight, value, &weight));
        RETURN_IF_ERROR(bind_extreme_of(binder, weight, true, &measure->count));
    } else {
        RETURN_IF_ERROR(count_rows(binder, measure));
    }
    if (!sketch->extremes)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_extreme_of(binder, value, false, &measure->least));
    return bind_extreme_of(binder, value, true, &measure->greatest);
}

enum status bind_sketch(struct binder *binder, const struct sql_expression *ast, enum measure_kind kind,
                        uint32_t *node)
{
    const struct measure *const of = measure_of(kind);
    struct plan_measure measure;
    uint32_t value;
    if (ast->child_count != 1u + of->fraction || ast->distinct || ast->ordered ||
        ast->children[0]->operation == SQL_STAR)
        return bind_refuse(binder, ast->position,
                           of->fraction ? "%s takes a value and a constant from 0 to 1, as in %s(x, 0.5)"
                                        : "%s takes one value",
                           ast->name, ast->name);
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &value));
    const enum value_kind type = bind_kind(binder, value);
    if (of->dates && (type == VALUE_DATE || type == VALUE_TIMESTAMP))
        return bind_quantile(binder, ast, of->dates, node);
    if (of->dates && type != VALUE_INTEGER && type != VALUE_DOUBLE)
        return bind_refuse(binder, ast->position,
                           "%s takes numbers and dates; write quantile_disc(x, 0.5) for other values",
                           ast->name);
    RETURN_IF_ERROR(take_cells(binder, ast, value, kind, &measure));
    if (of->fraction)
        RETURN_IF_ERROR(take_fraction(binder, ast, &measure));
    return bind_measure(binder, ast, &measure, leaf_of(binder, kind, value), node);
}

/* ---- arg_max ---- */

enum status bind_argument_of(struct binder *binder, const struct sql_expression *ast, enum measure_kind kind,
                             uint32_t *node)
{
    struct plan_measure measure;
    uint32_t value, order;
    if (ast->child_count != 2 || ast->distinct || ast->ordered)
        return bind_refuse(binder, ast->position,
                           "%s takes a value, and another one by which its row is found", ast->name);
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &value));
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[1], &order));
    RETURN_IF_ERROR(take_values(binder, ast, value, kind, &measure));
    RETURN_IF_ERROR(bind_group_term(binder, ast->position, order, &measure.order_term));
    return bind_measure(binder, ast, &measure, leaf_of(binder, kind, value), node);
}

/* ---- string_agg ---- */

/* string_agg(x, separator ORDER BY y): the order is the last child. */
static enum status take_order(struct binder *binder, const struct sql_expression *ast,
                              struct plan_measure *measure)
{
    uint32_t order;
    if (!ast->ordered)
        return STATUS_OK;
    const struct sql_expression *const by = ast->children[ast->child_count - 1];
    RETURN_IF_ERROR(bind_aggregate_argument(binder, by, &order));
    if (ast->distinct && order != measure->argument)
        return bind_refuse(binder, by->position,
                           "%s(DISTINCT x ORDER BY y) has no one y for an x; order by the strings",
                           ast->name);
    measure->descending = ast->descending;
    measure->nulls_last = ast->nulls_last;
    return bind_group_term(binder, by->position, order, &measure->order_term);
}

enum status bind_strings(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const uint32_t arguments = ast->child_count - ast->ordered;
    const enum measure_kind kind = aggregate_name_find(ast->name)->measure;
    /* in no order: as strings of rows they are compared by their bytes */
    const struct string_call same = {
        .body = string_concat, .type = {.kind = VALUE_STRING}, .count = 1, .total = true};
    struct plan_measure measure;
    uint32_t value, length, separator;
    if (arguments < 1 || arguments > 2 || ast->children[0]->operation == SQL_STAR)
        return bind_refuse(binder, ast->position, "%s takes a string and a separator", ast->name);
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &value));
    if (bind_is_null(binder, value))
        return expression_null(binder->list, leaf_of(binder, kind, value).type, node, binder->error);
    if (bind_kind(binder, value) != VALUE_STRING)
        return bind_refuse(binder, ast->position, "%s takes strings", ast->name);
    RETURN_IF_ERROR(take_values(binder, ast, value, kind, &measure));
    if (arguments == 2)
        RETURN_IF_ERROR(bind_below(binder, ast->children[1], &separator));
    else
        RETURN_IF_ERROR(expression_string_constant(binder->list, ",", 1, &separator, binder->error));
    if (!bind_string_of(binder, separator, &length))
        return bind_refuse(binder, ast->children[1]->position, "the separator of %s is a constant string",
                           ast->name);
    measure.separator = separator;
    measure.distinct = ast->distinct;
    RETURN_IF_ERROR(take_order(binder, ast, &measure));
    RETURN_IF_ERROR(bind_measure(binder, ast, &measure, leaf_of(binder, kind, value), node));
    return expression_string_call(binder->list, &same, node, node, binder->error);
}
