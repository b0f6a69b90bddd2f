/*
 * codecs.h: the codecs that the general kernel decodes, in columns of 32 and 64 bits; lane-levels, too, which holds keys of 32
 * bits. Columns in other codecs are not covered (engine/gpu/general/covers.c). This header is C and CUDA.
 */
#ifndef TESSERA_OPERATORS_GENERAL_CODECS_H
#define TESSERA_OPERATORS_GENERAL_CODECS_H

/* clang-format off: one line each */
#define GENERAL_CODECS(X) \
    X(PLAIN)              \
    X(NSF)                \
    X(GPU_FOR)            \
    X(LANE_FOR)           \
    X(LANE_DELTA)         \
    X(LANE_SLICE)         \
    X(LANE_PFOR)          \
    X(RANK_RLE)           \
    X(ALP)
/* clang-format on */

#ifdef TILE_CUDA
#include "storage/codec/codec_list.h"
#define GENERAL_CODEC_NUMBER_(name, NAME) CODEC_##NAME,
enum general_codec { CODEC_NONE, CODECS(GENERAL_CODEC_NUMBER_) };
#undef GENERAL_CODEC_NUMBER_
#endif

#endif
