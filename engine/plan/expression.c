/*
 * expression.c: making nodes (expression.h). Ranges are worked out in 128 bits; a node is added only if its
 * own fits 64. Lists are short (tens of nodes), so equal nodes are found by looking at all.
 */
#include "engine/plan/expression.h"

#include <stdlib.h>
#include <string.h>

/* Hostile text; a person's query has tens. */
#define EXPRESSION_NODES_MAX 65536u

void expression_list_free(struct expression_list *list)
{
    for (uint32_t t = 0; t < list->table_count; t++)
        free(list->tables[t].values);
    for (uint32_t d = 0; d < list->dictionary_count; d++)
        free(list->dictionaries[d]);
    free(list->tables);
    free(list->dictionaries);
    free(list->nodes);
    *list = (struct expression_list){0};
}

bool expression_is_constant(const struct expression_list *list, uint32_t node)
{
    return list->nodes[node].operation == EXPRESSION_CONSTANT && !list->nodes[node].is_null;
}

void expression_visit(const struct expression_list *list, uint32_t node,
                      void (*visit)(void *context, const struct expression *leaf), void *context)
{
    const struct expression *at = &list->nodes[node];
    if (at->operation == EXPRESSION_COLUMN || at->operation == EXPRESSION_GROUP ||
        at->operation == EXPRESSION_AGGREGATE)
        visit(context, at);
    for (uint32_t c = 0; c < at->children; c++)
        expression_visit(list, at->child[c], visit, context);
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

/* |a / b| <= |a|, and |a % b| < |b|, <= |a|: signs as C has them. */
static struct range range_divided(struct range a, struct range b, bool remainder)
{
    __int128 most = magnitude(a);
    if (remainder && magnitude(b) - 1 < most)
        most = magnitude(b) > 0 ? magnitude(b) - 1 : 0;
    if (!remainder && b.low > 0) { /* the divisor with the least magnitude counts */
        const __int128 ends[] = {a.low / b.low, a.high / b.low, a.low / b.high, a.high / b.high};
        return hull(ends, 4);
    }
    return (struct range){!remainder || a.low < 0 ? -most : 0, !remainder || a.high > 0 ? most : 0};
}

static struct range range_of_field(const struct expression *node, const struct expression *child)
{
    static const int most[] = {[CALENDAR_QUARTER] = 4,     [CALENDAR_MONTH] = 12,        [CALENDAR_DAY] = 31,
                               [CALENDAR_DAY_OF_WEEK] = 6, [CALENDAR_DAY_OF_YEAR] = 366, [CALENDAR_HOUR] = 23,
                               [CALENDAR_MINUTE] = 59,     [CALENDAR_SECOND] = 59};
    if (node->field != CALENDAR_YEAR)
        return (struct range){node->field < CALENDAR_DAY_OF_WEEK || node->field == CALENDAR_DAY_OF_YEAR,
                              most[node->field]};
    if (child->type.kind == VALUE_TIMESTAMP)
        return (struct range){calendar_timestamp_field(child->low, CALENDAR_YEAR),
                              calendar_timestamp_field(child->high, CALENDAR_YEAR)};
    return (struct range){calendar_date_field(child->low, CALENDAR_YEAR),
                          calendar_date_field(child->high, CALENDAR_YEAR)};
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
    case EXPRESSION_ADD_MONTHS: /* a month has 31 days at most; cutting takes at most 3 */
        return (struct range){a.low + (b.low < 0 ? b.low * 31 : 0) - 3,
                              a.high + (b.high > 0 ? b.high * 31 : 0) + 3};
    case EXPRESSION_TO_DATE:
        return (struct range){calendar_floor((int64_t)a.low, CALENDAR_DAY_MICROSECONDS),
                              calendar_floor((int64_t)a.high, CALENDAR_DAY_MICROSECONDS)};
    default:
        return (struct range){0, 1}; /* a truth value */
    }
}

/* ---- Types and NULLs ---- */

static struct value_type type_of(const struct expression_list *list, const struct expression *node)
{
    const struct value_type first = list->nodes[node->child[0]].type;
    switch (node->operation) {
    case EXPRESSION_ADD:
    case EXPRESSION_SUBTRACT:
    case EXPRESSION_DIVIDE:
    case EXPRESSION_REMAINDER:
    case EXPRESSION_NEGATE:
        return first;
    case EXPRESSION_MULTIPLY: {
        struct value_type product = first;
        product.scale = (uint8_t)(first.scale + list->nodes[node->child[1]].type.scale);
        return product;
    }
    case EXPRESSION_CHOOSE:
        return list->nodes[node->child[1]].type;
    case EXPRESSION_EXTRACT:
        return (struct value_type){.kind = VALUE_INTEGER};
    case EXPRESSION_ADD_MONTHS:
    case EXPRESSION_TO_DATE:
        return (struct value_type){.kind = VALUE_DATE};
    case EXPRESSION_TO_DOUBLE:
        return (struct value_type){.kind = VALUE_DOUBLE};
    case EXPRESSION_LOOKUP:
        return node->type;
    default:
        return (struct value_type){.kind = VALUE_BOOLEAN};
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
        const bool never_zero =
            divisor->type.kind == VALUE_DOUBLE
                ? divisor->operation == EXPRESSION_CONSTANT && (divisor->constant & INT64_MAX) != 0
                : divisor->low > 0 || divisor->high < 0;
        return any || !never_zero;
    }
    case EXPRESSION_LOOKUP:
        for (uint64_t i = 0; i < list->tables[node->table].count; i++)
            any |= list->tables[node->table].values[i] == INT64_MIN;
        return any;
    default:
        return any;
    }
}

