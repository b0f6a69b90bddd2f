/* index_encode.h: the vectors of one segment of a column, as an index file has them (index_file.h). */
#ifndef TESSERA_STORAGE_INDEX_INDEX_ENCODE_H
#define TESSERA_STORAGE_INDEX_INDEX_ENCODE_H

#include "storage/index/index_bins.h"
#include "storage/index/index_file.h"

/* The parts, each followed by zeros up to a multiple of 128 bytes. */
struct index_parts {
    struct index_vector *vectors;
    void *words;
    struct wah_start *pieces;
    uint64_t word_count, piece_count, fills;
};

/* Builds the vectors of a segment on the calling thread; free them with index_parts_free, also after a failure. */
NODISCARD enum status index_encode_segment(const struct index_lookup *lookup, uint32_t vector_count,
                                           const struct segment_data *segment, struct index_parts *parts,
                                           struct error *error);
void index_parts_free(struct index_parts *parts);

/* The bytes of a word of that format. */
static inline uint32_t index_word_bytes(enum index_format format)
{
    return format == INDEX_WAH32 ? 4 : 8;
}

#endif
