/*
 * pfor_diff_cuda.h: the decoder of pfor-diff: pfor over differences, and a prefix sum. docs/codecs.md draws
 * the bytes, storage/codec/integer/pfor_diff.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_PFOR_DIFF_CUDA_H
#define TESSERA_OPERATORS_DECODE_PFOR_DIFF_CUDA_H

#include "operators/decode/pfor_block_cuda.h"

template <class VALUE> struct decode_pfor_diff : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = 4096; /* a word a row */
    pfor_block<VALUE> block;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t lane)
    {
        block.template seek<true>(chunk, tile, lane);
    }
    __device__ __forceinline__ void preload()
    {
    }
    /* A row's word of scratch. Words of 32 rows are exchanged so that neither 32 rows in a row nor every 32nd
     * row share a bank. */
    static __device__ __forceinline__ uint32_t place(uint32_t row)
    {
        return row ^ (row / 32 & 31);
    }
    /* Turns the differences in scratch into values. Each lane adds up 32 rows in a row, so that the sum over
     * lanes is done once a tile and not once for every 32 rows. */
    __device__ __forceinline__ void sum(uint32_t *scratch)
    {
        const uint32_t lane = block.lane;
        uint32_t total = 0;
#pragma unroll
        for (uint32_t i = 0; i < 32; i++)
            total += scratch[place(32 * lane + i)];
        uint32_t value = (uint32_t)block.before + scan_values<uint32_t>(total, lane) - total;
#pragma unroll
        for (uint32_t i = 0; i < 32; i++)
            scratch[place(32 * lane + i)] = value += scratch[place(32 * lane + i)];
        __syncwarp();
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        if constexpr (is_wide<VALUE>) {
            uint64_t value = block.before; /* of the row before the lanes' next items */
            block.number(scratch);
            for (uint32_t j = 0; j < 32; j++) {
                const uint64_t difference = block.numbered(scratch, 32 * j + block.lane);
                const uint64_t own = value + scan_values<uint64_t>(difference, block.lane);
                f(j, (VALUE)own);
                value = __shfl_sync(FULL_WARP, own, 31);
            }
        } else {
            block.decode(scratch, place);
            sum(scratch);
#pragma unroll
            for (uint32_t j = 0; j < 32; j++)
                f(j, (VALUE)scratch[place(32 * j + block.lane)]);
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
