/*
 * pfor.c: pfor: a frame of reference for 1024 values, with outliers as exceptions (pfor_block.h draws the
 * bytes; Przymus and Kaczmarski, OTM 2012 Workshops, section 2.1).
 *
 * A block is one tile. Its width is the one that gives it the fewest bytes. Any row can be read alone: its
 * code, and a search in the offsets.
 */
#include "storage/base/isa.h"
#include "storage/codec/integer/pfor_block.h"

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    return pfor_bound(rows, value_bytes, false);
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
{
    _Alignas(64) int64_t last[TILE_ROWS];
    const uint32_t tiles = chunk_tiles(rows);
    struct width_range widths = {UINT32_MAX, 0};
    uint32_t *const starts = (uint32_t *)chunk_directory(out);
    uint32_t *const words = (uint32_t *)chunk_data(out, pfor_directory_bytes(tiles));
    uint32_t at = 0;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const void *const v = chunk_tile_values(values, rows, value_bytes, tile, last);
        starts[tile] = at;
        at += pfor_block_encode(v, value_bytes, false, 0, words + at, &widths);
    }
    starts[tiles] = at;
    return pfor_finish(out, CODEC_PFOR, rows, value_bytes, widths, at);
}

CODEC_ENCODE_BOTH

static bool valid(const struct chunk_view *chunk)
{
    return pfor_valid(chunk, false);
}

FORCED_INLINE void decode_values(const struct chunk_view *chunk, uint32_t tile, const uint32_t value_bytes,
                                 void *out)
{
    const struct pfor_block block = pfor_block_at(chunk, tile, value_bytes, false);
    pfor_block_decode(&block, value_bytes, out);
}

CODEC_DECODE_BOTH

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    const uint32_t in_tile = row % TILE_ROWS;
    const struct pfor_block block = pfor_block_at(chunk, row / TILE_ROWS, chunk->value_bytes, false);
    const uint64_t code = bits_fetch(block.codes, (uint64_t)in_tile * block.width, block.width);
    return chunk_value(code + patches_find(&block.list, in_tile) + (uint64_t)block.reference,
                       chunk->value_bytes);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    const struct pfor_block block = pfor_block_at(chunk, tile, 4, false);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t code = bits_fetch(block.codes, (uint64_t)rows[i] * block.width, block.width);
        out[rows[i]] =
            (int32_t)(uint32_t)(code + patches_find(&block.list, rows[i]) + (uint64_t)block.reference);
    }
}

const struct codec ISA(codec_pfor) = {
    .id = CODEC_PFOR,
    .name = "pfor",
    .family = "patched",
    .summary = "PFOR on 1024 values: packed codes, offsets and remainders of exceptions",
    .choosers = 0,
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.4,
    .gpu = {.header = "operators/decode/pfor_cuda.h",
            .decoder = "decode_pfor",
            .random_access = true,
            .scratch_bytes = 1280},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = pfor_tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 8,
    .fetch = fetch,
};
