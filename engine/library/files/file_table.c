/* file_table.c: see file_table.h. */
#define _XOPEN_SOURCE 700
#include "engine/library/files/file_table.h"

#include "storage/base/file.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/near_word.h"
#include "storage/column/column_data.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Columns that were loaded together: a database whose files are gone, and what was mapped of it before. */
struct file_part {
    struct database *database;
    uint32_t column_count;
    struct column_data **columns;
    struct file_part *next;
};

static void part_free(struct file_part *part)
{
    if (!part)
        return;
    for (uint32_t c = 0; part->columns && c < part->column_count; c++)
        column_data_free(part->columns[c]);
    free(part->columns);
    database_close(part->database);
    free(part);
}

/* ---- Files ---- */

/* Gives the file of the same folder whose name is like that of one that is not there; "": there is none. */
static void find_near(const char *path, char near[256])
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    char *const folder = slash ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");
    DIR *const entries = folder ? opendir(folder) : NULL;
    near[0] = '\0';
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        struct near_word one = near_word_begin(name);
        if (near[0])
            near_word_try(&one, near);
        near_word_try(&one, entry->d_name);
        if (one.nearest && one.nearest != near)
            snprintf(near, 256, "%s", one.nearest);
    }
    if (entries)
        closedir(entries);
    free(folder);
}

