/*
 * gpu_vbyte128_cuda.h: the decoder of gpu-vbyte128: bytes with 2-bit lengths before each 128 values (Mallia et al.,
 * CIKM 2019). docs/codecs.md draws the bytes, storage/codec/integer/lists/gpu_vbyte128.c is the host's twin, decode_cuda.h
 * says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LISTS_GPU_VBYTE128_CUDA_H
#define TESSERA_OPERATORS_DECODE_LISTS_GPU_VBYTE128_CUDA_H

#include "operators/decode/lists/gpu_vbyte_cuda.h"

template <class VALUE> struct decode_gpu_vbyte128 : gpu_vbyte_tile<VALUE, 128> {
};

#endif
