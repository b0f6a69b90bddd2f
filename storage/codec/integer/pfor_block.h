/*
 * pfor_block.h: the compressed block that pfor and pfor-diff are made of (Przymus and Kaczmarski, OTM 2012
 * Workshops, section 2.1). A block is one tile of 1024 values.
 *
 *     widths         1 word: byte 0: code width, byte 1: offset width, byte 2: remainder width, byte 3: 0
 *     exceptions     1 word: their number | least offset << 16
 *     references     of the codes, then of the remainders: 1 word each (int64: 2, low first)
 *     before         pfor-diff only, 1 word (int64: 2): the value before row 0
 *     codes          1024 values, packed: 32 * code width words
 *     offsets        the exceptions' rows minus the least of them, packed, ascending
 *     remainders     the exceptions' high parts minus the least of them, packed
 *
 * The three sections are the paper's: packed codes, offsets of exceptions, remainders of exceptions. The second
 * and the third have a frame of reference each. The paper leaves the headers' bytes open; these are ours. A
 * code is the low bits of value - reference, in every row; patches.h divides values. Without exceptions all
 * numbers of the two lists are 0.
 *
 *     directory      word starts[tiles + 1]: where each block begins in data, in words; the last one: the end
 *     data           the blocks, one after the other; then SPARE_BYTES zeros
 *
 * Functions are called once a tile. The overhead on uniform data is 160 bits for 1024 values, 0.16 bits a
 * value (pfor-diff: 0.19).
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_PFOR_BLOCK_H
#define TESSERA_STORAGE_CODEC_INTEGER_PFOR_BLOCK_H

#include "storage/codec/integer/patches.h"

/* A block that is read. `list.words` are the offsets; `before` is 0 in pfor. */
struct pfor_block {
    int64_t reference, before;
    uint32_t width;
    const uint32_t *codes;
    struct patches list;
};

FORCED_INLINE uint32_t pfor_header_words(const uint32_t value_bytes, const bool differences)
{
    return 2 + (differences ? 3 : 2) * (value_bytes / 4);
}

FORCED_INLINE struct pfor_block pfor_block_read(const uint32_t *words, const uint32_t value_bytes,
                                                const bool differences)
{
    const uint32_t *const references = words + 2;
    struct pfor_block block = {.reference = load_value(references, value_bytes),
                               .width = words[0] & 255,
                               .codes = words + pfor_header_words(value_bytes, differences)};
    if (differences)
        block.before = load_value(references + 2 * (value_bytes / 4), value_bytes);
    block.list = (struct patches){.count = words[1] & 0xffff,
                                  .position_reference = words[1] >> 16,
                                  .position_width = words[0] >> 8 & 255,
                                  .high_width = words[0] >> 16 & 255,
                                  .shift = block.width,
                                  .high = (uint64_t)load_value(references + value_bytes / 4, value_bytes),
                                  .words = block.codes + bits_words(TILE_ROWS, block.width)};
    return block;
}

/* The words of a block with its header. */
FORCED_INLINE uint32_t pfor_block_words(const struct pfor_block *block, const uint32_t value_bytes,
                                        const bool differences)
{
    return pfor_header_words(value_bytes, differences) + bits_words(TILE_ROWS, block->width) +
           patches_words(&block->list);
}

/* Encodes 1024 values, or differences and the value before them; returns the words written. */
FORCED_INLINE uint32_t pfor_block_encode(const void *values, const uint32_t value_bytes,
                                         const bool differences, int64_t before, uint32_t *words,
                                         struct width_range *widths)
{
    struct frame_parts parts;
    const struct frame frame = frame_choose(values, value_bytes);
    struct patches list = {
        .count = frame.exceptions, .high_width = frame.high_width, .shift = frame.width, .high = frame.high};
    frame_divide(values, value_bytes, &frame, &parts);
    width_range_add(widths, frame.width);
    if (list.count) {
        list.position_reference = parts.positions[0];
        list.position_width = width_of(parts.positions[list.count - 1] - parts.positions[0]);
    }
    words[0] = frame.width | list.position_width << 8 | list.high_width << 16;
    words[1] = list.count | list.position_reference << 16;
    memcpy(words + 2, &frame.reference, value_bytes);
    memcpy(words + 2 + value_bytes / 4, &list.high, value_bytes);
    if (differences)
        memcpy(words + 2 + 2 * (value_bytes / 4), &before, value_bytes);
    uint32_t *const codes = words + pfor_header_words(value_bytes, differences);
    uint32_t *const lists = codes + bits_words(TILE_ROWS, frame.width);
    bits_pack(parts.codes, TILE_ROWS, value_bytes, 0, frame.width, codes);
    patches_pack(&list, &parts, lists);
    return (uint32_t)(lists - words) + patches_words(&list);
}

