/* catalogue.c: reads the catalogue's text and checks all of it; see catalogue.h. */
#include "storage/database/catalogue_parser.h"

#include "storage/base/text/json_text.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"
#include "storage/column/levels_file.h"
#include "storage/database/database_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define FIRST_LINE_BYTES 64

enum status catalogue_parse_wrong(const struct parser *parser, const char *field)
{
    return error_set(parser->error, STATUS_BAD_INPUT,
                     "%s: %s%s%s%s: \"%s\" is missing or not valid; this is not a catalogue that Tessera "
                     "wrote: load the database again",
                     parser->path, parser->table ? "table " : "top", parser->table ? parser->table : "",
                     parser->column ? "." : "", parser->column ? parser->column : "", field);
}

enum status catalogue_parse_integer(const struct parser *parser, const json_t *object, const char *key,
                                    int64_t low, int64_t high, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return catalogue_parse_wrong(parser, key);
    *out = json_integer_value(value);
    return *out < low || *out > high ? catalogue_parse_wrong(parser, key) : STATUS_OK;
}

enum status catalogue_parse_count(const struct parser *parser, const json_t *object, const char *key,
                                  uint64_t high, uint64_t *out)
{
    int64_t value = 0;
    RETURN_IF_ERROR(catalogue_parse_integer(parser, object, key, 0, (int64_t)high, &value));
    *out = (uint64_t)value;
    return STATUS_OK;
}

/* Parses a flag; an absent flag is false. */
enum status catalogue_parse_flag(const struct parser *parser, const json_t *object, const char *key,
                                 bool *out)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_boolean(value))
        return catalogue_parse_wrong(parser, key);
    *out = json_is_true(value);
    return STATUS_OK;
}

enum status catalogue_parse_name(const struct parser *parser, const json_t *object, const char *key,
                                 char *out)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text || !name_valid(text))
        return catalogue_parse_wrong(parser, key);
    memcpy(out, text, strlen(text) + 1);
    return STATUS_OK;
}

/* Parses the segments' rows. If they are absent, all segments but the last are full. */
static enum status parse_segments(const struct parser *parser, const json_t *object, struct table *table)
{
    const json_t *list = json_object_get(object, "segments");
    if (!list)
        return table_segments_set(table, parser->error);
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > TABLE_SEGMENTS_MAX)
        return catalogue_parse_wrong(parser, "segments");
    uint32_t *rows;
    RETURN_IF_ERROR(memory_zeros(&rows, (count + 1) * sizeof *rows, "the catalogue", parser->error));
    table->segment_rows = rows;
    table->segment_count = (uint32_t)count;
    uint64_t sum = 0;
    for (size_t s = 0; s < count; s++) {
        const json_t *value = json_array_get(list, s);
        json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
        if (number < 1 || number > (json_int_t)SEGMENT_ROWS)
            return catalogue_parse_wrong(parser, "segments");
        rows[s] = (uint32_t)number;
        sum += rows[s];
    }
    return sum == table->rows ? STATUS_OK : catalogue_parse_wrong(parser, "segments");
}

