/*
 * arrow_rows.c: reads the rows of one table from an Arrow stream (arrow.h), batch by batch. Columns are found by
 * name, and each value is handled like a field of text: dictionary, key look-up, NULL and range checks. Blocks of rows
 * whose values are all right are stored by columns, on all threads (arrow_columns.h); others row by row, on one.
 *
 * The stream is checked as far as possible: kinds of columns, numbers of children and buffers, lengths,
 * offsets of strings. The lengths of its buffers are unknown, because the interface does not tell them.
 */
#include "loader/arrow/arrow_columns.h"
#include "loader/table/table_loader_internal.h"
#include "loader/text/text_rows.h"
#include "storage/base/decimal.h"
#include "storage/base/number/number_text.h"
#include "storage/base/words/utf8.h"
#include "storage/base/words/word.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A batch is cut into blocks of this many rows. */
#define BLOCK_ROWS 65536u

struct arrow_reader {
    struct row_parse *parse;
    struct ArrowSchema schema;
    struct arrow_column columns[SCHEMA_COLUMNS_MAX];
    struct arrow_scratch *scratch; /* of each thread; NULL: some column has no fast way */
    uint64_t blocks, rows;
    struct error *error;
};

/* ---- Types ---- */

/* Whether values of the Arrow type can be converted to the column's type. Text can be converted to any type,
 * like a field of a file. */
static bool fits(const struct arrow_type *type, enum column_type want, bool rounds)
{
    const bool whole = type->kind == ARROW_SIGNED || type->kind == ARROW_UNSIGNED ||
                       (rounds && (type->kind == ARROW_FLOAT || type->kind == ARROW_DECIMAL));
    if (type->kind == ARROW_OTHER || (type->kind == ARROW_DECIMAL && (type->scale < 0 || type->scale > 38)))
        return false;
    if (arrow_is_text(type) || type->kind == ARROW_NULLS)
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
        return type->kind == ARROW_SIGNED || type->kind == ARROW_UNSIGNED || type->kind == ARROW_BIT;
    case TYPE_STRING:
        return false;
    }
    return false;
}

static enum status find_column(struct arrow_reader *reader, uint32_t c)
{
    const struct schema_table *table = reader->parse->parsed->table;
    struct arrow_column *column = &reader->columns[c];
    const struct table_keys *keys = reader->parse->keys[c];
    *column = (struct arrow_column){.want = keys ? &keys->key : &table->columns[c],
                                    .child = -1,
                                    .indices = {.kind = ARROW_OTHER},
                                    .rounds = reader->parse->options->of_statement && !keys};
    for (int64_t i = 0; i < reader->schema.n_children; i++)
        if (reader->schema.children[i]->name &&
            word_compare(reader->schema.children[i]->name, table->columns[c].name) == 0)
            column->child = i;
    if (column->child < 0 && reader->parse->options->of_statement) {
        column->type.kind = ARROW_NULLS;
        return STATUS_OK;
    }
    if (column->child < 0)
        return error_set(reader->error, STATUS_BAD_INPUT,
                         "the stream of table %s has no column %s; the others may come in any order",
                         table->name, table->columns[c].name);
    const struct ArrowSchema *schema = reader->schema.children[column->child];
    column->type = arrow_type_of(schema->dictionary ? schema->dictionary->format : schema->format);
    if (schema->dictionary)
        column->indices = arrow_type_of(schema->format);
    const bool indexed = !schema->dictionary ||
                         ((column->indices.kind == ARROW_SIGNED || column->indices.kind == ARROW_UNSIGNED) &&
                          arrow_is_text(&column->type));
    char type[64];
    if (indexed && fits(&column->type, column->want->type, column->rounds))
        return STATUS_OK;
    return error_set(reader->error, STATUS_BAD_INPUT,
                     "the stream of table %s: column %s is of Arrow's type \"%s\"%s, which cannot be stored "
                     "as %s; cast it (floating-point numbers to decimals, or make the column DOUBLE)",
                     table->name, table->columns[c].name, schema->format ? schema->format : "",
                     schema->dictionary ? " with a dictionary" : "", column_type_text(column->want, type));
}

/* ---- Values ---- */

static const char too_many_decimals[] = "has more decimals than the column";

