/*
 * rank_rle_cuda.h: the decoder of rank-rle: a bit marks each run's start, and its rank finds the run's value.
 * docs/codecs.md draws the bytes, storage/codec/integer/rank_rle.c is the host's twin, decode_cuda.h says
 * what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_RANK_RLE_CUDA_H
#define TESSERA_OPERATORS_DECODE_RANK_RLE_CUDA_H

#include "operators/decode/decode_cuda.h"

template <class VALUE> struct decode_rank_rle : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 256; /* 32 mark words, and the rank before each of them */
    const uint32_t *marks;
    uint32_t lane, width;
    unsigned_of<VALUE> reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        if constexpr (is_wide<VALUE>) {
            const uint4 *entry = reinterpret_cast<const uint4 *>(chunk.directory) + 2 * tile;
            const uint4 place = load(entry), value = load(entry + 1);
            marks = words_at(chunk.data) + place.x * 8ull;
            width = place.y;
            reference = value.x | (uint64_t)value.y << 32;
        } else {
            const uint2 entry = load(reinterpret_cast<const uint2 *>(chunk.directory) + 2 * tile);
            marks = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
            width = entry.x >> 26;
            reference = entry.y;
        }
        lane = of_lane;
    }
    /* The value of the run of item j (row 32j + lane): `mark` is mark word j, `before` the number of runs
     * before that word. */
    __device__ __forceinline__ VALUE run_value(uint32_t of_lane, uint32_t mark, uint32_t before)
    {
        const uint32_t rank = before + __popc(mark & (0xffffffffu >> (31 - of_lane))) - 1;
        return (VALUE)(reference + unpack_value<VALUE>(marks + 32, rank * width, width));
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const uint32_t mark = load(marks + lane), count = __popc(mark);
        const uint32_t before = scan_warp(count, lane) - count;
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, run_value(lane, __shfl_sync(FULL_WARP, mark, j), __shfl_sync(FULL_WARP, before, j)));
    }
    __device__ __forceinline__ void stage(uint32_t *scratch)
    {
        const uint32_t mark = load(marks + lane), count = __popc(mark);
        scratch[lane] = mark;
        scratch[32 + lane] = scan_warp(count, lane) - count;
        __syncwarp();
    }
    __device__ __forceinline__ VALUE item(const uint32_t *scratch, uint32_t row)
    {
        return run_value(row % 32, scratch[row / 32], scratch[32 + row / 32]);
    }
};

#endif
