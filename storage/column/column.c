/* column.c: names, types and look-ups of tables and columns; see column.h. */
#include "storage/column/column_span.h"

#include "storage/base/words/utf8.h"
#include "storage/column/levels_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool name_valid(const char *name)
{
    const size_t length = strnlen(name, NAME_BYTES);
    if (length == 0 || length == NAME_BYTES || name[0] == ' ' || name[length - 1] == ' ')
        return false;
    for (size_t i = 0, bytes; i < length; i += bytes) {
        uint32_t code;
        bytes = utf8_character(name + i, length - i, &code);
        if (bytes == 0 || code < ' ' || (code >= 0x7f && code < 0xa0)) /* control characters */
            return false;
    }
    return true;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_#$- ", c)) || (unsigned char)c >= 0x80;
}

void name_to_file(const char *name, char file[NAME_FILE_BYTES])
{
    size_t at = 0;
    for (; *name && at + 4 <= NAME_FILE_BYTES; name++)
        if (is_plain(*name))
            file[at++] = *name;
        else
            at += (size_t)snprintf(file + at, 4, "%%%02X", (unsigned char)*name);
    file[at] = '\0';
}

bool name_of_file(const char *file, size_t length, char name[NAME_BYTES])
{
    char again[NAME_FILE_BYTES];
    size_t bytes = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned code = (unsigned char)file[i];
        if (bytes + 1 == NAME_BYTES ||
            (file[i] == '%' && (i + 2 >= length || sscanf(file + i + 1, "%2X", &code) != 1)))
            return false;
        i += file[i] == '%' ? 2 : 0;
        name[bytes++] = (char)code;
    }
    name[bytes] = '\0';
    if (!name_valid(name))
        return false;
    name_to_file(name, again);
    return strlen(again) == length && memcmp(again, file, length) == 0;
}

const char *column_type_name(enum column_type type)
{
    switch (type) {
    case TYPE_INT32:
        return "int32";
    case TYPE_INT64:
        return "int64";
    case TYPE_DECIMAL:
        return "decimal";
    case TYPE_DATE:
        return "date";
    case TYPE_TIMESTAMP:
        return "timestamp";
    case TYPE_BOOL:
        return "bool";
    case TYPE_STRING:
        return "string";
    case TYPE_DOUBLE:
        return "double";
    }
    return NULL;
}

const char *column_type_text(const struct column_schema *schema, char *text)
{
    if (schema->type == TYPE_DECIMAL)
        snprintf(text, 32, "decimal(%u,%u)", schema->precision, schema->scale);
    else
        snprintf(text, 32, "%s%s", column_type_name(schema->type), schema->zoned ? "tz" : "");
    return text;
}

const char *chooser_name(enum chooser chooser)
{
    static const char *const names[] = {[CHOOSER_NONE] = "none",
                                        [CHOOSER_GPU_STAR] = "gpu-star",
                                        [CHOOSER_SMALLEST] = "smallest",
                                        [CHOOSER_AUTO] = "auto"};
    return names[chooser];
}

struct codec_input column_codec_input(const struct column *column, const void *values, uint32_t rows)
{
    struct codec_input input = {
        .values = values, .rows = rows, .value_bytes = column_schema_value_bytes(&column->schema)};
    const struct table_levels *const levels = column->references ? column->references->table->levels : NULL;
    if (levels) {
        input.bits = levels->prefix_bits + levels->rest_bits;
        input.planes = levels->rest_bits <= COLUMN_REST_BITS_FEW ? input.bits : levels->prefix_bits;
    }
    return input;
}

uint32_t table_visible_columns(const struct table *table)
{
    uint32_t count = table->column_count;
    while (count > 0 &&
           (table->columns[count - 1].schema.of.count > 0 || table->columns[count - 1].schema.live))
        count--;
    return count;
}

const struct column *table_live(const struct table *table)
{
    const struct column *const last = &table->columns[table->column_count - 1];
    return last->schema.live ? last : NULL;
}

bool column_has_dictionary(const struct column_schema *schema)
{
    return schema->type == TYPE_STRING && !schema->references_table[0];
}

uint32_t column_schema_value_bytes(const struct column_schema *schema)
{
    if (schema->references_table[0])
        return 4;
    switch (schema->type) {
    case TYPE_INT64:
    case TYPE_TIMESTAMP:
    case TYPE_DOUBLE:
        return 8;
    case TYPE_DECIMAL:
        return schema->precision > 9 ? 8 : 4;
    case TYPE_INT32:
    case TYPE_DATE:
    case TYPE_BOOL:
    case TYPE_STRING:
        break;
    }
    return 4;
}

enum status table_segments_set(struct table *table, struct error *error)
{
    if (table->rows > TABLE_ROWS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: %llu rows are more than the %llu that a table may have; split it",
                         table->name, (unsigned long long)table->rows, (unsigned long long)TABLE_ROWS_MAX);
    table->segment_count = (uint32_t)((table->rows + SEGMENT_ROWS - 1) / SEGMENT_ROWS);
    uint32_t *rows = calloc(table->segment_count + 1, sizeof *rows);
    if (!rows)
        return error_out_of_memory(error, table->segment_count * sizeof *rows, "a table's segments");
    for (uint32_t s = 0; s < table->segment_count; s++) {
        uint64_t left = table->rows - (uint64_t)s * SEGMENT_ROWS;
        rows[s] = left < SEGMENT_ROWS ? (uint32_t)left : SEGMENT_ROWS;
    }
    table->segment_rows = rows;
    return STATUS_OK;
}

void table_free(struct table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        struct column *const column = (struct column *)&table->columns[c];
        for (uint32_t e = 0; e < column->encoding_count; e++)
            spans_free(&((struct encoding_info *)column->encodings)[e].files);
        spans_free(&column->sides);
        free((void *)column->encodings);
        free((void *)column->own_name);
        column_index_free(column->index);
    }
    free((void *)table->columns);
    free((void *)table->segment_rows);
    levels_free((struct table_levels *)table->levels);
    *table = (struct table){0};
}

void column_data_widths(const struct column_data *data, uint32_t *low, uint32_t *high)
{
    *low = *high = 0;
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct chunk_view *const chunk = &data->segments[s].chunk;
        *low = s == 0 || chunk->width_low < *low ? chunk->width_low : *low;
        *high = chunk->width_high > *high ? chunk->width_high : *high;
    }
}

const struct encoding_info *column_encoding(const struct column *column, enum codec_id codec)
{
    for (uint32_t e = 0; e < column->encoding_count; e++)
        if (column->encodings[e].codec == codec)
            return &column->encodings[e];
    return NULL;
}

enum status table_column(const struct table *table, const char *name, const struct column **column,
                         struct error *error)
{
    char list[512] = "";
    size_t used = 0;
    for (uint32_t c = 0; c < table->column_count; c++) {
        if (strcmp(table->columns[c].schema.name, name) == 0) {
            *column = &table->columns[c];
            return STATUS_OK;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", c ? ", " : "",
                                     table->columns[c].schema.name);
    }
    return error_set(error, STATUS_BAD_INPUT, "table %s has no column \"%s\"; it has: %s", table->name, name,
                     list);
}
