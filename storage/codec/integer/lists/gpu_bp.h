/*
 * gpu_bp.h: GPU-BP: binary packing in blocks of 128 or 256 values, as published (Mallia et al., CIKM 2019,
 * section 3.1).
 *
 *     directory    word ends[blocks + 1], in words of data (end_points.h)
 *     data         the blocks, packed in a row: value i of a block at bits [i*width, i*width + width); then SPARE_BYTES
 *                  zeros
 *
 * Nothing stores a block's width: it is the block's length in bits divided by its number of values, the width of its
 * greatest value as an unsigned number. There is no reference, so a negative value makes its block as wide as its
 * type. The end points take 32 bits a block. int64 has widths up to 64, which the paper has not. `block_rows` is a
 * constant everywhere, so that each codec gets its own code.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_LISTS_GPU_BP_H
#define TESSERA_STORAGE_CODEC_INTEGER_LISTS_GPU_BP_H

#include "storage/codec/integer/lists/end_points.h"

#define BP_UNIT_BYTES 4u /* end points count words */

FORCED_INLINE size_t bp_bound(uint32_t rows, uint32_t value_bytes, const uint32_t block_rows)
{
    return chunk_size(end_points_bytes(rows, block_rows),
                      (uint64_t)chunk_tiles(rows) * TILE_ROWS * value_bytes + SPARE_BYTES, 0);
}

/* The width of the greatest of the values as unsigned numbers. */
FORCED_INLINE uint32_t bp_width(const void *values, const uint32_t count, const uint32_t value_bytes)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= value_bytes == 4 ? ((const uint32_t *)values)[i] : ((const uint64_t *)values)[i];
    return width_of(any);
}

FORCED_INLINE size_t bp_encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                      const enum codec_id id, const uint32_t block_rows, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *ends = (uint32_t *)chunk_directory(out);
    uint32_t *const words = (uint32_t *)chunk_data(out, end_points_bytes(rows, block_rows));
    uint32_t at = 0;
    *ends = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const uint8_t *v = chunk_tile_values(values, rows, value_bytes, tile, last);
        for (uint32_t row = 0; row < TILE_ROWS; row += block_rows, v += block_rows * value_bytes) {
            const uint32_t width = bp_width(v, block_rows, value_bytes);
            width_range_add(&widths, width);
            bits_pack(v, block_rows, value_bytes, 0, width, words + at);
            at += bits_words(block_rows, width);
            *++ends = at;
        }
    }
    return chunk_finish_packed(out, id, rows, value_bytes, widths, end_points_bytes(rows, block_rows),
                               (uint64_t)at * BP_UNIT_BYTES, SPARE_BYTES);
}

FORCED_INLINE size_t bp_encode(const void *values, uint32_t rows, uint32_t value_bytes,
                               const enum codec_id id, const uint32_t block_rows, uint8_t *out)
{
    return value_bytes == 4 ? bp_encode_values(values, rows, 4, id, block_rows, out)
                            : bp_encode_values(values, rows, 8, id, block_rows, out);
}

/* The width of a block that begins at *end. 32 values take `width` words. */
FORCED_INLINE uint32_t bp_block_width(const uint32_t *end, const uint32_t block_rows)
{
    return (end[1] - end[0]) / (block_rows / 32);
}

FORCED_INLINE bool bp_valid(const struct chunk_view *chunk, const uint32_t block_rows)
{
    if (!end_points_fit(chunk, block_rows, BP_UNIT_BYTES))
        return false;
    const uint32_t *end = (const uint32_t *)chunk->directory;
    struct width_range widths = {UINT32_MAX, 0};
    for (uint32_t block = 0; block < end_points_blocks(chunk->rows, block_rows); block++, end++) {
        const uint32_t width = bp_block_width(end, block_rows);
        if (end[1] < end[0] || (end[1] - end[0]) % (block_rows / 32) != 0 || width > chunk->value_bytes * 8)
            return false;
        width_range_add(&widths, width);
    }
    return width_range_matches(&widths, chunk);
}

FORCED_INLINE void bp_decode_tile(const struct chunk_view *chunk, uint32_t tile, const uint32_t block_rows,
                                  void *out)
{
    const uint32_t *end = (const uint32_t *)chunk->directory + tile * (TILE_ROWS / block_rows);
    for (uint32_t row = 0; row < TILE_ROWS; row += block_rows, end++) {
        const uint32_t *const words = (const uint32_t *)chunk->data + *end;
        if (chunk->value_bytes == 4)
            bits_unpack(words, block_rows, 4, bp_block_width(end, block_rows), 0, (uint32_t *)out + row);
        else
            bits_unpack(words, block_rows, 8, bp_block_width(end, block_rows), 0, (uint64_t *)out + row);
    }
}

FORCED_INLINE int64_t bp_value(const struct chunk_view *chunk, uint32_t row, const uint32_t block_rows)
{
    const uint32_t *const end = (const uint32_t *)chunk->directory + row / block_rows;
    const uint32_t width = bp_block_width(end, block_rows);
    const uint32_t *const words = (const uint32_t *)chunk->data + *end;
    return chunk_value(bits_fetch(words, row % block_rows * width, width), chunk->value_bytes);
}

FORCED_INLINE void bp_fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows,
                            uint32_t count, const uint32_t block_rows, int32_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[rows[i]] = (int32_t)bp_value(chunk, tile * TILE_ROWS + rows[i], block_rows);
}

#endif
