/* columns.c: see columns.h. The columns are a list of a few dozen entries. */
#include "engine/gpu/columns.h"

#include "engine/gpu/kernel_decoder.h"

#include "operators/dialect/bound.h"
#include "storage/base/memory.h"
#include "storage/index/index_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The alignment of pieces in an allocation. Every piece is followed by at least one more word, because
 * decoders may read one word beyond the end of a packed stream. */
#define PIECE_ALIGNMENT 256u

enum entry_kind {
    ENTRY_CHUNKS,
    ENTRY_ARRAY,  /* a dimension's values */
    ENTRY_VECTORS /* of the column's index */
};

struct entry {
    struct cuda_column column; /* the first member, so that a pointer to it is one to the entry */
    struct entry *next;
    const struct column *key;
    enum codec_id codec; /* of chunks */
    enum entry_kind kind;
    uint32_t shift; /* of an array; else 0 */
    unsigned uses;
    cuda_address memory;
    uint64_t *segments; /* of vectors */
};

struct cuda_columns {
    struct cuda *cuda;
    struct entry *entries;
};

enum status cuda_columns_create(struct cuda *cuda, struct cuda_columns **columns, struct error *error)
{
    *columns = calloc(1, sizeof **columns);
    if (!*columns)
        return error_out_of_memory(error, sizeof **columns, "the list of uploaded columns");
    (*columns)->cuda = cuda;
    return STATUS_OK;
}

static void drop_unused(struct cuda_columns *columns)
{
    for (struct entry **link = &columns->entries; *link;) {
        struct entry *entry = *link;
        if (entry->uses) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        cuda_free(columns->cuda, entry->memory);
        free(entry->segments);
        free(entry);
    }
}

void cuda_columns_destroy(struct cuda_columns *columns)
{
    if (!columns)
        return;
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        entry->uses = 0;
    drop_unused(columns);
    free(columns);
}

static struct entry *find(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                          enum entry_kind kind, uint32_t shift)
{
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry->key == key && entry->codec == codec && entry->kind == kind && entry->shift == shift)
            return entry;
    return NULL;
}

enum status cuda_columns_allocate(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                  cuda_address *address, struct error *error)
{
    if (cuda_allocate(columns->cuda, bytes, what, address, NULL) == STATUS_OK)
        return STATUS_OK;
    drop_unused(columns);
    return cuda_allocate(columns->cuda, bytes, what, address, error);
}

/* Adds an entry with `bytes` of memory. */
static enum status add(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                       enum entry_kind kind, uint64_t bytes, struct entry **added, struct error *error)
{
    struct entry *entry = calloc(1, sizeof *entry);
    char what[NAME_BYTES + 16];
    if (!entry)
        return error_out_of_memory(error, sizeof *entry, "an uploaded column");
    snprintf(what, sizeof what, "%s%s", kind == ENTRY_VECTORS ? "the index of " : "", key->schema.name);
    enum status status = cuda_columns_allocate(columns, bytes, what, &entry->memory, error);
    if (status != STATUS_OK) {
        free(entry);
        return status;
    }
    entry->column.bytes = bytes;
    entry->key = key;
    entry->codec = codec;
    entry->kind = kind;
    entry->next = columns->entries;
    columns->entries = entry;
    *added = entry;
    return STATUS_OK;
}

static uint64_t piece_bytes(uint64_t bytes)
{
    return (bytes + PIECE_ALIGNMENT - 1) / PIECE_ALIGNMENT * PIECE_ALIGNMENT + PIECE_ALIGNMENT;
}

static uint64_t validity_bytes(const struct segment_data *segment)
{
    return segment->validity ? (uint64_t)segment->chunk.tiles * TILE_LANES * sizeof(uint32_t) : 0;
}

uint64_t cuda_chunks_bytes(const struct column_data *data)
{
    uint64_t bytes = piece_bytes(data->segment_count * sizeof(struct bound_chunk));
    for (uint32_t s = 0; s < data->segment_count; s++)
        bytes += piece_bytes(data->segments[s].chunk.size) + piece_bytes(validity_bytes(&data->segments[s]));
    return bytes;
}

