/* command_inspect.c: `tessera inspect`, which shows the codecs, sizes and statistics of a database's
 * columns, or what an ORC or Parquet file holds. */
#include "engine/program/commands.h"

#include "engine/program/inspect_candidates.h"
#include "engine/program/inspect_index.h"
#include "engine/program/inspect_clustering.h"
#include "engine/program/inspect_levels.h"
#include "engine/plan/value_text.h"
#include "loader/columnar/columnar_inspect.h"
#include "storage/base/command/command_line.h"
#include "storage/base/text/json_text.h"
#include "storage/codec/codec_costs.h"
#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/column/levels_file.h"
#include "storage/database/database.h"
#include "storage/database/changes/live_rows.h"

#include <inttypes.h>
#include <jansson.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES 28 /* room for a least or greatest value in the table: an SSB string and its zero */

struct inspect_options {
    const char *database;
    const char *what; /* TABLE or TABLE.COLUMN, NULL: all; without a database, a file, or a database */
    bool json;
};

/* ---- Figures ---- */

static uint64_t table_tiles(const struct table *table)
{
    return (table->rows + TILE_ROWS - 1) / TILE_ROWS; /* only the last segment has a part of one */
}

static double bits_per_value(const struct column *column, uint64_t bytes)
{
    return column->table->rows ? 8.0 * (double)bytes / (double)column->table->rows : 0.0;
}

/* The compression ratio to an array of the column's integers. */
static double ratio(const struct column *column, uint64_t bytes)
{
    return bytes ? (double)column->table->rows * column->value_bytes / (double)bytes : 1.0;
}

static uint64_t own_bytes(const struct column *column)
{
    for (uint32_t e = 0; e < column->encoding_count; e++)
        if (column->encodings[e].codec == column->own)
            return column->encodings[e].bytes;
    return 0;
}

static void add_disk(struct disk_bytes *into, const struct disk_bytes *from)
{
    into->columns += from->columns;
    into->other_encodings += from->other_encodings;
    into->dictionaries += from->dictionaries;
    into->indexes += from->indexes;
    into->side_files += from->side_files;
    into->catalogue += from->catalogue;
}

/* What is shown of a table beside what its catalogue says. */
struct shown_table {
    struct disk_bytes disk;
    uint64_t deleted; /* rows */
    struct shown_term terms[CLUSTER_TERMS_MAX];
};

/* Adds the bytes on disk of one column of the table, or of all columns (NULL), counts the deleted rows, and reads what else is
 * shown. */
static enum status table_read(const struct database *database, const struct table *table,
                              const struct column *only, struct shown_table *shown, struct error *error)
{
    const struct dictionary *dictionary;
    uint64_t live;
    *shown = (struct shown_table){0};
    RETURN_IF_ERROR(live_rows_count(database_path(database), table, &live, error));
    shown->deleted = table->rows - live;
    for (uint32_t c = 0; c < table->column_count; c++)
        if (!only || only == &table->columns[c]) {
            RETURN_IF_ERROR(column_dictionary(&table->columns[c], 0, &dictionary, error));
            RETURN_IF_ERROR(database_disk_bytes(database, &table->columns[c], &shown->disk, error));
        }
    RETURN_IF_ERROR(inspect_clustering_read(database_path(database), table, shown->terms, error));
    return levels_load(table, error);
}

static bool has_values(const struct column *column)
{
    return column->statistics.min <= column->statistics.max;
}

/* ---- As a table ---- */

static void print_dictionary(const struct stored_dictionary *stored)
{
    const struct dictionary *const dictionary = &stored->dictionary;
    printf("    dictionary of %" PRIu32 " string%s, %" PRIu64 " bytes on disk, %" PRIu64 " in memory\n",
           dictionary->count, dictionary->count == 1 ? "" : "s", stored->disk_bytes,
           stored_dictionary_memory(stored));
}

/* "positions in t (a, b)". */
static void print_reference(const struct column *column)
{
    const struct key_columns *const key = &column->schema.key;
    printf("    positions in %s (%s", column->schema.references_table, column->schema.references_column);
    for (uint32_t k = 1; k < key->count; k++)
        printf(", %s", column->references->table->columns[key->columns[k]].schema.name);
    puts(")");
}

