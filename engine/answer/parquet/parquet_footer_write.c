/* parquet_footer_write.c: the footer: the schema, and where the chunks are (parquet_writing.h). The numbers of fields are
 * those of parquet.thrift, whose names are beside them. */
#include "engine/answer/parquet/parquet_writing.h"
#include "engine/answer/parquet/thrift_write.h"
#include "storage/base/text/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* The older numbers of logical types, for readers that know these only. A timestamp has none that is without a time
 * zone. */
enum { CONVERTED_UTF8 = 0, CONVERTED_DECIMAL = 5, CONVERTED_DATE = 6 };

/* Longer strings are not said as least and greatest ones. */
#define RANGE_BYTES_MAX 128u

/* ---- SchemaElement ---- */

static void put_converted(struct thrift_writer *thrift, const struct parquet_write_column *column)
{
    switch (column->logical) {
    case PARQUET_LOGICAL_STRING:
        thrift_put_number(thrift, 6, THRIFT_I32, CONVERTED_UTF8);
        break;
    case PARQUET_LOGICAL_DATE:
        thrift_put_number(thrift, 6, THRIFT_I32, CONVERTED_DATE);
        break;
    case PARQUET_LOGICAL_DECIMAL:
        thrift_put_number(thrift, 6, THRIFT_I32, CONVERTED_DECIMAL);
        thrift_put_number(thrift, 7, THRIFT_I32, column->from->type.scale);
        thrift_put_number(thrift, 8, THRIFT_I32, column->digits);
        break;
    default:
        break;
    }
}

static void put_logical(struct thrift_writer *thrift, const struct parquet_write_column *column)
{
    if (column->logical == PARQUET_LOGICAL_NONE)
        return;
    thrift_begin(thrift, 10);
    thrift_begin(thrift, column->logical);
    if (column->logical == PARQUET_LOGICAL_DECIMAL) {
        thrift_put_number(thrift, 1, THRIFT_I32, column->from->type.scale);
        thrift_put_number(thrift, 2, THRIFT_I32, column->digits);
    } else if (column->logical == PARQUET_LOGICAL_TIMESTAMP) {
        thrift_put_truth(thrift, 1, column->from->type.zoned); /* isAdjustedToUTC */
        thrift_begin(thrift, 2);
        thrift_begin(thrift, PARQUET_UNIT_MICROS);
        thrift_end(thrift);
        thrift_end(thrift);
    }
    thrift_end(thrift);
    thrift_end(thrift);
}

static void put_schema(struct thrift_writer *thrift, const struct parquet_writing *writing)
{
    const uint32_t columns = writing->rows->column_count;
    thrift_put_list(thrift, 2, THRIFT_STRUCT, columns + UINT64_C(1));
    thrift_add_begin(thrift);
    thrift_put_binary(thrift, 4, "schema", 6);         /* name */
    thrift_put_number(thrift, 5, THRIFT_I32, columns); /* num_children */
    thrift_end(thrift);
    for (uint32_t c = 0; c < columns; c++) {
        const struct parquet_write_column *const column = &writing->columns[c];
        thrift_add_begin(thrift);
        thrift_put_number(thrift, 1, THRIFT_I32, column->physical); /* type */
        if (column->physical == PARQUET_FIXED)
            thrift_put_number(thrift, 2, THRIFT_I32, PARQUET_WIDE_DECIMAL_BYTES); /* type_length */
        thrift_put_number(thrift, 3, THRIFT_I32, PARQUET_OPTIONAL);               /* repetition_type */
        thrift_put_binary(thrift, 4, column->name, strlen(column->name));
        put_converted(thrift, column);
        put_logical(thrift, column);
        thrift_end(thrift);
    }
}

/* ---- RowGroup ---- */

static enum status put_bound(struct thrift_writer *thrift, int32_t id,
                             const struct parquet_write_column *column, uint64_t row,
                             struct text_space *value, struct error *error)
{
    static const uint32_t this_row = 0;
    value->used = 0;
    RETURN_IF_ERROR(parquet_put_plain(column, row, &this_row, 1, value, error));
    const size_t head = column->physical == PARQUET_BYTES ? 4 : 0; /* a string's length is not said twice */
    thrift_put_binary(thrift, id, value->bytes + head, value->used - head);
    return STATUS_OK;
}

static bool is_short(const struct parquet_write_column *column, uint64_t row)
{
    return column->physical != PARQUET_BYTES || rowset_string(column->from, row).length <= RANGE_BYTES_MAX;
}

static enum status put_statistics(struct thrift_writer *thrift, const struct parquet_write_column *column,
                                  const struct parquet_written_chunk *chunk, struct text_space *value,
                                  struct error *error)
{
    thrift_begin(thrift, 12);
    thrift_put_number(thrift, 3, THRIFT_I64, (int64_t)chunk->nulls);
    if (chunk->has_range && is_short(column, chunk->least) && is_short(column, chunk->greatest)) {
        RETURN_IF_ERROR(put_bound(thrift, 5, column, chunk->greatest, value, error)); /* max_value */
        RETURN_IF_ERROR(put_bound(thrift, 6, column, chunk->least, value, error));    /* min_value */
    }
    thrift_end(thrift);
    return STATUS_OK;
}

static void put_encodings(struct thrift_writer *thrift, const struct parquet_written_chunk *chunk)
{
    const bool coded = chunk->dictionary_bytes > 0;
    thrift_put_list(thrift, 2, THRIFT_I32, coded ? 3 : 2);
    thrift_add_number(thrift, PARQUET_PLAIN);
    thrift_add_number(thrift, PARQUET_RLE);
    if (coded)
        thrift_add_number(thrift, PARQUET_DICTIONARY);
}

