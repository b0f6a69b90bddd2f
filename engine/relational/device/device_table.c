/* device_table.c: see device_table.h. */
#include "engine/relational/device/device_table.h"

#include "engine/relational/rows_table.h"
#include "storage/base/memory.h"
#include "storage/column/column_data.h"
#include "storage/column/statistics.h"

#include <stdio.h>
#include <stdlib.h>

/* Stands for the validity of a segment, which is on the device. */
static const uint32_t on_device;

static void set_segment(const struct device_column *from, const int64_t *min_max, uint32_t rows,
                        struct segment_data *segment)
{
    const uint32_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    *segment = (struct segment_data){.chunk = {.codec = codec_baseline(),
                                               .size = (uint64_t)tiles * TILE_ROWS * from->value_bytes,
                                               .rows = rows,
                                               .tiles = tiles,
                                               .value_bytes = from->value_bytes,
                                               .width_low = from->value_bytes * 8,
                                               .width_high = from->value_bytes * 8,
                                               .regular = true},
                                     .validity = from->validity ? &on_device : NULL,
                                     .tile_min_max = min_max};
}

/* All tiles have the column's range, and all segments the same list. */
static enum status fill_data(const struct device_column *from, struct column *column, struct error *error)
{
    const struct table *const table = column->table;
    const uint64_t most = table->rows < SEGMENT_ROWS ? table->rows : SEGMENT_ROWS,
                   tiles = (most + TILE_ROWS - 1) / TILE_ROWS;
    struct segment_data *segments;
    int64_t *min_max;
    uint64_t bytes = 0;
    RETURN_IF_ERROR(
        memory_zeros(&segments, (table->segment_count + 1ull) * sizeof *segments, "an answer", error));
    if (memory_take(&min_max, (tiles + 1) * 2 * sizeof *min_max, "an answer", error) != STATUS_OK) {
        free(segments);
        return STATUS_MACHINE;
    }
    for (uint64_t tile = 0; tile < tiles; tile++) {
        min_max[2 * tile] = from->low;
        min_max[2 * tile + 1] = from->high;
    }
    for (uint32_t s = 0; s < table->segment_count; s++) {
        set_segment(from, min_max, table->segment_rows[s], &segments[s]);
        bytes += segments[s].chunk.size;
    }
    RETURN_IF_ERROR(column_data_wrap(column, segments, min_max, bytes, &column->memory, error));
    column->memory->resident = from->values;
    column->memory->resident_validity = from->validity;
    return STATUS_OK;
}

static enum status make_column(const struct device_column *from, const char *name, struct column *column,
                               struct error *error)
{
    const uint64_t span = from->low > from->high ? 0 : (uint64_t)from->high - (uint64_t)from->low;
    snprintf(column->schema.name, sizeof column->schema.name, "%s", name);
    rows_table_type(from->type, from->value_bytes == sizeof(int32_t), &column->schema);
    column->schema.nullable = from->validity != 0;
    column->own = codec_baseline()->id;
    column->memory_dictionary = from->type.dictionary;
    column->untyped = from->type.untyped;
    column->value_bytes = column_schema_value_bytes(&column->schema);
    column->statistics = COLUMN_STATISTICS_NONE;
    column->statistics.min = from->low;
    column->statistics.max = from->high;
    column->statistics.bits = from->bits;
    column->statistics.nulls = from->validity != 0; /* how many is not known */
    column->statistics.distinct = span < column->table->rows ? span + 1 : column->table->rows;
    return column->value_bytes == from->value_bytes
               ? fill_data(from, column, error)
               : error_set(error, STATUS_BAD_INPUT, "column %s has a type that no table has", name);
}

static enum status fill_table(struct table *table, const struct device_rows *rows, const char *const *names,
                              const uint32_t *list, uint32_t count, struct error *error)
{
    struct column *columns;
    if (table->rows > TABLE_ROWS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "an answer has more than %llu rows; add conditions",
                         (unsigned long long)TABLE_ROWS_MAX);
    RETURN_IF_ERROR(table_segments_set(table, error));
    RETURN_IF_ERROR(memory_zeros(&columns, (count + 1ull) * sizeof *columns, "an answer", error));
    table->columns = columns;
    table->column_count = count;
    for (uint32_t c = 0; c < count; c++) {
        columns[c].table = table;
        RETURN_IF_ERROR(make_column(&rows->columns[list[c]], names[c], &columns[c], error));
    }
    return STATUS_OK;
}

enum status device_table_make(const char *name, const struct device_rows *rows, const char *const *names,
                              const uint32_t *columns, uint32_t count, struct table **out,
                              struct error *error)
{
    struct table *table;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&table, sizeof *table, "an answer", error));
    snprintf(table->name, sizeof table->name, "%s", name);
    table->rows = rows->rows;
    const enum status status = fill_table(table, rows, names, columns, count, error);
    if (status == STATUS_OK)
        *out = table;
    else
        rows_table_free(table);
    return status;
}
