/* catalogue_column.c: reads a column of a catalogue; see catalogue_parser.h. */
#include "storage/database/catalogue_parser.h"

#include "storage/base/memory.h"
#include "storage/column/column_span.h"

#include <stdlib.h>
#include <string.h>

static enum status parse_codec(const struct parser *parser, const json_t *value, const char *key,
                               enum codec_id *out)
{
    const char *name = json_string_value(value);
    if (!name)
        return catalogue_parse_wrong(parser, key);
    const struct codec *codec = codec_by_name(name);
    if (!codec)
        return error_set(
            parser->error, STATUS_BAD_INPUT,
            "%s: table %s.%s: the codec \"%s\" is not known to this program; use a newer Tessera",
            parser->path, parser->table, parser->column, name);
    *out = codec->id;
    return STATUS_OK;
}

enum status catalogue_parse_key(const struct parser *parser, const json_t *object, const char *name,
                                struct key_columns *key)
{
    const json_t *const list = json_object_get(object, name);
    const size_t count = json_array_size(list);
    if (!list)
        return STATUS_OK;
    if (count == 0 || count > KEY_COLUMNS_MAX)
        return catalogue_parse_wrong(parser, name);
    for (size_t k = 0; k < count; k++) {
        const json_t *const value = json_array_get(list, k);
        const json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
        if (number < 0 || number > UINT16_MAX)
            return catalogue_parse_wrong(parser, name);
        key->columns[key->count++] = (uint16_t)number;
    }
    return STATUS_OK;
}

static enum status parse_schema(struct parser *parser, const json_t *object, struct column_schema *schema)
{
    parser->column = NULL;
    RETURN_IF_ERROR(catalogue_parse_name(parser, object, "name", schema->name));
    parser->column = schema->name;
    const char *type = json_string_value(json_object_get(object, "type"));
    const char *name;
    schema->type = (enum column_type)0;
    while ((name = column_type_name(schema->type)) && (!type || strcmp(type, name) != 0))
        schema->type++;
    if (!name)
        return catalogue_parse_wrong(parser, "type");
    if (schema->type == TYPE_DECIMAL) {
        int64_t precision = 0, scale = 0;
        RETURN_IF_ERROR(catalogue_parse_integer(parser, object, "precision", 1, 18, &precision));
        RETURN_IF_ERROR(catalogue_parse_integer(parser, object, "scale", 0, precision, &scale));
        schema->precision = (uint8_t)precision;
        schema->scale = (uint8_t)scale;
    }
    RETURN_IF_ERROR(catalogue_parse_flag(parser, object, "time_zone", &schema->zoned));
    if (schema->zoned && schema->type != TYPE_TIMESTAMP)
        return catalogue_parse_wrong(parser, "time_zone");
    RETURN_IF_ERROR(catalogue_parse_flag(parser, object, "nullable", &schema->nullable));
    RETURN_IF_ERROR(catalogue_parse_flag(parser, object, "primary_key", &schema->primary_key));
    const json_t *references = json_object_get(object, "references");
    if (references) {
        RETURN_IF_ERROR(catalogue_parse_name(parser, references, "table", schema->references_table));
        RETURN_IF_ERROR(catalogue_parse_name(parser, references, "column", schema->references_column));
    }
    RETURN_IF_ERROR(catalogue_parse_key(parser, object, "of", &schema->of));
    RETURN_IF_ERROR(catalogue_parse_key(parser, object, "key", &schema->key));
    RETURN_IF_ERROR(catalogue_parse_flag(parser, object, "live", &schema->live));
    if (schema->live && (schema->type != TYPE_BOOL || schema->nullable || references))
        return catalogue_parse_wrong(parser, "live");
    if (schema->of.count != schema->key.count || (schema->of.count && (!references || schema->primary_key)))
        return catalogue_parse_wrong(parser, "of");
    return STATUS_OK;
}

static enum status parse_statistics(const struct parser *parser, const json_t *column, uint64_t rows,
                                    struct column_statistics *statistics)
{
    const json_t *object = json_object_get(column, "statistics");
    RETURN_IF_ERROR(catalogue_parse_integer(parser, object, "min", INT64_MIN, INT64_MAX, &statistics->min));
    RETURN_IF_ERROR(catalogue_parse_integer(parser, object, "max", INT64_MIN, INT64_MAX, &statistics->max));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "nulls", rows, &statistics->nulls));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "runs", rows, &statistics->runs));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "distinct", rows, &statistics->distinct));
    const json_t *const bits = json_object_get(column, "bits");
    int64_t finest = DOUBLE_FINEST, top = DOUBLE_TOP;
    if (bits) {
        RETURN_IF_ERROR(catalogue_parse_integer(parser, bits, "finest", DOUBLE_FINEST, DOUBLE_TOP, &finest));
        RETURN_IF_ERROR(catalogue_parse_integer(parser, bits, "top", DOUBLE_FINEST, DOUBLE_TOP, &top));
        statistics->bits = double_bits_of((int)finest, (int)top);
    }
    return STATUS_OK;
}

/* Parses the files of a column or of an encoding: "generation" of the only one, or "files". Their segments are checked when
 * the table's are known; `bytes` are those of all. */
