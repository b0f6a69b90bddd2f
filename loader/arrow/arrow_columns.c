/* arrow_columns.c: see arrow_columns.h. */
#include "loader/arrow/arrow_columns.h"

#include "loader/columnar/columnar_store.h"
#include "storage/base/double_key.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* What the rooms of columnar_values are for. */
enum arrow_room { ROOM_NULLS, ROOM_NUMBERS, ROOM_WIDE, ROOM_TEXTS, ROOM_SHORT };

/* A text of so many bytes is copied, because whoever compares it reads as many, and buffers may end before. */
#define SHORT_BYTES 16u

/* Fewer rows take one thread less time than it takes to start another one. */
#define ROWS_APART 4096u

struct arrow_scratch {
    struct columnar_values values;
    struct columnar_store_scratch store;
};

/* ---- Which columns can be read so ---- */

static bool type_of(const struct arrow_column *column, struct columnar_type *type)
{
    const enum column_type want = column->want->type;
    *type = (struct columnar_type){.kind = COLUMNAR_INTEGER};
    switch (column->type.kind) {
    case ARROW_NULLS:
    case ARROW_SIGNED:
        return true;
    case ARROW_UNSIGNED:
        return column->type.bytes < 8;
    case ARROW_BIT:
        type->kind = COLUMNAR_BOOLEAN;
        return true;
    case ARROW_FLOAT:
        type->kind = COLUMNAR_FLOATING;
        return want == TYPE_DOUBLE;
    case ARROW_DECIMAL:
        type->kind = COLUMNAR_DECIMAL;
        type->precision = 38;
        type->scale = (uint32_t)column->type.scale;
        return want == TYPE_DECIMAL && type->scale <= column->want->scale;
    case ARROW_DATE:
        type->kind = COLUMNAR_DATE;
        return column->type.bytes == 4;
    case ARROW_TIMESTAMP:
        type->kind = COLUMNAR_TIMESTAMP;
        return want == TYPE_TIMESTAMP &&
               (column->type.per_second == 1000 || column->type.per_second == 1000000);
    case ARROW_TEXT:
    case ARROW_TEXT_VIEW:
        type->kind = COLUMNAR_TEXT;
        return true;
    case ARROW_OTHER:
        break;
    }
    return false;
}

enum status arrow_scratch_new(const struct row_parse *parse, const struct arrow_column *columns,
                              struct arrow_scratch **scratch, struct error *error)
{
    struct columnar_type type;
    *scratch = NULL;
    for (uint32_t c = 0; c < parse->parsed->table->column_count; c++)
        if (!type_of(&columns[c], &type))
            return STATUS_OK;
    return memory_zeros(scratch, parse->options->threads * sizeof **scratch, "threads", error);
}

void arrow_scratch_free(struct arrow_scratch *scratch, unsigned threads)
{
    for (unsigned t = 0; scratch && t < threads; t++) {
        columnar_values_free(&scratch[t].values);
        columnar_store_scratch_free(&scratch[t].store);
    }
    free(scratch);
}

/* ---- Values ---- */

/* Some rows of an array. */
struct rows {
    const struct arrow_column *column;
    const struct ArrowArray *array;
    int64_t first; /* in its buffers */
    uint32_t count;
};

/* Marks NULLs, if there are any. */
static enum status take_nulls(const struct rows *rows, struct columnar_values *values, struct error *error)
{
    uint8_t *nulls;
    uint32_t some = 0;
    if (rows->column->type.kind != ARROW_NULLS &&
        (rows->array->null_count == 0 || rows->array->n_buffers == 0 || !rows->array->buffers[0]))
        return STATUS_OK;
    RETURN_IF_ERROR(columnar_values_take(values, ROOM_NULLS, rows->count, &nulls, error));
    for (uint32_t r = 0; r < rows->count; r++) {
        nulls[r] =
            rows->column->type.kind == ARROW_NULLS || arrow_is_null(rows->array, rows->first + r) ? 1 : 0;
        some += nulls[r];
    }
    values->nulls = some ? nulls : NULL;
    values->count = rows->count - some;
    return STATUS_OK;
}

/* Leaves out the numbers of NULLs. */
static void close_gaps(const struct columnar_values *values, int64_t *numbers, __int128 *wide)
{
    uint32_t to = 0;
    for (uint32_t r = 0; values->nulls && r < values->rows; r++) {
        numbers[to] = numbers[r];
        if (wide)
            wide[to] = wide[r];
        to += !values->nulls[r];
    }
}

static void read_whole(const struct rows *rows, int64_t *numbers)
{
    const void *const from = rows->array->buffers[1];
    if (rows->column->type.bytes == 8)
        memcpy(numbers, (const int64_t *)from + rows->first, rows->count * sizeof *numbers);
    else if (rows->column->type.bytes == 4 && rows->column->type.kind != ARROW_UNSIGNED)
        for (uint32_t r = 0; r < rows->count; r++)
            numbers[r] = ((const int32_t *)from)[rows->first + r];
    else
        for (uint32_t r = 0; r < rows->count; r++)
            (void)arrow_whole_number(&rows->column->type, from, rows->first + r, &numbers[r]);
}

static enum status read_decimals(const struct rows *rows, struct columnar_values *values, int64_t *numbers,
                                 __int128 **wide, struct error *error)
{
    bool any = false;
    RETURN_IF_ERROR(columnar_values_take(values, ROOM_WIDE, 16ull * rows->count, wide, error));
    memcpy(*wide, (const uint8_t *)rows->array->buffers[1] + 16 * rows->first, 16ull * rows->count);
    for (uint32_t r = 0; r < rows->count; r++) {
        numbers[r] = (int64_t)(*wide)[r];
        any |= numbers[r] != (*wide)[r];
    }
    values->wide = any ? *wide : NULL;
    return STATUS_OK;
}

