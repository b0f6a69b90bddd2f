/* index_change.c: builds and drops bitmap indexes; see writer.h.
 *
 * An index is built from the column's own encoding. It is one new file and a new catalogue, as a further encoding is
 * (encode.c); dropping it is a new catalogue, after which nobody names the file. An append adds a file with the bins that the
 * index has; its old values are not read. */
#include "storage/database/writer_internal.h"

#include "storage/column/column_data.h"
#include "storage/database/database_files.h"
#include "storage/index/index_file.h"

#include <stdlib.h>
#include <string.h>

enum status column_index_build(const char *directory, struct column *column, struct index_wish wish,
                               uint64_t generation, unsigned threads, struct progress *progress,
                               struct error *error)
{
    struct column_data *data;
    struct column_index *index;
    RETURN_IF_ERROR(column_data_read(directory, column, column->own, threads, &data, error));
    const enum status status =
        index_file_write(directory, data, wish, generation, threads, progress, &index, error);
    column_data_free(data);
    if (status == STATUS_OK)
        column->index = index;
    return status;
}

static uint64_t rows_from(const struct table *table, uint32_t segment)
{
    uint64_t rows = 0;
    for (; segment < table->segment_count; segment++)
        rows += table->segment_rows[segment];
    return rows;
}

/* Whether the bins that were chosen still do: they were by at least half of the rows, and NULLs need no other vector. */
static bool bins_do(const struct column *column, const struct column_index *before, uint64_t nulls)
{
    const struct table *const table = column->table;
    return before->bin_count && (nulls > 0) == (column->statistics.nulls > 0) &&
           rows_from(table, before->files.list[0].count) <= table->rows / 2;
}

enum status column_index_extend(const char *directory, struct column *column,
                                const struct column_index *before, uint64_t nulls, uint64_t generation,
                                struct error *error)
{
    const struct column_span *const last = &before->files.list[before->files.count - 1];
    const uint32_t first = last->first + last->count;
    struct column_view view = {0};
    struct column_data *data = NULL;
    struct column_index *index = NULL;
    if (!bins_do(column, before, nulls) || first == column->table->segment_count)
        return column_index_build(directory, column, before->wish, generation, 0, NULL, error);
    enum status status = column_view_open(directory, column, first, &view, error);
    status = AND_THEN(status, column_data_read(directory, &view.column, view.column.own, 0, &data, error));
    status = AND_THEN(status, index_file_extend(directory, data, before, generation, 0, NULL, &index, error));
    column_data_free(data);
    column_view_close(&view);
    if (status == STATUS_OK)
        column->index = index;
    return status;
}

/* ---- In a change of tables ---- */

enum status table_writer_index(struct table_writer *table, uint32_t column, struct index_wish wish,
                               struct error *error)
{
    RETURN_IF_ERROR(table_writer_column(table, column, error));
    table->columns[column].indexed = true;
    table->columns[column].wish = wish;
    return STATUS_OK;
}

enum status table_writer_finish_index(struct table_writer *table, uint32_t column, struct error *error)
{
    const struct column_writer *const writer = &table->columns[column];
    const struct column *const old = table->old ? &table->old->columns[column] : NULL;
    if (!writer->indexed)
        return STATUS_OK;
    if (table_append_keeps(table, column) && table->kept == table->old->segment_count && old->index &&
        memcmp(&old->index->wish, &writer->wish, sizeof writer->wish) == 0)
        return column_index_extend(table->database->path, (struct column *)&table->table.columns[column],
                                   old->index, old->statistics.nulls, table->database->generation, error);
    return column_index_build(table->database->path, (struct column *)&table->table.columns[column],
                              writer->wish, table->database->generation, 0, NULL, error);
}

/* ---- On its own ---- */

struct index_change {
    const char *path, *table, *column;
    bool drop;
    struct index_wish wish;
    unsigned threads;
    struct progress *progress;
};

static enum status find_column(const struct index_change *change, const struct catalogue *catalogue,
                               struct column **column, struct error *error)
{
    const struct table *const table = catalogue_table(catalogue, change->table);
    const struct column *found;
    if (!table)
        return error_set(error, STATUS_BAD_INPUT, "database %s has no table \"%s\"", change->path,
                         change->table);
    RETURN_IF_ERROR(table_column(table, change->column, &found, error));
    *column = (struct column *)found;
    if (change->drop && !found->index)
        return error_set(error, STATUS_BAD_INPUT, "column %s.%s has no index", change->table, change->column);
    if (!change->drop && found->index)
        return error_set(error, STATUS_BAD_INPUT,
                         "column %s.%s has an index already; drop it first (`tessera index drop`)",
                         change->table, change->column);
    return STATUS_OK;
}

static enum status sync_table(const struct index_change *change, struct error *error)
{
    char *path = NULL;
    RETURN_IF_ERROR(table_path(change->path, change->table, &path, error));
    const enum status status = directory_sync(path, error);
    free(path);
    return status;
}

static enum status change_catalogue(const struct index_change *change, struct catalogue *catalogue,
                                    struct error *error)
{
    struct column *column = NULL;
    bool visible = false;
    RETURN_IF_ERROR(find_column(change, catalogue, &column, error));
    RETURN_IF_ERROR(tables_check(change->path, change->table, error));
    database_clean(change->path, catalogue);
    catalogue->generation++;
    if (change->drop) {
        column_index_free(column->index);
        column->index = NULL;
    } else {
        RETURN_IF_ERROR(column_index_build(change->path, column, change->wish, catalogue->generation,
                                           change->threads, change->progress, error));
        RETURN_IF_ERROR(sync_table(change, error));
    }
    return catalogue_write(change->path, catalogue, &visible, error);
}

static enum status run_change(const struct index_change *change, struct error *error)
{
    struct catalogue catalogue, committed;
    int lock = -1;
    /* Read it first: where there is no database, no lock file is made. */
    RETURN_IF_ERROR(catalogue_read(change->path, &catalogue, error));
    catalogue_free(&catalogue);
    RETURN_IF_ERROR(database_lock(change->path, LOCK_WAIT_MS, &lock, error));
    enum status status = catalogue_read(change->path, &catalogue, error);
    if (status == STATUS_OK) {
        status = change_catalogue(change, &catalogue, error);
        /* The files of a failure go, or that of the dropped index. */
        if (catalogue_read(change->path, &committed, NULL) == STATUS_OK) {
            database_clean(change->path, &committed);
            catalogue_free(&committed);
        }
    }
    catalogue_free(&catalogue);
    database_unlock(lock);
    return status;
}

enum status database_index_create(const char *path, const char *table, const char *column,
                                  struct index_wish wish, unsigned threads, struct progress *progress,
                                  struct error *error)
{
    const struct index_change change = {.path = path,
                                        .table = table,
                                        .column = column,
                                        .wish = wish,
                                        .threads = threads,
                                        .progress = progress};
    return run_change(&change, error);
}

enum status database_index_drop(const char *path, const char *table, const char *column, struct error *error)
{
    const struct index_change change = {.path = path, .table = table, .column = column, .drop = true};
    return run_change(&change, error);
}