static enum status put_chunk(struct thrift_writer *thrift, const struct parquet_writing *writing,
                             const struct parquet_write_column *column,
                             const struct parquet_written_chunk *chunk, struct text_space *value,
                             struct error *error)
{
    thrift_add_begin(thrift);
    thrift_put_number(thrift, 2, THRIFT_I64, (int64_t)chunk->offset); /* file_offset */
    thrift_begin(thrift, 3);                                          /* meta_data */
    thrift_put_number(thrift, 1, THRIFT_I32, column->physical);
    put_encodings(thrift, chunk);
    thrift_put_list(thrift, 3, THRIFT_BINARY, 1); /* path_in_schema */
    thrift_add_binary(thrift, column->name, strlen(column->name));
    thrift_put_number(thrift, 4, THRIFT_I32, writing->style->codec);
    thrift_put_number(thrift, 5, THRIFT_I64, (int64_t)chunk->values);
    thrift_put_number(thrift, 6, THRIFT_I64, (int64_t)chunk->plain_bytes); /* total_uncompressed_size */
    thrift_put_number(thrift, 7, THRIFT_I64, (int64_t)chunk->bytes);       /* total_compressed_size */
    thrift_put_number(thrift, 9, THRIFT_I64,
                      (int64_t)(chunk->offset + chunk->dictionary_bytes)); /* data_page_offset */
    if (chunk->dictionary_bytes)
        thrift_put_number(thrift, 11, THRIFT_I64, (int64_t)chunk->offset); /* dictionary_page_offset */
    RETURN_IF_ERROR(put_statistics(thrift, column, chunk, value, error));
    thrift_end(thrift);
    thrift_end(thrift);
    return STATUS_OK;
}

static enum status put_group(struct thrift_writer *thrift, const struct parquet_writing *writing,
                             uint64_t group, struct text_space *value, struct error *error)
{
    const uint32_t columns = writing->rows->column_count;
    const struct parquet_written_chunk *const chunks = &writing->chunks[group * columns];
    uint64_t bytes = 0, plain_bytes = 0;
    thrift_add_begin(thrift);
    thrift_put_list(thrift, 1, THRIFT_STRUCT, columns);
    for (uint32_t c = 0; c < columns; c++) {
        RETURN_IF_ERROR(put_chunk(thrift, writing, &writing->columns[c], &chunks[c], value, error));
        bytes += chunks[c].bytes;
        plain_bytes += chunks[c].plain_bytes;
    }
    thrift_put_number(thrift, 2, THRIFT_I64, (int64_t)plain_bytes); /* total_byte_size */
    thrift_put_number(thrift, 3, THRIFT_I64, (int64_t)parquet_group_rows(writing, group));
    thrift_put_number(thrift, 5, THRIFT_I64, (int64_t)chunks[0].offset); /* file_offset */
    thrift_put_number(thrift, 6, THRIFT_I64, (int64_t)bytes);            /* total_compressed_size */
    thrift_end(thrift);
    return STATUS_OK;
}

/* ---- FileMetaData ---- */

static enum status put_footer(struct thrift_writer *thrift, const struct parquet_writing *writing,
                              struct text_space *value, struct error *error)
{
    const uint32_t columns = writing->rows->column_count;
    thrift_put_number(thrift, 1, THRIFT_I32, 2); /* version */
    put_schema(thrift, writing);
    thrift_put_number(thrift, 3, THRIFT_I64, (int64_t)writing->rows->rows);
    thrift_put_list(thrift, 4, THRIFT_STRUCT, writing->group_count);
    for (uint64_t g = 0; g < writing->group_count; g++)
        RETURN_IF_ERROR(put_group(thrift, writing, g, value, error));
    thrift_put_binary(thrift, 6, writing->style->software, strlen(writing->style->software)); /* created_by */
    thrift_put_list(thrift, 7, THRIFT_STRUCT, columns); /* column_orders: that of the types */
    for (uint32_t c = 0; c < columns; c++) {
        thrift_add_begin(thrift);
        thrift_begin(thrift, 1);
        thrift_end(thrift);
        thrift_end(thrift);
    }
    thrift_end(thrift);
    return STATUS_OK;
}

enum status parquet_footer_write(struct parquet_writing *writing, struct error *error)
{
    struct text_space value = {0};
    char *text = NULL;
    size_t bytes = 0;
    struct thrift_writer thrift = {.out = text_stream(&text, &bytes)};
    if (!thrift.out)
        return error_out_of_memory(error, BUFSIZ, "a file's footer");
    enum status status = put_footer(&thrift, writing, &value, error);
    if (fclose(thrift.out) != 0 && status == STATUS_OK)
        status = error_out_of_memory(error, BUFSIZ, "a file's footer");
    if (status == STATUS_OK && bytes > UINT32_MAX)
        status = error_set(error, STATUS_BAD_INPUT, "the footer of a Parquet file has at most 4 GiB");
    const uint32_t length = (uint32_t)bytes;
    status = AND_THEN(status, ordered_output_write(&writing->out, text, bytes, error));
    status = AND_THEN(status, ordered_output_write(&writing->out, &length, sizeof length, error));
    status =
        AND_THEN(status, ordered_output_write(&writing->out, PARQUET_MAGIC, strlen(PARQUET_MAGIC), error));
    free(text);
    free(value.bytes);
    return status;
}
