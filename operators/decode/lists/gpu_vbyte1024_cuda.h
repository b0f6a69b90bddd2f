/*
 * gpu_vbyte1024_cuda.h: the decoder of gpu-vbyte1024: bytes with 2-bit lengths before each 1024 values (Mallia et al.,
 * CIKM 2019). docs/codecs.md draws the bytes, storage/codec/integer/lists/gpu_vbyte1024.c is the host's twin, decode_cuda.h
 * says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LISTS_GPU_VBYTE1024_CUDA_H
#define TESSERA_OPERATORS_DECODE_LISTS_GPU_VBYTE1024_CUDA_H

#include "operators/decode/lists/gpu_vbyte_cuda.h"

template <class VALUE> struct decode_gpu_vbyte1024 : gpu_vbyte_tile<VALUE, 1024> {
};

#endif
