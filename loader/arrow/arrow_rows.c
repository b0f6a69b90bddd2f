/*
 * arrow_rows.c: reads the rows of one table from an Arrow stream (arrow.h), batch by batch, on one thread.
 * Columns are found by name, and each value is handled like a field of text: dictionary, key look-up, NULL
 * and range checks.
 *
 * The stream is checked as far as possible: kinds of columns, numbers of children and buffers, lengths,
 * offsets of strings. The lengths of its buffers are unknown, because the interface does not tell them.
 */
#include "loader/table/table_loader_internal.h"
#include "loader/text/text_rows.h"
#include "storage/base/decimal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A batch is cut into blocks of this many rows. */
#define BLOCK_ROWS 65536u

/* The type that an Arrow format string means. */
enum arrow_kind {
    ARROW_SIGNED,   /* of 1, 2, 4 or 8 bytes */
    ARROW_UNSIGNED, /* of 1, 2, 4 or 8 bytes */
    ARROW_BIT,
    ARROW_FLOAT,     /* of 4 or 8 bytes */
    ARROW_DECIMAL,   /* 128 bits, scaled */
    ARROW_DATE,      /* `bytes` 4: days, 8: milliseconds */
    ARROW_TIMESTAMP, /* units of 1 / per_second seconds */
    ARROW_TEXT,      /* offsets of 4 or 8 bytes */
    ARROW_TEXT_VIEW,
    ARROW_NULLS, /* every value is NULL */
    ARROW_OTHER
};

struct arrow_type {
    enum arrow_kind kind;
    uint32_t bytes;
    int scale;
    int64_t per_second;
};

struct arrow_column {
    const struct column_schema *want; /* the type to convert to: the column's, or the referenced key's */
    int64_t child;                    /* -1: the stream does not have it, and every value is NULL */
    struct arrow_type type;           /* of the values, or of the dictionary's values */
    struct arrow_type indices;        /* ARROW_OTHER: no dictionary */
};

struct arrow_reader {
    struct row_parse *parse;
    struct ArrowSchema schema;
    struct arrow_column columns[SCHEMA_COLUMNS_MAX];
    uint64_t blocks, rows;
    struct error *error;
};

/* ---- Types ---- */

static struct arrow_type timestamp_type(char unit)
{
    return (struct arrow_type){.kind = ARROW_TIMESTAMP,
                               .bytes = 8,
                               .per_second = unit == 's'   ? 1
                                             : unit == 'm' ? 1000
                                             : unit == 'u' ? 1000000
                                                           : 1000000000};
}

static struct arrow_type type_of_format(const char *format)
{
    static const struct {
        const char *format;
        struct arrow_type type;
    } types[] = {{"c", {ARROW_SIGNED, 1, 0, 0}}, {"C", {ARROW_UNSIGNED, 1, 0, 0}},
                 {"s", {ARROW_SIGNED, 2, 0, 0}}, {"S", {ARROW_UNSIGNED, 2, 0, 0}},
                 {"i", {ARROW_SIGNED, 4, 0, 0}}, {"I", {ARROW_UNSIGNED, 4, 0, 0}},
                 {"l", {ARROW_SIGNED, 8, 0, 0}}, {"L", {ARROW_UNSIGNED, 8, 0, 0}},
                 {"b", {ARROW_BIT, 0, 0, 0}},    {"tdD", {ARROW_DATE, 4, 0, 0}},
                 {"tdm", {ARROW_DATE, 8, 0, 0}}, {"u", {ARROW_TEXT, 4, 0, 0}},
                 {"U", {ARROW_TEXT, 8, 0, 0}},   {"vu", {ARROW_TEXT_VIEW, 0, 0, 0}},
                 {"n", {ARROW_NULLS, 0, 0, 0}},  {"f", {ARROW_FLOAT, 4, 0, 0}},
                 {"g", {ARROW_FLOAT, 8, 0, 0}}};
    struct arrow_type type = {.kind = ARROW_OTHER};
    int precision, end = 0;
    for (size_t i = 0; format && i < sizeof types / sizeof *types; i++)
        if (strcmp(format, types[i].format) == 0)
            return types[i].type;
    if (!format)
        return type;
    if (strncmp(format, "ts", 2) == 0 && format[2] && strchr("smun", format[2]) && format[3] == ':')
        return timestamp_type(format[2]);
    if (sscanf(format, "d:%d,%d%n", &precision, &type.scale, &end) == 2 && type.scale >= 0 &&
        type.scale <= 38 && (!format[end] || strcmp(format + end, ",128") == 0)) {
        type.kind = ARROW_DECIMAL;
        type.bytes = 16;
    }
    return type;
}

