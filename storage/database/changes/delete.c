/* delete.c: marks rows as deleted; see writer.h. A table with deleted rows has one column more, of booleans, which statements
 * test like any other: codecs, statistics of tiles and both devices know nothing of deletes. Rows keep their positions, and
 * no live row has the position of a deleted one. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/column/column_span.h"
#include "storage/column/levels_file.h"
#include "storage/database/database_files.h"
#include "storage/database/changes/live_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which rows may be deleted ---- */

static enum status refuse(const struct table *table, const char *why, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT, "rows of table %s cannot be deleted: %s", table->name, why);
}

/* Refuses rows that live ones of another table reference, or of the same table. */
static enum status check_reference(const struct database_writer *writer, const struct column *key,
                                   const struct live_rows *after, struct error *error)
{
    const struct table *const own = key->table, *const table = key->references->table;
    struct live_rows others = {0};
    uint64_t count = 0;
    if (own->part.of)
        return refuse(table,
                      "a table that is a part of a load references it, and other parts may reference these "
                      "rows; load all parts again",
                      error);
    enum status status = own == table ? STATUS_OK : live_rows_read(writer->path, own, &others, error);
    status = AND_THEN(
        status, live_rows_dangling(writer->path, key, own == table ? after : &others, after, &count, error));
    free(others.bits);
    if (status != STATUS_OK || !count)
        return status;
    const uint32_t named = key->schema.of.count ? key->schema.of.columns[0] : (uint32_t)(key - own->columns);
    return error_set(error, STATUS_BAD_INPUT,
                     "rows of table %s cannot be deleted: %" PRIu64
                     " row%s of table %s (column %s%s) reference%s them; delete those first, or except rows "
                     "that are referenced in the condition",
                     table->name, count, count == 1 ? "" : "s", own->name, own->columns[named].schema.name,
                     key->schema.of.count > 1 ? " and others" : "", count == 1 ? "s" : "");
}

static enum status check_references(const struct database_writer *writer, const struct table *table,
                                    const struct live_rows *after, struct error *error)
{
    for (uint32_t t = 0; t < writer->catalogue.table_count; t++)
        for (uint32_t c = 0; c < writer->catalogue.tables[t].column_count; c++) {
            const struct column *const key = &writer->catalogue.tables[t].columns[c];
            if (key->references && key->references->table == table)
                RETURN_IF_ERROR(check_reference(writer, key, after, error));
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

struct marking {
    struct table_writer *table;
    const uint64_t *live;
};

static enum status write_segment(void *context, uint64_t segment, unsigned thread, struct error *error)
{
    const struct marking *const marking = context;
    struct segment_buffers *const buffers = &marking->table->database->buffers;
    const uint32_t *const rows = marking->table->table.segment_rows;
    uint64_t first = 0;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    for (uint64_t s = 0; s < segment; s++)
        first += rows[s];
    int32_t *const values = segment_buffers_take(
        buffers, ((size_t)rows[segment] + TILE_ROWS) * sizeof *values, "a segment of a deletion", error);
    if (!values)
        return STATUS_MACHINE;
    for (uint32_t r = 0; r < rows[segment]; r++)
        values[r] = row_valid(marking->live, first + r);
    const enum status status =
        table_writer_segment(marking->table, 0, (uint32_t)segment, values, NULL, error);
    segment_buffers_give(buffers, values);
    return status;
}

static enum status write_later(void *context, uint64_t item, unsigned thread, struct error *error)
{
    return write_segment(context, item + 1, thread, error);
}

/* The codec is chosen on the first segment, so it comes before the others. */
static enum status write_all(struct table_writer *table, const uint64_t *live, struct error *error)
{
    struct marking marking = {.table = table, .live = live};
    const uint32_t segments = table->table.segment_count;
    if (segments == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(write_segment(&marking, 0, 0, error));
    return parallel_for(0, segments - 1, write_later, &marking, error);
}

/* Reads which rows are live, and leaves these out. */
static enum status mark(const struct database_writer *writer, const struct table *table, const uint64_t *rows,
                        uint64_t count, struct live_rows *live, struct error *error)
{
    RETURN_IF_ERROR(live_rows_read(writer->path, table, live, error));
    RETURN_IF_ERROR(live_rows_make(table, live, error));
    for (uint64_t i = 0; i < count; i++)
        live->bits[rows[i] / 64] &= ~(UINT64_C(1) << rows[i] % 64);
    return STATUS_OK;
}

static enum status write_live(struct database_writer *writer, const struct table *table,
                              const struct live_rows *live, struct error *error)
{
    struct key_rewrite *rewrite;
    RETURN_IF_ERROR(begin(writer, table, &rewrite, error));
    return write_all(rewrite->table, live->bits, error);
}

enum status table_delete_rows(struct database_writer *writer, const struct table *table, const uint64_t *rows,
                              uint64_t count, struct error *error)
{
    struct live_rows live = {0};
    enum status status = mark(writer, table, rows, count, &live, error);
    status = AND_THEN(status, write_live(writer, table, &live, error));
    free(live.bits);
    return status;
}

static enum status delete_marked(struct database_writer *writer, const struct table *table,
                                 const uint64_t *rows, uint64_t count, struct live_rows *live,
                                 struct error *error)
{
    RETURN_IF_ERROR(mark(writer, table, rows, count, live, error));
    RETURN_IF_ERROR(levels_fill(writer->path, (struct table *)table, error));
    RETURN_IF_ERROR(check_references(writer, table, live, error));
    return write_live(writer, table, live, error);
}

static enum status delete_rows(struct database_writer *writer, const struct table *table,
                               const uint64_t *rows, uint64_t count, struct error *error)
{
    struct live_rows live = {0};
    if (table->part.of)
        return refuse(table, "it is a part of a load; load all parts again", error);
    const enum status status = delete_marked(writer, table, rows, count, &live, error);
    free(live.bits);
    return status;
}

enum status database_writer_delete(struct database_writer *writer, const char *name, const uint64_t *rows,
                                   uint64_t count, struct error *error)
{
    const struct table *const table = catalogue_table(&writer->catalogue, name);
    if (!table)
        return error_set(error, STATUS_BAD_INPUT, "%s has no table %.63s", writer->path, name);
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(delete_rows(writer, table, rows, count, error));
    return database_writer_advance(writer, error);
}

enum status database_delete(const char *path, const struct table *table, const uint64_t *rows, uint64_t count,
                            struct error *error)
{
    struct database_writer *writer;
    const struct table *now;
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(database_writer_open(path, &writer, error));
    enum status status = find_current(writer, table, &now, error);
    status = AND_THEN(status, delete_rows(writer, now, rows, count, error));
    if (status == STATUS_OK)
        return database_writer_commit(writer, error);
    database_writer_abort(writer);
    return status;
}
