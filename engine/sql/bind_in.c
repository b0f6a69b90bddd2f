/*
 * bind_in.c: binds IN lists (bind_internal.h). Literals of the value's own type become one sorted set,
 * without a node for each, so that a list may be as long as memory allows: 100,000 literals take about 20 ms.
 * Items that are not literals, or have another type, are compared one by one.
 */
#include "engine/plan/functions/string_call.h"
#include "engine/plan/functions/text_call.h"
#include "engine/sql/functions/functions.h"
#include "storage/base/decimal.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/number/number_set.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

struct members {
    int64_t *values;
    uint64_t count;
};

struct in_list {
    struct binder *binder;
    uint32_t value;
    struct members alike, doubles; /* items of the value's type; items that are compared as doubles */
    struct string_value *texts;    /* strings, if the value's are computed row by row: text_count */
    uint32_t text_count;
    bool null;       /* the list has a NULL */
    uint32_t bits;   /* the test of a set that comes as a bitmap, or EXPRESSION_NONE */
    uint32_t others; /* the comparisons with all other items, or EXPRESSION_NONE */
};

enum place { PLACE_ALIKE, PLACE_DOUBLES, PLACE_NOWHERE /* no value is equal */, PLACE_OTHERS };

/* Gives a decimal in another scale. */
static enum place rescaled(const struct sql_parameter *item, uint8_t scale, int64_t *member)
{
    const uint8_t own = item->type.scale;
    if (own <= scale)
        return __builtin_mul_overflow(item->value, power_of_ten(scale - own), member) ? PLACE_NOWHERE
                                                                                      : PLACE_ALIKE;
    *member = item->value / power_of_ten(own - scale);
    return item->value % power_of_ten(own - scale) ? PLACE_NOWHERE : PLACE_ALIKE;
}

static enum place place_of_string(const struct binder *binder, struct value_type type,
                                  const struct sql_parameter *item, int64_t *member)
{
    if (type.kind != VALUE_STRING && !item->type.literal)
        return PLACE_OTHERS;
    if (type.kind == VALUE_DATE)
        return bind_date_parse(item->string, item->length, member) ? PLACE_ALIKE : PLACE_OTHERS;
    if (type.zoned)
        return bind_zoned_parse(binder->zone, item->string, item->length, member) ? PLACE_ALIKE
                                                                                  : PLACE_OTHERS;
    if (type.kind == VALUE_TIMESTAMP)
        return bind_timestamp_parse(item->string, item->length, member) ? PLACE_ALIKE : PLACE_OTHERS;
    if (type.kind != VALUE_STRING)
        return PLACE_OTHERS;
    if (item->is_null)
        return PLACE_NOWHERE;
    if (is_run_time(type))
        return PLACE_OTHERS;
    *member = dictionary_find(type.dictionary, item->string, item->length);
    return *member < 0 ? PLACE_NOWHERE : PLACE_ALIKE;
}

/* Gives the place of an item in the list, and the number that represents it in a set. */
static enum place place_of(const struct binder *binder, struct value_type type,
                           const struct sql_parameter *item, int64_t *member)
{
    const enum value_kind kind = item->type.kind;
    *member = item->value;
    if (kind == VALUE_STRING)
        return place_of_string(binder, type, item, member);
    if (type.kind == VALUE_DOUBLE && kind == VALUE_INTEGER)
        *member = double_key_of(decimal_to_double(item->value, item->type.scale));
    if (kind == VALUE_DOUBLE || type.kind == VALUE_DOUBLE)
        return type.kind == VALUE_DOUBLE || type.kind == VALUE_INTEGER ? PLACE_DOUBLES : PLACE_OTHERS;
    if (type.kind == VALUE_INTEGER && kind == VALUE_INTEGER)
        return rescaled(item, type.scale, member);
    return kind == type.kind && item->type.zoned == type.zoned ? PLACE_ALIKE : PLACE_OTHERS;
}

