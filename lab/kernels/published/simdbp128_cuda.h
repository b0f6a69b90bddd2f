/*
 * simdbp128_cuda.h: GPU-SIMDBP128 decoded as its paper says (Shanbhag et al., SIGMOD 2022, section 4.3): a thread block of 128 threads
 * owns a block of 4096 rows, and a thread the 32 values of one lane, in registers. docs/codecs.md draws the bytes, block_cuda.h says what
 * a method is.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_SIMDBP128_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_SIMDBP128_CUDA_H

#include "lab/kernels/published/block_cuda.h"

struct simdbp128 {
    static constexpr uint32_t THREADS = 128, ITEMS = 32;

    struct shared {
        uint32_t words[32 * THREADS];
    };

    static __device__ __forceinline__ uint32_t row(uint32_t thread, uint32_t item)
    {
        return item * THREADS + thread;
    }

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[ITEMS])
    {
        const uint32_t entry = words_at(piece.chunk.directory)[piece.first / (THREADS * ITEMS)];
        const uint32_t start = entry & 0x1ffffffu, width = entry >> 25;
        published_copy<THREADS>(shared.words, words_at(piece.chunk.data) + (uint64_t)start * THREADS,
                                width * THREADS);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++) {
            const uint32_t bit = i * width, word = bit / 32 * THREADS + threadIdx.x;
            const uint32_t low = width ? shared.words[word] : 0;
            const uint32_t high = bit % 32 + width > 32 ? shared.words[word + THREADS] : 0;
            values[i] = (int32_t)(__funnelshift_r(low, high, bit) & low_bits(width));
        }
    }
};

#endif
