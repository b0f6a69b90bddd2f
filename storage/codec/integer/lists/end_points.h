/*
 * end_points.h: the directory of the codecs for posting lists: where each block of 128, 256 or 1024 values ends.
 *
 *     directory    word ends[blocks + 1]: block b takes [ends[b], ends[b + 1]) of data; ends[0] is 0
 *
 * A block's length is the difference of two end points, so blocks need no header for it. Mallia, Siedlaczek, Suel,
 * Zahran: GPU-Accelerated Decoding of Integer Lists, CIKM 2019, section 3.1. The end points count words or bytes of
 * data, as the authors' programs do: `unit_bytes` is 4 or 1. Each function is called once a chunk or a tile.
 */
#ifndef TESSERA_STORAGE_CODEC_INTEGER_LISTS_END_POINTS_H
#define TESSERA_STORAGE_CODEC_INTEGER_LISTS_END_POINTS_H

#include "storage/codec/integer/bitpack.h"

FORCED_INLINE uint32_t end_points_blocks(uint32_t rows, const uint32_t block_rows)
{
    return chunk_tiles(rows) * (TILE_ROWS / block_rows);
}

FORCED_INLINE uint64_t end_points_bytes(uint32_t rows, const uint32_t block_rows)
{
    return ((uint64_t)end_points_blocks(rows, block_rows) + 1) * 4;
}

/* Whether the directory is as large as it must be, begins with 0 and ends where the data ends. */
FORCED_INLINE bool end_points_fit(const struct chunk_view *chunk, const uint32_t block_rows,
                                  const uint32_t unit_bytes)
{
    if (chunk_head(chunk)->directory_bytes != end_points_bytes(chunk->rows, block_rows))
        return false;
    const uint32_t *const ends = (const uint32_t *)chunk->directory;
    const uint64_t end = ends[end_points_blocks(chunk->rows, block_rows)];
    return ends[0] == 0 && chunk_head(chunk)->data_bytes == end * unit_bytes + SPARE_BYTES;
}

/* The first byte of a block. */
FORCED_INLINE const uint8_t *end_points_block(const struct chunk_view *chunk, uint32_t block,
                                              const uint32_t unit_bytes)
{
    return chunk->data + (uint64_t)((const uint32_t *)chunk->directory)[block] * unit_bytes;
}

/* codec.tile_span */
FORCED_INLINE const uint8_t *end_points_span(const struct chunk_view *chunk, uint32_t tile,
                                             const uint32_t block_rows, const uint32_t unit_bytes,
                                             uint32_t *bytes)
{
    const uint32_t blocks = TILE_ROWS / block_rows;
    const uint8_t *const begin = end_points_block(chunk, tile * blocks, unit_bytes);
    *bytes = (uint32_t)(end_points_block(chunk, (tile + 1) * blocks, unit_bytes) - begin);
    return begin;
}

/* The functions of a codec whose core, the functions CORE_bound, CORE_encode ..., takes the number of values of a block,
 * ROWS, as a constant: the two sizes of a scheme differ in nothing else. ID: the codec's number; UNIT_BYTES: what its end
 * points count. */
#define END_POINTS_CODEC(CORE, ID, ROWS, UNIT_BYTES)                                                       \
    static size_t bound(uint32_t rows, uint32_t value_bytes)                                               \
    {                                                                                                      \
        return CORE##_bound(rows, value_bytes, ROWS);                                                      \
    }                                                                                                      \
    static size_t encode(const struct codec_input *input, uint8_t *out)                                    \
    {                                                                                                      \
        return CORE##_encode(input->values, input->rows, input->value_bytes, ID, ROWS, out);               \
    }                                                                                                      \
    static bool valid(const struct chunk_view *chunk)                                                      \
    {                                                                                                      \
        return CORE##_valid(chunk, ROWS);                                                                  \
    }                                                                                                      \
    static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)        \
    {                                                                                                      \
        return end_points_span(chunk, tile, ROWS, UNIT_BYTES, bytes);                                      \
    }                                                                                                      \
    static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)                      \
    {                                                                                                      \
        CORE##_decode_tile(chunk, tile, ROWS, out);                                                        \
    }                                                                                                      \
    static int64_t value(const struct chunk_view *chunk, uint32_t row)                                     \
    {                                                                                                      \
        return CORE##_value(chunk, row, ROWS);                                                             \
    }                                                                                                      \
    static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count, \
                      int32_t *out)                                                                        \
    {                                                                                                      \
        CORE##_fetch(chunk, tile, rows, count, ROWS, out);                                                 \
    }

#endif
