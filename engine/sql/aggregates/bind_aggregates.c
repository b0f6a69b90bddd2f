/*
 * bind_aggregates.c: binds aggregates beyond count, sum, avg, min and max (aggregate_names.h). Most become one of these
 * over another argument. A variance is made from exact sums of values and of squares (engine/plan/grouping/grouping.h).
 */
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/bind_internal.h"
#include "storage/base/double_key.h"

/* ---- Aggregates of another argument ---- */

static enum status bind_as(struct binder *binder, const struct sql_expression *ast, const char *name,
                           struct sql_expression *argument, uint32_t *node)
{
    struct sql_expression *children[] = {argument};
    struct sql_expression made = *ast;
    made.name = name;
    made.child_count = 1;
    made.children = children;
    return bind_aggregate(binder, &made, node);
}

/* NOT NOT c is a truth value, whatever the condition's type. */
static enum status bind_truth(struct binder *binder, const struct sql_expression *ast, const char *name,
                              uint32_t *node)
{
    struct sql_expression *condition[] = {ast->children[0]};
    struct sql_expression negated = {.operation = SQL_NOT,
                                     .position = ast->children[0]->position,
                                     .child_count = 1,
                                     .children = condition};
    struct sql_expression *once[] = {&negated};
    struct sql_expression twice = negated;
    twice.children = once;
    return bind_as(binder, ast, name, &twice, node);
}

static enum status bind_count_if(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    struct sql_expression one = {.operation = SQL_NUMBER, .position = ast->position, .text = "1"};
    struct sql_expression *pair[] = {ast->children[0], &one};
    struct sql_expression choice = {
        .operation = SQL_CASE, .position = ast->position, .child_count = 2, .children = pair};
    return bind_as(binder, ast, "count", &choice, node);
}

/* ---- Variances ---- */

/* Products of numbers up to this one fit 64 bits. */
#define FACTOR_MAX INT64_C(3037000499)

/* The widest values that can be squared in parts. */
#define SPREAD_MAX (INT64_C(1) << 62)

/* True if the square of every value fits 64 bits. */
static bool squares_fit(const struct expression *of)
{
    return of->low >= -FACTOR_MAX && of->high <= FACTOR_MAX;
}

/* Subtracts the middle of the range, which does not change a variance, unless the squares fit 64 bits anyway. */
static enum status center(struct binder *binder, const struct sql_expression *ast, uint32_t value,
                          uint32_t *node)
{
    const struct expression of = *bind_node(binder, value);
    const __int128 middle = ((__int128)of.low + of.high) / 2;
    uint32_t offset;
    *node = value;
    if (squares_fit(&of))
        return STATUS_OK;
    if (of.high - middle > SPREAD_MAX || middle - of.low > SPREAD_MAX)
        return bind_refuse(
            binder, ast->position,
            "%s needs values that span less than 2^63 units of their last digit, going by the least and "
            "greatest ones; cast them to fewer digits",
            ast->name);
    RETURN_IF_ERROR(bind_integer(binder, (int64_t)middle, of.type.scale, &offset));
    return bind_apply(binder, ast->position, EXPRESSION_SUBTRACT, value, offset, EXPRESSION_NONE, node);
}

/* Adds the sum of the products of two values. */
static enum status sum_of_products(struct binder *binder, const struct sql_expression *ast, uint32_t left,
                                   uint32_t right, uint32_t count, uint32_t *aggregate)
{
    uint32_t product;
    RETURN_IF_ERROR(
        bind_apply(binder, ast->position, EXPRESSION_MULTIPLY, left, right, EXPRESSION_NONE, &product));
    return bind_sum_of(binder, product, count, aggregate);
}

