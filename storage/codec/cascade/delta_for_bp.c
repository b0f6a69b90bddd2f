/*
 * delta_for_bp.c: delta-for-bp: the bytes of gpu-dfor (gpu_dfor.h), which a GPU decodes layer by layer:
 * "Delta+FOR+BitPack", with which SIGMOD 2022, section 9.2, compares GPU-DFOR.
 *
 *     pass 1    unpacks the bits of all blocks
 *     pass 2    adds each block's reference
 *     pass 3    adds up the differences of each group
 */
#include "storage/codec/cascade/layers.h"
#include "storage/codec/integer/gpu_dfor.h"

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return gpu_dfor_encode(CODEC_DELTA_FOR_BP, input->values, input->rows, input->value_bytes, out);
}

static uint32_t gpu_passes(const struct chunk_view *chunk)
{
    (void)chunk;
    return 3;
}

const struct codec ISA(codec_delta_for_bp) = {
    .id = CODEC_DELTA_FOR_BP,
    .name = "delta-for-bp",
    .family = "cascades",
    .summary = "Delta+FOR+BitPack: the bytes of GPU-DFOR, decoded in 3 passes on a GPU",
    .holds_int64 = true,
    .decode_cycles = 1.4,
    .gpu = {.header = "operators/decode/delta_for_bp_cuda.h",
            .decoder = "decode_delta_for_bp",
            .passes = gpu_passes,
            .layer_bytes = layers_value_bytes},
    .bound = gpu_dfor_bound,
    .encode = encode,
    .valid = gpu_dfor_valid,
    .tile_span = blocks_tile_span,
    .decode_tile = gpu_dfor_decode_tile,
    .value = gpu_dfor_value,
};
