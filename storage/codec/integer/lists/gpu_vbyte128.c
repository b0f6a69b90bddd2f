/*
 * gpu_vbyte128.c: gpu-vbyte128: bytes with 2-bit lengths before each 128 values, as published (gpu_vbyte.h; Mallia et
 * al., CIKM 2019, section 3.2).
 *
 *     directory    word ends[blocks + 1]: where each block ends in data, in bytes; ends[0] is 0; blocks = tiles * 8
 *     data         the blocks; then SPARE_BYTES zeros
 *     block        128 selectors of 2 bits; 128 values of 1 .. 4 bytes (int64: 1, 2, 4, 8); 1 .. 4 zero bytes
 *
 * The overhead is 2 bits of selector and at most 0.5 bits of end point and padding a value.
 */
#include "storage/codec/integer/lists/gpu_vbyte.h"
#include "storage/base/isa.h"

END_POINTS_CODEC(vbyte, CODEC_GPU_VBYTE128, 128u, VBYTE_UNIT_BYTES)

const struct codec ISA(codec_gpu_vbyte128) = {
    .id = CODEC_GPU_VBYTE128,
    .name = "gpu-vbyte128",
    .family = "posting lists",
    .summary = "GPU-VByte128 as published: 1 to 4 bytes a value, lengths before each 128 values",
    .random_access = true, /* the sum of at most 4 words of 64 bits */
    .holds_int64 = true,
    .decode_cycles = 1,
    .gpu = {.header = "operators/decode/lists/gpu_vbyte128_cuda.h",
            .decoder = "decode_gpu_vbyte128",
            .random_access = true,
            .scratch_bytes = 512},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 32,
    .fetch = fetch,
};