static enum status add_other(struct in_list *list, struct sql_position position, uint32_t item)
{
    struct binder *binder = list->binder;
    uint32_t test;
    RETURN_IF_ERROR(bind_compare(binder, position, EXPRESSION_EQUAL, list->value, item, &test));
    if (list->others != EXPRESSION_NONE)
        RETURN_IF_ERROR(
            bind_apply(binder, position, EXPRESSION_OR, list->others, test, EXPRESSION_NONE, &test));
    list->others = test;
    return STATUS_OK;
}

static enum status add_value(struct in_list *list, struct sql_position position,
                             const struct sql_parameter *item)
{
    const struct value_type type = bind_node(list->binder, list->value)->type;
    const bool null = item->is_null || bind_is_null(list->binder, list->value);
    uint32_t node;
    int64_t member;
    enum place place =
        type.untyped || item->type.untyped ? PLACE_NOWHERE : place_of(list->binder, type, item, &member);
    if (null && place != PLACE_OTHERS) {
        list->null = true;
        place = PLACE_NOWHERE;
    }
    if (place == PLACE_ALIKE)
        list->alike.values[list->alike.count++] = member;
    if (place == PLACE_DOUBLES)
        list->doubles.values[list->doubles.count++] = member;
    if (place != PLACE_OTHERS)
        return STATUS_OK;
    if (is_run_time(type) && item->type.kind == VALUE_STRING) {
        RETURN_IF_ERROR(memory_grow(&list->texts, (list->text_count + 1) * sizeof *list->texts,
                                    "a list of strings", list->binder->error));
        list->texts[list->text_count++] = (struct string_value){item->string, item->length};
        return STATUS_OK;
    }
    RETURN_IF_ERROR(bind_value(list->binder, position, item, &node));
    return add_other(list, position, node);
}

static enum status add_item(struct in_list *list, const struct sql_expression *ast, enum bind_level level)
{
    struct sql_parameter item;
    uint32_t node;
    if (bind_is_literal(ast)) {
        RETURN_IF_ERROR(bind_literal_value(list->binder, ast, &item));
        return add_value(list, ast->position, &item);
    }
    RETURN_IF_ERROR(bind_expression(list->binder, ast, level, &node));
    return add_other(list, ast->position, node);
}

static enum status add_numbers(struct in_list *list, struct sql_position position,
                               const struct sql_keys *keys, const int64_t *values)
{
    struct sql_parameter item = {.type = keys->type};
    for (uint64_t k = 0; k < keys->count; k++) {
        if (k % 65536 == 0)
            RETURN_IF_ERROR(cancel_check(list->binder->error));
        item.value = values[k];
        RETURN_IF_ERROR(add_value(list, position, &item));
    }
    return STATUS_OK;
}

static struct number_bits bits_of(const struct sql_keys *keys)
{
    return (struct number_bits){
        .low = keys->low, .high = keys->high, .count = keys->count, .words = (uint64_t *)keys->bits};
}

/* The numbers of a bitmap one by one, for values of another type. */
static enum status add_bits(struct in_list *list, struct sql_position position, const struct sql_keys *keys)
{
    const struct number_bits bits = bits_of(keys);
    int64_t *values;
    RETURN_IF_ERROR(
        memory_take(&values, keys->count * sizeof *values, "a list of values", list->binder->error));
    number_bits_list(&bits, values);
    const enum status status = add_numbers(list, position, keys, values);
    free(values);
    return status;
}

/* A bitmap of numbers of the value's own type stays one. */
static bool is_bits(const struct in_list *list, const struct sql_keys *keys)
{
    const struct value_type own = bind_node(list->binder, list->value)->type;
    return keys->bits && own.kind == keys->type.kind && own.kind != VALUE_DOUBLE && !own.untyped &&
           own.scale == keys->type.scale && own.zoned == keys->type.zoned &&
           !bind_is_null(list->binder, list->value);
}

