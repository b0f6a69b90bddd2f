/*
 * rfor_cuda.h: GPU-RFOR decoded as its paper says (Shanbhag et al., SIGMOD 2022, section 6): a thread block of 128 threads owns a block of
 * 512 rows. It copies the packed run values and run lengths to shared memory, unpacks both, and takes the four steps of Fang et al. (PVLDB
 * 2010) there: a scan of the lengths gives where runs end, a scatter marks where they begin, a scan of the marks gives each row's run, and
 * a scatter gives each row the run's value. The scans are CUB's. docs/codecs.md draws the bytes, block_cuda.h says what a method is.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_RFOR_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_RFOR_CUDA_H

#include "lab/kernels/published/block_cuda.h"

#include <cub/block/block_scan.cuh>

#define RFOR_ROWS       512u
#define RFOR_HEAD_WORDS 3u /* of a packed block: reference, width, count */

struct rfor {
    static constexpr uint32_t THREADS = 128, ITEMS = RFOR_ROWS / THREADS;
    typedef cub::BlockScan<uint32_t, THREADS> scan;

    struct shared {
        uint32_t values[RFOR_HEAD_WORDS + RFOR_ROWS + 1], lengths[RFOR_HEAD_WORDS + RFOR_ROWS + 1];
        uint32_t marks[RFOR_ROWS], run_values[RFOR_ROWS];
        typename scan::TempStorage scan;
    };

    static __device__ __forceinline__ uint32_t row(uint32_t thread, uint32_t item)
    {
        return thread * ITEMS + item;
    }

    /* Number `run` of a packed block. */
    static __device__ __forceinline__ uint32_t number(const uint32_t *block, uint32_t run)
    {
        const uint32_t width = block[1] & 255;
        return block[0] + published_unpack(block + RFOR_HEAD_WORDS, run * width, width);
    }

    /* Copies block `at` of a stream. */
    static __device__ __forceinline__ void copy(uint32_t *to, const uint32_t *stream, const uint32_t *starts,
                                                uint32_t at)
    {
        published_copy<THREADS>(to, stream + starts[at], starts[at + 1] - starts[at]);
    }

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[ITEMS])
    {
        const uint32_t *const value_starts = words_at(piece.chunk.directory);
        const uint32_t *const length_starts = value_starts + (uint32_t)piece.chunk.detail + 1;
        const uint32_t at = piece.first / RFOR_ROWS, first = threadIdx.x * ITEMS;
        copy(shared.values, words_at(piece.chunk.data), value_starts, at);
        copy(shared.lengths, words_at(piece.chunk.auxiliary), length_starts, at);
        const uint32_t count = shared.lengths[2];
        uint32_t ends[ITEMS], runs[ITEMS];
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++) {
            ends[i] = first + i < count ? number(shared.lengths, first + i) : 0;
            shared.marks[first + i] = 0;
            if (first + i < count)
                shared.run_values[first + i] = number(shared.values, first + i);
        }
        scan(shared.scan).InclusiveSum(ends, ends);
        __syncthreads(); /* marks are 0 */
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            if (first + i + 1 < count)
                shared.marks[ends[i]] = 1; /* where the next run begins */
        __syncthreads();
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            runs[i] = shared.marks[first + i];
        scan(shared.scan).InclusiveSum(runs, runs);
#pragma unroll
        for (uint32_t i = 0; i < ITEMS; i++)
            values[i] = (int32_t)shared.run_values[runs[i]];
    }
};

#endif
