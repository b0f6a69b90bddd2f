/* commit.c: makes a writer's change visible; see database_writer.c. */
#include "storage/database/writer_internal.h"

#include "storage/database/database_files.h"
#include "storage/database/database_internal.h"

#include <stdlib.h>
#include <string.h>

/* The number of files that are synced to disk at the same time: enough to fill a device's queue, for any
 * number of cores. */
#define FINISH_THREADS 16u

static const struct table_writer *new_table(const struct database_writer *writer, const char *name)
{
    for (const struct table_writer *table = writer->tables; table; table = table->next)
        if (strcmp(table->table.name, name) == 0)
            return table;
    return NULL;
}

/* A table that is not replaced has positions of the tables that it references. If one of those is
 * replaced, the positions would mean other rows; this is refused. */
static enum status check_references(const struct database_writer *writer, struct error *error)
{
    for (uint32_t t = 0; t < writer->catalogue.table_count; t++) {
        const struct table *table = &writer->catalogue.tables[t];
        if (new_table(writer, table->name))
            continue;
        for (uint32_t c = 0; c < table->column_count; c++) {
            const char *referenced = table->columns[c].schema.references_table;
            const struct table_writer *changed = referenced[0] ? new_table(writer, referenced) : NULL;
            if (changed && !changed->old)
                return error_set(error, STATUS_BAD_INPUT,
                                 "table %s cannot be replaced alone: column %s.%s holds positions in it; "
                                 "load %s together with it",
                                 referenced, table->name, table->columns[c].schema.name, table->name);
        }
    }
    return STATUS_OK;
}

struct finish_item {
    struct table_writer *table;
    uint32_t column;
};

static enum status finish_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    const struct finish_item *items = context;
    RETURN_IF_ERROR(cancel_check(error));
    return table_writer_finish_column(items[item].table, items[item].column, error);
}

/* Files are finished in parallel, because each file's fsync waits for the disk. */
static enum status finish_columns(struct database_writer *writer, struct error *error)
{
    size_t count = 0, used = 0;
    for (struct table_writer *table = writer->tables; table; table = table->next)
        count += table->table.column_count;
    for (const struct key_rewrite *rewrite = writer->rewrites; rewrite; rewrite = rewrite->next)
        count++;
    struct finish_item *items = calloc(count + 1, sizeof *items);
    if (!items)
        return error_out_of_memory(error, count * sizeof *items, "a commit");
    for (struct table_writer *table = writer->tables; table; table = table->next)
        for (uint32_t c = 0; c < table->table.column_count; c++)
            items[used++] = (struct finish_item){.table = table, .column = c};
    for (const struct key_rewrite *rewrite = writer->rewrites; rewrite; rewrite = rewrite->next)
        items[used++] = (struct finish_item){.table = rewrite->table, .column = 0};
    enum status status = parallel_for(FINISH_THREADS, count, finish_column, items, error);
    free(items);
    return status;
}

/* Of a column that rows are appended to. */
static enum status finish_encodings(struct table_writer *table, uint32_t c, struct error *error)
{
    if (!table->old || !table_append_keeps(table, c) || table->kept < table->old->segment_count)
        return STATUS_OK;
    return column_encodings_extend(table->database->path, (struct column *)&table->table.columns[c],
                                   &table->old->columns[c], table->database->generation, error);
}

/* One after the other: each is made on all threads. */
static enum status finish_others(struct database_writer *writer, struct error *error)
{
    for (struct table_writer *table = writer->tables; table; table = table->next)
        for (uint32_t c = 0; c < table->table.column_count; c++) {
            RETURN_IF_ERROR(finish_encodings(table, c, error));
            RETURN_IF_ERROR(table_writer_finish_index(table, c, error));
        }
    for (const struct key_rewrite *rewrite = writer->rewrites; rewrite; rewrite = rewrite->next)
        RETURN_IF_ERROR(table_writer_finish_index(rewrite->table, 0, error));
    return STATUS_OK;
}

static enum status sync_table(const struct database_writer *writer, const char *name, struct error *error)
{
    char *path = NULL;
    RETURN_IF_ERROR(table_path(writer->path, name, &path, error));
    const enum status status = directory_sync(path, error);
    free(path);
    return status;
}

static enum status sync_directories(const struct database_writer *writer, struct error *error)
{
    char *path = NULL;
    enum status status = STATUS_OK;
    for (const struct table_writer *table = writer->tables; table; table = table->next)
        RETURN_IF_ERROR(sync_table(writer, table->table.name, error));
    for (const struct key_rewrite *rewrite = writer->rewrites; rewrite; rewrite = rewrite->next)
        RETURN_IF_ERROR(sync_table(writer, rewrite->old.name, error));
    for (const struct ready_table *ready = writer->ready; ready; ready = ready->next)
        RETURN_IF_ERROR(sync_table(writer, ready->table->name, error));
    const char *const above[] = {"/" TABLES_NAME, writer->created_directory ? "/.." : ""};
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        RETURN_IF_ERROR(path_format(&path, error, "%s%s", writer->path, above[i]));
        status = directory_sync(path, error);
        free(path);
    }
    return status;
}