static enum status add_keys(struct in_list *list, struct sql_position position, const struct sql_keys *keys)
{
    const struct sql_parameter null = {.type = keys->type, .is_null = true};
    const struct number_bits bits = bits_of(keys);
    if (keys->null)
        RETURN_IF_ERROR(add_value(list, position, &null));
    if (is_bits(list, keys))
        return bind_placed(
            list->binder, position,
            expression_in_bits(list->binder->list, list->value, &bits, &list->bits, list->binder->error));
    return keys->bits ? add_bits(list, position, keys) : add_numbers(list, position, keys, keys->values);
}

/* Adds `OR value IN (members)` to *node. */
static enum status add_set(struct in_list *list, struct sql_position position, uint32_t value,
                           struct members *members, uint32_t *node)
{
    struct binder *binder = list->binder;
    uint32_t test;
    int64_t *const values = members->values;
    members->values = NULL;
    members->count = number_set_sort(values, members->count);
    RETURN_IF_ERROR(
        bind_placed(binder, position,
                    expression_in_set(binder->list, value, values, members->count, &test, binder->error)));
    if (*node != EXPRESSION_NONE)
        return bind_apply(binder, position, EXPRESSION_OR, *node, test, EXPRESSION_NONE, node);
    *node = test;
    return STATUS_OK;
}

static int compare_texts(const void *left, const void *right, const void *context)
{
    const struct string_value strings[] = {*(const struct string_value *)left,
                                           *(const struct string_value *)right};
    struct string_result result = {0};
    (void)context;
    string_order(NULL, strings, &result);
    return (int)result.number;
}

/* Copies the strings in their order, into one piece of memory. */
static enum status sorted_texts(struct in_list *list, struct string_list **made)
{
    uint64_t bytes = sizeof **made + list->text_count * sizeof *list->texts;
    sort_items(list->texts, list->text_count, sizeof *list->texts, compare_texts, NULL);
    for (uint32_t t = 0; t < list->text_count; t++)
        bytes += list->texts[t].length;
    RETURN_IF_ERROR(memory_take(made, bytes, "a list of strings", list->binder->error));
    char *at = (char *)((*made)->strings + list->text_count);
    (*made)->count = list->text_count;
    for (uint32_t t = 0; t < list->text_count; at += list->texts[t++].length) {
        memcpy(at, list->texts[t].text, list->texts[t].length);
        (*made)->strings[t] = (struct string_value){at, list->texts[t].length};
    }
    return STATUS_OK;
}

/* Adds `OR value IN (strings)` to *node, for a value that is computed row by row: each row is looked for once. */
static enum status add_texts(struct in_list *list, struct sql_position position, uint32_t *node)
{
    struct binder *const binder = list->binder;
    struct string_list *texts;
    uint32_t test;
    RETURN_IF_ERROR(sorted_texts(list, &texts));
    const struct string_call call = {.body = string_is_among,
                                     .type = {.kind = VALUE_BOOLEAN},
                                     .count = 1,
                                     .total = true,
                                     .context = texts,
                                     .release = free};
    RETURN_IF_ERROR(bind_placed(
        binder, position, expression_string_call(binder->list, &call, &list->value, &test, binder->error)));
    return bind_apply(binder, position, EXPRESSION_OR, *node, test, EXPRESSION_NONE, node);
}

