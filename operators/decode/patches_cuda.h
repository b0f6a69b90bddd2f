/*
 * patches_cuda.h: a tile's list of exceptions, for the decoders of lane-pfor, pfor and pfor-diff.
 * storage/codec/integer/patches.h is the host's twin.
 */
#ifndef TESSERA_OPERATORS_DECODE_PATCHES_CUDA_H
#define TESSERA_OPERATORS_DECODE_PATCHES_CUDA_H

#include "operators/decode/decode_cuda.h"

template <class VALUE> struct patches {
    uint32_t count;
    uint32_t next; /* the first exception that each_below() has not visited */
    uint32_t position_reference, position_width;
    uint32_t high_width;
    uint32_t shift;          /* the width of the codes */
    unsigned_of<VALUE> high; /* the least high part */
    const uint32_t *words;   /* the positions */
    const uint32_t *highs;   /* the high parts */

    /* Where the high parts begin, when all numbers are set. */
    __device__ __forceinline__ void find_highs()
    {
        highs = words + (count * position_width + 31) / 32;
    }
    __device__ __forceinline__ uint32_t position(uint32_t index) const
    {
        return position_reference + unpack(words, index * position_width, position_width);
    }
    /* What is added to the code of exception `index`. */
    __device__ __forceinline__ unsigned_of<VALUE> value(uint32_t index) const
    {
        return (high + unpack_value<VALUE>(highs, index * high_width, high_width)) << shift;
    }
    /* Calls f(index, position) for each exception in rows below `end` that no call has visited yet, a lane for
     * each. All lanes call it. */
    template <class F> __device__ __forceinline__ void each_below(uint32_t end, uint32_t lane, F f)
    {
        uint32_t visited;
        do {
            const uint32_t index = next + lane, row = index < count ? position(index) : TILE_ROWS;
            if (row < end)
                f(index, row);
            visited = __popc(__ballot_sync(FULL_WARP, row < end));
            next += visited;
        } while (visited == 32);
    }
    /* Prepares find() in MARK_BYTES of shared memory: a bit a row marks exceptions; after the 32 words of bits,
     * the number of exceptions before each of them. All lanes call it. */
    static constexpr uint32_t MARK_BYTES = 256;
    __device__ __forceinline__ void mark(uint32_t *marks, uint32_t lane)
    {
        __syncwarp();
        marks[lane] = 0;
        __syncwarp();
        for (uint32_t index = lane; index < count; index += 32) {
            const uint32_t row = position(index);
            atomicOr(&marks[row / 32], 1u << row % 32);
        }
        __syncwarp();
        const uint32_t here = __popc(marks[lane]);
        marks[32 + lane] = scan_warp(here, lane) - here;
        __syncwarp();
    }
    /* What is added to the code of a row. */
    __device__ __forceinline__ unsigned_of<VALUE> find(const uint32_t *marks, uint32_t row) const
    {
        const uint32_t word = marks[row / 32], bit = 1u << row % 32;
        return word & bit ? value(marks[32 + row / 32] + __popc(word & (bit - 1))) : 0;
    }
};

/* Tiles are patched in parts of 256 rows, 8 items a lane, in 1 KB of scratch: a word a row. A query has scratch for
 * each of its columns, and 4 KB would leave room for few warps. */
#define PATCH_ITEMS         8u
#define PATCH_ROWS          (32 * PATCH_ITEMS)
#define PATCH_SCRATCH_BYTES (4 * PATCH_ROWS)

/* Sets scratch to 0. All lanes call it. */
TILE_INLINE void patch_scratch_clear(uint32_t *scratch, uint32_t lane)
{
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < PATCH_ROWS / 128; i++)
        reinterpret_cast<uint4 *>(scratch)[32 * i + lane] = make_uint4(0, 0, 0, 0);
    __syncwarp();
}

#endif
