/*
 * expression_loops.c: see expression_loops.h. These loops define each operation; GPU kernels are tested
 * against them. The loops for arithmetic and comparisons have no branches: values of NULLs are computed like
 * the others and not used, and sums wrap like unsigned numbers. Operations that could trap are computed row
 * by row, without NULLs.
 */
#include "engine/plan/expression_loops.h"

#include "engine/plan/functions/row_call.h"
#include "storage/base/isa.h"

#include <stdatomic.h>
#include <string.h>

/* A row is NULL if any child is NULL. */
static void join_nulls(const struct expression *node, uint32_t rows, const struct vector *children,
                       uint8_t *restrict nulls)
{
    if (!nulls)
        return;
    memset(nulls, 0, rows);
    for (uint32_t c = 0; c < node->children; c++) {
        const uint8_t *const from = children[c].nulls;
        for (uint32_t row = 0; from && row < rows; row++)
            nulls[row] |= from[row];
    }
}

#define LOOP(expression)                        \
    for (uint32_t row = 0; row < rows; row++) { \
        const uint64_t x = a[row], y = b[row];  \
        (void)y;                                \
        to[row] = (uint64_t)(expression);       \
    }

/* The same of doubles, by their keys. */
static void calculate_doubles(enum expression_operation operation, uint32_t rows, const int64_t *restrict a,
                              const int64_t *restrict b, int64_t *restrict to)
{
    switch (operation) {
    case EXPRESSION_ADD:
        for (uint32_t row = 0; row < rows; row++)
            to[row] = double_key_of(double_of_key(a[row]) + double_of_key(b[row]));
        break;
    case EXPRESSION_SUBTRACT:
        for (uint32_t row = 0; row < rows; row++)
            to[row] = double_key_of(double_of_key(a[row]) - double_of_key(b[row]));
        break;
    case EXPRESSION_MULTIPLY:
        for (uint32_t row = 0; row < rows; row++)
            to[row] = double_key_of(double_of_key(a[row]) * double_of_key(b[row]));
        break;
    default: /* EXPRESSION_NEGATE */
        for (uint32_t row = 0; row < rows; row++)
            to[row] = double_key_of(-double_of_key(a[row]));
        break;
    }
}

static void calculate(enum expression_operation operation, uint32_t rows, const uint64_t *restrict a,
                      const uint64_t *restrict b, uint64_t *restrict to)
{
    switch (operation) {
    case EXPRESSION_ADD:
        LOOP(x + y)
        break;
    case EXPRESSION_SUBTRACT:
        LOOP(x - y)
        break;
    case EXPRESSION_MULTIPLY:
        LOOP(x * y)
        break;
    case EXPRESSION_NEGATE:
        LOOP(0 - x)
        break;
    case EXPRESSION_EQUAL:
        LOOP(x == y)
        break;
    case EXPRESSION_LESS:
        LOOP((int64_t)x < (int64_t)y)
        break;
    case EXPRESSION_LESS_EQUAL:
        LOOP((int64_t)x <= (int64_t)y)
        break;
    case EXPRESSION_NOT:
        LOOP(!x)
        break;
    default: /* not called for other operations */
        break;
    }
}

/* The same of nodes whose values may leave 64 bits: one that does, and is not NULL, is told by the list. */
static void calculate_checked(const struct expression_list *list, const struct expression *node,
                              uint32_t rows, const struct vector *children, struct vector out)
{
    const int64_t *const a = children[0].values, *const b = children[node->children > 1].values;
    bool any = false;
    for (uint32_t row = 0; row < rows; row++) {
        bool left = false;
        switch (node->operation) {
        case EXPRESSION_ADD:
            left = __builtin_add_overflow(a[row], b[row], &out.values[row]);
            break;
        case EXPRESSION_SUBTRACT:
            left = __builtin_sub_overflow(a[row], b[row], &out.values[row]);
            break;
        case EXPRESSION_MULTIPLY:
            left = __builtin_mul_overflow(a[row], b[row], &out.values[row]);
            break;
        default: /* EXPRESSION_NEGATE */
            left = __builtin_sub_overflow((int64_t)0, a[row], &out.values[row]);
            break;
        }
        any |= left && !(out.nulls && out.nulls[row]);
    }
    if (any)
        atomic_store_explicit(list->left, true, memory_order_relaxed);
}

