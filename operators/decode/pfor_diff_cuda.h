/*
 * pfor_diff_cuda.h: the decoder of pfor-diff: pfor over differences, and a prefix sum. docs/codecs.md draws
 * the bytes, storage/codec/integer/pfor_diff.c is the host's twin, decode_cuda.h says what a decoder defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_PFOR_DIFF_CUDA_H
#define TESSERA_OPERATORS_DECODE_PFOR_DIFF_CUDA_H

#include "operators/decode/pfor_block_cuda.h"

template <class VALUE> struct decode_pfor_diff : decode_base {
    static constexpr bool RANDOM_ACCESS = false;
    static constexpr uint32_t SCRATCH_BYTES = PATCH_SCRATCH_BYTES;
    pfor_block<VALUE> block;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t lane)
    {
        block.template seek<true>(chunk, tile, lane);
    }
    __device__ __forceinline__ void preload()
    {
    }
    /* The word of a row of a part. Words of 32 rows are exchanged so that lanes meet in no bank, neither in 32
     * rows that follow each other nor in every eighth row. */
    static __device__ __forceinline__ uint32_t place(uint32_t in_part)
    {
        return in_part ^ in_part / 32;
    }
    /* Turns a part's differences in scratch into values, and `value` from that of the row before the part into
     * that of its last row. A lane adds up 8 rows that follow each other, so four sums over lanes do for a tile. */
    __device__ __forceinline__ void sum(uint32_t *scratch, uint32_t &value)
    {
        const uint32_t lane = block.lane;
        uint32_t sums[PATCH_ITEMS], total = 0;
#pragma unroll
        for (uint32_t i = 0; i < PATCH_ITEMS; i++)
            sums[i] = total += scratch[place(PATCH_ITEMS * lane + i)];
        const uint32_t before = value + scan_values<uint32_t>(total, lane) - total;
#pragma unroll
        for (uint32_t i = 0; i < PATCH_ITEMS; i++)
            scratch[place(PATCH_ITEMS * lane + i)] = before + sums[i];
        value = __shfl_sync(FULL_WARP, before + total, 31);
        __syncwarp();
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        unsigned_of<VALUE> value = block.before; /* of the row before the part (64 bits: before the items) */
        block.list.next = 0;
#pragma unroll
        for (uint32_t j = 0; j < 32; j++) {
            if constexpr (is_wide<VALUE>) {
                if (j % PATCH_ITEMS == 0)
                    block.number(scratch, 32 * j);
                const uint64_t difference = block.numbered(scratch, 32 * j + block.lane);
                const uint64_t own = value + scan_values<uint64_t>(difference, block.lane);
                f(j, (VALUE)own);
                value = __shfl_sync(FULL_WARP, own, 31);
            } else {
                if (j % PATCH_ITEMS == 0) {
                    block.decode(scratch, 32 * j, place);
                    sum(scratch, value);
                }
                f(j, (VALUE)scratch[place(32 * (j % PATCH_ITEMS) + block.lane)]);
            }
        }
    }
    __device__ __forceinline__ void stage(uint32_t *)
    {
    }
};

#endif
