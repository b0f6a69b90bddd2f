/* catalogue_writer.c: writes the catalogue's text; see catalogue.h. */
#define _GNU_SOURCE
#include "storage/database/catalogue.h"

#include "storage/base/text/json_text.h"
#include "storage/database/database_files.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define CHECKSUM_DIGITS 16

static json_t *format_key(const struct key_columns *key)
{
    json_t *list = json_array();
    int failed = !list;
    for (uint32_t k = 0; k < key->count; k++)
        failed |= json_array_append_new(list, json_integer(key->columns[k]));
    return json_whole(list, failed);
}

/* jansson's set functions own the value that they are given even when they fail, and they fail for NULL. So
 * one check of the sum of all results at the end of each object is enough. */
/* The generation of the only file, or a list of files. */
static int set_spans(json_t *object, const struct column_spans *spans)
{
    if (spans->count == 1)
        return json_object_set_new(object, "generation", json_integer((json_int_t)spans->list[0].generation));
    json_t *const list = json_array();
    int failed = 0;
    for (uint32_t i = 0; i < spans->count; i++) {
        const struct column_span *const span = &spans->list[i];
        json_t *const file = json_pack("{s:I, s:I}", "generation", (json_int_t)span->generation, "segments",
                                       (json_int_t)span->count);
        if (span->bytes)
            failed |= json_object_set_new(file, "bytes", json_integer((json_int_t)span->bytes));
        failed |= json_array_append_new(list, file);
    }
    return failed | json_object_set_new(object, "files", list);
}

static json_t *format_index(const struct column_index *index)
{
    json_t *bounds = json_array();
    int failed = !bounds;
    for (uint32_t b = 0; b < index->bin_count; b++)
        failed |= json_array_append_new(bounds, json_integer((json_int_t)index->bounds[b]));
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I}", "format", index_format_name(index->wish.format),
                               "bins", index_bins_name(index->wish.bins), "words", (json_int_t)index->words,
                               "fills", (json_int_t)index->fills, "bytes", (json_int_t)index->bytes);
    failed |= set_spans(object, &index->files);
    if (index->exact)
        failed |= json_object_set_new(object, "exact", json_true());
    if (index->wish.count)
        failed |= json_object_set_new(object, "count", json_integer(index->wish.count));
    failed |= json_object_set_new(object, "bounds", bounds);
    return json_whole(object, failed);
}

static json_t *format_column(const struct column *column)
{
    const struct column_schema *schema = &column->schema;
    const struct column_statistics *statistics = &column->statistics;
    json_t *object = json_object();
    int failed = json_object_set_new(object, "name", json_string(schema->name));
    failed |= json_object_set_new(object, "type", json_string(column_type_name(schema->type)));
    if (schema->type == TYPE_DECIMAL) {
        failed |= json_object_set_new(object, "precision", json_integer(schema->precision));
        failed |= json_object_set_new(object, "scale", json_integer(schema->scale));
    }
    if (schema->zoned)
        failed |= json_object_set_new(object, "time_zone", json_true());
    if (schema->nullable)
        failed |= json_object_set_new(object, "nullable", json_true());
    if (schema->primary_key)
        failed |= json_object_set_new(object, "primary_key", json_true());
    if (schema->references_table[0])
        failed |= json_object_set_new(
            object, "references",
            json_pack("{s:s, s:s}", "table", schema->references_table, "column", schema->references_column));
    if (schema->live)
        failed |= json_object_set_new(object, "live", json_true());
    if (schema->of.count) {
        failed |= json_object_set_new(object, "of", format_key(&schema->of));
        failed |= json_object_set_new(object, "key", format_key(&schema->key));
    }
    failed |= json_object_set_new(
        object, "statistics",
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "min", (json_int_t)statistics->min, "max",
                  (json_int_t)statistics->max, "nulls", (json_int_t)statistics->nulls, "runs",
                  (json_int_t)statistics->runs, "distinct", (json_int_t)statistics->distinct));
    if (schema->type == TYPE_DOUBLE && column->value_bytes == 8)
        failed |= json_object_set_new(object, "bits",
                                      json_pack("{s:i, s:i}", "finest", double_bits_finest(statistics->bits),
                                                "top", double_bits_top(statistics->bits)));
    if (column->dictionary_blocks)
        failed |= json_object_set_new(object, "dictionary_blocks", json_true());
    failed |= set_spans(object, &column->sides);
    if (column->strings_generation != column->sides.list[0].generation)
        failed |=
            json_object_set_new(object, "strings", json_integer((json_int_t)column->strings_generation));
    failed |= json_object_set_new(object, "own", json_string(codec_by_id(column->own)->name));
    failed |= json_object_set_new(object, "chosen_by", json_string(column->own_name));
    json_t *chosen = json_object(), *encodings = json_array();
    for (int c = CHOOSER_GPU_STAR; c <= CHOOSER_AUTO; c++)
        if (column->chosen[c] != CODEC_NONE)
            failed |= json_object_set_new(chosen, chooser_name((enum chooser)c),
                                          json_string(codec_by_id(column->chosen[c])->name));
    failed |= json_object_set_new(object, "chosen", chosen);
    for (uint32_t e = 0; e < column->encoding_count; e++) {
        const struct encoding_info *info = &column->encodings[e];
        json_t *const encoding = json_pack("{s:s, s:I}", "codec", codec_by_id(info->codec)->name, "bytes",
                                           (json_int_t)info->bytes);
        failed |= set_spans(encoding, &info->files);
        failed |= json_array_append_new(encodings, encoding);
    }
    failed |= json_object_set_new(object, "encodings", encodings);
    if (column->index)
        failed |= json_object_set_new(object, "index", format_index(column->index));
    return json_whole(object, failed);
}

