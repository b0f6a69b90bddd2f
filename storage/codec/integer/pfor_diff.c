/*
 * pfor_diff.c: pfor-diff: pfor over the differences of successive values (pfor_block.h draws the bytes;
 * Przymus and Kaczmarski, OTM 2012 Workshops, section 2.1).
 *
 * Difference i of a tile is v[i] - v[i-1] modulo 2^32 (2^64), read as a signed number. The block has the value
 * before row 0, so that a tile is decoded alone: row i is that value plus differences 0 .. i, a prefix sum.
 * The encoder makes difference 0 equal to difference 1, so that it is no exception.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/pfor_block.h"

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    return pfor_bound(rows, value_bytes, true);
}

/* Returns the value before row 0. */
FORCED_INLINE int64_t differences_take(const void *values, const uint32_t value_bytes, void *differences)
{
    for (uint32_t i = 1; i < TILE_ROWS; i++)
        if (value_bytes == 4)
            ((uint32_t *)differences)[i] = ((const uint32_t *)values)[i] - ((const uint32_t *)values)[i - 1];
        else
            ((uint64_t *)differences)[i] = ((const uint64_t *)values)[i] - ((const uint64_t *)values)[i - 1];
    memcpy(differences, (const uint8_t *)differences + value_bytes, value_bytes);
    return (int64_t)((uint64_t)load_value(values, value_bytes) -
                     (uint64_t)load_value(differences, value_bytes));
}

FORCED_INLINE void differences_sum(void *values, const uint32_t value_bytes, int64_t before)
{
    uint64_t sum = (uint64_t)before;
    for (uint32_t i = 0; i < TILE_ROWS; i++)
        if (value_bytes == 4)
            ((uint32_t *)values)[i] = (uint32_t)(sum += ((const uint32_t *)values)[i]);
        else
            ((uint64_t *)values)[i] = sum += ((const uint64_t *)values)[i];
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS], differences[TILE_ROWS];
    const uint32_t tiles = chunk_tiles(rows);
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *const starts = (uint32_t *)chunk_directory(out);
    uint32_t *const words = (uint32_t *)chunk_data(out, pfor_directory_bytes(tiles));
    uint32_t at = 0;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        const int64_t before = differences_take(v, value_bytes, differences);
        starts[tile] = at;
        at += pfor_block_encode(differences, value_bytes, true, before, words + at, &widths);
    }
    starts[tiles] = at;
    return pfor_finish(out, CODEC_PFOR_DIFF, rows, value_bytes, widths, at);
}

CODEC_ENCODE_BOTH

static bool valid(const struct chunk_view *chunk)
{
    return pfor_valid(chunk, true);
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const uint32_t value_bytes,
                                 void *out)
{
    const struct pfor_block block = pfor_block_at(chunk, tile, value_bytes, true);
    pfor_block_decode(&block, value_bytes, out);
    differences_sum(out, value_bytes, block.before);
}

CODEC_DECODE_BOTH

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    _Alignas(64) int64_t tile[TILE_ROWS];
    decode_tile(chunk, row / TILE_ROWS, tile);
    return load_value((const uint8_t *)tile + row % TILE_ROWS * chunk->value_bytes, chunk->value_bytes);
}

const struct codec ISA(codec_pfor_diff) = {
    .id = CODEC_PFOR_DIFF,
    .name = "pfor-diff",
    .family = "patched",
    .summary = "PFOR-DIFF on 1024 values: PFOR over the differences of successive values",
    .choosers = 0,
    .random_access = false,
    .holds_int64 = true,
    .decode_cycles = 1.5,
    .gpu = {.header = "operators/decode/pfor_diff_cuda.h",
            .decoder = "decode_pfor_diff",
            .scratch_bytes = 1024},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = pfor_tile_span,
    .decode_tile = decode_tile,
    .value = value,
};
