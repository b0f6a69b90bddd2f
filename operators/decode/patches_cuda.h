/*
 * patches_cuda.h: a tile's list of exceptions, for the decoders of lane-pfor, pfor and pfor-diff.
 * storage/codec/integer/patches.h is the host's twin.
 */
#ifndef TESSERA_OPERATORS_DECODE_PATCHES_CUDA_H
#define TESSERA_OPERATORS_DECODE_PATCHES_CUDA_H

#include "operators/decode/decode_cuda.h"

template <class VALUE> struct patches {
    uint32_t count;
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
    /* Calls f(index, position) for all exceptions, a lane for each. All lanes call it. */
    template <class F> __device__ __forceinline__ void each(uint32_t lane, F f) const
    {
        for (uint32_t index = lane; index < count; index += 32)
            f(index, position(index));
    }
};

/* Sets the 4 KB of scratch to 0; no lane may read them any more. */
TILE_INLINE void scratch_clear(uint32_t *scratch, uint32_t lane)
{
#pragma unroll
    for (uint32_t i = 0; i < TILE_ROWS / 128; i++)
        reinterpret_cast<uint4 *>(scratch)[32 * i + lane] = make_uint4(0, 0, 0, 0);
}

#endif
