/*
 * expression.c: makes nodes (expression.h). Ranges are computed in 128 bits; a node is added only if its
 * range fits 64 bits. Equal nodes are found by their hashes; tables are in
 * expression_tables.c.
 */
#include "engine/plan/expression.h"

#include "engine/plan/functions/row_call.h"
#include "engine/plan/functions/text_call.h"

#include "storage/base/hash.h"
#include "storage/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void expression_list_free(struct expression_list *list)
{
    free((void *)list->left);
    text_calls_free(list);
    for (uint32_t t = 0; t < list->table_count; t++) {
        free(list->tables[t].values);
        free(list->tables[t].members);
    }
    for (uint32_t d = 0; d < list->dictionary_count; d++)
        free(list->dictionaries[d]);
    free(list->tables);
    free(list->dictionaries);
    free(list->nodes);
    hash_table_free(&list->node_index);
    hash_table_free(&list->table_index);
    hash_table_free(&list->dictionary_index);
    *list = (struct expression_list){0};
}

uint64_t expression_list_bytes(const struct expression_list *list)
{
    const uint64_t indexes =
        (uint64_t)list->node_index.capacity + list->table_index.capacity + list->dictionary_index.capacity;
    uint64_t bytes = list->capacity * sizeof *list->nodes + list->table_count * sizeof *list->tables +
                     list->text_count * sizeof *list->texts +
                     list->dictionary_count * sizeof(struct dictionary) + indexes * sizeof(uint64_t);
    for (uint32_t t = 0; t < list->table_count; t++)
        bytes += (list->tables[t].count + value_table_members(&list->tables[t])) * sizeof(int64_t);
    for (uint32_t d = 0; d < list->dictionary_count; d++)
        bytes += list->dictionaries[d]->count * sizeof(uint64_t) +
                 list->dictionaries[d]->starts[list->dictionaries[d]->count];
    return bytes;
}

bool expression_is_constant(const struct expression_list *list, uint32_t node)
{
    return list->nodes[node].operation == EXPRESSION_CONSTANT && !list->nodes[node].is_null;
}

bool expression_range(const struct expression_list *list, const struct expression *test, uint32_t *leaf,
                      int64_t *low, int64_t *high)
{
    const bool equal = test->operation == EXPRESSION_EQUAL, strict = test->operation == EXPRESSION_LESS;
    if (!equal && !strict && test->operation != EXPRESSION_LESS_EQUAL)
        return false;
    for (int turned = 0; turned < 2; turned++) {
        const uint32_t constant = test->child[!turned];
        *leaf = test->child[turned];
        if (list->nodes[*leaf].operation != EXPRESSION_COLUMN || !expression_is_constant(list, constant))
            continue;
        const int64_t value = list->nodes[constant].constant;
        const bool nothing = strict && value == (turned ? INT64_MAX : INT64_MIN);
        *low = nothing ? 1 : equal ? value : turned ? value + strict : INT64_MIN;
        *high = nothing ? 0 : equal ? value : turned ? INT64_MAX : value - strict;
        return true;
    }
    return false;
}

/* One pass is enough, because children come before their parents. */
void expression_mark(const struct expression_list *list, uint32_t node, uint8_t *needed)
{
    needed[node] |= 1;
    for (uint32_t n = node + 1; n-- > 0;)
        for (uint32_t c = 0; needed[n] & 1 && c < list->nodes[n].children; c++)
            needed[list->nodes[n].child[c]] |= 1;
}

void expression_visit(const struct expression_list *list, uint32_t node,
                      void (*visit)(void *context, const struct expression *leaf), void *context)
{
    uint8_t needed[EXPRESSION_NODES_MAX];
    memset(needed, 0, node + 1);
    expression_mark(list, node, needed);
    for (uint32_t n = 0; n <= node; n++)
        if (needed[n] && expression_is_leaf(list->nodes[n].operation))
            visit(context, &list->nodes[n]);
}

/* ---- Ranges ---- */

struct range {
    __int128 low, high;
};

static struct range range_of(const struct expression *node)
{
    return (struct range){node->low, node->high};
}

static struct range hull(const __int128 *ends, uint32_t count)
{
    struct range range = {ends[0], ends[0]};
    for (uint32_t i = 1; i < count; i++) {
        range.low = ends[i] < range.low ? ends[i] : range.low;
        range.high = ends[i] > range.high ? ends[i] : range.high;
    }
    return range;
}

