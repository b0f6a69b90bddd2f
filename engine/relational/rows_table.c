/* rows_table.c: see rows_table.h. */
#include "engine/relational/rows_table.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/column/column_data.h"
#include "storage/column/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

/* What a thread copies at once, finding the statistics while it is in the cache. */
#define PIECE_TILES 16u
#define PIECE_ROWS  (PIECE_TILES * TILE_ROWS)

struct range {
    int64_t low, high;
};

/* A column while it is copied. A segment's memory has its values, as its chunk, then its validity and its tiles' minima
 * and maxima. */
struct copying {
    const struct rowset_column *from;
    struct column *column;
    uint64_t rows, pieces;
    struct range *ranges; /* of each piece, NULLs being 0 */
    struct column_statistics *statistics;
    struct segment_data *segments;
    uint8_t **memory; /* of each segment */
};

static void piece_rows(const struct copying *copying, uint64_t piece, uint64_t *first, uint32_t *count)
{
    const uint64_t left = copying->rows - piece * PIECE_ROWS;
    *first = piece * PIECE_ROWS;
    *count = left < PIECE_ROWS ? (uint32_t)left : PIECE_ROWS;
}

static int64_t value_at(const struct rowset_column *from, uint64_t row)
{
    return from->nulls && from->nulls[row] ? 0 : from->values[row];
}

static enum status find_range(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    const struct copying *const copying = context;
    struct range range = {INT64_MAX, INT64_MIN};
    uint64_t first;
    uint32_t count;
    (void)thread;
    piece_rows(copying, piece, &first, &count);
    const int64_t *const values = copying->from->values + first;
    for (uint32_t r = 0; !copying->from->nulls && r < count; r++) {
        range.low = values[r] < range.low ? values[r] : range.low;
        range.high = values[r] > range.high ? values[r] : range.high;
    }
    for (uint32_t r = 0; copying->from->nulls && r < count; r++) {
        const int64_t value = value_at(copying->from, first + r);
        range.low = value < range.low ? value : range.low;
        range.high = value > range.high ? value : range.high;
    }
    copying->ranges[piece] = range;
    return cancel_check(error);
}

