/* plan_array.c: makes a dimension column an array by position (plan.h): the file's bytes as they are mapped, if the
 * table has no levels and the codec allows it, or a copy. */
#include "engine/plan/levels/level_plan.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/positions.h"

#include <stdlib.h>

struct whole {
    int64_t *values;
    uint8_t *nulls; /* 1 for each NULL */
};

static enum status take_segment(const struct segment_data *segment, struct chunk_reader *reader, int64_t *to,
                                uint8_t *nulls, struct error *error)
{
    const struct chunk_view *chunk = &segment->chunk;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++) {
        const void *values;
        const uint32_t *const valid = segment->validity ? segment->validity + tile * TILE_LANES : NULL;
        const uint32_t first = tile * TILE_ROWS, left = chunk->rows - first,
                       rows = left < TILE_ROWS ? left : TILE_ROWS;
        RETURN_IF_ERROR(chunk_reader_tile(reader, chunk, tile, &values, error));
        for (uint32_t row = 0; row < rows; row++) {
            to[first + row] = row_value(values, chunk->value_bytes, row);
            nulls[first + row] = valid && !tile_row_valid(valid, row);
        }
    }
    return STATUS_OK;
}

static enum status read_whole(struct database *database, const struct column *column, unsigned threads,
                              struct whole *whole, struct error *error)
{
    struct column_data *data;
    const uint64_t rows = column->table->rows;
    RETURN_IF_ERROR(column_data_open(database, column, column->own, threads, &data, error));
    *whole = (struct whole){.values = malloc((rows + 1) * sizeof *whole->values), .nulls = malloc(rows + 1)};
    if (!whole->values || !whole->nulls) {
        free(whole->values);
        free(whole->nulls);
        return error_out_of_memory(error, rows * 9, column->schema.name);
    }
    whole->values[0] = 0; /* for a column without rows */
    struct chunk_reader reader = {0};
    uint64_t first = 0;
    enum status status = STATUS_OK;
    for (uint32_t s = 0; status == STATUS_OK && s < data->segment_count;
         first += data->segments[s++].chunk.rows)
        status =
            take_segment(&data->segments[s], &reader, whole->values + first, whole->nulls + first, error);
    chunk_reader_close(&reader);
    if (status != STATUS_OK) {
        free(whole->values);
        free(whole->nulls);
    }
    return status;
}

enum status plan_column_read(struct database *database, const struct column *column, unsigned threads,
                             int64_t **values, struct error *error)
{
    struct whole whole;
    RETURN_IF_ERROR(read_whole(database, column, threads, &whole, error));
    free(whole.nulls);
    const enum status status =
        column->table->levels
            ? positions_spread_own(column->table, sizeof *whole.values, &whole.values, error)
            : STATUS_OK;
    *values = status == STATUS_OK ? whole.values : NULL;
    if (status != STATUS_OK)
        free(whole.values);
    return status;
}

/* Finds the row at each position. `row_at` has the row of each position of a table with levels; else NULL. */
static enum status find_rows(const struct column *column, const struct whole *whole, const int32_t *row_at,
                             int32_t *rows, struct error *error)
{
    const struct table *const to = column->references->table;
    const uint64_t limit = table_positions(to);
    for (uint64_t row = 0; row < column->table->rows; row++) {
        const int64_t position = whole->values[row];
        const bool found = position >= 0 && (uint64_t)position < limit && (!row_at || row_at[position] >= 0);
        if (!found && !whole->nulls[row])
            return error_set(
                error, STATUS_BAD_INPUT,
                "column %s.%s, row %llu points at position %lld of %s, where no row is; the file is "
                "damaged: load the table again",
                column->table->name, column->schema.name, (unsigned long long)row + 1, (long long)position,
                to->name);
        rows[row] = whole->nulls[row] ? -1 : row_at ? row_at[position] : (int32_t)position;
    }
    return STATUS_OK;
}

