/* load.c: see load.h. */
#define _GNU_SOURCE
#include "ssb/data/load.h"

#include "loader/table/table_loader.h"
#include "loader/text/text_file.h"
#include "ssb/data/codecs.h"
#include "ssb/data/load_generated.h"
#include "ssb/data/origin.h"
#include "ssb/data/schema.h"
#include "storage/base/number/number_text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- From text ---- */

static enum status find_file(const char *folder, enum ssb_table table, char path[PATH_MAX],
                             struct error *error)
{
    uint64_t bytes;
    if (snprintf(path, PATH_MAX, "%s/%s.tbl", folder, ssb_table_info(table)->name) >= PATH_MAX)
        return error_set(error, STATUS_BAD_INPUT, "the path %s is too long", folder);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s is missing; `tessera ssb generate --sf N --out %s` makes the five .tbl files",
                         path, folder);
    RETURN_IF_ERROR(text_file_check(path, &bytes, error));
    return bytes
               ? STATUS_OK
               : error_set(error, STATUS_BAD_INPUT, "%s is empty; it must hold one line for each row", path);
}

static enum status load_text(const char *folder, const struct load_options *asked, struct progress *progress,
                             struct error *error)
{
    char paths[SSB_TABLES][PATH_MAX];
    const char *files[SSB_TABLES];
    struct load_input inputs[SSB_TABLES];
    struct load_options load = *asked;
    struct load_report report;
    struct schema_script schema;
    for (enum ssb_table table = 0; table < SSB_TABLES; table++) {
        RETURN_IF_ERROR(find_file(folder, table, paths[table], error));
        files[table] = paths[table];
        inputs[table] = (struct load_input){
            .table = ssb_table_info(table)->name, .paths = &files[table], .path_count = 1};
    }
    load.inputs = inputs;
    load.input_count = SSB_TABLES;
    load.text = (struct text_options){.delimiter = '|', .header = TEXT_HEADER_NO, .verbatim = true};
    load.narrow = "lo_orderkey";
    load.advice = "correct the row; nothing was loaded";
    RETURN_IF_ERROR(ssb_schema_make(true, load.dangling_null, &schema, error));
    const enum status status = tables_load(&schema, &load, &report, progress, error);
    schema_script_free(&schema);
    return status;
}

/* ---- Parts ---- */

/* Parts of a load fit together if all that decides rows and positions is the same. */
static uint64_t load_number(const struct ssb_load_options *options)
{
    const struct ssb_options *data = &options->data;
    char text[256];
    const int length = number_print(text, sizeof text, "%.17g %s %s %s %d %d %u", data->scale_factor,
                                    ssb_mode_words[data->mode], ssb_variant_words[data->variant],
                                    ssb_dates_words[data->dates], options->dangling_null,
                                    (int)options->dimension_order, options->parts);
    uint64_t number = XXH3_64bits_withSeed(text, (size_t)length, data->skew);
    for (uint32_t l = 0; l < options->level_count; l++)
        number = XXH3_64bits_withSeed(options->levels[l], strlen(options->levels[l]), number);
    return number;
}

/* ---- The database ---- */

/* ssb.json is written before the tables become visible, and gets its name after that. So everything that can
 * fail, except for that rename, happens before the commit. */
struct origin_write {
    const char *directory;
    const struct ssb_origin *origin;
    bool prepared;
};

static enum status prepare_origin(void *context, struct error *error)
{
    struct origin_write *write = context;
    write->prepared = true;
    return ssb_origin_prepare(write->directory, write->origin, error);
}

static enum status load_with(const struct ssb_load_options *options, const char *codecs,
                             const struct ssb_origin *origin, struct progress *progress, struct error *error)
{
    struct origin_write write = {.directory = options->directory, .origin = origin};
    const struct load_options load = {.directory = options->directory,
                                      .spill = options->spill,
                                      .codecs = codecs,
                                      .sort_by = options->sort_by,
                                      .cluster_by = options->cluster_by,
                                      .workload = options->workload,
                                      .indexes = options->indexes,
                                      .dimension_order = options->dimension_order,
                                      .levels = options->levels,
                                      .level_count = options->level_count,
                                      .dangling_null = options->dangling_null,
                                      .replace = options->replace,
                                      .threads = options->threads,
                                      .before_commit = prepare_origin,
                                      .before_commit_context = &write};
    const struct table_part part = {
        .number = options->part, .of = options->parts, .origin = load_number(options)};
    const bool made = access(options->directory, F_OK) != 0 && errno == ENOENT;
    const enum status status = options->from
                                   ? load_text(options->from, &load, progress, error)
                                   : ssb_load_generated(&options->data, &part, &load, progress, error);
    if (status == STATUS_OK)
        return ssb_origin_publish(options->directory, error);
    if (status == STATUS_NOT_DURABLE) { /* the tables are there, and what is said of them must be theirs */
        RETURN_IF_ERROR(ssb_origin_publish(options->directory, NULL));
        return status;
    }
    if (write.prepared)
        ssb_origin_discard(options->directory);
    /* The writer removes a directory that it created only if it is empty; ssb.json was still in it. */
    if (write.prepared && made)
        rmdir(options->directory);
    return status;
}

static enum status refuse_existing(const char *directory, struct error *error)
{
    struct database *database;
    struct error reason = {0};
    const enum status status = database_open(directory, &database, &reason);
    if (status != STATUS_OK && error_of_system(status, &reason))
        return error_set(error, status, "%s", reason.text);
    if (status != STATUS_OK)
        return STATUS_OK; /* the writer decides whether the directory can become a database */
    database_close(database);
    return error_set(
        error, STATUS_BAD_INPUT,
        "%s is a database already; name another directory, or give --force to replace its SSB tables",
        directory);
}

enum status ssb_load(const struct ssb_load_options *options, struct progress *progress, struct error *error)
{
    char codecs[SSB_CODECS_BYTES];
    uint32_t sort_by;
    RETURN_IF_ERROR(ssb_codecs_list(options->codecs, codecs, error));
    if (options->sort_by)
        RETURN_IF_ERROR(ssb_lineorder_column_find(options->sort_by, &sort_by, error));
    if (options->parts && options->from)
        return error_set(
            error, STATUS_BAD_INPUT,
            "--part takes a part of the rows that are generated, and --from reads files; give one of them");
    if (!options->replace)
        RETURN_IF_ERROR(refuse_existing(options->directory, error));
    struct ssb_origin origin = {.options = options->data, .dangling_null = options->dangling_null};
    if (options->from && !(origin.from = realpath(options->from, NULL)))
        return error_set_errno(error, errno, "cannot open the folder %s", options->from);
    const enum status status = load_with(options, codecs, &origin, progress, error);
    ssb_origin_free(&origin);
    return status;
}