static enum status upload_chunks(struct cuda *cuda, const struct column_data *data, cuda_address address,
                                 struct bound_chunk *chunks, struct error *error)
{
    cuda_address next = address + piece_bytes(data->segment_count * sizeof *chunks);
    for (uint32_t s = 0; s < data->segment_count; s++) {
        const struct segment_data *segment = &data->segments[s];
        const struct chunk_view *chunk = &segment->chunk;
        chunks[s] = (struct bound_chunk){.directory = next + (uint64_t)(chunk->directory - chunk->bytes),
                                         .data = next + (uint64_t)(chunk->data - chunk->bytes),
                                         .auxiliary = next + (uint64_t)(chunk->auxiliary - chunk->bytes),
                                         .detail = kernel_decoder_detail(chunk)};
        RETURN_IF_ERROR(cuda_upload(cuda, next, chunk->bytes, chunk->size, error));
        next += piece_bytes(chunk->size);
        if (!segment->validity)
            continue;
        chunks[s].validity = next;
        RETURN_IF_ERROR(cuda_upload(cuda, next, segment->validity, validity_bytes(segment), error));
        next += piece_bytes(validity_bytes(segment));
    }
    return cuda_upload(cuda, address, chunks, data->segment_count * sizeof *chunks, error);
}

enum status cuda_chunks_upload(struct cuda *cuda, const struct column_data *data, cuda_address address,
                               struct error *error)
{
    struct bound_chunk *chunks = calloc(data->segment_count ? data->segment_count : 1, sizeof *chunks);
    if (!chunks)
        return error_out_of_memory(error, data->segment_count * sizeof *chunks, "a list of chunks");
    const enum status status = upload_chunks(cuda, data, address, chunks, error);
    free(chunks);
    return status;
}

enum status cuda_columns_chunks(struct cuda_columns *columns, const struct column_data *data,
                                const struct cuda_column **column, struct error *error)
{
    struct entry *entry = find(columns, data->column, data->codec->id, ENTRY_CHUNKS, 0);
    if (!entry) {
        RETURN_IF_ERROR(add(columns, data->column, data->codec->id, ENTRY_CHUNKS, cuda_chunks_bytes(data),
                            &entry, error));
        const enum status status = cuda_chunks_upload(columns->cuda, data, entry->memory, error);
        if (status != STATUS_OK) {
            drop_unused(columns);
            return status;
        }
        entry->column.address = entry->memory;
    }
    entry->uses++;
    *column = &entry->column;
    return STATUS_OK;
}

static enum status upload_values(struct cuda *cuda, const struct plan_array *array, cuda_address values,
                                 cuda_address valid, struct error *error)
{
    RETURN_IF_ERROR(cuda_upload(cuda, values, array->values, array->rows * array->value_bytes, error));
    return array->valid
               ? cuda_upload(cuda, valid, array->valid, (array->rows + 31) / 32 * sizeof(uint32_t), error)
               : STATUS_OK;
}

enum status cuda_columns_array(struct cuda_columns *columns, const struct plan_array *array,
                               const struct cuda_column **column, struct error *error)
{
    struct entry *entry = find(columns, array->column, CODEC_NONE, ENTRY_ARRAY, array->shift);
    if (!entry) {
        const uint64_t values = piece_bytes(array->rows * array->value_bytes),
                       valid = array->valid ? piece_bytes((array->rows + 31) / 32 * sizeof(uint32_t)) : 0;
        RETURN_IF_ERROR(add(columns, array->column, CODEC_NONE, ENTRY_ARRAY, values + valid, &entry, error));
        entry->shift = array->shift;
        const enum status status =
            upload_values(columns->cuda, array, entry->memory, entry->memory + values, error);
        if (status != STATUS_OK) {
            drop_unused(columns);
            return status;
        }
        entry->column.address = entry->memory;
        entry->column.valid = array->valid ? entry->memory + values : 0;
    }
    entry->uses++;
    *column = &entry->column;
    return STATUS_OK;
}

/* ---- Vectors of indexes ---- */

/* What neighbouring vectors of a segment have in its file: words, and starts of pieces, each without gaps. */
struct span {
    const uint8_t *words;
    const struct wah_start *starts;
    uint64_t word_bytes, start_bytes;
    uint64_t first_word, first_start; /* within the segment */
};

static uint32_t word_bytes(const struct index_data *index)
{
    return index->index->wish.format == INDEX_WAH32 ? 4 : 8;
}

static uint64_t piece_count(const struct index_data *index, const struct index_segment *segment)
{
    const uint32_t rows = index->index->wish.format == INDEX_WAH32 ? WAH32_PIECE_ROWS : WAH_PIECE_ROWS;
    return (segment->rows + (uint64_t)rows - 1) / rows;
}