static enum status stamp(const char *path, struct file_stamp *stamp, struct error *error)
{
    struct stat facts;
    char near[256];
    if (stat(path, &facts) != 0 && errno == ENOENT) {
        find_near(path, near);
        return error_set(error, STATUS_BAD_INPUT, "there is no file %s%s%s%s", path,
                         near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
    }
    if (stat(path, &facts) != 0)
        return error_set_errno(error, errno, "%s: cannot be opened", path);
    *stamp = (struct file_stamp){facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtim};
    return STATUS_OK;
}

static bool is_same(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->number == b->number && a->bytes == b->bytes &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Refuses what the loader takes for standard input, and what is no name. */
static enum status check_name(const char *name, struct error *error)
{
    if (!*name)
        return error_set(error, STATUS_BAD_INPUT, "'' is no name of a file");
    return strcmp(name, "-") == 0 || strcmp(name, "/dev/stdin") == 0
               ? error_set(error, STATUS_BAD_INPUT,
                           "%s: standard input can be read once; save it as a file first", name)
               : STATUS_OK;
}

static enum status keep_paths(struct file_table *table, const struct input_files *files, struct error *error)
{
    RETURN_IF_ERROR(
        memory_zeros(&table->paths, (files->count + 1ull) * sizeof *table->paths, "files", error));
    RETURN_IF_ERROR(
        memory_zeros(&table->stamps, (files->count + 1ull) * sizeof *table->stamps, "files", error));
    for (uint32_t p = 0; p < files->count; p++) {
        table->paths[p] = strdup(files->paths[p]);
        if (!table->paths[p])
            return error_out_of_memory(error, strlen(files->paths[p]), "files");
        table->path_count++;
        RETURN_IF_ERROR(stamp(table->paths[p], &table->stamps[p], error));
    }
    return STATUS_OK;
}

/* Finds the files of the name, which is one, a pattern or a folder, and notes their sizes and times. */
static enum status find_files(const char *name, struct file_table *table, struct error *error)
{
    struct input_files *files;
    RETURN_IF_ERROR(check_name(name, error));
    char *const word = strdup(name);
    if (!word)
        return error_out_of_memory(error, strlen(name), "files");
    enum status status = memory_zeros(&files, sizeof *files, "files", error);
    if (status == STATUS_OK) {
        status = input_files_add(files, word, error);
        status = AND_THEN(status, keep_paths(table, files, error));
        input_files_free(files);
        free(files);
    }
    free(word);
    return status;
}

static void forget_files(struct file_table *table)
{
    for (uint32_t p = 0; table->paths && p < table->path_count; p++)
        free(table->paths[p]);
    free(table->paths);
    free(table->stamps);
}

enum status file_table_compare(const struct file_table *table, bool *same, struct error *error)
{
    struct file_table now = {.path_count = 0};
    const enum status status = find_files(table->name, &now, error);
    *same = status == STATUS_OK && now.path_count == table->path_count;
    for (uint32_t p = 0; *same && p < now.path_count; p++)
        *same = strcmp(now.paths[p], table->paths[p]) == 0 && is_same(&now.stamps[p], &table->stamps[p]);
    forget_files(&now);
    return status == STATUS_BAD_INPUT ? STATUS_OK : status; /* what is not there is not the same */
}

/* ---- The schema ---- */

static struct load_options options_of(const struct file_table *table, const struct file_reading *reading,
                                      struct load_input *input)
{
    *input = (struct load_input){
        .table = FILE_TABLE, .paths = (const char *const *)table->paths, .path_count = table->path_count};
    return (struct load_options){.inputs = input,
                                 .input_count = 1,
                                 .threads = table->first && table->schema->text ? 1 : reading->threads,
                                 .memory = reading->memory,
                                 .first_rows = table->first,
                                 .parts = table->kept,
                                 .spill = reading->spill};
}

/* A type of a script has the column that a script of it has. */
static enum status read_columns(struct file_table *table, struct column *columns, struct error *error)
{
    struct schema_script script;
    bool *all;
    char *text = NULL;
    size_t bytes;
    FILE *const out = text_stream(&text, &bytes);
    if (!out)
        return error_out_of_memory(error, BUFSIZ, "a schema");
    enum status status =
        memory_zeros(&all, (table->schema->column_count + 1ull) * sizeof *all, "a schema", error);
    for (uint32_t c = 0; status == STATUS_OK && c < table->table.column_count; c++)
        all[table->fields[c]] = true;
    if (status == STATUS_OK)
        file_schema_write(table->schema, all, out);
    free(all);
    if (fclose(out) != 0 && status == STATUS_OK)
        status = error_out_of_memory(error, bytes, "a schema");
    status = AND_THEN(status, schema_script_parse(table->name, text, bytes, &script, error));
    free(text);
    RETURN_IF_ERROR(status);
    for (uint32_t c = 0; c < table->table.column_count; c++) {
        columns[c].schema = script.tables[0].columns[c];
        columns[c].value_bytes = column_schema_value_bytes(&columns[c].schema);
        columns[c].table = &table->table;
    }
    schema_script_free(&script);
    return STATUS_OK;
}

static enum status make_columns(struct file_table *table, struct error *error)
{
    struct column *columns;
    uint32_t count = 0;
    const uint64_t most = table->schema->column_count + 1ull;
    RETURN_IF_ERROR(memory_zeros(&table->fields, most * sizeof *table->fields, "columns", error));
    RETURN_IF_ERROR(memory_zeros(&columns, most * sizeof *columns, "columns", error));
    for (uint32_t f = 0; f < table->schema->column_count; f++)
        if (table->schema->columns[f].type[0])
            table->fields[count++] = f;
    table->table.columns = columns;
    table->table.column_count = count;
    return read_columns(table, columns, error);
}

static enum status open_table(struct file_table *table, const struct file_reading *reading,
                              struct error *error)
{
    struct load_input input;
    const char *const slash = strrchr(table->name, '/');
    RETURN_IF_ERROR(find_files(table->name, table, error));
    const struct load_options options = options_of(table, reading, &input);
    RETURN_IF_ERROR(file_schema_read(&options, &table->own, error));
    snprintf(table->table.name, sizeof table->table.name, "%.*s", NAME_BYTES - 1,
             slash && slash[1] ? slash + 1 : table->name);
    table->schema = &table->own;
    table->table.rows = table->own.rows;
    if (table->table.rows > TABLE_ROWS_MAX)
        return error_set(error, STATUS_BAD_INPUT, "%s: has more than %llu rows", table->name, TABLE_ROWS_MAX);
    RETURN_IF_ERROR(table_segments_set(&table->table, error));
    return make_columns(table, error);
}

enum status file_table_open(const char *name, const struct file_reading *reading, struct file_table **out,
                            struct error *error)
{
    struct file_table *table;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&table, sizeof *table, "a file", error));
    table->name = strdup(name);
    const enum status status =
        table->name ? open_table(table, reading, error) : error_out_of_memory(error, strlen(name), "a file");
    if (status == STATUS_OK)
        *out = table;
    else
        file_table_free(table);
    return status;
}

