/* catalogue.c: reads the catalogue's text and checks all of it; see catalogue.h. */
#include "storage/database/catalogue.h"

#include "storage/base/text/json_text.h"
#include "storage/base/memory.h"
#include "storage/column/levels_file.h"
#include "storage/database/database_files.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define FIRST_LINE_BYTES 64
#define INTEGER_MAX      ((uint64_t)INT64_MAX)

/* The parser's place in the text, for error sentences. */
struct parser {
    const char *path;
    const char *table, *column; /* NULL: the parser is not inside one */
    struct error *error;
};

static enum status wrong(const struct parser *parser, const char *field)
{
    return error_set(parser->error, STATUS_BAD_INPUT,
                     "%s: %s%s%s%s: \"%s\" is missing or not valid; this is not a catalogue that Tessera "
                     "wrote: load the database again",
                     parser->path, parser->table ? "table " : "top", parser->table ? parser->table : "",
                     parser->column ? "." : "", parser->column ? parser->column : "", field);
}

static enum status parse_integer(const struct parser *parser, const json_t *object, const char *key,
                                 int64_t low, int64_t high, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return wrong(parser, key);
    *out = json_integer_value(value);
    return *out < low || *out > high ? wrong(parser, key) : STATUS_OK;
}

static enum status parse_count(const struct parser *parser, const json_t *object, const char *key,
                               uint64_t high, uint64_t *out)
{
    int64_t value = 0;
    RETURN_IF_ERROR(parse_integer(parser, object, key, 0, (int64_t)high, &value));
    *out = (uint64_t)value;
    return STATUS_OK;
}

/* Parses a flag; an absent flag is false. */
static enum status parse_flag(const struct parser *parser, const json_t *object, const char *key, bool *out)
{
    const json_t *value = json_object_get(object, key);
    if (value && !json_is_boolean(value))
        return wrong(parser, key);
    *out = json_is_true(value);
    return STATUS_OK;
}

static enum status parse_name(const struct parser *parser, const json_t *object, const char *key, char *out)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text || !name_valid(text))
        return wrong(parser, key);
    memcpy(out, text, strlen(text) + 1);
    return STATUS_OK;
}

static enum status parse_codec(const struct parser *parser, const json_t *value, const char *key,
                               enum codec_id *out)
{
    const char *name = json_string_value(value);
    if (!name)
        return wrong(parser, key);
    const struct codec *codec = codec_by_name(name);
    if (!codec)
        return error_set(
            parser->error, STATUS_BAD_INPUT,
            "%s: table %s.%s: the codec \"%s\" is not known to this program; use a newer Tessera",
            parser->path, parser->table, parser->column, name);
    *out = codec->id;
    return STATUS_OK;
}

/* Parses the numbers of a key's columns, which are checked when all tables are known. */
static enum status parse_key(const struct parser *parser, const json_t *object, const char *name,
                             struct key_columns *key)
{
    const json_t *const list = json_object_get(object, name);
    const size_t count = json_array_size(list);
    if (!list)
        return STATUS_OK;
    if (count == 0 || count > KEY_COLUMNS_MAX)
        return wrong(parser, name);
    for (size_t k = 0; k < count; k++) {
        const json_t *const value = json_array_get(list, k);
        const json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
        if (number < 0 || number > UINT16_MAX)
            return wrong(parser, name);
        key->columns[key->count++] = (uint16_t)number;
    }
    return STATUS_OK;
}

