/* compact.c: full segments instead of small ones, without deleted rows; see writer.h. An append of no rows (table_append.c), which
 * lets those segments stay that come before the first small file and the first deleted row.
 *
 * It takes the writers' lock twice, for a moment. First it takes a generation for its files and holds the state that it reads
 * (database_writer_reserve); then others may append and delete, while it writes. At last it puts its tables in the place of
 * the rows that it read (compact_merge.c). A table whose old rows were written again meanwhile is compacted once more, now
 * under the lock, so that this ends. */
#include "storage/database/clustering/clustering.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"
#include "storage/column/column_span.h"
#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/database/database_files.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* If old segments have NULLs alone, their stored values may be beyond those of the rows that stay; then the column is written
 * again. */
static enum status keep_nulls_in_range(struct table_writer *table, uint32_t c, struct error *error)
{
    struct column_statistics statistics;
    bool nulls = false;
    if (table->live)
        RETURN_IF_ERROR(segments_statistics(table->database->path, &table->old->columns[c], 0, table->kept,
                                            &statistics, &nulls, error));
    table->appended[c].recoded |= nulls;
    return STATUS_OK;
}

static enum status compact_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct compaction *const compaction = context;
    struct table_writer *const table = compaction->table;
    const uint32_t c = (uint32_t)item;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(keep_nulls_in_range(table, c, error));
    RETURN_IF_ERROR(copy_dictionary(table, c, error));
    const enum status status = table_append_old(table, c, error);
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

/* Tables that are laid out as a whole have full segments, and a part of a load has those of all rows. A table with a column of
 * deleted rows has some. */
static bool can_compact(const struct catalogue *catalogue, const struct table *table)
{
    const struct live_rows all = {.first = table->segment_count};
    const bool small = first_to_write(table, &all) + 1 < table->segment_count,
               loses = table_live(table) && !catalogue_has_positions(catalogue, table);
    return (small || loses) && !table->levels && !table->part.of;
}

struct request {
    const char *table; /* or NULL */
    unsigned threads;
    compact_report *report;
    void *context;
    struct progress *progress;
};

static bool is_wanted(const struct request *request, const struct catalogue *catalogue,
                      const struct table *table)
{
    return (!request->table || strcmp(table->name, request->table) == 0) && can_compact(catalogue, table);
}

static bool any_is_wanted(const struct request *request, const struct catalogue *catalogue)
{
    bool any = false;
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        any |= is_wanted(request, catalogue, &catalogue->tables[t]);
    return any;
}

/* The rows that stay: those that are live, or all. */
static enum status find_staying(const struct database_writer *writer, const struct table *old,
                                struct live_rows *live, struct error *error)
{
    *live = (struct live_rows){.rows = old->rows, .first = old->segment_count};
    return catalogue_has_positions(&writer->catalogue, old) ? STATUS_OK
                                                            : live_rows_read(writer->path, old, live, error);
}

static enum status compact_table(struct database_writer *writer, const struct table *old,
                                 const struct request *request, struct compacted_table *compacted,
                                 struct error *error)
{
    struct compaction compaction = {.progress = request->progress};
    RETURN_IF_ERROR(find_staying(writer, old, &compacted->live, error));
    const uint32_t columns = old->column_count - (compacted->live.bits != NULL);
    RETURN_IF_ERROR(table_append_add(writer, old, compacted->live.rows, columns,
                                     first_to_write(old, &compacted->live), &compaction.table, error));
    compacted->table = compaction.table;
    compaction.table->live = compacted->live.bits;
    if (catalogue_has_positions(&writer->catalogue, old)) /* its rows' positions are what others store */
        compaction.table->table.clustering = (struct clustering){0};
    enum status status = clustering_old(compaction.table, request->threads, error);
    status = AND_THEN(status, parallel_for(request->threads, columns, compact_column, &compaction, error));
    cell_places_free(compaction.table);
    compaction.table->live = NULL;
    return status;
}