static __int128 magnitude(struct range range)
{
    const __int128 low = range.low < 0 ? -range.low : range.low;
    const __int128 high = range.high < 0 ? -range.high : range.high;
    return low > high ? low : high;
}

/* |a / b| <= |a|, |a % b| < |b| and |a % b| <= |a|; the signs are as in C. */
static struct range range_divided(struct range a, struct range b, bool remainder)
{
    __int128 most = magnitude(a);
    if (remainder && magnitude(b) - 1 < most)
        most = magnitude(b) > 0 ? magnitude(b) - 1 : 0;
    if (!remainder && b.low > 0) { /* the extreme quotients are at the ends of both ranges */
        const __int128 ends[] = {a.low / b.low, a.high / b.low, a.low / b.high, a.high / b.high};
        return hull(ends, 4);
    }
    return (struct range){!remainder || a.low < 0 ? -most : 0, !remainder || a.high > 0 ? most : 0};
}

static struct range range_of_field(const struct expression *node, const struct expression *child)
{
    static const int most[] = {[CALENDAR_QUARTER] = 4,     [CALENDAR_MONTH] = 12,        [CALENDAR_DAY] = 31,
                               [CALENDAR_DAY_OF_WEEK] = 6, [CALENDAR_DAY_OF_YEAR] = 366, [CALENDAR_HOUR] = 23,
                               [CALENDAR_MINUTE] = 59,     [CALENDAR_SECOND] = 59,       [CALENDAR_WEEK] = 53,
                               [CALENDAR_ISO_DAY] = 7};
    const int field = node->field;
    if (field != CALENDAR_YEAR && field != CALENDAR_ISO_YEAR)
        return (struct range){field < CALENDAR_DAY_OF_WEEK || field == CALENDAR_DAY_OF_YEAR ||
                                  field > CALENDAR_SECOND,
                              most[field]};
    if (child->type.kind == VALUE_TIMESTAMP)
        return (struct range){calendar_timestamp_field(child->low, field),
                              calendar_timestamp_field(child->high, field)};
    return (struct range){calendar_date_field(child->low, field), calendar_date_field(child->high, field)};
}

static struct range range_of_table(const struct value_table *table)
{
    struct range range = {INT64_MAX, INT64_MIN};
    for (uint64_t i = 0; i < table->count; i++) {
        if (table->values[i] == INT64_MIN)
            continue;
        range.low = table->values[i] < range.low ? table->values[i] : range.low;
        range.high = table->values[i] > range.high ? table->values[i] : range.high;
    }
    return range.low > range.high ? (struct range){0, 0} : range;
}

/* Comparisons, logic and tests. */
static bool gives_truth(enum expression_operation operation)
{
    return (operation >= EXPRESSION_EQUAL && operation <= EXPRESSION_IS_NULL) ||
           operation == EXPRESSION_IN_SET;
}

/* ---- Ranges of doubles: those of their keys ---- */

static const struct range any_double = {DOUBLE_KEY_MINUS_INFINITY, DOUBLE_KEY_NAN};

static struct range hull_of_doubles(const double *ends, uint32_t count)
{
    __int128 keys[4];
    for (uint32_t i = 0; i < count; i++)
        keys[i] = double_key_of(ends[i]);
    return hull(keys, count);
}

/* Rounding keeps the order of results, so those of the ends bound all others. Finite numbers give no NaN by + - * and,
 * as x / 0 is NULL, by /. */
static struct range work_out_double(const struct expression_list *list, const struct expression *node)
{
    double low[3] = {0}, high[3] = {0};
    for (uint32_t c = 0; c < node->children; c++) {
        const struct expression *child = &list->nodes[node->child[c]];
        if (child->type.kind == VALUE_DOUBLE &&
            (!double_key_finite(child->low) || !double_key_finite(child->high)))
            return any_double;
        low[c] = double_of_key(child->low);
        high[c] = double_of_key(child->high);
    }
    const double *const a = low, *const b = high; /* of child 0 and 1, from a to b */
    switch (node->operation) {
    case EXPRESSION_ADD:
        return hull_of_doubles((double[]){a[0] + a[1], b[0] + b[1]}, 2);
    case EXPRESSION_SUBTRACT:
        return hull_of_doubles((double[]){a[0] - b[1], b[0] - a[1]}, 2);
    case EXPRESSION_MULTIPLY:
        return hull_of_doubles((double[]){a[0] * a[1], a[0] * b[1], b[0] * a[1], b[0] * b[1]}, 4);
    case EXPRESSION_DIVIDE:
        if (a[1] <= 0 && b[1] >= 0)
            return (struct range){DOUBLE_KEY_MINUS_INFINITY, DOUBLE_KEY_INFINITY};
        return hull_of_doubles((double[]){a[0] / a[1], a[0] / b[1], b[0] / a[1], b[0] / b[1]}, 4);
    case EXPRESSION_NEGATE:
        return hull_of_doubles((double[]){-a[0], -b[0]}, 2);
    case EXPRESSION_TO_DOUBLE: {
        const struct expression *child = &list->nodes[node->child[0]];
        return (struct range){expression_double_of(child->low, child->type.scale),
                              expression_double_of(child->high, child->type.scale)};
    }
    default:
        return any_double;
    }
}