/* A whole number of a list; -1 if it is not there. */
static int64_t list_number(const json_t *list, size_t at)
{
    const json_t *value = json_array_get(list, at);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static enum status parse_level(const struct parser *parser, const json_t *object, uint32_t l,
                               const struct table *table, struct table_levels *levels)
{
    const char *const name = json_string_value(json_array_get(json_object_get(object, "columns"), l));
    const int64_t bits = list_number(json_object_get(object, "bits"), l);
    const struct column *column = NULL;
    if (!name || table_column(table, name, &column, NULL) != STATUS_OK || column->schema.references_table[0])
        return catalogue_parse_wrong(parser, "columns");
    if (bits < 0 || bits > LEVELS_BITS_MAX)
        return catalogue_parse_wrong(parser, "bits");
    levels->level[l] = (struct level){.column = (uint32_t)(column - table->columns), .bits = (uint32_t)bits};
    levels->prefix_bits += (uint32_t)bits;
    for (uint32_t before = 0; before < l; before++)
        if (levels->level[before].column == levels->level[l].column)
            return catalogue_parse_wrong(parser, "columns");
    return STATUS_OK;
}

/* A level decides its own column, so that column's depth is at most the level's number. */
static enum status parse_depth(const struct parser *parser, const json_t *object, const struct table *table,
                               struct table_levels *levels)
{
    const json_t *const list = json_object_get(object, "depth");
    uint8_t *depth;
    if (json_array_size(list) != table->column_count)
        return catalogue_parse_wrong(parser, "depth");
    RETURN_IF_ERROR(memory_take(&depth, table->column_count, "the catalogue", parser->error));
    levels->depth = depth;
    for (uint32_t c = 0; c < table->column_count; c++) {
        const int64_t value = list_number(list, c);
        if (value < 0 || value > levels->count + 1)
            return catalogue_parse_wrong(parser, "depth");
        depth[c] = (uint8_t)value;
    }
    for (uint32_t l = 0; l < levels->count; l++)
        if (depth[levels->level[l].column] > l + 1)
            return catalogue_parse_wrong(parser, "depth");
    return STATUS_OK;
}

/* Parses levels, whose leaves are in another file (levels_file.h). */
static enum status parse_levels(const struct parser *parser, const json_t *object, struct table *table)
{
    struct table_levels *levels;
    uint64_t rest, leaves;
    if (!object)
        return STATUS_OK;
    const size_t count = json_array_size(json_object_get(object, "columns"));
    if (table->rows == 0 || !levels_key(table) || levels_key(table)->sides.count > 1)
        return catalogue_parse_wrong(parser, "levels");
    if (count == 0 || count > LEVELS_MAX || json_array_size(json_object_get(object, "bits")) != count)
        return catalogue_parse_wrong(parser, "columns");
    RETURN_IF_ERROR(memory_zeros(&levels, sizeof *levels, "the catalogue", parser->error));
    table->levels = levels;
    levels->count = (uint32_t)count;
    for (uint32_t l = 0; l < levels->count; l++)
        RETURN_IF_ERROR(parse_level(parser, object, l, table, levels));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "rest_bits", LEVELS_BITS_MAX, &rest));
    levels->rest_bits = (uint32_t)rest;
    if (levels->prefix_bits + levels->rest_bits > LEVELS_BITS_MAX)
        return catalogue_parse_wrong(parser, "bits");
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "positions",
                                          UINT64_C(1) << (levels->prefix_bits + levels->rest_bits),
                                          &levels->positions));
    if (levels->positions < table->rows)
        return catalogue_parse_wrong(parser, "positions");
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "leaves",
                                          table->rows < LEAVES_MAX ? table->rows : LEAVES_MAX, &leaves));
    if (leaves == 0 || leaves > UINT64_C(1) << levels->prefix_bits)
        return catalogue_parse_wrong(parser, "leaves");
    levels->leaf_count = (uint32_t)leaves;
    return parse_depth(parser, object, table, levels);
}

static enum status parse_part(const struct parser *parser, const json_t *object, struct table *table)
{
    struct table_part *const part = &table->part;
    uint64_t number, of;
    char again[17] = "";
    if (!object)
        return STATUS_OK;
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "of", TABLE_PARTS_MAX, &of));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "number", of, &number));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "rows", TABLE_ROWS_MAX, &part->whole_rows));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "first", part->whole_rows, &part->first));
    if (number == 0 || part->whole_rows - part->first < table->rows)
        return catalogue_parse_wrong(parser, "part");
    const char *const origin = json_string_value(json_object_get(object, "origin"));
    if (origin && sscanf(origin, "%16" SCNx64, &part->origin) == 1)
        snprintf(again, sizeof again, "%016" PRIx64, part->origin);
    if (!origin || strcmp(origin, again) != 0)
        return catalogue_parse_wrong(parser, "origin");
    part->number = (uint32_t)number;
    part->of = (uint32_t)of;
    return STATUS_OK;
}

/* True if the table has the key's columns, and no two of them are the same. */
static bool key_of_table(const struct key_columns *key, const struct table *table)
{
    for (uint32_t k = 0; k < key->count; k++) {
        if (key->columns[k] >= table_visible_columns(table))
            return false;
        for (uint32_t before = 0; before < k; before++)
            if (key->columns[before] == key->columns[k])
                return false;
    }
    return true;
}

static enum status parse_clustering(const struct parser *parser, const json_t *list, struct table *table)
{
    struct clustering *const clustering = &table->clustering;
    const size_t count = json_array_size(list);
    if (!list)
        return STATUS_OK;
    if (count == 0 || count > CLUSTER_TERMS_MAX)
        return catalogue_parse_wrong(parser, "clustering");
    for (size_t t = 0; t < count; t++) {
        uint64_t column, number;
        RETURN_IF_ERROR(catalogue_parse_count(parser, json_array_get(list, t), "column",
                                              table_visible_columns(table) - 1, &column));
        RETURN_IF_ERROR(catalogue_parse_count(parser, json_array_get(list, t), "number", 64, &number));
        bool wrong = number == 0;
        for (size_t before = 0; before < t; before++)
            wrong |= clustering->terms[before].column == column;
        if (wrong)
            return catalogue_parse_wrong(parser, "clustering");
        clustering->terms[clustering->count++] =
            (struct cluster_term){.column = (uint32_t)column, .number = (uint32_t)number};
    }
    return STATUS_OK;
}

