/*
 * orc_rows.c: reads the rows of one table from ORC files (table_loader_internal.h). The unit of work is one column of
 * one stripe: its streams are read, decompressed and decoded, and its values are stored in the stripe's block of rows.
 * Columns that the table does not have are never read.
 *
 * Stripes are taken in order, and those that threads work on at the same time fit half of the memory budget. With a
 * decoder that asks for large calls (byte_decoder.h), the streams of several stripes are read first, then decompressed in
 * one call, and then decoded.
 */
#define _GNU_SOURCE
#include "loader/orc/orc_store.h"

#include "storage/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The memory that a thread takes for a row of one column: decompressed, decoded, with its second stream. */
#define SCRATCH_ROW_BYTES 24u

struct source {
    struct orc_file file;
    uint32_t *types; /* for each column of the table its type in the file */
};

/* A stripe of some file, from its first column to its last one. */
struct stripe_load {
    const struct source *source;
    uint32_t stripe; /* of the file */
    bool begun;
    int descriptor;
    struct orc_stripe_footer footer;
    struct parsed_block block;
    struct orc_bad_values bad;
    struct orc_streams *streams; /* for each column, with a decoder of large calls; else NULL */
    atomic_uint left;            /* columns that are not stored yet */
};

struct thread_scratch {
    struct orc_streams streams;
    struct orc_values values;
    struct orc_store_scratch store;
};

struct reader {
    struct row_parse *parse;
    const struct byte_decoder *decoder;
    uint32_t columns, source_count;
    struct source *sources;
    uint64_t stripe_count, first_stripe; /* first_stripe: of the batch */
    struct stripe_load *stripes;
    unsigned threads;
    struct thread_scratch *scratch;
    uint64_t most; /* bytes that a stream, or the values of a column, may take */
    uint64_t rows;
    atomic_uint_fast64_t rows_done;
    pthread_mutex_t lock;     /* of the beginnings of stripes, and of their lists of wrong values */
    struct error first_error; /* of a stripe that could not begin, for all threads that need it */
};

/* ---- Files and their columns ---- */

/* Writes the names of the file's columns, as many as fit. */
static void list_columns(const struct orc_file *file, char *text, size_t bytes)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t c = 0; c < file->types[0].child_count; c++) {
        const char *const name = file->types[file->types[0].children[c]].name;
        const int length = snprintf(text + at, bytes - at, "%s%.64s", c ? ", " : "", name);
        if (at + (size_t)length + 8 > bytes) {
            snprintf(text + at, bytes - at, ", ...");
            return;
        }
        at += (size_t)length;
    }
}

/* Finds a column of the table in the file: by the same name, or else by one that differs in case only. */
static enum status find_column(const struct reader *reader, struct source *source, uint32_t c,
                               struct error *error)
{
    const struct orc_file *const file = &source->file;
    const struct schema_table *const table = reader->parse->parsed->table;
    const struct table_keys *const keys = reader->parse->keys[c];
    const struct column_schema *const want = keys ? &keys->key : &table->columns[c];
    const char *const name = table->columns[c].name;
    uint32_t found = 0;
    char text[64], names[400];
    for (uint32_t f = 0; f < file->types[0].child_count; f++) {
        const uint32_t type = file->types[0].children[f];
        if (strcmp(file->types[type].name, name) == 0)
            found = type;
        else if (!found && strcasecmp(file->types[type].name, name) == 0)
            found = type;
    }
    if (!found) {
        list_columns(file, names, sizeof names);
        return error_set(error, STATUS_BAD_INPUT, "%s: has no column %s of table %s; its columns are %s",
                         file->path, name, table->name, names);
    }
    source->types[c] = found;
    const struct orc_type *const type = &file->types[found];
    if (orc_type_fits(type, want->type))
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "%s: column %s has the type %s, which cannot be stored as %s%s",
                     file->path, name, orc_kind_name(type->kind), column_type_text(want, text),
                     type->kind == ORC_FLOAT || type->kind == ORC_DOUBLE
                         ? ": no column takes floating-point numbers; write it as decimal"
                         : "; write it as another type");
}

