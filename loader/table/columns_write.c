/* columns_write.c: see columns_write.h. */
#include "loader/table/columns_write.h"

#include "storage/base/memory.h"

#include <stdlib.h>

static bool has_words(const struct parsed_table *parsed, uint32_t c)
{
    return c < parsed->table->column_count && parsed->words[c];
}

/* Makes the dictionary of a column of strings. */
static enum status dictionary_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct columns_write *all = context;
    const uint32_t c = (uint32_t)item;
    (void)thread;
    if (!has_words(all->parsed, c))
        return STATUS_OK;
    RETURN_IF_ERROR(word_codes_make(all->parsed, c, all->old ? &all->old->columns[c] : NULL, true,
                                    &all->words[c], error));
    RETURN_IF_ERROR(table_writer_dictionary(all->writer, c, &all->words[c].dictionary, error));
    column_progress_add(&all->progress, all->parsed->rows);
    return STATUS_OK;
}

static struct column_write column_write_of(struct columns_write *all, uint32_t c, unsigned thread,
                                           struct column_buffers *buffers, uint64_t first, uint64_t end)
{
    return (struct column_write){.parsed = all->parsed,
                                 .writer = all->writer,
                                 .column = c,
                                 .narrow = c == all->narrow,
                                 .thread = thread,
                                 .buffers = buffers,
                                 .words = has_words(all->parsed, c) ? &all->words[c] : NULL,
                                 .first_segment = all->first_segment,
                                 .first = first,
                                 .end = end,
                                 .progress = &all->progress};
}

static enum status write_segments(struct columns_write *all, uint32_t c, unsigned thread, uint64_t first,
                                  uint64_t end, struct error *error)
{
    struct column_write write = column_write_of(all, c, thread, &all->buffers[thread], first, end);
    write.appends = all->old && all->old->rows;
    return column_write_segments(&write, error);
}

/* A whole column. */
static enum status column_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct columns_write *all = context;
    RETURN_IF_ERROR(dictionary_item(context, all->order[item], thread, error));
    return write_segments(all, all->order[item], thread, 0, all->parsed->rows, error);
}

static enum status ordered_dictionary_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct columns_write *const all = context;
    return dictionary_item(context, all->order[item], thread, error);
}

/* Puts columns with the most strings first. One thread makes a dictionary, and so much of it may take longer than all
 * other columns. */
static enum status order_columns(struct columns_write *all, uint32_t columns, struct error *error)
{
    RETURN_IF_ERROR(memory_take(&all->order, columns * sizeof *all->order, "columns", error));
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t at = c;
        for (;
             at > 0 && parsed_word_count(all->parsed, all->order[at - 1]) < parsed_word_count(all->parsed, c);
             at--)
            all->order[at] = all->order[at - 1];
        all->order[at] = c;
    }
    return STATUS_OK;
}

/* A segment of a column. The first segments of all columns come first, because a chooser decides on them. */
static enum status segment_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct columns_write *all = context;
    const uint32_t columns = schema_columns(all->parsed->table);
    const uint64_t first = item / columns * SEGMENT_ROWS, left = all->parsed->rows - first;
    return write_segments(all, (uint32_t)(item % columns), thread, first,
                          first + (left < SEGMENT_ROWS ? left : SEGMENT_ROWS), error);
}

/* ---- Clustered tables ---- */

/* The values of the columns that make the cells of a segment. They are done with before any thread writes a column, so
 * they are in the threads' buffers, as far as there are enough of these. */
struct cell_columns {
    struct columns_write *all;
    const struct clustering *clustering;
    uint64_t first, end; /* rows */
    struct column_buffers *buffers[CLUSTER_TERMS_MAX], more[CLUSTER_TERMS_MAX];
    bool nulls[CLUSTER_TERMS_MAX];
};

static enum status cell_column_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct cell_columns *const cells = context;
    const struct column_write write = column_write_of(cells->all, cells->clustering->terms[item].column,
                                                      thread, cells->buffers[item], cells->first, cells->end);
    return column_read_segment(&write, &cells->nulls[item], error);
}