/* The bits of an operation's results. Rounding makes them multiples of larger powers of two, never of smaller ones.
 * What is not below some power may be rounded up to it. */
static struct double_bits work_out_bits(const struct expression_list *list, const struct expression *node)
{
    struct double_bits a = {0, 0}, b = {0, 0};
    if (node->children > 0)
        a = list->nodes[node->child[0]].bits;
    if (node->children > 1)
        b = list->nodes[node->child[1]].bits;
    switch (node->operation) {
    case EXPRESSION_CONSTANT:
        return double_bits_of_key(node->constant);
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
        a = double_bits_join(a, b);
        return double_bits_of(double_bits_finest(a), double_bits_top(a) + 2);
    case EXPRESSION_MULTIPLY:
        return double_bits_of(double_bits_finest(a) + double_bits_finest(b),
                              double_bits_top(a) + double_bits_top(b) + 1);
    case EXPRESSION_DIVIDE: { /* a result is 2^(finest of a - top of b) or more, with 53 bits */
        const int finest = double_bits_finest(a) - double_bits_top(b) - 53;
        return double_bits_of(finest, double_bits_top(a) - double_bits_finest(b) + 1);
    }
    case EXPRESSION_NEGATE:
        return a;
    case EXPRESSION_CHOOSE:
        return double_bits_join(b, list->nodes[node->child[2]].bits);
    case EXPRESSION_TO_DOUBLE: { /* 10^-scale > 2^(-10/3 * scale - 1), and whole numbers stay whole */
        const int scale = list->nodes[node->child[0]].type.scale;
        return double_bits_of(scale ? -(10 * scale + 2) / 3 - 1 - 53 : 0, 64);
    }
    case EXPRESSION_LOOKUP: {
        struct double_bits all = DOUBLE_BITS_NONE;
        for (uint64_t i = 0; i < list->tables[node->table].count; i++)
            all = double_bits_join(all, double_bits_of_key(list->tables[node->table].values[i]));
        return all;
    }
    case EXPRESSION_CALL:
        return row_function_bits((enum row_function)node->field, a);
    default:
        return (struct double_bits){0, 0};
    }
}

/* What the range tells besides. No double has bits below the last one of a double that is nearer to 0. */
static struct double_bits narrow_bits(struct double_bits bits, struct range range)
{
    int last = DOUBLE_FINEST;
    if (range.low > 0)
        (void)double_mantissa((int64_t)range.low, &last);
    else if (range.high < 0)
        (void)double_mantissa((int64_t)range.high, &last);
    if (last > double_bits_finest(bits))
        bits = double_bits_of(last, double_bits_top(bits));
    if (!double_key_finite((int64_t)range.low) || !double_key_finite((int64_t)range.high))
        return bits;
    const int low = double_bits_top(double_bits_of_key((int64_t)range.low)),
              high = double_bits_top(double_bits_of_key((int64_t)range.high)), top = low > high ? low : high;
    return double_bits_of(double_bits_finest(bits),
                          top < double_bits_top(bits) ? top : double_bits_top(bits));
}

