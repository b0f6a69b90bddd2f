/* trees.c: makes nodes of syntax trees (relational.h). */
#include "engine/relational/relational.h"
#include "engine/sql/sql_error.h"
#include "storage/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_SPAN (UINT64_C(1) << 16) /* of values that are called few */

enum status relational_refuse(const struct relational *run, struct sql_position position, const char *format,
                              ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(run->error, position, format, arguments);
    va_end(arguments);
    return status;
}

enum status relational_memory(struct relational *run, size_t bytes, void *memory)
{
    return sql_tree_take(run->arena, bytes, memory, run->error);
}

enum status relational_set(struct relational *run, struct logical_set *set)
{
    set->words = run->tree->column_count / 64 + 1;
    return relational_memory(run, set->words * sizeof *set->bits, &set->bits);
}

enum status relational_name(struct relational *run, const char *format, uint32_t number, const char **name)
{
    char text[32], *copy;
    snprintf(text, sizeof text, "%s%u", format, number);
    RETURN_IF_ERROR(relational_memory(run, sizeof text, &copy));
    *name = strcpy(copy, text);
    return STATUS_OK;
}

enum status relational_literal(struct relational *run, struct sql_position position,
                               enum sql_operation operation, const char *text, struct sql_expression **node)
{
    RETURN_IF_ERROR(sql_tree_node(run->arena, operation, position, node, run->error));
    (*node)->text = text;
    return STATUS_OK;
}

enum status relational_value(struct relational *run, struct sql_position position,
                             const struct rowset_column *column, uint64_t row, struct sql_expression **node)
{
    const bool null = row == RELATION_NO_ROW || (column->nulls && column->nulls[row]);
    struct sql_parameter value = {
        .is_null = null, .type = column->type, .value = null ? 0 : column->values[row]};
    value.type.literal = false; /* in the subquery it may have been one */
    if (column->type.kind == VALUE_STRING && !null)
        value.string = dictionary_string(column->type.dictionary, value.value, &value.length);
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_PARAMETER, position, node, run->error));
    (*node)->index = run->parameter_count;
    return sql_tree_append(run->arena, &run->parameters, &run->parameter_count, sizeof value, &value,
                           run->error);
}

/* ---- Lists of keys ---- */

enum status relational_keys(struct relational *run, const struct result *result, uint32_t number,
                            struct sql_keys *keys)
{
    struct rowset_column column;
    RETURN_IF_ERROR(result_gather(run, result, number, &column));
    *keys = (struct sql_keys){.type = column.type, .values = column.values, .count = result->rows};
    if (column.nulls) {
        keys->count = 0;
        for (uint64_t row = 0; row < result->rows; row++)
            if (!column.nulls[row])
                keys->values[keys->count++] = column.values[row];
        keys->null = keys->count < result->rows;
    }
    column.values = NULL;
    rowset_column_free(&column);
    return STATUS_OK;
}

enum status relational_own(struct relational *run, void *memory)
{
    const enum status status =
        memory_grow(&run->owned, (run->owned_count + 1) * sizeof *run->owned, "a statement", run->error);
    if (status == STATUS_OK)
        run->owned[run->owned_count++] = memory;
    else
        free(memory);
    return status;
}

enum status relational_take_bits(struct relational *run, struct sql_keys *keys,
                                 const struct number_bits *bits)
{
    RETURN_IF_ERROR(relational_own(run, bits->words));
    keys->low = bits->low;
    keys->high = bits->high;
    keys->count = bits->count;
    keys->bits = bits->words;
    return STATUS_OK;
}

enum status relational_bits_of_keys(struct relational *run, const struct sql_expression *key,
                                    const int64_t *values, struct sql_keys *keys, bool *made)
{
    const unsigned threads = engine_threads(run->task->engine);
    struct number_range range = {0};
    struct number_bits bits;
    *made = keys->count > RELATIONAL_LIST_KEYS && relational_is_set(run, key, keys) &&
            keys->type.kind != VALUE_DOUBLE;
    if (*made)
        RETURN_IF_ERROR(number_range_find(values, keys->count, threads, &range, run->error));
    *made = *made && number_range_is_near(&range, keys->count, RELATIONAL_KEYS_APART);
    if (!*made)
        return STATUS_OK;
    RETURN_IF_ERROR(number_bits_make(values, keys->count, &range, threads, &bits, run->error));
    return relational_take_bits(run, keys, &bits);
}

