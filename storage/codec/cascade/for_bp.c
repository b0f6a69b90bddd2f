/*
 * for_bp.c: for-bp: the bytes of gpu-for (gpu_for.h), which a GPU decodes layer by layer: "FOR+BitPack", with
 * which SIGMOD 2022, section 9.2, compares GPU-FOR.
 *
 *     pass 1    unpacks the bits of all blocks
 *     pass 2    adds each block's reference
 */
#include "storage/codec/cascade/layers.h"
#include "storage/codec/integer/gpu_for.h"

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return gpu_for_encode(CODEC_FOR_BP, input->values, input->rows, input->value_bytes, out);
}

static uint32_t gpu_passes(const struct chunk_view *chunk)
{
    (void)chunk;
    return 2;
}

const struct codec ISA(codec_for_bp) = {
    .id = CODEC_FOR_BP,
    .name = "for-bp",
    .family = "cascades",
    .summary = "FOR+BitPack: the bytes of GPU-FOR, decoded in 2 passes on a GPU",
    .random_access = true,
    .holds_int64 = true,
    .decode_cycles = 0.2,
    .gpu = {.header = "operators/decode/for_bp_cuda.h",
            .decoder = "decode_for_bp",
            .passes = gpu_passes,
            .layer_bytes = layers_value_bytes},
    .bound = gpu_for_bound,
    .encode = encode,
    .valid = gpu_for_valid,
    .tile_span = blocks_tile_span,
    .decode_tile = gpu_for_decode_tile,
    .value = gpu_for_value,
    .fetch_rows = 24,
    .fetch = gpu_for_fetch,
};
