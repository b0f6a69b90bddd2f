/*
 * nsv_cuda.h: the decoder of nsv: unsigned values of 1 to 4 bytes (int64: 1, 2, 4 or 8), with their lengths
 * apart. docs/codecs.md draws the bytes, storage/codec/integer/nsv.c is the host's twin, decode_cuda.h
 * says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_NSV_CUDA_H
#define TESSERA_OPERATORS_DECODE_NSV_CUDA_H

#include "operators/decode/selectors_cuda.h"

/* Items whose words are loaded before the first of them is used, so that their loads are in flight together. The loop over
 * such batches is not unrolled: unrolled, a kernel that sums has 10,000 instructions and spills registers. */
#define NSV_BATCH 4u

/* Decodes `count` items of 1 to 4 bytes (int64: 1, 2, 4 or 8): calls f(j, value) for item 32 * j + lane. Each lane has
 * the selectors of items 32 * lane .. 32 * lane + 31, 64 bits. A prefix sum of their bytes over the warp says where each
 * of these groups begins, from byte `start` of `words` on; where an item begins in its group follows from the selectors
 * before it. FULL: count is 1024. */
template <class VALUE, bool FULL, class F>
TILE_INLINE void nsv_items(const uint32_t *words, uint32_t start, uint2 selectors, uint32_t count,
                           uint32_t lane, F f)
{
    const uint32_t bytes =
        selector_bytes<VALUE>(selectors.x, SELECTOR_ROWS) + selector_bytes<VALUE>(selectors.y, SELECTOR_ROWS);
    const uint32_t group = start + scan_warp(bytes, lane) - bytes;
    const uint32_t in_x = min(lane, SELECTOR_ROWS), in_y = lane - in_x;
    const uint32_t before_x = low_bits(2 * in_x), before_y = low_bits(2 * in_y);
    auto find = [&](uint32_t j, uint32_t &at, uint32_t &selector) {
        const uint32_t x = __shfl_sync(FULL_WARP, selectors.x, j), y = __shfl_sync(FULL_WARP, selectors.y, j);
        at = __shfl_sync(FULL_WARP, group, j) + selector_bytes<VALUE>(x & before_x, in_x) +
             selector_bytes<VALUE>(y & before_y, in_y);
        selector = (lane < SELECTOR_ROWS ? x : y) >> 2 * (lane % SELECTOR_ROWS) & 3;
    };
    if constexpr (is_wide<VALUE>) {
        for (uint32_t j = 0; j < 32; j++) {
            uint32_t at, selector;
            find(j, at, selector);
            if (FULL || 32 * j + lane < count)
                f(j, unpack_wide(words + at / 4, 1, at % 4 * 8, 8u << selector));
        }
        return;
    }
#pragma unroll 1
    for (uint32_t first = 0; first < 32; first += NSV_BATCH) {
        uint32_t at[NSV_BATCH], selector[NSV_BATCH], low[NSV_BATCH], high[NSV_BATCH];
#pragma unroll
        for (uint32_t i = 0; i < NSV_BATCH; i++) {
            find(first + i, at[i], selector[i]);
            const bool wanted = FULL || 32 * (first + i) + lane < count;
            const uint32_t *word = words + at[i] / 4;
            low[i] = wanted ? load(word) : 0;
            high[i] = wanted ? load(word + 1) : 0;
        }
#pragma unroll
        for (uint32_t i = 0; i < NSV_BATCH; i++)
            if (FULL || 32 * (first + i) + lane < count)
                f(first + i,
                  __funnelshift_r(low[i], high[i], at[i] % 4 * 8) & FULL_WARP >> (24 - 8 * selector[i]));
    }
}

template <class VALUE> struct decode_nsv : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words; /* of the data section */
    uint32_t start;        /* of the tile there, in bytes */
    uint2 lengths;         /* of rows 32 * lane .. 32 * lane + 31 */
    uint32_t lane;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        words = words_at(chunk.data);
        start = load(words_at(chunk.directory) + tile);
        lengths = load(reinterpret_cast<const uint2 *>(chunk.auxiliary) + tile * TILE_LANES + of_lane);
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        nsv_items<VALUE, true>(words, start, lengths, TILE_ROWS, lane,
                               [&](uint32_t j, unsigned_of<VALUE> value) { f(j, (VALUE)value); });
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
