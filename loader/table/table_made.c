/*
 * table_made.c: loads rows that the caller makes (struct row_maker), without text in between.
 *
 * Rows made one by one are loaded like rows of text, 4096 at a time, with a dictionary a thread and blocks of
 * values. Rows made by columns are loaded a segment at a time: threads fill ranges of the segment's arrays,
 * and replace the foreign keys by positions while the range is in the cache. Then each thread encodes and
 * writes a column. A segment takes 4 or 8 bytes a value (1.1 GB for SSB's 17 columns), for any size of the
 * table.
 */
#include "loader/table/table_loader_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a block, so small that also small dimensions give all threads something to do. */
#define BLOCK_ROWS 4096u

static uint32_t rows_at(uint64_t first, uint64_t rows, uint32_t most)
{
    return rows - first < most ? (uint32_t)(rows - first) : most;
}

/* ---- Row by row ---- */

struct making {
    struct row_parse *parse;
    const struct row_maker *maker;
    struct column_progress progress;
};

static enum status put_row(struct making *making, const struct made_value *values, uint32_t rows,
                           struct parsed_block *block, struct error *error)
{
    const struct parsed_table *const parsed = making->parse->parsed;
    const uint32_t columns = parsed->table->column_count;
    struct dictionary_builder *const *const words = parsed->words + (size_t)block->thread * columns;
    for (uint32_t c = 0; c < columns; c++) {
        int64_t value = values[c].number;
        int32_t code;
        if (words[c]) {
            RETURN_IF_ERROR(dictionary_builder_add(words[c], values[c].text, values[c].length, &code, error));
            value = code;
        }
        RETURN_IF_ERROR(row_put(making->parse, block, c, rows, value, false, error));
    }
    block->rows++;
    return STATUS_OK;
}

static enum status make_block(void *context, uint64_t number, unsigned thread, struct error *error)
{
    struct making *making = context;
    const struct row_maker *const maker = making->maker;
    const uint64_t first = number * BLOCK_ROWS;
    const uint32_t rows = rows_at(first, maker->rows, BLOCK_ROWS);
    struct made_value values[SCHEMA_COLUMNS_MAX];
    struct parsed_block block;
    RETURN_IF_ERROR(cancel_check(error));
    enum status status = row_block_begin(making->parse, rows, thread, &block, error);
    for (uint32_t r = 0; r < rows && status == STATUS_OK; r++) {
        maker->row(maker->context, first + r, thread, values);
        status = put_row(making, values, rows, &block, error);
    }
    RETURN_IF_ERROR(row_block_end(making->parse, number, &block, status, error));
    column_progress_add(&making->progress, rows);
    return STATUS_OK;
}

enum status made_rows_read(struct row_parse *parse, const struct row_maker *maker, struct error *error)
{
    struct making making = {
        .parse = parse,
        .maker = maker,
        .progress = {.progress = parse->progress, .rows = maker->rows, .values = maker->rows}};
    column_progress_begin(&making.progress, "loading", parse->parsed->table->name);
    return parallel_for(parse->options->threads, (maker->rows + BLOCK_ROWS - 1) / BLOCK_ROWS, make_block,
                        &making, error);
}

/* ---- By columns ---- */

struct segment {
    const struct made_table *made;
    void *values[SCHEMA_COLUMNS_MAX];
    uint64_t *validity[SCHEMA_COLUMNS_MAX]; /* of foreign keys that may be NULL */
    atomic_bool nulls[SCHEMA_COLUMNS_MAX];
    uint64_t first; /* the segment's first row in the table */
    uint32_t rows;
    struct column_progress progress; /* counts each value twice: filled, written */
};

static void *value_at(const struct segment *segment, uint32_t c, uint32_t row)
{
    return (uint8_t *)segment->values[c] +
           (size_t)row * column_schema_value_bytes(&segment->made->table->columns[c]);
}

/* Reports a key without a matching row. The key's array no longer has it, so the row is made again. */
static enum status key_missing(const struct segment *segment, uint32_t c, uint32_t row, unsigned thread,
                               struct error *error)
{
    const struct made_table *const made = segment->made;
    void *columns[SCHEMA_COLUMNS_MAX] = {NULL};
    char text[ERROR_TEXT_BYTES], place[KEY_PLACE_BYTES], shown[32];
    int32_t key = 0;
    columns[c] = &key;
    made->maker->columns(made->maker->context, segment->first + row, 1, thread, columns);
    snprintf(place, sizeof place, "row %" PRIu64 " of table %s", segment->first + row + 1, made->table->name);
    snprintf(shown, sizeof shown, "%" PRId32, key);
    row_key_complaint(text, place, &made->table->columns[c], shown, made->options);
    return error_set(error, STATUS_BAD_INPUT, "%s", text);
}

/* Turns the keys of a range into positions. If NULL is allowed, a missing key becomes 0 and its validity
 * bit is cleared. */