static struct span find_span(const struct index_data *index, uint32_t s, uint32_t first, uint32_t count)
{
    const struct index_segment *segment = &index->segments[s];
    const struct index_vector *vectors = segment->vectors + first, *last = &vectors[count - 1];
    struct span span = {.first_word = vectors->first};
    uint64_t end = 0;
    for (uint32_t v = 0; v < count; v++)
        if (vectors[v].pieces != INDEX_NO_PIECES) {
            span.first_start = end ? span.first_start : vectors[v].pieces;
            end = vectors[v].pieces + piece_count(index, segment);
        }
    span.words = (const uint8_t *)segment->words + span.first_word * word_bytes(index);
    span.word_bytes = (last->first + last->words - span.first_word) * word_bytes(index);
    span.starts = end ? segment->pieces + span.first_start : NULL;
    span.start_bytes = (end - span.first_start) * sizeof *span.starts;
    return span;
}

static uint64_t span_bytes(const struct span *span)
{
    return piece_bytes(span->word_bytes) + (span->starts ? piece_bytes(span->start_bytes) : 0);
}

static enum status upload_vectors(struct cuda *cuda, const struct index_data *index,
                                  const struct entry *entry, struct error *error)
{
    for (uint32_t s = 0; s < index->segment_count; s++) {
        const struct span span = find_span(index, s, entry->column.first, entry->column.count);
        const cuda_address at = entry->memory + entry->segments[s];
        RETURN_IF_ERROR(cuda_upload(cuda, at, span.words, span.word_bytes, error));
        if (span.starts)
            RETURN_IF_ERROR(
                cuda_upload(cuda, at + piece_bytes(span.word_bytes), span.starts, span.start_bytes, error));
    }
    return STATUS_OK;
}

static enum status add_vectors(struct cuda_columns *columns, const struct index_data *index, uint32_t first,
                               uint32_t count, struct entry **added, struct error *error)
{
    uint64_t bytes = 0, *segments;
    struct entry *entry = NULL;
    RETURN_IF_ERROR(memory_take(&segments, (index->segment_count + 1ull) * sizeof *segments,
                                "a list of segments", error));
    for (uint32_t s = 0; s < index->segment_count; s++) {
        const struct span span = find_span(index, s, first, count);
        segments[s] = bytes;
        bytes += span_bytes(&span);
    }
    enum status status = add(columns, index->column, CODEC_NONE, ENTRY_VECTORS, bytes, &entry, error);
    if (status != STATUS_OK) {
        free(segments);
        return status;
    }
    entry->segments = segments;
    entry->column.first = first;
    entry->column.count = count;
    entry->column.segments = segments;
    entry->column.address = entry->memory;
    status = upload_vectors(columns->cuda, index, entry, error);
    if (status != STATUS_OK)
        drop_unused(columns);
    *added = entry;
    return status;
}

enum status cuda_columns_vectors(struct cuda_columns *columns, const struct index_data *index, uint32_t first,
                                 uint32_t count, const struct cuda_column **column, struct error *error)
{
    struct entry *entry = columns->entries;
    while (entry &&
           !(entry->kind == ENTRY_VECTORS && entry->key == index->column && entry->column.first <= first &&
             first + count <= entry->column.first + entry->column.count))
        entry = entry->next;
    if (!entry)
        RETURN_IF_ERROR(add_vectors(columns, index, first, count, &entry, error));
    entry->uses++;
    *column = &entry->column;
    return STATUS_OK;
}

uint32_t cuda_vectors_bind(const struct cuda_column *column, const struct index_data *index, uint32_t segment,
                           uint32_t first, uint32_t count, struct bound_vector *vectors)
{
    const struct span span = find_span(index, segment, column->first, column->count);
    const cuda_address words = column->address + column->segments[segment],
                       starts = words + piece_bytes(span.word_bytes);
    uint32_t bound = 0;
    for (uint32_t v = first; v < first + count; v++) {
        const struct index_vector *vector = &index->segments[segment].vectors[v];
        if (!vector->rows)
            continue;
        vectors[bound++] = (struct bound_vector){
            .words = words + (vector->first - span.first_word) * word_bytes(index),
            .starts = vector->pieces == INDEX_NO_PIECES
                          ? 0
                          : starts + (vector->pieces - span.first_start) * sizeof *span.starts,
            .count = vector->words};
    }
    return bound;
}

void cuda_columns_release(const struct cuda_column *column)
{
    if (column)
        ((struct entry *)(uintptr_t)column)->uses--;
}