static enum status copy_files(const struct file_table *whole, struct file_table *table, struct error *error)
{
    const uint64_t count = whole->path_count + 1ull;
    table->name = strdup(whole->name);
    if (!table->name)
        return error_out_of_memory(error, strlen(whole->name), "a file");
    RETURN_IF_ERROR(memory_zeros(&table->paths, count * sizeof *table->paths, "files", error));
    RETURN_IF_ERROR(memory_zeros(&table->stamps, count * sizeof *table->stamps, "files", error));
    for (; table->path_count < whole->path_count; table->path_count++) {
        table->stamps[table->path_count] = whole->stamps[table->path_count];
        table->paths[table->path_count] = strdup(whole->paths[table->path_count]);
        if (!table->paths[table->path_count])
            return error_out_of_memory(error, strlen(whole->paths[table->path_count]), "files");
    }
    return STATUS_OK;
}

/* Gives the table, whose rows are said, its files and columns; frees it after an error. */
static enum status finish_some(const struct file_table *whole, struct file_table *table,
                               struct file_table **out, struct error *error)
{
    table->whole = whole;
    table->schema = whole->schema;
    enum status status = copy_files(whole, table, error);
    status = AND_THEN(status, make_columns(table, error));
    if (status == STATUS_OK)
        *out = table;
    else
        file_table_free(table);
    return status;
}

enum status file_table_first(const struct file_table *whole, uint64_t first, struct file_table **out,
                             struct error *error)
{
    struct file_table *table;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&table, sizeof *table, "a file", error));
    table->first = first;
    snprintf(table->table.name, sizeof table->table.name, "%.40s, first rows", whole->table.name);
    return finish_some(whole, table, out, error);
}

static enum status take_kept(struct file_table *table, const uint64_t *kept, struct error *error)
{
    RETURN_IF_ERROR(memory_take(&table->kept, table->part_words * sizeof *kept, "parts", error));
    memcpy(table->kept, kept, table->part_words * sizeof *kept);
    return table_segments_set(&table->table, error);
}

enum status file_table_some(const struct file_table *whole, const uint64_t *kept, uint64_t count,
                            uint64_t rows, const char *what, struct file_table **out, struct error *error)
{
    struct file_table *table;
    uint64_t some = 0;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&table, sizeof *table, "a file", error));
    table->part_words = (count + 63) / 64;
    table->table.rows = rows;
    for (uint64_t w = 0; w < table->part_words; w++)
        some += (uint64_t)__builtin_popcountll(kept[w]);
    snprintf(table->table.name, sizeof table->table.name, "%.24s, %" PRIu64 " of %" PRIu64 " %ss",
             whole->table.name, some, count, what);
    const enum status status = take_kept(table, kept, error);
    if (status == STATUS_OK)
        return finish_some(whole, table, out, error);
    file_table_free(table);
    return status;
}

void file_table_free(struct file_table *table)
{
    if (!table)
        return;
    for (struct file_part *part = table->parts, *next; part; part = next) {
        next = part->next;
        part_free(part);
    }
    file_schema_free(&table->own);
    forget_files(table);
    free((void *)table->table.columns); /* parts own what these name */
    free((void *)table->table.segment_rows);
    free(table->fields);
    free(table->kept);
    free(table->name);
    free(table);
}

/* ---- Columns ---- */

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at)
{
    (void)facts;
    (void)kind;
    (void)at;
    return remove(path);
}

/* Writes which of the schema's fields are loaded; false: none. */
static bool choose_fields(const struct file_table *table, const bool *needed, bool *wanted)
{
    bool any = false;
    for (uint32_t c = 0; c < table->table.column_count; c++) {
        wanted[table->fields[c]] = needed[c] && !table->table.columns[c].memory;
        any |= wanted[table->fields[c]];
    }
    return any;
}

static enum status load_fields(const struct file_table *table, const bool *wanted, const char *directory,
                               const struct file_reading *reading, struct error *error)
{
    struct load_input input;
    struct load_options options = options_of(table, reading, &input);
    struct load_report report;
    struct schema_script script;
    struct file_loading loading = {.list = NULL};
    char *text = NULL;
    size_t bytes;
    FILE *const out = text_stream(&text, &bytes);
    if (!out)
        return error_out_of_memory(error, BUFSIZ, "a schema");
    file_schema_write(table->schema, wanted, out);
    enum status status = fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, bytes, "a schema");
    options.directory = directory;
    options.transient = true;
    options.codecs = codec_quick()->name; /* most files are asked once or twice */
    status = AND_THEN(status, file_schema_options(table->schema, wanted, &options, &input, &loading, error));
    status = AND_THEN(status, schema_script_parse(table->name, text, bytes, &script, error));
    if (status == STATUS_OK) {
        status = tables_load(&script, &options, &report, NULL, error);
        schema_script_free(&script);
    }
    file_loading_free(&loading);
    free(text);
    return status;
}