static bool is_text(const struct arrow_type *type)
{
    return type->kind == ARROW_TEXT || type->kind == ARROW_TEXT_VIEW;
}

/* Whether values of the Arrow type can be converted to the column's type. Text can be converted to any type,
 * like a field of a file. */
static bool fits(const struct arrow_type *type, enum column_type want)
{
    const bool whole = type->kind == ARROW_SIGNED || type->kind == ARROW_UNSIGNED;
    if (type->kind == ARROW_OTHER)
        return false;
    if (is_text(type) || type->kind == ARROW_NULLS)
        return true;
    switch (want) {
    case TYPE_INT32:
    case TYPE_INT64:
        return whole;
    case TYPE_DECIMAL:
        return whole || type->kind == ARROW_DECIMAL;
    case TYPE_DOUBLE:
        return whole || type->kind == ARROW_DECIMAL || type->kind == ARROW_FLOAT;
    case TYPE_DATE:
        return type->kind == ARROW_DATE;
    case TYPE_TIMESTAMP:
        return type->kind == ARROW_TIMESTAMP || type->kind == ARROW_DATE;
    case TYPE_BOOL:
        return whole || type->kind == ARROW_BIT;
    default:
        return false;
    }
}

static enum status find_column(struct arrow_reader *reader, uint32_t c)
{
    const struct schema_table *table = reader->parse->parsed->table;
    struct arrow_column *column = &reader->columns[c];
    const struct table_keys *keys = reader->parse->keys[c];
    *column = (struct arrow_column){
        .want = keys ? &keys->key : &table->columns[c], .child = -1, .indices = {.kind = ARROW_OTHER}};
    for (int64_t i = 0; i < reader->schema.n_children; i++)
        if (reader->schema.children[i]->name &&
            strcasecmp(reader->schema.children[i]->name, table->columns[c].name) == 0)
            column->child = i;
    if (column->child < 0)
        return error_set(reader->error, STATUS_BAD_INPUT,
                         "the stream of table %s has no column %s; the others may come in any order",
                         table->name, table->columns[c].name);
    const struct ArrowSchema *schema = reader->schema.children[column->child];
    column->type = type_of_format(schema->dictionary ? schema->dictionary->format : schema->format);
    if (schema->dictionary)
        column->indices = type_of_format(schema->format);
    const bool indexed = !schema->dictionary ||
                         ((column->indices.kind == ARROW_SIGNED || column->indices.kind == ARROW_UNSIGNED) &&
                          is_text(&column->type));
    char type[64];
    if (indexed && fits(&column->type, column->want->type))
        return STATUS_OK;
    return error_set(reader->error, STATUS_BAD_INPUT,
                     "the stream of table %s: column %s is of Arrow's type \"%s\"%s, which cannot be stored "
                     "as %s; cast it "
                     "(floating-point numbers to decimals, or make the column DOUBLE)",
                     table->name, table->columns[c].name, schema->format ? schema->format : "",
                     schema->dictionary ? " with a dictionary" : "", column_type_text(column->want, type));
}

/* ---- Values ---- */

static bool bit(const void *bits, int64_t at)
{
    return ((const uint8_t *)bits)[at / 8] >> at % 8 & 1;
}

static bool is_null(const struct ArrowArray *array, int64_t at)
{
    return array->n_buffers > 0 && array->buffers[0] && !bit(array->buffers[0], at);
}