enum status plan_references_read(struct plan *plan, const struct column *column, unsigned threads,
                                 int32_t **rows, struct error *error)
{
    const struct table *const to = column->references->table;
    struct whole whole;
    int32_t *row_at = NULL;
    *rows = NULL;
    RETURN_IF_ERROR(read_whole(plan->database, column, threads, &whole, error));
    enum status status =
        memory_take(rows, (column->table->rows + 1) * sizeof **rows, column->schema.name, error);
    if (status == STATUS_OK && to->levels)
        status = rows_of_positions(to, &row_at, error);
    if (status == STATUS_OK)
        status = find_rows(column, &whole, row_at, *rows, error);
    if (status != STATUS_OK) {
        free(*rows);
        *rows = NULL;
    }
    free(row_at);
    free(whole.values);
    free(whole.nulls);
    return status;
}

/* The fewest bytes that the value fits: 1 and 2 are unsigned, 4 and 8 signed. */
static uint32_t bytes_of(int64_t value)
{
    return value >= 0 && value <= UINT8_MAX           ? 1
           : value >= 0 && value <= UINT16_MAX        ? 2
           : value >= INT32_MIN && value <= INT32_MAX ? 4
                                                      : 8;
}

static void store(void *values, uint32_t bytes, uint64_t row, int64_t value)
{
    if (bytes == 1)
        ((uint8_t *)values)[row] = (uint8_t)value;
    else if (bytes == 2)
        ((uint16_t *)values)[row] = (uint16_t)value;
    else if (bytes == 4)
        ((int32_t *)values)[row] = (int32_t)value;
    else
        ((int64_t *)values)[row] = value;
}

enum status plan_array_fill(struct plan_array *array, const int64_t *values, const uint8_t *nulls,
                            const int32_t *rows, uint64_t count, struct error *error)
{
    bool any_null = false;
    array->value_bytes = 1;
    for (uint64_t i = 0; i < count; i++) {
        const int64_t from = rows ? rows[i] : (int64_t)i;
        const bool null = from < 0 || nulls[from];
        const uint32_t bytes = null ? 1 : bytes_of(values[from]);
        any_null |= null;
        array->value_bytes = bytes > array->value_bytes ? bytes : array->value_bytes;
    }
    /* Readers load whole vectors. */
    RETURN_IF_ERROR(memory_zeros(&array->copy, (count + TILE_ROWS) * array->value_bytes,
                                 array->column->schema.name, error));
    RETURN_IF_ERROR(memory_zeros(&array->valid_copy, (count / 32 + 1) * sizeof(uint32_t),
                                 array->column->schema.name, error));
    for (uint64_t i = 0; i < count; i++) {
        const int64_t from = rows ? rows[i] : (int64_t)i;
        if (from < 0 || nulls[from])
            continue;
        ((uint32_t *)array->valid_copy)[i / 32] |= 1u << i % 32;
        store(array->copy, array->value_bytes, i, values[from]);
    }
    array->values = array->copy;
    array->valid = any_null ? array->valid_copy : NULL;
    return STATUS_OK;
}

/* Makes the array, which is by row of a table with levels, one by position. */
static enum status spread_array(struct plan_array *array, struct error *error)
{
    const struct table *const table = array->column->table;
    void *const values = calloc(array->rows + TILE_ROWS, array->value_bytes);
    uint32_t *const valid = array->valid ? calloc(array->rows / 32 + 1, sizeof *valid) : NULL;
    if (!values || (array->valid && !valid)) {
        free(values);
        free(valid);
        return error_out_of_memory(error, array->rows * array->value_bytes, array->column->schema.name);
    }
    positions_spread(table, array->values, array->value_bytes, values);
    if (valid)
        positions_spread_bits(table, array->valid, valid);
    free(array->copy);
    free(array->valid_copy);
    array->values = array->copy = values;
    array->valid = array->valid_copy = valid;
    return STATUS_OK;
}

/* True if the column can be read in a codec whose data are an array already: then the mapped bytes are
 * used. */
static bool is_array(const struct column *column)
{
    return column->value_bytes == 4 && column->table->segment_count == 1 && !column->statistics.nulls &&
           column_encoding(column, codec_array()->id);
}

