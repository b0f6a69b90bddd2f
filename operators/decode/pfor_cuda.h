/*
 * pfor_cuda.h: the decoder of pfor: packed codes, and offsets and remainders of exceptions. docs/codecs.md
 * draws the bytes, storage/codec/integer/pfor.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_PFOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_PFOR_CUDA_H

#include "operators/decode/pfor_block_cuda.h"

/* As published, rows are decoded into shared memory and patched there, 256 at a time. */
template <class VALUE> struct decode_pfor : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = PATCH_SCRATCH_BYTES + patches<VALUE>::MARK_BYTES;
    pfor_block<VALUE> block;

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t lane)
    {
        block.template seek<false>(chunk, tile, lane);
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *scratch, F f)
    {
        block.list.next = 0;
#pragma unroll
        for (uint32_t j = 0; j < 32; j++) {
            const uint32_t row = 32 * j + block.lane;
            if constexpr (is_wide<VALUE>) {
                if (j % PATCH_ITEMS == 0)
                    block.number(scratch, 32 * j);
                f(j, (VALUE)block.numbered(scratch, row));
            } else {
                if (j % PATCH_ITEMS == 0)
                    block.decode(scratch, 32 * j, [](uint32_t in_part) { return in_part; });
                f(j, (VALUE)scratch[row % PATCH_ROWS]);
            }
        }
    }
    __device__ __forceinline__ void stage(uint32_t *scratch)
    {
        block.list.mark(scratch + PATCH_ROWS, block.lane);
    }
    __device__ __forceinline__ VALUE item(const uint32_t *scratch, uint32_t row)
    {
        return (VALUE)(block.unpatched(row) + block.list.find(scratch + PATCH_ROWS, row));
    }
};

#endif
