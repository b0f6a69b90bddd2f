/* index_encode.c: see index_encode.h.
 *
 * The rows' vectors are looked up a tile at a time. WAH vectors grow side by side, each in memory of its own, and are
 * then put behind one another. */
#include "storage/index/index_encode.h"

#include "storage/base/memory.h"
#include "storage/column/column_file.h"
#include "storage/index/bitset.h"
#include "storage/index/wah.h"
#include "storage/index/wah32.h"

#include <stdlib.h>
#include <string.h>

static enum status take_parts(struct index_parts *parts, uint32_t vector_count, uint32_t word_bytes,
                              struct error *error)
{
    const char *const what = "an index's segment";
    RETURN_IF_ERROR(
        memory_zeros(&parts->vectors, part_padded(vector_count * sizeof *parts->vectors), what, error));
    RETURN_IF_ERROR(
        memory_zeros(&parts->pieces, part_padded(parts->piece_count * sizeof *parts->pieces), what, error));
    return memory_zeros(&parts->words, part_padded(parts->word_count * word_bytes), what, error);
}

void index_parts_free(struct index_parts *parts)
{
    free(parts->vectors);
    free(parts->words);
    free(parts->pieces);
    *parts = (struct index_parts){0};
}

/* The two word sizes differ in types and names alone: `wah` is wah or wah32, `word` its word. */
#define DEFINE_ENCODE(wah, word)                                                                             \
    static enum status wah##_take(const struct index_lookup *lookup, const struct segment_data *segment,     \
                                  struct wah##_builder *builders, uint32_t vector_count,                     \
                                  struct error *error)                                                       \
    {                                                                                                        \
        uint32_t codes[TILE_ROWS], rows;                                                                     \
        struct chunk_reader reader = {0};                                                                    \
        enum status status = STATUS_OK;                                                                      \
        for (uint32_t tile = 0; tile < segment->chunk.tiles && status == STATUS_OK; tile++) {                \
            status = index_lookup_tile(lookup, segment, tile, &reader, codes, &rows, error);                 \
            if (status == STATUS_OK)                                                                         \
                status = wah##_append_codes(builders, vector_count, (uint64_t)tile * TILE_ROWS, codes, rows, \
                                            error);                                                          \
        }                                                                                                    \
        chunk_reader_close(&reader);                                                                         \
        for (uint32_t v = 0; v < vector_count && status == STATUS_OK; v++)                                   \
            status = wah##_finish(&builders[v], segment->chunk.rows, error);                                 \
        return status;                                                                                       \
    }                                                                                                        \
                                                                                                             \
    static enum status wah##_gather(const struct wah##_builder *builders, uint32_t vector_count,             \
                                    uint32_t rows, struct index_parts *parts, struct error *error)           \
    {                                                                                                        \
        uint64_t first = 0, pieces = 0;                                                                      \
        for (uint32_t v = 0; v < vector_count; v++) {                                                        \
            parts->word_count += builders[v].count;                                                          \
            parts->piece_count += builders[v].count > INDEX_SHORT_WORDS ? wah##_pieces(rows) : 0;            \
        }                                                                                                    \
        RETURN_IF_ERROR(take_parts(parts, vector_count, sizeof(word), error));                               \
        for (uint32_t v = 0; v < vector_count; v++) {                                                        \
            const struct wah##_vector vector = wah##_of(&builders[v]);                                       \
            const bool is_short = vector.count <= INDEX_SHORT_WORDS;                                         \
            const struct wah_counts counts = wah##_counts(vector);                                           \
            parts->vectors[v] = (struct index_vector){.first = first,                                        \
                                                      .words = vector.count,                                 \
                                                      .rows = counts.ones,                                   \
                                                      .pieces = is_short ? INDEX_NO_PIECES : pieces};        \
            memcpy((word *)parts->words + first, vector.words, vector.count * sizeof(word));                 \
            first += vector.count;                                                                           \
            parts->fills += counts.fills;                                                                    \
            if (is_short)                                                                                    \
                continue;                                                                                    \
            wah##_directory_build(vector, rows, parts->pieces + pieces);                                     \
            pieces += wah##_pieces(rows);                                                                    \
        }                                                                                                    \
        return STATUS_OK;                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static enum status wah##_encode(const struct index_lookup *lookup, uint32_t vector_count,                \
                                    const struct segment_data *segment, struct index_parts *parts,           \
                                    struct error *error)                                                     \
    {                                                                                                        \
        struct wah##_builder *builders;                                                                      \
        RETURN_IF_ERROR(                                                                                     \
            memory_zeros(&builders, vector_count * sizeof *builders, "an index's segment", error));          \
        enum status status = wah##_take(lookup, segment, builders, vector_count, error);                     \
        if (status == STATUS_OK)                                                                             \
            status = wah##_gather(builders, vector_count, segment->chunk.rows, parts, error);                \
        for (uint32_t v = 0; v < vector_count; v++)                                                          \
            wah##_builder_free(&builders[v]);                                                                \
        free(builders);                                                                                      \
        return status;                                                                                       \
    }

DEFINE_ENCODE(wah, uint64_t)
DEFINE_ENCODE(wah32, uint32_t)

static enum status flat_encode(const struct index_lookup *lookup, uint32_t vector_count,
                               const struct segment_data *segment, struct index_parts *parts,
                               struct error *error)
{
    const uint64_t words = bitset_words(segment->chunk.rows);
    uint32_t codes[TILE_ROWS], rows;
    struct chunk_reader reader = {0};
    parts->word_count = words * vector_count;
    RETURN_IF_ERROR(take_parts(parts, vector_count, sizeof(uint64_t), error));
    uint64_t *const bits = parts->words;
    for (uint32_t v = 0; v < vector_count; v++)
        parts->vectors[v] =
            (struct index_vector){.first = v * words, .words = words, .pieces = INDEX_NO_PIECES};
    enum status status = STATUS_OK;
    for (uint32_t tile = 0; tile < segment->chunk.tiles && status == STATUS_OK; tile++) {
        const uint64_t first = (uint64_t)tile * (TILE_ROWS / 64);
        status = index_lookup_tile(lookup, segment, tile, &reader, codes, &rows, error);
        for (uint32_t r = 0; r < rows && status == STATUS_OK; r++) {
            bits[codes[r] * words + first + r / 64] |= 1ull << r % 64;
            parts->vectors[codes[r]].rows++;
        }
    }
    chunk_reader_close(&reader);
    return status;
}

enum status index_encode_segment(const struct index_lookup *lookup, uint32_t vector_count,
                                 const struct segment_data *segment, struct index_parts *parts,
                                 struct error *error)
{
    const enum index_format format = lookup->index->wish.format;
    *parts = (struct index_parts){0};
    return (format == INDEX_WAH64   ? wah_encode
            : format == INDEX_WAH32 ? wah32_encode
                                    : flat_encode)(lookup, vector_count, segment, parts, error);
}