static bool segments_regular(const struct table *table)
{
    for (uint32_t s = 0; s + 1 < table->segment_count; s++)
        if (table->segment_rows[s] != SEGMENT_ROWS)
            return false;
    return true;
}

/* The lowest version that knows the column. */
static unsigned column_version(const struct column *column)
{
    bool files = column->sides.count > 1 || column->schema.live;
    if (column->schema.zoned)
        return 11;
    if (column->index && column->index->files.count > 1)
        return 9;
    for (uint32_t e = 0; e < column->encoding_count; e++)
        files |= column->encodings[e].files.count > 1;
    if (files)
        return 8;
    if (column->dictionary_blocks)
        return 7;
    if (column->schema.type == TYPE_DOUBLE)
        return 6;
    if (column->index)
        return 3;
    return column->schema.type == TYPE_TIMESTAMP ? 2 : 1;
}

/* The lowest version that knows everything in the catalogue. */
static unsigned version_needed(const struct catalogue *catalogue)
{
    unsigned version = catalogue->view_count ? 10 : 1;
    for (uint32_t t = 0; t < catalogue->table_count; t++) {
        const struct table *table = &catalogue->tables[t];
        unsigned needed = table->part.of ? 5 : table->levels ? 4 : segments_regular(table) ? 1 : 2;
        for (uint32_t c = 0; c < table->column_count; c++) {
            const unsigned of_column = column_version(&table->columns[c]);
            needed = of_column > needed ? of_column : needed;
        }
        if (table->key.count || table_visible_columns(table) < table->column_count)
            needed = needed > 7 ? needed : 7;
        if (table->clustering.count || (table_live(table) && catalogue_has_positions(catalogue, table)))
            needed = needed > 9 ? needed : 9;
        version = needed > version ? needed : version;
    }
    return version;
}

/* What levels_file.h leaves to the catalogue. */
static json_t *format_levels(const struct table *table)
{
    const struct table_levels *const levels = table->levels;
    json_t *columns = json_array(), *bits = json_array(), *depth = json_array();
    int failed = 0;
    for (uint32_t l = 0; l < levels->count; l++) {
        failed |=
            json_array_append_new(columns, json_string(table->columns[levels->level[l].column].schema.name));
        failed |= json_array_append_new(bits, json_integer(levels->level[l].bits));
    }
    for (uint32_t c = 0; c < table->column_count; c++)
        failed |= json_array_append_new(depth, json_integer(levels->depth[c]));
    json_t *object =
        json_pack("{s:o, s:o, s:I, s:I, s:I, s:o}", "columns", columns, "bits", bits, "rest_bits",
                  (json_int_t)levels->rest_bits, "positions", (json_int_t)levels->positions, "leaves",
                  (json_int_t)levels->leaf_count, "depth", depth);
    return json_whole(object, failed);
}

