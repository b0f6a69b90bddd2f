/* cells.c: see cells.h. */
#include "engine/answer/print/cells.h"

#include "engine/plan/value_write.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The strings of a dictionary with at most this many strings and bytes are written once, unless the answer
 * has far fewer rows. */
#define SMALL_STRINGS 65536u
#define SMALL_BYTES   (16u << 20)

enum status text_space_reserve(struct text_space *space, size_t more, struct error *error)
{
    const size_t wanted = space->used + more + PIECE_PADDING;
    if (wanted <= space->capacity)
        return STATUS_OK;
    const size_t capacity = wanted < 2 * space->capacity ? 2 * space->capacity : wanted;
    RETURN_IF_ERROR(memory_grow(&space->bytes, capacity, "an answer's text", error));
    space->capacity = capacity;
    return STATUS_OK;
}

_Static_assert(ROWSET_NULL_BYTES >= PIECE_PADDING, "the text of NULL is a piece");

/* ---- Strings ---- */

static char *csv_string(const struct rowset_style *style, const char *text, size_t length, char *at)
{
    const char delimiter = style->delimiter ? style->delimiter : ',';
    /* What is written as NULL is, must be told from it: "" is the empty string, an empty field NULL. */
    bool quote = length < ROWSET_NULL_BYTES && strlen(style->null_text) == length &&
                 memcmp(text, style->null_text, length) == 0;
    for (size_t i = 0; i < length; i++)
        quote |= text[i] == delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r';
    if (!quote) {
        memcpy(at, text, length);
        return at + length;
    }
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            *at++ = '"';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}

static char *json_string(const char *text, size_t length, char *at)
{
    static const char digits[] = "0123456789abcdef";
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte < ' ') {
            memcpy(at, "\\u00", 4);
            at[4] = digits[byte >> 4];
            at[5] = digits[byte & 15];
            at += 6;
            continue;
        }
        if (byte == '"' || byte == '\\')
            *at++ = '\\';
        *at++ = text[i];
    }
    *at++ = '"';
    return at;
}

/* Writes a string with blanks for control characters, which could break the line or control a terminal. Those
 * above 127 are two bytes in UTF-8. */
static char *line_string(const char *text, size_t length, bool markdown, char *at)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const bool wide = byte == 0xc2 && i + 1 < length && ((unsigned char)text[i + 1] & 0xe0) == 0x80;
        if (markdown && byte == '|')
            *at++ = '\\';
        *at++ = byte < ' ' || byte == 127 || wide ? ' ' : text[i];
        i += wide;
    }
    return at;
}

char *cell_string(const struct rowset_style *style, const char *text, size_t length, char *at)
{
    switch (style->format) {
    case ROWSET_CSV:
        return csv_string(style, text, length, at);
    case ROWSET_JSON:
        return json_string(text, length, at);
    case ROWSET_TABLE:
    case ROWSET_MARKDOWN:
        break;
    }
    return line_string(text, length, style->format == ROWSET_MARKDOWN, at);
}

size_t cell_string_bound(enum rowset_format format, size_t length)
{
    return (format == ROWSET_JSON ? 6 : 2) * length + 2;
}

/* ---- Columns ---- */

static enum status write_dictionary(struct cell_column *made, const struct dictionary *dictionary,
                                    struct error *error)
{
    const uint64_t bytes = cell_string_bound(made->style->format, dictionary->starts[dictionary->count]) +
                           2 * (uint64_t)dictionary->count + PIECE_PADDING;
    made->strings = malloc(((size_t)dictionary->count + 1) * sizeof *made->strings);
    char *at = made->string_bytes = malloc(bytes);
    if (!made->strings || !at) {
        cell_column_close(made);
        return error_out_of_memory(error, bytes, "an answer's text");
    }
    for (uint32_t code = 0; code <= dictionary->count; code++) { /* code `count` is the empty string */
        uint32_t length;
        const char *const text = dictionary_string(dictionary, code, &length);
        char *const end = cell_string(made->style, text, length, at);
        made->strings[code] = (struct piece){at, (size_t)(end - at)};
        at = end;
    }
    return STATUS_OK;
}

enum status cell_column_open(const struct rowset_column *column, uint64_t rows,
                             const struct rowset_style *style, struct cell_column *made, struct error *error)
{
    const struct dictionary *const dictionary = column->type.dictionary;
    *made = (struct cell_column){.column = column, .style = style};
    if (column->type.kind != VALUE_STRING || column->views || dictionary->count == 0 ||
        dictionary->count > SMALL_STRINGS || dictionary->count > rows ||
        dictionary->starts[dictionary->count] > SMALL_BYTES)
        return STATUS_OK;
    return write_dictionary(made, dictionary, error);
}

void cell_column_close(struct cell_column *column)
{
    free(column->strings);
    free(column->string_bytes);
    *column = (struct cell_column){0};
}

/* ---- Cells ---- */

typedef char *value_writer(char *at, int64_t value, unsigned scale);

static inline char *integer(char *at, int64_t value, unsigned scale)
{
    (void)scale;
    return write_integer(at, value);
}

static inline char *date(char *at, int64_t value, unsigned scale)
{
    (void)scale;
    return write_date(at, value);
}

static inline char *timestamp(char *at, int64_t value, unsigned scale)
{
    (void)scale;
    return write_timestamp(at, value);
}

static inline char *boolean(char *at, int64_t value, unsigned scale)
{
    (void)scale;
    return write_boolean(at, value);
}

