/*
 * columnar_rows.c: reads the values of one table from columnar files (columnar_reader.h). The unit of work is one
 * column of one part: its streams are read, decompressed and decoded, and its values are converted and stored. Columns
 * that the table does not have are never read.
 *
 * Parts are taken in order, and those that threads work on at the same time fit half of the memory budget.
 */
#define _GNU_SOURCE
#include "loader/columnar/columnar_reader.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- One column of one part ---- */

enum status columnar_column_streams(const struct columnar_reader *reader,
                                    const struct columnar_part_load *part, uint32_t c,
                                    struct columnar_streams *streams, struct error *error)
{
    return reader->format->column_read(&part->opened, part->source->columns[c], reader->most, streams, error);
}

/* Decodes a column from its decompressed streams, and stores its values to `into`. */
static enum status column_decode(struct columnar_reader *reader, const struct columnar_part_load *part,
                                 uint32_t c, unsigned thread, struct columnar_streams *streams,
                                 const struct columnar_stored *into, struct columnar_bad_values *bad,
                                 struct error *error)
{
    const struct parsed_table *const parsed = reader->parse->parsed;
    struct columnar_thread_scratch *const scratch = &reader->scratch[thread];
    const struct columnar_part *const info = columnar_part_info(part);
    const uint32_t column = part->source->columns[c];
    const struct columnar_place place = columnar_place_of(&part->opened, column);
    RETURN_IF_ERROR(
        reader->format->column_decode(&part->opened, column, reader->most, streams, &scratch->values, error));
    const struct columnar_store store = {.parse = reader->parse,
                                         .place = &place,
                                         .type = &part->source->file->columns[column].type,
                                         .values = &scratch->values,
                                         .first_row = info->first_row,
                                         .column = c,
                                         .words = parsed->words[thread * reader->columns + c],
                                         .scratch = &scratch->store,
                                         .into = *into};
    return columnar_store_column(&store, reader->parse->rejects->most, bad, error);
}

/* ---- Columns that are read into blocks ---- */

enum status columnar_column_store(struct columnar_reader *reader, struct columnar_part_load *part, uint32_t c,
                                  unsigned thread, struct columnar_streams *streams, struct error *error)
{
    const struct columnar_stored into = {part->block.values[c], &part->block.nulls[c]};
    struct columnar_bad_values bad = {0};
    part->block.threads[c] = thread;
    enum status status = column_decode(reader, part, c, thread, streams, &into, &bad, error);
    if (status == STATUS_OK && bad.count) {
        status = columnar_part_add_bad(reader, part, &bad, error);
        bad.count = status == STATUS_OK ? 0 : bad.count; /* their texts are the part's now */
    }
    columnar_bad_values_free(&bad);
    if (status == STATUS_OK && atomic_fetch_sub(&part->left, 1) == 1)
        status = columnar_part_end(reader, part, error);
    return status;
}

static enum status load_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct columnar_reader *const reader = context;
    struct columnar_part_load *const part = &reader->parts[item / reader->soon_count];
    const uint32_t c = reader->soon[item % reader->soon_count];
    struct columnar_streams *const streams = &reader->scratch[thread].streams;
    if (columnar_reader_stopped(reader) || columnar_part_info(part)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(columnar_part_begin(reader, part, thread, error));
    RETURN_IF_ERROR(columnar_column_streams(reader, part, c, streams, error));
    RETURN_IF_ERROR(columnar_streams_run(reader->decoder, streams, error));
    return columnar_column_store(reader, part, c, thread, streams, error);
}

/* Makes the blocks of a table of which no column is read into them. */
static enum status make_blocks(struct columnar_reader *reader, struct error *error)
{
    for (uint64_t s = 0; s < reader->part_count; s++) {
        if (columnar_part_info(&reader->parts[s])->rows == 0)
            continue;
        RETURN_IF_ERROR(columnar_part_begin(reader, &reader->parts[s], 0, error));
        RETURN_IF_ERROR(columnar_part_end(reader, &reader->parts[s], error));
    }
    return STATUS_OK;
}

/* ---- Columns that are read when they are written ---- */

/* Decodes one column of one part to `into`. Its streams may have been decompressed already. */
static enum status column_read_later(struct columnar_reader *reader, struct columnar_part_load *part,
                                     uint32_t c, unsigned thread, const struct columnar_stored *into,
                                     struct error *error)
{
    struct columnar_streams *const ahead = columnar_ahead_streams(reader, part->number, c, thread),
                                   *const streams = ahead ? ahead : &reader->scratch[thread].streams;
    struct columnar_bad_values bad = {0};
    if (!ahead) {
        RETURN_IF_ERROR(columnar_column_streams(reader, part, c, streams, error));
        RETURN_IF_ERROR(columnar_streams_run(reader->decoder, streams, error));
    }
    enum status status = column_decode(reader, part, c, thread, streams, into, &bad, error);
    if (status == STATUS_OK && bad.count) {
        const struct bad_row row = {.file = part->source->file->path,
                                    .line = columnar_part_info(part)->first_row + bad.values[0].row + 1};
        status = row_reject(reader->parse, part->number, &row, bad.values[0].text);
        *error = reader->parse->error;
    }
    columnar_bad_values_free(&bad);
    return status;
}

