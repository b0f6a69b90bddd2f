/*
 * lane_delta_cuda.h: the decoder of lane-delta: differences to the value 32 rows earlier. docs/codecs.md
 * draws the bytes, storage/codec/integer/lane_delta.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_LANE_DELTA_CUDA_H
#define TESSERA_OPERATORS_DECODE_LANE_DELTA_CUDA_H

#include "operators/decode/decode_cuda.h"

template <class VALUE> struct decode_lane_delta : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words; /* of this lane */
    const uint32_t *firsts;
    uint32_t lane, width, first_width;
    unsigned_of<VALUE> base, reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint4 *entries = reinterpret_cast<const uint4 *>(chunk.directory) + tile * value_words<VALUE>;
        const uint4 entry = load(entries);
        const uint32_t *start;
        lane = of_lane;
        if constexpr (is_wide<VALUE>) {
            const uint4 values = load(entries + 1);
            start = words_at(chunk.data) + entry.x * 8ull;
            width = entry.y;
            first_width = entry.z;
            base = values.x | (uint64_t)values.y << 32;
            reference = values.z | (uint64_t)values.w << 32;
        } else {
            start = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
            width = entry.x >> 26;
            first_width = entry.y;
            base = entry.z;
            reference = entry.w;
        }
        words = start + lane;
        firsts = start + (31 * width + 31) / 32 * 32;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const uint32_t mask = low_bits(width);
        unsigned_of<VALUE> value = base + unpack_value<VALUE>(firsts, lane * first_width, first_width);
        f(0u, (VALUE)value);
#pragma unroll
        for (uint32_t j = 1; j < 32; j++) {
            const uint32_t bit = (j - 1) * width, word = bit / 32, shift = bit % 32;
            if constexpr (is_wide<VALUE>) {
                value += reference + unpack_wide(words, TILE_LANES, bit, width);
            } else {
                const uint32_t low = width ? load(words + word * 32) : 0;
                const uint32_t high = shift + width > 32 ? load(words + word * 32 + 32) : 0;
                value += reference + (__funnelshift_r(low, high, shift) & mask);
            }
            f(j, (VALUE)value);
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
