/*
 * gpu_dfor_cuda.h: the decoder of gpu-dfor: differences within groups of four GPU-FOR blocks. docs/codecs.md
 * draws the bytes, storage/codec/integer/gpu_dfor.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_GPU_DFOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_GPU_DFOR_CUDA_H

#include "operators/decode/gpu_for_cuda.h"

template <class VALUE> struct decode_gpu_dfor : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *data, *starts;
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        starts = words_at(chunk.directory) + tile * 8;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        /* A group's first value is before its first block; its first difference is 0. */
        typedef unsigned_of<VALUE> bits;
        const bits first[2] = {load_value<VALUE>(data + load(starts) - value_words<VALUE>),
                               load_value<VALUE>(data + load(starts + 4) - value_words<VALUE>)};
        bits value = 0; /* the value of the row before the lane's next item */
        gpu_tile_items<VALUE>(data, starts, lane, [&](uint32_t j, bits reference, bits packed) {
            value = j % 16 == 0 ? first[j / 16] : value;
            const bits own = value + scan_values<bits>(reference + packed, lane);
            f(j, (VALUE)own);
            value = __shfl_sync(FULL_WARP, own, 31);
        });
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
