/* columns.c: columns of answers in other orders and types; see relation.h. */
#define _GNU_SOURCE /* qsort_r */
#include "engine/answer/relation/relation.h"

#include "storage/base/decimal.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

void relation_column_free(struct rowset_column *column)
{
    free(column->name);
    free(column->values);
    free(column->nulls);
    memory_charge_drop(&column->charge);
    *column = (struct rowset_column){0};
}

enum status relation_gather(const struct rowset_column *from, const uint64_t *places, uint64_t count,
                            struct rowset_column *to, struct error *error)
{
    bool missing = from->nulls != NULL;
    struct memory_charge charge = {0};
    RETURN_IF_ERROR(memory_charge_add(&charge, count * ROWSET_VALUE_BYTES, "an answer", error));
    for (uint64_t i = 0; places && i < count && !missing; i++)
        missing = places[i] == RELATION_NO_ROW;
    *to = (struct rowset_column){.name = strdup(from->name),
                                 .type = from->type,
                                 .values = malloc((count + 1) * sizeof *to->values),
                                 .nulls = missing ? malloc(count + 1) : NULL,
                                 .charge = charge};
    if (!to->name || !to->values || (missing && !to->nulls)) {
        relation_column_free(to);
        return error_out_of_memory(error, count * sizeof *to->values, "an answer");
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = places ? places[i] : i;
        const bool null = place == RELATION_NO_ROW || (from->nulls && from->nulls[place]);
        to->values[i] = null ? 0 : from->values[place];
        if (missing)
            to->nulls[i] = null;
    }
    return STATUS_OK;
}

/* ---- Dictionaries ---- */

static int compare_strings(const struct dictionary *a, uint32_t code_a, const struct dictionary *b,
                           uint32_t code_b)
{
    uint32_t length_a, length_b;
    const char *const text_a = dictionary_string(a, code_a, &length_a), *const text_b = dictionary_string(
                                                                            b, code_b, &length_b);
    const int order = memcmp(text_a, text_b, length_a < length_b ? length_a : length_b);
    return order ? order : (length_a > length_b) - (length_a < length_b);
}

static int compare_codes(const void *left, const void *right, void *dictionary)
{
    return compare_strings(dictionary, *(const uint32_t *)left, dictionary, *(const uint32_t *)right);
}

/* A dictionary that is being filled in order, and where the strings of its two sources went. */
struct filling {
    struct dictionary *made;
    uint64_t *starts;
    char *text;
    uint32_t count;
};

static enum status filling_begin(uint64_t count, uint64_t bytes, struct filling *filling, struct error *error)
{
    *filling = (struct filling){0};
    if (count < UINT32_MAX)
        filling->made = rowset_dictionary((uint32_t)count, bytes, &filling->starts, &filling->text);
    if (!filling->made)
        return error_out_of_memory(error, bytes + count * sizeof(uint64_t), "a dictionary");
    filling->starts[0] = 0;
    return STATUS_OK;
}

static void filling_add(struct filling *filling, const struct dictionary *from, uint32_t code)
{
    uint32_t length;
    const char *const text = dictionary_string(from, code, &length);
    const uint64_t start = filling->starts[filling->count];
    memcpy(filling->text + start, text, length);
    filling->starts[++filling->count] = start + length;
    filling->made->count = filling->count;
}

static uint64_t text_bytes(const struct dictionary *dictionary)
{
    return dictionary->count ? dictionary->starts[dictionary->count] : 0;
}

static void translate(struct rowset_column *column, uint64_t rows, const uint32_t *codes, uint32_t count)
{
    for (uint64_t row = 0; row < rows; row++)
        if ((uint64_t)column->values[row] < count)
            column->values[row] = codes[column->values[row]];
}

static enum status sort_dictionary(struct rowset *rows, uint32_t c, struct error *error)
{
    struct rowset_column *const column = &rows->columns[c];
    const struct dictionary *const from = column->type.dictionary;
    uint32_t *order = malloc(((size_t)from->count + 1) * sizeof *order),
             *codes = malloc(((size_t)from->count + 1) * sizeof *codes);
    struct filling filling;
    enum status status = order && codes
                             ? filling_begin(from->count, text_bytes(from), &filling, error)
                             : error_out_of_memory(error, from->count * sizeof *order, "a dictionary");
    if (status == STATUS_OK) {
        for (uint32_t i = 0; i < from->count; i++)
            order[i] = i;
        qsort_r(order, from->count, sizeof *order, compare_codes, (void *)from);
        for (uint32_t i = 0; i < from->count; i++) {
            if (i == 0 || compare_strings(from, order[i - 1], from, order[i]) != 0)
                filling_add(&filling, from, order[i]);
            codes[order[i]] = filling.count - 1;
        }
        translate(column, rows->rows, codes, from->count);
        free(rows->dictionaries[c]);
        rows->dictionaries[c] = filling.made;
        column->type.dictionary = filling.made;
    }
    free(order);
    free(codes);
    return status;
}

enum status relation_sort_dictionaries(struct rowset *rows, struct error *error)
{
    for (uint32_t c = 0; c < rows->column_count; c++)
        if (rows->dictionaries[c] && dictionary_unsorted(rows->dictionaries[c]) >= 0)
            RETURN_IF_ERROR(sort_dictionary(rows, c, error));
    return STATUS_OK;
}

/* ---- Common types ---- */

