/* segment_writer.c: writes one segment of one column into the files; see table_writer.c. */
#include "storage/database/clustering/clustering.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of the segment's first row, for complaints. */
static uint64_t first_row(const struct table_writer *table, uint32_t segment)
{
    uint64_t row = 0;
    for (uint32_t s = 0; s < segment; s++)
        row += table->table.segment_rows[s];
    return row;
}

/* Claims a (column, segment), which may be written only once. A segment that fails stays begun, so that the
 * commit refuses it. */
static enum status claim(struct table_writer *table, uint32_t column, uint32_t segment, struct error *error)
{
    const char *name = table->table.name;
    RETURN_IF_ERROR(table_writer_column(table, column, error));
    const char *column_name = table->table.columns[column].schema.name;
    if (segment >= table->table.segment_count)
        return error_set(error, STATUS_BAD_INPUT, "table %s: column %s: there is no segment %u; it has %u",
                         name, column_name, segment, table->table.segment_count);
    struct column_writer *writer = &table->columns[column];
    pthread_mutex_lock(&writer->lock);
    bool first = writer->segment_state[segment] == SEGMENT_MISSING;
    if (first)
        writer->segment_state[segment] = SEGMENT_BEGUN;
    pthread_mutex_unlock(&writer->lock);
    if (first)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "table %s: column %s: segment %u was written twice; write it once", name, column_name,
                     segment);
}

/* Gives each NULL row the value before it, or at the start that of the first row that is not NULL. The value means nothing,
 * but it costs few bits, and kernels can use it because it is in range. */
static void *fill_nulls(const void *values, uint32_t value_bytes, uint32_t rows, const uint64_t *validity,
                        uint32_t first, struct error *error)
{
    char *filled = segment_buffer((size_t)rows * value_bytes, "a segment with NULLs", error);
    if (!filled)
        return NULL;
    memcpy(filled, values, (size_t)rows * value_bytes);
    int64_t value = row_value(values, value_bytes, first);
    for (uint32_t row = 0; row < rows; row++) {
        if (row_valid(validity, row))
            value = row_value(values, value_bytes, row);
        else if (value_bytes == 4)
            ((int32_t *)filled)[row] = (int32_t)value;
        else
            ((int64_t *)filled)[row] = value;
    }
    return filled;
}

static enum status write_validity(struct column_writer *writer, uint32_t segment, uint32_t rows,
                                  const uint64_t *validity, struct error *error)
{
    uint32_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS;
    size_t bytes = (size_t)tiles * TILE_LANES * sizeof(uint32_t), words = (rows + 31) / 32;
    uint32_t *out;
    RETURN_IF_ERROR(memory_zeros(&out, bytes, "a segment's validity", error));
    for (size_t word = 0; word < words; word++)
        out[word] = (uint32_t)(validity[word / 2] >> (word % 2 * 32));
    if (rows % 32)
        out[words - 1] &= (1u << rows % 32) - 1;
    for (uint32_t tile = 0; tile < tiles; tile++)
        tile_words_transpose(out + (size_t)tile * TILE_LANES);
    enum status status =
        column_file_add(writer->side, PART_VALIDITY, segment - writer->span.first, rows, out, bytes, error);
    free(out);
    return status;
}

static enum status check_range(const struct table_writer *table, uint32_t column, uint32_t segment,
                               const struct column_statistics *statistics, const void *values, uint32_t rows,
                               struct error *error)
{
    struct column_writer *writer = &table->columns[column];
    pthread_mutex_lock(&writer->lock);
    uint64_t domain = writer->domain;
    pthread_mutex_unlock(&writer->lock);
    if (domain == DOMAIN_ANY || statistics->min > statistics->max ||
        (statistics->min >= 0 && (uint64_t)statistics->max < domain))
        return STATUS_OK;
    const struct column *described = &table->table.columns[column];
    uint32_t row = 0;
    int64_t value = 0;
    for (; row < rows; row++) {
        value = row_value(values, described->value_bytes, row);
        if (value < 0 || (uint64_t)value >= domain)
            break;
    }
    return error_set(error, STATUS_BAD_INPUT,
                     "table %s: column %s: row %" PRIu64 " (counted from 0): %s %" PRId64
                     " is not in 0 .. %" PRId64 "; correct what computes it",
                     table->table.name, described->schema.name, first_row(table, segment) + row,
                     described->schema.references_table[0]   ? "position"
                     : described->schema.type == TYPE_STRING ? "code"
                                                             : "value",
                     value, (int64_t)domain - 1);
}

/* Computes the minima and maxima of a segment's tiles, padded as column_file_add requires, and the segment's
 * statistics; checks that values are in range. */
static enum status take_statistics(const struct table_writer *table, uint32_t column, uint32_t segment,
                                   const void *values, const uint64_t *validity, int64_t **min_max,
                                   uint64_t *min_max_bytes, struct column_statistics *statistics,
                                   struct error *error)
{
    uint32_t value_bytes = table->table.columns[column].value_bytes,
             rows = table->table.segment_rows[segment];
    *min_max_bytes = (rows + TILE_ROWS - 1) / TILE_ROWS * 2 * sizeof(int64_t);
    RETURN_IF_ERROR(memory_zeros(min_max, part_padded(*min_max_bytes), "a segment's statistics", error));
    statistics_segment(values, value_bytes, rows, validity, *min_max, statistics);
    if (table->table.columns[column].schema.type == TYPE_DOUBLE && value_bytes == 8)
        statistics->bits = statistics_bits(values, rows);
    return check_range(table, column, segment, statistics, values, rows, error);
}