static enum status parse_schema(struct parser *parser, const json_t *object, struct column_schema *schema)
{
    parser->column = NULL;
    RETURN_IF_ERROR(parse_name(parser, object, "name", schema->name));
    parser->column = schema->name;
    const char *type = json_string_value(json_object_get(object, "type"));
    const char *name;
    schema->type = (enum column_type)0;
    while ((name = column_type_name(schema->type)) && (!type || strcmp(type, name) != 0))
        schema->type++;
    if (!name)
        return wrong(parser, "type");
    if (schema->type == TYPE_DECIMAL) {
        int64_t precision = 0, scale = 0;
        RETURN_IF_ERROR(parse_integer(parser, object, "precision", 1, 18, &precision));
        RETURN_IF_ERROR(parse_integer(parser, object, "scale", 0, precision, &scale));
        schema->precision = (uint8_t)precision;
        schema->scale = (uint8_t)scale;
    }
    RETURN_IF_ERROR(parse_flag(parser, object, "nullable", &schema->nullable));
    RETURN_IF_ERROR(parse_flag(parser, object, "primary_key", &schema->primary_key));
    const json_t *references = json_object_get(object, "references");
    if (references) {
        RETURN_IF_ERROR(parse_name(parser, references, "table", schema->references_table));
        RETURN_IF_ERROR(parse_name(parser, references, "column", schema->references_column));
    }
    RETURN_IF_ERROR(parse_key(parser, object, "of", &schema->of));
    RETURN_IF_ERROR(parse_key(parser, object, "key", &schema->key));
    if (schema->of.count != schema->key.count || (schema->of.count && (!references || schema->primary_key)))
        return wrong(parser, "of");
    return STATUS_OK;
}

static enum status parse_statistics(const struct parser *parser, const json_t *column, uint64_t rows,
                                    struct column_statistics *statistics)
{
    const json_t *object = json_object_get(column, "statistics");
    RETURN_IF_ERROR(parse_integer(parser, object, "min", INT64_MIN, INT64_MAX, &statistics->min));
    RETURN_IF_ERROR(parse_integer(parser, object, "max", INT64_MIN, INT64_MAX, &statistics->max));
    RETURN_IF_ERROR(parse_count(parser, object, "nulls", rows, &statistics->nulls));
    RETURN_IF_ERROR(parse_count(parser, object, "runs", rows, &statistics->runs));
    RETURN_IF_ERROR(parse_count(parser, object, "distinct", rows, &statistics->distinct));
    const json_t *const bits = json_object_get(column, "bits");
    int64_t finest = DOUBLE_FINEST, top = DOUBLE_TOP;
    if (bits) {
        RETURN_IF_ERROR(parse_integer(parser, bits, "finest", DOUBLE_FINEST, DOUBLE_TOP, &finest));
        RETURN_IF_ERROR(parse_integer(parser, bits, "top", DOUBLE_FINEST, DOUBLE_TOP, &top));
        statistics->bits = double_bits_of((int)finest, (int)top);
    }
    return STATUS_OK;
}

static enum status parse_encodings(const struct parser *parser, const json_t *object, struct column *column)
{
    const json_t *list = json_object_get(object, "encodings");
    size_t count = json_array_size(list);
    if (count == 0 || count >= CODEC_COUNT)
        return wrong(parser, "encodings");
    struct encoding_info *encodings;
    RETURN_IF_ERROR(memory_zeros(&encodings, count * sizeof *encodings, "the catalogue", parser->error));
    column->encodings = encodings;
    for (size_t e = 0; e < count; e++) {
        const json_t *entry = json_array_get(list, e);
        struct encoding_info info = {0};
        RETURN_IF_ERROR(parse_codec(parser, json_object_get(entry, "codec"), "codec", &info.codec));
        RETURN_IF_ERROR(parse_count(parser, entry, "bytes", INTEGER_MAX, &info.bytes));
        RETURN_IF_ERROR(parse_count(parser, entry, "generation", INTEGER_MAX, &info.generation));
        if (column_encoding(column, info.codec))
            return wrong(parser, "encodings");
        encodings[e] = info;
        column->encoding_count++;
    }
    return STATUS_OK;
}

/* The position of a word in a list of names; `count` if it is not there. */
static uint32_t word_of(const json_t *object, const char *key, const char *(*name)(uint32_t), uint32_t count)
{
    const char *text = json_string_value(json_object_get(object, key));
    uint32_t w = 0;
    while (w < count && (!text || strcmp(text, name(w)) != 0))
        w++;
    return w;
}

static const char *format_word(uint32_t number)
{
    return index_format_name((enum index_format)number);
}

static const char *bins_word(uint32_t number)
{
    return index_bins_name((enum index_bins)number);
}