static struct range work_out(const struct expression_list *list, const struct expression *node)
{
    struct range child[3] = {{0, 0}, {0, 0}, {0, 0}};
    for (uint32_t c = 0; c < node->children; c++)
        child[c] = range_of(&list->nodes[node->child[c]]);
    const struct range a = child[0], b = child[1];
    switch (node->operation) {
    case EXPRESSION_ADD:
        return (struct range){a.low + b.low, a.high + b.high};
    case EXPRESSION_SUBTRACT:
        return (struct range){a.low - b.high, a.high - b.low};
    case EXPRESSION_MULTIPLY: {
        const __int128 ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
        return hull(ends, 4);
    }
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER:
        return range_divided(a, b, node->operation == EXPRESSION_REMAINDER);
    case EXPRESSION_NEGATE:
        return (struct range){-a.high, -a.low};
    case EXPRESSION_CHOOSE: {
        const __int128 ends[] = {b.low, b.high, child[2].low, child[2].high};
        return hull(ends, 4);
    }
    case EXPRESSION_LOOKUP:
        return range_of_table(&list->tables[node->table]);
    case EXPRESSION_EXTRACT:
        return range_of_field(node, &list->nodes[node->child[0]]);
    case EXPRESSION_ADD_MONTHS: /* a month has at most 31 days; its last day is at most 3 earlier */
        return (struct range){a.low + (b.low < 0 ? b.low * 31 : 0) - 3,
                              a.high + (b.high > 0 ? b.high * 31 : 0) + 3};
    case EXPRESSION_CALL: {
        struct range range;
        row_call_range(list, node, &range.low, &range.high);
        return range;
    }
    case EXPRESSION_LIMB: {
        const __int128 most = ((__int128)1 << node->field) - 1;
        return (struct range){a.low < 0 ? -most : 0, a.high > 0 ? most : 0};
    }
    case EXPRESSION_TO_DATE:
        return (struct range){calendar_floor((int64_t)a.low, CALENDAR_DAY_MICROSECONDS),
                              calendar_floor((int64_t)a.high, CALENDAR_DAY_MICROSECONDS)};
    default: /* whoever adds constants and leaves sets their ranges */
        return gives_truth(node->operation) ? (struct range){0, 1} : range_of(node);
    }
}

/* ---- Types and NULLs ---- */

static struct value_type type_of(const struct expression_list *list, const struct expression *node)
{
    struct value_type first = list->nodes[node->child[0]].type;
    first.untyped = first.literal = false;
    switch (node->operation) {
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
    case EXPRESSION_DIVIDE:
    case EXPRESSION_NEGATE:
        return first;
    case EXPRESSION_REMAINDER:
        first.decimal |= list->nodes[node->child[1]].type.decimal;
        return first;
    case EXPRESSION_MULTIPLY:
        first.scale = (uint8_t)(first.scale + list->nodes[node->child[1]].type.scale);
        first.decimal |= list->nodes[node->child[1]].type.decimal;
        return first;
    case EXPRESSION_CHOOSE: {
        struct value_type chosen = list->nodes[node->child[1]].type;
        chosen.decimal |= list->nodes[node->child[2]].type.decimal;
        chosen.literal = false;
        chosen.untyped &= list->nodes[node->child[2]].type.untyped;
        if (is_run_time(list->nodes[node->child[2]].type))
            chosen.dictionary = &run_time_strings;
        return chosen;
    }
    case EXPRESSION_EXTRACT:
    case EXPRESSION_LIMB:
        return (struct value_type){.kind = VALUE_INTEGER};
    case EXPRESSION_ADD_MONTHS:
    case EXPRESSION_TO_DATE:
        return (struct value_type){.kind = VALUE_DATE};
    case EXPRESSION_TO_DOUBLE:
        return (struct value_type){.kind = VALUE_DOUBLE};
    case EXPRESSION_CALL:
        return row_call_type(list, node);
    default: /* whoever adds constants, leaves and look-ups sets their types */
        return gives_truth(node->operation) ? (struct value_type){.kind = VALUE_BOOLEAN} : node->type;
    }
}

static bool may_be_null(const struct expression_list *list, const struct expression *node)
{
    const struct expression *nodes = list->nodes;
    bool any = false;
    for (uint32_t c = 0; c < node->children; c++)
        any |= nodes[node->child[c]].nullable;
    switch (node->operation) {
    case EXPRESSION_IS_NULL:
        return false;
    case EXPRESSION_CHOOSE:
        return nodes[node->child[1]].nullable || nodes[node->child[2]].nullable;
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER: {
        const struct expression *divisor = &nodes[node->child[1]];
        const bool never_zero = divisor->low > 0 || divisor->high < 0; /* the key of 0 is 0 */
        return any || !never_zero;
    }
    case EXPRESSION_CALL:
        return any || row_call_may_miss(list, node);
    case EXPRESSION_TEXT:
        return any || !list->texts[node->table].call.total;
    case EXPRESSION_LOOKUP:
        for (uint64_t i = 0; i < list->tables[node->table].count; i++)
            any |= list->tables[node->table].values[i] == INT64_MIN;
        return any;
    default:
        return any;
    }
}