static void free_compacted(struct compacted_table *compacted)
{
    while (compacted) {
        struct compacted_table *const next = compacted->next;
        free(compacted->live.bits);
        free(compacted);
        compacted = next;
    }
}

/* Compacts the tables of the reserved state. */
static enum status compact_all(struct database_writer *writer, const struct request *request,
                               struct compacted_table **list, struct error *error)
{
    for (uint32_t t = 0; t < writer->catalogue.table_count; t++) {
        struct compacted_table *compacted;
        if (!is_wanted(request, &writer->catalogue, &writer->catalogue.tables[t]))
            continue;
        RETURN_IF_ERROR(memory_zeros(&compacted, sizeof *compacted, "a compaction", error));
        compacted->next = *list;
        *list = compacted;
        RETURN_IF_ERROR(compact_table(writer, &writer->catalogue.tables[t], request, compacted, error));
    }
    return database_writer_finish(writer, error);
}

/* Merges a table, or compacts it again. */
static enum status take_table(struct database_writer *writer, const struct request *request,
                              struct compacted_table *compacted, bool *changed, struct error *error)
{
    const struct table *const now = catalogue_table(&writer->catalogue, compacted->table->table.name);
    struct compacted_table again = {0};
    bool merged;
    enum status status = compaction_merge(writer, compacted, &merged, error);
    if (status == STATUS_OK && !merged && now && can_compact(&writer->catalogue, now))
        status = compact_table(writer, now, request, &again, error);
    if (status == STATUS_OK && (merged || again.table)) {
        *changed = true;
        request->report(request->context, now, merged ? &compacted->table->table : &again.table->table);
    }
    free(again.live.bits);
    return status;
}

/* What was written is worth waiting for a load that has the lock for long. */
static enum status commit(const char *path, const struct request *request, struct compacted_table *list,
                          struct error *error)
{
    struct database_writer *writer;
    bool changed = false;
    RETURN_IF_ERROR(database_writer_wait(path, UINT_MAX, &writer, error));
    enum status status = STATUS_OK;
    for (struct compacted_table *table = list; table && status == STATUS_OK; table = table->next)
        status = take_table(writer, request, table, &changed, error);
    if (status == STATUS_OK && changed)
        return database_writer_commit(writer, error);
    database_writer_abort(writer);
    return status;
}

/* `compaction` is its lock. */
static enum status run(const char *path, const struct request *request, int compaction, struct error *error)
{
    struct database_writer *writer;
    struct compacted_table *list = NULL;
    int held = -1;
    RETURN_IF_ERROR(database_writer_open(path, &writer, error));
    enum status status = database_writer_reserve(writer, compaction, &held, error);
    status = AND_THEN(status, compact_all(writer, request, &list, error));
    status = AND_THEN(status, commit(path, request, list, error));
    free_compacted(list);
    database_writer_free(writer);
    if (held >= 0)
        close(held);
    return status;
}

enum status database_compact(const char *path, const char *table, unsigned threads, compact_report *report,
                             void *context, struct progress *progress, struct error *error)
{
    const struct request request = {
        .table = table, .threads = threads, .report = report, .context = context, .progress = progress};
    struct catalogue catalogue;
    int compaction;
    RETURN_IF_ERROR(
        catalogue_read(path, &catalogue, error)); /* a directory without one is not made a database */
    const bool found = !table || catalogue_table(&catalogue, table),
               wanted = any_is_wanted(&request, &catalogue);
    catalogue_free(&catalogue);
    if (!found)
        return error_set(error, STATUS_BAD_INPUT, "database %s has no table \"%s\"", path, table);
    if (!wanted)
        return STATUS_OK;
    RETURN_IF_ERROR(compaction_lock(path, &compaction, error));
    const enum status status = run(path, &request, compaction, error);
    compaction_unlock(path, compaction);
    database_clean_current(path);
    return status;
}
