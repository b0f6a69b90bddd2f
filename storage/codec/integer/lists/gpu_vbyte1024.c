/*
 * gpu_vbyte1024.c: gpu-vbyte1024: bytes with 2-bit lengths before each 1024 values, as published (gpu_vbyte.h; Mallia et
 * al., CIKM 2019, section 3.2).
 *
 *     directory    word ends[blocks + 1]: where each block ends in data, in bytes; ends[0] is 0; blocks = tiles
 *     data         the blocks; then SPARE_BYTES zeros
 *     block        1024 selectors of 2 bits; 1024 values of 1 .. 4 bytes (int64: 1, 2, 4, 8); 1 .. 4 zero bytes
 *
 * The overhead is 2 bits of selector and at most 0.0625 bits of end point and padding a value.
 */
#include "storage/codec/integer/lists/gpu_vbyte.h"
#include "storage/base/isa.h"

END_POINTS_CODEC(vbyte, CODEC_GPU_VBYTE1024, 1024u, VBYTE_UNIT_BYTES)

const struct codec ISA(codec_gpu_vbyte1024) = {
    .id = CODEC_GPU_VBYTE1024,
    .name = "gpu-vbyte1024",
    .family = "posting lists",
    .summary = "GPU-VByte1024 as published: 1 to 4 bytes a value, lengths before each 1024 values",
    .random_access = false, /* the sum of up to 32 words of 64 bits */
    .holds_int64 = true,
    .decode_cycles = 1,
    .gpu = {.header = "operators/decode/lists/gpu_vbyte1024_cuda.h",
            .decoder = "decode_gpu_vbyte1024",
            .random_access = true,
            .scratch_bytes = 512},
    .bound = bound,
    .encode = encode,
    .valid = valid,
    .tile_span = tile_span,
    .decode_tile = decode_tile,
    .value = value,
    .fetch_rows = 10,
    .fetch = fetch,
};