/* Writes the values of a piece; after the last row its value is repeated up to the tile's end. */
static void write_values(const struct copying *copying, uint64_t first, uint32_t count, void *to)
{
    const struct rowset_column *const from = copying->from;
    const uint32_t whole = (count + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
    if (copying->column->value_bytes == sizeof(int32_t)) {
        int32_t *const narrow = to;
        for (uint32_t r = 0; !from->nulls && r < count; r++)
            narrow[r] = (int32_t)from->values[first + r];
        for (uint32_t r = 0; from->nulls && r < count; r++)
            narrow[r] = (int32_t)value_at(from, first + r);
        for (uint32_t r = count; r < whole; r++)
            narrow[r] = narrow[count - 1];
    } else {
        int64_t *const wide = to;
        if (!from->nulls)
            memcpy(wide, from->values + first, count * sizeof *wide);
        for (uint32_t r = 0; from->nulls && r < count; r++)
            wide[r] = value_at(from, first + r);
        for (uint32_t r = count; r < whole; r++)
            wide[r] = wide[count - 1];
    }
}

/* Fills the validity of tiles (struct segment_data) and that of rows, both zeros at first. */
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

/* ---- Segments ---- */

/* The bytes of a segment's values, of its validity, and of its minima and maxima. */
static uint64_t values_bytes(const struct column *column, uint64_t tiles)
{
    return tiles * TILE_ROWS * column->value_bytes;
}

static uint64_t segment_bytes(const struct column *column, uint64_t tiles)
{
    return values_bytes(column, tiles) + tiles * TILE_LANES * sizeof(uint32_t) +
           (tiles * 2 * sizeof(int64_t) + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
}

static enum status copy_piece(void *context, uint64_t piece, unsigned thread, struct error *error)
{
    const struct copying *const copying = context;
    const struct column *const column = copying->column;
    struct column_statistics *const statistics = &copying->statistics[piece];
    const uint64_t segment = piece * PIECE_ROWS / SEGMENT_ROWS,
                   tile = piece * PIECE_TILES - segment * (SEGMENT_ROWS / TILE_ROWS),
                   tiles = copying->segments[segment].chunk.tiles;
    uint8_t *const memory = copying->memory[segment];
    void *const values = memory + tile * TILE_ROWS * column->value_bytes;
    uint32_t *const lanes = (uint32_t *)(void *)(memory + values_bytes(column, tiles));
    int64_t *const min_max = (int64_t *)(void *)(lanes + tiles * TILE_LANES);
    uint64_t bits[PIECE_ROWS / 64] = {0}, first;
    uint32_t count;
    (void)thread;
    piece_rows(copying, piece, &first, &count);
    write_values(copying, first, count, values);
    if (copying->from->nulls) {
        memset(lanes + tile * TILE_LANES, 0,
               (count + TILE_ROWS - 1) / TILE_ROWS * TILE_LANES * sizeof *lanes);
        fill_validity(copying->from->nulls + first, count, lanes + tile * TILE_LANES, bits);
    }
    statistics_segment(values, column->value_bytes, count, copying->from->nulls ? bits : NULL,
                       min_max + 2 * tile, statistics);
    if (tile > 0) /* a run goes on */
        statistics->runs -= value_at(copying->from, first) == value_at(copying->from, first - 1);
    if (column->schema.type == TYPE_DOUBLE)
        statistics->bits = statistics_bits(values, count);
    return cancel_check(error);
}

/* Whole tiles of values as they are, which is what the plain codec makes of them, without a header. */
static struct segment_data segment_of(const struct copying *copying, uint32_t rows, uint8_t *memory)
{
    const struct column *const column = copying->column;
    const uint32_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    const uint64_t bytes = values_bytes(column, tiles);
    const uint32_t *const lanes = (const uint32_t *)(void *)(memory + bytes);
    return (struct segment_data){.chunk = {.codec = codec_baseline(),
                                           .bytes = memory,
                                           .directory = memory,
                                           .data = memory,
                                           .auxiliary = memory + bytes,
                                           .size = bytes,
                                           .rows = rows,
                                           .tiles = tiles,
                                           .value_bytes = column->value_bytes,
                                           .width_low = column->value_bytes * 8,
                                           .width_high = column->value_bytes * 8},
                                 .validity = copying->from->nulls ? lanes : NULL,
                                 .tile_min_max = (const int64_t *)(void *)(lanes + tiles * TILE_LANES)};
}

/* Copies the values to memory of the column's. */
static enum status fill_column(struct copying *copying, unsigned threads, struct error *error)
{
    struct column *const column = copying->column;
    const struct table *const table = column->table;
    uint64_t bytes = CHUNK_ALIGNMENT, at = 0;
    for (uint32_t s = 0; s < table->segment_count; s++)
        bytes += segment_bytes(column, (table->segment_rows[s] + TILE_ROWS - 1) / TILE_ROWS);
    uint8_t *const memory = aligned_alloc(CHUNK_ALIGNMENT, bytes);
    huge_pages_prefer(memory, bytes);
    copying->segments = calloc(table->segment_count + 1, sizeof *copying->segments);
    copying->memory = calloc(table->segment_count + 1, sizeof *copying->memory);
    copying->statistics = calloc(copying->pieces + 1, sizeof *copying->statistics);
    enum status status = STATUS_OK;
    if (!memory || !copying->segments || !copying->memory || !copying->statistics)
        status = error_out_of_memory(error, bytes, "an answer");
    for (uint32_t s = 0; status == STATUS_OK && s < table->segment_count; s++) {
        copying->memory[s] = memory + at;
        copying->segments[s] = segment_of(copying, table->segment_rows[s], memory + at);
        at += segment_bytes(column, copying->segments[s].chunk.tiles);
    }
    status = AND_THEN(status, parallel_for(threads, copying->pieces, copy_piece, copying, error));
    column->statistics = COLUMN_STATISTICS_NONE;
    for (uint64_t p = 0; status == STATUS_OK && p < copying->pieces; p++)
        statistics_merge(&column->statistics, &copying->statistics[p]);
    free(copying->memory);
    free(copying->statistics);
    if (status == STATUS_OK)
        return column_data_wrap(column, copying->segments, memory, at, &column->memory, error);
    free(copying->segments);
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
    schema->zoned = type.zoned;
    schema->precision = narrow ? 9 : 18;
}

/* Finds the type of the narrowest values: 32 bits are scanned faster, and ranges of them skip tiles. */
static enum status choose_type(struct copying *copying, unsigned threads, struct error *error)
{
    struct range range = {0, 0};
    RETURN_IF_ERROR(
        memory_take(&copying->ranges, (copying->pieces + 1) * sizeof *copying->ranges, "an answer", error));
    const enum status status = parallel_for(threads, copying->pieces, find_range, copying, error);
    for (uint64_t p = 0; status == STATUS_OK && p < copying->pieces; p++) {
        range.low = copying->ranges[p].low < range.low ? copying->ranges[p].low : range.low;
        range.high = copying->ranges[p].high > range.high ? copying->ranges[p].high : range.high;
    }
    free(copying->ranges);
    rows_table_type(copying->from->type, range.low > -1000000000 && range.high < 1000000000,
                    &copying->column->schema);
    copying->column->value_bytes = column_schema_value_bytes(&copying->column->schema);
    return status;
}

static enum status make_column(const struct rows_table_column *from, uint64_t rows, unsigned threads,
                               struct column *column, struct error *error)
{
    const struct rowset_column *const of = from->values;
    struct copying copying = {
        .from = of, .column = column, .rows = rows, .pieces = (rows + PIECE_ROWS - 1) / PIECE_ROWS};
    snprintf(column->schema.name, sizeof column->schema.name, "%s", from->name);
    column->schema.nullable = of->nulls != NULL;
    column->own = codec_baseline()->id;
    column->memory_dictionary = of->type.dictionary;
    column->untyped = of->type.untyped;
    RETURN_IF_ERROR(choose_type(&copying, threads, error));
    RETURN_IF_ERROR(fill_column(&copying, threads, error));
    const struct column_statistics *const known = &column->statistics;
    const uint64_t span = known->min > known->max ? 0 : (uint64_t)known->max - (uint64_t)known->min;
    column->statistics.distinct = span < rows ? span + 1 : rows;
    return STATUS_OK;
}

static enum status fill_table(struct table *table, const struct rows_table_column *from, uint32_t count,
                              unsigned threads, struct error *error)
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
        RETURN_IF_ERROR(make_column(&from[c], table->rows, threads, &columns[c], error));
    }
    return STATUS_OK;
}

enum status rows_table_make(const char *name, const struct rows_table_column *columns, uint32_t count,
                            uint64_t rows, unsigned threads, struct table **out, struct error *error)
{
    struct table *table;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&table, sizeof *table, "an answer", error));
    snprintf(table->name, sizeof table->name, "%s", name);
    table->rows = rows;
    const enum status status = fill_table(table, columns, count, threads, error);
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