static enum status read_numbers(const struct rows *rows, struct columnar_values *values, struct error *error)
{
    const struct arrow_type *const type = &rows->column->type;
    int64_t *numbers;
    __int128 *wide = NULL;
    RETURN_IF_ERROR(columnar_values_take(values, ROOM_NUMBERS, 8ull * rows->count, &numbers, error));
    values->numbers = numbers;
    values->ticks = (uint32_t)type->per_second;
    if (type->kind == ARROW_NULLS)
        return STATUS_OK;
    if (type->kind == ARROW_DECIMAL)
        RETURN_IF_ERROR(read_decimals(rows, values, numbers, &wide, error));
    else if (type->kind == ARROW_FLOAT || type->kind == ARROW_BIT)
        for (uint32_t r = 0; r < rows->count; r++)
            numbers[r] = type->kind == ARROW_BIT
                             ? arrow_bit(rows->array->buffers[1], rows->first + r)
                             : double_key_of(arrow_float(type, rows->array->buffers[1], rows->first + r));
    else
        read_whole(rows, numbers);
    close_gaps(values, numbers, wide);
    return STATUS_OK;
}

/* The array that has the text of a row, and its place there; false: it has none, or a wrong one. */
static bool find_text(const struct rows *rows, uint32_t row, const struct ArrowArray **array, int64_t *at)
{
    int64_t index;
    *array = rows->array;
    *at = rows->first + row;
    if (rows->column->indices.kind == ARROW_OTHER)
        return true;
    *array = rows->array->dictionary;
    if (!arrow_whole_number(&rows->column->indices, rows->array->buffers[1], *at, &index) || index < 0 ||
        index >= (*array)->length)
        return false;
    *at = index + (*array)->offset;
    return !arrow_is_null(*array, *at);
}

static enum status read_texts(const struct rows *rows, struct columnar_values *values, bool *right,
                              struct error *error)
{
    struct text_field *texts;
    char *copy;
    uint32_t count = 0;
    RETURN_IF_ERROR(
        columnar_values_take(values, ROOM_TEXTS, (rows->count + 1ull) * sizeof *texts, &texts, error));
    RETURN_IF_ERROR(columnar_values_take(
        values, ROOM_SHORT, (uint64_t)SHORT_BYTES * rows->count + COLUMNAR_SPARE_BYTES, &copy, error));
    values->texts = texts;
    for (uint32_t r = 0; r < rows->count; r++) {
        const struct ArrowArray *array;
        struct text_field *const text = &texts[count];
        int64_t at;
        if (values->nulls && values->nulls[r])
            continue;
        *right = find_text(rows, r, &array, &at) &&
                 arrow_text(&rows->column->type, array, at, &text->text, &text->length);
        if (!*right)
            return STATUS_OK;
        if (text->length <= SHORT_BYTES) {
            memcpy(copy, text->text, text->length);
            text->text = copy;
            copy += SHORT_BYTES;
        }
        count++;
    }
    values->text_count = count;
    return STATUS_OK;
}

/* ---- A column of a block ---- */

struct work {
    const struct arrow_block *read;
    _Atomic bool wrong;
};

static enum status store_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct work *const work = context;
    const struct arrow_block *const read = work->read;
    const struct arrow_column *const column = &read->columns[item];
    const struct parsed_table *const parsed = read->parse->parsed;
    struct arrow_scratch *const scratch = &read->scratch[thread];
    struct rows rows = {.column = column, .count = read->rows};
    struct columnar_type type;
    bool right = true;
    if (work->wrong || !type_of(column, &type))
        return STATUS_OK;
    if (column->child >= 0) {
        rows.array = read->batch->children[column->child];
        rows.first = rows.array->offset + read->batch->offset + read->first;
    }
    columnar_values_begin(&scratch->values, rows.count);
    RETURN_IF_ERROR(take_nulls(&rows, &scratch->values, error));
    RETURN_IF_ERROR(type.kind == COLUMNAR_TEXT ? read_texts(&rows, &scratch->values, &right, error)
                                               : read_numbers(&rows, &scratch->values, error));
    const struct columnar_store store = {.parse = read->parse,
                                         .type = &type,
                                         .values = &scratch->values,
                                         .column = (uint32_t)item,
                                         .words = parsed->words[thread * parsed->table->column_count + item],
                                         .scratch = &scratch->store,
                                         .into = {read->block->values[item], &read->block->nulls[item]}};
    read->block->threads[item] = thread;
    if (right)
        RETURN_IF_ERROR(columnar_store_try(&store, &right, error));
    if (!right)
        work->wrong = true;
    return STATUS_OK;
}

enum status arrow_block_store(const struct arrow_block *read, bool *right, struct error *error)
{
    const uint32_t columns = read->parse->parsed->table->column_count;
    struct parsed_block *const block = read->block;
    struct work work = {.read = read};
    RETURN_IF_ERROR(memory_zeros(&block->threads, columns * sizeof *block->threads, "columns", error));
    const unsigned threads = read->rows < ROWS_APART ? 1 : read->parse->options->threads;
    RETURN_IF_ERROR(parallel_for(threads, columns, store_column, &work, error));
    *right = !work.wrong;
    if (*right) {
        block->rows = read->rows;
        return STATUS_OK;
    }
    for (uint32_t c = 0; c < columns; c++) {
        free(block->nulls[c]);
        block->nulls[c] = NULL;
    }
    free(block->threads);
    block->threads = NULL;
    return STATUS_OK;
}