/* AND is false if one child is false, and OR is true if one child is true, even if the other is NULL. */
static __attribute__((noinline)) void logic(bool is_or, uint32_t rows, const struct vector *children,
                                            struct vector out)
{
    static const uint8_t none[VECTOR_ROWS];
    const int64_t *restrict const a = children[0].values, *restrict const b = children[1].values;
    const uint8_t *restrict const a_null = children[0].nulls ? children[0].nulls : none,
                                  *restrict const b_null = children[1].nulls ? children[1].nulls : none;
    int64_t *restrict const values = out.values;
    uint8_t *restrict const nulls = out.nulls;
    if (a_null == none && b_null == none)
        for (uint32_t row = 0; row < rows; row++)
            values[row] = is_or ? (a[row] | b[row]) != 0 : (a[row] != 0) & (b[row] != 0);
    else
        for (uint32_t row = 0; row < rows; row++) {
            const bool decides =
                (((a[row] != 0) == is_or) & !a_null[row]) | (((b[row] != 0) == is_or) & !b_null[row]);
            values[row] = decides == is_or;
        }
    for (uint32_t row = 0; nulls && row < rows; row++)
        nulls[row] = (a_null[row] | b_null[row]) & (values[row] != is_or);
}

static __attribute__((noinline)) void choose(uint32_t rows, const struct vector *children, struct vector out)
{
    const struct vector condition = children[0], then = children[1], other = children[2];
    for (uint32_t row = 0; row < rows; row++) {
        const bool taken = !(condition.nulls && condition.nulls[row]) && condition.values[row];
        out.values[row] = taken ? then.values[row] : other.values[row];
        if (out.nulls)
            out.nulls[row] = taken ? then.nulls && then.nulls[row] : other.nulls && other.nulls[row];
    }
}

/* The digits after the point are said once, and not for each row. */
static void make_doubles(unsigned scale, uint32_t rows, const int64_t *restrict from, int64_t *restrict to)
{
    if (scale == 0)
        for (uint32_t row = 0; row < rows; row++)
            to[row] = expression_double_of(from[row], 0);
    else
        for (uint32_t row = 0; row < rows; row++)
            to[row] = expression_double_of(from[row], scale);
}

/* A double divided by 0 is NULL; the key of 0 is 0. */
static void divide_doubles(const struct expression *node, uint32_t rows, const struct vector *children,
                           struct vector out)
{
    const int64_t *const a = children[0].values, *const b = children[1].values;
    int64_t *restrict const to = out.values;
    uint8_t *restrict const nulls = out.nulls;
    for (uint32_t row = 0; row < rows; row++)
        to[row] = double_key_of(double_of_key(a[row]) / double_of_key(b[row]));
    join_nulls(node, rows, children, nulls);
    for (uint32_t row = 0; nulls && row < rows; row++)
        nulls[row] |= b[row] == 0;
}

/* ---- Row by row ---- */

static struct scalar whole(int64_t value)
{
    return (struct scalar){value, false};
}

/* INT64_MIN / -1 traps on some processors. Here it wraps, and its remainder is 0. */
static struct scalar divide(bool remainder, int64_t a, int64_t b)
{
    if (b == 0)
        return (struct scalar){0, true};
    if (b == -1)
        return whole(remainder ? 0 : (int64_t)(0 - (uint64_t)a));
    return whole(remainder ? a % b : a / b);
}

/* Computes an operation on whole numbers; `type` is that of child 0. */
static struct scalar of_whole(const struct expression *node, struct value_type type, int64_t a, int64_t b)
{
    switch (node->operation) {
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER:
        return divide(node->operation == EXPRESSION_REMAINDER, a, b);
    case EXPRESSION_EXTRACT:
        return whole(type.kind == VALUE_TIMESTAMP ? calendar_timestamp_field(a, node->field)
                                                  : calendar_date_field(a, node->field));
    case EXPRESSION_ADD_MONTHS:
        return whole(calendar_add_months(a, b));
    case EXPRESSION_TO_DATE:
        return whole(calendar_floor(a, CALENDAR_DAY_MICROSECONDS));
    default: /* other operations have their own loops */
        return (struct scalar){0, true};
    }
}

/* Evaluates, row by row, an operation that is NULL if a child is NULL. */
static void one_by_one(const struct expression_list *list, const struct expression *node, uint32_t rows,
                       const struct vector *children, struct vector out)
{
    const struct value_type type = list->nodes[node->child[0]].type;
    const struct vector a = children[0], b = children[node->children > 1];
    for (uint32_t row = 0; row < rows; row++) {
        struct scalar result = {0, (a.nulls && a.nulls[row]) || (b.nulls && b.nulls[row])};
        if (!result.null)
            result = of_whole(node, type, a.values[row], b.values[row]);
        out.values[row] = result.value;
        if (out.nulls)
            out.nulls[row] = result.null;
    }
}

/* ---- Tables ---- */

/* A code outside the table, which only a damaged file can have, gets the last value. */
static __attribute__((noinline)) void look_up(const struct value_table *table, uint32_t rows,
                                              struct vector child, struct vector out)
{
    const int64_t *const values = table->values, *const codes = child.values;
    int64_t *restrict const to = out.values;
    const uint64_t last = table->count - 1;
    for (uint32_t row = 0; row < rows; row++)
        to[row] = (int64_t)((uint64_t)codes[row] < last ? (uint64_t)codes[row] : last);
    for (uint32_t row = 0; row < rows && table->count > 0; row++)
        to[row] = values[to[row]];
    for (uint32_t row = 0; row < rows && table->count == 0; row++)
        to[row] = INT64_MIN;
    for (uint32_t row = 0; child.nulls && row < rows; row++)
        to[row] = child.nulls[row] ? INT64_MIN : to[row];
    for (uint32_t row = 0; out.nulls && row < rows; row++)
        out.nulls[row] = to[row] == INT64_MIN;
}

