/* vectors.c: vectors of bitmap indexes in a GPU's memory (columns.h). */
#include "engine/gpu/memory/columns_internal.h"
#include "storage/base/memory.h"
#include "storage/index/index_file.h"

#include <stdlib.h>

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
    enum status status = columns_add(columns, index->column, CODEC_NONE, ENTRY_VECTORS, bytes, &entry, error);
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
        columns_drop(columns, entry);
    *added = entry;
    return status;
}

static enum status use_vectors(struct cuda_columns *columns, const struct index_data *index, uint32_t first,
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

enum status cuda_columns_vectors(struct cuda_columns *columns, const struct index_data *index, uint32_t first,
                                 uint32_t count, const struct cuda_column **column, struct error *error)
{
    cuda_columns_lock(columns);
    const enum status status = use_vectors(columns, index, first, count, column, error);
    cuda_columns_unlock(columns);
    return status;
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