static enum status take_items(struct in_list *list, const struct sql_expression *ast, enum bind_level level,
                              uint32_t *node)
{
    struct binder *binder = list->binder;
    uint32_t real = list->value;
    for (uint32_t c = 1; c < ast->child_count; c++) {
        if (c % 1024 == 0)
            RETURN_IF_ERROR(cancel_check(binder->error));
        RETURN_IF_ERROR(add_item(list, ast->children[c], level));
    }
    if (ast->keys)
        RETURN_IF_ERROR(add_keys(list, ast->position, ast->keys));
    *node = list->bits;
    if (bind_kind(binder, list->value) != VALUE_DOUBLE && (list->alike.count || *node == EXPRESSION_NONE))
        RETURN_IF_ERROR(add_set(list, ast->position, list->value, &list->alike, node));
    if (list->doubles.count || *node == EXPRESSION_NONE) {
        RETURN_IF_ERROR(bind_double(binder, ast->position, &real));
        RETURN_IF_ERROR(add_set(list, ast->position, real, &list->doubles, node));
    }
    if (list->null) {
        uint32_t null;
        RETURN_IF_ERROR(
            expression_null(binder->list, (struct value_type){.kind = VALUE_BOOLEAN}, &null, binder->error));
        RETURN_IF_ERROR(bind_apply(binder, ast->position, EXPRESSION_OR, *node, null, EXPRESSION_NONE, node));
    }
    if (list->text_count)
        RETURN_IF_ERROR(add_texts(list, ast->position, node));
    if (list->others != EXPRESSION_NONE)
        RETURN_IF_ERROR(
            bind_apply(binder, ast->position, EXPRESSION_OR, *node, list->others, EXPRESSION_NONE, node));
    return bind_negate(binder, ast->position, ast->negated, node);
}

enum status bind_in(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                    uint32_t *node)
{
    struct in_list list = {.binder = binder, .bits = EXPRESSION_NONE, .others = EXPRESSION_NONE};
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &list.value));
    const uint64_t bytes = (ast->child_count + (ast->keys ? ast->keys->count : 0)) * sizeof(int64_t);
    list.alike.values = malloc(bytes);
    list.doubles.values = malloc(bytes);
    enum status status;
    if (list.alike.values && list.doubles.values)
        status = take_items(&list, ast, level, node);
    else
        status = error_out_of_memory(binder->error, 2 * bytes, "a list of values");
    free(list.alike.values);
    free(list.doubles.values);
    free(list.texts);
    return status;
}

/* ---- Answers that the value is a key of ---- */

#define SLICE_NUMBERS UINT64_C(65536)

struct copying {
    const int64_t *from;
    int64_t *to;
    uint64_t count;
};

static enum status copy_slice(void *context, uint64_t slice, unsigned thread, struct error *error)
{
    const struct copying *const copying = context;
    const uint64_t begin = slice * SLICE_NUMBERS, left = copying->count - begin;
    (void)thread;
    memcpy(copying->to + begin, copying->from + begin,
           (left < SLICE_NUMBERS ? left : SLICE_NUMBERS) * sizeof *copying->to);
    return cancel_check(error);
}

enum status bind_lookup(struct binder *binder, const struct sql_expression *ast, enum bind_level level,
                        uint32_t *node)
{
    const struct sql_keys *const keys = ast->keys;
    struct copying copying = {.from = keys->values, .count = keys->count};
    uint32_t value, low;
    RETURN_IF_ERROR(bind_expression(binder, ast->children[0], level, &value));
    RETURN_IF_ERROR(
        expression_constant(binder->list, bind_node(binder, value)->type, keys->low, &low, binder->error));
    RETURN_IF_ERROR(
        bind_apply(binder, ast->position, EXPRESSION_SUBTRACT, value, low, EXPRESSION_NONE, &value));
    RETURN_IF_ERROR(
        memory_take(&copying.to, keys->count * sizeof *copying.to, "the values of an answer", binder->error));
    huge_pages_prefer(copying.to, keys->count * sizeof *copying.to);
    const enum status status =
        parallel_for(binder->list->threads, (keys->count + SLICE_NUMBERS - 1) / SLICE_NUMBERS, copy_slice,
                     &copying, binder->error);
    if (status != STATUS_OK) {
        free(copying.to);
        return status;
    }
    return expression_lookup(binder->list, value, keys->type, copying.to, keys->count, node, binder->error);
}
