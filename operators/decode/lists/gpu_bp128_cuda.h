/*
 * gpu_bp128_cuda.h: the decoder of gpu-bp128: binary packing in blocks of 128 values (Mallia et al., CIKM 2019).
 * docs/codecs.md draws the bytes, storage/codec/integer/lists/gpu_bp128.c is the host's twin, decode_cuda.h says what a
 * decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LISTS_GPU_BP128_CUDA_H
#define TESSERA_OPERATORS_DECODE_LISTS_GPU_BP128_CUDA_H

#include "operators/decode/lists/gpu_bp_cuda.h"

template <class VALUE> struct decode_gpu_bp128 : gpu_bp_tile<VALUE, 128> {
};

#endif