static json_t *format_part(const struct table_part *part)
{
    char origin[17];
    snprintf(origin, sizeof origin, "%016" PRIx64, part->origin);
    return json_pack("{s:I, s:I, s:I, s:I, s:s}", "number", (json_int_t)part->number, "of",
                     (json_int_t)part->of, "first", (json_int_t)part->first, "rows",
                     (json_int_t)part->whole_rows, "origin", origin);
}

static json_t *format_clustering(const struct table *table)
{
    json_t *list = json_array();
    int failed = !list;
    for (uint32_t t = 0; t < table->clustering.count; t++) {
        const struct cluster_term *const term = &table->clustering.terms[t];
        failed |= json_array_append_new(list, json_pack("{s:I, s:I}", "column", (json_int_t)term->column,
                                                        "number", (json_int_t)term->number));
    }
    return json_whole(list, failed);
}

static json_t *format_table(const struct table *table)
{
    json_t *columns = json_array(), *segments = segments_regular(table) ? NULL : json_array();
    json_t *object = json_pack("{s:s, s:I}", "name", table->name, "rows", (json_int_t)table->rows);
    int failed = 0;
    for (uint32_t s = 0; segments && s < table->segment_count; s++)
        failed |= json_array_append_new(segments, json_integer(table->segment_rows[s]));
    if (table->part.of)
        failed |= json_object_set_new(object, "part", format_part(&table->part));
    if (segments)
        failed |= json_object_set_new(object, "segments", segments);
    else
        failed |= !segments_regular(table);
    for (uint32_t c = 0; c < table->column_count; c++)
        failed |= json_array_append_new(columns, format_column(&table->columns[c]));
    if (table->key.count)
        failed |= json_object_set_new(object, "key", format_key(&table->key));
    if (table->levels)
        failed |= json_object_set_new(object, "levels", format_levels(table));
    if (table->clustering.count)
        failed |= json_object_set_new(object, "clustering", format_clustering(table));
    failed |= json_object_set_new(object, "columns", columns);
    return json_whole(object, failed);
}

static json_t *format_views(const struct catalogue *catalogue)
{
    json_t *list = json_array();
    int failed = !list;
    for (uint32_t v = 0; v < catalogue->view_count; v++)
        failed |= json_array_append_new(list, json_pack("{s:s, s:s}", "name", catalogue->views[v].name,
                                                        "query", catalogue->views[v].query));
    return json_whole(list, failed);
}

static json_t *format_root(const struct catalogue *catalogue)
{
    json_t *tables = json_array();
    int failed = 0;
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        failed |= json_array_append_new(tables, format_table(&catalogue->tables[t]));
    json_t *root = json_pack("{s:I, s:o}", "generation", (json_int_t)catalogue->generation, "tables", tables);
    if (catalogue->view_count)
        failed |= json_object_set_new(root, "views", format_views(catalogue));
    return json_whole(root, failed);
}

/* Reads the text as every later command will: a catalogue that cannot be read is never committed. */
static enum status check_text(const char *path, const char *text, size_t size, struct error *error)
{
    struct catalogue again;
    struct error reason = {0};
    const enum status status = catalogue_parse(path, text, size, &again, &reason);
    catalogue_free(&again);
    if (status == STATUS_OK || error_of_system(status, &reason))
        return status == STATUS_OK ? status : error_set(error, status, "%s", reason.text);
    return error_set(error, STATUS_MACHINE,
                     "the new catalogue is wrong, so nothing was changed; this is a fault of Tessera: %s",
                     reason.text);
}