static const struct table *ready_or_old(const struct database_writer *writer, const struct table *old)
{
    for (const struct ready_table *ready = writer->ready; ready; ready = ready->next)
        if (strcmp(ready->table->name, old->name) == 0)
            return ready->table;
    return old;
}

/* Makes the next catalogue: the old tables, each replaced one in its old place, then new tables in the order
 * in which they were added. It does not own what the tables point to. */
static enum status next_catalogue(const struct database_writer *writer, struct catalogue *next,
                                  struct error *error)
{
    uint32_t capacity = writer->catalogue.table_count, made = 0;
    for (const struct table_writer *table = writer->tables; table; table = table->next)
        made++;
    capacity += made;
    *next = (struct catalogue){.generation = writer->generation,
                               .tables = calloc(capacity + 1, sizeof *next->tables),
                               .view_count = writer->catalogue.view_count,
                               .views = writer->catalogue.views};
    if (!next->tables)
        return error_out_of_memory(error, capacity * sizeof *next->tables, "the catalogue");
    for (uint32_t t = 0; t < writer->catalogue.table_count; t++) {
        const struct table_writer *replaced = new_table(writer, writer->catalogue.tables[t].name);
        next->tables[next->table_count] =
            replaced ? replaced->table : *ready_or_old(writer, &writer->catalogue.tables[t]);
        RETURN_IF_ERROR(key_moves_merge(writer, &next->tables[next->table_count++], error));
    }
    for (; made > 0; made--) {
        const struct table_writer *table = writer->tables; /* newest first */
        for (uint32_t i = 1; i < made; i++)
            table = table->next;
        if (!catalogue_table(&writer->catalogue, table->table.name))
            next->tables[next->table_count++] = table->table;
    }
    return STATUS_OK;
}

enum status database_writer_finish(struct database_writer *writer, struct error *error)
{
    enum status status = STATUS_OK;
    if (writer->finished)
        return STATUS_OK;
    for (struct table_writer *table = writer->tables; table && status == STATUS_OK; table = table->next) {
        status = table_append_live(table, error);
        status = AND_THEN(status, table_writer_check(table, error));
    }
    status = AND_THEN(status, check_references(writer, error));
    status = AND_THEN(status, key_moves_write(writer, error));
    status = AND_THEN(status, finish_columns(writer, error));
    status = AND_THEN(status, finish_others(writer, error));
    status = AND_THEN(status, sync_directories(writer, error));
    writer->finished = status == STATUS_OK;
    return status;
}

/* Frees a catalogue of next_catalogue. */
static void forget_next(const struct database_writer *writer, struct catalogue *next)
{
    for (uint32_t t = 0; t < next->table_count; t++)
        key_moves_unmerge(writer, &next->tables[t]);
    free(next->tables); /* the writer owns what they point to */
}

enum status database_writer_state(struct database_writer *writer, struct database **state,
                                  struct error *error)
{
    struct catalogue next = {0};
    *state = NULL;
    if (!writer->tables && !writer->rewrites)
        return database_open_catalogue(writer->path, &writer->catalogue, state, error);
    enum status status = database_writer_finish(writer, error);
    status = AND_THEN(status, next_catalogue(writer, &next, error));
    status = AND_THEN(status, database_open_catalogue(writer->path, &next, state, error));
    forget_next(writer, &next);
    return status;
}

enum status database_writer_advance(struct database_writer *writer, struct error *error)
{
    struct catalogue next = {0}, copy = {0};
    enum status status = database_writer_finish(writer, error);
    status = AND_THEN(status, next_catalogue(writer, &next, error));
    status = AND_THEN(status, catalogue_copy(writer->path, &next, &copy, error));
    forget_next(writer, &next);
    if (status != STATUS_OK)
        return status;
    database_writer_clear(writer);
    catalogue_free(&writer->catalogue);
    writer->catalogue = copy;
    writer->generation++;
    writer->finished = false;
    return STATUS_OK;
}

enum status database_writer_commit(struct database_writer *writer, struct error *error)
{
    struct catalogue next = {0};
    bool visible = false;
    enum status status = database_writer_finish(writer, error);
    status = AND_THEN(status, next_catalogue(writer, &next, error));
    status = AND_THEN(status, catalogue_write(writer->path, &next, &visible, error));
    if (visible &&
        status == STATUS_OK) /* else keep the old files: a power cut may bring the old catalogue back */
        database_clean(writer->path, &next);
    forget_next(writer, &next);
    if (visible)
        database_writer_free(writer);
    else
        database_writer_abort(writer);
    return status;
}
