/* columns.c: columns of answers in other orders and types; see relation.h. */
#include "engine/relational/rows/relation.h"

#include "engine/plan/functions/string_pieces.h"
#include "storage/base/decimal.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Copies ---- */

#define SLICE_ROWS 65536u

struct gathering {
    const struct rowset_column *from;
    struct rowset_column *to;
    const uint64_t *places; /* or NULL */
    uint64_t count;
    atomic_bool missing; /* there is a NULL, and no place for it */
};

static void gather_rows(struct gathering *gathering, uint64_t begin, uint64_t end)
{
    const struct rowset_column *const from = gathering->from, *const to = gathering->to;
    bool missing = false;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t place = gathering->places ? gathering->places[i] : i;
        const bool null = place == RELATION_NO_ROW || (from->nulls && from->nulls[place]);
        if (to->views)
            to->views[i] = null ? (struct string_view){0} : from->views[place];
        else
            to->values[i] = null ? 0 : from->values[place];
        if (to->nulls)
            to->nulls[i] = null;
        missing |= null;
    }
    if (missing)
        atomic_store_explicit(&gathering->missing, true, memory_order_relaxed);
}

/* The same of a column without NULLs, until a row is missing. */
static void gather_values(struct gathering *gathering, uint64_t begin, uint64_t end)
{
    const int64_t *const from = gathering->from->values;
    int64_t *const to = gathering->to->values;
    const uint64_t *const places = gathering->places;
    uint64_t i = begin;
    for (; i < end && places[i] != RELATION_NO_ROW; i++)
        to[i] = from[places[i]];
    if (i < end)
        atomic_store_explicit(&gathering->missing, true, memory_order_relaxed);
}

static enum status gather_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct gathering *const gathering = context;
    const uint64_t begin = item * SLICE_ROWS, left = gathering->count - begin,
                   end = begin + (left < SLICE_ROWS ? left : SLICE_ROWS);
    (void)thread;
    if (gathering->to->nulls || gathering->to->views || !gathering->places)
        gather_rows(gathering, begin, end);
    else if (!atomic_load_explicit(&gathering->missing, memory_order_relaxed))
        gather_values(gathering, begin, end);
    return cancel_check(error);
}

enum status relation_gather(const struct rowset_column *from, const uint64_t *places, uint64_t count,
                            unsigned threads, struct rowset_column *to, struct error *error)
{
    const uint64_t slices = (count + SLICE_ROWS - 1) / SLICE_ROWS;
    *to = (struct rowset_column){
        .name = strdup(from->name), .type = from->type, .buffers = string_buffers_share(from->buffers)};
    enum status status = to->name ? STATUS_OK : error_out_of_memory(error, strlen(from->name), "a name");
    if (status == STATUS_OK && from->views)
        status = spillable_rows(&to->views, (count + 1) * sizeof *to->views, "an answer", error);
    else if (status == STATUS_OK)
        status = spillable_rows(&to->values, (count + 1) * sizeof *to->values, "an answer", error);
    if (status == STATUS_OK && from->nulls)
        status = spillable_rows(&to->nulls, count + 1, "an answer", error);
    struct gathering gathering = {.from = from, .to = to, .places = places, .count = count};
    if (status == STATUS_OK)
        status = parallel_for(threads, slices, gather_slice, &gathering, error);
    if (status == STATUS_OK && !to->nulls && atomic_load(&gathering.missing)) {
        status = spillable_rows(&to->nulls, count + 1, "an answer", error);
        status = AND_THEN(status, parallel_for(threads, slices, gather_slice, &gathering, error));
    }
    if (status != STATUS_OK)
        rowset_column_free(to);
    return status;
}

/* ---- Common types ---- */

static void translate(struct rowset_column *column, uint64_t rows, const int64_t *codes, uint32_t count)
{
    for (uint64_t row = 0; row < rows; row++)
        if ((uint64_t)column->values[row] < count)
            column->values[row] = codes[column->values[row]];
}

static enum status merge_dictionaries(struct rowset_column *left, uint64_t left_rows,
                                      struct rowset_column *right, uint64_t right_rows,
                                      struct dictionary **made, struct error *error)
{
    const struct dictionary *const a = left->type.dictionary, *const b = right->type.dictionary;
    int64_t *codes;
    RETURN_IF_ERROR(dictionaries_merge(a, b, 0, &codes, made, error));
    translate(left, left_rows, codes, a->count);
    translate(right, right_rows, codes + a->count, b->count);
    left->type.dictionary = right->type.dictionary = *made;
    free(codes);
    return STATUS_OK;
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
    if (is_time(left) && is_time(right) && left->type.zoned != right->type.zoned)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s and %s are times of which one has a time zone; CAST one of them", left->name,
                         right->name);
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