static void print_column(const struct column *column)
{
    const struct column_statistics *statistics = &column->statistics;
    char type[32], least[TEXT_BYTES] = "-", greatest[TEXT_BYTES] = "-", codec[64];
    uint64_t bytes = own_bytes(column);
    if (has_values(column)) {
        value_text(column, statistics->min, least, sizeof least);
        value_text(column, statistics->max, greatest, sizeof greatest);
    }
    const char *name = codec_by_id(column->own)->name;
    snprintf(codec, sizeof codec, strcmp(name, column->own_name) == 0 ? "%s" : "%s (%s)", name,
             column->own_name);
    printf("  %-20s %-13s %-22s %10.3f %8.2f %14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64
           "  %s .. %s\n",
           column->schema.name, column_type_text(&column->schema, type), codec, bits_per_value(column, bytes),
           ratio(column, bytes), bytes, statistics->distinct, statistics->runs, statistics->nulls, least,
           greatest);
    if (column->schema.references_table[0])
        print_reference(column);
    if (column->stored_dictionary)
        print_dictionary(column->stored_dictionary);
    if (column->table->levels)
        inspect_depth_print(column);
    if (column->index)
        inspect_index_print(column);
    for (uint32_t e = 0; e < column->encoding_count; e++)
        if (column->encodings[e].codec != column->own)
            printf("    also as %-45s %10.3f %8.2f %14" PRIu64 "\n",
                   codec_by_id(column->encodings[e].codec)->name,
                   bits_per_value(column, column->encodings[e].bytes),
                   ratio(column, column->encodings[e].bytes), column->encodings[e].bytes);
}

static void print_disk(const char *what, const struct disk_bytes *disk)
{
    printf("%s: %" PRIu64 " bytes of files: columns %" PRIu64, what, disk_bytes_total(disk), disk->columns);
    if (disk->other_encodings)
        printf(", other encodings of them %" PRIu64, disk->other_encodings);
    if (disk->dictionaries)
        printf(", dictionaries %" PRIu64, disk->dictionaries);
    if (disk->indexes)
        printf(", indexes %" PRIu64, disk->indexes);
    printf(", side files %" PRIu64, disk->side_files);
    if (disk->catalogue)
        printf(", catalogue %" PRIu64, disk->catalogue);
    putchar('\n');
}

static void print_table(const struct table *table, const struct column *only, const struct shown_table *shown)
{
    const uint64_t deleted = shown->deleted;
    uint64_t bytes = 0, plain = 0;
    printf("%s: %" PRIu64 " row%s, ", table->name, table->rows, table->rows == 1 ? "" : "s");
    if (deleted)
        printf("of which %" PRIu64 " %s deleted, ", deleted, deleted == 1 ? "is" : "are");
    printf("%u segment%s, %" PRIu64 " tile%s\n", table->segment_count, table->segment_count == 1 ? "" : "s",
           table_tiles(table), table_tiles(table) == 1 ? "" : "s");
    if (table->levels && !only)
        inspect_levels_print(table);
    if (table->clustering.count && !only)
        inspect_clustering_print(table, shown->terms);
    printf("  %-20s %-13s %-22s %10s %8s %14s %12s %12s %10s  %s\n", "column", "type", "codec (chosen by)",
           "bits/value", "ratio", "bytes", "distinct", "runs", "nulls", "least .. greatest");
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct column *column = &table->columns[c];
        bytes += own_bytes(column);
        plain += table->rows * column->value_bytes;
        if (!only || only == column)
            print_column(column);
    }
    if (!only)
        printf("  all %u columns: %" PRIu64 " bytes, plain integers %" PRIu64 ", ratio %.2f\n",
               table->column_count, bytes, plain, bytes ? (double)plain / (double)bytes : 1.0);
    print_disk("  on disk", &shown->disk);
    if (!only)
        putchar('\n');
}