enum status relational_each_key_once(struct relational *run, const struct sql_expression *key,
                                     struct sql_keys *keys)
{
    bool made;
    RETURN_IF_ERROR(relational_bits_of_keys(run, key, keys->values, keys, &made));
    if (!made) {
        keys->count = number_set_sort(keys->values, keys->count);
        return STATUS_OK;
    }
    spillable_free(keys->values);
    keys->values = NULL;
    return STATUS_OK;
}

enum status relational_list_bits(struct relational *run, struct sql_keys *keys)
{
    const struct number_bits bits = {
        .low = keys->low, .high = keys->high, .count = keys->count, .words = (uint64_t *)keys->bits};
    RETURN_IF_ERROR(spillable_rows(&keys->values, (keys->count + 1) * sizeof *keys->values,
                                   "the keys of a join", run->error));
    number_bits_list(&bits, keys->values);
    keys->bits = NULL;
    return STATUS_OK;
}

/* The bytes of the numbers, or of the bitmap. */
static uint64_t bytes_of_keys(const struct sql_keys *keys)
{
    return keys->bits ? (((uint64_t)keys->high - (uint64_t)keys->low) / 64 + 1) * sizeof *keys->bits
                      : keys->count * sizeof *keys->values;
}

/* The least and the greatest value, until they are FEW_SPAN apart. */
static bool find_span(const struct result *result, const struct rowset_column *column, const uint64_t *places,
                      int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (uint64_t row = 0; row < result->rows; row++) {
        const uint64_t at = places ? places[row] : row;
        if (at == RELATION_NO_ROW || (column->nulls && column->nulls[at]))
            continue;
        *low = column->values[at] < *low ? column->values[at] : *low;
        *high = column->values[at] > *high ? column->values[at] : *high;
        if ((uint64_t)*high - (uint64_t)*low >= FEW_SPAN)
            return false;
    }
    return *low <= *high;
}

enum status relational_few_keys(struct relational *run, const struct result *result, uint32_t number,
                                struct sql_keys *keys, bool *few)
{
    const uint64_t *places;
    const struct rowset_column *const column = result_column(result, number, &places);
    int64_t low, high;
    bool *found;
    *keys = (struct sql_keys){.type = column->type};
    *few = find_span(result, column, places, &low, &high);
    if (!*few)
        return STATUS_OK;
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    RETURN_IF_ERROR(memory_zeros(&found, span * sizeof *found, "the keys of a join", run->error));
    for (uint64_t row = 0; row < result->rows; row++) {
        const uint64_t at = places ? places[row] : row;
        if (at != RELATION_NO_ROW && !(column->nulls && column->nulls[at]))
            found[(uint64_t)column->values[at] - (uint64_t)low] = true;
    }
    const enum status status =
        spillable_rows(&keys->values, (span + 1) * sizeof *keys->values, "the keys of a join", run->error);
    for (uint64_t i = 0; status == STATUS_OK && i < span; i++)
        if (found[i])
            keys->values[keys->count++] = low + (int64_t)i;
    free(found);
    return status;
}

static bool is_number(enum value_kind kind)
{
    return kind == VALUE_INTEGER || kind == VALUE_DOUBLE;
}

bool relational_is_set(const struct relational *run, const struct sql_expression *key,
                       const struct sql_keys *keys)
{
    if (key->operation != SQL_INPUT || key->index >= run->tree->column_count || keys->type.untyped)
        return false;
    const struct value_type type = run->tree->columns[key->index].type;
    const enum value_kind kind = type.kind, other = keys->type.kind;
    if (type.zoned != keys->type.zoned)
        return false;
    return (kind == other && kind != VALUE_STRING) || (is_number(kind) && is_number(other));
}

