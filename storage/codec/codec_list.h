/*
 * codec_list.h: the registry: a line for each codec. Adding a codec is this line and its own files
 * (docs/adding-a-codec.md).
 *
 * A codec's place in the list, from 1, is its number in column files. So lines are never moved or removed,
 * and new lines go to the end. `name` gives the descriptor's name, codec_name, and NAME the number's,
 * CODEC_NAME.
 */
#ifndef TESSERA_STORAGE_CODEC_CODEC_LIST_H
#define TESSERA_STORAGE_CODEC_CODEC_LIST_H

/* clang-format off */
#define CODECS(X)                  \
    X(plain, PLAIN)                \
    X(nsf, NSF)                    \
    X(gpu_for, GPU_FOR)            \
    X(gpu_dfor, GPU_DFOR)          \
    X(gpu_rfor, GPU_RFOR)          \
    X(lane_for, LANE_FOR)          \
    X(lane_delta, LANE_DELTA)      \
    X(rank_rle, RANK_RLE)          \
    X(lane_slice, LANE_SLICE)      \
    X(nsv, NSV)                    \
    X(for_bp, FOR_BP)              \
    X(gpu_bp128, GPU_BP128)        \
    X(gpu_bp256, GPU_BP256)        \
    X(gpu_vbyte128, GPU_VBYTE128)  \
    X(gpu_vbyte1024, GPU_VBYTE1024)\
    X(lane_pfor, LANE_PFOR)        \
    X(pfor, PFOR)                  \
    X(pfor_diff, PFOR_DIFF)        \
    X(delta_for_bp, DELTA_FOR_BP)  \
    X(rle_for_bp, RLE_FOR_BP)      \
    X(rle, RLE)                    \
    X(gpu_simdbp128, GPU_SIMDBP128)\
    X(planner, PLANNER)            \
    X(gpu_for_block, GPU_FOR_BLOCK)\
    X(deflate, DEFLATE)            \
    X(orc_rle1, ORC_RLE1)          \
    X(orc_rle2, ORC_RLE2)          \
    X(lane_levels, LANE_LEVELS)    \
    X(alp, ALP)
/* clang-format on */

#endif
