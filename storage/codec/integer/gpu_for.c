/*
 * gpu_for.c: gpu-for: frame of reference per 128 values, as published (gpu_block.h).
 *
 *     directory    word starts[blocks + 1]: where each block begins in data, in words; blocks = tiles * 8
 *     data         the blocks, one after the other; starts[blocks] is their end; then SPARE_BYTES zeros
 *
 * The overhead on uniform data is 32 bits of reference, 32 of widths and 32 of start for 128 values: 0.75
 * bits a value.
 */
#include "storage/codec/integer/gpu_block.h"
#include "storage/base/isa.h"

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    const uint64_t blocks = (uint64_t)chunk_tiles(rows) * BLOCKS_PER_TILE;
    return chunk_size(blocks_directory_bytes(rows), blocks * block_words_bound(value_bytes) * 4 + SPARE_BYTES,
                      0);
}

FORCED_INLINE size_t encode_values(const void *values, uint32_t rows, const uint32_t value_bytes,
                                   uint8_t *out)
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
    return blocks_finish(out, CODEC_GPU_FOR, rows, value_bytes, widths, at);
}

static size_t encode(const void *values, uint32_t rows, uint32_t value_bytes, uint8_t *out)
{
    return value_bytes == 4 ? encode_values(values, rows, 4, out) : encode_values(values, rows, 8, out);
}

static bool valid(const struct chunk_view *chunk)
{
    return blocks_valid(chunk, 0);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    for (uint32_t block = 0; block < BLOCKS_PER_TILE; block++) {
        const uint32_t *const words = block_at(chunk, tile * BLOCKS_PER_TILE + block);
        if (chunk->value_bytes == 4)
            block_decode(words, 4, (uint32_t *)out + block * BLOCK_ROWS);
        else
            block_decode(words, 8, (uint64_t *)out + block * BLOCK_ROWS);
    }
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    return chunk_value(block_value(block_at(chunk, row / BLOCK_ROWS), chunk->value_bytes, row % BLOCK_ROWS),
                       chunk->value_bytes);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[rows[i]] = (int32_t)value(chunk, tile * TILE_ROWS + rows[i]);
}

const struct codec ISA(codec_gpu_for) = {
    .id = CODEC_GPU_FOR,
    .name = "gpu-for",
    .family = "gpu",
    .summary = "GPU-FOR as published: frame of reference per 128 values",
    .choosers = CHOSEN_BY(CHOOSER_GPU_STAR) | CHOSEN_BY(CHOOSER_SMALLEST) | CHOSEN_BY(CHOOSER_AUTO),
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.2,
    .gpu = {.header = "operators/decode/gpu_for_cuda.h", .decoder = "decode_gpu_for", .random_access = true},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = blocks_tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 24,
    .fetch = fetch,
};