static enum status parse_spans(const struct parser *parser, const json_t *object, const struct table *table,
                               uint64_t bytes, struct column_spans *spans)
{
    const json_t *const list = json_object_get(object, "files");
    struct column_span span = {.count = table->segment_count, .bytes = bytes};
    uint64_t left = table->segment_count, segments;
    if (!list) {
        RETURN_IF_ERROR(
            catalogue_parse_count(parser, object, "generation", CATALOGUE_INTEGER_MAX, &span.generation));
        return spans_make(&span, 1, spans, parser->error);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const entry = json_array_get(list, i);
        RETURN_IF_ERROR(
            catalogue_parse_count(parser, entry, "generation", CATALOGUE_INTEGER_MAX, &span.generation));
        RETURN_IF_ERROR(catalogue_parse_count(parser, entry, "segments", left, &segments));
        span.bytes = 0;
        if (bytes)
            RETURN_IF_ERROR(catalogue_parse_count(parser, entry, "bytes", bytes, &span.bytes));
        if (segments == 0 || spans_of(spans, span.generation))
            return catalogue_parse_wrong(parser, "files");
        span.count = (uint32_t)segments;
        RETURN_IF_ERROR(spans_add(spans, &span, parser->error));
        span.first += span.count;
        left -= segments;
        bytes -= span.bytes;
    }
    return left || bytes ? catalogue_parse_wrong(parser, "files") : STATUS_OK;
}

static enum status parse_encodings(const struct parser *parser, const json_t *object, struct column *column)
{
    const json_t *list = json_object_get(object, "encodings");
    size_t count = json_array_size(list);
    if (count == 0 || count >= CODEC_COUNT)
        return catalogue_parse_wrong(parser, "encodings");
    struct encoding_info *encodings;
    RETURN_IF_ERROR(memory_zeros(&encodings, count * sizeof *encodings, "the catalogue", parser->error));
    column->encodings = encodings;
    for (size_t e = 0; e < count; e++) {
        const json_t *entry = json_array_get(list, e);
        struct encoding_info info = {0};
        RETURN_IF_ERROR(parse_codec(parser, json_object_get(entry, "codec"), "codec", &info.codec));
        RETURN_IF_ERROR(catalogue_parse_count(parser, entry, "bytes", CATALOGUE_INTEGER_MAX, &info.bytes));
        if (column_encoding(column, info.codec))
            return catalogue_parse_wrong(parser, "encodings");
        encodings[e] = info;
        column->encoding_count++;
        RETURN_IF_ERROR(parse_spans(parser, entry, column->table, info.bytes, &encodings[e].files));
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
        return catalogue_parse_wrong(parser, "bounds");
    RETURN_IF_ERROR(memory_zeros(&bounds, (count + 1) * sizeof *bounds, "the catalogue", parser->error));
    index->bounds = bounds;
    for (size_t b = 0; b < count; b++) {
        const json_t *value = json_array_get(list, b);
        bounds[b] = json_is_integer(value) ? json_integer_value(value) : INT64_MIN;
        if (!json_is_integer(value) || bounds[b] < least || bounds[b] > statistics->max ||
            (b == 0 && bounds[b] != least))
            return catalogue_parse_wrong(parser, "bounds");
        least = bounds[b] < INT64_MAX ? bounds[b] + 1 : bounds[b];
        if (b > 0 && bounds[b] == bounds[b - 1])
            return catalogue_parse_wrong(parser, "bounds");
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
        return catalogue_parse_wrong(parser, "format");
    if (bins == INDEX_BINS_COUNT)
        return catalogue_parse_wrong(parser, "bins");
    if (bins == INDEX_WIDTH || bins == INDEX_DEPTH)
        RETURN_IF_ERROR(catalogue_parse_count(parser, object, "count", INDEX_BINS_MAX, &count));
    if ((bins == INDEX_WIDTH || bins == INDEX_DEPTH) && count == 0)
        return catalogue_parse_wrong(parser, "count");
    index->wish = (struct index_wish){
        .format = (enum index_format)format, .bins = (enum index_bins)bins, .count = (uint32_t)count};
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "words", CATALOGUE_INTEGER_MAX, &index->words));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "fills", index->words, &index->fills));
    RETURN_IF_ERROR(catalogue_parse_count(parser, object, "bytes", CATALOGUE_INTEGER_MAX, &index->bytes));
    RETURN_IF_ERROR(parse_spans(parser, object, column->table, 0, &index->files));
    RETURN_IF_ERROR(catalogue_parse_flag(parser, object, "exact", &index->exact));
    return parse_bounds(parser, object, &column->statistics, index);
}

enum status catalogue_parse_column(struct parser *parser, const json_t *object, uint64_t rows,
                                   struct column *column)
{
    RETURN_IF_ERROR(parse_schema(parser, object, &column->schema));
    column->value_bytes = column_schema_value_bytes(&column->schema);
    RETURN_IF_ERROR(parse_statistics(parser, object, rows, &column->statistics));
    RETURN_IF_ERROR(parse_spans(parser, object, column->table, 0, &column->sides));
    column->strings_generation = column->sides.list[0].generation;
    if (json_object_get(object, "strings"))
        RETURN_IF_ERROR(catalogue_parse_count(parser, object, "strings", CATALOGUE_INTEGER_MAX,
                                              &column->strings_generation));
    if (!spans_of(&column->sides, column->strings_generation))
        return catalogue_parse_wrong(parser, "strings");
    RETURN_IF_ERROR(catalogue_parse_flag(parser, object, "dictionary_blocks", &column->dictionary_blocks));
    RETURN_IF_ERROR(parse_encodings(parser, object, column));
    RETURN_IF_ERROR(parse_codec(parser, json_object_get(object, "own"), "own", &column->own));
    if (!column_encoding(column, column->own))
        return catalogue_parse_wrong(parser, "own");
    const char *chosen_by = json_string_value(json_object_get(object, "chosen_by"));
    if (!chosen_by || !name_valid(chosen_by))
        return catalogue_parse_wrong(parser, "chosen_by");
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