static bool may_check(const struct expression *node)
{
    return node->type.kind == VALUE_INTEGER &&
           (node->operation == EXPRESSION_ADD || node->operation == EXPRESSION_SUBTRACT ||
            node->operation == EXPRESSION_MULTIPLY || node->operation == EXPRESSION_NEGATE);
}

enum status expression_check(const struct expression_list *list, struct error *error)
{
    RETURN_IF_ERROR(text_calls_check(list, error));
    return list->left && atomic_exchange(list->left, false)
               ? error_set(
                     error, STATUS_BAD_INPUT,
                     "a value leaves 64 bits; use smaller factors or fewer decimals, or CAST a factor to "
                     "DOUBLE")
               : STATUS_OK;
}

/* Computes type, range and nullability from the operation and the children; a leaf has those that were
 * set. */
static enum status describe(const struct expression_list *list, struct expression *node, struct error *error)
{
    struct range range = range_of(node);
    if (node->operation == EXPRESSION_CONSTANT) {
        const int64_t value = node->is_null ? 0 : node->constant;
        node->nullable = node->is_null;
        range = (struct range){value, value};
    } else if (!expression_is_leaf(node->operation)) {
        node->type = type_of(list, node);
        node->nullable = may_be_null(list, node);
        range = node->type.kind == VALUE_DOUBLE && node->operation != EXPRESSION_CHOOSE &&
                        node->operation != EXPRESSION_LOOKUP && node->operation != EXPRESSION_CALL &&
                        node->operation != EXPRESSION_TEXT
                    ? work_out_double(list, node)
                    : work_out(list, node);
    }
    if (node->type.kind == VALUE_DOUBLE && !expression_is_leaf(node->operation))
        node->bits = narrow_bits(work_out_bits(list, node), range);
    node->type.decimal = value_is_decimal(node->type);
    if (node->type.scale > 18)
        return error_set(
            error, STATUS_BAD_INPUT,
            "a product of decimals has %u digits behind the point, more than 18; use factors with fewer",
            (unsigned)node->type.scale);
    node->checked = may_check(node) && (range.low < INT64_MIN || range.high > INT64_MAX);
    if (node->checked) {
        range.low = range.low < INT64_MIN ? INT64_MIN : range.low;
        range.high = range.high > INT64_MAX ? INT64_MAX : range.high;
    }
    if (range.low < INT64_MIN || range.high > INT64_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "a value may leave 64 bits, going by the least and greatest values of its columns; "
                         "use smaller factors or fewer decimals");
    if (node->type.kind == VALUE_DATE && (range.low < INT32_MIN || range.high > INT32_MAX))
        return error_set(
            error, STATUS_BAD_INPUT,
            "a date may be more than 5 million years from today, going by the least and greatest "
            "values of its columns; add fewer days");
    node->low = (int64_t)range.low;
    node->high = (int64_t)range.high;
    return STATUS_OK;
}

/* ---- Adding ---- */

static bool types_equal(struct value_type a, struct value_type b)
{
    return a.kind == b.kind && a.scale == b.scale && a.decimal == b.decimal && a.zoned == b.zoned &&
           a.untyped == b.untyped && a.literal == b.literal && a.dictionary == b.dictionary;
}

static bool nodes_equal(const struct expression *a, const struct expression *b)
{
    return a->operation == b->operation && types_equal(a->type, b->type) && a->is_null == b->is_null &&
           a->field == b->field && a->children == b->children && a->index == b->index &&
           a->table == b->table && a->constant == b->constant &&
           memcmp(a->child, b->child, a->children * sizeof a->child[0]) == 0;
}

static uint64_t node_hash(const struct expression *node)
{
    uint64_t hash = (uint64_t)node->operation << 32 | (uint64_t)node->type.kind << 24 |
                    (uint64_t)node->type.scale << 16 | (uint64_t)node->field << 8 |
                    (uint64_t)node->type.zoned << 4 | (uint64_t)node->type.literal << 3 |
                    (uint64_t)node->type.untyped << 2 | (uint64_t)node->type.decimal << 1 | node->is_null;
    hash = hash_mix(hash ^ (uint64_t)(uintptr_t)node->type.dictionary);
    hash = hash_mix(hash ^ ((uint64_t)node->index << 32 | node->table));
    hash = hash_mix(hash ^ (uint64_t)node->constant);
    for (uint32_t c = 0; c < node->children; c++)
        hash = hash_mix(hash ^ node->child[c]);
    return hash;
}

