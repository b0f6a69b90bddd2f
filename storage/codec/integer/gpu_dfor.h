/*
 * gpu_dfor.h: chunks of gpu-dfor: deltas within groups of D = 4 blocks, as published (gpu_block.h).
 * delta-for-bp has the same bytes.
 *
 *     directory    word starts[blocks + 1]: where each block's reference is in data, in words;
 *                  starts[blocks] is the end of the last block; blocks = tiles * 8
 *     data         groups of 512 rows: the group's first value (1 word, int64: 2), then 4 blocks;
 *                  then SPARE_BYTES zeros
 *
 * The blocks contain deltas: d[i] = v[i] - v[i-1] modulo 2^32 (2^64), and d[0] = 0 at the start of a group,
 * so that a group can be decoded alone. starts[b] of a group's first block points after the first value. A
 * tile is two groups. The overhead on uniform data is that of gpu-for and 32 bits for 512 values, 0.81 bits a
 * value, and one more bit for differences.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_GPU_DFOR_H
#define TESSERA_STORAGE_CODEC_INTEGER_GPU_DFOR_H

#include "storage/codec/integer/gpu_block.h"

#define GROUP_BLOCKS    4u
#define GROUP_ROWS      (GROUP_BLOCKS * BLOCK_ROWS)
#define GROUPS_PER_TILE (TILE_ROWS / GROUP_ROWS)

static inline size_t gpu_dfor_bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t groups = (uint64_t)chunk_tiles(rows) * GROUPS_PER_TILE;
    const uint64_t words = value_words(value_bytes) + GROUP_BLOCKS * block_words_bound(value_bytes);
    return chunk_size(blocks_directory_bytes(rows), groups * words * 4 + SPARE_BYTES, 0);
}

FORCED_INLINE void deltas_take(const void *values, const uint32_t value_bytes, void *deltas)
{
    if (value_bytes == 4) {
        const uint32_t *const v = values;
        uint32_t *const d = deltas;
        d[0] = 0;
        for (uint32_t i = 1; i < GROUP_ROWS; i++)
            d[i] = v[i] - v[i - 1];
    } else {
        const uint64_t *const v = values;
        uint64_t *const d = deltas;
        d[0] = 0;
        for (uint32_t i = 1; i < GROUP_ROWS; i++)
            d[i] = v[i] - v[i - 1];
    }
}

FORCED_INLINE size_t gpu_dfor_encode_values(enum codec_id codec, const void *values, uint32_t rows,
                                            const uint32_t value_bytes, uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS], deltas[GROUP_ROWS];
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *starts = (uint32_t *)chunk_directory(out);
    uint32_t *const words = (uint32_t *)chunk_data(out, blocks_directory_bytes(rows));
    uint32_t at = 0;
    for (uint32_t tile = 0; tile < chunk_tiles(rows); tile++) {
        const uint8_t *v = chunk_tile_values(values, rows, value_bytes, tile, last);
        for (uint32_t group = 0; group < GROUPS_PER_TILE; group++, v += GROUP_ROWS * value_bytes) {
            deltas_take(v, value_bytes, deltas);
            memcpy(words + at, v, value_bytes);
            at += value_words(value_bytes);
            for (uint32_t block = 0; block < GROUP_BLOCKS; block++) {
                *starts++ = at;
                at += block_encode((const uint8_t *)deltas + block * BLOCK_ROWS * value_bytes, value_bytes,
                                   words + at, &widths);
            }
        }
    }
    *starts = at;
    return blocks_finish(out, codec, rows, value_bytes, widths, at);
}

static inline size_t gpu_dfor_encode(enum codec_id codec, const void *values, uint32_t rows,
                                     uint32_t value_bytes, uint8_t *out)
{
    return value_bytes == 4 ? gpu_dfor_encode_values(codec, values, rows, 4, out)
                            : gpu_dfor_encode_values(codec, values, rows, 8, out);
}

static inline bool gpu_dfor_valid(const struct chunk_view *chunk)
{
    return blocks_valid(chunk, GROUP_BLOCKS);
}

FORCED_INLINE void group_decode(const struct chunk_view *chunk, uint32_t group, const uint32_t value_bytes,
                                void *out)
{
    const uint32_t *const starts = (const uint32_t *)chunk->directory + group * GROUP_BLOCKS;
    const uint32_t *const words = (const uint32_t *)chunk->data;
    const uint64_t first = (uint64_t)load_value(words + starts[0] - value_words(value_bytes), value_bytes);
    for (uint32_t block = 0; block < GROUP_BLOCKS; block++)
        block_decode(words + starts[block], value_bytes, (uint8_t *)out + block * BLOCK_ROWS * value_bytes);
    if (value_bytes == 4) {
        uint32_t *const v = out;
        uint32_t sum = (uint32_t)first;
        for (uint32_t i = 0; i < GROUP_ROWS; i++)
            v[i] = sum += v[i];
    } else {
        uint64_t *const v = out;
        uint64_t sum = first;
        for (uint32_t i = 0; i < GROUP_ROWS; i++)
            v[i] = sum += v[i];
    }
}

static inline void gpu_dfor_decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    for (uint32_t group = 0; group < GROUPS_PER_TILE; group++)
        if (chunk->value_bytes == 4)
            group_decode(chunk, tile * GROUPS_PER_TILE + group, 4, (uint32_t *)out + group * GROUP_ROWS);
        else
            group_decode(chunk, tile * GROUPS_PER_TILE + group, 8, (uint64_t *)out + group * GROUP_ROWS);
}

static inline int64_t gpu_dfor_value(const struct chunk_view *chunk, uint32_t row)
{
    _Alignas(64) int64_t group[GROUP_ROWS];
    if (chunk->value_bytes == 4)
        group_decode(chunk, row / GROUP_ROWS, 4, group);
    else
        group_decode(chunk, row / GROUP_ROWS, 8, group);
    return load_value((const uint8_t *)group + row % GROUP_ROWS * chunk->value_bytes, chunk->value_bytes);
}

#endif
