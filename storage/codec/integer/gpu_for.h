/*
 * gpu_for.h: chunks of gpu-for: frame of reference per 128 values, as published (gpu_block.h). for-bp has the
 * same bytes.
 *
 *     directory    word starts[blocks + 1]: where each block begins in data, in words; blocks = tiles * 8
 *     data         the blocks, one after the other; starts[blocks] is their end; then SPARE_BYTES zeros
 *
 * The overhead on uniform data is 32 bits of reference, 32 of widths and 32 of start for 128 values: 0.75
 * bits a value.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_GPU_FOR_H
#define TESSERA_STORAGE_CODEC_INTEGER_GPU_FOR_H

#include "storage/codec/integer/gpu_block.h"

static inline size_t gpu_for_bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t blocks = (uint64_t)chunk_tiles(rows) * BLOCKS_PER_TILE;
    return chunk_size(blocks_directory_bytes(rows), blocks * block_words_bound(value_bytes) * 4 + SPARE_BYTES,
                      0);
}

FORCED_INLINE size_t gpu_for_encode_values(enum codec_id codec, const void *values, uint32_t rows,
                                           const uint32_t value_bytes, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *starts = (uint32_t *)chunk_directory(out);
    uint32_t *const words = (uint32_t *)chunk_data(out, blocks_directory_bytes(rows));
    uint32_t at = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const uint8_t *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        for (uint32_t block = 0; block < BLOCKS_PER_TILE; block++) {
            *starts++ = at;
            at += block_encode(v + block * BLOCK_ROWS * value_bytes, value_bytes, words + at, &widths);
        }
    }
    *starts = at;
    return blocks_finish(out, codec, rows, value_bytes, widths, at);
}

static inline size_t gpu_for_encode(enum codec_id codec, const void *values, uint32_t rows,
                                    uint32_t value_bytes, uint8_t *out)
{
    return value_bytes == 4 ? gpu_for_encode_values(codec, values, rows, 4, out)
                            : gpu_for_encode_values(codec, values, rows, 8, out);
}

static inline bool gpu_for_valid(const struct chunk_view *chunk)
{
    return blocks_valid(chunk, 0);
}

static inline void gpu_for_decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    for (uint32_t block = 0; block < BLOCKS_PER_TILE; block++) {
        const uint32_t *const words = block_at(chunk, tile * BLOCKS_PER_TILE + block);
        if (chunk->value_bytes == 4)
            block_decode(words, 4, (uint32_t *)out + block * BLOCK_ROWS);
        else
            block_decode(words, 8, (uint64_t *)out + block * BLOCK_ROWS);
    }
}

static inline int64_t gpu_for_value(const struct chunk_view *chunk, uint32_t row)
{
    return chunk_value(block_value(block_at(chunk, row / BLOCK_ROWS), chunk->value_bytes, row % BLOCK_ROWS),
                       chunk->value_bytes);
}

static inline void gpu_for_fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows,
                                 uint32_t count, int32_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[rows[i]] = (int32_t)gpu_for_value(chunk, tile * TILE_ROWS + rows[i]);
}

#endif
