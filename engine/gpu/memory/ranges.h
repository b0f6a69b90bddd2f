/*
 * ranges.h: the parts of chunks that a statement reads, where it reads few tiles of each segment.
 *
 * Where rows are clustered, every segment has rows of every cell, and a condition leaves runs of some tiles of all of them. A
 * cut of a chunk has the bytes of its runs and nothing else, one range after the other, on lines of 128 bytes:
 *
 *     chunk    directory  ..dd....dd..  data  ....DDDD......DDDD......  auxiliary  ...a....
 *     cut      dd DDDD | dd DDDD a |
 *
 * Tiles keep their numbers: each range has a struct bound_chunk of its own, whose sections begin where they would if the range
 * stood in the whole chunk. So decoders find a tile as ever, and must look at no other. A work item names the range that its
 * tiles are in (bound_work.place).
 *
 * Made once a statement, for up to a few hundred thousand tiles.
 */
#ifndef TESSERA_ENGINE_GPU_MEMORY_RANGES_H
#define TESSERA_ENGINE_GPU_MEMORY_RANGES_H

#include "engine/cuda/cuda.h"
#include "engine/plan/tile_skip.h"
#include "operators/dialect/bound.h"

/* Consecutive tiles of a segment; tiles >= 1. */
struct cuda_range {
    uint32_t segment, first, tiles;
};

struct cuda_ranges {
    struct cuda_range *list; /* ascending */
    uint32_t count;
    uint32_t *of_segment; /* the first range of each segment; then `count` */
};

static inline bool cuda_range_has(const struct cuda_range *range, uint32_t segment, uint32_t tile)
{
    return range->segment == segment && tile - range->first < range->tiles;
}

/* Lists the ranges that have the tiles of `skip`; runs are one range if a work item may reach from one to the next. Free with
 * cuda_ranges_free. */
NODISCARD enum status cuda_ranges_make(const struct table *fact, const struct tile_skip *skip,
                                       struct cuda_ranges *ranges, struct error *error);
void cuda_ranges_free(struct cuda_ranges *ranges);
bool cuda_ranges_equal(const struct cuda_range *a, uint32_t a_count, const struct cuda_range *b,
                       uint32_t b_count);

/* Whether chunks of the column can be cut: its codec says what a decoder reads of some tiles. */
bool cuda_cut_can(const struct column_data *data);

/* The bytes of memory that a cut of a segment's chunk takes; 0: it has no range. */
uint64_t cuda_cut_bytes(const struct segment_data *data, const struct cuda_ranges *ranges, uint32_t segment);

/* Gives the pieces of host memory that a cut is made of, with their places in it, ascending. The caller frees *pieces. */
NODISCARD enum status cuda_cut_pieces(const struct segment_data *data, const struct cuda_ranges *ranges,
                                      uint32_t segment, struct cuda_piece **pieces, uint32_t *count,
                                      struct error *error);

/* What a kernel gets for each range of the segment, if the cut is at `address`; chunks[0] is that of the first one. */
void cuda_cut_bind(const struct segment_data *data, const struct cuda_ranges *ranges, uint32_t segment,
                   cuda_address address, struct bound_chunk *chunks);

#endif