static enum status parse_table(struct parser *parser, const json_t *object, struct table *table)
{
    parser->table = parser->column = NULL;
    RETURN_IF_ERROR(catalogue_parse_name(parser, object, "name", table->name));
    parser->table = table->name;
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "rows", TABLE_ROWS_MAX, &table->rows));
    RETURN_IF_ERROR(parse_part(parser, json_object_get(object, "part"), table));
    RETURN_IF_ERROR(parse_segments(parser, object, table));
    const json_t *list = json_object_get(object, "columns");
    size_t count = json_array_size(list);
    if (count == 0)
        return catalogue_parse_wrong(parser, "columns");
    struct column *columns;
    RETURN_IF_ERROR(memory_zeros(&columns, count * sizeof *columns, "the catalogue", parser->error));
    table->columns = columns;
    for (size_t c = 0; c < count; c++) {
        table->column_count++;
        columns[c].table = table;
        RETURN_IF_ERROR(catalogue_parse_column(parser, json_array_get(list, c), table->rows, &columns[c]));
        for (size_t other = 0; other < c; other++)
            if (strcmp(columns[other].schema.name, columns[c].schema.name) == 0)
                return catalogue_parse_wrong(parser, "name");
    }
    for (uint32_t c = 0; c < table_visible_columns(table); c++)
        if (columns[c].schema.of.count || columns[c].schema.live) /* such columns are the last ones */
            return catalogue_parse_wrong(parser, "of");
    if (table->column_count > 1 && columns[table->column_count - 2].schema.live)
        return catalogue_parse_wrong(parser, "live");
    parser->column = NULL;
    RETURN_IF_ERROR(catalogue_parse_key(parser, object, "key", &table->key));
    if (!key_of_table(&table->key, table))
        return catalogue_parse_wrong(parser, "key");
    RETURN_IF_ERROR(parse_clustering(parser, json_object_get(object, "clustering"), table));
    return parse_levels(parser, json_object_get(object, "levels"), table);
}

static enum status resolve_references(struct parser *parser, struct catalogue *catalogue)
{
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        for (uint32_t c = 0; c < catalogue->tables[t].column_count; c++) {
            struct column *column = (struct column *)&catalogue->tables[t].columns[c];
            const struct column_schema *schema = &column->schema;
            if (!schema->references_table[0])
                continue;
            parser->table = catalogue->tables[t].name;
            parser->column = schema->name;
            const struct table *target = catalogue_table(catalogue, schema->references_table);
            const struct column *key;
            if (!target || table_column(target, schema->references_column, &key, NULL) != STATUS_OK)
                return catalogue_parse_wrong(parser, "references");
            /* A key of a key has no values of its own, and may lead round in a circle. That of several columns has none
             * anyway, and is not asked for. */
            if (schema->of.count == 0 && key->schema.references_table[0])
                return catalogue_parse_wrong(parser, "references");
            if (schema->of.count &&
                (!key_of_table(&schema->key, target) || schema->key.columns[0] != key - target->columns ||
                 !key_of_table(&schema->of, &catalogue->tables[t])))
                return catalogue_parse_wrong(parser, "of");
            column->references = key;
        }
    return STATUS_OK;
}

static enum status parse_view(struct parser *parser, const json_t *object, struct catalogue *catalogue)
{
    struct catalogue_view *const view = &catalogue->views[catalogue->view_count];
    const char *const query = json_string_value(json_object_get(object, "query"));
    parser->table = parser->column = NULL;
    RETURN_IF_ERROR(catalogue_parse_name(parser, object, "name", view->name));
    parser->table = view->name;
    bool wrong = !query || !*query || strlen(query) > CATALOGUE_VIEW_BYTES_MAX;
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        wrong |= word_compare(catalogue->tables[t].name, view->name) == 0;
    if (wrong || catalogue_view(catalogue, view->name))
        return catalogue_parse_wrong(parser, "views");
    view->query = strdup(query);
    if (!view->query)
        return error_out_of_memory(parser->error, strlen(query), "the catalogue");
    catalogue->view_count++;
    return STATUS_OK;
}

