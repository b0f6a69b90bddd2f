/*
 * gpu_for_block_cuda.h: the decoder of gpu-for-block: GPU-FOR without miniblocks, one width for 128 values.
 * docs/codecs.md draws the bytes, storage/codec/integer/gpu_for_block.c is the host's twin, decode_cuda.h
 * says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_GPU_FOR_BLOCK_CUDA_H
#define TESSERA_OPERATORS_DECODE_GPU_FOR_BLOCK_CUDA_H

#include "operators/decode/decode_cuda.h"

template <class VALUE> struct decode_gpu_for_block : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    static constexpr uint32_t HEADER = value_words<VALUE> + 1; /* words of reference and width */
    const uint32_t *data, *starts;                             /* of this tile's 8 blocks */
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
    /* All starts are loaded at once, then all headers, then the packed words. Item m of a block is 32 values
     * after item m - 1, which are `width` words. */
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const uint4 first = load(reinterpret_cast<const uint4 *>(starts)),
                    second = load(reinterpret_cast<const uint4 *>(starts) + 1);
        const uint32_t block[8] = {first.x,  first.y,  first.z,  first.w,
                                   second.x, second.y, second.z, second.w};
        unsigned_of<VALUE> reference[8];
        uint32_t width[8];
#pragma unroll
        for (uint32_t b = 0; b < 8; b++) {
            reference[b] = load_value<VALUE>(data + block[b]);
            width[b] = load(data + block[b] + value_words<VALUE>);
        }
#pragma unroll
        for (uint32_t b = 0; b < 8; b++) {
#pragma unroll
            for (uint32_t m = 0; m < 4; m++)
                f(4 * b + m,
                  (VALUE)(reference[b] + unpack_value<VALUE>(data + block[b] + HEADER + m * width[b],
                                                             lane * width[b], width[b])));
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ VALUE item(const uint32_t *, uint32_t row)
    {
        const uint32_t *block = data + load(starts + row / 128);
        const uint32_t width = load(block + value_words<VALUE>);
        return (VALUE)(load_value<VALUE>(block) +
                       unpack_value<VALUE>(block + HEADER, row % 128 * width, width));
    }
};

#endif