static enum status write_segment(struct table_writer *table, uint32_t column, uint32_t segment,
                                 const void *values, const uint64_t *validity, struct error *error)
{
    struct column_writer *writer = &table->columns[column];
    uint32_t value_bytes = table->table.columns[column].value_bytes,
             rows = table->table.segment_rows[segment];
    struct column_statistics statistics;
    struct distinct distinct = {0};
    uint64_t min_max_bytes;
    int64_t *min_max = NULL;
    enum status status = take_statistics(table, column, segment, values, validity, &min_max, &min_max_bytes,
                                         &statistics, error);
    if (status == STATUS_OK && statistics.min <= statistics.max)
        status = distinct_take(&distinct, values, value_bytes, rows, statistics.min, statistics.max, error);
    status = AND_THEN(status, encoding_writer_segment(&writer->encoding, segment, values, rows, error));
    if (status == STATUS_OK && statistics.nulls)
        status = write_validity(writer, segment, rows, validity, error);
    if (status == STATUS_OK)
        status = column_file_add(writer->side, PART_TILE_MIN_MAX, segment - writer->span.first, rows, min_max,
                                 min_max_bytes, error);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&writer->lock);
        statistics_merge(&writer->statistics, &statistics);
        status = distinct_merge(&writer->distinct, &distinct, error);
        if (status == STATUS_OK)
            writer->segment_state[segment] = SEGMENT_WRITTEN;
        pthread_mutex_unlock(&writer->lock);
    }
    distinct_free(&distinct);
    free(min_max);
    return status;
}

static void set_state(struct column_writer *writer, uint32_t segment, enum segment_state state)
{
    pthread_mutex_lock(&writer->lock);
    writer->segment_state[segment] = (uint8_t)state;
    pthread_mutex_unlock(&writer->lock);
}

enum status segment_write(struct table_writer *table, uint32_t column, uint32_t segment, const void *values,
                          const uint64_t *validity, struct error *error)
{
    const uint32_t rows = table->table.segment_rows[segment];
    uint32_t first = 0;
    if (!validity)
        return write_segment(table, column, segment, values, NULL, error);
    while (first < rows && !row_valid(validity, first))
        first++;
    if (first == rows) {
        set_state(&table->columns[column], segment, SEGMENT_NULLS);
        return STATUS_OK;
    }
    void *filled = fill_nulls(values, table->table.columns[column].value_bytes, rows, validity, first, error);
    if (!filled)
        return STATUS_MACHINE;
    enum status status = write_segment(table, column, segment, filled, validity, error);
    free(filled);
    return status;
}

static enum status write_nulls(struct table_writer *table, uint32_t column, uint32_t segment, int64_t value,
                               struct error *error)
{
    const uint32_t rows = table->table.segment_rows[segment],
                   bytes = table->table.columns[column].value_bytes;
    uint64_t *validity;
    void *const values = segment_buffer((size_t)rows * bytes, "a segment of NULLs", error);
    if (!values)
        return STATUS_MACHINE;
    for (uint32_t row = 0; row < rows; row++)
        if (bytes == 4)
            ((int32_t *)values)[row] = (int32_t)value;
        else
            ((int64_t *)values)[row] = value;
    enum status status =
        memory_zeros(&validity, ((size_t)rows + 63) / 64 * sizeof *validity, "a segment of NULLs", error);
    status = AND_THEN(status, write_segment(table, column, segment, values, validity, error));
    free(validity);
    free(values);
    return status;
}

enum status segments_write_nulls(struct table_writer *table, uint32_t column, int64_t value,
                                 struct error *error)
{
    for (uint32_t s = 0; s < table->table.segment_count; s++)
        if (table->columns[column].segment_state[s] == SEGMENT_NULLS)
            RETURN_IF_ERROR(write_nulls(table, column, s, value, error));
    return STATUS_OK;
}

static enum status keep_segment(struct table_writer *table, uint32_t column, uint32_t segment,
                                const void *values, const uint64_t *validity, struct error *error)
{
    struct column_statistics statistics;
    uint64_t min_max_bytes;
    int64_t *min_max = NULL;
    enum status status = take_statistics(table, column, segment, values, validity, &min_max, &min_max_bytes,
                                         &statistics, error);
    free(min_max);
    RETURN_IF_ERROR(status);
    return table_sorter_take(table, column, segment, values, validity, error);
}

enum status table_writer_segment(struct table_writer *table, uint32_t column, uint32_t segment,
                                 const void *values, const uint64_t *validity, struct error *error)
{
    if (table->cells.collected)
        return clustering_collect(table, segment, values, validity, error);
    RETURN_IF_ERROR(claim(table, column, segment, error));
    const struct column *described = &table->table.columns[column];
    uint32_t rows = table->table.segment_rows[segment], row = 0;
    while (validity && row < rows && row_valid(validity, row))
        row++;
    if (row == rows)
        validity = NULL;
    if (validity && !described->schema.nullable)
        return error_set(
            error, STATUS_BAD_INPUT,
            "table %s: column %s: row %" PRIu64
            " (counted from 0) is NULL, but the column is NOT NULL; correct the row or the schema",
            table->table.name, described->schema.name, first_row(table, segment) + row);
    return (table->sorter ? keep_segment
            : clustering_places(table, segment)
                ? clustering_write
                : segment_write)(table, column, segment, values, validity, error);
}
