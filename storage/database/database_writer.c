/* database_writer.c: a change of a database, from its lock to its commit; see writer.h.
 *
 * New files have a generation that no committed file has, so nothing is overwritten. The rename of the
 * catalogue makes all of them visible at once. If a change fails or its process dies, its files are not in
 * the catalogue; its abort or the next writer removes them. A first change has no catalogue that says so; its
 * FIRST_FILE does, without which nothing is removed (database_files.h). */
#include "storage/database/writer_internal.h"

#include "storage/database/database_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Refuses files of tables without a catalogue: it was moved or lost. */
static enum status refuse_lost(const char *path, struct error *error)
{
    uint64_t files;
    RETURN_IF_ERROR(stored_files_count(path, &files, error));
    if (!files)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "%s has %" PRIu64 " files of a database in %s/" TABLES_NAME
                     " and no file \"" CATALOGUE_FILE
                     "\", which was moved or lost, or a first load by an older program did not finish; put "
                     "the catalogue back, or remove %s and load everything again",
                     path, files, path, path);
}

/* Refuses a directory in which something else stands than a database, or what a first change left. It is listed before
 * our files are looked for, because another process may be making them. */
static enum status check_place(const char *path, struct error *error)
{
    static const char *const ours[] = {CATALOGUE_FILE, LOCK_FILE, FIRST_FILE};
    bool fine;
    RETURN_IF_ERROR(directory_is_empty(path, &fine, error));
    for (size_t i = 0; i < sizeof ours / sizeof *ours && !fine; i++)
        RETURN_IF_ERROR(database_has(path, ours[i], &fine, error));
    if (fine)
        return STATUS_OK;
    RETURN_IF_ERROR(refuse_lost(path, error));
    return error_set(
        error, STATUS_BAD_INPUT,
        "%s is no database and is not empty; name a database, or a directory that is new or empty", path);
}

/* Takes the lock of the database, or of the directory that is to become one. A first change that fails removes the
 * directory that it made, perhaps after it was found here: then it is made again. */
static enum status take_place(struct database_writer *writer, struct error *error)
{
    const char *const path = writer->path;
    for (;;) {
        struct error why = {0};
        bool found;
        RETURN_IF_ERROR(directory_create(path, &writer->created_directory, error));
        enum status status = check_place(path, &why);
        status = AND_THEN(status, database_lock(path, writer->wait_ms, &writer->lock_descriptor, &why));
        if (status == STATUS_OK)
            return STATUS_OK;
        if (file_found(path, &found, NULL) != STATUS_OK || found) {
            if (error)
                *error = why;
            return status;
        }
    }
}

/* Without a catalogue, files below `tables` are those of a first change that did not end, if FIRST_FILE says so. */
static enum status check_first(const char *path, bool *marked, struct error *error)
{
    RETURN_IF_ERROR(database_has(path, FIRST_FILE, marked, error));
    return *marked ? STATUS_OK : refuse_lost(path, error);
}

static enum status mark_first(const char *path, struct error *error)
{
    char *mark;
    RETURN_IF_ERROR(path_format(&mark, error, "%s/" FIRST_FILE, path));
    const enum status status = file_write_whole(mark, "", 0, error);
    free(mark);
    return status;
}

/* Where the catalogue is damaged, the advice to load again would end here. */
static enum status read_catalogue(struct database_writer *writer, struct error *error)
{
    struct error why = {0};
    const enum status status = catalogue_read(writer->path, &writer->catalogue, &why);
    if (status == STATUS_OK)
        return STATUS_OK;
    if ((status == STATUS_CHECK_FAILED || status == STATUS_BAD_INPUT) && !error_of_system(status, &why))
        return error_set(error, status, "%s; to load everything again, remove %s first", why.text,
                         writer->path);
    if (error)
        *error = why;
    return status;
}

static enum status begin(struct database_writer *writer, struct error *error)
{
    const char *path = writer->path;
    bool created = false, marked = false;
    char *tables = NULL;
    RETURN_IF_ERROR(take_place(writer, error));
    RETURN_IF_ERROR(database_has(path, CATALOGUE_FILE, &writer->existed, error));
    if (writer->existed)
        RETURN_IF_ERROR(read_catalogue(writer, error));
    RETURN_IF_ERROR(tables_check(path, NULL, error));
    if (!writer->existed)
        RETURN_IF_ERROR(check_first(path, &marked, error));
    writer->on_disk = writer->catalogue.generation;
    writer->generation = writer->on_disk + 1;
    if (!writer->existed && !marked)
        RETURN_IF_ERROR(mark_first(path, error));
    database_clean(path, &writer->catalogue);
    RETURN_IF_ERROR(path_format(&tables, error, "%s/" TABLES_NAME, path));
    enum status status = directory_create(tables, &created, error);
    free(tables);
    return status;
}