/* Reads a whole number; false if it is above INT64_MAX. */
static bool whole_number(const struct arrow_type *type, const void *values, int64_t at, int64_t *value)
{
    const bool is_signed = type->kind == ARROW_SIGNED;
    switch (type->bytes) {
    case 1:
        *value = is_signed ? ((const int8_t *)values)[at] : ((const uint8_t *)values)[at];
        return true;
    case 2:
        *value = is_signed ? ((const int16_t *)values)[at] : ((const uint16_t *)values)[at];
        return true;
    case 4:
        *value = is_signed ? ((const int32_t *)values)[at] : (int64_t)((const uint32_t *)values)[at];
        return true;
    default:
        *value = ((const int64_t *)values)[at];
        return is_signed || *value >= 0;
    }
}

static const char too_many_decimals[] = "has more decimals than the column";

/* Converts a number with `scale` decimals to the column's number of decimals. */
static const char *rescale(__int128 number, int scale, const struct column_schema *want, int64_t *value)
{
    if (want->type == TYPE_DOUBLE)
        return text_decimal_double(number, scale, value);
    const int wanted = want->type == TYPE_DECIMAL ? want->scale : 0;
    const int64_t most = want->type == TYPE_DECIMAL ? power_of_ten(want->precision) : 0;
    for (; scale > wanted; scale--) {
        if (number % 10)
            return too_many_decimals;
        number /= 10;
    }
    if (number > INT64_MAX || number < INT64_MIN)
        return text_out_of_range;
    if (scale < wanted)
        number *= power_of_ten((unsigned)(wanted - scale));
    if (want->type == TYPE_DECIMAL ? number >= most || number <= -most
        : want->type == TYPE_INT32 ? number > INT32_MAX || number < INT32_MIN
                                   : number > INT64_MAX || number < INT64_MIN)
        return text_out_of_range;
    *value = (int64_t)number;
    return want->type == TYPE_BOOL && (number < 0 || number > 1) ? "is neither 0 nor 1" : NULL;
}

static const char *timestamp(int64_t number, int64_t per_second, int64_t *value)
{
    __int128 microseconds = (__int128)number * 1000000 / per_second;
    if (per_second > 1000000 && number % (per_second / 1000000))
        return "has parts of a microsecond";
    *value = (int64_t)microseconds;
    return microseconds > INT64_MAX || microseconds < INT64_MIN ? text_out_of_range : NULL;
}

static const char *date(const struct arrow_type *type, const void *values, int64_t at,
                        const struct column_schema *want, int64_t *value)
{
    const int64_t day = 86400000;
    int64_t days = type->bytes == 4 ? ((const int32_t *)values)[at] : ((const int64_t *)values)[at];
    if (type->bytes == 8 && days % day)
        return "is no whole day";
    days = type->bytes == 8 ? days / day : days;
    *value = days;
    if (days > INT32_MAX || days < INT32_MIN)
        return text_out_of_range;
    return want->type == TYPE_TIMESTAMP ? timestamp(days * 86400, 1, value) : NULL;
}

struct arrow_value {
    bool null, is_text;
    int64_t value;
    __int128 number; /* the original number and its decimals, for complaints */
    int scale;
    const char *text;
    uint32_t length;
};

/* Converts a value that is not text to the column's type; returns NULL, or the complaint. */
static const char *number_of(const struct arrow_column *column, const struct ArrowArray *array, int64_t at,
                             struct arrow_value *read)
{
    const struct arrow_type *type = &column->type;
    const void *const values = array->buffers[1];
    int64_t *const value = &read->value;
    switch (type->kind) {
    case ARROW_FLOAT:
        *value = double_key_of(type->bytes == 4 ? (double)((const float *)values)[at]
                                                : ((const double *)values)[at]);
        return NULL;
    case ARROW_SIGNED:
    case ARROW_UNSIGNED:
        read->number = whole_number(type, values, at, value) ? (__int128)*value : (__int128)(uint64_t)*value;
        return rescale(read->number, 0, column->want, value);
    case ARROW_BIT:
        *value = bit(values, at);
        return NULL;
    case ARROW_DECIMAL:
        memcpy(&read->number, (const uint8_t *)values + 16 * at, sizeof read->number);
        read->scale = type->scale;
        return rescale(read->number, type->scale, column->want, value);
    case ARROW_DATE:
        return date(type, values, at, column->want, value);
    default:
        return timestamp(((const int64_t *)values)[at], type->per_second, value);
    }
}

