/* delete.c: marks rows as deleted; see writer.h. A table with deleted rows has one column more, of booleans, which statements
 * test like any other: codecs, statistics of tiles and both devices know nothing of deletes. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"
#include "storage/column/column_span.h"
#include "storage/database/database_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct deletion {
    struct table_writer *table;
    const struct column_data *before; /* NULL: no row was deleted until now */
    const uint64_t *rows;             /* ascending */
    uint64_t count;
};

static enum status refuse(const struct table *table, const char *why, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT, "rows of table %s cannot be deleted: %s", table->name, why);
}

/* Positions in a table that others reference are their keys. */
static enum status check_table(const struct database_writer *writer, const struct table *table,
                               struct error *error)
{
    char why[2 * NAME_BYTES + 64];
    if (table->part.of)
        return refuse(table, "it is a part of a load; load all parts again", error);
    if (table->levels)
        return refuse(table, "its rows are in the order of levels; load it again with --levels TABLE=none",
                      error);
    for (uint32_t t = 0; t < writer->catalogue.table_count; t++) {
        const struct table *const other = &writer->catalogue.tables[t];
        for (uint32_t c = 0; c < other->column_count; c++)
            if (strcmp(other->columns[c].schema.references_table, table->name) == 0) {
                snprintf(why, sizeof why, "table %s references it; load it again without them", other->name);
                return refuse(table, why, error);
            }
    }
    return STATUS_OK;
}

/* The rows were found in a state of the table, which must be the current one. */
static enum status find_current(const struct database_writer *writer, const struct table *seen,
                                const struct table **table, struct error *error)
{
    *table = catalogue_table(&writer->catalogue, seen->name);
    bool same = *table && (*table)->column_count == seen->column_count && (*table)->rows == seen->rows;
    for (uint32_t c = 0; same && c < seen->column_count; c++)
        same = spans_equal(&(*table)->columns[c].sides, &seen->columns[c].sides);
    return same ? STATUS_OK
                : error_set(error, STATUS_BAD_INPUT,
                            "table %s of database %s was changed since it was opened; delete again",
                            seen->name, writer->path);
}

/* A name that no column has. */
static void name_column(const struct table *table, char name[NAME_BYTES])
{
    const struct column *found;
    memcpy(name, "live", 5);
    for (unsigned number = 2; table_column(table, name, &found, NULL) == STATUS_OK; number++)
        snprintf(name, NAME_BYTES, "live %u", number);
}

static enum status begin(struct database_writer *writer, const struct table *table,
                         struct key_rewrite **rewrite, struct error *error)
{
    const struct column *const live = table_live(table);
    struct column_schema schema = {.type = TYPE_BOOL, .live = true};
    if (live)
        schema = live->schema;
    else
        name_column(table, schema.name);
    RETURN_IF_ERROR(tables_check(writer->path, table->name, error));
    RETURN_IF_ERROR(memory_zeros(rewrite, sizeof **rewrite, "a deletion", error));
    (*rewrite)->column = live;
    (*rewrite)->old = *table;
    (*rewrite)->written = true;
    (*rewrite)->next = writer->rewrites;
    writer->rewrites = *rewrite;
    RETURN_IF_ERROR(
        table_writer_create(writer, table->name, &schema, 1, table->rows, &(*rewrite)->table, error));
    return table_writer_segments((*rewrite)->table, table->segment_rows, table->segment_count, error);
}

static enum status write_segment(const struct deletion *deletion, uint32_t segment, uint64_t first,
                                 int32_t *values, struct error *error)
{
    const uint32_t rows = deletion->table->table.segment_rows[segment];
    RETURN_IF_ERROR(cancel_check(error));
    for (uint32_t r = 0; r < rows; r++)
        values[r] = 1;
    if (deletion->before) {
        const struct chunk_view *const chunk = &deletion->before->segments[segment].chunk;
        RETURN_IF_ERROR(chunk_decode(chunk, 0, chunk->tiles, values, error));
    }
    for (uint64_t i = 0; i < deletion->count; i++)
        values[deletion->rows[i] - first] = 0;
    return table_writer_segment(deletion->table, 0, segment, values, NULL, error);
}

/* The rows of each segment follow those of the one before. */
static enum status write_all(struct deletion deletion, struct error *error)
{
    const struct table *const table = &deletion.table->table;
    uint64_t first = 0;
    uint32_t most = 0;
    for (uint32_t s = 0; s < table->segment_count; s++)
        most = table->segment_rows[s] > most ? table->segment_rows[s] : most;
    int32_t *const values =
        segment_buffer(((size_t)most + TILE_ROWS) * sizeof *values, "a segment of a deletion", error);
    enum status status = values ? STATUS_OK : STATUS_MACHINE;
    for (uint32_t s = 0; status == STATUS_OK && s < table->segment_count; s++) {
        struct deletion here = deletion;
        here.count = 0;
        while (here.count < deletion.count && deletion.rows[here.count] - first < table->segment_rows[s])
            here.count++;
        status = write_segment(&here, s, first, values, error);
        deletion.rows += here.count;
        deletion.count -= here.count;
        first += table->segment_rows[s];
    }
    free(values);
    return status;
}

static enum status delete_rows(struct database_writer *writer, const struct table *seen, const uint64_t *rows,
                               uint64_t count, struct error *error)
{
    const struct table *table;
    struct key_rewrite *rewrite;
    struct column_data *before = NULL;
    RETURN_IF_ERROR(find_current(writer, seen, &table, error));
    RETURN_IF_ERROR(check_table(writer, table, error));
    RETURN_IF_ERROR(begin(writer, table, &rewrite, error));
    if (rewrite->column)
        RETURN_IF_ERROR(
            column_data_read(writer->path, rewrite->column, rewrite->column->own, 0, &before, error));
    const enum status status = write_all(
        (struct deletion){.table = rewrite->table, .before = before, .rows = rows, .count = count}, error);
    column_data_free(before);
    return status;
}

enum status database_delete(const char *path, const struct table *table, const uint64_t *rows, uint64_t count,
                            struct error *error)
{
    struct database_writer *writer;
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(database_writer_open(path, &writer, error));
    const enum status status = delete_rows(writer, table, rows, count, error);
    if (status == STATUS_OK)
        return database_writer_commit(writer, error);
    database_writer_abort(writer);
    return status;
}
