/*
 * expression_scalar.c: what each operation means, on one value at a time: the reference for the vectors of
 * expression_vector.c, what folds constants, and what tells what becomes of rows without a partner.
 */
#include "engine/plan/expression.h"

#include "storage/base/decimal.h"

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

int64_t expression_double_of(int64_t value, unsigned scale)
{
    return from_double((double)value / (double)power_of_ten(scale)).value;
}

static struct scalar truth(bool value)
{
    return (struct scalar){value, false};
}

static struct scalar whole(uint64_t value)
{
    return (struct scalar){(int64_t)value, false};
}

/* The least number divided by -1 traps on some processors: it wraps here, and has no remainder. */
static struct scalar divide(bool remainder, int64_t a, int64_t b)
{
    if (b == 0)
        return (struct scalar){0, true};
    if (b == -1)
        return whole(remainder ? 0 : 0 - (uint64_t)a);
    return (struct scalar){remainder ? a % b : a / b, false};
}

/* Codes beyond the table, which only a damaged file has, take its last value. */
static struct scalar look_up(const struct value_table *table, int64_t code)
{
    if (table->count == 0)
        return (struct scalar){0, true};
    const int64_t value = table->values[(uint64_t)code < table->count ? (uint64_t)code : table->count - 1];
    return (struct scalar){value, value == INT64_MIN};
}

/* What is not NULL unless a child is. */
static struct scalar strict(const struct expression_list *list, const struct expression *node, int64_t a,
                            int64_t b)
{
    const struct value_type of = list->nodes[node->child[0]].type;
    const bool doubles = of.kind == VALUE_DOUBLE;
    const double x = as_double(a), y = as_double(b);
    switch (node->operation) {
    case EXPRESSION_ADD:
        return doubles ? from_double(x + y) : whole((uint64_t)a + (uint64_t)b);
    case EXPRESSION_SUBTRACT:
        return doubles ? from_double(x - y) : whole((uint64_t)a - (uint64_t)b);
    case EXPRESSION_MULTIPLY:
        return doubles ? from_double(x * y) : whole((uint64_t)a * (uint64_t)b);
    case EXPRESSION_DIVIDE:
        if (doubles)
            return y == 0 ? (struct scalar){0, true} : from_double(x / y);
        return divide(false, a, b);
    case EXPRESSION_REMAINDER:
        return divide(true, a, b);
    case EXPRESSION_NEGATE:
        return doubles ? from_double(-x) : whole(0 - (uint64_t)a);
    case EXPRESSION_EQUAL:
        return truth(doubles ? x == y : a == b);
    case EXPRESSION_LESS:
        return truth(doubles ? x < y : a < b);
    case EXPRESSION_LESS_EQUAL:
        return truth(doubles ? x <= y : a <= b);
    case EXPRESSION_NOT:
        return truth(!a);
    case EXPRESSION_IN_SET:
        return truth(in_set(&list->tables[node->table], expression_member(doubles, a)));
    case EXPRESSION_LOOKUP:
        return look_up(&list->tables[node->table], a);
    case EXPRESSION_EXTRACT:
        return (struct scalar){of.kind == VALUE_TIMESTAMP ? calendar_timestamp_field(a, node->field)
                                                          : calendar_date_field(a, node->field),
                               false};
    case EXPRESSION_ADD_MONTHS:
        return (struct scalar){calendar_add_months(a, b), false};
    case EXPRESSION_TO_DATE:
        return (struct scalar){calendar_floor(a, CALENDAR_DAY_MICROSECONDS), false};
    case EXPRESSION_TO_DOUBLE:
        return whole((uint64_t)expression_double_of(a, of.scale));
    case EXPRESSION_CONSTANT:
    case EXPRESSION_COLUMN:
    case EXPRESSION_GROUP:
    case EXPRESSION_AGGREGATE:
    case EXPRESSION_AND:
    case EXPRESSION_OR:
    case EXPRESSION_IS_NULL:
    case EXPRESSION_CHOOSE:
    case EXPRESSION_OPERATIONS:
        break;
    }
    return (struct scalar){0, true};
}

/* A false child makes AND false, a true one OR true, whatever the other is. */
static struct scalar logic(bool is_or, struct scalar a, struct scalar b)
{
    if ((!a.null && (a.value != 0) == is_or) || (!b.null && (b.value != 0) == is_or))
        return truth(is_or);
    return a.null || b.null ? (struct scalar){0, true} : truth(!is_or);
}

struct scalar expression_scalar(const struct expression_list *list, const struct expression *node,
                                const struct scalar *children)
{
    const struct scalar a = children[0], b = children[1];
    if (node->operation == EXPRESSION_CONSTANT)
        return (struct scalar){node->constant, node->is_null};
    if (node->operation == EXPRESSION_AND || node->operation == EXPRESSION_OR)
        return logic(node->operation == EXPRESSION_OR, a, b);
    if (node->operation == EXPRESSION_IS_NULL)
        return truth(a.null);
    if (node->operation == EXPRESSION_CHOOSE)
        return !a.null && a.value ? b : children[2];
    if (node->children == 0 || a.null || (node->children > 1 && b.null))
        return (struct scalar){0, true};
    return strict(list, node, a.value, b.value);
}