/* Prints why the column has its codec: the sizes and costs of all codecs. */
static void print_candidates(const struct column *column, const struct inspect_candidates *found)
{
    const bool costs = found->choice.chooser == CHOOSER_AUTO;
    if (!found->rows)
        return;
    printf("\n  first segment (%u rows) in each codec; ", found->rows);
    if (found->choice.codec)
        puts("it was asked for by name");
    else if (costs)
        printf("%s takes the least cost by the table of %s (%s), or far fewer bytes\n", column->own_name,
               found->choice.costs->device, found->choice.costs->source);
    else
        printf("%s takes the least size\n", column->own_name);
    printf("  %-20s %14s %10s %8s%s\n", "codec", "bytes", "bits/value", "ratio", costs ? "  ns/value" : "");
    for (uint32_t c = 0; c < CODEC_COUNT - 1; c++) {
        const struct codec_candidate *candidate = &found->candidates[c];
        const char mark = candidate->codec == column->own ? '*' : ' ';
        if (!candidate->bytes) {
            printf("%c %-20s %14s\n", mark, codec_by_id(candidate->codec)->name, "cannot hold it");
            continue;
        }
        printf("%c %-20s %14" PRIu64 " %10.3f %8.2f", mark, codec_by_id(candidate->codec)->name,
               candidate->bytes, 8.0 * (double)candidate->bytes / found->rows,
               (double)found->rows * column->value_bytes / (double)candidate->bytes);
        if (!candidate->considered)
            puts(found->choice.codec ? "" : "  not considered");
        else if (costs)
            printf(" %9.5f\n", candidate->cost);
        else
            putchar('\n');
    }
    /* a column that was appended to, or loaded with another cost table, keeps what was the best codec then */
    if (codec_candidates_best(&found->choice, found->candidates)->codec != column->own)
        puts("  by what the segment and the costs are now another is less: the column keeps what was chosen "
             "when it was loaded");
}

/* ---- As JSON ---- */

static json_t *json_of_candidates(const struct column *column, const struct inspect_candidates *found)
{
    const bool costs = found->choice.chooser == CHOOSER_AUTO;
    json_t *list = json_array();
    int failed = 0;
    for (uint32_t c = 0; found->rows && c < CODEC_COUNT - 1; c++) {
        const struct codec_candidate *candidate = &found->candidates[c];
        json_t *object = json_pack("{s:s, s:b, s:b, s:I}", "codec", codec_by_id(candidate->codec)->name,
                                   "taken", candidate->codec == column->own, "considered",
                                   candidate->considered, "bytes", (json_int_t)candidate->bytes);
        if (candidate->bytes) {
            failed |= json_object_set_new(object, "bits_per_value",
                                          json_real(8.0 * (double)candidate->bytes / found->rows));
            failed |= json_object_set_new(
                object, "ratio",
                json_real((double)found->rows * column->value_bytes / (double)candidate->bytes));
        }
        if (candidate->considered && candidate->bytes && costs)
            failed |= json_object_set_new(object, "ns_per_value", json_real(candidate->cost));
        failed |= json_array_append_new(list, object);
    }
    json_t *object = json_pack("{s:I, s:o}", "rows", (json_int_t)found->rows, "candidates", list);
    if (costs && found->rows)
        failed |= json_object_set_new(object, "costs", json_string(found->choice.costs->device)) |
                  json_object_set_new(object, "costs_from", json_string(found->choice.costs->source));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *json_of_value(const struct column *column, int64_t value)
{
    char text[256];
    if (!has_values(column))
        return json_null();
    json_t *string = json_string(value_text(column, value, text, sizeof text));
    if (!string) { /* JSON must be UTF-8, but a dictionary may not be */
        for (char *c = text; *c; c++)
            *c = (unsigned char)*c < 128 ? *c : '?';
        string = json_string(text);
    }
    return json_pack("{s:I, s:o}", "stored", (json_int_t)value, "text", string);
}

static json_t *json_of_disk(const struct disk_bytes *disk)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "columns", (json_int_t)disk->columns,
                     "other_encodings", (json_int_t)disk->other_encodings, "dictionaries",
                     (json_int_t)disk->dictionaries, "indexes", (json_int_t)disk->indexes, "side_files",
                     (json_int_t)disk->side_files, "catalogue", (json_int_t)disk->catalogue, "total",
                     (json_int_t)disk_bytes_total(disk));
}

