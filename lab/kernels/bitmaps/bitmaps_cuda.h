/*
 * bitmaps_cuda.h: the laboratory's kernels on bitmap indexes: the paper's decompression and strategies, flat bitsets, `inline`
 * of operators/index, and comparisons of their results.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_BITMAPS_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_BITMAPS_CUDA_H

#include "lab/kernels/bitmaps/flat_cuda.h"
#include "lab/kernels/bitmaps/inline_or_cuda.h"
#include "lab/kernels/bitmaps/strategies_cuda.h"
#include "lab/kernels/bitmaps/wah_decompress_cuda.h"

/* Counts the words that differ. The grid has a thread for each. */
template <class WORD>
TILE_INLINE void lab_compare_words(const WORD *words, const WORD *expected, uint64_t count, uint32_t *wrong)
{
    const uint64_t i = wah_item();
    const uint32_t differs = __ballot_sync(FULL_WARP, i < count && words[i] != expected[i]);
    if (threadIdx.x % 32 == 0 && differs)
        atomicAdd(wrong, (uint32_t)__popc(differs));
}

/* Compares the groups of a result with the mask of a scan (scan_cuda.h): thread i has word i of the mask. */
TILE_INLINE void lab_compare_lanes(const uint64_t *groups, const uint32_t *masks, uint64_t rows,
                                   uint32_t *wrong)
{
    const uint64_t i = wah_item(), first = i / 32 * 1024 + i % 32;
    const bool there = i < (rows + 1023) / 1024 * 32;
    uint32_t bits = 0, used = 0;
    for (uint32_t j = 0; j < 32 && there; j++) {
        const uint64_t row = first + 32 * j;
        if (row >= rows)
            break;
        used |= 1u << j;
        bits |= (uint32_t)(groups[row / WAH_GROUP_ROWS] >> row % WAH_GROUP_ROWS & 1) << j;
    }
    const uint32_t differs = __ballot_sync(FULL_WARP, there && (masks[i] & used) != bits);
    if (threadIdx.x % 32 == 0 && differs)
        atomicAdd(wrong, (uint32_t)__popc(differs));
}

/* Flattens vectors: thread i writes word i % flat_stride of the bitset of vector i / flat_stride. */
TILE_INLINE void lab_flatten(const uint64_t *groups, uint64_t stride, uint64_t count, uint64_t *bits,
                             uint64_t flat_stride, uint32_t vectors)
{
    const uint64_t i = wah_item(), vector = i / flat_stride;
    if (vector < vectors)
        bits[i] = flat_word(groups + vector * stride, count, i % flat_stride);
}

#endif
