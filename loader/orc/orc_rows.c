/*
 * orc_rows.c: reads the values of one table from ORC files (orc_reader.h). The unit of work is one column of one stripe:
 * its streams are read, decompressed and decoded, and its values are converted and stored. Columns that the table does
 * not have are never read.
 *
 * Stripes are taken in order, and those that threads work on at the same time fit half of the memory budget.
 */
#define _GNU_SOURCE
#include "loader/orc/orc_reader.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- One column of one stripe ---- */

static struct orc_place place_of(const struct orc_reader *reader, const struct orc_stripe_load *stripe,
                                 uint32_t c)
{
    return (struct orc_place){.file = &stripe->source->file,
                              .stripe = stripe->stripe,
                              .column = reader->parse->parsed->table->columns[c].name};
}

enum status orc_column_streams(const struct orc_reader *reader, const struct orc_stripe_load *stripe,
                               uint32_t c, struct orc_streams *streams, struct error *error)
{
    const struct orc_place place = place_of(reader, stripe, c);
    struct orc_column_layout layout;
    RETURN_IF_ERROR(
        orc_column_layout_find(&place, &stripe->footer, stripe->source->types[c], &layout, error));
    return orc_streams_read(&place, stripe->descriptor, &layout, reader->most, streams, error);
}

/* Decodes a column from its decompressed streams, and stores its values to `into`. */
static enum status column_decode(struct orc_reader *reader, const struct orc_stripe_load *stripe, uint32_t c,
                                 unsigned thread, struct orc_streams *streams, const struct orc_stored *into,
                                 struct orc_bad_values *bad, struct error *error)
{
    const struct parsed_table *const parsed = reader->parse->parsed;
    struct orc_thread_scratch *const scratch = &reader->scratch[thread];
    const struct orc_place place = place_of(reader, stripe, c);
    const struct orc_stripe *const info = orc_stripe_info(stripe);
    const struct orc_type *const type = &stripe->source->file.types[stripe->source->types[c]];
    const struct orc_column_encoding *const encoding = &stripe->footer.encodings[stripe->source->types[c]];
    RETURN_IF_ERROR(orc_streams_finish(&place, streams, error));
    RETURN_IF_ERROR(orc_values_decode(&place, type, encoding, stripe->footer.timezone, streams,
                                      (uint32_t)info->rows, reader->most, &scratch->values, error));
    const struct orc_store store = {.parse = reader->parse,
                                    .place = &place,
                                    .type = type,
                                    .values = &scratch->values,
                                    .first_row = info->first_row,
                                    .column = c,
                                    .words = parsed->words[thread * reader->columns + c],
                                    .scratch = &scratch->store,
                                    .into = *into};
    return orc_store_column(&store, reader->parse->rejects->most, bad, error);
}

/* ---- Columns that are read into blocks ---- */

enum status orc_column_store(struct orc_reader *reader, struct orc_stripe_load *stripe, uint32_t c,
                             unsigned thread, struct orc_streams *streams, struct error *error)
{
    const struct orc_stored into = {stripe->block.values[c], &stripe->block.nulls[c]};
    struct orc_bad_values bad = {0};
    stripe->block.threads[c] = thread;
    enum status status = column_decode(reader, stripe, c, thread, streams, &into, &bad, error);
    if (status == STATUS_OK && bad.count) {
        status = orc_stripe_add_bad(reader, stripe, &bad, error);
        bad.count = status == STATUS_OK ? 0 : bad.count; /* their texts are the stripe's now */
    }
    orc_bad_values_free(&bad);
    if (status == STATUS_OK && atomic_fetch_sub(&stripe->left, 1) == 1)
        status = orc_stripe_end(reader, stripe, error);
    return status;
}

static enum status load_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct orc_reader *const reader = context;
    struct orc_stripe_load *const stripe = &reader->stripes[item / reader->soon_count];
    const uint32_t c = reader->soon[item % reader->soon_count];
    struct orc_streams *const streams = &reader->scratch[thread].streams;
    if (orc_reader_stopped(reader) || orc_stripe_info(stripe)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(orc_stripe_begin(reader, stripe, thread, error));
    RETURN_IF_ERROR(orc_column_streams(reader, stripe, c, streams, error));
    RETURN_IF_ERROR(orc_streams_run(reader->decoder, streams, error));
    return orc_column_store(reader, stripe, c, thread, streams, error);
}

/* Makes the blocks of a table of which no column is read into them. */
static enum status make_blocks(struct orc_reader *reader, struct error *error)
{
    for (uint64_t s = 0; s < reader->stripe_count; s++) {
        if (orc_stripe_info(&reader->stripes[s])->rows == 0)
            continue;
        RETURN_IF_ERROR(orc_stripe_begin(reader, &reader->stripes[s], 0, error));
        RETURN_IF_ERROR(orc_stripe_end(reader, &reader->stripes[s], error));
    }
    return STATUS_OK;
}

/* ---- Columns that are read when they are written ---- */