static enum status merge_dictionaries(struct rowset_column *left, uint64_t left_rows,
                                      struct rowset_column *right, uint64_t right_rows,
                                      struct dictionary **made, struct error *error)
{
    const struct dictionary *const a = left->type.dictionary, *const b = right->type.dictionary;
    uint32_t *codes_a = malloc(((size_t)a->count + 1) * sizeof *codes_a),
             *codes_b = malloc(((size_t)b->count + 1) * sizeof *codes_b);
    struct filling filling;
    enum status status =
        codes_a && codes_b
            ? filling_begin((uint64_t)a->count + b->count, text_bytes(a) + text_bytes(b), &filling, error)
            : error_out_of_memory(error, ((uint64_t)a->count + b->count) * sizeof *codes_a, "a dictionary");
    for (uint32_t i = 0, j = 0; status == STATUS_OK && (i < a->count || j < b->count);) {
        const int order = i == a->count ? 1 : j == b->count ? -1 : compare_strings(a, i, b, j);
        filling_add(&filling, order <= 0 ? a : b, order <= 0 ? i : j);
        if (order <= 0)
            codes_a[i++] = filling.count - 1;
        if (order >= 0)
            codes_b[j++] = filling.count - 1;
    }
    if (status == STATUS_OK) {
        translate(left, left_rows, codes_a, a->count);
        translate(right, right_rows, codes_b, b->count);
        left->type.dictionary = right->type.dictionary = *made = filling.made;
    }
    free(codes_a);
    free(codes_b);
    return status;
}

static enum status rescale(struct rowset_column *column, uint64_t rows, uint8_t scale, struct error *error)
{
    const int64_t factor = power_of_ten((unsigned)(scale - column->type.scale));
    for (uint64_t row = 0; factor != 1 && row < rows; row++)
        if (!(column->nulls && column->nulls[row]) &&
            __builtin_mul_overflow(column->values[row], factor, &column->values[row]))
            return error_set(error, STATUS_BAD_INPUT,
                             "a number of %s does not fit 64 bits with the %u decimals of the other side; "
                             "CAST one of them to double",
                             column->name, scale);
    column->type.scale = scale;
    return STATUS_OK;
}

static void to_double(struct rowset_column *column, uint64_t rows)
{
    const bool whole = column->type.kind != VALUE_DOUBLE;
    for (uint64_t row = 0; row < rows; row++)
        if (whole)
            column->values[row] = expression_double_of(column->values[row], column->type.scale);
    column->type = (struct value_type){.kind = VALUE_DOUBLE};
}

static void to_timestamp(struct rowset_column *column, uint64_t rows)
{
    for (uint64_t row = 0; column->type.kind == VALUE_DATE && row < rows; row++)
        column->values[row] *= INT64_C(86400000000);
    column->type.kind = VALUE_TIMESTAMP;
}

static bool is_number(const struct rowset_column *column)
{
    return column->type.kind == VALUE_INTEGER || column->type.kind == VALUE_BOOLEAN;
}

static bool is_time(const struct rowset_column *column)
{
    return column->type.kind == VALUE_DATE || column->type.kind == VALUE_TIMESTAMP;
}

static const char *kind_text(enum value_kind kind)
{
    static const char *const names[] = {
        [VALUE_INTEGER] = "a number",      [VALUE_DATE] = "a date",     [VALUE_TIMESTAMP] = "a timestamp",
        [VALUE_BOOLEAN] = "a truth value", [VALUE_STRING] = "a string", [VALUE_DOUBLE] = "a number"};
    return names[kind];
}

/* Gives a column that has no type, so only NULLs, the other one's, with values that it allows. */
static void take_type(struct rowset_column *column, uint64_t rows, const struct rowset_column *other)
{
    column->type = other->type;
    memset(column->values, 0, rows * sizeof *column->values);
}

enum status relation_alike(struct rowset_column *left, uint64_t left_rows, struct rowset_column *right,
                           uint64_t right_rows, struct dictionary **made, struct error *error)
{
    *made = NULL;
    if (right->type.untyped && !left->type.untyped)
        take_type(right, right_rows, left);
    else if (left->type.untyped && !right->type.untyped)
        take_type(left, left_rows, right);
    const bool doubles = left->type.kind == VALUE_DOUBLE || right->type.kind == VALUE_DOUBLE;
    if (doubles && (left->type.kind == VALUE_DOUBLE || is_number(left)) &&
        (right->type.kind == VALUE_DOUBLE || is_number(right))) {
        to_double(left, left_rows);
        to_double(right, right_rows);
        return STATUS_OK;
    }
    if (left->type.kind == VALUE_STRING && right->type.kind == VALUE_STRING)
        return left->type.dictionary == right->type.dictionary
                   ? STATUS_OK
                   : merge_dictionaries(left, left_rows, right, right_rows, made, error);
    if (left->type.kind == right->type.kind && left->type.kind != VALUE_INTEGER)
        return STATUS_OK;
    if (is_number(left) && is_number(right)) {
        const uint8_t scale = left->type.scale > right->type.scale ? left->type.scale : right->type.scale;
        left->type.kind = right->type.kind = VALUE_INTEGER;
        left->type.decimal = right->type.decimal =
            value_is_decimal(left->type) || value_is_decimal(right->type);
        RETURN_IF_ERROR(rescale(left, left_rows, scale, error));
        return rescale(right, right_rows, scale, error);
    }
    if (is_time(left) && is_time(right)) {
        to_timestamp(left, left_rows);
        to_timestamp(right, right_rows);
        return STATUS_OK;
    }
    return error_set(error, STATUS_BAD_INPUT, "%s is %s and %s is %s; CAST one of them", left->name,
                     kind_text(left->type.kind), right->name, kind_text(right->type.kind));
}
