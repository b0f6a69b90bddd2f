/* database_memory.c: see database_memory.h. */
#include "storage/database/database_memory.h"

#include "storage/base/memory.h"
#include "storage/column/column_data.h"
#include "storage/column/statistics.h"
#include "storage/database/database_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

static bool is_null(const struct memory_column *from, uint64_t row)
{
    return from->nulls && from->nulls[row];
}

/* A copy of the values, with 0 for NULLs. */
static enum status copy_values(const struct memory_column *from, uint64_t rows, int64_t **values,
                               struct error *error)
{
    RETURN_IF_ERROR(memory_take(values, (rows + 1) * sizeof **values, from->name, error));
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

/* The type of the narrowest values: 32 bits are scanned faster, and ranges of them skip tiles. */
static void choose_type(const struct memory_column *from, const int64_t *values, uint64_t rows,
                        struct column_schema *schema)
{
    bool narrow = true;
    for (uint64_t row = 0; row < rows; row++)
        narrow &=
            values[row] == (int32_t)values[row] && values[row] > -1000000000 && values[row] < 1000000000;
    schema->type = from->is_double ? TYPE_DOUBLE : from->type;
    schema->scale = from->scale;
    schema->precision = narrow ? 9 : 18;
    if (schema->type == TYPE_INT32 || schema->type == TYPE_INT64)
        schema->type = narrow ? TYPE_INT32 : TYPE_INT64;
}

static enum status keep(struct database *database, struct column_data *data, struct error *error)
{
    struct kept_column *const kept = malloc(sizeof *kept);
    if (!kept) {
        column_data_free(data);
        return error_out_of_memory(error, sizeof *kept, "a column");
    }
    *kept = (struct kept_column){.data = data, .next = database->kept};
    database->kept = kept;
    return STATUS_OK;
}

static enum status make_column(struct database *database, const struct memory_column *from, uint64_t rows,
                               struct column *column, struct error *error)
{
    struct column_data *data;
    int64_t *values;
    snprintf(column->schema.name, sizeof column->schema.name, "%s", from->name);
    column->schema.nullable = from->nulls != NULL;
    column->own = codec_baseline()->id;
    column->dictionary = from->dictionary;
    column->untyped = from->untyped;
    RETURN_IF_ERROR(copy_values(from, rows, &values, error));
    choose_type(from, values, rows, &column->schema);
    column->value_bytes = column_schema_value_bytes(&column->schema);
    const enum status status = fill_column(column, values, from->nulls, &data, error);
    free(values);
    RETURN_IF_ERROR(status);
    const struct column_statistics *const known = &column->statistics;
    const uint64_t span = known->min > known->max ? 0 : (uint64_t)known->max - (uint64_t)known->min;
    column->statistics.distinct = span < rows ? span + 1 : rows;
    return keep(database, data, error);
}

static enum status make_table(struct database *database, const struct memory_table *from, uint64_t rows,
                              struct table *table, struct error *error)
{
    struct column *columns;
    snprintf(table->name, sizeof table->name, "%s", from->name);
    table->rows = rows;
    table->aligned = true;
    RETURN_IF_ERROR(table_segments_set(table, error));
    RETURN_IF_ERROR(memory_zeros(&columns, (from->column_count + 1) * sizeof *columns,
                                 "the columns of an answer", error));
    table->columns = columns;
    table->column_count = from->column_count;
    for (uint32_t c = 0; c < from->column_count; c++) {
        columns[c].table = table;
        RETURN_IF_ERROR(make_column(database, &from->columns[c], rows, &columns[c], error));
    }
    return STATUS_OK;
}

enum status database_of_memory(const struct memory_table *tables, uint32_t count, uint64_t rows,
                               struct database **out, struct error *error)
{
    struct database *database = calloc(1, sizeof *database);
    *out = NULL;
    if (!database)
        return error_out_of_memory(error, sizeof *database, "an answer");
    database->held = -1;
    pthread_mutex_init(&database->lock, NULL);
    database->path = strdup("memory");
    database->catalogue.tables = calloc(count + 1, sizeof *database->catalogue.tables);
    enum status status = STATUS_OK;
    if (!database->path || !database->catalogue.tables)
        status = error_out_of_memory(error, count * sizeof *database->catalogue.tables, "an answer");
    if (status == STATUS_OK && rows > TABLE_ROWS_MAX)
        status = error_set(error, STATUS_BAD_INPUT, "an answer has more than %llu rows; add conditions",
                           (unsigned long long)TABLE_ROWS_MAX);
    for (uint32_t t = 0; status == STATUS_OK && t < count; t++) {
        database->catalogue.table_count++;
        status = make_table(database, &tables[t], rows, &database->catalogue.tables[t], error);
    }
    if (status == STATUS_OK)
        *out = database;
    else
        database_close(database);
    return status;
}
