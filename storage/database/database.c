/* database.c: opens a database and finds its tables, columns and dictionaries; see database.h. */
#include "storage/database/database_internal.h"

#include "storage/column/column_data.h"
#include "storage/base/memory.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/word.h"
#include "storage/database/database_files.h"
#include "storage/database/kept_arrays.h"
#include "storage/index/index_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Gives every column and every table their places on disk, where what the catalogue lacks is read when a statement needs
 * it. */
static enum status place(struct database *database, struct error *error)
{
    const struct catalogue *const catalogue = &database->catalogue;
    size_t columns = 0;
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        columns += catalogue->tables[t].column_count;
    RETURN_IF_ERROR(memory_zeros(&database->dictionaries, (columns + 1) * sizeof *database->dictionaries,
                                 "dictionaries", error));
    RETURN_IF_ERROR(memory_zeros(&database->levels, (catalogue->table_count + 1) * sizeof *database->levels,
                                 "levels", error));
    for (uint32_t t = 0; t < catalogue->table_count; t++) {
        const struct table *const table = &catalogue->tables[t];
        for (uint32_t c = 0; c < table->column_count; c++) {
            struct column *const column = (struct column *)&table->columns[c];
            if (!column_has_dictionary(&column->schema))
                continue;
            column->stored_dictionary = &database->dictionaries[database->dictionary_count++];
            stored_dictionary_begin(database->path, column, column->stored_dictionary);
        }
        database->levels[t] =
            (struct stored_levels){.directory = database->path, .lock = PTHREAD_MUTEX_INITIALIZER};
        if (table->levels)
            ((struct table_levels *)table->levels)->stored = &database->levels[t];
    }
    return STATUS_OK;
}

static struct database *database_make(const char *path)
{
    struct database *const database = calloc(1, sizeof *database);
    if (database) {
        database->held = -1;
        pthread_mutex_init(&database->lock, NULL);
        database->path = strdup(path);
    }
    if (database && !database->path) {
        database_close(database);
        return NULL;
    }
    return database;
}

/* `copied`: the catalogue is this one, else it is read. */
static enum status open_state(const char *path, const struct catalogue *copied, struct database **out,
                              struct error *error)
{
    struct database *const database = database_make(path);
    *out = NULL;
    if (!database)
        return error_out_of_memory(error, sizeof *database, "a database");
    enum status status = copied ? catalogue_copy(path, copied, &database->catalogue, error)
                                : catalogue_hold(path, &database->catalogue, &database->held, error);
    status = AND_THEN(status, place(database, error));
    if (status == STATUS_OK)
        *out = database;
    else
        database_close(database);
    return status;
}

enum status database_open(const char *path, struct database **database, struct error *error)
{
    return open_state(path, NULL, database, error);
}

enum status database_open_catalogue(const char *path, const struct catalogue *catalogue,
                                    struct database **database, struct error *error)
{
    return open_state(path, catalogue, database, error);
}

enum status database_open_none(const char *path, struct database **database, struct error *error)
{
    struct database *const made = database_make(path);
    const enum status status =
        made ? place(made, error) : error_out_of_memory(error, sizeof *made, "a database");
    *database = status == STATUS_OK ? made : NULL;
    if (status != STATUS_OK)
        database_close(made);
    return status;
}

struct database_companion *database_companion(struct database *database,
                                              struct database_companion *(*make)(void))
{
    pthread_mutex_lock(&database->lock);
    if (!database->companion)
        database->companion = make();
    pthread_mutex_unlock(&database->lock);
    return database->companion;
}

void database_close(struct database *database)
{
    if (!database)
        return;
    if (database->companion)
        database->companion->free(database->companion);
    for (struct kept_column *kept = database->kept, *next; kept; kept = next) {
        next = kept->next;
        column_data_free(kept->data);
        free(kept);
    }
    for (struct kept_index *kept = database->indexes, *next; kept; kept = next) {
        next = kept->next;
        index_data_free(kept->data);
        free(kept);
    }
    kept_arrays_free(database);
    pthread_mutex_destroy(&database->lock);
    for (uint32_t d = 0; d < database->dictionary_count; d++)
        stored_dictionary_close(&database->dictionaries[d]);
    free(database->dictionaries);
    for (uint32_t t = 0; database->levels && t < database->catalogue.table_count; t++)
        pthread_mutex_destroy(&database->levels[t].lock);
    free(database->levels);
    state_release(database->path, database->held);
    catalogue_free(&database->catalogue);
    free(database->path);
    free(database);
}

const struct table *database_find(const struct database *database, const char *name)
{
    const struct table *found = NULL;
    for (uint32_t t = 0; t < database_table_count(database); t++) {
        const struct table *const at = database_table_at(database, t);
        if (strcmp(at->name, name) == 0 || (!found && word_compare(at->name, name) == 0))
            found = at;
    }
    return found;
}

uint32_t database_view_count(const struct database *database)
{
    return database->catalogue.view_count;
}

const char *database_view_at(const struct database *database, uint32_t index)
{
    return database->catalogue.views[index].name;
}