/* Writes the original number, or the number of a date or time, to `shown` of TEXT_SHOWN_BYTES. */
static void show_number(const struct arrow_column *column, const struct arrow_value *read, char *shown)
{
    if (column->type.kind == ARROW_FLOAT) {
        snprintf(shown, TEXT_SHOWN_BYTES, "%.17g", double_of_key(read->value));
        return;
    }
    const bool is_number = column->type.kind == ARROW_SIGNED || column->type.kind == ARROW_UNSIGNED ||
                           column->type.kind == ARROW_DECIMAL;
    const __int128 number = is_number ? read->number : read->value;
    unsigned __int128 left = number < 0 ? 0 - (unsigned __int128)number : (unsigned __int128)number;
    char digits[TEXT_SHOWN_BYTES];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    for (int digit = 0; left > 0 || digit <= read->scale; digit++, left /= 10) {
        if (digit == read->scale && digit > 0)
            *--at = '.';
        *--at = (char)('0' + (int)(left % 10));
    }
    snprintf(shown, TEXT_SHOWN_BYTES, "%s%s", number < 0 ? "-" : "", at);
}

/* Gives a value's text; false if its offsets run backwards, or if a view names a missing buffer. */
static bool text_of(const struct arrow_type *type, const struct ArrowArray *array, int64_t at,
                    const char **text, uint32_t *length)
{
    if (type->kind == ARROW_TEXT) {
        const int64_t from = type->bytes == 4 ? ((const int32_t *)array->buffers[1])[at]
                                              : ((const int64_t *)array->buffers[1])[at],
                      to = type->bytes == 4 ? ((const int32_t *)array->buffers[1])[at + 1]
                                            : ((const int64_t *)array->buffers[1])[at + 1];
        if (from < 0 || to < from || to - from > INT32_MAX || (to > from && !array->buffers[2]))
            return false;
        *text = to > from ? (const char *)array->buffers[2] + from : "";
        *length = (uint32_t)(to - from);
        return true;
    }
    /* A view is the length, then either 12 bytes of text, or 4 bytes of it, the number of a buffer and a
     * place in it. */
    int32_t view[4];
    memcpy(view, (const uint8_t *)array->buffers[1] + 16 * at, sizeof view);
    *length = (uint32_t)view[0];
    if (view[0] < 0)
        return false;
    if (view[0] <= 12) {
        *text = (const char *)array->buffers[1] + 16 * at + 4;
        return true;
    }
    if (view[2] < 0 || view[2] + 3 >= array->n_buffers || view[3] < 0 || !array->buffers[2 + view[2]])
        return false;
    *text = (const char *)array->buffers[2 + view[2]] + view[3];
    return true;
}

/* ---- Rows ---- */

static const char not_whole[] =
    "does not keep to Arrow's layout (offsets of strings or indices of a dictionary)";

/* Reads the value of row `at` of the batch; returns NULL, or the complaint. */
static const char *read_value(const struct arrow_column *column, const struct ArrowArray *array, int64_t at,
                              struct arrow_value *read)
{
    const struct ArrowArray *from = array;
    *read = (struct arrow_value){.text = ""};
    at += array->offset;
    if (column->type.kind == ARROW_NULLS || is_null(array, at)) {
        read->null = true;
        return NULL;
    }
    if (column->indices.kind != ARROW_OTHER) {
        int64_t index;
        from = array->dictionary;
        if (!whole_number(&column->indices, array->buffers[1], at, &index) || index < 0 ||
            index >= from->length)
            return not_whole;
        at = index + from->offset;
        if (is_null(from, at)) {
            read->null = true;
            return NULL;
        }
    }
    read->is_text = is_text(&column->type);
    if (!read->is_text)
        return number_of(column, from, at, read);
    if (text_of(&column->type, from, at, &read->text, &read->length))
        return text_is_utf8(read->text, read->length) ? NULL : "is no UTF-8";
    read->is_text = false; /* there is no text to show */
    return not_whole;
}