void database_writer_clear(struct database_writer *writer)
{
    key_moves_free(writer);
    while (writer->tables) {
        struct table_writer *next = writer->tables->next;
        table_writer_free(writer->tables);
        writer->tables = next;
    }
}

void database_writer_free(struct database_writer *writer)
{
    database_writer_clear(writer);
    database_unlock(writer->lock_descriptor);
    catalogue_free(&writer->catalogue);
    segment_buffers_close(&writer->buffers);
    pthread_mutex_destroy(&writer->lock);
    free(writer->path);
    free(writer);
}

enum status database_writer_open(const char *path, struct database_writer **out, struct error *error)
{
    return database_writer_wait(path, LOCK_WAIT_MS, out, error);
}

enum status database_writer_wait(const char *path, unsigned wait_ms, struct database_writer **out,
                                 struct error *error)
{
    *out = NULL;
    struct database_writer *writer = calloc(1, sizeof *writer);
    if (writer)
        writer->path = strdup(path);
    if (!writer || !writer->path) {
        free(writer);
        return error_out_of_memory(error, sizeof *writer, "a database's writer");
    }
    writer->lock_descriptor = -1;
    writer->wait_ms = wait_ms;
    pthread_mutex_init(&writer->lock, NULL);
    segment_buffers_open(&writer->buffers);
    enum status status = begin(writer, error);
    if (status != STATUS_OK) {
        database_writer_abort(writer);
        return status;
    }
    *out = writer;
    return STATUS_OK;
}

enum status database_writer_reserve(struct database_writer *writer, int compaction, int *held,
                                    struct error *error)
{
    struct catalogue same;
    bool visible = false;
    *held = -1;
    RETURN_IF_ERROR(compaction_owns(writer->path, compaction, writer->generation, error));
    writer->on_disk = writer->catalogue.generation = writer->generation;
    /* Without power the compaction is lost like its reservation: neither has to be on disk before its end. */
    const enum status status = catalogue_write(writer->path, &writer->catalogue, &visible, error);
    if (status != STATUS_NOT_DURABLE)
        RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(catalogue_hold(writer->path, &same, held, error));
    catalogue_free(&same);
    database_unlock(writer->lock_descriptor);
    writer->lock_descriptor = -1;
    return STATUS_OK;
}

/* Removes what the change wrote, if the state on disk is known to be the one that it began with. */
static bool clean_unchanged(const struct database_writer *writer)
{
    struct catalogue now = {0};
    bool found = false;
    const enum status status = writer->existed ? catalogue_read(writer->path, &now, NULL)
                                               : database_has(writer->path, CATALOGUE_FILE, &found, NULL);
    const bool same = status == STATUS_OK && !found && now.generation == writer->on_disk;
    if (same)
        database_clean(writer->path, &now);
    if (status == STATUS_OK)
        catalogue_free(&now);
    return same;
}

static bool remove_entry(const char *directory, const char *name)
{
    char *path = NULL;
    /* remove() removes a directory only if it is empty */
    const bool removed = path_format(&path, NULL, "%s/%s", directory, name) == STATUS_OK &&
                         (remove(path) == 0 || errno == ENOENT);
    free(path);
    return removed;
}

/* If something stays below `tables`, FIRST_FILE stays, too, and tells the next writer that it can go. */
static void remove_first(const char *path)
{
    if (remove_entry(path, TABLES_NAME) && remove_entry(path, FIRST_FILE))
        remove_entry(path, LOCK_FILE);
}

void database_writer_abort(struct database_writer *writer)
{
    if (!writer)
        return;
    /* Generation 0: nothing was begun. */
    if (writer->generation > 0 && clean_unchanged(writer) && !writer->existed)
        remove_first(writer->path);
    if (writer->created_directory)
        rmdir(writer->path);
    database_writer_free(writer);
}

const struct table *database_writer_old(const struct database_writer *writer, const char *name)
{
    return catalogue_table(&writer->catalogue, name);
}

bool database_writer_existed(const struct database_writer *writer)
{
    return writer->existed;
}

const struct table *database_writer_find(const struct database_writer *writer, const char *name)
{
    for (const struct table_writer *table = writer->tables; table; table = table->next)
        if (strcmp(table->table.name, name) == 0)
            return &table->table;
    return catalogue_table(&writer->catalogue, name);
}

