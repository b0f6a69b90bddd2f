/*
 * lane_slice_cuda.h: the decoder of lane-slice: lane-for as bit planes. docs/codecs.md draws the bytes,
 * storage/codec/integer/lane_slice.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LANE_SLICE_CUDA_H
#define TESSERA_OPERATORS_DECODE_LANE_SLICE_CUDA_H

#include "operators/decode/lane_for_cuda.h"

/* Line k of a tile is bit plane k: word l has bit k of lane l's 32 items. A range is tested on the planes,
 * with one logical operation a plane and bound for 32 rows (BitWeaving/V, Li and Patel, SIGMOD 2013). */
template <class VALUE, uint32_t LOW = 0, uint32_t HIGH = 0, bool REGULAR = false> struct decode_lane_slice;

template <uint32_t LOW, uint32_t HIGH, bool REGULAR>
struct decode_lane_slice<int32_t, LOW, HIGH, REGULAR> : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr bool RANGES = true;
    static constexpr bool SLICED = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words;
    uint32_t lane, width, reference;
    uint32_t planes[HIGH + 1];

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint2 entry = lane_entry<LOW, REGULAR>(chunk, tile);
        words = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
        width = LOW == HIGH ? LOW : entry.x >> 26;
        reference = entry.y;
        lane = of_lane;
    }
    __device__ __forceinline__ void preload()
    {
#pragma unroll
        for (uint32_t k = 0; k < HIGH; k++)
            planes[k] = k < LOW || k < width ? load(words + k * 32 + lane) : 0;
    }
    /* Bit j is set if low <= value of item j <= high. It goes from the least significant plane up: `above`
     * tells whether the bits so far are at least the lower bound's, `below` whether they are at most the
     * upper bound's. */
    template <bool PRELOADED> __device__ __forceinline__ uint32_t in_range(int32_t low, int32_t high)
    {
        if (!PRELOADED)
            preload();
        const int64_t most = (int64_t)low_bits(width), first = (int64_t)low - (int32_t)reference,
                      last = (int64_t)high - (int32_t)reference;
        if (last < 0 || first > most)
            return 0;
        const uint32_t from = first < 0 ? 0u : (uint32_t)first,
                       to = last > most ? (uint32_t)most : (uint32_t)last;
        uint32_t above = FULL_WARP, below = FULL_WARP;
#pragma unroll
        for (uint32_t k = 0; k < HIGH; k++) {
            const uint32_t from_bit = (uint32_t)((int32_t)(from << (31 - k)) >> 31);
            const uint32_t to_bit = (uint32_t)((int32_t)(to << (31 - k)) >> 31);
            above = (from_bit & planes[k] & above) | (~from_bit & (planes[k] | above));
            below = (to_bit & (~planes[k] | below)) | (~to_bit & ~planes[k] & below);
        }
        return above & below;
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if (!PRELOADED)
            preload();
#pragma unroll
        for (uint32_t j = 0; j < 32; j++) {
            uint32_t value = 0;
#pragma unroll
            for (uint32_t k = 0; k < HIGH; k++)
                value |= (planes[k] >> j & 1) << k;
            f(j, (int32_t)(reference + value));
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        uint32_t value = 0;
#pragma unroll
        for (uint32_t k = 0; k < HIGH; k++)
            if (k < LOW || k < width)
                value |= (load(words + k * 32 + row % 32) >> row / 32 & 1) << k;
        return (int32_t)(reference + value);
    }
    __device__ __forceinline__ int32_t own(uint32_t row) const
    {
        uint32_t value = 0;
#pragma unroll
        for (uint32_t k = HIGH; k-- > 0;)
            value = __funnelshift_l(planes[k] << (31 - row / 32), value, 1);
        return (int32_t)(reference + value);
    }
};

/* 64-bit values have a plane for each bit as above, up to 64. */
template <> struct decode_lane_slice<int64_t> : decode_lane_wide {
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + lane));
    }
    __device__ __forceinline__ int64_t item(const uint32_t *, uint32_t row)
    {
        uint64_t value = 0;
        for (uint32_t k = 0; k < width; k++)
            value |= (uint64_t)(load(words + k * TILE_LANES + row % 32) >> row / 32 & 1) << k;
        return (int64_t)(reference + value);
    }
};

#endif