const char *database_view(const struct database *database, const char *name)
{
    const struct catalogue_view *const view = catalogue_view(&database->catalogue, name);
    return view ? view->query : NULL;
}

bool database_is_current(const struct database *database)
{
    struct catalogue now;
    if (!database->path[0])
        return true;
    if (!database->catalogue.generation) { /* of which there was nothing on disk */
        bool found;
        return database_has(database->path, CATALOGUE_FILE, &found, NULL) == STATUS_OK && !found;
    }
    if (catalogue_read(database->path, &now, NULL) != STATUS_OK)
        return false;
    const bool current = now.generation == database->catalogue.generation;
    catalogue_free(&now);
    return current;
}

/* Opens the column, which then stays open. The caller holds the lock. */
static enum status keep_column(struct database *database, const struct column *column, enum codec_id codec,
                               unsigned threads, struct column_data **data, struct error *error)
{
    struct kept_column *kept = malloc(sizeof *kept);
    if (!kept)
        return error_out_of_memory(error, sizeof *kept, "a column");
    enum status status = column_data_read(database->path, column, codec, threads, data, error);
    if (status != STATUS_OK) {
        free(kept);
        return status;
    }
    *kept = (struct kept_column){.data = *data, .next = database->kept};
    database->kept = kept;
    return STATUS_OK;
}

enum status column_data_open(struct database *database, const struct column *column, enum codec_id codec,
                             unsigned threads, struct column_data **data, struct error *error)
{
    enum status status = STATUS_OK;
    *data = column->memory;
    if (*data)
        return STATUS_OK;
    RETURN_IF_ERROR(levels_load(column->table, error));
    if (column->references)
        RETURN_IF_ERROR(levels_load(column->references->table, error));
    pthread_mutex_lock(&database->lock);
    for (const struct kept_column *kept = database->kept; kept && !*data; kept = kept->next)
        if (kept->data->column == column && kept->data->codec->id == codec)
            *data = kept->data;
    if (!*data)
        status = keep_column(database, column, codec, threads, data, error);
    pthread_mutex_unlock(&database->lock);
    return status;
}

static enum status keep_index(struct database *database, const struct column *column, unsigned threads,
                              const struct index_data **index, struct error *error)
{
    struct kept_index *kept = malloc(sizeof *kept);
    if (!kept)
        return error_out_of_memory(error, sizeof *kept, "an index");
    enum status status = index_file_read(database->path, column, threads, &kept->data, error);
    if (status != STATUS_OK) {
        free(kept);
        return status;
    }
    kept->next = database->indexes;
    database->indexes = kept;
    *index = kept->data;
    return STATUS_OK;
}

enum status index_data_open(struct database *database, const struct column *column, unsigned threads,
                            const struct index_data **index, struct error *error)
{
    enum status status = STATUS_OK;
    *index = NULL;
    pthread_mutex_lock(&database->lock);
    for (const struct kept_index *kept = database->indexes; kept && !*index; kept = kept->next)
        if (kept->data->column == column)
            *index = kept->data;
    if (!*index)
        status = keep_index(database, column, threads, index, error);
    pthread_mutex_unlock(&database->lock);
    return status;
}

const char *database_path(const struct database *database)
{
    return database->path;
}

const struct table *database_part(const struct database *database)
{
    for (uint32_t t = 0; t < database->catalogue.table_count; t++)
        if (database->catalogue.tables[t].part.of)
            return &database->catalogue.tables[t];
    return NULL;
}

void database_widen(struct database *database, const struct table *table,
                    const struct column_statistics *statistics)
{
    struct table *const widened = &database->catalogue.tables[table - database->catalogue.tables];
    for (uint32_t c = 0; c < widened->column_count; c++)
        ((struct column *)widened->columns)[c].statistics = statistics[c];
}

uint32_t database_table_count(const struct database *database)
{
    return database->catalogue.table_count;
}

const struct table *database_table_at(const struct database *database, uint32_t index)
{
    return &database->catalogue.tables[index];
}

enum status database_table(const struct database *database, const char *name, const struct table **table,
                           struct error *error)
{
    *table = catalogue_table(&database->catalogue, name);
    if (*table)
        return STATUS_OK;
    if (!database->path[0])
        return error_set(error, STATUS_BAD_INPUT,
                         "there is no table \"%s\" without a database (--db DIR); a file is named in single "
                         "quotes, FROM 'sales.csv'",
                         name);
    char list[512] = "";
    size_t used = 0;
    for (uint32_t t = 0; t < database->catalogue.table_count && used < sizeof list; t++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", t ? ", " : "",
                                 database->catalogue.tables[t].name);
    struct near_word near = near_word_begin(name);
    for (uint32_t t = 0; t < database->catalogue.table_count; t++)
        near_word_try(&near, database->catalogue.tables[t].name);
    if (near.nearest)
        return error_set(error, STATUS_BAD_INPUT, "database %s has no table \"%s\"; did you mean %s?",
                         database->path, name, near.nearest);
    return error_set(error, STATUS_BAD_INPUT, "database %s has no table \"%s\"; it has: %s", database->path,
                     name, list[0] ? list : "none");
}
