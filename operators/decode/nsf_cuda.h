/*
 * nsf_cuda.h: the decoder of nsf: unsigned values of 1, 2, 4 or 8 bytes in row order. docs/codecs.md draws
 * the bytes, storage/codec/integer/nsf.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_NSF_CUDA_H
#define TESSERA_OPERATORS_DECODE_NSF_CUDA_H

#include "operators/decode/decode_cuda.h"

/* TYPE: unsigned char, short, int or long long, by the width of all chunks; void if chunks have different
 * widths. */
template <class VALUE, class TYPE> struct decode_nsf : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const TYPE *values;
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        values = reinterpret_cast<const TYPE *>(chunk.data) + tile * TILE_ROWS;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        TYPE loaded[32];
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            loaded[j] = load(values + j * 32 + lane);
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, (VALUE)loaded[j]);
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ VALUE item(const uint32_t *, uint32_t row)
    {
        return (VALUE)load(values + row);
    }
};

template <class VALUE> struct decode_nsf<VALUE, void> : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    uint64_t data;
    uint32_t lane, bytes;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        bytes = (uint32_t)chunk.detail;
        data = chunk.data + (uint64_t)(tile * TILE_ROWS) * bytes;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + lane));
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ VALUE item(const uint32_t *, uint32_t row)
    {
        const uint64_t address = data + (uint64_t)row * bytes;
        if (bytes == 1)
            return load(reinterpret_cast<const unsigned char *>(address));
        if (bytes == 2)
            return load(reinterpret_cast<const unsigned short *>(address));
        if constexpr (is_wide<VALUE>)
            if (bytes == 8)
                return (VALUE)load(reinterpret_cast<const unsigned long long *>(address));
        return (VALUE)load(words_at(address));
    }
};

#endif
