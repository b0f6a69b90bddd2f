/*
 * gpu_bp256.c: gpu-bp256: binary packing in blocks of 256 values, as published (gpu_bp.h; Mallia et al., CIKM 2019,
 * section 3.1).
 *
 *     directory    word ends[blocks + 1]: where each block ends in data, in words; ends[0] is 0; blocks = tiles * 4
 *     data         the blocks, each 256 values packed in a row; then SPARE_BYTES zeros
 *
 * A block's width is its length in words divided by 8. The end points take 0.125 bits a value.
 */
#include "storage/codec/integer/lists/gpu_bp.h"
#include "storage/base/isa.h"

#define BLOCK_ROWS 256u

static size_t bound(uint32_t rows, uint32_t value_bytes)
{
    return bp_bound(rows, value_bytes, BLOCK_ROWS);
}

static size_t encode(const void *values, uint32_t rows, uint32_t value_bytes, uint8_t *out)
{
    return bp_encode(values, rows, value_bytes, CODEC_GPU_BP256, BLOCK_ROWS, out);
}

static bool valid(const struct chunk_view *chunk)
{
    return bp_valid(chunk, BLOCK_ROWS);
}

static const uint8_t *tile_span(const struct chunk_view *chunk, uint32_t tile, uint32_t *bytes)
{
    return end_points_span(chunk, tile, BLOCK_ROWS, BP_UNIT_BYTES, bytes);
}

static void decode_tile(const struct chunk_view *chunk, uint32_t tile, void *out)
{
    bp_decode_tile(chunk, tile, BLOCK_ROWS, out);
}

static int64_t value(const struct chunk_view *chunk, uint32_t row)
{
    return bp_value(chunk, row, BLOCK_ROWS);
}

static void fetch(const struct chunk_view *chunk, uint32_t tile, const uint16_t *rows, uint32_t count,
                  int32_t *out)
{
    bp_fetch(chunk, tile, rows, count, BLOCK_ROWS, out);
}

const struct codec ISA(codec_gpu_bp256) = {
    .id = CODEC_GPU_BP256,
    .name = "gpu-bp256",
    .family = "posting lists",
    .summary = "GPU-BP256 as published: one width per 256 values, found from the block's length",
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.2,
    .gpu = {.header = "operators/decode/lists/gpu_bp256_cuda.h",
            .decoder = "decode_gpu_bp256",
            .random_access = true},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 24,
    .fetch = fetch,
};
