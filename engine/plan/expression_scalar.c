/*
 * expression_scalar.c: what each operation means, on one value at a time: the reference for the vectors of
 * expression_vector.c, and what folds constants.
 */
#include "engine/plan/expression.h"

#include "storage/base/decimal.h"

#include <stdlib.h>
#include <string.h>

static double as_double(int64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static struct scalar from_double(double number)
{
    struct scalar scalar = {0, false};
    memcpy(&scalar.value, &number, sizeof number);
    return scalar;
}

static struct scalar calculate_double(enum expression_operation operation, double a, double b)
{
    switch (operation) {
    case EXPRESSION_ADD:
        return from_double(a + b);
    case EXPRESSION_SUBTRACT:
        return from_double(a - b);
    case EXPRESSION_MULTIPLY:
        return from_double(a * b);
    case EXPRESSION_DIVIDE:
        return b == 0 ? (struct scalar){0, true} : from_double(a / b);
    default:
        return from_double(-a);
    }
}

static struct scalar calculate(enum expression_operation operation, int64_t a, int64_t b)
{
    switch (operation) {
    case EXPRESSION_ADD:
        return (struct scalar){a + b, false};
    case EXPRESSION_SUBTRACT:
        return (struct scalar){a - b, false};
    case EXPRESSION_MULTIPLY:
        return (struct scalar){a * b, false};
    case EXPRESSION_DIVIDE:
        return b == 0 ? (struct scalar){0, true} : (struct scalar){a / b, false};
    case EXPRESSION_REMAINDER:
        return b == 0 ? (struct scalar){0, true} : (struct scalar){a % b, false};
    default:
        return (struct scalar){-a, false};
    }
}

static bool in_set(const struct value_table *table, int64_t value)
{
    uint64_t low = 0, high = table->count;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (table->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->values[low] == value;
}

struct scalar expression_scalar(const struct expression_list *list, const struct expression *node,
                                const struct scalar *children)
{
    static const struct scalar null = {0, true};
    const struct scalar a = children[0], b = children[1];
    const struct value_type of = list->nodes[node->child[0]].type;
    switch (node->operation) {
    case EXPRESSION_CONSTANT:
        return (struct scalar){node->constant, node->is_null};
    case EXPRESSION_AND:
        if ((!a.null && !a.value) || (!b.null && !b.value))
            return (struct scalar){0, false};
        return a.null || b.null ? null : (struct scalar){1, false};
    case EXPRESSION_OR:
        if ((!a.null && a.value) || (!b.null && b.value))
            return (struct scalar){1, false};
        return a.null || b.null ? null : (struct scalar){0, false};
    case EXPRESSION_IS_NULL:
        return (struct scalar){a.null, false};
    case EXPRESSION_CHOOSE:
        return !a.null && a.value ? b : children[2];
    default:
        break;
    }
    if (a.null || (node->children > 1 && b.null))
        return null;
    switch (node->operation) {
    case EXPRESSION_EQUAL:
        return (struct scalar){
            of.kind == VALUE_DOUBLE ? as_double(a.value) == as_double(b.value) : a.value == b.value, false};
    case EXPRESSION_LESS:
        return (struct scalar){
            of.kind == VALUE_DOUBLE ? as_double(a.value) < as_double(b.value) : a.value < b.value, false};
    case EXPRESSION_LESS_EQUAL:
        return (struct scalar){
            of.kind == VALUE_DOUBLE ? as_double(a.value) <= as_double(b.value) : a.value <= b.value, false};
    case EXPRESSION_NOT:
        return (struct scalar){!a.value, false};
    case EXPRESSION_IN_SET:
        return (struct scalar){in_set(&list->tables[node->table], a.value), false};
    case EXPRESSION_LOOKUP: {
        const int64_t value = list->tables[node->table].values[a.value];
        return value == INT64_MIN ? null : (struct scalar){value, false};
    }
    case EXPRESSION_EXTRACT:
        return (struct scalar){of.kind == VALUE_TIMESTAMP ? calendar_timestamp_field(a.value, node->field)
                                                          : calendar_date_field(a.value, node->field),
                               false};
    case EXPRESSION_ADD_MONTHS:
        return (struct scalar){calendar_add_months(a.value, b.value), false};
    case EXPRESSION_TO_DATE:
        return (struct scalar){calendar_floor(a.value, CALENDAR_DAY_MICROSECONDS), false};
    case EXPRESSION_TO_DOUBLE:
        return from_double((double)a.value / (double)power_of_ten(of.scale));
    default:
        return node->type.kind == VALUE_DOUBLE
                   ? calculate_double(node->operation, as_double(a.value), as_double(b.value))
                   : calculate(node->operation, a.value, b.value);
    }
}

struct scalar expression_evaluate(const struct expression_list *list, uint32_t node,
                                  struct scalar (*leaf)(void *context, const struct expression *leaf),
                                  void *context)
{
    const struct expression *at = &list->nodes[node];
    struct scalar children[3] = {{0, false}, {0, false}, {0, false}};
    if (at->operation == EXPRESSION_COLUMN || at->operation == EXPRESSION_GROUP ||
        at->operation == EXPRESSION_AGGREGATE)
        return leaf(context, at);
    for (uint32_t c = 0; c < at->children; c++)
        children[c] = expression_evaluate(list, at->child[c], leaf, context);
    return expression_scalar(list, at, children);
}
