/* gpu_for.c: gpu-for: frame of reference per 128 values, as published; gpu_for.h draws the bytes. */
#include "storage/codec/integer/gpu_for.h"
#include "storage/base/isa.h"

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return gpu_for_encode(CODEC_GPU_FOR, input->values, input->rows, input->value_bytes, out);
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
    .bound = gpu_for_bound,
    .encode = encode,
    .valid = gpu_for_valid,
    .tile_span = blocks_tile_span,
    .decode_tile = gpu_for_decode_tile,
    .value = gpu_for_value,
    .fetch_rows = 24,
    .fetch = gpu_for_fetch,
};
