/*
 * columnar_batches.c: reading with a decoder that asks for large calls, as a GPU does (byte_decoder.h). For columns
 * that are read into blocks, the streams of several parts are read first, then decompressed in one call, and then
 * decoded. For a column that is read when it is written, the call has the streams of all parts of a segment.
 */
#define _GNU_SOURCE
#include "loader/columnar/columnar_reader.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Decompresses streams in one call; threads take turns. */
static enum status run_together(struct columnar_reader *reader, struct columnar_streams *const *streams,
                                uint64_t count, struct error *error)
{
    struct byte_job *all = NULL;
    uint64_t at = 0;
    enum status status = STATUS_OK;
    for (int pass = 0; pass < 3 && status == STATUS_OK; pass++) { /* count, copy there, copy back */
        at = 0;
        for (uint64_t i = 0; i < count * COLUMNAR_STREAMS; i++) {
            struct columnar_stream *const stream =
                &streams[i / COLUMNAR_STREAMS]->streams[i % COLUMNAR_STREAMS];
            const size_t bytes = stream->job_count * sizeof *all;
            if (pass == 1 && bytes)
                memcpy(all + at, stream->jobs, bytes);
            else if (pass == 2 && bytes)
                memcpy(stream->jobs, all + at, bytes);
            at += stream->job_count;
        }
        if (pass == 0)
            status = memory_take(&all, (at + 1) * sizeof *all, "chunks", error);
        if (pass == 1) {
            pthread_mutex_lock(&reader->decode_lock);
            status = reader->decoder->decode(reader->decoder, all, at, error);
            pthread_mutex_unlock(&reader->decode_lock);
        }
    }
    free(all);
    return status;
}

/* ---- Columns that are read into blocks ---- */

static enum status batch_read_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct columnar_reader *const reader = context;
    struct columnar_part_load *const part = &reader->parts[reader->first_part + item / reader->soon_count];
    const uint32_t s = (uint32_t)(item % reader->soon_count);
    if (columnar_part_info(part)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(columnar_part_begin(reader, part, thread, error));
    return columnar_column_streams(reader, part, reader->soon[s], &part->streams[s], error);
}

static enum status batch_store_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct columnar_reader *const reader = context;
    struct columnar_part_load *const part = &reader->parts[reader->first_part + item / reader->soon_count];
    const uint32_t s = (uint32_t)(item % reader->soon_count);
    if (columnar_reader_stopped(reader) || columnar_part_info(part)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    return columnar_column_store(reader, part, reader->soon[s], thread, &part->streams[s], error);
}

/* Decompresses the streams of a batch in one call. */
static enum status batch_run(struct columnar_reader *reader, uint64_t parts, struct error *error)
{
    struct columnar_streams **all;
    const uint64_t count = parts * reader->soon_count;
    RETURN_IF_ERROR(memory_take(&all, count * sizeof *all, "streams", error));
    for (uint64_t i = 0; i < count; i++)
        all[i] = &reader->parts[reader->first_part + i / reader->soon_count].streams[i % reader->soon_count];
    const enum status status = run_together(reader, all, count, error);
    free(all);
    return status;
}

/* The parts from first_part on that are decompressed in one call: as many as the decoder wants and the memory
 * allows, at least one. */
static uint64_t batch_parts(const struct columnar_reader *reader)
{
    uint64_t parts = 0, values = 0;
    while (reader->first_part + parts < reader->part_count) {
        const struct columnar_part *const info =
            columnar_part_info(&reader->parts[reader->first_part + parts]);
        const uint64_t bytes = columnar_reader_block_bytes(reader, info->rows);
        /* the decompressed streams are about as large as the values, and both are in memory */
        if (parts && (values >= reader->decoder->batch_bytes || 2 * (values + bytes) > reader->most))
            break;
        values += bytes;
        parts++;
    }
    return parts;
}

enum status columnar_batches_load(struct columnar_reader *reader, struct error *error)
{
    for (uint64_t parts; reader->first_part < reader->part_count && !columnar_reader_stopped(reader);
         reader->first_part += parts) {
        parts = batch_parts(reader);
        for (uint64_t s = 0; s < parts; s++)
            RETURN_IF_ERROR(memory_zeros(&reader->parts[reader->first_part + s].streams,
                                         reader->soon_count * sizeof(struct columnar_streams), "streams",
                                         error));
        RETURN_IF_ERROR(
            parallel_for(reader->threads, parts * reader->soon_count, batch_read_column, reader, error));
        RETURN_IF_ERROR(batch_run(reader, parts, error));
        RETURN_IF_ERROR(
            parallel_for(reader->threads, parts * reader->soon_count, batch_store_column, reader, error));
    }
    return STATUS_OK;
}

/* ---- A column of a segment ---- */

void columnar_ahead_free(struct columnar_ahead *ahead)
{
    for (uint64_t s = 0; s < ahead->room; s++)
        columnar_streams_free(&ahead->streams[s]);
    free(ahead->streams);
    *ahead = (struct columnar_ahead){.count = 0};
}

static enum status ahead_reserve(struct columnar_ahead *ahead, uint64_t count, struct error *error)
{
    if (count <= ahead->room)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(&ahead->streams, count * sizeof *ahead->streams, "streams", error));
    memset(ahead->streams + ahead->room, 0, (count - ahead->room) * sizeof *ahead->streams);
    ahead->room = count;
    return STATUS_OK;
}

/* Reads the streams of one part, without decompressing them. */
static enum status ahead_read(struct columnar_reader *reader, uint64_t block, uint32_t column,
                              struct columnar_streams *streams, struct error *error)
{
    const struct columnar_part_load *const known = &reader->parts[block];
    struct columnar_part_load part = {.source = known->source, .part = known->part, .number = block};
    enum status status = columnar_part_open(part.source->file, part.part, &part.opened, error);
    status = AND_THEN(status, columnar_column_streams(reader, &part, column, streams, error));
    columnar_part_close(&part.opened);
    return status;
}

enum status columnar_column_ahead(struct columnar_reader *reader, uint64_t first, uint64_t count,
                                  uint32_t column, unsigned thread, struct error *error)
{
    struct columnar_ahead *const ahead = &reader->scratch[thread].ahead;
    const struct columnar_kept *const kept = &reader->scratch[thread].kept;
    struct columnar_streams **all;
    const uint64_t known = kept->rows && kept->column == column && kept->part == first; /* decoded already */
    first += known;
    count -= known;
    ahead->count = 0;
    if (!reader->decoder->batch_bytes || count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(ahead_reserve(ahead, count, error));
    for (uint64_t s = 0; s < count; s++)
        RETURN_IF_ERROR(ahead_read(reader, first + s, column, &ahead->streams[s], error));
    RETURN_IF_ERROR(memory_take(&all, count * sizeof *all, "streams", error));
    for (uint64_t s = 0; s < count; s++)
        all[s] = &ahead->streams[s];
    const enum status status = run_together(reader, all, count, error);
    free(all);
    if (status == STATUS_OK) {
        ahead->first = first;
        ahead->column = column;
        ahead->count = count;
    }
    return status;
}

struct columnar_streams *columnar_ahead_streams(struct columnar_reader *reader, uint64_t block,
                                                uint32_t column, unsigned thread)
{
    struct columnar_ahead *const ahead = &reader->scratch[thread].ahead;
    return ahead->column == column && block - ahead->first < ahead->count
               ? &ahead->streams[block - ahead->first]
               : NULL;
}
