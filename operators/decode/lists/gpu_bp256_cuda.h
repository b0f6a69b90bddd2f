/*
 * gpu_bp256_cuda.h: the decoder of gpu-bp256: binary packing in blocks of 256 values (Mallia et al., CIKM 2019).
 * docs/codecs.md draws the bytes, storage/codec/integer/lists/gpu_bp256.c is the host's twin, decode_cuda.h says what a
 * decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LISTS_GPU_BP256_CUDA_H
#define TESSERA_OPERATORS_DECODE_LISTS_GPU_BP256_CUDA_H

#include "operators/decode/lists/gpu_bp_cuda.h"

template <class VALUE> struct decode_gpu_bp256 : gpu_bp_tile<VALUE, 256> {
};

#endif
