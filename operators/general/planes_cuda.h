/*
 * planes_cuda.h: the decoders of lane-for, lane-slice and lane-levels for widths that are known only when a tile is read.
 * Their twins for one column's widths, in operators/decode, keep a tile's words in registers, which need constant numbers.
 */
#ifndef TESSERA_OPERATORS_GENERAL_PLANES_CUDA_H
#define TESSERA_OPERATORS_GENERAL_PLANES_CUDA_H

#include "operators/decode/lane_levels_cuda.h"
#include "operators/decode/lane_slice_cuda.h"
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

/* The lane's 32 items of `count` planes. Plane k is bit k of all items; it is line k, or line count - 1 - k if planes FALL.
 * Eight planes are loaded together and transposed, which gives a byte of each item: two operations an item, and one that
 * puts the byte into its place. */
template <bool FALL> TILE_INLINE void plane_items(const uint32_t *words, uint32_t count, uint32_t *items)
{
#pragma unroll
    for (uint32_t j = 0; j < 32; j++)
        items[j] = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < count; k += 8) {
        uint32_t plane[8], select[4];
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t at = min(k + i, count - 1);
            plane[i] = load(words + (FALL ? count - 1 - at : at) * TILE_LANES);
        }
#pragma unroll
        for (uint32_t i = 0; i < 8; i++)
            plane[i] = k + i < count ? plane[i] : 0;
        transpose_bits<8, 4>(plane);
#pragma unroll
        for (uint32_t byte = 0; byte < 4; byte++)
            select[byte] = (0x3210u & ~(0xfu << k / 2)) | (4 + byte) << k / 2;
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            items[j] = __byte_perm(items[j], plane[j % 8], select[j / 8]);
    }
}

/* Calls f(j, packed) for the lane's 32 items of 1..32 bits, whose lines follow each other. An item that reaches into a second
 * word ends in the first one of the next item, and the last item reaches into none: so each takes one load. */
template <class F> TILE_INLINE void packed_items(const uint32_t *words, uint32_t width, F f)
{
    const uint32_t mask = low_bits(width);
    uint32_t word = load(words);
#pragma unroll
    for (uint32_t j = 0; j < 32; j++) {
        const uint32_t next = j < 31 ? load(words + (j + 1) * width / 32 * TILE_LANES) : 0;
        f(j, __funnelshift_r(word, next, j * width) & mask);
        word = next;
    }
}

/* Decoders whose items() has fewer loads than item() has for each of a tile's rows. */
template <class DECODE> constexpr bool general_by_tile = false;

struct general_lanes : decode_lane_for<int32_t, 0, 32> {
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        if (width > 0) {
            packed_items(words + lane, width,
                         [&](uint32_t j, uint32_t packed) { f(j, (int32_t)(reference + packed)); });
            return;
        }
#pragma unroll 1
        for (uint32_t j = 0; j < 32; j++)
            f(j, (int32_t)reference);
    }
};
template <> constexpr bool general_by_tile<general_lanes> = true;

/* Of 64 bits. Most columns have tiles whose values differ in 32 bits or fewer. */
struct general_wide_lanes : decode_lane_for<int64_t> {
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        if (width > 0 && width <= 32) {
            packed_items(words + lane, width,
                         [&](uint32_t j, uint32_t packed) { f(j, (int64_t)(reference + packed)); });
            return;
        }
#pragma unroll 1
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + lane));
    }
};
template <> constexpr bool general_by_tile<general_wide_lanes> = true;

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
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        uint32_t values[32];
        plane_items<false>(words + lane, width, values);
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, (int32_t)(reference + values[j]));
    }
};

template <> constexpr bool general_by_tile<general_slices> = true;

struct general_wide_slices : decode_lane_slice<int64_t> {
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        if (width <= 32) {
            uint32_t values[32];
            plane_items<false>(words + lane, width, values);
#pragma unroll
            for (uint32_t j = 0; j < 32; j++)
                f(j, (int64_t)(reference + values[j]));
            return;
        }
#pragma unroll 1
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + lane));
    }
};
template <> constexpr bool general_by_tile<general_wide_slices> = true;

struct general_levels : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    levels_place place;
    uint32_t lane, bits, planes, needed;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        place.seek(chunk, tile, bits);
        lane = of_lane;
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
    /* The bits of `needed` of the value. */
    __device__ __forceinline__ int32_t item(const uint32_t *, uint32_t row)
    {
        const uint32_t j = row / 32, rest = bits - planes, rest_mask = low_bits(rest);
        uint32_t value = place.bits_of_all() & needed;
        for (uint32_t wanted = needed & low_bits(place.differs() ? bits : bits - place.apart) & ~rest_mask;
             wanted;) {
            uint32_t bit[PLANES_AT_ONCE], plane[PLANES_AT_ONCE];
#pragma unroll
            for (uint32_t i = 0; i < PLANES_AT_ONCE; i++) {
                bit[i] = wanted ? 31 - __clz(wanted) : bit[0];
                wanted &= ~(1u << bit[i]);
                plane[i] = load(place.line_at(bits - 1 - bit[i]) + row % 32);
            }
#pragma unroll
            for (uint32_t i = 0; i < PLANES_AT_ONCE; i++)
                value |= (plane[i] >> j & 1) << bit[i];
        }
        if (!(needed & rest_mask))
            return (int32_t)value;
        const uint32_t bit = j * rest, shift = bit % 32;
        const uint32_t *word = place.line_at(planes + bit / 32) + row % 32;
        const uint32_t high = shift + rest > 32 ? load(word + TILE_LANES) : 0;
        return (int32_t)(value | (__funnelshift_r(load(word), high, shift) & rest_mask & needed));
    }
    /* All bits, also those that are not in `needed`. */
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const uint32_t rest = (bits - planes) % 64; /* the compiler knows then that its products are small */
        uint32_t values[32];
        if (place.differs()) {
            needed = FULL_WARP;
#pragma unroll 1
            for (uint32_t j = 0; j < 32; j++)
                f(j, item(nullptr, 32 * j + lane));
            return;
        }
        plane_items<true>(place.line_at(place.apart) + lane, planes - place.apart, values);
        if (rest)
            packed_items(place.line_at(planes) + lane, rest, [&](uint32_t j, uint32_t packed) {
                values[j] = __funnelshift_l(0, values[j], rest) | packed; /* 32 bits: there is no plane */
            });
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, (int32_t)(values[j] | place.entry));
    }
};
template <> constexpr bool general_by_tile<general_levels> = true;

#endif