static enum status open_source(struct reader *reader, const char *path, struct source *source,
                               struct error *error)
{
    RETURN_IF_ERROR(orc_file_read(path, &source->file, error));
    RETURN_IF_ERROR(memory_zeros(&source->types, reader->columns * sizeof *source->types, "columns", error));
    if (source->file.encrypted)
        return error_set(error, STATUS_BAD_INPUT, "%s: it has encrypted columns; write it without encryption",
                         path);
    for (uint32_t c = 0; c < reader->columns; c++)
        RETURN_IF_ERROR(find_column(reader, source, c, error));
    reader->stripe_count += source->file.stripe_count;
    reader->rows += source->file.rows;
    return STATUS_OK;
}

static enum status open_sources(struct reader *reader, const struct load_input *input, struct error *error)
{
    RETURN_IF_ERROR(
        memory_zeros(&reader->sources, input->path_count * sizeof *reader->sources, "files", error));
    for (uint32_t p = 0; p < input->path_count; p++) {
        if (!orc_file_is(input->paths[p]))
            return error_set(
                error, STATUS_BAD_INPUT,
                "%s: is no ORC file, but others of table %s are; the files of one table must be of "
                "one kind",
                input->paths[p], reader->parse->parsed->table->name);
        reader->source_count++;
        RETURN_IF_ERROR(open_source(reader, input->paths[p], &reader->sources[p], error));
    }
    RETURN_IF_ERROR(memory_zeros(&reader->stripes, (reader->stripe_count + 1) * sizeof *reader->stripes,
                                 "stripes", error));
    struct stripe_load *stripe = reader->stripes;
    for (uint32_t p = 0; p < input->path_count; p++)
        for (uint32_t s = 0; s < reader->sources[p].file.stripe_count; s++, stripe++)
            *stripe = (struct stripe_load){.source = &reader->sources[p], .stripe = s, .descriptor = -1};
    return STATUS_OK;
}

static const struct orc_stripe *info_of(const struct stripe_load *stripe)
{
    return &stripe->source->file.stripes[stripe->stripe];
}

/* ---- Memory ---- */

/* The bytes that the stored values of a stripe take. */
static uint64_t stripe_bytes(const struct reader *reader, uint64_t rows)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < reader->columns; c++)
        bytes += reader->parse->value_bytes[c] + reader->parse->parsed->table->columns[c].nullable;
    return bytes * rows;
}

/* Finds the number of threads for which the largest stripes fit the budget. */
static enum status choose_threads(struct reader *reader, struct error *error)
{
    const uint64_t budget = reader->parse->options->memory;
    const struct stripe_load *largest = NULL;
    for (uint64_t s = 0; s < reader->stripe_count; s++)
        if (!largest || info_of(&reader->stripes[s])->rows > info_of(largest)->rows)
            largest = &reader->stripes[s];
    reader->most = budget / 2;
    if (!largest)
        return STATUS_OK;
    const uint64_t rows = info_of(largest)->rows, block = stripe_bytes(reader, rows),
                   scratch = rows * SCRATCH_ROW_BYTES;
    for (;; reader->threads--) {
        const uint64_t stripes = reader->threads > 1 ? (reader->threads - 1) / reader->columns + 2 : 1;
        const uint64_t bytes = 2 * (stripes * block + reader->threads * scratch);
        if (bytes <= budget)
            return STATUS_OK;
        if (reader->threads == 1)
            return error_set(
                error, STATUS_MACHINE,
                "%s: reading its stripe %u of %" PRIu64 " rows takes %" PRIu64
                " MB of memory and --memory allows %" PRIu64 "; give more, or write smaller stripes",
                largest->source->file.path, largest->stripe + 1, rows, (bytes >> 20) + 1, budget >> 20);
    }
}

/* ---- A stripe's beginning and end ---- */