/* Puts the line with the checksum before the JSON. */
static enum status add_checksum(unsigned version, const char *json, char **text, size_t *bytes,
                                struct error *error)
{
    const int length = asprintf(text, "tessera catalogue %u %016u\n%s\n", version, 0u, json);
    if (length < 0) {
        *text = NULL;
        return error_out_of_memory(error, strlen(json), "the catalogue");
    }
    const size_t line = strcspn(*text, "\n");
    char checksum[CHECKSUM_DIGITS + 1];
    snprintf(checksum, sizeof checksum, "%016" PRIx64,
             XXH3_64bits(*text + line + 1, (size_t)length - line - 1));
    memcpy(*text + line - CHECKSUM_DIGITS, checksum, CHECKSUM_DIGITS);
    *bytes = (size_t)length;
    return STATUS_OK;
}

/* The text of the catalogue's file; free() it. */
static enum status print_catalogue(const struct catalogue *catalogue, char **text, size_t *bytes,
                                   struct error *error)
{
    json_t *const root = format_root(catalogue);
    char *const json = root ? json_print(root, JSON_INDENT(1)) : NULL;
    *text = NULL;
    const enum status status =
        json ? add_checksum(version_needed(catalogue), json, text, bytes, error)
             : error_out_of_memory(error, catalogue->table_count * sizeof(struct table), "the catalogue");
    json_decref(root);
    free(json);
    return status;
}

enum status catalogue_copy(const char *path, const struct catalogue *catalogue, struct catalogue *copy,
                           struct error *error)
{
    char *text;
    size_t bytes;
    *copy = (struct catalogue){0};
    enum status status = print_catalogue(catalogue, &text, &bytes, error);
    status = AND_THEN(status, catalogue_parse(path, text, bytes, copy, error));
    free(text);
    return status;
}

static enum status write_new(const char *path, const struct catalogue *catalogue, struct error *error)
{
    char *text;
    size_t bytes;
    enum status status = print_catalogue(catalogue, &text, &bytes, error);
    status = AND_THEN(status, check_text(path, text, bytes, error));
    status = AND_THEN(status, file_write_whole(path, text, (uint64_t)bytes, error));
    free(text);
    return status;
}

/* Whether link() failed because the file system has no hard links, or this file too many. */
static bool has_no_links(int reason)
{
    return reason == EPERM || reason == EOPNOTSUPP || reason == ENOSYS || reason == EMLINK;
}

/* Gives the superseded catalogue a second name, by which later writers know which files its readers may still
 * open. On a file system without hard links, readers of the old state are told to open the database again. */
static enum status keep_old(const char *directory, const char *path, uint64_t generation, struct error *error)
{
    char *old = NULL;
    RETURN_IF_ERROR(path_format(&old, error, "%s/" CATALOGUE_FILE ".%" PRIu64, directory, generation));
    unlink(old); /* an interrupted commit may have left it */
    enum status status = STATUS_OK;
    if (link(path, old) != 0 && errno != ENOENT &&
        !has_no_links(errno)) /* the first commit has no old catalogue */
        status = error_set_errno(error, errno, "cannot keep %s as %s for those who read it", path, old);
    free(old);
    return status;
}

enum status catalogue_write(const char *directory, const struct catalogue *catalogue, bool *renamed,
                            struct error *error)
{
    *renamed = false;
    char *path = NULL, *new_path = NULL;
    enum status status = path_format(&path, error, "%s/" CATALOGUE_FILE, directory);
    status = AND_THEN(status, path_format(&new_path, error, "%s/" CATALOGUE_NEW_FILE, directory));
    status = AND_THEN(status, write_new(new_path, catalogue, error));
    status = AND_THEN(status, keep_old(directory, path, catalogue->generation - 1, error));
    if (status == STATUS_OK) {
        if (rename(new_path, path) == 0)
            *renamed = true;
        else
            status = error_set_errno(error, errno, "cannot rename %s to %s", new_path, path);
    }
    if (new_path && !*renamed)
        unlink(new_path);
    struct error why = {0};
    if (*renamed && directory_sync(directory, &why) != STATUS_OK)
        status = error_set(error, STATUS_NOT_DURABLE,
                           "%s was changed, and the change is visible, but it may not survive a power cut: "
                           "%s; do not repeat it, and run `sync` or look at the disk",
                           directory, why.text);
    free(path);
    free(new_path);
    return status;
}
