/*
 * alp_cuda.h: the decoder of alp: whole numbers in lanes that are divided by a power of ten, and a list of exceptions.
 * docs/codecs.md draws the bytes, storage/codec/integer/alp.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_ALP_CUDA_H
#define TESSERA_OPERATORS_DECODE_ALP_CUDA_H

#include "operators/decode/double_key_cuda.h"
#include "operators/decode/lane_for_cuda.h"

/* LOW, HIGH and REGULAR are those of lane-for, which tiles of int32 are. */
template <class VALUE, uint32_t LOW = 0, uint32_t HIGH = 0, bool REGULAR = false>
struct decode_alp : decode_lane_for<VALUE, LOW, HIGH, REGULAR> {
};

template <> struct decode_alp<int64_t> : decode_lane_wide {
    const uint32_t *list; /* exceptions' values, then their rows */
    uint32_t exceptions, decimals;
    double power;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        decode_lane_wide::seek(chunk, tile, of_lane);
        const uint2 entry = load(reinterpret_cast<const uint2 *>(chunk.directory + chunk.detail) + tile);
        list = words_at(chunk.auxiliary) + entry.x;
        exceptions = entry.y & 0xffff;
        decimals = entry.y >> 31;
        power = 1.0;
        for (uint32_t d = entry.y >> 16 & 0x7fff; d > 0; d--)
            power = __dmul_rn(power, 10.0); /* exact up to 10^22 */
    }
    __device__ __forceinline__ uint32_t row_of(uint32_t exception)
    {
        return load(list + 2 * exceptions + exception / 2) >> 16 * (exception % 2) & 0xffff;
    }
    /* The exception of a row, or `exceptions`; rows ascend. */
    __device__ __forceinline__ uint32_t exception_of(uint32_t row)
    {
        uint32_t first = 0, end = exceptions;
        while (first < end) {
            const uint32_t middle = (first + end) / 2;
            if (row_of(middle) < row)
                first = middle + 1;
            else
                end = middle;
        }
        return first < exceptions && row_of(first) == row ? first : exceptions;
    }
    __device__ __forceinline__ int64_t item(const uint32_t *, uint32_t row)
    {
        return double_of((int64_t)whole(row), row);
    }
    __device__ __forceinline__ int64_t copied(uint32_t from, uint32_t row)
    {
        return double_of((int64_t)whole_copied(from, row), row);
    }
    __device__ __forceinline__ int64_t double_of(int64_t whole, uint32_t row)
    {
        if (!decimals)
            return whole;
        const uint32_t exception = exceptions ? exception_of(row) : 0;
        if (exception < exceptions)
            return (int64_t)(load(list + 2 * exception) | (uint64_t)load(list + 2 * exception + 1) << 32);
        return double_key(__ddiv_rn((double)whole, power));
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + lane));
    }
};

#endif
