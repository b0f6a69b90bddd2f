/* database.c: opening a database and finding its tables, columns and dictionaries; see database.h. */
#include "storage/database/database_internal.h"

#include "storage/database/database_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool column_has_dictionary(const struct column_schema *schema)
{
    return schema->type == TYPE_STRING && !schema->references_table[0];
}

/* Offsets that rise and end with the strings' size: whatever code below count is looked up stays inside. That
 * strings are sorted is database_check's business: a dictionary that is not gives wrong answers, not wrong
 * reads. */
static bool offsets_valid(const uint64_t *starts, uint32_t count, uint64_t bytes)
{
    bool rising = starts[0] == 0 && starts[count] == bytes;
    for (uint32_t code = 0; code < count; code++)
        rising &= starts[code] <= starts[code + 1] && starts[code + 1] - starts[code] <= UINT32_MAX;
    return rising;
}

static enum status open_dictionary(const struct column_file *file, struct dictionary *dictionary,
                                   struct error *error)
{
    const struct column_part *starts = column_file_part(file, PART_DICTIONARY_STARTS, 0);
    const struct column_part *bytes = column_file_part(file, PART_DICTIONARY_BYTES, 0);
    if (starts && bytes) {
        RETURN_IF_ERROR(column_file_part_check(file, starts, error));
        RETURN_IF_ERROR(column_file_part_check(file, bytes, error));
        const uint64_t *offsets = (const uint64_t *)(file->map + starts->offset);
        if (starts->rows <= INT32_MAX && starts->bytes == ((uint64_t)starts->rows + 1) * sizeof *offsets &&
            offsets_valid(offsets, starts->rows, bytes->bytes)) {
            *dictionary = (struct dictionary){
                .count = starts->rows, .starts = offsets, .bytes = (const char *)(file->map + bytes->offset)};
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_BAD_INPUT,
                     "%s: the dictionary is missing or not valid; load the table again", file->path);
}

enum status side_file_open(const char *directory, const struct column *column, struct column_file **file,
                           struct dictionary *dictionary, struct error *error)
{
    char *path = NULL;
    *file = NULL;
    RETURN_IF_ERROR(column_path(directory, column, CODEC_NONE, column->side_generation, &path, error));
    struct column_file_identity identity = column_identity(column, CODEC_NONE, column->side_generation);
    enum status status = column_file_open(path, &identity, file, error);
    free(path);
    if (status == STATUS_OK && column_has_dictionary(&column->schema))
        status = open_dictionary(*file, dictionary, error);
    if (status != STATUS_OK) {
        column_file_close(*file);
        *file = NULL;
    }
    return status;
}

/* The string columns in the order of their dictionaries. */
struct dictionaries_work {
    struct database *database;
    struct column **columns;
};

static enum status open_dictionary_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    struct dictionaries_work *work = context;
    struct stored_dictionary *stored = &work->database->dictionaries[item];
    struct column *column = work->columns[item];
    RETURN_IF_ERROR(side_file_open(work->database->path, column, &stored->file, &stored->dictionary, error));
    column->dictionary = &stored->dictionary;
    return STATUS_OK;
}

static enum status open_dictionaries(struct database *database, struct error *error)
{
    size_t count = 0, capacity = 0;
    for (uint32_t t = 0; t < database->catalogue.table_count; t++)
        capacity += database->catalogue.tables[t].column_count;
    struct dictionaries_work work = {.database = database,
                                     .columns = calloc(capacity + 1, sizeof *work.columns)};
    database->dictionaries = calloc(capacity + 1, sizeof *database->dictionaries);
    if (!work.columns || !database->dictionaries) {
        free(work.columns);
        return error_out_of_memory(error, capacity * sizeof *database->dictionaries, "dictionaries");
    }
    for (uint32_t t = 0; t < database->catalogue.table_count; t++) {
        const struct table *table = &database->catalogue.tables[t];
        for (uint32_t c = 0; c < table->column_count; c++)
            if (column_has_dictionary(&table->columns[c].schema))
                work.columns[count++] = (struct column *)&table->columns[c];
    }
    database->dictionary_count = (uint32_t)count;
    enum status status = parallel_for(0, count, open_dictionary_item, &work, error);
    free(work.columns);
    return status;
}

enum status database_open(const char *path, struct database **out, struct error *error)
{
    *out = NULL;
    struct database *database = calloc(1, sizeof *database);
    if (database) {
        database->held = -1;
        database->keeps_open = true;
        pthread_mutex_init(&database->lock, NULL);
        database->path = strdup(path);
    }
    if (!database || !database->path) {
        free(database);
        return error_out_of_memory(error, sizeof *database, "a database");
    }
    enum status status = catalogue_hold(path, &database->catalogue, &database->held, error);
    if (status == STATUS_OK)
        status = open_dictionaries(database, error);
    if (status != STATUS_OK) {
        database_close(database);
        return status;
    }
    *out = database;
    return STATUS_OK;
}

void database_close(struct database *database)
{
    if (!database)
        return;
    column_data_drop(database);
    pthread_mutex_destroy(&database->lock);
    for (uint32_t d = 0; d < database->dictionary_count; d++)
        column_file_close(database->dictionaries[d].file);
    free(database->dictionaries);
    if (database->held >= 0)
        close(database->held);
    catalogue_free(&database->catalogue);
    free(database->path);
    free(database);
}

const char *database_path(const struct database *database)
{
    return database->path;
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
    char list[512] = "";
    size_t used = 0;
    for (uint32_t t = 0; t < database->catalogue.table_count && used < sizeof list; t++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", t ? ", " : "",
                                 database->catalogue.tables[t].name);
    return error_set(error, STATUS_BAD_INPUT, "database %s has no table \"%s\"; it has: %s", database->path,
                     name, list[0] ? list : "none");
}
