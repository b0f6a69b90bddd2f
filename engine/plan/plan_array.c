/* plan_array.c: makes a dimension column an array by row position (plan.h): the file's bytes as they are
 * mapped, if possible, or a composed copy. */
#include "engine/plan/plan.h"

#include "storage/codec/chunk_reader.h"

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
    *values = whole.values;
    free(whole.nulls);
    return STATUS_OK;
}

enum status plan_positions_read(struct plan *plan, const struct column *column, unsigned threads,
                                int32_t **positions, struct error *error)
{
    const uint64_t rows = column->table->rows, limit = column->references->table->rows;
    struct whole whole;
    RETURN_IF_ERROR(read_whole(plan->database, column, threads, &whole, error));
    enum status status = STATUS_OK;
    *positions = malloc((rows + 1) * sizeof **positions);
    if (!*positions)
        status = error_out_of_memory(error, rows * sizeof **positions, column->schema.name);
    for (uint64_t row = 0; status == STATUS_OK && row < rows; row++) {
        (*positions)[row] = whole.nulls[row] ? -1 : (int32_t)whole.values[row];
        if ((*positions)[row] >= 0 && (uint64_t)(*positions)[row] >= limit) {
            status = error_set(error, STATUS_BAD_INPUT,
                               "column %s.%s, row %llu points at row %d of %s, which has %llu; the file is "
                               "damaged: load the table again",
                               column->table->name, column->schema.name, (unsigned long long)row + 1,
                               (*positions)[row], column->references->table->name, (unsigned long long)limit);
            free(*positions);
        }
    }
    free(whole.values);
    free(whole.nulls);
    return status;
}

/* The fewest bytes that all values fit: 1 and 2 are unsigned, 4 and 8 signed. */
static uint32_t bytes_needed(const struct whole *whole, uint64_t rows)
{
    uint32_t bytes = 1;
    for (uint64_t row = 0; row < rows && bytes < 8; row++) {
        const int64_t value = whole->nulls[row] ? 0 : whole->values[row];
        const uint32_t own = value >= 0 && value <= UINT8_MAX           ? 1
                             : value >= 0 && value <= UINT16_MAX        ? 2
                             : value >= INT32_MIN && value <= INT32_MAX ? 4
                                                                        : 8;
        bytes = own > bytes ? own : bytes;
    }
    return bytes;
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

static enum status fill_array(struct plan_array *array, const struct whole *whole, const int32_t *positions,
                              struct error *error)
{
    const uint64_t words = array->rows / 32 + 1;
    array->value_bytes = bytes_needed(whole, array->column->table->rows);
    array->copy = calloc(array->rows + TILE_ROWS, array->value_bytes); /* readers load whole vectors */
    array->valid_copy = calloc(words, sizeof(uint32_t));
    if (!array->copy || !array->valid_copy)
        return error_out_of_memory(error, array->rows * array->value_bytes, array->column->schema.name);
    bool any_null = false;
    for (uint64_t row = 0; row < array->rows; row++) {
        const int64_t from = positions ? positions[row] : (int64_t)row;
        const bool valid = from >= 0 && !whole->nulls[from];
        any_null |= !valid;
        if (!valid)
            continue;
        ((uint32_t *)array->valid_copy)[row / 32] |= 1u << row % 32;
        store(array->copy, array->value_bytes, row, whole->values[from]);
    }
    array->values = array->copy;
    array->valid = any_null ? array->valid_copy : NULL;
    return STATUS_OK;
}

/* True if the column can be read in a codec whose data are an array already: then the mapped bytes are
 * used. */
static bool is_array(const struct column *column)
{
    return column->value_bytes == 4 && column->table->segment_count == 1 && !column->statistics.nulls &&
           column_encoding(column, codec_array()->id);
}

enum status plan_array_open(struct plan *plan, const struct column *column, const int32_t *positions,
                            uint64_t rows, unsigned threads, uint32_t *index, struct error *error)
{
    if (plan->array_count == PLAN_SOURCES_MAX)
        return error_set(error, STATUS_BAD_INPUT, "the statement reads more than %u columns of dimensions",
                         PLAN_SOURCES_MAX);
    struct plan_array *array = &plan->arrays[plan->array_count];
    *array = (struct plan_array){.column = column, .rows = rows, .composed = positions != NULL};
    *index = plan->array_count++; /* now plan_free frees it */
    if (!positions && is_array(column)) {
        RETURN_IF_ERROR(
            column_data_open(plan->database, column, codec_array()->id, threads, &array->data, error));
        const struct chunk_view *chunk = &array->data->segments[0].chunk;
        if (chunk->width_low == chunk->width_high) {
            array->values = chunk->data;
            array->value_bytes = chunk->width_high / 8;
            return STATUS_OK;
        }
    }
    struct whole whole;
    RETURN_IF_ERROR(read_whole(plan->database, column, threads, &whole, error));
    const enum status status = fill_array(array, &whole, positions, error);
    free(whole.values);
    free(whole.nulls);
    return status;
}

void plan_array_read(const struct plan_array *array, uint64_t first, uint32_t rows, int64_t *values,
                     uint8_t *nulls)
{
    for (uint32_t i = 0; i < rows; i++)
        switch (array->value_bytes) {
        case 1:
            values[i] = ((const uint8_t *)array->values)[first + i];
            break;
        case 2:
            values[i] = ((const uint16_t *)array->values)[first + i];
            break;
        case 4:
            values[i] = ((const int32_t *)array->values)[first + i];
            break;
        default:
            values[i] = ((const int64_t *)array->values)[first + i];
        }
    if (nulls)
        for (uint32_t i = 0; i < rows; i++)
            nulls[i] = array->valid && !(array->valid[(first + i) / 32] >> (first + i) % 32 & 1);
}

struct marks {
    const struct plan *plan;
    bool *used;
};

static void mark(void *context, const struct expression *leaf)
{
    const struct marks *marks = context;
    const struct plan_source *source = &marks->plan->sources[leaf->index];
    if (source->join >= 0)
        marks->used[source->column] = true;
}

void plan_mark_arrays(const struct plan *plan, uint32_t expression, bool used[PLAN_SOURCES_MAX])
{
    expression_visit(&plan->expressions, expression, mark, &(struct marks){plan, used});
}