static enum status bind_squares(struct binder *binder, const struct sql_expression *ast, uint32_t value,
                                struct plan_measure *measure)
{
    uint32_t zero, unit, high, low;
    RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero));
    if (bind_node(binder, value)->type.scale >
        9) /* 0 + value has the type of 0; a square would have too many digits */
        RETURN_IF_ERROR(
            bind_apply(binder, ast->position, EXPRESSION_ADD, zero, value, EXPRESSION_NONE, &value));
    measure->parts = squares_fit(bind_node(binder, value)) ? 1 : 3;
    if (measure->parts == 1)
        return sum_of_products(binder, ast, value, value, measure->count, &measure->squares[0]);
    RETURN_IF_ERROR(bind_integer(binder, INT64_C(1) << MEASURE_PART_BITS, 0, &unit));
    RETURN_IF_ERROR(
        bind_apply(binder, ast->position, EXPRESSION_DIVIDE, value, unit, EXPRESSION_NONE, &high));
    RETURN_IF_ERROR(
        bind_apply(binder, ast->position, EXPRESSION_REMAINDER, value, unit, EXPRESSION_NONE, &low));
    RETURN_IF_ERROR(sum_of_products(binder, ast, high, high, measure->count, &measure->squares[0]));
    RETURN_IF_ERROR(sum_of_products(binder, ast, high, low, measure->count, &measure->squares[1]));
    return sum_of_products(binder, ast, low, low, measure->count, &measure->squares[2]);
}

static enum status bind_spread(struct binder *binder, const struct sql_expression *ast,
                               enum measure_kind kind, uint32_t *node)
{
    const struct expression leaf = {
        .type = {.kind = VALUE_DOUBLE}, .low = DOUBLE_KEY_MINUS_INFINITY, .high = DOUBLE_KEY_INFINITY};
    struct plan_measure measure;
    uint32_t value;
    if (ast->distinct)
        return bind_refuse(binder, ast->position, "DISTINCT cannot stand in %s", ast->name);
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[0], &value));
    if (bind_kind(binder, value) == VALUE_BOOLEAN)
        RETURN_IF_ERROR(bind_number_of(binder, ast->position, &value));
    if (bind_kind(binder, value) == VALUE_DOUBLE)
        return bind_double_spread(binder, ast, kind, value, node);
    if (bind_kind(binder, value) != VALUE_INTEGER)
        return bind_refuse(binder, ast->position, "%s takes numbers", ast->name);
    if (bind_is_null(binder, value))
        return expression_null(binder->list, leaf.type, node, binder->error);
    memset(&measure, 0, sizeof measure); /* also the gaps, which bind_measure compares */
    measure.kind = kind;
    measure.argument = value;
    measure.scale = bind_node(binder, value)->type.scale;
    RETURN_IF_ERROR(center(binder, ast, value, &value));
    RETURN_IF_ERROR(bind_count_of(binder, measure.argument, &measure.count));
    RETURN_IF_ERROR(bind_sum_of(binder, value, measure.count, &measure.sum));
    RETURN_IF_ERROR(bind_squares(binder, ast, value, &measure));
    return bind_measure(binder, ast, &measure, leaf, node);
}

/* ---- Covariances ---- */

/* One of the two arguments as a centered number; NULL where the other one is. */
static enum status bind_half(struct binder *binder, const struct sql_expression *ast, uint32_t of,
                             uint32_t value, uint32_t other, uint32_t *node)
{
    uint32_t missing, null;
    *node = value;
    if (bind_node(binder, other)->nullable) {
        RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_IS_NULL, other, EXPRESSION_NONE,
                                   EXPRESSION_NONE, &missing));
        RETURN_IF_ERROR(expression_null(binder->list, bind_node(binder, value)->type, &null, binder->error));
        RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_CHOOSE, missing, null, value, node));
    }
    RETURN_IF_ERROR(center(binder, ast, *node, node));
    return squares_fit(bind_node(binder, *node))
               ? STATUS_OK
               : bind_refuse(
                     binder, ast->children[of]->position,
                     "%s needs values that span less than 6 * 10^9 units of their last digit, going by the "
                     "least and greatest ones; cast them to fewer digits",
                     ast->name);
}

static enum status bind_number_argument(struct binder *binder, const struct sql_expression *ast, uint32_t of,
                                        uint32_t *value)
{
    RETURN_IF_ERROR(bind_aggregate_argument(binder, ast->children[of], value));
    if (bind_kind(binder, *value) == VALUE_BOOLEAN)
        RETURN_IF_ERROR(bind_number_of(binder, ast->position, value));
    if (bind_kind(binder, *value) != VALUE_INTEGER)
        return bind_refuse(binder, ast->position, "%s takes whole numbers and decimals", ast->name);
    return STATUS_OK;
}