/* Reads one column of one part to `into`. */
static enum status part_read_later(struct columnar_reader *reader, uint64_t number, uint32_t c,
                                   unsigned thread, const struct columnar_stored *into, struct error *error)
{
    const struct columnar_part_load *const known = &reader->parts[number];
    struct columnar_part_load part = {.source = known->source, .part = known->part, .number = number};
    enum status status = columnar_part_open(part.source->file, part.part, &part.opened, error);
    status = AND_THEN(status, column_read_later(reader, &part, c, thread, into, error));
    columnar_part_close(&part.opened);
    return status;
}

void columnar_kept_free(struct columnar_kept *kept)
{
    free(kept->values);
    free(kept->nulls);
    *kept = (struct columnar_kept){.rows = 0};
}

/* Gives some rows of a part, which is decoded once for all of its segments. */
static enum status rows_read_later(struct columnar_reader *reader, uint64_t number, uint32_t c,
                                   const struct columnar_row_range *range, unsigned thread, void *values,
                                   uint8_t *nulls, bool *any_null, struct error *error)
{
    struct columnar_kept *const kept = &reader->scratch[thread].kept;
    const uint64_t rows = columnar_part_info(&reader->parts[number])->rows,
                   width = reader->parse->value_bytes[c];
    if (!kept->rows || kept->part != number || kept->column != c) {
        columnar_kept_free(kept);
        RETURN_IF_ERROR(memory_take(&kept->values, rows * width, "rows", error));
        RETURN_IF_ERROR(part_read_later(reader, number, c, thread,
                                        &(struct columnar_stored){kept->values, &kept->nulls}, error));
        kept->part = number;
        kept->column = c;
        kept->rows = rows;
    }
    *any_null = kept->nulls != NULL;
    memcpy(values, kept->values + range->from * width, range->count * width);
    if (kept->nulls)
        memcpy(nulls, kept->nulls + range->from, range->count);
    if (range->from + (uint64_t)range->count == rows)
        columnar_kept_free(kept);
    return STATUS_OK;
}

enum status columnar_column_read(struct columnar_reader *reader, uint64_t block, uint32_t column,
                                 const struct columnar_row_range *range, unsigned thread, void *values,
                                 uint8_t *nulls, bool *any_null, struct error *error)
{
    uint8_t *part_nulls = NULL;
    if (range->from || range->count < columnar_part_info(&reader->parts[block])->rows)
        return rows_read_later(reader, block, column, range, thread, values, nulls, any_null, error);
    const enum status status =
        part_read_later(reader, block, column, thread, &(struct columnar_stored){values, &part_nulls}, error);
    *any_null = part_nulls != NULL;
    if (status == STATUS_OK && part_nulls)
        memcpy(nulls, part_nulls, range->count);
    free(part_nulls);
    return status;
}

uint64_t columnar_column_bytes(const struct columnar_reader *reader)
{
    const uint64_t ahead = reader->rows < SEGMENT_ROWS ? reader->rows : SEGMENT_ROWS;
    return reader->part_rows * COLUMNAR_SCRATCH_ROW_BYTES +
           (reader->decoder->batch_bytes ? ahead * COLUMNAR_AHEAD_ROW_BYTES : 0);
}

/* ---- The whole table ---- */

static enum status read_all(struct columnar_reader *reader, const struct load_input *input,
                            struct error *error)
{
    RETURN_IF_ERROR(columnar_reader_open(reader, input, error));
    if (reader->soon_count == 0)
        return make_blocks(reader, error);
    return reader->decoder->batch_bytes
               ? columnar_batches_load(reader, error)
               : parallel_for(reader->threads, reader->part_count * reader->soon_count, load_column, reader,
                              error);
}

enum status columnar_rows_read(struct row_parse *parse, const struct columnar_format *format,
                               const struct load_input *input, struct error *error)
{
    struct columnar_reader *reader;
    RETURN_IF_ERROR(memory_zeros(&reader, sizeof *reader, "a load", error));
    parse->parsed->columnar = reader;
    reader->format = format;
    reader->parse = parse;
    reader->columns = parse->parsed->table->column_count;
    reader->threads = parse->options->threads;
    pthread_mutex_init(&reader->decode_lock, NULL);
    pthread_mutex_init(&reader->lock, NULL);
    return read_all(reader, input, error);
}

void columnar_rows_free(struct columnar_reader *reader)
{
    if (!reader)
        return;
    columnar_reader_free(reader);
    free(reader);
}
