/* gpu_dfor.c: gpu-dfor: deltas within groups of D = 4 blocks, as published; gpu_dfor.h draws the bytes. */
#include "storage/codec/integer/gpu_dfor.h"
#include "storage/base/isa.h"

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return gpu_dfor_encode(CODEC_GPU_DFOR, input->values, input->rows, input->value_bytes, out);
}

const struct codec ISA(codec_gpu_dfor) = {
    .id = CODEC_GPU_DFOR,
    .name = "gpu-dfor",
    .family = "gpu",
    .summary = "GPU-DFOR as published: deltas within 512 values, packed per 128",
    .choosers = CHOSEN_BY(CHOOSER_GPU_STAR) | CHOSEN_BY(CHOOSER_SMALLEST),
    .random_access = false,
    .holds_int64 = true,
    .decode_cycles = 1.4,
    .gpu = {.header = "operators/decode/gpu_dfor_cuda.h", .decoder = "decode_gpu_dfor"},
    .bound = gpu_dfor_bound,
    .encode = encode,
    .valid = gpu_dfor_valid,
    .tile_span = blocks_tile_span,
    .decode_tile = gpu_dfor_decode_tile,
    .value = gpu_dfor_value,
};
