/*
 * gpu_bp128.c: gpu-bp128: binary packing in blocks of 128 values, as published (gpu_bp.h; Mallia et al., CIKM 2019,
 * section 3.1).
 *
 *     directory    word ends[blocks + 1]: where each block ends in data, in words; ends[0] is 0; blocks = tiles * 8
 *     data         the blocks, each 128 values packed in a row; then SPARE_BYTES zeros
 *
 * A block's width is its length in words divided by 4. The end points take 0.25 bits a value.
 */
#include "storage/codec/integer/lists/gpu_bp.h"
#include "storage/base/isa.h"

END_POINTS_CODEC(bp, CODEC_GPU_BP128, 128u, BP_UNIT_BYTES)

const struct codec ISA(codec_gpu_bp128) = {
    .id = CODEC_GPU_BP128,
    .name = "gpu-bp128",
    .family = "posting lists",
    .summary = "GPU-BP128 as published: one width per 128 values, found from the block's length",
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.2,
    .gpu = {.header = "operators/decode/lists/gpu_bp128_cuda.h",
            .decoder = "decode_gpu_bp128",
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