static enum status resolve(struct segment *segment, uint32_t c, uint32_t first, uint32_t rows,
                           unsigned thread, struct error *error)
{
    const struct made_table *const made = segment->made;
    int32_t *const keys = value_at(segment, c, first);
    if (key_index_resolve(made->keys[c]->numbers, keys, rows) == 0)
        return STATUS_OK;
    for (uint32_t r = 0; r < rows; r++) {
        if (keys[r] >= 0)
            continue;
        if (!segment->validity[c])
            return key_missing(segment, c, first + r, thread, error);
        keys[r] = 0;
        segment->validity[c][(first + r) / 64] &= ~(UINT64_C(1) << (first + r) % 64);
    }
    atomic_store(&segment->nulls[c], true);
    return STATUS_OK;
}

static enum status fill_range(void *context, uint64_t range, unsigned thread, struct error *error)
{
    struct segment *segment = context;
    const struct made_table *const made = segment->made;
    const uint32_t first = (uint32_t)range * MADE_ROWS, rows = rows_at(first, segment->rows, MADE_ROWS);
    void *columns[SCHEMA_COLUMNS_MAX];
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t c = 0; c < made->table->column_count; c++)
        columns[c] = value_at(segment, c, first);
    made->maker->columns(made->maker->context, segment->first + first, rows, thread, columns);
    for (uint32_t c = 0; c < made->table->column_count; c++)
        if (made->keys[c])
            RETURN_IF_ERROR(resolve(segment, c, first, rows, thread, error));
    column_progress_add(&segment->progress, (uint64_t)rows * made->table->column_count);
    return STATUS_OK;
}

static enum status write_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct segment *segment = context;
    const uint32_t c = (uint32_t)item;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(table_writer_segment(
        segment->made->writer, c, (uint32_t)(segment->first / SEGMENT_ROWS), segment->values[c],
        atomic_load(&segment->nulls[c]) ? segment->validity[c] : NULL, error));
    column_progress_add(&segment->progress, segment->rows);
    return STATUS_OK;
}

static enum status find_cells(struct segment *segment, struct error *error)
{
    const struct clustering *const clustering = table_writer_clustering(segment->made->writer);
    struct cluster_values values[CLUSTER_TERMS_MAX];
    if (clustering->count == 0)
        return STATUS_OK;
    for (uint32_t t = 0; t < clustering->count; t++) {
        const uint32_t c = clustering->terms[t].column;
        values[t].values = segment->values[c];
        values[t].validity = atomic_load(&segment->nulls[c]) ? segment->validity[c] : NULL;
    }
    return table_writer_cells(segment->made->writer, (uint32_t)(segment->first / SEGMENT_ROWS), values,
                              segment->made->options->threads, error);
}

static enum status write_segment(struct segment *segment, struct error *error)
{
    const struct made_table *const made = segment->made;
    segment->rows = rows_at(segment->first, made->maker->rows, SEGMENT_ROWS);
    for (uint32_t c = 0; c < made->table->column_count; c++)
        if (segment->validity[c]) {
            memset(segment->validity[c], 0xff, ((size_t)segment->rows + 63) / 64 * sizeof(uint64_t));
            atomic_store(&segment->nulls[c], false);
        }
    RETURN_IF_ERROR(parallel_for(made->options->threads,
                                 ((uint64_t)segment->rows + MADE_ROWS - 1) / MADE_ROWS, fill_range, segment,
                                 error));
    RETURN_IF_ERROR(find_cells(segment, error));
    return parallel_for(made->options->threads, made->table->column_count, write_column, segment, error);
}

/* Allocates the segment's memory and sets the dictionaries. */
static enum status begin_columns(struct segment *segment, struct error *error)
{
    const struct made_table *const made = segment->made;
    const uint64_t rows = rows_at(0, made->maker->rows, SEGMENT_ROWS);
    for (uint32_t c = 0; c < made->table->column_count; c++) {
        const struct column_schema *const column = &made->table->columns[c];
        const uint64_t bytes = rows * column_schema_value_bytes(column);
        const bool nullable = made->keys[c] && column->nullable && made->options->dangling_null;
        segment->values[c] = malloc(bytes + 1);
        segment->validity[c] = nullable ? malloc((rows + 64) / 64 * sizeof(uint64_t)) : NULL;
        if (!segment->values[c] || (nullable && !segment->validity[c]))
            return error_out_of_memory(error, bytes * made->table->column_count, "a segment");
        if (column->type == TYPE_STRING)
            RETURN_IF_ERROR(table_writer_dictionary(made->writer, c, &made->maker->dictionaries[c], error));
    }
    return STATUS_OK;
}

enum status made_columns_write(const struct made_table *made, struct error *error)
{
    struct segment *segment = calloc(1, sizeof *segment);
    if (!segment)
        return error_out_of_memory(error, sizeof *segment, "a segment");
    segment->made = made;
    segment->progress.progress = made->progress;
    segment->progress.rows = made->maker->rows;
    segment->progress.values = 2 * made->maker->rows * made->table->column_count;
    column_progress_begin(&segment->progress, "loading", made->table->name);
    enum status status = begin_columns(segment, error);
    for (; segment->first < made->maker->rows && status == STATUS_OK; segment->first += SEGMENT_ROWS)
        status = write_segment(segment, error);
    for (uint32_t c = 0; c < made->table->column_count; c++) {
        free(segment->values[c]);
        free(segment->validity[c]);
    }
    free(segment);
    return status;
}