/* Maps all of the columns that were loaded. */
static enum status open_part(const char *directory, unsigned threads, struct file_part *part,
                             struct error *error)
{
    RETURN_IF_ERROR(database_open(directory, &part->database, error));
    const struct table *const loaded = database_table_at(part->database, 0);
    RETURN_IF_ERROR(memory_zeros(&part->columns, (loaded->column_count + 1ull) * sizeof *part->columns,
                                 "columns", error));
    part->column_count = loaded->column_count;
    for (uint32_t c = 0; c < loaded->column_count; c++) {
        const struct dictionary *strings;
        RETURN_IF_ERROR(column_data_read(directory, &loaded->columns[c], loaded->columns[c].own, threads,
                                         &part->columns[c], error));
        RETURN_IF_ERROR(column_dictionary(&loaded->columns[c], threads, &strings, error));
    }
    return STATUS_OK;
}

/* Gives the table's columns what was loaded of them. Other statements may be bound meanwhile: what they read, a column's schema
 * and table, is never another one. */
static void take_part(struct file_table *table, const bool *wanted, const struct file_part *part)
{
    const struct table *const loaded = database_table_at(part->database, 0);
    struct column *const columns = (struct column *)table->table.columns;
    for (uint32_t c = 0, l = 0; c < table->table.column_count; c++) {
        if (!wanted[table->fields[c]])
            continue;
        struct column made = loaded->columns[l];
        made.schema = columns[c].schema;
        made.table = &table->table;
        made.memory = part->columns[l++];
        columns[c] = made;
    }
}

/* Of first rows it is known now how many there are. */
static enum status take_rows(struct file_table *table, const struct file_part *part, struct error *error)
{
    table->table.rows = database_table_at(part->database, 0)->rows;
    return table_segments_set(&table->table, error);
}

static enum status load_part(struct file_table *table, const bool *wanted, const char *directory,
                             const struct file_reading *reading, struct error *error)
{
    struct file_part *part;
    bool same = false;
    RETURN_IF_ERROR(load_fields(table, wanted, directory, reading, error));
    RETURN_IF_ERROR(memory_zeros(&part, sizeof *part, "columns", error));
    enum status status = open_part(directory, reading->threads, part, error);
    status = AND_THEN(status, file_table_compare(table, &same, error));
    if (status == STATUS_OK && table->first && !table->parts)
        status = take_rows(table, part, error);
    if (status == STATUS_OK && (!same || table->table.rows != database_table_at(part->database, 0)->rows))
        status =
            error_set(error, STATUS_BAD_INPUT, "%s: was changed while it was read; ask again", table->name);
    if (status != STATUS_OK) {
        part_free(part);
        return status;
    }
    take_part(table, wanted, part);
    part->next = table->parts;
    table->parts = part;
    return STATUS_OK;
}

/* Loads into a folder that is removed at once: what is mapped stays. */
static enum status load_in_folder(struct file_table *table, const bool *wanted,
                                  const struct file_reading *reading, struct error *error)
{
    char *folder, *directory = NULL;
    RETURN_IF_ERROR(path_format(&folder, error, "%s/tessera-file-XXXXXX", reading->spill));
    if (!mkdtemp(folder)) {
        const enum status status =
            error_set_errno(error, errno, "no folder can be made in %s", reading->spill);
        free(folder);
        return status;
    }
    enum status status = path_format(&directory, error, "%s/db", folder);
    status = AND_THEN(status, load_part(table, wanted, directory, reading, error));
    if (nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) !=
        0) /* which takes memory, and may lack some once */
        (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(directory);
    free(folder);
    return status;
}

enum status file_table_load(struct file_table *table, const bool *needed, const struct file_reading *reading,
                            struct error *error)
{
    bool *wanted;
    RETURN_IF_ERROR(
        memory_zeros(&wanted, (table->schema->column_count + 1ull) * sizeof *wanted, "columns", error));
    const enum status status =
        choose_fields(table, needed, wanted) ? load_in_folder(table, wanted, reading, error) : STATUS_OK;
    free(wanted);
    return status;
}
