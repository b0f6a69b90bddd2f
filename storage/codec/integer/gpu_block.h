/*
 * gpu_block.h: the block of 128 values that gpu-for and gpu-dfor are made of.
 *
 *     reference           1 word (int64: 2 words, low first): the least value
 *     widths              1 word: byte m is the width of miniblock m
 *     miniblock 0 .. 3    32 values each, value k at bits [k*width, k*width + width); max(width, 1) words
 *
 * The published encoder gives all four miniblocks the largest width that one of them needs, and a miniblock
 * of width 0 still takes a word. This encoder does the same, so that sizes are those of the paper. Decoders
 * also accept four different widths. Shanbhag, Yogatama, Yu, Madden: Tile-based Lightweight Integer
 * Compression in GPU, SIGMOD 2022, section 4.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_GPU_BLOCK_H
#define TESSERA_STORAGE_CODEC_INTEGER_GPU_BLOCK_H

#include "storage/codec/integer/bitpack.h"

#define BLOCK_ROWS       128u
#define MINIBLOCKS       4u
#define MINIBLOCK_ROWS   32u
#define BLOCKS_PER_TILE  (TILE_ROWS / BLOCK_ROWS)
#define SAME_FOUR_WIDTHS 0x01010101u /* times a width, this has that width in each byte */

FORCED_INLINE uint32_t value_words(const uint32_t value_bytes)
{
    return value_bytes / 4;
}

FORCED_INLINE uint32_t block_header_words(const uint32_t value_bytes)
{
    return value_words(value_bytes) + 1;
}

/* The most words that a block can take. */
FORCED_INLINE uint32_t block_words_bound(const uint32_t value_bytes)
{
    return block_header_words(value_bytes) + BLOCK_ROWS * value_words(value_bytes);
}

FORCED_INLINE uint32_t miniblock_words(uint32_t width)
{
    return width ? width : 1;
}

/* Encodes 128 values; returns the words written. */
FORCED_INLINE uint32_t block_encode(const void *values, const uint32_t value_bytes, uint32_t *words,
                                    struct width_range *widths)
{
    int64_t low, high;
    values_range(values, BLOCK_ROWS, value_bytes, &low, &high);
    const uint32_t width = width_of((uint64_t)high - (uint64_t)low);
    width_range_add(widths, width);
    memcpy(words, &low, value_bytes);
    words += value_words(value_bytes);
    *words++ = width * SAME_FOUR_WIDTHS;
    if (width == 0)
        memset(words, 0, MINIBLOCKS * sizeof *words);
    else /* 32 values of one width fill whole words, so the four miniblocks are packed as one stream */
        bits_pack(values, BLOCK_ROWS, value_bytes, low, width, words);
    return block_header_words(value_bytes) + MINIBLOCKS * miniblock_words(width);
}

/* The words of the block at `words`, whose header is in bounds; 0 if a width is not possible. */
FORCED_INLINE uint32_t block_words(const uint32_t *words, const uint32_t value_bytes,
                                   struct width_range *widths)
{
    const uint32_t packed = words[value_words(value_bytes)];
    uint32_t total = block_header_words(value_bytes);
    for (uint32_t m = 0; m < MINIBLOCKS; m++) {
        const uint32_t width = packed >> 8 * m & 255;
        if (width > value_bytes * 8)
            return 0;
        width_range_add(widths, width);
        total += miniblock_words(width);
    }
    return total;
}

FORCED_INLINE void block_decode(const uint32_t *words, const uint32_t value_bytes, void *out)
{
    const int64_t reference = load_value(words, value_bytes);
    const uint32_t packed = words[value_words(value_bytes)];
    words += block_header_words(value_bytes);
    if (packed == (packed & 255) * SAME_FOUR_WIDTHS) {
        bits_unpack(words, BLOCK_ROWS, value_bytes, packed & 255, reference, out);
        return;
    }
    for (uint32_t m = 0; m < MINIBLOCKS; m++) {
        const uint32_t width = packed >> 8 * m & 255;
        bits_unpack(words, MINIBLOCK_ROWS, value_bytes, width, reference,
                    (uint8_t *)out + m * MINIBLOCK_ROWS * value_bytes);
        words += miniblock_words(width);
    }
}

/* Value 0 .. 127 of a block, modulo 2^64. */
FORCED_INLINE uint64_t block_value(const uint32_t *words, const uint32_t value_bytes, uint32_t index)
{
    const uint64_t reference = (uint64_t)load_value(words, value_bytes);
    const uint32_t packed = words[value_words(value_bytes)];
    const uint32_t miniblock = index / MINIBLOCK_ROWS;
    words += block_header_words(value_bytes);
    for (uint32_t m = 0; m < miniblock; m++)
        words += miniblock_words(packed >> 8 * m & 255);
    const uint32_t width = packed >> 8 * miniblock & 255;
    return reference + bits_fetch(words, index % MINIBLOCK_ROWS * width, width);
}

/* ---- The chunk around them: starts[blocks + 1] in the directory, the blocks in the data ---- */

static inline uint64_t blocks_directory_bytes(uint32_t rows)
{
    return ((uint64_t)chunk_tiles(rows) * BLOCKS_PER_TILE + 1) * 4;
}

FORCED_INLINE const uint32_t *block_at(const struct chunk_view *chunk, uint32_t block)
{
    return (const uint32_t *)chunk->data + ((const uint32_t *)chunk->directory)[block];
}

/* codec.tile_span */
static inline const uint8_t *blocks_tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    const uint32_t *const begin = block_at(chunk, tile * BLOCKS_PER_TILE);
    *bytes = (uint32_t)(block_at(chunk, (tile + 1) * BLOCKS_PER_TILE) - begin) * 4;
    return (const uint8_t *)begin;
}

/* Completes a chunk with a complete directory and `words` words of data; returns its size. */
static inline size_t blocks_finish(uint8_t *chunk, enum codec_id codec, uint32_t rows, uint32_t value_bytes,
                                   struct width_range widths, uint32_t words)
{
    return chunk_finish_packed(chunk, codec, rows, value_bytes, widths, blocks_directory_bytes(rows),
                               (uint64_t)words * 4, SPARE_BYTES);
}

/* codec.valid: the blocks must follow each other without gaps and fill the data, with a value before each
 * `group_blocks` of them (0: none). */
static inline bool blocks_valid(const struct chunk_view *chunk, uint32_t group_blocks)
{
    const uint64_t data_bytes = chunk_head(chunk)->data_bytes;
    if (chunk_head(chunk)->directory_bytes != blocks_directory_bytes(chunk->rows) || data_bytes < SPARE_BYTES)
        return false;
    const uint32_t *const starts = (const uint32_t *)chunk->directory;
    const uint32_t *const words = (const uint32_t *)chunk->data;
    const uint32_t blocks = chunk->tiles * BLOCKS_PER_TILE;
    const uint64_t end = (data_bytes - SPARE_BYTES) / 4;
    uint64_t at = 0;
    struct width_range widths = {UINT32_MAX, 0};
    for (uint32_t block = 0; block < blocks; block++) {
        if (group_blocks && block % group_blocks == 0)
            at += value_words(chunk->value_bytes);
        if (starts[block] != at || at + block_header_words(chunk->value_bytes) > end)
            return false;
        const uint32_t taken = block_words(words + at, chunk->value_bytes, &widths);
        at += taken;
        if (taken == 0 || at > end)
            return false;
    }
    return starts[blocks] == at && data_bytes == at * 4 + SPARE_BYTES && width_range_matches(&widths, chunk);
}

#endif