/* Converts a number with `scale` decimals to the column's number of decimals. */
static const char *rescale(__int128 number, int scale, const struct column_schema *want, bool rounds,
                           int64_t *value)
{
    if (want->type == TYPE_DOUBLE)
        return text_decimal_double(number, scale, value);
    const int wanted = want->type == TYPE_DECIMAL ? want->scale : 0;
    const int64_t most = want->type == TYPE_DECIMAL ? power_of_ten(want->precision) : 0;
    if (scale > wanted) {
        __int128 unit = 1;
        for (; scale > wanted; scale--)
            unit *= 10;
        const __int128 rest = number % unit, size = rest < 0 ? -rest : rest;
        if (rest && !rounds)
            return too_many_decimals;
        number = number / unit + (size >= unit - size ? rest < 0 ? -1 : 1 : 0);
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

/* A double as the nearest number of the column's digits. */
static const char *rounded(double number, const struct column_schema *want, int64_t *value)
{
    const int scale = want->type == TYPE_DECIMAL ? want->scale : 0;
    const double units = round(number * (double)power_of_ten((unsigned)scale));
    if (!(units > -9.2e18 && units < 9.2e18))
        return text_out_of_range;
    return rescale((__int128)units, scale, want, true, value);
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
        *value = double_key_of(arrow_float(type, values, at)); /* a complaint shows it */
        return column->want->type == TYPE_DOUBLE
                   ? NULL
                   : rounded(arrow_float(type, values, at), column->want, value);
    case ARROW_SIGNED:
    case ARROW_UNSIGNED:
        read->number =
            arrow_whole_number(type, values, at, value) ? (__int128)*value : (__int128)(uint64_t)*value;
        return rescale(read->number, 0, column->want, column->rounds, value);
    case ARROW_BIT:
        *value = arrow_bit(values, at);
        return NULL;
    case ARROW_DECIMAL:
        memcpy(&read->number, (const uint8_t *)values + 16 * at, sizeof read->number);
        read->scale = type->scale;
        return rescale(read->number, type->scale, column->want, column->rounds, value);
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
        number_print(shown, TEXT_SHOWN_BYTES, "%.17g", double_of_key(read->value));
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

/* ---- Rows ---- */

static const char not_whole[] =
    "does not keep to Arrow's layout (offsets of strings or indices of a dictionary)";

/* Reads the value of row `at` of the batch; returns NULL, or the complaint. */
static const char *read_value(const struct arrow_column *column, const struct ArrowArray *array, int64_t at,
                              struct arrow_value *read)
{
    const struct ArrowArray *from = array;
    *read = (struct arrow_value){.text = "", .null = column->type.kind == ARROW_NULLS};
    if (read->null)
        return NULL;
    at += array->offset;
    if (arrow_is_null(array, at)) {
        read->null = true;
        return NULL;
    }
    if (column->indices.kind != ARROW_OTHER) {
        int64_t index;
        from = array->dictionary;
        if (!arrow_whole_number(&column->indices, array->buffers[1], at, &index) || index < 0 ||
            index >= from->length)
            return not_whole;
        at = index + from->offset;
        if (arrow_is_null(from, at)) {
            read->null = true;
            return NULL;
        }
    }
    read->is_text = arrow_is_text(&column->type);
    if (!read->is_text)
        return number_of(column, from, at, read);
    if (arrow_text(&column->type, from, at, &read->text, &read->length))
        return utf8_is_valid(read->text, read->length) ? NULL : "is no UTF-8";
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
    const struct text_reading *const reading = &parse->readings[c];
    const char *complaint = NULL;
    *null = read->null;
    *value = read->value;
    if (read->null)
        return column->nullable ? NULL : "is NULL, but the column is NOT NULL";
    if (!keys)
        return read->is_text ? text_value(reading, column, read->text, read->length, value) : NULL;
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
    const struct bad_row bad = {.line = reader->rows + row + 1};
    snprintf(place, sizeof place,
             reader->parse->options->of_statement ? "table %s, inserted row %" PRIu64
                                                  : "the stream of table %s, row %" PRIu64,
             table->name, bad.line);
    row_complaint(text, place, reader->parse, c, shown, complaint);
    return row_reject(reader->parse, reader->blocks, &bad, text);
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
        const char *complaint = read_value(column, column->child < 0 ? NULL : batch->children[column->child],
                                           batch->offset + row, &read);
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
        if (column->child < 0)
            continue;
        const struct ArrowArray *array = batch->children[column->child];
        const bool indexed = column->indices.kind != ARROW_OTHER;
        whole = arrow_array_whole(array, indexed ? &column->indices : &column->type,
                                  batch->length + batch->offset);
        if (whole && indexed)
            whole = array->dictionary &&
                    arrow_array_whole(array->dictionary, &column->type, array->dictionary->length) &&
                    array->dictionary->length >= 0;
    }
    return whole ? STATUS_OK
                 : error_set(reader->error, STATUS_BAD_INPUT,
                             "the stream of table %s: the batch behind row %" PRIu64
                             " does not keep to Arrow's layout (lengths, offsets, buffers)",
                             table->name, reader->rows);
}

/* Reads some rows of a batch one by one. */
static enum status take_rows(struct arrow_reader *reader, const struct ArrowArray *batch, int64_t first,
                             uint32_t rows, struct parsed_block *block)
{
    for (uint32_t row = 0; row < rows; row++)
        RETURN_IF_ERROR(take_row(reader, batch, first + row, rows, block));
    return STATUS_OK;
}

static enum status take_block(struct arrow_reader *reader, const struct ArrowArray *batch, int64_t first,
                              uint32_t rows, struct parsed_block *block)
{
    const struct arrow_block read = {.parse = reader->parse,
                                     .columns = reader->columns,
                                     .batch = batch,
                                     .first = first,
                                     .rows = rows,
                                     .scratch = reader->scratch,
                                     .block = block};
    bool right = false;
    if (reader->scratch)
        RETURN_IF_ERROR(arrow_block_store(&read, &right, reader->error));
    return right ? STATUS_OK : take_rows(reader, batch, first, rows, block);
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
        status = AND_THEN(status, take_block(reader, batch, first, rows, &block));
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
    if (reason == ENOMEM && !said)
        return error_out_of_memory(reader->error, sizeof *reader, "a stream");
    return error_set(reader->error, reason == ENOMEM ? STATUS_MACHINE : STATUS_BAD_INPUT,
                     "the stream of table %s behind row %" PRIu64 ": %s", reader->parse->parsed->table->name,
                     reader->rows, said ? said : strerror(reason));
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
    RETURN_IF_ERROR(arrow_scratch_new(reader->parse, reader->columns, &reader->scratch, reader->error));
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
        arrow_scratch_free(reader->scratch, parse->options->threads);
        free(reader);
    } else {
        status = error_out_of_memory(error, sizeof *reader, "a stream");
    }
    stream->release(stream);
    return status;
}