struct node_sought {
    const struct expression_list *list;
    const struct expression *node;
};

static bool same_node(const void *context, uint32_t number)
{
    const struct node_sought *sought = context;
    return nodes_equal(&sought->list->nodes[number], sought->node);
}

static enum status append(struct expression_list *list, const struct expression *node, uint32_t *index,
                          struct error *error)
{
    const uint64_t hash = node_hash(node);
    *index = hash_table_find(&list->node_index, hash, same_node, &(struct node_sought){list, node});
    if (*index != HASH_TABLE_NONE)
        return STATUS_OK;
    if (list->count == EXPRESSION_NODES_MAX)
        return error_set(
            error, STATUS_BAD_INPUT,
            "the statement has more than %u different expressions; split it, or put values into one "
            "IN list",
            EXPRESSION_NODES_MAX);
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
        RETURN_IF_ERROR(memory_grow(&list->nodes, capacity * sizeof *list->nodes, "expressions", error));
        list->capacity = capacity;
    }
    RETURN_IF_ERROR(hash_table_add(&list->node_index, hash, list->count, error));
    *index = list->count;
    list->nodes[list->count++] = *node;
    return STATUS_OK;
}

/* True if the node is computed from groups and aggregates: on the host. */
static bool is_above(const struct expression_list *list, const struct expression *node)
{
    bool above = expression_is_leaf(node->operation) && node->operation != EXPRESSION_COLUMN;
    for (uint32_t c = 0; c < node->children && !above; c++)
        above = is_above(list, &list->nodes[node->child[c]]);
    return above;
}

enum status expression_add(struct expression_list *list, const struct expression *node, uint32_t *index,
                           struct error *error)
{
    struct expression made = *node;
    bool constant = made.children > 0;
    struct scalar values[3] = {{0, false}, {0, false}, {0, false}};
    made.by_row = made.operation == EXPRESSION_TEXT;
    for (uint32_t c = 0; c < made.children; c++) {
        constant &= list->nodes[made.child[c]].operation == EXPRESSION_CONSTANT;
        made.by_row |= list->nodes[made.child[c]].by_row;
        values[c] = list->nodes[made.child[c]].of_nulls;
    }
    RETURN_IF_ERROR(describe(list, &made, error));
    made.by_row |= is_run_time(made.type) && made.children; /* CASE of strings that only the answer has */
    made.by_row |= made.checked && list->on_gpu && !is_above(list, &made);
    if (made.checked && !list->left)
        RETURN_IF_ERROR(memory_zeros(&list->left, sizeof *list->left, "a statement", error));
    if (made.operation != EXPRESSION_TEXT)
        made.of_nulls = expression_scalar(list, &made, values);
    if (constant) {
        RETURN_IF_ERROR(expression_check(list, error));
        made = (struct expression){.operation = EXPRESSION_CONSTANT,
                                   .type = made.type,
                                   .is_null = made.of_nulls.null,
                                   .constant = made.of_nulls.null ? 0 : made.of_nulls.value,
                                   .of_nulls = made.of_nulls};
        RETURN_IF_ERROR(describe(list, &made, error));
    }
    return append(list, &made, index, error);
}

enum status expression_constant(struct expression_list *list, struct value_type type, int64_t value,
                                uint32_t *index, struct error *error)
{
    const struct expression node = {.operation = EXPRESSION_CONSTANT, .type = type, .constant = value};
    return expression_add(list, &node, index, error);
}

enum status expression_null(struct expression_list *list, struct value_type type, uint32_t *index,
                            struct error *error)
{
    const struct expression node = {.operation = EXPRESSION_CONSTANT, .type = type, .is_null = true};
    return expression_add(list, &node, index, error);
}

enum status expression_apply(struct expression_list *list, enum expression_operation operation,
                             uint32_t child0, uint32_t child1, uint32_t child2, uint32_t *index,
                             struct error *error)
{
    struct expression node = {.operation = operation, .children = 1, .child = {child0, 0, 0}};
    if (child1 != EXPRESSION_NONE)
        node.child[node.children++] = child1;
    if (child2 != EXPRESSION_NONE)
        node.child[node.children++] = child2;
    return expression_add(list, &node, index, error);
}