/* Decodes one column of one stripe to `into`. Its streams may have been decompressed already. */
static enum status column_read_later(struct orc_reader *reader, struct orc_stripe_load *stripe, uint32_t c,
                                     unsigned thread, const struct orc_stored *into, struct error *error)
{
    struct orc_streams *const ahead = orc_ahead_streams(reader, stripe->number, c, thread),
                              *const streams = ahead ? ahead : &reader->scratch[thread].streams;
    struct orc_bad_values bad = {0};
    if (!ahead) {
        RETURN_IF_ERROR(orc_column_streams(reader, stripe, c, streams, error));
        RETURN_IF_ERROR(orc_streams_run(reader->decoder, streams, error));
    }
    enum status status = column_decode(reader, stripe, c, thread, streams, into, &bad, error);
    if (status == STATUS_OK && bad.count) {
        const struct bad_row row = {.file = stripe->source->file.path,
                                    .line = orc_stripe_info(stripe)->first_row + bad.values[0].row + 1};
        status = row_reject(reader->parse, stripe->number, &row, bad.values[0].text);
        *error = reader->parse->error;
    }
    orc_bad_values_free(&bad);
    return status;
}

/* Reads one column of one stripe to `into`. */
static enum status stripe_read_later(struct orc_reader *reader, uint64_t number, uint32_t c, unsigned thread,
                                     const struct orc_stored *into, struct error *error)
{
    const struct orc_stripe_load *const opened = &reader->stripes[number];
    struct orc_stripe_load stripe = {
        .source = opened->source, .stripe = opened->stripe, .number = number, .descriptor = -1};
    RETURN_IF_ERROR(orc_file_open(&stripe.source->file, &stripe.descriptor, error));
    enum status status =
        orc_stripe_footer_read(&stripe.source->file, stripe.descriptor, stripe.stripe, &stripe.footer, error);
    status = AND_THEN(status, column_read_later(reader, &stripe, c, thread, into, error));
    orc_stripe_footer_free(&stripe.footer);
    close(stripe.descriptor);
    return status;
}

void orc_kept_free(struct orc_kept *kept)
{
    free(kept->values);
    free(kept->nulls);
    *kept = (struct orc_kept){.rows = 0};
}

/* Gives some rows of a stripe, which is decoded once for all of its segments. */
static enum status rows_read_later(struct orc_reader *reader, uint64_t number, uint32_t c,
                                   const struct orc_row_range *range, unsigned thread, void *values,
                                   uint8_t *nulls, bool *any_null, struct error *error)
{
    struct orc_kept *const kept = &reader->scratch[thread].kept;
    const uint64_t rows = orc_stripe_info(&reader->stripes[number])->rows,
                   width = reader->parse->value_bytes[c];
    if (!kept->rows || kept->stripe != number || kept->column != c) {
        orc_kept_free(kept);
        RETURN_IF_ERROR(memory_take(&kept->values, rows * width, "rows", error));
        RETURN_IF_ERROR(stripe_read_later(reader, number, c, thread,
                                          &(struct orc_stored){kept->values, &kept->nulls}, error));
        kept->stripe = number;
        kept->column = c;
        kept->rows = rows;
    }
    *any_null = kept->nulls != NULL;
    memcpy(values, kept->values + range->from * width, range->count * width);
    if (kept->nulls)
        memcpy(nulls, kept->nulls + range->from, range->count);
    if (range->from + (uint64_t)range->count == rows)
        orc_kept_free(kept);
    return STATUS_OK;
}

enum status orc_column_read(struct orc_reader *reader, uint64_t block, uint32_t column,
                            const struct orc_row_range *range, unsigned thread, void *values, uint8_t *nulls,
                            bool *any_null, struct error *error)
{
    uint8_t *stripe_nulls = NULL;
    if (range->from || range->count < orc_stripe_info(&reader->stripes[block])->rows)
        return rows_read_later(reader, block, column, range, thread, values, nulls, any_null, error);
    const enum status status =
        stripe_read_later(reader, block, column, thread, &(struct orc_stored){values, &stripe_nulls}, error);
    *any_null = stripe_nulls != NULL;
    if (status == STATUS_OK && stripe_nulls)
        memcpy(nulls, stripe_nulls, range->count);
    free(stripe_nulls);
    return status;
}

uint64_t orc_column_bytes(const struct orc_reader *reader)
{
    const uint64_t ahead = reader->rows < SEGMENT_ROWS ? reader->rows : SEGMENT_ROWS;
    return reader->stripe_rows * ORC_SCRATCH_ROW_BYTES +
           (reader->decoder->batch_bytes ? ahead * ORC_AHEAD_ROW_BYTES : 0);
}

/* ---- The whole table ---- */

static enum status read_all(struct orc_reader *reader, const struct load_input *input, struct error *error)
{
    RETURN_IF_ERROR(orc_reader_open(reader, input, error));
    if (reader->soon_count == 0)
        return make_blocks(reader, error);
    return reader->decoder->batch_bytes
               ? orc_batches_load(reader, error)
               : parallel_for(reader->threads, reader->stripe_count * reader->soon_count, load_column, reader,
                              error);
}

enum status orc_rows_read(struct row_parse *parse, const struct load_input *input, struct error *error)
{
    struct orc_reader *reader;
    RETURN_IF_ERROR(memory_zeros(&reader, sizeof *reader, "a load", error));
    parse->parsed->orc = reader;
    reader->parse = parse;
    reader->columns = parse->parsed->table->column_count;
    reader->threads = parse->options->threads;
    pthread_mutex_init(&reader->decode_lock, NULL);
    pthread_mutex_init(&reader->lock, NULL);
    return read_all(reader, input, error);
}

void orc_rows_free(struct orc_reader *reader)
{
    if (!reader)
        return;
    orc_reader_free(reader);
    free(reader);
}