static enum status check_schema(const struct database_writer *writer, const char *table_name,
                                const struct column_schema *columns, uint32_t count, uint32_t c,
                                uint64_t rows, struct error *error)
{
    const struct column_schema *schema = &columns[c];
    if (!name_valid(schema->name))
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: column %u cannot be named \"%.63s\": use " NAME_RULE, table_name, c,
                         schema->name);
    for (uint32_t other = 0; other < c; other++)
        if (strcmp(columns[other].name, schema->name) == 0)
            return error_set(error, STATUS_BAD_INPUT, "table %s: two columns are named %s; rename one",
                             table_name, schema->name);
    if (!column_type_name(schema->type))
        return error_set(error, STATUS_BAD_INPUT, "table %s: column %s: its type %d does not exist",
                         table_name, schema->name, (int)schema->type);
    if (schema->type == TYPE_DECIMAL &&
        (schema->precision < 1 || schema->precision > 18 || schema->scale > schema->precision))
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: column %s: decimal(%u,%u) cannot be stored; use a precision of 1 to 18 "
                         "and a scale that is not larger",
                         table_name, schema->name, schema->precision, schema->scale);
    if (!schema->references_table[0])
        return STATUS_OK;
    bool itself = strcmp(schema->references_table, table_name) == 0;
    const struct table *referenced = itself ? NULL : database_writer_find(writer, schema->references_table);
    if (!itself && !referenced)
        return error_set(
            error, STATUS_BAD_INPUT,
            "table %s: column %s refers to table %.63s, which does not exist; load that table first",
            table_name, schema->name, schema->references_table);
    bool key = schema->of.count > 0; /* the caller knows that the columns of such a key are one */
    for (uint32_t k = 0; k < (itself ? count : referenced->column_count); k++) {
        const struct column_schema *target = itself ? &columns[k] : &referenced->columns[k].schema;
        key |= target->primary_key && strcmp(target->name, schema->references_column) == 0;
    }
    if (!key)
        return error_set(
            error, STATUS_BAD_INPUT,
            "table %s: column %s refers to %s.%.63s, which is not a primary key column; correct the schema",
            table_name, schema->name, schema->references_table, schema->references_column);
    if ((itself ? rows : referenced->rows) > INT32_MAX)
        return error_set(
            error, STATUS_BAD_INPUT,
            "table %s: column %s refers to %s, which has more than the %d rows that positions can name",
            table_name, schema->name, schema->references_table, INT32_MAX);
    return STATUS_OK;
}

enum status database_writer_add(struct database_writer *writer, const char *name,
                                const struct column_schema *columns, uint32_t column_count, uint64_t rows,
                                struct table_writer **out, struct error *error)
{
    *out = NULL;
    if (!name_valid(name))
        return error_set(error, STATUS_BAD_INPUT, "a table cannot be named \"%.63s\": use " NAME_RULE, name);
    if (catalogue_view(&writer->catalogue, name))
        return error_set(error, STATUS_BAD_INPUT,
                         "there is a view %s; drop it first (DROP VIEW), or give the table another name",
                         name);
    if (column_count == 0)
        return error_set(error, STATUS_BAD_INPUT, "table %s has no columns; give it at least one", name);
    char *directory = NULL;
    bool created = false;
    struct table_writer *table = NULL;
    pthread_mutex_lock(&writer->lock);
    enum status status = STATUS_OK;
    for (const struct table_writer *other = writer->tables; other && status == STATUS_OK; other = other->next)
        if (strcmp(other->table.name, name) == 0)
            status = error_set(error, STATUS_BAD_INPUT,
                               "table %s is loaded twice in one change; load it once", name);
    for (uint32_t c = 0; c < column_count && status == STATUS_OK; c++)
        status = check_schema(writer, name, columns, column_count, c, rows, error);
    status = AND_THEN(status, tables_check(writer->path, name, error));
    status = AND_THEN(status, table_path(writer->path, name, &directory, error));
    status = AND_THEN(status, directory_create(directory, &created, error));
    status = AND_THEN(status, table_writer_create(writer, name, columns, column_count, rows, &table, error));
    if (status == STATUS_OK) {
        table->next = writer->tables;
        writer->tables = *out = table;
    } else {
        table_writer_free(table);
    }
    pthread_mutex_unlock(&writer->lock);
    free(directory);
    return status;
}

enum status database_writer_table(struct database_writer *writer, const char *name,
                                  const struct column_schema *columns, uint32_t column_count, uint64_t rows,
                                  struct table_writer **out, struct error *error)
{
    return database_writer_add(writer, name, columns, column_count, rows, out, error);
}
