/* rows_table.c: see rows_table.h. */
#include "engine/relational/rows_table.h"

#include "storage/base/memory.h"
#include "storage/column/column_data.h"
#include "storage/column/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

static bool is_null(const struct rowset_column *from, uint64_t row)
{
    return from->nulls && from->nulls[row];
}

/* A copy of the values, with 0 for NULLs. */
static enum status copy_values(const struct rowset_column *from, uint64_t rows, int64_t **values,
                               struct error *error)
{
    RETURN_IF_ERROR(memory_take(values, (rows + 1) * sizeof **values, "an answer", error));
    for (uint64_t row = 0; row < rows; row++)
        (*values)[row] = is_null(from, row) ? 0 : from->values[row];
    return STATUS_OK;
}

/* ---- Segments ---- */

/* The bytes of a segment: its chunk, its validity and its tiles' minima and maxima, each aligned. */
static uint64_t segment_bytes(const struct column *column, uint32_t rows)
{
    const uint64_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    return codec_baseline()->bound(rows, column->value_bytes) + tiles * TILE_LANES * sizeof(uint32_t) +
           (tiles * 2 * sizeof(int64_t) + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
}

/* Packs values to 32 bits in place, if the column has them so. */
static const void *packed(int64_t *values, uint32_t rows, uint32_t value_bytes)
{
    int32_t *const narrow = (int32_t *)(void *)values;
    for (uint32_t row = 0; value_bytes == 4 && row < rows; row++) {
        const int32_t value = (int32_t)values[row];
        memcpy(&narrow[row], &value, sizeof value);
    }
    return values;
}

/* Fills the validity of tiles (struct segment_data) and that of rows. */
static void fill_validity(const uint8_t *nulls, uint32_t rows, uint32_t *lanes, uint64_t *bits)
{
    for (uint32_t row = 0; row < rows; row++) {
        if (nulls[row])
            continue;
        const uint32_t in_tile = row % TILE_ROWS;
        lanes[row / TILE_ROWS * TILE_LANES + in_tile % TILE_LANES] |= 1u << in_tile / TILE_LANES;
        bits[row / 64] |= UINT64_C(1) << row % 64;
    }
}

static enum status fill_segment(const struct column *column, int64_t *values, const uint8_t *nulls,
                                uint32_t rows, uint8_t *memory, struct segment_data *segment,
                                struct column_statistics *all, struct error *error)
{
    const uint64_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    const size_t bound = codec_baseline()->bound(rows, column->value_bytes);
    uint32_t *const lanes = (uint32_t *)(void *)(memory + bound);
    int64_t *const min_max = (int64_t *)(void *)(memory + bound + tiles * TILE_LANES * sizeof *lanes);
    uint64_t *bits = NULL;
    struct column_statistics own;
    if (nulls) {
        RETURN_IF_ERROR(memory_zeros(&bits, (rows / 64 + 1) * sizeof *bits, "an answer", error));
        memset(lanes, 0, tiles * TILE_LANES * sizeof *lanes);
        fill_validity(nulls, rows, lanes, bits);
        segment->validity = lanes;
    }
    const struct codec_input input = {.values = packed(values, rows, column->value_bytes),
                                      .rows = rows,
                                      .value_bytes = column->value_bytes};
    statistics_segment(input.values, column->value_bytes, rows, bits, min_max, &own);
    if (column->schema.type == TYPE_DOUBLE)
        own.bits = statistics_bits(input.values, rows);
    statistics_merge(all, &own);
    free(bits);
    segment->tile_min_max = min_max;
    const size_t bytes = codec_baseline()->encode(&input, memory);
    return chunk_open(memory, bytes, &segment->chunk, error);
}

static enum status fill_column(struct column *column, int64_t *values, const uint8_t *nulls,
                               struct column_data **data, struct error *error)
{
    const struct table *const table = column->table;
    uint64_t bytes = CHUNK_ALIGNMENT, first = 0, at = 0;
    struct segment_data *const segments = calloc(table->segment_count + 1, sizeof *segments);
    for (uint32_t s = 0; s < table->segment_count; s++)
        bytes += segment_bytes(column, table->segment_rows[s]);
    uint8_t *const memory = aligned_alloc(CHUNK_ALIGNMENT, bytes);
    enum status status = STATUS_OK;
    if (!segments || !memory)
        status = error_out_of_memory(error, bytes, "an answer");
    column->statistics = COLUMN_STATISTICS_NONE;
    for (uint32_t s = 0; status == STATUS_OK && s < table->segment_count; s++) {
        const uint32_t rows = table->segment_rows[s];
        status = fill_segment(column, values + first, nulls ? nulls + first : NULL, rows, memory + at,
                              &segments[s], &column->statistics, error);
        first += rows;
        at += segment_bytes(column, rows);
    }
    if (status == STATUS_OK)
        return column_data_wrap(column, segments, memory, at, data, error);
    free(segments);
    free(memory);
    return status;
}

/* ---- Columns ---- */

static enum column_type type_of(struct value_type type, bool narrow)
{
    switch (type.kind) {
    case VALUE_INTEGER:
        return value_is_decimal(type) ? TYPE_DECIMAL : narrow ? TYPE_INT32 : TYPE_INT64;
    case VALUE_DOUBLE:
        return TYPE_DOUBLE;
    case VALUE_DATE:
        return TYPE_DATE;
    case VALUE_TIMESTAMP:
        return TYPE_TIMESTAMP;
    case VALUE_BOOLEAN:
        return TYPE_BOOL;
    case VALUE_STRING:
        return TYPE_STRING;
    }
    return TYPE_INT64;
}

void rows_table_type(struct value_type type, bool narrow, struct column_schema *schema)
{
    schema->type = type_of(type, narrow);
    schema->scale = type.scale;
    schema->precision = narrow ? 9 : 18;
}

/* The type of the narrowest values: 32 bits are scanned faster, and ranges of them skip tiles. */
static void choose_type(const struct rowset_column *from, const int64_t *values, uint64_t rows,
                        struct column_schema *schema)
{
    bool narrow = true;
    for (uint64_t row = 0; row < rows; row++)
        narrow &=
            values[row] == (int32_t)values[row] && values[row] > -1000000000 && values[row] < 1000000000;
    rows_table_type(from->type, narrow, schema);
}

static enum status make_column(const struct rows_table_column *from, uint64_t rows, struct column *column,
                               struct error *error)
{
    const struct rowset_column *const of = from->values;
    int64_t *values;
    snprintf(column->schema.name, sizeof column->schema.name, "%s", from->name);
    column->schema.nullable = of->nulls != NULL;
    column->own = codec_baseline()->id;
    column->memory_dictionary = of->type.dictionary;
    column->untyped = of->type.untyped;
    RETURN_IF_ERROR(copy_values(of, rows, &values, error));
    choose_type(of, values, rows, &column->schema);
    column->value_bytes = column_schema_value_bytes(&column->schema);
    const enum status status = fill_column(column, values, of->nulls, &column->memory, error);
    free(values);
    const struct column_statistics *const known = &column->statistics;
    const uint64_t span = known->min > known->max ? 0 : (uint64_t)known->max - (uint64_t)known->min;
    column->statistics.distinct = span < rows ? span + 1 : rows;
    return status;
}

static enum status fill_table(struct table *table, const struct rows_table_column *from, uint32_t count,
                              struct error *error)
{
    struct column *columns;
    if (table->rows > TABLE_ROWS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "an answer has more than %llu rows; add conditions",
                         (unsigned long long)TABLE_ROWS_MAX);
    RETURN_IF_ERROR(table_segments_set(table, error));
    RETURN_IF_ERROR(memory_zeros(&columns, (count + 1) * sizeof *columns, "the columns of an answer", error));
    table->columns = columns;
    table->column_count = count;
    for (uint32_t c = 0; c < table->column_count; c++) {
        columns[c].table = table;
        RETURN_IF_ERROR(make_column(&from[c], table->rows, &columns[c], error));
    }
    return STATUS_OK;
}

enum status rows_table_make(const char *name, const struct rows_table_column *columns, uint32_t count,
                            uint64_t rows, struct table **out, struct error *error)
{
    struct table *table;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&table, sizeof *table, "an answer", error));
    snprintf(table->name, sizeof table->name, "%s", name);
    table->rows = rows;
    const enum status status = fill_table(table, columns, count, error);
    if (status == STATUS_OK)
        *out = table;
    else
        rows_table_free(table);
    return status;
}

void rows_table_free(struct table *table)
{
    if (!table)
        return;
    for (uint32_t c = 0; c < table->column_count; c++)
        column_data_free(table->columns[c].memory);
    table_free(table);
    free(table);
}