static enum status parse_views(struct parser *parser, const json_t *list, struct catalogue *catalogue)
{
    const size_t count = json_array_size(list);
    if (!list)
        return STATUS_OK;
    if (count == 0)
        return catalogue_parse_wrong(parser, "views");
    RETURN_IF_ERROR(
        memory_zeros(&catalogue->views, count * sizeof *catalogue->views, "the catalogue", parser->error));
    for (size_t v = 0; v < count; v++)
        RETURN_IF_ERROR(parse_view(parser, json_array_get(list, v), catalogue));
    return STATUS_OK;
}

static enum status parse_root(struct parser *parser, const json_t *root, struct catalogue *catalogue)
{
    RETURN_IF_ERROR(
        catalogue_parse_count(parser, root, "generation", CATALOGUE_INTEGER_MAX - 1, &catalogue->generation));
    const json_t *list = json_object_get(root, "tables");
    if (!json_is_array(list))
        return catalogue_parse_wrong(parser, "tables");
    size_t count = json_array_size(list);
    RETURN_IF_ERROR(memory_zeros(&catalogue->tables, (count + 1) * sizeof *catalogue->tables, "the catalogue",
                                 parser->error));
    for (size_t t = 0; t < count; t++) {
        struct table *table = &catalogue->tables[t];
        catalogue->table_count++;
        RETURN_IF_ERROR(parse_table(parser, json_array_get(list, t), table));
        parser->column = NULL;
        for (size_t other = 0; other < t; other++)
            if (strcmp(catalogue->tables[other].name, table->name) == 0)
                return catalogue_parse_wrong(parser, "name");
    }
    RETURN_IF_ERROR(resolve_references(parser, catalogue));
    return parse_views(parser, json_object_get(root, "views"), catalogue);
}

static enum status parse_text(const char *path, const char *text, size_t size, struct catalogue *catalogue,
                              struct error *error)
{
    static const char magic[] = "tessera catalogue ";
    const char *newline = memchr(text, '\n', size < FIRST_LINE_BYTES ? size : FIRST_LINE_BYTES);
    if (size < sizeof magic || memcmp(text, magic, sizeof magic - 1) != 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: this is no catalogue of a Tessera database; name a directory that `tessera "
                         "load` or `tessera ssb load` wrote",
                         path);
    unsigned version = 0;
    uint64_t checksum = 0;
    char line[FIRST_LINE_BYTES + 1] = "", again[FIRST_LINE_BYTES + 1];
    if (newline)
        memcpy(line, text, (size_t)(newline - text));
    int fields = sscanf(line, "tessera catalogue %u %16" SCNx64, &version, &checksum);
    if (fields >= 1 && version > CATALOGUE_VERSION)
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s: catalogue version %u is newer than the %u that this program reads; use a newer Tessera",
            path, version, CATALOGUE_VERSION);
    snprintf(again, sizeof again, "tessera catalogue %u %016" PRIx64, version, checksum);
    size_t begin = newline ? (size_t)(newline - text) + 1 : size;
    if (fields != 2 || version == 0 || strcmp(line, again) != 0 ||
        checksum != XXH3_64bits(text + begin, size - begin))
        return error_set(error, STATUS_CHECK_FAILED,
                         "%s: the catalogue is damaged (wrong checksum); restore it from a copy or load the "
                         "database again",
                         path);
    struct json_fault json_fault;
    json_t *root;
    enum status status = json_read(text + begin, size - begin, &root, &json_fault, error);
    if (status == STATUS_BAD_INPUT)
        return error_set(error, status, "%s: line %u: %s; load the database again", path, json_fault.line + 1,
                         json_fault.what);
    RETURN_IF_ERROR(status);
    struct parser parser = {.path = path, .error = error};
    status = parse_root(&parser, root, catalogue);
    json_decref(root);
    return status;
}

enum status catalogue_parse(const char *path, const char *text, size_t size, struct catalogue *catalogue,
                            struct error *error)
{
    *catalogue = (struct catalogue){0};
    const enum status status = parse_text(path, text, size, catalogue, error);
    if (status != STATUS_OK)
        catalogue_free(catalogue);
    return status;
}

static enum status open_text(const char *directory, const char *path, int *descriptor, uint64_t *size,
                             struct error *error)
{
    struct stat stat_of;
    if (stat(directory, &stat_of) != 0)
        return error_set_errno(
            error, errno, "cannot open database %s%s", directory,
            errno == ENOENT ? " (CREATE TABLE, `tessera load` or `tessera ssb load` makes one)" : "");
    if (!S_ISDIR(stat_of.st_mode))
        return error_set(error, STATUS_BAD_INPUT,
                         "%s is no database: it is not a directory; name a directory that `tessera load` or "
                         "`tessera ssb load` wrote",
                         directory);
    bool missing;
    enum status status = file_open(path, descriptor, size, &missing, error);
    if (missing)
        return error_set(
            error, STATUS_BAD_INPUT,
            "%s is no database, or its first load did not finish: it has no file \"" CATALOGUE_FILE
            "\"; load it with `tessera load` or `tessera ssb load`",
            directory);
    return status;
}

