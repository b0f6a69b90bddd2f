/* index_file.c: writes index files; see index_file.h. index_reader.c reads them. */
#include "storage/index/index_encode.h"

#include "storage/base/memory.h"
#include "storage/column/column_path.h"
#include "storage/column/column_span.h"
#include "storage/index/bitset.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Segments that are built at the same time: as many as 4 GiB hold, if each takes what it can. */
#define BUILD_BYTES (4ull << 30)
#define ROW_BYTES   32u /* a literal and a fill a row, in the vector's own memory and in the part */

struct index_work {
    const struct column_data *data;
    struct column_index *index;
    struct index_lookup lookup;
    uint32_t vector_count;
    struct column_span span; /* the file's, in the table */
    struct column_file_writer *file;
    struct progress *progress;
    atomic_uint_fast64_t words, fills, bytes, rows;
};

static enum status write_parts(struct index_work *work, uint32_t segment, uint32_t rows,
                               const struct index_parts *parts, struct error *error)
{
    const uint64_t vectors = work->vector_count * sizeof *parts->vectors,
                   words = parts->word_count * index_word_bytes(work->index->wish.format),
                   pieces = parts->piece_count * sizeof *parts->pieces;
    RETURN_IF_ERROR(
        column_file_add(work->file, PART_INDEX_VECTORS, segment, rows, parts->vectors, vectors, error));
    RETURN_IF_ERROR(column_file_add(work->file, PART_INDEX_WORDS, segment, rows, parts->words, words, error));
    if (pieces)
        RETURN_IF_ERROR(
            column_file_add(work->file, PART_INDEX_PIECES, segment, rows, parts->pieces, pieces, error));
    atomic_fetch_add(&work->words, parts->word_count);
    atomic_fetch_add(&work->fills, parts->fills);
    atomic_fetch_add(&work->bytes, vectors + words + pieces);
    return STATUS_OK;
}

static enum status write_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    struct index_work *const work = context;
    const struct segment_data *const segment = &work->data->segments[item];
    struct index_parts parts;
    RETURN_IF_ERROR(cancel_check(error));
    enum status status = index_encode_segment(&work->lookup, work->vector_count, segment, &parts, error);
    status = AND_THEN(status, write_parts(work, (uint32_t)item, segment->chunk.rows, &parts, error));
    index_parts_free(&parts);
    const uint64_t rows = atomic_fetch_add(&work->rows, segment->chunk.rows) + segment->chunk.rows;
    progress_report(work->progress, "indexing", "rows", rows, work->data->column->table->rows);
    return status;
}

/* The bytes that building a segment may take, and the refusal of a flat index whose segments are too large. */
static enum status segment_bytes(const struct index_work *work, uint64_t *bytes, struct error *error)
{
    const struct column *const column = work->data->column;
    uint64_t rows = 0;
    for (uint32_t s = 0; s < work->data->segment_count; s++)
        rows = column->table->segment_rows[s] > rows ? column->table->segment_rows[s] : rows;
    *bytes = rows * ROW_BYTES;
    if (work->index->wish.format != INDEX_FLAT)
        return STATUS_OK;
    *bytes = bitset_words(rows) * sizeof(uint64_t) * work->vector_count;
    if (*bytes <= INDEX_SEGMENT_BYTES_MAX)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "column %s.%s: a flat index of %u vectors takes %llu bytes a segment, more than the "
                     "%llu that a segment may take; use --format wah64 or fewer bins",
                     column->table->name, column->schema.name, work->vector_count, (unsigned long long)*bytes,
                     (unsigned long long)INDEX_SEGMENT_BYTES_MAX);
}

static enum status write_segments(struct index_work *work, const char *directory, unsigned threads,
                                  struct error *error)
{
    const struct column *const column = work->data->column;
    const struct column_span whole = {.generation = work->span.generation, .count = work->span.count};
    const struct column_file_identity identity =
        column_index_identity(column, work->index->wish.format, &whole); /* of the data's table */
    uint64_t bytes = 0;
    char *path = NULL;
    RETURN_IF_ERROR(segment_bytes(work, &bytes, error));
    const uint64_t most = bytes ? BUILD_BYTES / bytes : 1;
    threads = threads ? threads : parallel_threads_available();
    threads = most == 0 ? 1 : threads > most ? (unsigned)most : threads;
    RETURN_IF_ERROR(column_index_path(directory, column, work->span.generation, &path, error));
    enum status status = column_file_create(path, &identity, &work->file, error);
    free(path);
    status = AND_THEN(status, parallel_for(threads, work->data->segment_count, write_segment, work, error));
    status = AND_THEN(status, column_file_finish(work->file, error));
    column_file_writer_free(work->file);
    return status;
}

/* Writes a file of all segments of the data, and adds it to the index, whose bins are known. */
static enum status write_file(struct index_work *work, const char *directory, unsigned threads,
                              struct error *error)
{
    struct column_index *const index = work->index;
    const uint32_t before = index->files.count;
    const struct column_span *const last = before ? &index->files.list[before - 1] : NULL;
    work->span.first = last ? last->first + last->count : 0;
    work->span.count = work->data->segment_count;
    work->vector_count = index_vector_count(work->data->column, index);
    enum status status = index_lookup_make(work->data->column, index, &work->lookup, error);
    status = AND_THEN(status, write_segments(work, directory, threads, error));
    index_lookup_free(&work->lookup);
    index->words += work->words;
    index->fills += work->fills;
    index->bytes += work->bytes;
    return AND_THEN(status, spans_add(&index->files, &work->span, error));
}

enum status index_file_write(const char *directory, const struct column_data *data, struct index_wish wish,
                             uint64_t generation, unsigned threads, struct progress *progress,
                             struct column_index **out, struct error *error)
{
    struct column_index *index;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&index, sizeof *index, "an index", error));
    index->wish = wish;
    struct index_work work = {
        .data = data, .index = index, .span.generation = generation, .progress = progress};
    enum status status = index_bins_choose(data, threads, index, error);
    status = AND_THEN(status, write_file(&work, directory, threads, error));
    if (status == STATUS_OK)
        *out = index;
    else
        column_index_free(index);
    return status;
}

/* A copy, with room for as many bounds. */
static enum status copy_index(const struct column_index *from, struct column_index *to, struct error *error)
{
    int64_t *bounds;
    *to = *from;
    to->bounds = NULL;
    to->files = (struct column_spans){0};
    RETURN_IF_ERROR(spans_make(from->files.list, from->files.count, &to->files, error));
    RETURN_IF_ERROR(memory_take(&bounds, (from->bin_count + 1ull) * sizeof *bounds, "an index", error));
    memcpy(bounds, from->bounds, from->bin_count * sizeof *bounds);
    to->bounds = bounds;
    return STATUS_OK;
}

enum status index_file_extend(const char *directory, const struct column_data *data,
                              const struct column_index *before, uint64_t generation, unsigned threads,
                              struct progress *progress, struct column_index **out, struct error *error)
{
    struct column_index *index;
    *out = NULL;
    RETURN_IF_ERROR(memory_zeros(&index, sizeof *index, "an index", error));
    struct index_work work = {
        .data = data, .index = index, .span.generation = generation, .progress = progress};
    enum status status = copy_index(before, index, error);
    status = AND_THEN(status, index_bins_extend(data, threads, index, error));
    status = AND_THEN(status, write_file(&work, directory, threads, error));
    if (status == STATUS_OK)
        *out = index;
    else
        column_index_free(index);
    return status;
}