/* The bounds of an index: each bin begins within the column's range, the first with its minimum. */
static enum status parse_bounds(const struct parser *parser, const json_t *object,
                                const struct column_statistics *statistics, struct column_index *index)
{
    const json_t *list = json_object_get(object, "bounds");
    const size_t count = json_array_size(list);
    int64_t *bounds, least = statistics->min;
    if (!json_is_array(list) || count > INDEX_BINS_MAX || (count == 0) != (statistics->min > statistics->max))
        return wrong(parser, "bounds");
    RETURN_IF_ERROR(memory_zeros(&bounds, (count + 1) * sizeof *bounds, "the catalogue", parser->error));
    index->bounds = bounds;
    for (size_t b = 0; b < count; b++) {
        const json_t *value = json_array_get(list, b);
        bounds[b] = json_is_integer(value) ? json_integer_value(value) : INT64_MIN;
        if (!json_is_integer(value) || bounds[b] < least || bounds[b] > statistics->max ||
            (b == 0 && bounds[b] != least))
            return wrong(parser, "bounds");
        least = bounds[b] < INT64_MAX ? bounds[b] + 1 : bounds[b];
        if (b > 0 && bounds[b] == bounds[b - 1])
            return wrong(parser, "bounds");
    }
    index->bin_count = (uint32_t)count;
    return STATUS_OK;
}

static enum status parse_index(const struct parser *parser, const json_t *object, struct column *column)
{
    struct column_index *index;
    uint64_t count = 0;
    if (!object)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&index, sizeof *index, "the catalogue", parser->error));
    column->index = index;
    const uint32_t format = word_of(object, "format", format_word, INDEX_FORMAT_COUNT);
    const uint32_t bins = word_of(object, "bins", bins_word, INDEX_BINS_COUNT);
    if (format == 0 || format == INDEX_FORMAT_COUNT)
        return wrong(parser, "format");
    if (bins == INDEX_BINS_COUNT)
        return wrong(parser, "bins");
    if (bins == INDEX_WIDTH || bins == INDEX_DEPTH)
        RETURN_IF_ERROR(parse_count(parser, object, "count", INDEX_BINS_MAX, &count));
    if ((bins == INDEX_WIDTH || bins == INDEX_DEPTH) && count == 0)
        return wrong(parser, "count");
    index->wish = (struct index_wish){
        .format = (enum index_format)format, .bins = (enum index_bins)bins, .count = (uint32_t)count};
    RETURN_IF_ERROR(parse_count(parser, object, "words", INTEGER_MAX, &index->words));
    RETURN_IF_ERROR(parse_count(parser, object, "fills", index->words, &index->fills));
    RETURN_IF_ERROR(parse_count(parser, object, "bytes", INTEGER_MAX, &index->bytes));
    RETURN_IF_ERROR(parse_count(parser, object, "generation", INTEGER_MAX, &index->generation));
    RETURN_IF_ERROR(parse_flag(parser, object, "exact", &index->exact));
    return parse_bounds(parser, object, &column->statistics, index);
}

static enum status parse_column(struct parser *parser, const json_t *object, uint64_t rows,
                                struct column *column)
{
    RETURN_IF_ERROR(parse_schema(parser, object, &column->schema));
    column->value_bytes = column_schema_value_bytes(&column->schema);
    RETURN_IF_ERROR(parse_statistics(parser, object, rows, &column->statistics));
    RETURN_IF_ERROR(parse_count(parser, object, "generation", INTEGER_MAX, &column->side_generation));
    RETURN_IF_ERROR(parse_flag(parser, object, "dictionary_blocks", &column->dictionary_blocks));
    RETURN_IF_ERROR(parse_encodings(parser, object, column));
    RETURN_IF_ERROR(parse_codec(parser, json_object_get(object, "own"), "own", &column->own));
    if (!column_encoding(column, column->own))
        return wrong(parser, "own");
    const char *chosen_by = json_string_value(json_object_get(object, "chosen_by"));
    if (!chosen_by || !name_valid(chosen_by))
        return wrong(parser, "chosen_by");
    column->own_name = strdup(chosen_by);
    if (!column->own_name)
        return error_out_of_memory(parser->error, strlen(chosen_by), "the catalogue");
    const json_t *chosen = json_object_get(object, "chosen");
    for (int c = CHOOSER_GPU_STAR; c <= CHOOSER_AUTO; c++) {
        const json_t *codec = json_object_get(chosen, chooser_name((enum chooser)c));
        if (codec)
            RETURN_IF_ERROR(parse_codec(parser, codec, "chosen", &column->chosen[c]));
    }
    return parse_index(parser, json_object_get(object, "index"), column);
}

