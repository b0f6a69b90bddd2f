/*
 * planes_cuda.h: the decoders of lane-slice and lane-levels for widths that are known only when a tile is read. Their twins
 * for one column's widths, in operators/decode, keep planes in registers, which need constant numbers.
 */
#ifndef TESSERA_OPERATORS_GENERAL_PLANES_CUDA_H
#define TESSERA_OPERATORS_GENERAL_PLANES_CUDA_H

#include "operators/decode/lane_for_cuda.h"
#include "operators/general/program.h"

/* Planes are loaded in groups, so that the loads of a group are in flight at once. A group that is not full loads its last or
 * first plane again instead of fewer: a branch between two loads would make the second one wait for the first. */
#define PLANES_AT_ONCE 4u

/* Calls f(k, word) for each plane k below `count` of the lane, whose word is at words + k * 32. */
template <class F> TILE_INLINE void each_plane(const uint32_t *words, uint32_t count, F f)
{
    for (uint32_t k = 0; k < count; k += PLANES_AT_ONCE) {
        uint32_t plane[PLANES_AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < PLANES_AT_ONCE; i++)
            plane[i] = load(words + min(k + i, count - 1) * TILE_LANES);
#pragma unroll
        for (uint32_t i = 0; i < PLANES_AT_ONCE; i++)
            if (k + i < count)
                f(k + i, plane[i]);
    }
}

struct general_slices : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr bool RANGES = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words;
    uint32_t lane, width, reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint2 entry = lane_entry<0, false>(chunk, tile);
        words = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
        width = entry.x >> 26;
        reference = entry.y;
        lane = of_lane;
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    /* As decode_lane_slice. */
    __device__ __forceinline__ uint32_t in_range(int32_t low, int32_t high)
    {
        const int64_t most = (int64_t)low_bits(width), first = (int64_t)low - (int32_t)reference,
                      last = (int64_t)high - (int32_t)reference;
        if (last < 0 || first > most)
            return 0;
        const uint32_t from = first < 0 ? 0u : (uint32_t)first,
                       to = last > most ? (uint32_t)most : (uint32_t)last;
        uint32_t above = FULL_WARP, below = FULL_WARP;
        each_plane(words + lane, width, [&](uint32_t k, uint32_t plane) {
            const uint32_t from_bit = 0u - (from >> k & 1), to_bit = 0u - (to >> k & 1);
            above = (from_bit & plane & above) | (~from_bit & (plane | above));
            below = (to_bit & (~plane | below)) | (~to_bit & ~plane & below);
        });
        return above & below;
    }
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        uint32_t value = 0;
        each_plane(words + row % 32, width,
                   [&](uint32_t k, uint32_t plane) { value |= (plane >> row / 32 & 1) << k; });
        return (int32_t)(reference + value);
    }
};

struct general_levels : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words;
    uint32_t lane, bits, planes, needed;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        words = words_at(chunk.data) + tile * (bits * TILE_LANES);
        lane = of_lane;
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    /* The bits of `needed` of the value. */
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        const uint32_t *const mine = words + row % 32;
        const uint32_t j = row / 32, rest = bits - planes, rest_mask = low_bits(rest);
        uint32_t value = 0;
        for (uint32_t wanted = needed & low_bits(bits) & ~rest_mask; wanted;) {
            uint32_t bit[PLANES_AT_ONCE], plane[PLANES_AT_ONCE];
#pragma unroll
            for (uint32_t i = 0; i < PLANES_AT_ONCE; i++) {
                bit[i] = wanted ? 31 - __clz(wanted) : bit[0];
                wanted &= ~(1u << bit[i]);
                plane[i] = load(mine + (bits - 1 - bit[i]) * TILE_LANES);
            }
#pragma unroll
            for (uint32_t i = 0; i < PLANES_AT_ONCE; i++)
                value |= (plane[i] >> j & 1) << bit[i];
        }
        if (!(needed & rest_mask))
            return (int32_t)value;
        const uint32_t bit = j * rest, shift = bit % 32;
        const uint32_t *word = mine + (planes + bit / 32) * TILE_LANES;
        const uint32_t high = shift + rest > 32 ? load(word + TILE_LANES) : 0;
        return (int32_t)(value | (__funnelshift_r(load(word), high, shift) & rest_mask & needed));
    }
};

#endif
