/*
 * index_launch.h: how the host launches the kernels on bitmap indexes.
 */
#ifndef TESSERA_OPERATORS_INDEX_INDEX_LAUNCH_H
#define TESSERA_OPERATORS_INDEX_INDEX_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

/* The warps of a thread block of `inline` (wah_inline_cuda.h), which has a piece of all vectors. Two are the fastest, of
 * 1, 2, 4 and 8, where all pieces together fill the GPU: 128 uniform vectors of 1 G rows take 1.00, 0.87, 0.87 and 0.90 ms
 * on an H200. Fewer pieces take more warps each: 1024 vectors of 10 M rows take 0.45, 0.23, 0.13 and 0.077 ms. */
#define INDEX_INLINE_WARPS_MAX 8u
#define INDEX_INLINE_RESIDENT \
    20u /* warps of a multiprocessor that are enough: half of what its registers hold */

static inline uint32_t index_inline_warps(uint64_t pieces, uint32_t multiprocessors)
{
    uint32_t warps = 2;
    while (warps < INDEX_INLINE_WARPS_MAX && pieces * warps < multiprocessors * INDEX_INLINE_RESIDENT)
        warps *= 2;
    return warps;
}

/* A GPU that still has work for all of its multiprocessors takes pieces of four times the groups: a look at a directory
 * each, and a wait at a block's begin and end, are for four times the words. With dense vectors, which hide the waits, few
 * and large blocks are up to a tenth slower: 2 uniform vectors of 1 G rows take 0.105 ms in small pieces, 0.114 in large
 * ones, 128 in runs of 1000 rows 0.095 and 0.072, 365 days of 120 M rows 0.063 and 0.051. */
#define INDEX_LARGE_WARPS 8u

#define INDEX_LARGE_PIECES \
    12u /* of 1024 groups, a multiprocessor: as many larger ones that all have three or four */
#define INDEX_LARGE_WORDS 512u /* of a vector in 1024 groups: from there on the smaller ones are faster */

/* `words`: of the vectors, which have `pieces` of 1024 groups each, in the mean. */
static inline bool index_inline_large(uint64_t words, uint64_t pieces, uint32_t multiprocessors)
{
    return pieces >= (uint64_t)INDEX_LARGE_PIECES * multiprocessors && words < INDEX_LARGE_WORDS * pieces;
}

#endif
