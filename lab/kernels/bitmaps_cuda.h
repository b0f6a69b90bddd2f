/*
 * bitmaps_cuda.h: the laboratory's kernels on bitmap indexes: those of operators/index, and the comparison of two vectors.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_CUDA_H

#include "operators/index/flat_cuda.h"
#include "operators/index/strategies_cuda.h"
#include "operators/index/wah_decompress_cuda.h"
#include "operators/index/wah_inline_cuda.h"

/* Counts the words that differ. The grid has a thread for each. */
TILE_INLINE void lab_compare_words(const uint64_t *words, const uint64_t *expected, uint64_t count,
                                   uint32_t *wrong)
{
    const uint64_t i = wah_item();
    const uint32_t differs = __ballot_sync(FULL_WARP, i < count && words[i] != expected[i]);
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