/* Reads a column of the join's own table. */
static enum status read_own(struct database *database, struct plan_array *array, unsigned threads,
                            struct error *error)
{
    const struct column *const column = array->column;
    if (is_array(column)) {
        RETURN_IF_ERROR(column_data_open(database, column, codec_array()->id, threads, &array->data, error));
        const struct chunk_view *chunk = &array->data->segments[0].chunk;
        if (chunk->width_low == chunk->width_high) {
            array->values = chunk->data;
            array->value_bytes = chunk->width_high / 8;
            return STATUS_OK;
        }
    }
    struct whole whole;
    RETURN_IF_ERROR(read_whole(database, column, threads, &whole, error));
    const enum status status =
        plan_array_fill(array, whole.values, whole.nulls, NULL, column->table->rows, error);
    free(whole.values);
    free(whole.nulls);
    return status;
}

enum status plan_array_add(struct plan *plan, struct plan_array array, uint32_t *index, struct error *error)
{
    RETURN_IF_ERROR(
        memory_grow(&plan->arrays, (plan->array_count + 1) * sizeof *plan->arrays, "a plan", error));
    *index = plan->array_count++;
    plan->arrays[*index] = array;
    return STATUS_OK;
}

enum status plan_source_add(struct plan *plan, struct plan_source source, struct error *error)
{
    RETURN_IF_ERROR(
        memory_grow(&plan->sources, (plan->source_count + 1) * sizeof *plan->sources, "a plan", error));
    plan->sources[plan->source_count++] = source;
    return STATUS_OK;
}

enum status plan_array_open(struct plan *plan, const struct column *column, const int32_t *rows,
                            uint64_t count, unsigned threads, uint32_t *index, struct error *error)
{
    RETURN_IF_ERROR(plan_array_add(
        plan, (struct plan_array){.column = column, .rows = count, .composed = rows != NULL}, index, error));
    struct plan_array *const array = &plan->arrays[*index];
    if (!rows) {
        RETURN_IF_ERROR(read_own(plan->database, array, threads, error));
        return column->table->levels ? spread_array(array, error) : STATUS_OK;
    }
    struct whole whole;
    RETURN_IF_ERROR(read_whole(plan->database, column, threads, &whole, error));
    const enum status status = plan_array_fill(array, whole.values, whole.nulls, rows, count, error);
    free(whole.values);
    free(whole.nulls);
    return status;
}

void plan_array_read(const struct plan_array *array, uint64_t first, uint32_t count, int64_t *values,
                     uint8_t *nulls)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t at = (first + i) >> array->shift;
        switch (array->value_bytes) {
        case 1:
            values[i] = ((const uint8_t *)array->values)[at];
            break;
        case 2:
            values[i] = ((const uint16_t *)array->values)[at];
            break;
        case 4:
            values[i] = ((const int32_t *)array->values)[at];
            break;
        default:
            values[i] = ((const int64_t *)array->values)[at];
        }
        if (nulls)
            nulls[i] = array->valid && !(array->valid[at / 32] >> at % 32 & 1);
    }
}

#define GATHER(type)                     \
    for (uint32_t i = 0; i < count; i++) \
        values[i] = ((const type *)array->values)[positions[i] >> array->shift];

void plan_array_gather(const struct plan_array *array, const int64_t *positions, const uint8_t *missing,
                       uint32_t count, int64_t *values, uint8_t *nulls)
{
    if (array->rows == 0) { /* no row has a match */
        memset(values, 0, count * sizeof *values);
    } else if (array->value_bytes == 1) {
        GATHER(uint8_t)
    } else if (array->value_bytes == 2) {
        GATHER(uint16_t)
    } else if (array->value_bytes == 4) {
        GATHER(int32_t)
    } else {
        GATHER(int64_t)
    }
    for (uint32_t i = 0; nulls && i < count; i++) {
        const int64_t at = positions[i] >> array->shift;
        nulls[i] = (missing && missing[i]) || (array->valid && !(array->valid[at / 32] >> at % 32 & 1));
    }
}

struct marks {
    const struct plan *plan;
    bool *used;
};

static void mark(void *context, const struct expression *leaf)
{
    const struct marks *marks = context;
    const struct plan_source *source = &marks->plan->sources[leaf->index];
    if (source->join >= 0 && !source->bits)
        marks->used[source->column] = true;
}

void plan_mark_arrays(const struct plan *plan, uint32_t expression, bool *used)
{
    expression_visit(&plan->expressions, expression, mark, &(struct marks){plan, used});
}
