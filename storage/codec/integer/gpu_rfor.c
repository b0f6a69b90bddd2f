/* gpu_rfor.c: gpu-rfor: run-length encoding within 512 values, as published; gpu_rfor.h draws the bytes. */
#include "storage/codec/integer/gpu_rfor.h"
#include "storage/base/isa.h"

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return gpu_rfor_encode(CODEC_GPU_RFOR, input->values, input->rows, input->value_bytes, out);
}

const struct codec ISA(codec_gpu_rfor) = {
    .id = CODEC_GPU_RFOR,
    .name = "gpu-rfor",
    .family = "gpu",
    .summary = "GPU-RFOR as published: runs within 512 values, values and lengths packed apart",
    .choosers = CHOSEN_BY(CHOOSER_GPU_STAR) | CHOSEN_BY(CHOOSER_SMALLEST),
    .random_access = false,
    .holds_int64 = true,
    .decode_cycles = 0.7,
    .gpu = {.header = "operators/decode/gpu_rfor_cuda.h",
            .decoder = "decode_gpu_rfor",
            .scratch_bytes = 128,
            .detail = gpu_rfor_detail},
    .bound = gpu_rfor_bound,
    .encode = encode,
    .valid = gpu_rfor_valid,
    .tile_span = gpu_rfor_tile_span,
    .decode_tile = gpu_rfor_decode_tile,
    .value = gpu_rfor_value,
};
