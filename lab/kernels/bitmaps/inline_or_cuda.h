/*
 * inline_or_cuda.h: the OR of whole WAH vectors as a bitmap that is not compressed: operators/index/wah_inline_cuda.h, whose
 * result is written and counted.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_INLINE_OR_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_INLINE_OR_CUDA_H

#include "lab/kernels/bitmaps/inline_large.h"
#include "operators/index/wah_inline_cuda.h"

/* Writes the piece's groups to `out`, two a thread, and adds the rows that are set to *count; either may be NULL. */
template <uint32_t GROUPS>
TILE_INLINE void inline_finish(const uint32_t *piece, uint64_t groups, uint64_t *out,
                               unsigned long long *count)
{
    const uint64_t first = (uint64_t)blockIdx.x * GROUPS;
    uint32_t rows = 0;
#pragma unroll 4
    for (uint32_t g = 2 * threadIdx.x; g < GROUPS && first + g < groups; g += 2 * blockDim.x) {
        const uint32_t place = inline_place(g), other = place ^ 1;
        uint4 two = make_uint4(piece[place], piece[place + GROUPS], 0, 0);
        if (first + g + 1 < groups) {
            two.z = piece[other];
            two.w = piece[other + GROUPS];
            if (out)
                *reinterpret_cast<uint4 *>(out + first + g) = two;
        } else if (out) {
            out[first + g] = (uint64_t)two.y << 32 | two.x;
        }
        rows += __popc(two.x) + __popc(two.y) + __popc(two.z) + __popc(two.w);
    }
    if (!count)
        return;
#pragma unroll
    for (uint32_t distance = 16; distance; distance /= 2)
        rows += __shfl_xor_sync(FULL_WARP, rows, distance);
    if (threadIdx.x % 32 == 0 && rows)
        atomicAdd(count, (unsigned long long)rows);
}

/* The OR of `count` vectors of 64-bit words. The grid has a block for each piece of GROUPS groups, of any number of
 * warps. Shared memory: 8 bytes a group. Vectors have less than 2^31 - 4096 groups. */
template <uint32_t GROUPS>
TILE_INLINE void wah_inline_or(const bound_vector *vectors, uint32_t vector_count, uint64_t groups,
                               uint64_t *out, unsigned long long *count)
{
    __shared__ __align__(16) uint32_t piece[inline_halves<wah64_words, GROUPS>];
    uint32_t parts = 1;
    while (parts < GROUPS / WAH_PIECE_GROUPS && vector_count * parts < blockDim.x / 32)
        parts *= 2;
    inline_clear<wah64_words, GROUPS>(piece);
    __syncthreads();
    inline_or_range<wah64_words, GROUPS>(piece, vectors, 0, vector_count, blockIdx.x,
                                         (uint32_t)((groups + WAH_PIECE_GROUPS - 1) / WAH_PIECE_GROUPS),
                                         parts);
    __syncthreads();
    inline_finish<GROUPS>(piece, groups, out, count);
}

#endif