/* Tests a dense set by its bitmap, and others by binary search. All rows take one step of the search before
 * any takes the next, so that their loads overlap. */
static void contain(const struct value_table *table, uint32_t rows, const int64_t *restrict values,
                    int64_t *restrict out)
{
    uint64_t low[VECTOR_ROWS];
    if (table->count == 0) {
        memset(out, 0, rows * sizeof *out);
        return;
    }
    const uint64_t first = (uint64_t)table->values[0],
                   span = (uint64_t)table->values[table->count - 1] - first;
    if (table->members) {
        for (uint32_t row = 0; row < rows; row++) {
            const uint64_t place = (uint64_t)values[row] - first;
            const uint64_t within = place <= span ? place : 0;
            out[row] = place <= span && (table->members[within / 32] >> within % 32 & 1);
        }
        return;
    }
    memset(low, 0, rows * sizeof *low);
    for (uint64_t left = table->count; left > 1; left -= left / 2)
        for (uint32_t row = 0; row < rows; row++) {
            const uint64_t middle = low[row] + left / 2;
            low[row] = table->values[middle] <= values[row] ? middle : low[row];
        }
    for (uint32_t row = 0; row < rows; row++)
        out[row] = table->values[low[row]] == values[row];
}

void ISA(expression_loop)(const struct expression_list *list, const struct expression *node, uint32_t rows,
                          const struct vector *children, struct vector out)
{
    switch (node->operation) {
    case EXPRESSION_CONSTANT:
        for (uint32_t row = 0; row < rows; row++)
            out.values[row] = node->constant;
        if (out.nulls)
            memset(out.nulls, node->is_null, rows);
        return;
    case EXPRESSION_AND:
    case EXPRESSION_OR:
        logic(node->operation == EXPRESSION_OR, rows, children, out);
        return;
    case EXPRESSION_CHOOSE:
        choose(rows, children, out);
        return;
    case EXPRESSION_IS_NULL:
        for (uint32_t row = 0; row < rows; row++)
            out.values[row] = children[0].nulls && children[0].nulls[row];
        return;
    case EXPRESSION_LOOKUP:
        look_up(&list->tables[node->table], rows, children[0], out);
        return;
    case EXPRESSION_IN_SET:
        contain(&list->tables[node->table], rows, children[0].values, out.values);
        join_nulls(node, rows, children, out.nulls);
        return;
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
    case EXPRESSION_MULTIPLY:
    case EXPRESSION_NEGATE:
    case EXPRESSION_EQUAL:
    case EXPRESSION_LESS:
    case EXPRESSION_LESS_EQUAL:
    case EXPRESSION_NOT:
        if (node->type.kind == VALUE_DOUBLE) {
            calculate_doubles(node->operation, rows, children[0].values, children[node->children > 1].values,
                              out.values);
            join_nulls(node, rows, children, out.nulls);
            return;
        }
        join_nulls(node, rows, children, out.nulls);
        if (node->checked)
            calculate_checked(list, node, rows, children, out);
        else
            calculate(node->operation, rows, (const uint64_t *)(const void *)children[0].values,
                      (const uint64_t *)(const void *)children[node->children > 1].values,
                      (uint64_t *)(void *)out.values);
        return;
    case EXPRESSION_CALL:
        ISA(row_call_loop)(node, rows, children, out);
        return;
    case EXPRESSION_LIMB:
        for (uint32_t row = 0; row < rows; row++)
            out.values[row] = double_limb(children[0].values[row], (int)node->constant, node->field);
        join_nulls(node, rows, children, out.nulls);
        return;
    case EXPRESSION_TO_DOUBLE:
        make_doubles(list->nodes[node->child[0]].type.scale, rows, children[0].values, out.values);
        join_nulls(node, rows, children, out.nulls);
        return;
    case EXPRESSION_DIVIDE:
        if (list->nodes[node->child[0]].type.kind == VALUE_DOUBLE) {
            divide_doubles(node, rows, children, out);
            return;
        }
        break;
    case EXPRESSION_REMAINDER:
    case EXPRESSION_EXTRACT:
    case EXPRESSION_ADD_MONTHS:
    case EXPRESSION_TO_DATE:
        break;
    case EXPRESSION_COLUMN: /* the caller fills leaves */
    case EXPRESSION_GROUP:
    case EXPRESSION_AGGREGATE:
    case EXPRESSION_MEASURE:
    case EXPRESSION_TEXT: /* text_node_run */
    case EXPRESSION_OPERATIONS:
        return;
    }
    one_by_one(list, node, rows, children, out);
}
