/*
 * lists_cuda.h: GPU-BP and GPU-VByte decoded as their paper says (Mallia et al., CIKM 2019, algorithms 1 and 2): a thread block owns a
 * block of BLOCK values and a thread one of them. A value of GPU-VByte is found by the sum of the lengths before it in the block, a scan
 * over the thread block, CUB's. docs/codecs.md draws the bytes, block_cuda.h says what a method is.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_LISTS_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_LISTS_CUDA_H

#include "lab/kernels/published/block_cuda.h"

#include <cub/block/block_scan.cuh>

template <uint32_t BLOCK> struct list_method {
    static constexpr uint32_t THREADS = BLOCK, ITEMS = 1;

    static __device__ __forceinline__ uint32_t row(uint32_t thread, uint32_t)
    {
        return thread;
    }

    /* Where the piece's block begins, and in the next entry where it ends. */
    static __device__ __forceinline__ const uint32_t *ends(const published_piece &piece)
    {
        return words_at(piece.chunk.directory) + piece.first / BLOCK;
    }
};

template <uint32_t BLOCK> struct bp : list_method<BLOCK> {
    struct shared {
    };

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &,
                                                  int32_t (&values)[1])
    {
        const uint32_t *const ends = bp::ends(piece);
        const uint32_t begin = ends[0], width = (ends[1] - begin) / (BLOCK / 32);
        values[0] = (int32_t)published_unpack(words_at(piece.chunk.data) + begin, threadIdx.x * width, width);
    }
};

template <uint32_t BLOCK> struct vbyte : list_method<BLOCK> {
    typedef cub::BlockScan<uint32_t, BLOCK> scan;

    struct shared {
        typename scan::TempStorage scan;
    };

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[1])
    {
        const uint32_t *const block = words_at(piece.chunk.data) + vbyte::ends(piece)[0] / 4;
        const uint32_t bits = 8 * (1 + published_unpack(block, 2 * threadIdx.x, 2));
        uint32_t before;
        scan(shared.scan).ExclusiveSum(bits, before);
        values[0] = (int32_t)published_unpack(block + 2 * BLOCK / 32, before, bits);
    }
};

#endif