/* The value without its digits after the point: 0 + value has the type of 0. */
static enum status as_whole(struct binder *binder, const struct sql_expression *ast, uint32_t *value)
{
    uint32_t zero;
    if (bind_node(binder, *value)->type.scale == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(bind_integer(binder, 0, 0, &zero));
    return bind_apply(binder, ast->position, EXPRESSION_ADD, zero, *value, EXPRESSION_NONE, value);
}

static enum status bind_pair(struct binder *binder, const struct sql_expression *ast, enum measure_kind kind,
                             uint32_t *node)
{
    const struct expression leaf = {
        .type = {.kind = VALUE_DOUBLE}, .low = DOUBLE_KEY_MINUS_INFINITY, .high = DOUBLE_KEY_INFINITY};
    struct plan_measure measure;
    uint32_t x, y, first, second;
    if (ast->child_count != 2 || ast->distinct)
        return bind_refuse(binder, ast->position, "%s takes two values", ast->name);
    RETURN_IF_ERROR(bind_number_argument(binder, ast, 0, &x));
    RETURN_IF_ERROR(bind_number_argument(binder, ast, 1, &y));
    if (bind_is_null(binder, x) || bind_is_null(binder, y))
        return expression_null(binder->list, leaf.type, node, binder->error);
    memset(&measure, 0, sizeof measure); /* also the gaps, which bind_measure compares */
    measure.kind = kind;
    measure.argument = x;
    measure.scale = bind_node(binder, x)->type.scale;
    measure.other_scale = bind_node(binder, y)->type.scale;
    RETURN_IF_ERROR(bind_half(binder, ast, 0, x, y, &first));
    RETURN_IF_ERROR(bind_half(binder, ast, 1, y, x, &second));
    RETURN_IF_ERROR(as_whole(binder, ast, &first));
    RETURN_IF_ERROR(as_whole(binder, ast, &second));
    RETURN_IF_ERROR(bind_count_of(binder, first, &measure.count));
    RETURN_IF_ERROR(bind_sum_of(binder, first, measure.count, &measure.sum));
    RETURN_IF_ERROR(bind_sum_of(binder, second, measure.count, &measure.other_sum));
    RETURN_IF_ERROR(sum_of_products(binder, ast, first, first, measure.count, &measure.squares[0]));
    RETURN_IF_ERROR(sum_of_products(binder, ast, second, second, measure.count, &measure.squares[1]));
    RETURN_IF_ERROR(sum_of_products(binder, ast, first, second, measure.count, &measure.squares[2]));
    return bind_measure(binder, ast, &measure, leaf, node);
}

enum status bind_other_aggregate(struct binder *binder, const struct sql_expression *ast, uint32_t *node)
{
    const struct aggregate_name *const name = aggregate_name_find(ast->name);
    if (name->family == FAMILY_QUANTILE)
        return bind_quantile(binder, ast, name->measure, node);
    if (name->family == FAMILY_FOREIGN)
        return bind_refuse(binder, ast->position, "%s() is SQLite's own; use %s()", ast->name, name->as);
    if (name->family == FAMILY_SKETCH)
        return bind_sketch(binder, ast, name->measure, node);
    if (name->family == FAMILY_STRINGS)
        return bind_strings(binder, ast, node);
    if (name->family == FAMILY_PAIR)
        return bind_pair(binder, ast, name->measure, node);
    if (name->family == FAMILY_ARGUMENT)
        return bind_argument_of(binder, ast, name->measure, node);
    if (name->family == FAMILY_GROUPING)
        return bind_grouping(binder, ast, node);
    if (ast->child_count != 1 || ast->children[0]->operation == SQL_STAR)
        return bind_refuse(binder, ast->position, "%s takes one value", ast->name);
    switch (name->family) {
    case FAMILY_SELECT:
        return bind_as(binder, ast, name->as, ast->children[0], node);
    case FAMILY_TRUTH:
        return bind_truth(binder, ast, name->as, node);
    case FAMILY_COUNT_IF:
        return bind_count_if(binder, ast, node);
    case FAMILY_SPREAD:
        return bind_spread(binder, ast, name->measure, node);
    case FAMILY_VALUES:
        return bind_values_aggregate(binder, ast, name->measure, node);
    case FAMILY_BASIC:
    case FAMILY_PAIR:
    case FAMILY_ARGUMENT:
    case FAMILY_QUANTILE:
    case FAMILY_SKETCH:
    case FAMILY_STRINGS:
    case FAMILY_GROUPING:
    case FAMILY_FOREIGN:
        break;
    }
    return bind_aggregate(binder, ast, node);
}
