/*
 * parquet_write.c: see parquet_write.h.
 *
 * An item of the threads' work is a chunk, and items are in the order of the file. So a thread makes a chunk in memory, and
 * writes it when those before it are written (ordered_output.h). Memory is bounded: a chunk of long strings is written
 * piece by piece once it is its turn.
 */
#include "engine/answer/parquet/parquet_writing.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define TEN_TO_18 INT64_C(1000000000000000000)

/* ---- Columns ---- */

static void take_type(struct parquet_write_column *column)
{
    static const struct {
        enum parquet_physical physical;
        enum parquet_logical logical;
    } types[] = {[VALUE_INTEGER] = {PARQUET_INT64, PARQUET_LOGICAL_NONE},
                 [VALUE_DATE] = {PARQUET_INT32, PARQUET_LOGICAL_DATE},
                 [VALUE_TIMESTAMP] = {PARQUET_INT64, PARQUET_LOGICAL_TIMESTAMP},
                 [VALUE_BOOLEAN] = {PARQUET_BOOLEAN, PARQUET_LOGICAL_NONE},
                 [VALUE_STRING] = {PARQUET_BYTES, PARQUET_LOGICAL_STRING},
                 [VALUE_DOUBLE] = {PARQUET_DOUBLE, PARQUET_LOGICAL_NONE}};
    column->physical = types[column->from->type.kind].physical;
    column->logical = types[column->from->type.kind].logical;
    if (!value_is_decimal(column->from->type))
        return;
    column->logical = PARQUET_LOGICAL_DECIMAL;
    column->digits = PARQUET_DECIMAL_DIGITS;
}

/* Decimals have 18 digits, but sums and products may have any 64 bits. */
static enum status widen(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct parquet_writing *const writing = context;
    struct parquet_write_column *const column = &writing->columns[item];
    (void)thread;
    for (uint64_t row = 0; column->digits == PARQUET_DECIMAL_DIGITS && row < writing->rows->rows; row++) {
        const int64_t value = column->from->values[row];
        if (row % PARQUET_GROUP_ROWS == 0)
            RETURN_IF_ERROR(cancel_check(error));
        if ((value < TEN_TO_18 && value > -TEN_TO_18) || (column->from->nulls && column->from->nulls[row]))
            continue;
        column->digits = PARQUET_WIDE_DECIMAL_DIGITS;
        column->physical = PARQUET_FIXED;
    }
    return STATUS_OK;
}

static enum status take_columns(struct parquet_writing *writing, struct error *error)
{
    const struct rowset *const rows = writing->rows;
    char **names; /* owned by the columns */
    RETURN_IF_ERROR(memory_zeros(&names, (rows->column_count + 1) * sizeof *names, "names", error));
    enum status status = STATUS_OK;
    for (uint32_t c = 0; status == STATUS_OK && c < rows->column_count; c++) {
        struct parquet_write_column *const column = &writing->columns[c];
        column->from = &rows->columns[c];
        column->name = names[c] = rowset_unique_name(rows, c, names);
        if (!column->name)
            status = error_out_of_memory(error, strlen(rows->columns[c].name), "a name");
        take_type(column);
    }
    free(names);
    return AND_THEN(status, parallel_for(writing->writer_count, rows->column_count, widen, writing, error));
}

/* ---- Memory ---- */

static enum status writer_open(struct parquet_writer *own, struct error *error)
{
    const uint64_t rows = PARQUET_GROUP_ROWS + 8;
    RETURN_IF_ERROR(memory_take(&own->present, rows * sizeof *own->present, "rows to write", error));
    RETURN_IF_ERROR(memory_take(&own->entries, rows * sizeof *own->entries, "rows to write", error));
    RETURN_IF_ERROR(memory_take(&own->codes, rows * sizeof *own->codes, "rows to write", error));
    RETURN_IF_ERROR(memory_take(&own->words, rows * sizeof *own->words, "rows to write", error));
    own->zstd = ZSTD_createCCtx();
    return own->zstd ? STATUS_OK : error_out_of_memory(error, sizeof *own, "rows to write");
}

static void writer_close(struct parquet_writer *own)
{
    free(own->present);
    free(own->entries);
    free(own->codes);
    free(own->words);
    hash_table_free(&own->table);
    free(own->plain.bytes);
    free(own->packed.bytes);
    free(own->chunk.bytes);
    ZSTD_freeCCtx(own->zstd);
}

static enum status writing_open(struct parquet_writing *writing, struct error *error)
{
    const uint64_t columns = writing->rows->column_count, chunks = columns * writing->group_count;
    RETURN_IF_ERROR(
        memory_zeros(&writing->columns, (columns + 1) * sizeof *writing->columns, "columns", error));
    RETURN_IF_ERROR(memory_zeros(&writing->chunks, (chunks + 1) * sizeof *writing->chunks, "chunks", error));
    RETURN_IF_ERROR(memory_zeros(&writing->writers, writing->writer_count * sizeof *writing->writers,
                                 "rows to write", error));
    for (unsigned t = 0; t < writing->writer_count; t++)
        RETURN_IF_ERROR(writer_open(&writing->writers[t], error));
    return take_columns(writing, error);
}

static void writing_close(struct parquet_writing *writing)
{
    for (unsigned t = 0; writing->writers && t < writing->writer_count; t++)
        writer_close(&writing->writers[t]);
    for (uint32_t c = 0; writing->columns && c < writing->rows->column_count; c++)
        free(writing->columns[c].name);
    free(writing->writers);
    free(writing->columns);
    free(writing->chunks);
    ordered_output_close(&writing->out);
}

/* ---- The file ---- */

static enum status write_chunk(void *context, uint64_t number, unsigned thread, struct error *error)
{
    struct parquet_writing *const writing = context;
    const enum status status = parquet_chunk_write(writing, &writing->writers[thread], number, error);
    ordered_output_end(&writing->out, status != STATUS_OK);
    return status;
}

static enum status write_file(struct parquet_writing *writing, struct error *error)
{
    const uint64_t chunks = writing->group_count * writing->rows->column_count;
    RETURN_IF_ERROR(ordered_output_write(&writing->out, PARQUET_MAGIC, strlen(PARQUET_MAGIC), error));
    RETURN_IF_ERROR(parallel_for(writing->writer_count, chunks, write_chunk, writing, error));
    return parquet_footer_write(writing, error);
}

enum status rowset_write_parquet(const struct rowset *rows, const struct parquet_style *style,
                                 unsigned threads, FILE *out, struct error *error)
{
    struct parquet_writing writing = {.rows = rows,
                                      .style = style,
                                      .out = ordered_output_to(out),
                                      .group_count =
                                          (rows->rows + PARQUET_GROUP_ROWS - 1) / PARQUET_GROUP_ROWS};
    const uint64_t chunks = writing.group_count * rows->column_count;
    writing.writer_count = threads ? threads : parallel_threads_available();
    if (writing.writer_count > chunks)
        writing.writer_count = chunks ? (unsigned)chunks : 1;
    enum status status = writing_open(&writing, error);
    status = AND_THEN(status, write_file(&writing, error));
    writing_close(&writing);
    return status;
}
