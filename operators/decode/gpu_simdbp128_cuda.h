/*
 * gpu_simdbp128_cuda.h: the decoder of gpu-simdbp128: 4096 values packed in 128 lanes. docs/codecs.md draws
 * the bytes, storage/codec/integer/gpu_simdbp128.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_GPU_SIMDBP128_CUDA_H
#define TESSERA_OPERATORS_DECODE_GPU_SIMDBP128_CUDA_H

#include "operators/decode/decode_cuda.h"

/* A block is four tiles. The published decoder gives each of 128 threads all 32 items of its lane. Here a warp
 * has a quarter of each lane's items, and a thread of it four lanes: item j of the warp's lane is item j / 4
 * of the tile's eight in lane j % 4 * 32 + lane. The four have the same word index and shift, and a warp reads
 * whole lines. */
template <class VALUE> struct decode_gpu_simdbp128 : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    static constexpr uint32_t LANES = 128;
    const uint32_t *words; /* of the block */
    uint32_t lane, width, first_bit;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint32_t entry = load(words_at(chunk.directory) + tile / 4);
        words = words_at(chunk.data) + (uint64_t)(entry & 0x1ffffffu) * LANES;
        width = entry >> 25;
        first_bit = tile % 4 * 8 * width;
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
        const uint32_t bit = first_bit + row / LANES * width;
        if constexpr (is_wide<VALUE>)
            return (VALUE)unpack_wide(words + row % LANES, LANES, bit, width);
        if (width == 0)
            return 0;
        const uint32_t *word = words + bit / 32 * LANES + row % LANES;
        const uint32_t high = bit % 32 + width > 32 ? load(word + LANES) : 0;
        return (VALUE)(__funnelshift_r(load(word), high, bit) & low_bits(width));
    }
};

#endif
