/*
 * plain_cuda.h: uncompressed columns, read as block_cuda.h says: the BlockLoad of Crystal (Shanbhag et al., SIGMOD 2020), ITEMS_OF values a
 * thread.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_PLAIN_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_PLAIN_CUDA_H

#include "lab/kernels/published/block_cuda.h"

template <uint32_t ITEMS_OF> struct plain_block {
    static constexpr uint32_t THREADS = 128, ITEMS = ITEMS_OF;
    struct shared {
    };

    static __device__ __forceinline__ uint32_t row(uint32_t thread, uint32_t item)
    {
        return item * THREADS + thread;
    }

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &,
                                                  int32_t (&values)[ITEMS])
    {
        const uint32_t *const words = words_at(piece.chunk.data) + piece.first;
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            if (row(threadIdx.x, i) < piece.rows)
                values[i] = (int32_t)words[row(threadIdx.x, i)];
    }
};

#endif
