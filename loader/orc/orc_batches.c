/*
 * orc_batches.c: reading with a decoder that asks for large calls, as a GPU does (byte_decoder.h). For columns that are
 * read into blocks, the streams of several stripes are read first, then decompressed in one call, and then decoded. For a
 * column that is read when it is written, the call has the streams of all stripes of a segment.
 */
#define _GNU_SOURCE
#include "loader/orc/orc_reader.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Decompresses streams in one call; threads take turns. */
static enum status run_together(struct orc_reader *reader, struct orc_streams *const *streams, uint64_t count,
                                struct error *error)
{
    struct byte_job *all = NULL;
    uint64_t at = 0;
    enum status status = STATUS_OK;
    for (int pass = 0; pass < 3 && status == STATUS_OK; pass++) { /* count, copy there, copy back */
        at = 0;
        for (uint64_t i = 0; i < count * ORC_VALUE_STREAMS; i++) {
            struct orc_stream_bytes *const stream =
                &streams[i / ORC_VALUE_STREAMS]->kinds[i % ORC_VALUE_STREAMS];
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
    struct orc_reader *const reader = context;
    struct orc_stripe_load *const stripe = &reader->stripes[reader->first_stripe + item / reader->soon_count];
    const uint32_t s = (uint32_t)(item % reader->soon_count);
    if (orc_stripe_info(stripe)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(orc_stripe_begin(reader, stripe, thread, error));
    return orc_column_streams(reader, stripe, reader->soon[s], &stripe->streams[s], error);
}

static enum status batch_store_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct orc_reader *const reader = context;
    struct orc_stripe_load *const stripe = &reader->stripes[reader->first_stripe + item / reader->soon_count];
    const uint32_t s = (uint32_t)(item % reader->soon_count);
    if (orc_reader_stopped(reader) || orc_stripe_info(stripe)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    return orc_column_store(reader, stripe, reader->soon[s], thread, &stripe->streams[s], error);
}

/* Decompresses the streams of a batch in one call. */
static enum status batch_run(struct orc_reader *reader, uint64_t stripes, struct error *error)
{
    struct orc_streams **all;
    const uint64_t count = stripes * reader->soon_count;
    RETURN_IF_ERROR(memory_take(&all, count * sizeof *all, "streams", error));
    for (uint64_t i = 0; i < count; i++)
        all[i] =
            &reader->stripes[reader->first_stripe + i / reader->soon_count].streams[i % reader->soon_count];
    const enum status status = run_together(reader, all, count, error);
    free(all);
    return status;
}

/* The stripes from first_stripe on that are decompressed in one call: as many as the decoder wants and the memory
 * allows, at least one. */
static uint64_t batch_stripes(const struct orc_reader *reader)
{
    uint64_t stripes = 0, values = 0;
    while (reader->first_stripe + stripes < reader->stripe_count) {
        const struct orc_stripe *const info =
            orc_stripe_info(&reader->stripes[reader->first_stripe + stripes]);
        const uint64_t bytes = orc_reader_block_bytes(reader, info->rows);
        /* the decompressed streams are about as large as the values, and both are in memory */
        if (stripes && (values >= reader->decoder->batch_bytes || 2 * (values + bytes) > reader->most))
            break;
        values += bytes;
        stripes++;
    }
    return stripes;
}

enum status orc_batches_load(struct orc_reader *reader, struct error *error)
{
    for (uint64_t stripes; reader->first_stripe < reader->stripe_count && !orc_reader_stopped(reader);
         reader->first_stripe += stripes) {
        stripes = batch_stripes(reader);
        for (uint64_t s = 0; s < stripes; s++)
            RETURN_IF_ERROR(memory_zeros(&reader->stripes[reader->first_stripe + s].streams,
                                         reader->soon_count * sizeof(struct orc_streams), "streams", error));
        RETURN_IF_ERROR(
            parallel_for(reader->threads, stripes * reader->soon_count, batch_read_column, reader, error));
        RETURN_IF_ERROR(batch_run(reader, stripes, error));
        RETURN_IF_ERROR(
            parallel_for(reader->threads, stripes * reader->soon_count, batch_store_column, reader, error));
    }
    return STATUS_OK;
}

/* ---- A column of a segment ---- */

void orc_ahead_free(struct orc_ahead *ahead)
{
    for (uint64_t s = 0; s < ahead->room; s++)
        orc_streams_free(&ahead->streams[s]);
    free(ahead->streams);
    *ahead = (struct orc_ahead){.count = 0};
}

static enum status ahead_reserve(struct orc_ahead *ahead, uint64_t count, struct error *error)
{
    if (count <= ahead->room)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(&ahead->streams, count * sizeof *ahead->streams, "streams", error));
    memset(ahead->streams + ahead->room, 0, (count - ahead->room) * sizeof *ahead->streams);
    ahead->room = count;
    return STATUS_OK;
}

/* Reads the streams of one stripe, without decompressing them. */
static enum status ahead_read(struct orc_reader *reader, uint64_t block, uint32_t column,
                              struct orc_streams *streams, struct error *error)
{
    const struct orc_stripe_load *const opened = &reader->stripes[block];
    struct orc_stripe_load stripe = {.source = opened->source, .stripe = opened->stripe, .number = block};
    RETURN_IF_ERROR(orc_file_open(&stripe.source->file, &stripe.descriptor, error));
    enum status status =
        orc_stripe_footer_read(&stripe.source->file, stripe.descriptor, stripe.stripe, &stripe.footer, error);
    status = AND_THEN(status, orc_column_streams(reader, &stripe, column, streams, error));
    orc_stripe_footer_free(&stripe.footer);
    close(stripe.descriptor);
    return status;
}

enum status orc_column_ahead(struct orc_reader *reader, uint64_t first, uint64_t count, uint32_t column,
                             unsigned thread, struct error *error)
{
    struct orc_ahead *const ahead = &reader->scratch[thread].ahead;
    const struct orc_kept *const kept = &reader->scratch[thread].kept;
    struct orc_streams **all;
    const uint64_t known =
        kept->rows && kept->column == column && kept->stripe == first; /* decoded already */
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

struct orc_streams *orc_ahead_streams(struct orc_reader *reader, uint64_t block, uint32_t column,
                                      unsigned thread)
{
    struct orc_ahead *const ahead = &reader->scratch[thread].ahead;
    return ahead->column == column && block - ahead->first < ahead->count
               ? &ahead->streams[block - ahead->first]
               : NULL;
}