/* Gives the stored value, like field_value of table_rows.c for text. */
static const char *stored_value(const struct arrow_reader *reader, uint32_t c, const struct arrow_value *read,
                                int64_t *value, bool *null)
{
    const struct row_parse *parse = reader->parse;
    const struct column_schema *column = &parse->parsed->table->columns[c];
    const struct table_keys *keys = parse->keys[c];
    const struct text_reading *const reading = &parse->options->text.reading;
    const char *complaint = NULL;
    *null = read->null;
    *value = read->value;
    if (read->null)
        return column->nullable ? NULL : "is NULL, but the column is NOT NULL";
    if (!keys)
        return read->is_text ? text_value_as(reading, column, read->text, read->length, value) : NULL;
    *value = read->is_text ? table_keys_find(keys, reading, read->text, read->length, &complaint)
                           : table_keys_find_value(keys, read->value);
    if (complaint || *value >= 0)
        return complaint;
    *value = 0;
    return row_key_missing(parse, column, null);
}

static enum status complain(const struct arrow_reader *reader, uint32_t c, uint64_t row,
                            const struct arrow_value *read, const char *complaint)
{
    const struct schema_table *table = reader->parse->parsed->table;
    char text[ERROR_TEXT_BYTES], place[KEY_PLACE_BYTES], shown[TEXT_SHOWN_BYTES] = "";
    if (read->is_text)
        text_printable(read->text, read->length, shown);
    else if (!read->null)
        show_number(&reader->columns[c], read, shown);
    snprintf(place, sizeof place, "the stream of table %s, row %" PRIu64, table->name,
             reader->rows + row + 1);
    row_complaint(text, place, reader->parse, c, shown, complaint);
    return row_reject(reader->parse, reader->blocks, NULL, 0, text);
}

static enum status take_row(struct arrow_reader *reader, const struct ArrowArray *batch, int64_t row,
                            uint32_t rows, struct parsed_block *block)
{
    const struct parsed_table *parsed = reader->parse->parsed;
    for (uint32_t c = 0; c < parsed->table->column_count; c++) {
        const struct arrow_column *column = &reader->columns[c];
        struct arrow_value read;
        int64_t value = 0;
        bool null = false;
        const char *complaint =
            read_value(column, batch->children[column->child], batch->offset + row, &read);
        if (!complaint && parsed->words[c] && !read.null) {
            int32_t code;
            RETURN_IF_ERROR(
                dictionary_builder_add(parsed->words[c], read.text, read.length, &code, reader->error));
            value = code;
        } else if (!complaint) {
            complaint = stored_value(reader, c, &read, &value, &null);
        }
        if (complaint)
            return complain(reader, c, (uint64_t)row, &read, complaint);
        RETURN_IF_ERROR(row_put(reader->parse, block, c, rows, value, null, reader->error));
    }
    block->rows++;
    return STATUS_OK;
}

/* ---- Batches ---- */

static int64_t buffers_needed(const struct arrow_type *type)
{
    return type->kind == ARROW_NULLS ? 0 : type->kind == ARROW_TEXT ? 3 : 2;
}

static bool array_whole(const struct ArrowArray *array, const struct arrow_type *type, int64_t rows)
{
    if (!array || array->length < rows || array->offset < 0 ||
        array->length > INT64_MAX / 64 - array->offset || array->n_buffers < buffers_needed(type) ||
        (array->n_buffers && !array->buffers))
        return false;
    return rows == 0 || type->kind == ARROW_NULLS || array->buffers[1];
}