/* Parses the segments' rows. If they are absent, all segments but the last are full. */
static enum status parse_segments(const struct parser *parser, const json_t *object, struct table *table)
{
    const json_t *list = json_object_get(object, "segments");
    if (!list)
        return table_segments_set(table, parser->error);
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > TABLE_SEGMENTS_MAX)
        return wrong(parser, "segments");
    uint32_t *rows;
    RETURN_IF_ERROR(memory_zeros(&rows, (count + 1) * sizeof *rows, "the catalogue", parser->error));
    table->segment_rows = rows;
    table->segment_count = (uint32_t)count;
    uint64_t sum = 0;
    for (size_t s = 0; s < count; s++) {
        const json_t *value = json_array_get(list, s);
        json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
        if (number < 1 || number > (json_int_t)SEGMENT_ROWS)
            return wrong(parser, "segments");
        rows[s] = (uint32_t)number;
        sum += rows[s];
    }
    return sum == table->rows ? STATUS_OK : wrong(parser, "segments");
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
        return wrong(parser, "columns");
    if (bits < 0 || bits > LEVELS_BITS_MAX)
        return wrong(parser, "bits");
    levels->level[l] = (struct level){.column = (uint32_t)(column - table->columns), .bits = (uint32_t)bits};
    levels->prefix_bits += (uint32_t)bits;
    for (uint32_t before = 0; before < l; before++)
        if (levels->level[before].column == levels->level[l].column)
            return wrong(parser, "columns");
    return STATUS_OK;
}

