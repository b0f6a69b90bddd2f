/*
 * rle_for_bp.c: rle-for-bp: the bytes of gpu-rfor (gpu_rfor.h), which a GPU decodes layer by layer:
 * "RLE+FOR+BitPack", with which SIGMOD 2022, section 9.2, compares GPU-RFOR.
 *
 *     pass 1, 2    unpack the bits of the run values, add each block's reference
 *     pass 3, 4    the same for the run lengths
 *     pass 5       a prefix sum over the lengths of a block: the rows at which runs start
 *     pass 6       sets a flag at each of these rows
 *     pass 7       a prefix sum over the flags: the number of each row's run
 *     pass 8       gathers the run values by these numbers
 */
#include "storage/codec/cascade/layers.h"
#include "storage/codec/integer/gpu_rfor.h"

static size_t encode(const struct codec_input *input, uint8_t *out)
{
    return gpu_rfor_encode(CODEC_RLE_FOR_BP, input->values, input->rows, input->value_bytes, out);
}

static uint32_t gpu_passes(const struct chunk_view *chunk)
{
    (void)chunk;
    return 8;
}

/* Run values; run lengths, which become starts; flags, which become numbers. */
static uint64_t gpu_layer_bytes(const struct chunk_view *chunk)
{
    return layers_value_bytes(chunk) + 2 * layers_word_bytes(chunk);
}

const struct codec ISA(codec_rle_for_bp) = {
    .id = CODEC_RLE_FOR_BP,
    .name = "rle-for-bp",
    .family = "cascades",
    .summary = "RLE+FOR+BitPack: the bytes of GPU-RFOR, decoded in 8 passes on a GPU",
    .holds_int64 = true,
    .decode_cycles = 0.7,
    .gpu = {.header = "operators/decode/rle_for_bp_cuda.h",
            .decoder = "decode_rle_for_bp",
            .detail = gpu_rfor_detail,
            .passes = gpu_passes,
            .layer_bytes = gpu_layer_bytes},
    .bound = gpu_rfor_bound,
    .encode = encode,
    .valid = gpu_rfor_valid,
    .tile_span = gpu_rfor_tile_span,
    .decode_tile = gpu_rfor_decode_tile,
    .value = gpu_rfor_value,
};