static enum status check_batch(const struct arrow_reader *reader, const struct ArrowArray *batch)
{
    const struct schema_table *table = reader->parse->parsed->table;
    bool whole = batch->length >= 0 && batch->offset >= 0 && batch->length < INT64_MAX / 64 - batch->offset &&
                 batch->n_children == reader->schema.n_children && batch->children;
    if (whole && batch->null_count != 0 && batch->n_buffers > 0 && batch->buffers && batch->buffers[0])
        return error_set(reader->error, STATUS_BAD_INPUT,
                         "the stream of table %s has rows that are NULL as a whole", table->name);
    for (uint32_t c = 0; whole && c < table->column_count; c++) {
        const struct arrow_column *column = &reader->columns[c];
        const struct ArrowArray *array = batch->children[column->child];
        const bool indexed = column->indices.kind != ARROW_OTHER;
        whole = array_whole(array, indexed ? &column->indices : &column->type, batch->length + batch->offset);
        if (whole && indexed)
            whole = array->dictionary &&
                    array_whole(array->dictionary, &column->type, array->dictionary->length) &&
                    array->dictionary->length >= 0;
    }
    return whole ? STATUS_OK
                 : error_set(reader->error, STATUS_BAD_INPUT,
                             "the stream of table %s: the batch behind row %" PRIu64
                             " does not keep to Arrow's layout (lengths, offsets, buffers)",
                             table->name, reader->rows);
}

static enum status take_batch(struct arrow_reader *reader, const struct ArrowArray *batch)
{
    RETURN_IF_ERROR(check_batch(reader, batch));
    for (int64_t first = 0; first < batch->length; first += BLOCK_ROWS) {
        const int64_t left = batch->length - first;
        const uint32_t rows = left < BLOCK_ROWS ? (uint32_t)left : BLOCK_ROWS;
        struct parsed_block block;
        RETURN_IF_ERROR(cancel_check(reader->error));
        enum status status = row_block_begin(reader->parse, rows, 0, &block, reader->error);
        for (uint32_t row = 0; status == STATUS_OK && row < rows; row++)
            status = take_row(reader, batch, first + row, rows, &block);
        RETURN_IF_ERROR(row_block_end(reader->parse, reader->blocks++, &block, status, reader->error));
        progress_report(reader->parse->progress, reader->parse->parsed->table->name, "rows",
                        reader->rows + (uint64_t)first + rows, 0);
    }
    reader->rows += (uint64_t)batch->length;
    return STATUS_OK;
}

static enum status stream_failed(const struct arrow_reader *reader, struct ArrowArrayStream *stream,
                                 int reason)
{
    const char *said = stream->get_last_error(stream);
    return error_set(reader->error, STATUS_BAD_INPUT, "the stream of table %s behind row %" PRIu64 ": %s",
                     reader->parse->parsed->table->name, reader->rows, said ? said : strerror(reason));
}

static enum status read_all(struct arrow_reader *reader, struct ArrowArrayStream *stream)
{
    const struct schema_table *table = reader->parse->parsed->table;
    const int reason = stream->get_schema(stream, &reader->schema);
    if (reason)
        return stream_failed(reader, stream, reason);
    if (!reader->schema.format || strcmp(reader->schema.format, "+s") != 0 || reader->schema.n_children < 0 ||
        (reader->schema.n_children && !reader->schema.children))
        return error_set(reader->error, STATUS_BAD_INPUT,
                         "the stream of table %s has no columns (its type is no struct)", table->name);
    for (uint32_t c = 0; c < table->column_count; c++)
        RETURN_IF_ERROR(find_column(reader, c));
    for (enum status status = STATUS_OK;;) {
        struct ArrowArray batch = {0};
        const int failed = stream->get_next(stream, &batch);
        if (failed)
            return stream_failed(reader, stream, failed);
        if (!batch.release)
            return STATUS_OK;
        status = take_batch(reader, &batch);
        batch.release(&batch);
        RETURN_IF_ERROR(status);
    }
}

enum status arrow_rows_read(struct row_parse *parse, struct ArrowArrayStream *stream, struct error *error)
{
    struct arrow_reader *reader = calloc(1, sizeof *reader);
    enum status status = STATUS_OK;
    if (reader) {
        reader->parse = parse;
        reader->error = error;
        status = read_all(reader, stream);
        if (reader->schema.release)
            reader->schema.release(&reader->schema);
        free(reader);
    } else {
        status = error_out_of_memory(error, sizeof *reader, "a stream");
    }
    stream->release(stream);
    return status;
}