/* A level decides its own column, so that column's depth is at most the level's number. */
static enum status parse_depth(const struct parser *parser, const json_t *object, const struct table *table,
                               struct table_levels *levels)
{
    const json_t *const list = json_object_get(object, "depth");
    uint8_t *depth;
    if (json_array_size(list) != table->column_count)
        return wrong(parser, "depth");
    RETURN_IF_ERROR(memory_take(&depth, table->column_count, "the catalogue", parser->error));
    levels->depth = depth;
    for (uint32_t c = 0; c < table->column_count; c++) {
        const int64_t value = list_number(list, c);
        if (value < 0 || value > levels->count + 1)
            return wrong(parser, "depth");
        depth[c] = (uint8_t)value;
    }
    for (uint32_t l = 0; l < levels->count; l++)
        if (depth[levels->level[l].column] > l + 1)
            return wrong(parser, "depth");
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
    if (table->rows == 0 || !levels_key(table))
        return wrong(parser, "levels");
    if (count == 0 || count > LEVELS_MAX || json_array_size(json_object_get(object, "bits")) != count)
        return wrong(parser, "columns");
    RETURN_IF_ERROR(memory_zeros(&levels, sizeof *levels, "the catalogue", parser->error));
    table->levels = levels;
    levels->count = (uint32_t)count;
    for (uint32_t l = 0; l < levels->count; l++)
        RETURN_IF_ERROR(parse_level(parser, object, l, table, levels));
    RETURN_IF_ERROR(parse_count(parser, object, "rest_bits", LEVELS_BITS_MAX, &rest));
    levels->rest_bits = (uint32_t)rest;
    if (levels->prefix_bits + levels->rest_bits > LEVELS_BITS_MAX)
        return wrong(parser, "bits");
    RETURN_IF_ERROR(parse_count(parser, object, "positions",
                                UINT64_C(1) << (levels->prefix_bits + levels->rest_bits),
                                &levels->positions));
    if (levels->positions < table->rows)
        return wrong(parser, "positions");
    RETURN_IF_ERROR(
        parse_count(parser, object, "leaves", table->rows < LEAVES_MAX ? table->rows : LEAVES_MAX, &leaves));
    if (leaves == 0 || leaves > UINT64_C(1) << levels->prefix_bits)
        return wrong(parser, "leaves");
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
    RETURN_IF_ERROR(parse_count(parser, object, "of", TABLE_PARTS_MAX, &of));
    RETURN_IF_ERROR(parse_count(parser, object, "number", of, &number));
    RETURN_IF_ERROR(parse_count(parser, object, "rows", TABLE_ROWS_MAX, &part->whole_rows));
    RETURN_IF_ERROR(parse_count(parser, object, "first", part->whole_rows, &part->first));
    if (number == 0 || part->whole_rows - part->first < table->rows)
        return wrong(parser, "part");
    const char *const origin = json_string_value(json_object_get(object, "origin"));
    if (origin && sscanf(origin, "%16" SCNx64, &part->origin) == 1)
        snprintf(again, sizeof again, "%016" PRIx64, part->origin);
    if (!origin || strcmp(origin, again) != 0)
        return wrong(parser, "origin");
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

static enum status parse_table(struct parser *parser, const json_t *object, struct table *table)
{
    parser->table = parser->column = NULL;
    RETURN_IF_ERROR(parse_name(parser, object, "name", table->name));
    parser->table = table->name;
    RETURN_IF_ERROR(parse_count(parser, object, "rows", TABLE_ROWS_MAX, &table->rows));
    RETURN_IF_ERROR(parse_part(parser, json_object_get(object, "part"), table));
    RETURN_IF_ERROR(parse_segments(parser, object, table));
    const json_t *list = json_object_get(object, "columns");
    size_t count = json_array_size(list);
    if (count == 0)
        return wrong(parser, "columns");
    struct column *columns;
    RETURN_IF_ERROR(memory_zeros(&columns, count * sizeof *columns, "the catalogue", parser->error));
    table->columns = columns;
    for (size_t c = 0; c < count; c++) {
        table->column_count++;
        columns[c].table = table;
        RETURN_IF_ERROR(parse_column(parser, json_array_get(list, c), table->rows, &columns[c]));
        for (size_t other = 0; other < c; other++)
            if (strcmp(columns[other].schema.name, columns[c].schema.name) == 0)
                return wrong(parser, "name");
    }
    for (uint32_t c = 0; c < table_visible_columns(table); c++)
        if (columns[c].schema.of.count) /* such columns are the last ones */
            return wrong(parser, "of");
    parser->column = NULL;
    RETURN_IF_ERROR(parse_key(parser, object, "key", &table->key));
    if (!key_of_table(&table->key, table))
        return wrong(parser, "key");
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
                return wrong(parser, "references");
            /* A key of a key has no values of its own, and may lead round in a circle. That of several columns has none
             * anyway, and is not asked for. */
            if (schema->of.count == 0 && key->schema.references_table[0])
                return wrong(parser, "references");
            if (schema->of.count &&
                (!key_of_table(&schema->key, target) || schema->key.columns[0] != key - target->columns ||
                 !key_of_table(&schema->of, &catalogue->tables[t])))
                return wrong(parser, "of");
            column->references = key;
        }
    return STATUS_OK;
}

static enum status parse_root(struct parser *parser, const json_t *root, struct catalogue *catalogue)
{
    RETURN_IF_ERROR(parse_count(parser, root, "generation", INTEGER_MAX - 1, &catalogue->generation));
    const json_t *list = json_object_get(root, "tables");
    if (!json_is_array(list))
        return wrong(parser, "tables");
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
                return wrong(parser, "name");
    }
    return resolve_references(parser, catalogue);
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
        return error_set_errno(error, errno, "cannot open database %s%s", directory,
                               errno == ENOENT ? " (create one with `tessera load` or `tessera ssb load`)"
                                               : "");
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
    *catalogue = (struct catalogue){0};
}

const struct table *catalogue_table(const struct catalogue *catalogue, const char *name)
{
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        if (strcmp(catalogue->tables[t].name, name) == 0)
            return &catalogue->tables[t];
    return NULL;
}
