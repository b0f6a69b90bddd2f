/*
 * flat_cuda.h: the baseline that no strategy on bitmaps may be slower than: the OR of flat bitsets, which are read once.
 *
 * Bitset v is at bits + v * stride words of 64 rows; the stride is even. (m + 1) n / 64 words move, for m sets of n rows.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_FLAT_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_FLAT_CUDA_H

#include "operators/decode/unpack_cuda.h"
#include "storage/index/wah_format.h"

#define FLAT_THREADS 256u

/* A thread has two words, 16 bytes, of all sets. Eight loads are in flight at once. */
TILE_INLINE void flat_or(const uint64_t *bits, uint64_t stride, uint64_t words, uint32_t sets, uint64_t *out)
{
    const uint64_t at = 2 * ((uint64_t)blockIdx.x * FLAT_THREADS + threadIdx.x);
    if (at >= words)
        return;
    const ulonglong2 *from = reinterpret_cast<const ulonglong2 *>(bits + at);
    ulonglong2 all = make_ulonglong2(0, 0);
#pragma unroll 8
    for (uint32_t s = 0; s < sets; s++, from += stride / 2) {
        const ulonglong2 two = __ldcs(from);
        all.x |= two.x;
        all.y |= two.y;
    }
    *reinterpret_cast<ulonglong2 *>(out + at) = all;
}

/* Word `word` of the flat bitset of a vector whose groups are given; groups after the last one are 0. */
TILE_INLINE uint64_t flat_word(const uint64_t *groups, uint64_t count, uint64_t word)
{
    const uint64_t row = word * 64, first = row / WAH_GROUP_ROWS;
    const uint32_t shift = (uint32_t)(row % WAH_GROUP_ROWS),
                   taken = WAH_GROUP_ROWS - shift; /* 1 .. 63: two groups have 64 rows */
    uint64_t bits = first < count ? groups[first] >> shift : 0;
    if (first + 1 < count)
        bits |= groups[first + 1] << taken;
    return bits;
}

#endif
