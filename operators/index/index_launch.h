/*
 * index_launch.h: how the host launches the kernels on bitmap indexes.
 */
#ifndef TESSERA_OPERATORS_INDEX_INDEX_LAUNCH_H
#define TESSERA_OPERATORS_INDEX_INDEX_LAUNCH_H

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

#endif
