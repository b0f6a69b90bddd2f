/* compact.c: full segments instead of small ones, without deleted rows; see writer.h. An append of no rows (table_append.c), which
 * lets those segments stay that come before the first small file and the first deleted row. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/column/column_span.h"
#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/database/database_files.h"
#include "storage/database/live_rows.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct compaction {
    struct table_writer *table;
    struct progress *progress;
    atomic_uint_fast64_t done; /* columns */
};

static enum status copy_dictionary(struct table_writer *table, uint32_t c, struct error *error)
{
    const struct column *const old = &table->old->columns[c];
    struct stored_dictionary strings;
    if (!column_has_dictionary(&old->schema))
        return STATUS_OK;
    stored_dictionary_begin(table->database->path, old, &strings);
    enum status status = stored_dictionary_load(&strings, 1, error);
    status = AND_THEN(status, table_writer_dictionary(table, c, &strings.dictionary, error));
    stored_dictionary_close(&strings);
    return status;
}

static enum status compact_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct compaction *const compaction = context;
    struct table_writer *const table = compaction->table;
    const uint32_t c = (uint32_t)item;
    const uint64_t most = table_writer_old_most(table);
    struct old_rows left;
    uint64_t *validity = NULL;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(copy_dictionary(table, c, error));
    void *const values = segment_buffer(most * table->table.columns[c].value_bytes, "a segment", error);
    enum status status = values ? STATUS_OK : STATUS_MACHINE;
    status =
        AND_THEN(status, memory_take(&validity, (most + 63) / 64 * sizeof *validity, "a segment", error));
    status = AND_THEN(status, table_writer_old(table, c, values, validity, &left, error));
    if (status == STATUS_OK && left.rows)
        status = table_writer_segment(table, c, left.segment, values, left.nulls ? validity : NULL, error);
    free(validity);
    free(values);
    progress_report(compaction->progress, "compacting", "columns", atomic_fetch_add(&compaction->done, 1) + 1,
                    table->table.column_count);
    return status;
}

/* The files of the column that has most of them: those of others end where these do. */
static const struct column_spans *most_files(const struct table *table)
{
    const struct column_spans *most = &table->columns[0].sides;
    for (uint32_t c = 1; c < table->column_count; c++)
        if (table->columns[c].sides.count > most->count)
            most = &table->columns[c].sides;
    return most;
}

/* Rows that others reference keep their positions, and tables with levels are laid out as a whole: their deleted rows stay. */
static bool keeps_deleted(const struct database_writer *writer, const struct table *table)
{
    bool keeps = table->levels != NULL;
    for (uint32_t t = 0; t < writer->catalogue.table_count; t++) {
        const struct table *const other = &writer->catalogue.tables[t];
        for (uint32_t c = 0; c < other->column_count; c++)
            keeps |= strcmp(other->columns[c].schema.references_table, table->name) == 0;
    }
    return keeps;
}

/* The first segment of the first file that has fewer rows than a segment can have, or deleted ones. Other files stay, although
 * their last segment may be small: they would have to be written again as a whole. */
static uint32_t first_to_write(const struct table *table, const struct live_rows *live)
{
    const struct column_spans *const files = most_files(table);
    uint32_t i = 0;
    while (i < files->count && span_rows(table, &files->list[i]) >= SEGMENT_ROWS &&
           files->list[i].first + files->list[i].count <= live->first)
        i++;
    return i < files->count ? files->list[i].first : table->segment_count;
}

/* Tables that are laid out as a whole have full segments, and a part of a load has those of all rows. */
static bool can_compact(const struct table *table, const struct live_rows *live)
{
    const bool small = first_to_write(table, live) + 1 < table->segment_count;
    return (small || live->rows < table->rows) && !table->levels && !table->part.of;
}

struct request {
    const char *table; /* or NULL */
    unsigned threads;
    compact_report *report;
    void *context;
    struct progress *progress;
};

/* The rows that stay: those that are live, or all. */
static enum status find_staying(const struct database_writer *writer, const struct table *old,
                                struct live_rows *live, struct error *error)
{
    *live = (struct live_rows){.rows = old->rows, .first = old->segment_count};
    return keeps_deleted(writer, old) ? STATUS_OK : live_rows_read(writer->path, old, live, error);
}

static enum status compact_table(struct database_writer *writer, const struct table *old,
                                 const struct live_rows *live, const struct request *request,
                                 struct error *error)
{
    struct compaction compaction = {.progress = request->progress};
    const uint32_t columns = old->column_count - (live->bits != NULL);
    RETURN_IF_ERROR(table_append_add(writer, old, live->rows, columns, first_to_write(old, live),
                                     &compaction.table, error));
    compaction.table->live = live->bits;
    const enum status status = parallel_for(request->threads, columns, compact_column, &compaction, error);
    compaction.table->live = NULL;
    RETURN_IF_ERROR(status);
    request->report(request->context, old, &compaction.table->table);
    return STATUS_OK;
}

static enum status compact_all(struct database_writer *writer, const struct request *request, bool *changed,
                               struct error *error)
{
    enum status status = STATUS_OK;
    for (uint32_t t = 0; status == STATUS_OK && t < writer->catalogue.table_count; t++) {
        const struct table *const old = &writer->catalogue.tables[t];
        struct live_rows live;
        if (request->table && strcmp(old->name, request->table) != 0)
            continue;
        status = find_staying(writer, old, &live, error);
        if (status == STATUS_OK && can_compact(old, &live)) {
            *changed = true;
            status = compact_table(writer, old, &live, request, error);
        }
        free(live.bits);
    }
    return status;
}

enum status database_compact(const char *path, const char *table, unsigned threads, compact_report *report,
                             void *context, struct progress *progress, struct error *error)
{
    const struct request request = {
        .table = table, .threads = threads, .report = report, .context = context, .progress = progress};
    struct database_writer *writer;
    struct catalogue catalogue;
    bool changed = false;
    RETURN_IF_ERROR(
        catalogue_read(path, &catalogue, error)); /* a directory without one is not made a database */
    catalogue_free(&catalogue);
    RETURN_IF_ERROR(database_writer_open(path, &writer, error));
    enum status status = STATUS_OK;
    if (table && !database_writer_old(writer, table))
        status = error_set(error, STATUS_BAD_INPUT, "database %s has no table \"%s\"", path, table);
    status = AND_THEN(status, compact_all(writer, &request, &changed, error));
    if (status == STATUS_OK && changed)
        return database_writer_commit(writer, error);
    database_writer_abort(writer);
    return status;
}