/* Decodes the block's values or differences. */
FORCED_INLINE void pfor_block_decode(const struct pfor_block *block, const uint32_t value_bytes, void *out)
{
    bits_unpack(block->codes, TILE_ROWS, value_bytes, block->width, block->reference, out);
    patches_apply(&block->list, value_bytes, out);
}

/* ---- The chunk around them ---- */

FORCED_INLINE struct pfor_block pfor_block_at(const struct chunk_view *chunk, uint32_t tile,
                                              const uint32_t value_bytes, const bool differences)
{
    const uint32_t *const starts = (const uint32_t *)chunk->directory;
    return pfor_block_read((const uint32_t *)chunk->data + starts[tile], value_bytes, differences);
}

static inline uint64_t pfor_directory_bytes(uint64_t tiles)
{
    return (tiles + 1) * 4;
}

/* codec.bound: a block takes no more than its values and its header. */
static inline size_t pfor_bound(uint32_t rows, uint32_t value_bytes, bool differences)
{
    const uint64_t tiles = chunk_tiles(rows);
    const uint64_t block_bytes =
        pfor_header_words(value_bytes, differences) * UINT64_C(4) + TILE_ROWS * value_bytes;
    return chunk_size(pfor_directory_bytes(tiles), tiles * block_bytes + SPARE_BYTES, 0);
}

/* codec.tile_span */
static inline const uint8_t *pfor_tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const uint32_t *const starts = (const uint32_t *)chunk->directory;
    *bytes = (starts[tile + 1] - starts[tile]) * 4;
    return chunk->data + starts[tile] * UINT64_C(4);
}

/* Whether a block that must begin at word *at of `end` is sound; moves *at to its end. */
static inline bool pfor_block_valid(const struct chunk_view *chunk, bool differences, uint64_t end,
                                    uint64_t *at, struct width_range *widths)
{
    const uint32_t *const words = (const uint32_t *)chunk->data + *at;
    if (*at + pfor_header_words(chunk->value_bytes, differences) > end)
        return false;
    const struct pfor_block block = pfor_block_read(words, chunk->value_bytes, differences);
    if (words[0] >> 24 != 0 || block.width > chunk->value_bytes * 8 ||
        !patches_numbers_valid(&block.list, chunk->value_bytes))
        return false;
    *at += pfor_block_words(&block, chunk->value_bytes, differences);
    width_range_add(widths, block.width);
    return *at <= end && patches_positions_valid(&block.list);
}

/* codec.valid: the blocks must follow each other without gaps and fill the data. */
static inline bool pfor_valid(const struct chunk_view *chunk, bool differences)
{
    const uint64_t data_bytes = chunk_head(chunk)->data_bytes;
    if (chunk_head(chunk)->directory_bytes != pfor_directory_bytes(chunk->tiles) || data_bytes < SPARE_BYTES)
        return false;
    const uint32_t *const starts = (const uint32_t *)chunk->directory;
    const uint64_t end = (data_bytes - SPARE_BYTES) / 4;
    struct width_range widths = {UINT32_MAX, 0};
    uint64_t at = 0;
    for (uint32_t tile = 0; tile < chunk->tiles; tile++)
        if (starts[tile] != at || !pfor_block_valid(chunk, differences, end, &at, &widths))
            return false;
    return starts[chunk->tiles] == at && data_bytes == at * 4 + SPARE_BYTES &&
           width_range_matches(&widths, chunk);
}

/* Completes a chunk with a complete directory and `words` words of data; returns its size. */
static inline size_t pfor_finish(uint8_t *chunk, enum codec_id codec, uint32_t rows, uint32_t value_bytes,
                                 struct width_range widths, uint32_t words)
{
    return chunk_finish_packed(chunk, codec, rows, value_bytes, widths,
                               pfor_directory_bytes(chunk_tiles(rows)), (uint64_t)words * 4, SPARE_BYTES);
}

#endif