static bool is_leaf(enum expression_operation operation)
{
    return operation <= EXPRESSION_AGGREGATE;
}

static enum status describe(const struct expression_list *list, struct expression *node, struct error *error)
{
    if (node->operation == EXPRESSION_CONSTANT) {
        node->nullable = node->is_null;
        node->low = node->high = node->is_null || node->type.kind == VALUE_DOUBLE ? 0 : node->constant;
        return STATUS_OK;
    }
    if (is_leaf(node->operation))
        return STATUS_OK;
    node->type = type_of(list, node);
    node->nullable = may_be_null(list, node);
    node->low = node->high = 0;
    if (node->type.kind == VALUE_DOUBLE)
        return STATUS_OK;
    const struct range range = work_out(list, node);
    if (node->type.scale > 18)
        return error_set(error, STATUS_BAD_INPUT,
                         "a product of decimals has %u digits behind the point, more than 18",
                         (unsigned)node->type.scale);
    /* INT64_MIN stands for NULL in tables and is not needed. */
    if (range.low <= INT64_MIN || range.high > INT64_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "a value may leave 64 bits, going by the least and greatest values of its columns; "
                         "use smaller factors or fewer decimals");
    node->low = (int64_t)range.low;
    node->high = (int64_t)range.high;
    return STATUS_OK;
}

/* ---- Adding ---- */

static bool types_equal(struct value_type a, struct value_type b)
{
    return a.kind == b.kind && a.scale == b.scale && a.dictionary == b.dictionary;
}

static bool nodes_equal(const struct expression *a, const struct expression *b)
{
    return a->operation == b->operation && types_equal(a->type, b->type) && a->is_null == b->is_null &&
           a->field == b->field && a->children == b->children && a->index == b->index &&
           a->table == b->table && a->constant == b->constant &&
           memcmp(a->child, b->child, a->children * sizeof a->child[0]) == 0;
}

static enum status append(struct expression_list *list, const struct expression *node, uint32_t *index,
                          struct error *error)
{
    for (uint32_t n = 0; n < list->count; n++)
        if (nodes_equal(&list->nodes[n], node)) {
            *index = n;
            return STATUS_OK;
        }
    if (list->count == EXPRESSION_NODES_MAX)
        return error_set(error, STATUS_BAD_INPUT, "the statement has more than %u different expressions",
                         EXPRESSION_NODES_MAX);
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct expression *nodes = realloc(list->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return error_out_of_memory(error, capacity * sizeof *nodes, "expressions");
        list->nodes = nodes;
        list->capacity = capacity;
    }
    *index = list->count;
    list->nodes[list->count++] = *node;
    return STATUS_OK;
}

enum status expression_add(struct expression_list *list, const struct expression *node, uint32_t *index,
                           struct error *error)
{
    struct expression made = *node;
    bool constant = !is_leaf(made.operation);
    struct scalar values[3] = {{0, false}, {0, false}, {0, false}};
    for (uint32_t c = 0; c < made.children; c++) {
        const struct expression *child = &list->nodes[made.child[c]];
        constant &= child->operation == EXPRESSION_CONSTANT;
        values[c] = (struct scalar){child->constant, child->is_null};
    }
    RETURN_IF_ERROR(describe(list, &made, error));
    if (constant) {
        const struct scalar folded = expression_scalar(list, &made, values);
        made = (struct expression){.operation = EXPRESSION_CONSTANT,
                                   .type = made.type,
                                   .is_null = folded.null,
                                   .constant = folded.null ? 0 : folded.value};
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

/* ---- Tables ---- */

static enum status table_add(struct expression_list *list, int64_t *values, uint64_t count, uint32_t *index,
                             struct error *error)
{
    for (uint32_t t = 0; t < list->table_count; t++)
        if (list->tables[t].count == count &&
            (count == 0 || memcmp(list->tables[t].values, values, count * sizeof *values) == 0)) {
            free(values);
            *index = t;
            return STATUS_OK;
        }
    struct value_table *tables = realloc(list->tables, (list->table_count + 1) * sizeof *tables);
    if (!tables) {
        free(values);
        return error_out_of_memory(error, (list->table_count + 1) * sizeof *tables, "expressions");
    }
    list->tables = tables;
    tables[list->table_count] = (struct value_table){.count = count, .values = values};
    *index = list->table_count++;
    return STATUS_OK;
}

enum status expression_in_set(struct expression_list *list, uint32_t child, int64_t *values, uint64_t count,
                              uint32_t *index, struct error *error)
{
    struct expression node = {.operation = EXPRESSION_IN_SET, .children = 1, .child = {child, 0, 0}};
    RETURN_IF_ERROR(table_add(list, values, count, &node.table, error));
    return expression_add(list, &node, index, error);
}

enum status expression_lookup(struct expression_list *list, uint32_t child, struct value_type type,
                              int64_t *values, uint64_t count, uint32_t *index, struct error *error)
{
    struct expression node = {
        .operation = EXPRESSION_LOOKUP, .type = type, .children = 1, .child = {child, 0, 0}};
    RETURN_IF_ERROR(table_add(list, values, count, &node.table, error));
    return expression_add(list, &node, index, error);
}
