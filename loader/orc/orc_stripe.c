/* orc_stripe.c: how the reading of a stripe begins and ends (orc_reader.h). */
#define _GNU_SOURCE
#include "loader/orc/orc_reader.h"

#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool orc_reader_stopped(struct orc_reader *reader)
{
    pthread_mutex_lock(&reader->parse->lock);
    const bool stop = reader->parse->stop;
    pthread_mutex_unlock(&reader->parse->lock);
    return stop;
}

static enum status stripe_open(struct orc_reader *reader, struct orc_stripe_load *stripe, unsigned thread,
                               struct error *error)
{
    const struct orc_stripe *const info = orc_stripe_info(stripe);
    RETURN_IF_ERROR(orc_file_open(&stripe->source->file, &stripe->descriptor, error));
    RETURN_IF_ERROR(orc_stripe_footer_read(&stripe->source->file, stripe->descriptor, stripe->stripe,
                                           &stripe->footer, error));
    RETURN_IF_ERROR(row_block_begin(reader->parse, (uint32_t)info->rows, thread, &stripe->block, error));
    stripe->block.path = stripe->source->file.path;
    stripe->block.first_line = info->first_row + 1;
    stripe->block.counts_rows = true;
    return memory_zeros(&stripe->block.threads, reader->columns * sizeof *stripe->block.threads, "columns",
                        error);
}

enum status orc_stripe_begin(struct orc_reader *reader, struct orc_stripe_load *stripe, unsigned thread,
                             struct error *error)
{
    pthread_mutex_lock(&reader->lock);
    if (!stripe->begun && reader->first_error.status == STATUS_OK) {
        stripe->begun = true;
        atomic_store(&stripe->left, reader->soon_count);
        reader->first_error.status = stripe_open(reader, stripe, thread, &reader->first_error);
    }
    const enum status status = reader->first_error.status;
    if (status != STATUS_OK)
        *error = reader->first_error;
    pthread_mutex_unlock(&reader->lock);
    return status;
}

void orc_stripe_close(const struct orc_reader *reader, struct orc_stripe_load *stripe)
{
    if (stripe->descriptor >= 0)
        close(stripe->descriptor);
    stripe->descriptor = -1;
    for (uint32_t c = 0; stripe->streams && c < reader->soon_count; c++)
        orc_streams_free(&stripe->streams[c]);
    free(stripe->streams);
    stripe->streams = NULL;
    orc_stripe_footer_free(&stripe->footer);
    orc_bad_values_free(&stripe->bad);
}

static int by_row(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct orc_bad_value *const x = a, *const y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* Rejects the rows that have wrong values; the list keeps one value of each. */
static enum status reject_rows(struct orc_reader *reader, struct orc_stripe_load *stripe)
{
    struct orc_bad_values *const bad = &stripe->bad;
    uint64_t rows = 0;
    sort_items(bad->values, bad->count, sizeof *bad->values, by_row, NULL);
    for (uint64_t b = 0; b < bad->count; b++) {
        const struct orc_bad_value value = bad->values[b];
        char text[ERROR_TEXT_BYTES];
        if (rows && bad->values[rows - 1].row == value.row) {
            free(value.text);
            bad->values[b].text = NULL;
            continue;
        }
        const struct bad_row row = {.file = stripe->source->file.path,
                                    .line = orc_stripe_info(stripe)->first_row + value.row + 1};
        snprintf(text, sizeof text,
                 "%.400s, stripe %u, row %" PRIu64 ": column %s is wrong, as in rows before it", row.file,
                 stripe->stripe + 1, row.line, reader->parse->parsed->table->columns[value.column].name);
        bad->values[b].text = NULL;
        bad->values[rows++] = value;
        RETURN_IF_ERROR(row_reject(reader->parse, stripe->number, &row, value.text ? value.text : text));
    }
    for (uint64_t b = rows; b < bad->count; b++)
        bad->values[b].text = NULL;
    bad->count = rows;
    return STATUS_OK;
}

/* Moves the rows together that stay, in an array with `width` bytes a row. */
static void close_gaps(const struct orc_bad_values *bad, uint32_t rows, uint32_t width, void *values)
{
    uint8_t *const bytes = values;
    uint64_t to = bad->values[0].row;
    for (uint64_t b = 0; b < bad->count; b++) {
        const uint64_t from = bad->values[b].row + 1ull,
                       end = b + 1 < bad->count ? bad->values[b + 1].row : rows;
        memmove(bytes + to * width, bytes + from * width, (end - from) * width);
        to += end - from;
    }
}

/* Leaves out the rejected rows. */
static enum status leave_out(const struct orc_reader *reader, struct orc_stripe_load *stripe,
                             struct error *error)
{
    struct parsed_block *const block = &stripe->block;
    const uint32_t rows = (uint32_t)orc_stripe_info(stripe)->rows;
    if (reader->parse->keyed) {
        RETURN_IF_ERROR(memory_take(&block->lines, rows * sizeof *block->lines, "rows", error));
        for (uint32_t r = 0; r < rows; r++)
            block->lines[r] = r;
        close_gaps(&stripe->bad, rows, sizeof *block->lines, block->lines);
    }
    for (uint32_t s = 0; s < reader->soon_count; s++) {
        const uint32_t c = reader->soon[s];
        close_gaps(&stripe->bad, rows, reader->parse->value_bytes[c], block->values[c]);
        if (block->nulls[c])
            close_gaps(&stripe->bad, rows, 1, block->nulls[c]);
    }
    block->rows = rows - (uint32_t)stripe->bad.count;
    return STATUS_OK;
}

enum status orc_stripe_end(struct orc_reader *reader, struct orc_stripe_load *stripe, struct error *error)
{
    const uint64_t rows = orc_stripe_info(stripe)->rows;
    enum status status = STATUS_OK;
    stripe->block.rows = (uint32_t)rows;
    if (stripe->bad.count) {
        status = reject_rows(reader, stripe);
        status = AND_THEN(status, leave_out(reader, stripe, error));
    }
    status = row_block_end(reader->parse, stripe->number, &stripe->block, status, error);
    stripe->block = (struct parsed_block){0};
    orc_stripe_close(reader, stripe);
    const uint64_t done = atomic_fetch_add(&reader->rows_done, rows) + rows;
    char what[NAME_BYTES + 16];
    snprintf(what, sizeof what, "reading %s", reader->parse->parsed->table->name);
    progress_report(reader->parse->progress, what, "rows", done, reader->rows);
    return status;
}

enum status orc_stripe_add_bad(struct orc_reader *reader, struct orc_stripe_load *stripe,
                               const struct orc_bad_values *bad, struct error *error)
{
    struct orc_bad_values *const all = &stripe->bad;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&reader->lock);
    if (all->count + bad->count > all->room) {
        const uint64_t room = 2 * (all->count + bad->count);
        status = memory_grow(&all->values, room * sizeof *all->values, "wrong values", error);
        all->room = status == STATUS_OK ? room : all->room;
    }
    if (status == STATUS_OK) {
        memcpy(all->values + all->count, bad->values, bad->count * sizeof *bad->values);
        all->count += bad->count;
    }
    pthread_mutex_unlock(&reader->lock);
    return status;
}