/* What comes before the first segment of a column: its dictionary, and old rows, which keep their segments. */
static enum status begin_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct columns_write *const all = context;
    struct old_rows old = {0};
    RETURN_IF_ERROR(dictionary_item(context, item, thread, error));
    if (all->old && all->old->rows)
        RETURN_IF_ERROR(table_writer_old(all->writer, (uint32_t)item, NULL, NULL, &old, error));
    if (item == 0)
        all->first_segment = old.segment;
    return STATUS_OK;
}

static enum status clustered_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct cell_columns *const cells = context;
    const struct column_write write = column_write_of(cells->all, (uint32_t)item, thread,
                                                      &cells->all->buffers[thread], cells->first, cells->end);
    return column_write_segments(&write, error);
}

/* Writes a segment of a clustered table: its cells first, from the columns that make them. */
static enum status write_clustered(struct cell_columns *cells, uint32_t segment, unsigned threads,
                                   struct error *error)
{
    struct cluster_values values[CLUSTER_TERMS_MAX];
    const uint32_t count = cells->clustering->count;
    RETURN_IF_ERROR(parallel_for(threads, count, cell_column_item, cells, error));
    for (uint32_t t = 0; t < count; t++)
        values[t] = (struct cluster_values){.values = cells->buffers[t]->values,
                                            .validity = cells->nulls[t] ? cells->buffers[t]->validity : NULL};
    RETURN_IF_ERROR(table_writer_cells(cells->all->writer, segment, values, threads, error));
    return parallel_for(threads, schema_columns(cells->all->parsed->table), clustered_item, cells, error);
}

static enum status write_cells(struct columns_write *all, unsigned threads, struct error *error)
{
    const uint64_t rows = all->parsed->rows;
    struct cell_columns cells = {.all = all, .clustering = table_writer_clustering(all->writer)};
    for (uint32_t t = 0; t < cells.clustering->count; t++)
        cells.buffers[t] = t < threads ? &all->buffers[t] : &cells.more[t];
    enum status status = parallel_for(threads, schema_columns(all->parsed->table), begin_item, all, error);
    for (; status == STATUS_OK && cells.first < rows; cells.first = cells.end) {
        cells.end = rows - cells.first < SEGMENT_ROWS ? rows : cells.first + SEGMENT_ROWS;
        status = write_clustered(&cells, all->first_segment + (uint32_t)(cells.first / SEGMENT_ROWS), threads,
                                 error);
    }
    for (uint32_t t = 0; t < cells.clustering->count; t++)
        column_buffers_free(&cells.more[t]);
    return status;
}

/* ---- All columns ---- */

/* Old rows are read column by column, so a table that has any is written so, too; and one of a single segment,
 * so that dictionaries are made while other columns are written. */
static enum status write_in_order(struct columns_write *all, unsigned threads, struct error *error)
{
    const uint64_t columns = schema_columns(all->parsed->table),
                   segments = (all->parsed->rows + SEGMENT_ROWS - 1) / SEGMENT_ROWS;
    if (table_writer_clustering(all->writer)->count)
        return write_cells(all, threads, error);
    if ((all->old && all->old->rows) || segments <= 1)
        return parallel_for(threads, columns, column_item, all, error);
    RETURN_IF_ERROR(parallel_for(threads, columns, ordered_dictionary_item, all, error));
    return parallel_for(threads, columns * segments, segment_item, all, error);
}

enum status columns_write_all(struct columns_write *all, unsigned threads, struct error *error)
{
    enum status status = order_columns(all, schema_columns(all->parsed->table), error);
    status = AND_THEN(status, memory_zeros(&all->buffers, threads * sizeof *all->buffers, "threads", error));
    status = AND_THEN(status, write_in_order(all, threads, error));
    for (unsigned t = 0; all->buffers && t < threads; t++)
        column_buffers_free(&all->buffers[t]);
    free(all->buffers);
    free(all->order);
    return status;
}
