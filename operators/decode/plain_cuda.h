/*
 * plain_cuda.h: the decoder of plain: the 1024 values of a tile in row order. docs/codecs.md draws the bytes,
 * storage/codec/integer/plain.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_PLAIN_CUDA_H
#define TESSERA_OPERATORS_DECODE_PLAIN_CUDA_H

#include "operators/decode/decode_cuda.h"

template <class VALUE> struct decode_plain : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const VALUE *values;
    uint32_t lane;
    VALUE loaded[32];

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        values = reinterpret_cast<const VALUE *>(chunk.data) + tile * TILE_ROWS;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            loaded[j] = load(values + j * 32 + lane);
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if (!PRELOADED)
            preload();
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, loaded[j]);
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ VALUE item(const uint32_t *, uint32_t row)
    {
        return load(values + row);
    }
};

#endif
