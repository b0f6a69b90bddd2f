/*
 * lane_delta_cuda.h: the decoder of lane-delta: differences to the value 32 rows earlier.
 * The bytes are drawn in docs/codecs.md, the host's twin is storage/codec/integer/lane_delta.c, the words of a decoder in
 * decode_cuda.h.
 */
#ifndef TESSERA_OPERATORS_DECODE_LANE_DELTA_CUDA_H
#define TESSERA_OPERATORS_DECODE_LANE_DELTA_CUDA_H

#include "operators/decode/unpack_cuda.h"

struct decode_lane_delta : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 0;
    const uint32_t *words; /* of this lane */
    const uint32_t *firsts;
    uint32_t lane, width, first_width, base, reference;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        const uint4 entry = load(reinterpret_cast<const uint4 *>(chunk.directory) + tile);
        const uint32_t *start = words_at(chunk.data) + (entry.x & 0x3ffffffu) * 8;
        lane = of_lane;
        width = entry.x >> 26;
        first_width = entry.y;
        base = entry.z;
        reference = entry.w;
        words = start + lane;
        firsts = start + (31 * width + 31) / 32 * 32;
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const uint32_t mask = low_bits(width);
        uint32_t value = base + unpack(firsts, lane * first_width, first_width);
        f(0u, (int32_t)value);
#pragma unroll
        for (uint32_t j = 1; j < 32; j++) {
            const uint32_t bit = (j - 1) * width, word = bit / 32, shift = bit % 32;
            const uint32_t low = width ? load(words + word * 32) : 0;
            const uint32_t high = shift + width > 32 ? load(words + word * 32 + 32) : 0;
            value += reference + (__funnelshift_r(low, high, shift) & mask);
            f(j, (int32_t)value);
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