static enum status read_text(const char *path, int descriptor, uint64_t bytes, char **text, size_t *size,
                             struct error *error)
{
    uint64_t got;
    *text = NULL;
    *size = 0;
    if (bytes > CATALOGUE_BYTES_MAX)
        return error_set(error, STATUS_BAD_INPUT, "%s: this is no catalogue; load the database again", path);
    RETURN_IF_ERROR(memory_take(text, bytes, "the catalogue", error));
    const int reason = file_get(descriptor, *text, bytes, 0, &got);
    if (reason)
        return error_set_errno(error, reason, "cannot read %s", path);
    *size = got; /* if the file became shorter, its checksum is wrong */
    return STATUS_OK;
}

static enum status read_catalogue(const char *path, int descriptor, uint64_t bytes,
                                  struct catalogue *catalogue, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    enum status status = read_text(path, descriptor, bytes, &text, &size, error);
    status = AND_THEN(status, catalogue_parse(path, text, size, catalogue, error));
    free(text);
    return status;
}

/* Takes a reader's lock of the catalogue's open file; *current gets whether the path still names it. On a file system
 * without locks, a reader holds nothing, and gets an error when a file is gone. */
static enum status hold(const char *path, int descriptor, bool *current, struct error *error)
{
    const int reason = file_flock(descriptor, LOCK_SH);
    *current = true;
    if (reason == ENOLCK || reason == ENOSYS || reason == EOPNOTSUPP || reason == EINVAL)
        return STATUS_OK;
    return reason ? error_set_errno(error, reason, "cannot lock %s", path)
                  : file_is_at(path, descriptor, current, error);
}

enum status catalogue_hold(const char *directory, struct catalogue *catalogue, int *descriptor,
                           struct error *error)
{
    *catalogue = (struct catalogue){0};
    *descriptor = -1;
    uint64_t size = 0;
    char *path = NULL;
    RETURN_IF_ERROR(path_format(&path, error, "%s/" CATALOGUE_FILE, directory));
    bool current = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !current) {
        if (*descriptor >= 0)
            close(*descriptor); /* the catalogue was superseded before its lock was taken */
        *descriptor = -1;
        status = open_text(directory, path, descriptor, &size, error);
        status = AND_THEN(status, hold(path, *descriptor, &current, error));
    }
    status = AND_THEN(status, read_catalogue(path, *descriptor, size, catalogue, error));
    if (status != STATUS_OK && *descriptor >= 0) {
        close(*descriptor);
        *descriptor = -1;
    }
    free(path);
    return status;
}

enum status catalogue_read(const char *directory, struct catalogue *catalogue, struct error *error)
{
    int descriptor;
    RETURN_IF_ERROR(catalogue_hold(directory, catalogue, &descriptor, error));
    close(descriptor);
    return STATUS_OK;
}

enum status catalogue_read_file(const char *path, struct catalogue *catalogue, struct error *error)
{
    *catalogue = (struct catalogue){0};
    int descriptor;
    uint64_t size;
    RETURN_IF_ERROR(file_open(path, &descriptor, &size, NULL, error));
    enum status status = read_catalogue(path, descriptor, size, catalogue, error);
    close(descriptor);
    return status;
}

void catalogue_free(struct catalogue *catalogue)
{
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        table_free(&catalogue->tables[t]);
    free(catalogue->tables);
    for (uint32_t v = 0; v < catalogue->view_count; v++)
        free(catalogue->views[v].query);
    free(catalogue->views);
    *catalogue = (struct catalogue){0};
}

struct catalogue_view *catalogue_view(const struct catalogue *catalogue, const char *name)
{
    for (uint32_t v = 0; v < catalogue->view_count; v++)
        if (word_compare(catalogue->views[v].name, name) == 0)
            return &catalogue->views[v];
    return NULL;
}

const struct table *catalogue_table(const struct catalogue *catalogue, const char *name)
{
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        if (strcmp(catalogue->tables[t].name, name) == 0)
            return &catalogue->tables[t];
    return NULL;
}

bool catalogue_has_positions(const struct catalogue *catalogue, const struct table *table)
{
    bool any = table->levels != NULL;
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        for (uint32_t c = 0; c < catalogue->tables[t].column_count; c++)
            any |= strcmp(catalogue->tables[t].columns[c].schema.references_table, table->name) == 0;
    return any;
}