static json_t *json_of_column(const struct column *column)
{
    const struct column_statistics *statistics = &column->statistics;
    char type[32];
    json_t *encodings = json_array();
    int failed = 0;
    for (uint32_t e = 0; e < column->encoding_count; e++) {
        const struct encoding_info *info = &column->encodings[e];
        failed |= json_array_append_new(
            encodings, json_pack("{s:s, s:I, s:f, s:f}", "codec", codec_by_id(info->codec)->name, "bytes",
                                 (json_int_t)info->bytes, "bits_per_value",
                                 bits_per_value(column, info->bytes), "ratio", ratio(column, info->bytes)));
    }
    json_t *object =
        json_pack("{s:s, s:s, s:b, s:b, s:s, s:s, s:i, s:f, s:f, s:I, s:o, s:o, s:I, s:I, s:I, s:o}", "name",
                  column->schema.name, "type", column_type_text(&column->schema, type), "nullable",
                  column->schema.nullable, "primary_key", column->schema.primary_key, "codec",
                  codec_by_id(column->own)->name, "chosen_by", column->own_name, "value_bytes",
                  (int)column->value_bytes, "bits_per_value", bits_per_value(column, own_bytes(column)),
                  "ratio", ratio(column, own_bytes(column)), "bytes", (json_int_t)own_bytes(column), "min",
                  json_of_value(column, statistics->min), "max", json_of_value(column, statistics->max),
                  "distinct", (json_int_t)statistics->distinct, "runs", (json_int_t)statistics->runs, "nulls",
                  (json_int_t)statistics->nulls, "encodings", encodings);
    if (object && column->schema.references_table[0])
        failed |= json_object_set_new(object, "references",
                                      json_pack("{s:s, s:s}", "table", column->schema.references_table,
                                                "column", column->schema.references_column));
    if (object && column->stored_dictionary) {
        const struct stored_dictionary *const stored = column->stored_dictionary;
        failed |= json_object_set_new(object, "dictionary_strings", json_integer(stored->dictionary.count));
        failed |= json_object_set_new(object, "dictionary_disk_bytes",
                                      json_integer((json_int_t)stored->disk_bytes));
        failed |= json_object_set_new(object, "dictionary_memory_bytes",
                                      json_integer((json_int_t)stored_dictionary_memory(stored)));
    }
    if (object && column->index)
        failed |= json_object_set_new(object, "index", inspect_index_json(column));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *json_of_table(const struct table *table, const struct column *only,
                             const struct shown_table *shown)
{
    json_t *columns = json_array();
    int failed = 0;
    for (uint32_t c = 0; c < table->column_count; c++)
        if (!only || only == &table->columns[c])
            failed |= json_array_append_new(columns, json_of_column(&table->columns[c]));
    if (failed) {
        json_decref(columns);
        return NULL;
    }
    json_t *object = json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "name", table->name, "rows",
                               (json_int_t)table->rows, "deleted", (json_int_t)shown->deleted, "segments",
                               (json_int_t)table->segment_count, "tiles", (json_int_t)table_tiles(table),
                               "columns", columns, "disk", json_of_disk(&shown->disk));
    if (object && table->clustering.count &&
        json_object_set_new(object, "clustering", inspect_clustering_json(table, shown->terms)) != 0) {
        json_decref(object);
        return NULL;
    }
    if (!object || !table->levels || json_object_set_new(object, "levels", inspect_levels_json(table)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- The command ---- */

static enum status read_what(void *arguments, const char *text, struct error *error)
{
    struct inspect_options *options = arguments;
    if (options->what)
        return error_set(error, STATUS_BAD_INPUT, "one table or column at most, not also '%s'", text);
    options->what = text;
    return STATUS_OK;
}

static enum status check_what(void *arguments, const char *unused, struct error *error)
{
    const struct inspect_options *options = arguments;
    (void)unused;
    if (options->database || (options->what && access(options->what, F_OK) == 0))
        return STATUS_OK;
    if (options->what && errno != ENOENT && errno != ENOTDIR)
        return error_set_errno(error, errno, "cannot open %s", options->what);
    return error_set(error, STATUS_BAD_INPUT, "which database? Add --db DIR%s%s%s",
                     options->what ? " (there is no file '" : ", or give an ORC or Parquet file",
                     options->what ? options->what : "", options->what ? "')" : "");
}

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Finds TABLE or TABLE.COLUMN; names have no dot. */
static enum status find(const struct database *database, const char *what, const struct table **table,
                        const struct column **column, struct error *error)
{
    char name[NAME_BYTES];
    const char *dot = strchr(what, '.');
    snprintf(name, sizeof name, "%.*s", dot ? (int)(dot - what) : (int)strlen(what), what);
    RETURN_IF_ERROR(database_table(database, name, table, error));
    return dot ? table_column(*table, dot + 1, column, error) : STATUS_OK;
}

static enum status inspect(struct database *database, const struct inspect_options *options,
                           struct error *error)
{
    struct inspect_candidates candidates = {0};
    struct shown_table shown;
    struct disk_bytes all = {0};
    const struct table *table = NULL;
    const struct column *column = NULL;
    json_t *tables = options->json ? json_array() : NULL;
    enum status status = options->what ? find(database, options->what, &table, &column, error) : STATUS_OK;
    int failed = options->json && !tables;
    if (status == STATUS_OK && column)
        status = inspect_candidates_find(database, column, &candidates, error);
    for (uint32_t t = 0; status == STATUS_OK && t < database_table_count(database); t++) {
        const struct table *each = database_table_at(database, t);
        if (table && each != table)
            continue;
        status = table_read(database, each, column, &shown, error);
        add_disk(&all, &shown.disk);
        if (status == STATUS_OK && options->json)
            failed |= json_array_append_new(tables, json_of_table(each, column, &shown));
        else if (status == STATUS_OK)
            print_table(each, column, &shown);
    }
    if (status == STATUS_OK && !table) {
        status = database_disk_bytes(database, NULL, &all, error);
        if (status == STATUS_OK && !options->json)
            print_disk(database_path(database), &all);
    }
    if (status == STATUS_OK && column && !options->json)
        print_candidates(column, &candidates);
    if (status == STATUS_OK && options->json) {
        json_t *root = json_pack("{s:s, s:O, s:o}", "database", database_path(database), "tables", tables,
                                 "disk", json_of_disk(&all));
        failed |= !root;
        if (root && column)
            failed |= json_object_set_new(root, "first_segment", json_of_candidates(column, &candidates));
        if (!failed)
            status = json_write(root, JSON_INDENT(2), stdout, error); /* main reports a failed write */
        json_decref(root);
    }
    json_decref(tables);
    return failed && status == STATUS_OK ? error_out_of_memory(error, 4096, "the answer as JSON") : status;
}

enum status command_inspect(int argc, char **argv, struct progress *progress, struct error *error)
{
    static const struct command_option known[] = {
        {"db", 'd', "DIR", "the database to look at", TO_TEXT(struct inspect_options, database)},
        {"format", 'f', "FORMAT", "table (the default) or json",
         TO_WORD(struct inspect_options, json, "table|json")},
        {0},
    };
    static const struct command_line line = {
        .options = known,
        .words_help = "[TABLE[.COLUMN]]\nDIR\nFILE.orc\nFILE.parquet",
        .word = read_what,
        .finish = check_what,
        .help = "Lists a database's tables and columns: the codec and what chose it, bits per value, how "
                "many times smaller than plain integers, statistics, deleted rows, all encodings that are "
                "stored, bitmap "
                "indexes, levels of dimensions, and what the files take on disk. Of one column also why it "
                "is in its codec: what each codec would take for its first segment, and what that costs by "
                "the table that auto chooses by.\n\n"
                "Of an ORC file, its version, writer and compression, its stripes, and each column's type, "
                "encodings and streams; of a Parquet file its row groups instead of stripes.",
    };
    struct inspect_options options = {0};
    struct database *database = NULL;
    (void)progress;
    RETURN_IF_ERROR(command_line_read(&line, argc, argv, &options, error));
    if (!options.database && !is_directory(options.what))
        return columnar_inspect(options.what, options.json, stdout, error);
    if (!options.database) {
        options.database = options.what;
        options.what = NULL;
    }
    RETURN_IF_ERROR(database_open(options.database, &database, error));
    enum status status = inspect(database, &options, error);
    database_close(database);
    return status;
}