bool relational_list_fits(struct relational *run, const struct sql_expression *key,
                          const struct sql_keys *keys)
{
    const struct memory_account *const account = execution_memory();
    /* A node, its place among the children, and a parameter: lists grow twofold. A number of a set is in the tree, twice in
     * the binder, and in the plan. */
    const uint64_t bytes =
        relational_is_set(run, key, keys)
            ? 4 * bytes_of_keys(keys)
            : keys->count * (sizeof(struct sql_expression) +
                             2 * (sizeof(struct sql_expression *) + sizeof(struct sql_parameter)));
    return memory_charge_try(&run->lists, bytes, account ? account->limit / 2 : 0);
}

static enum status add_literals(struct relational *run, const struct sql_keys *keys,
                                struct sql_expression *in)
{
    const struct rowset_column column = {.type = keys->type, .values = keys->values};
    for (uint64_t k = 0; k < keys->count + keys->null; k++) {
        struct sql_expression *value;
        RETURN_IF_ERROR(
            relational_value(run, in->position, &column, k < keys->count ? k : RELATION_NO_ROW, &value));
        RETURN_IF_ERROR(sql_tree_child(run->arena, in, value, run->error));
    }
    return STATUS_OK;
}

enum status relational_in(struct relational *run, struct sql_expression *key, const struct sql_keys *keys,
                          struct sql_expression **in)
{
    struct sql_keys *copy;
    if (keys->count + keys->null == 0)
        return relational_literal(run, key->position, SQL_FALSE, NULL, in);
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_IN, key->position, in, run->error));
    RETURN_IF_ERROR(sql_tree_child(run->arena, *in, key, run->error));
    if (!relational_is_set(run, key, keys))
        return add_literals(run, keys, *in);
    RETURN_IF_ERROR(relational_memory(run, sizeof *copy, &copy));
    *copy = *keys;
    (*in)->keys = copy;
    if (keys->bits)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_memory(run, (keys->count + 1) * sizeof *copy->values, &copy->values));
    memcpy(copy->values, keys->values, keys->count * sizeof *copy->values);
    return STATUS_OK;
}

enum status relational_and(struct relational *run, struct sql_expression **all,
                           struct sql_expression *condition)
{
    struct sql_expression *node = *all;
    if (!*all) {
        *all = condition;
        return STATUS_OK;
    }
    if ((*all)->operation != SQL_AND || !(*all)->index) { /* one that was not made here is shared */
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_AND, condition->position, &node, run->error));
        node->index = 1;
        RETURN_IF_ERROR(sql_tree_child(run->arena, node, *all, run->error));
        *all = node;
    }
    return sql_tree_child(run->arena, node, condition, run->error);
}

enum status relational_filter(struct relational *run, const struct logical_node *node,
                              struct sql_expression *condition, struct logical_node **filter)
{
    RETURN_IF_ERROR(relational_memory(run, sizeof **filter, filter));
    **filter = (struct logical_node){.kind = LOGICAL_FILTER,
                                     .position = node->position,
                                     .input_count = 1,
                                     .inputs = {(struct logical_node *)node},
                                     .column_count = node->column_count,
                                     .columns = node->columns,
                                     .filter = {condition}};
    return STATUS_OK;
}

enum status relational_item(struct relational *run, struct sql_select *select,
                            struct sql_expression *expression, uint32_t number)
{
    struct sql_item item = {.expression = expression};
    const struct logical_node *const root = run->tree->root;
    for (uint32_t c = 0; run->kept && c < root->column_count && !item.alias; c++)
        item.alias = root->columns[c] == number ? run->tree->names[c] : NULL;
    if (!item.alias)
        RETURN_IF_ERROR(relational_name(run, "c", number, &item.alias));
    item.text = item.alias;
    return sql_tree_append(run->arena, &select->items, &select->item_count, sizeof item, &item, run->error);
}
