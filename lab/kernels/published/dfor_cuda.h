/*
 * dfor_cuda.h: GPU-DFOR decoded as its paper says (Shanbhag et al., SIGMOD 2022, section 5.2): a thread block of 128 threads copies a
 * group of D = 4 blocks to shared memory, unpacks the differences by the fast bit unpacking of GPU-FOR, four a thread, and adds them up
 * by a scan over the thread block, CUB's. docs/codecs.md draws the bytes, block_cuda.h says what a method is.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_DFOR_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_DFOR_CUDA_H

#include "lab/kernels/published/for_cuda.h"

#include <cub/block/block_scan.cuh>

#define DFOR_BLOCKS 4u /* D, which the format fixes */

/* A thread has rows that follow each other, because that is the order in which the scan adds them. */
struct dfor {
    static constexpr uint32_t THREADS = FOR_ROWS, ITEMS = DFOR_BLOCKS;
    typedef cub::BlockScan<uint32_t, THREADS> scan;

    struct shared {
        uint32_t words[1 + DFOR_BLOCKS * FOR_BLOCK_WORDS +
                       1]; /* the first value, the blocks, and a word that is read */
        uint32_t offsets[DFOR_BLOCKS * FOR_MINIBLOCKS], widths[DFOR_BLOCKS * FOR_MINIBLOCKS];
        typename scan::TempStorage scan;
    };

    static __device__ __forceinline__ uint32_t row(uint32_t thread, uint32_t item)
    {
        return thread * ITEMS + item;
    }

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[ITEMS])
    {
        const uint32_t *const starts = for_starts(piece);
        const uint32_t begin = starts[0] - 1; /* the first value is before the first block */
        published_copy<THREADS>(shared.words, words_at(piece.chunk.data) + begin,
                                starts[DFOR_BLOCKS] - begin);
        if (threadIdx.x < DFOR_BLOCKS * FOR_MINIBLOCKS) {
            const uint32_t start = starts[threadIdx.x / FOR_MINIBLOCKS] - begin;
            const uint32_t offset = for_miniblock(shared.words[start + 1], threadIdx.x % FOR_MINIBLOCKS,
                                                  shared.widths[threadIdx.x]);
            shared.offsets[threadIdx.x] = start + offset;
        }
        __syncthreads();
        const uint32_t row = threadIdx.x * ITEMS, at = row / 32, width = shared.widths[at];
        const uint32_t reference = shared.words[starts[row / FOR_ROWS] - begin];
        uint32_t sums[ITEMS];
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            sums[i] = reference +
                      published_unpack(shared.words + shared.offsets[at], (row + i) % 32 * width, width);
        scan(shared.scan).InclusiveSum(sums, sums);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            values[i] = (int32_t)(shared.words[0] + sums[i]);
    }
};

#endif
