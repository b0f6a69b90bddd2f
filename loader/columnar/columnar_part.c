/* columnar_part.c: how the reading of a part begins and ends (columnar_reader.h). */
#define _GNU_SOURCE
#include "loader/columnar/columnar_reader.h"

#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool columnar_reader_stopped(struct columnar_reader *reader)
{
    pthread_mutex_lock(&reader->parse->lock);
    const bool stop = reader->parse->stop;
    pthread_mutex_unlock(&reader->parse->lock);
    return stop;
}

static enum status part_open(struct columnar_reader *reader, struct columnar_part_load *part, unsigned thread,
                             struct error *error)
{
    const struct columnar_part *const info = columnar_part_info(part);
    RETURN_IF_ERROR(columnar_part_open(part->source->file, part->part, &part->opened, error));
    RETURN_IF_ERROR(row_block_begin(reader->parse, (uint32_t)info->rows, thread, &part->block, error));
    part->block.path = part->source->file->path;
    part->block.first_line = info->first_row + 1;
    part->block.counts_rows = true;
    return memory_zeros(&part->block.threads, reader->columns * sizeof *part->block.threads, "columns",
                        error);
}

enum status columnar_part_begin(struct columnar_reader *reader, struct columnar_part_load *part,
                                unsigned thread, struct error *error)
{
    pthread_mutex_lock(&reader->lock);
    if (!part->begun && reader->first_error.status == STATUS_OK) {
        part->begun = true;
        atomic_store(&part->left, reader->soon_count);
        reader->first_error.status = part_open(reader, part, thread, &reader->first_error);
    }
    const enum status status = reader->first_error.status;
    if (status != STATUS_OK)
        *error = reader->first_error;
    pthread_mutex_unlock(&reader->lock);
    return status;
}

void columnar_part_drop(const struct columnar_reader *reader, struct columnar_part_load *part)
{
    columnar_part_close(&part->opened);
    for (uint32_t c = 0; part->streams && c < reader->soon_count; c++)
        columnar_streams_free(&part->streams[c]);
    free(part->streams);
    part->streams = NULL;
    columnar_bad_values_free(&part->bad);
}

static int by_row(const void *a, const void *b, const void *context)
{
    (void)context;
    const struct columnar_bad_value *const x = a, *const y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* Rejects the rows that have wrong values; the list keeps one value of each. */
static enum status reject_rows(struct columnar_reader *reader, struct columnar_part_load *part)
{
    struct columnar_bad_values *const bad = &part->bad;
    uint64_t rows = 0;
    sort_items(bad->values, bad->count, sizeof *bad->values, by_row, NULL);
    for (uint64_t b = 0; b < bad->count; b++) {
        const struct columnar_bad_value value = bad->values[b];
        char text[ERROR_TEXT_BYTES];
        if (rows && bad->values[rows - 1].row == value.row) {
            free(value.text);
            bad->values[b].text = NULL;
            continue;
        }
        const struct bad_row row = {.file = part->source->file->path,
                                    .line = columnar_part_info(part)->first_row + value.row + 1};
        snprintf(text, sizeof text,
                 "%.400s, %s %u, row %" PRIu64 ": column %s is wrong, as in rows before it", row.file,
                 reader->format->part, part->part + 1, row.line,
                 reader->parse->parsed->table->columns[value.column].name);
        bad->values[b].text = NULL;
        bad->values[rows++] = value;
        RETURN_IF_ERROR(row_reject(reader->parse, part->number, &row, value.text ? value.text : text));
    }
    for (uint64_t b = rows; b < bad->count; b++)
        bad->values[b].text = NULL;
    bad->count = rows;
    return STATUS_OK;
}

/* Moves the rows together that stay, in an array with `width` bytes a row. */
static void close_gaps(const struct columnar_bad_values *bad, uint32_t rows, uint32_t width, void *values)
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
static enum status leave_out(const struct columnar_reader *reader, struct columnar_part_load *part,
                             struct error *error)
{
    struct parsed_block *const block = &part->block;
    const uint32_t rows = (uint32_t)columnar_part_info(part)->rows;
    if (reader->parse->keyed) {
        RETURN_IF_ERROR(memory_take(&block->lines, rows * sizeof *block->lines, "rows", error));
        for (uint32_t r = 0; r < rows; r++)
            block->lines[r] = r;
        close_gaps(&part->bad, rows, sizeof *block->lines, block->lines);
    }
    for (uint32_t s = 0; s < reader->soon_count; s++) {
        const uint32_t c = reader->soon[s];
        close_gaps(&part->bad, rows, reader->parse->value_bytes[c], block->values[c]);
        if (block->nulls[c])
            close_gaps(&part->bad, rows, 1, block->nulls[c]);
    }
    block->rows = rows - (uint32_t)part->bad.count;
    return STATUS_OK;
}

enum status columnar_part_end(struct columnar_reader *reader, struct columnar_part_load *part,
                              struct error *error)
{
    const uint64_t rows = columnar_part_info(part)->rows;
    enum status status = STATUS_OK;
    part->block.rows = (uint32_t)rows;
    if (part->bad.count) {
        status = reject_rows(reader, part);
        status = AND_THEN(status, leave_out(reader, part, error));
    }
    status = row_block_end(reader->parse, part->number, &part->block, status, error);
    part->block = (struct parsed_block){0};
    columnar_part_drop(reader, part);
    const uint64_t done = atomic_fetch_add(&reader->rows_done, rows) + rows;
    char what[NAME_BYTES + 16];
    snprintf(what, sizeof what, "reading %s", reader->parse->parsed->table->name);
    progress_report(reader->parse->progress, what, "rows", done, reader->rows);
    return status;
}

enum status columnar_part_add_bad(struct columnar_reader *reader, struct columnar_part_load *part,
                                  const struct columnar_bad_values *bad, struct error *error)
{
    struct columnar_bad_values *const all = &part->bad;
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
