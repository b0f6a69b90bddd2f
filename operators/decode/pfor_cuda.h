/*
 * pfor_cuda.h: the decoder of pfor: packed codes, and offsets and remainders of exceptions. docs/codecs.md
 * draws the bytes, storage/codec/integer/pfor.c is the host's twin, decode_cuda.h says what a decoder
 * defines.
 */
#ifndef TESSERA_OPERATORS_DECODE_PFOR_CUDA_H
#define TESSERA_OPERATORS_DECODE_PFOR_CUDA_H

#include "operators/decode/pfor_block_cuda.h"

/* As published, a tile is decoded into shared memory and patched there. */
template <class VALUE> struct decode_pfor : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 4096; /* a word a row */
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
        stage(scratch);
#pragma unroll
        for (uint32_t j = 0; j < 32; j++)
            f(j, item(scratch, 32 * j + block.lane));
    }
    __device__ __forceinline__ void stage(uint32_t *scratch)
    {
        if constexpr (is_wide<VALUE>)
            block.number(scratch);
        else
            block.decode(scratch, [](uint32_t row) { return row; });
    }
    __device__ __forceinline__ VALUE item(const uint32_t *scratch, uint32_t row)
    {
        if constexpr (is_wide<VALUE>)
            return (VALUE)block.numbered(scratch, row);
        else
            return (VALUE)scratch[row];
    }
};

#endif