static inline char *floating(char *at, int64_t value, unsigned scale)
{
    (void)scale;
    return write_double(at, value);
}

/* JSON has no infinity and no NaN. */
static inline char *json_floating(char *at, int64_t value, unsigned scale)
{
    char *const end = floating(at, value, scale);
    if (end[-1] >= '0' && end[-1] <= '9')
        return end;
    memcpy(at, "null", 4);
    return at + 4;
}

/* Inlined together with its writer, so that there is a loop for each type. */
static inline __attribute__((always_inline)) void write_each(const int64_t *values, uint32_t count,
                                                             unsigned scale, value_writer *write, char *at,
                                                             struct piece *cells)
{
    for (uint32_t i = 0; i < count; i++, at += VALUE_WRITE_BYTES) {
        cells[i].text = at;
        cells[i].bytes = (size_t)(write(at, values[i], scale) - at);
    }
}

/* Likewise, in double quotes. */
static inline __attribute__((always_inline)) void
quote_each(const int64_t *values, uint32_t count, value_writer *write, char *at, struct piece *cells)
{
    for (uint32_t i = 0; i < count; i++, at += VALUE_WRITE_BYTES) {
        *at = '"';
        char *const end = write(at + 1, values[i], 0);
        *end = '"';
        cells[i] = (struct piece){at, (size_t)(end + 1 - at)};
    }
}

static void write_zoned_each(const int64_t *values, uint32_t count, const struct zone *zone, bool json,
                             char *at, struct piece *cells)
{
    for (uint32_t i = 0; i < count; i++, at += VALUE_WRITE_BYTES) {
        char *end = at;
        if (json)
            *end++ = '"';
        end = write_zoned(end, values[i], zone);
        if (json)
            *end++ = '"';
        cells[i] = (struct piece){at, (size_t)(end - at)};
    }
}

static void write_values(const struct value_type type, const struct zone *zone, enum rowset_format format,
                         const int64_t *values, uint32_t count, char *at, struct piece *cells)
{
    const bool json = format == ROWSET_JSON;
    switch (type.kind) {
    case VALUE_DATE:
        if (json)
            quote_each(values, count, date, at, cells);
        else
            write_each(values, count, 0, date, at, cells);
        break;
    case VALUE_TIMESTAMP:
        if (type.zoned)
            write_zoned_each(values, count, zone, json, at, cells);
        else if (json)
            quote_each(values, count, timestamp, at, cells);
        else
            write_each(values, count, 0, timestamp, at, cells);
        break;
    case VALUE_BOOLEAN:
        write_each(values, count, 0, boolean, at, cells);
        break;
    case VALUE_DOUBLE:
        write_each(values, count, 0, json ? json_floating : floating, at, cells);
        break;
    case VALUE_INTEGER:
        if (type.scale)
            write_each(values, count, type.scale, write_decimal, at, cells);
        else
            write_each(values, count, 0, integer, at, cells);
        break;
    case VALUE_STRING: /* strings are written by another function */
        break;
    }
}

static enum status write_strings(const struct cell_column *from, uint64_t first, uint32_t count,
                                 struct text_space *space, struct piece *cells, struct error *error)
{
    const uint8_t *const nulls = from->column->nulls;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += nulls && nulls[first + i]
                     ? 0
                     : cell_string_bound(from->style->format, rowset_string(from->column, first + i).length);
    RETURN_IF_ERROR(text_space_reserve(space, bytes, error));
    char *at = space->bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (nulls && nulls[first + i])
            continue;
        const struct string_value string = rowset_string(from->column, first + i);
        char *const end = cell_string(from->style, string.text, string.length, at);
        cells[i] = (struct piece){at, (size_t)(end - at)};
        at = end;
    }
    return STATUS_OK;
}

static void take_strings(const struct piece *strings, uint32_t last, const int64_t *codes, uint32_t count,
                         struct piece *cells)
{
    for (uint32_t i = 0; i < count; i++)
        cells[i] = strings[(uint64_t)codes[i] < last ? (uint64_t)codes[i] : last];
}

enum status cells_make(const struct cell_column *column, uint64_t first, uint32_t count,
                       struct text_space *space, struct piece *cells, struct error *error)
{
    static const char null_text[4][PIECE_PADDING] = {
        [ROWSET_TABLE] = "NULL", [ROWSET_JSON] = "null", [ROWSET_MARKDOWN] = "NULL"};
    const struct rowset_column *const from = column->column;
    const int64_t *const values = from->values ? from->values + first : NULL;
    const uint8_t *const nulls = from->nulls ? from->nulls + first : NULL;
    space->used = 0;
    if (column->strings) {
        take_strings(column->strings, from->type.dictionary->count, values, count, cells);
    } else if (from->type.kind == VALUE_STRING) {
        RETURN_IF_ERROR(write_strings(column, first, count, space, cells, error));
    } else {
        RETURN_IF_ERROR(text_space_reserve(space, (size_t)count * VALUE_WRITE_BYTES, error));
        write_values(from->type, from->zone, column->style->format, values, count, space->bytes, cells);
    }
    const struct rowset_style *const style = column->style;
    const char *const null = style->format == ROWSET_CSV ? style->null_text : null_text[style->format];
    for (uint32_t i = 0; nulls && i < count; i++)
        if (nulls[i])
            cells[i] = (struct piece){null, strlen(null)};
    return STATUS_OK;
}