static enum status stripe_open(struct reader *reader, struct stripe_load *stripe, unsigned thread,
                               struct error *error)
{
    const struct orc_stripe *const info = info_of(stripe);
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

/* Begins a stripe once, by whichever thread comes first. */
static enum status stripe_begin(struct reader *reader, struct stripe_load *stripe, unsigned thread,
                                struct error *error)
{
    pthread_mutex_lock(&reader->lock);
    if (!stripe->begun && reader->first_error.status == STATUS_OK) {
        stripe->begun = true;
        atomic_store(&stripe->left, reader->columns);
        reader->first_error.status = stripe_open(reader, stripe, thread, &reader->first_error);
    }
    const enum status status = reader->first_error.status;
    if (status != STATUS_OK)
        *error = reader->first_error;
    pthread_mutex_unlock(&reader->lock);
    return status;
}

/* Frees what a stripe has while it is read. */
static void stripe_close(const struct reader *reader, struct stripe_load *stripe)
{
    if (stripe->descriptor >= 0)
        close(stripe->descriptor);
    stripe->descriptor = -1;
    for (uint32_t c = 0; stripe->streams && c < reader->columns; c++)
        orc_streams_free(&stripe->streams[c]);
    free(stripe->streams);
    stripe->streams = NULL;
    orc_stripe_footer_free(&stripe->footer);
    for (uint64_t b = 0; b < stripe->bad.count; b++)
        free(stripe->bad.values[b].text);
    free(stripe->bad.values);
    stripe->bad = (struct orc_bad_values){0};
}

static int by_row(const void *a, const void *b)
{
    const struct orc_bad_value *const x = a, *const y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

/* Rejects the rows that have wrong values; the list keeps one value of each. */
static enum status reject_rows(struct reader *reader, struct stripe_load *stripe)
{
    struct orc_bad_values *const bad = &stripe->bad;
    uint64_t rows = 0;
    qsort(bad->values, bad->count, sizeof *bad->values, by_row);
    for (uint64_t b = 0; b < bad->count; b++) {
        const struct orc_bad_value value = bad->values[b];
        char text[ERROR_TEXT_BYTES];
        if (rows && bad->values[rows - 1].row == value.row) {
            free(value.text);
            bad->values[b].text = NULL;
            continue;
        }
        snprintf(text, sizeof text,
                 "%.400s, stripe %u, row %" PRIu64 ": column %s is wrong, as in rows before it",
                 stripe->source->file.path, stripe->stripe + 1, info_of(stripe)->first_row + value.row + 1,
                 reader->parse->parsed->table->columns[value.column].name);
        bad->values[b].text = NULL;
        bad->values[rows++] = value;
        RETURN_IF_ERROR(row_reject(reader->parse, (uint64_t)(stripe - reader->stripes), NULL, 0,
                                   value.text ? value.text : text));
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
static enum status leave_out(const struct reader *reader, struct stripe_load *stripe, struct error *error)
{
    struct parsed_block *const block = &stripe->block;
    const uint32_t rows = (uint32_t)info_of(stripe)->rows;
    if (reader->parse->keyed) {
        RETURN_IF_ERROR(memory_take(&block->lines, rows * sizeof *block->lines, "rows", error));
        for (uint32_t r = 0; r < rows; r++)
            block->lines[r] = r;
        close_gaps(&stripe->bad, rows, sizeof *block->lines, block->lines);
    }
    for (uint32_t c = 0; c < reader->columns; c++) {
        close_gaps(&stripe->bad, rows, reader->parse->value_bytes[c], block->values[c]);
        if (block->nulls[c])
            close_gaps(&stripe->bad, rows, 1, block->nulls[c]);
    }
    block->rows = rows - (uint32_t)stripe->bad.count;
    return STATUS_OK;
}

static enum status stripe_end(struct reader *reader, struct stripe_load *stripe, struct error *error)
{
    const uint64_t rows = info_of(stripe)->rows;
    enum status status = STATUS_OK;
    stripe->block.rows = (uint32_t)rows;
    if (stripe->bad.count) {
        status = reject_rows(reader, stripe);
        if (status == STATUS_OK)
            status = leave_out(reader, stripe, error);
    }
    status =
        row_block_end(reader->parse, (uint64_t)(stripe - reader->stripes), &stripe->block, status, error);
    stripe->block = (struct parsed_block){0};
    stripe_close(reader, stripe);
    const uint64_t done = atomic_fetch_add(&reader->rows_done, rows) + rows;
    char what[NAME_BYTES + 16];
    snprintf(what, sizeof what, "reading %s", reader->parse->parsed->table->name);
    progress_report(reader->parse->progress, what, "rows", done, reader->rows);
    return status;
}

/* ---- One column of one stripe ---- */

static struct orc_place place_of(const struct reader *reader, const struct stripe_load *stripe, uint32_t c)
{
    return (struct orc_place){.file = &stripe->source->file,
                              .stripe = stripe->stripe,
                              .column = reader->parse->parsed->table->columns[c].name};
}

static enum status column_read(const struct reader *reader, const struct stripe_load *stripe, uint32_t c,
                               struct orc_streams *streams, struct error *error)
{
    const struct orc_place place = place_of(reader, stripe, c);
    struct orc_column_layout layout;
    RETURN_IF_ERROR(
        orc_column_layout_find(&place, &stripe->footer, stripe->source->types[c], &layout, error));
    return orc_streams_read(&place, stripe->descriptor, &layout, reader->most, streams, error);
}

/* Adds one column's wrong values to the stripe's. */
static enum status bad_values_add(struct reader *reader, struct stripe_load *stripe,
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

/* Decodes a column from its decompressed streams, and stores its values. */
static enum status column_store(struct reader *reader, struct stripe_load *stripe, uint32_t c,
                                unsigned thread, struct orc_streams *streams, struct error *error)
{
    const struct parsed_table *const parsed = reader->parse->parsed;
    struct thread_scratch *const scratch = &reader->scratch[thread];
    const struct orc_place place = place_of(reader, stripe, c);
    const struct orc_stripe *const info = info_of(stripe);
    const struct orc_type *const type = &stripe->source->file.types[stripe->source->types[c]];
    const struct orc_column_encoding *const encoding = &stripe->footer.encodings[stripe->source->types[c]];
    struct orc_bad_values bad = {0};
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
                                    .block = &stripe->block};
    stripe->block.threads[c] = thread;
    enum status status = orc_store_column(&store, reader->parse->rejects->most, &bad, error);
    if (status == STATUS_OK && bad.count) {
        status = bad_values_add(reader, stripe, &bad, error);
        bad.count = status == STATUS_OK ? 0 : bad.count; /* their texts are the stripe's now */
    }
    for (uint64_t b = 0; b < bad.count; b++)
        free(bad.values[b].text);
    free(bad.values);
    if (status == STATUS_OK && atomic_fetch_sub(&stripe->left, 1) == 1)
        status = stripe_end(reader, stripe, error);
    return status;
}

/* Whether a row has ended the load. */
static bool is_stopped(struct reader *reader)
{
    pthread_mutex_lock(&reader->parse->lock);
    const bool stop = reader->parse->stop;
    pthread_mutex_unlock(&reader->parse->lock);
    return stop;
}

static enum status load_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct reader *const reader = context;
    struct stripe_load *const stripe = &reader->stripes[item / reader->columns];
    const uint32_t c = (uint32_t)(item % reader->columns);
    struct orc_streams *const streams = &reader->scratch[thread].streams;
    if (is_stopped(reader) || info_of(stripe)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(stripe_begin(reader, stripe, thread, error));
    RETURN_IF_ERROR(column_read(reader, stripe, c, streams, error));
    RETURN_IF_ERROR(orc_streams_run(reader->decoder, streams, error));
    return column_store(reader, stripe, c, thread, streams, error);
}

/* ---- With a decoder of large calls ---- */

static enum status batch_read_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct reader *const reader = context;
    struct stripe_load *const stripe = &reader->stripes[reader->first_stripe + item / reader->columns];
    const uint32_t c = (uint32_t)(item % reader->columns);
    if (info_of(stripe)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(stripe_begin(reader, stripe, thread, error));
    return column_read(reader, stripe, c, &stripe->streams[c], error);
}

static enum status batch_store_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct reader *const reader = context;
    struct stripe_load *const stripe = &reader->stripes[reader->first_stripe + item / reader->columns];
    const uint32_t c = (uint32_t)(item % reader->columns);
    if (is_stopped(reader) || info_of(stripe)->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(error));
    return column_store(reader, stripe, c, thread, &stripe->streams[c], error);
}

/* Decompresses the streams of a batch in one call. */
static enum status batch_run(struct reader *reader, uint64_t stripes, struct error *error)
{
    struct byte_job *all = NULL;
    uint64_t count = 0, at = 0;
    enum status status = STATUS_OK;
    for (int pass = 0; pass < 3 && status == STATUS_OK; pass++) { /* count, copy there, copy back */
        at = 0;
        for (uint64_t s = 0; s < stripes; s++)
            for (uint32_t c = 0; c < reader->columns; c++)
                for (uint32_t k = 0; k < ORC_VALUE_STREAMS; k++) {
                    struct orc_stream_bytes *const stream =
                        &reader->stripes[reader->first_stripe + s].streams[c].kinds[k];
                    const size_t bytes = stream->job_count * sizeof *all;
                    if (pass == 1 && bytes)
                        memcpy(all + at, stream->jobs, bytes);
                    else if (pass == 2 && bytes)
                        memcpy(stream->jobs, all + at, bytes);
                    at += stream->job_count;
                }
        count = at;
        if (pass == 0)
            status = memory_take(&all, (count + 1) * sizeof *all, "chunks", error);
        if (pass == 1)
            status = reader->decoder->decode(reader->decoder, all, count, error);
    }
    free(all);
    return status;
}

/* The stripes from first_stripe on that are decompressed in one call: as many as the decoder wants and the memory
 * allows, at least one. */
static uint64_t batch_stripes(const struct reader *reader)
{
    uint64_t stripes = 0, values = 0;
    while (reader->first_stripe + stripes < reader->stripe_count) {
        const struct orc_stripe *const info = info_of(&reader->stripes[reader->first_stripe + stripes]);
        const uint64_t bytes = stripe_bytes(reader, info->rows);
        /* the decompressed streams are about as large as the values, and both are in memory */
        if (stripes && (values >= reader->decoder->batch_bytes || 2 * (values + bytes) > reader->most))
            break;
        values += bytes;
        stripes++;
    }
    return stripes;
}

static enum status load_batches(struct reader *reader, struct error *error)
{
    for (uint64_t stripes; reader->first_stripe < reader->stripe_count && !is_stopped(reader);
         reader->first_stripe += stripes) {
        stripes = batch_stripes(reader);
        for (uint64_t s = 0; s < stripes; s++)
            RETURN_IF_ERROR(memory_zeros(&reader->stripes[reader->first_stripe + s].streams,
                                         reader->columns * sizeof(struct orc_streams), "streams", error));
        RETURN_IF_ERROR(
            parallel_for(reader->threads, stripes * reader->columns, batch_read_column, reader, error));
        RETURN_IF_ERROR(batch_run(reader, stripes, error));
        RETURN_IF_ERROR(
            parallel_for(reader->threads, stripes * reader->columns, batch_store_column, reader, error));
    }
    return STATUS_OK;
}

/* ---- The whole table ---- */

static enum status read_all(struct reader *reader, const struct load_input *input, struct error *error)
{
    const struct byte_decoder *const asked = reader->parse->options->decoder;
    RETURN_IF_ERROR(open_sources(reader, input, error));
    RETURN_IF_ERROR(choose_threads(reader, error));
    RETURN_IF_ERROR(
        memory_zeros(&reader->scratch, reader->threads * sizeof *reader->scratch, "threads", error));
    reader->decoder = asked ? asked : &byte_decoder_host;
    for (uint32_t s = 0; s < reader->source_count; s++)
        if (!(reader->decoder->schemes >> orc_file_scheme(&reader->sources[s].file) & 1))
            reader->decoder = &byte_decoder_host;
    return reader->decoder->batch_bytes
               ? load_batches(reader, error)
               : parallel_for(reader->threads, reader->stripe_count * reader->columns, load_column, reader,
                              error);
}

enum status orc_rows_read(struct row_parse *parse, const struct load_input *input, struct error *error)
{
    struct reader reader = {.parse = parse,
                            .columns = parse->parsed->table->column_count,
                            .threads = parse->options->threads,
                            .lock = PTHREAD_MUTEX_INITIALIZER};
    const enum status status = read_all(&reader, input, error);
    for (uint64_t s = 0; reader.stripes && s < reader.stripe_count; s++) {
        row_block_free(parse, &reader.stripes[s].block);
        stripe_close(&reader, &reader.stripes[s]);
    }
    for (unsigned t = 0; reader.scratch && t < reader.threads; t++) {
        orc_streams_free(&reader.scratch[t].streams);
        orc_values_free(&reader.scratch[t].values);
        orc_store_scratch_free(&reader.scratch[t].store);
    }
    for (uint32_t s = 0; s < reader.source_count; s++) {
        free(reader.sources[s].types);
        orc_file_free(&reader.sources[s].file);
    }
    free(reader.scratch);
    free(reader.stripes);
    free(reader.sources);
    pthread_mutex_destroy(&reader.lock);
    return status;
}
