/*
 * wah_decompress_cuda.h: decompression of WAH vectors as published (Nelson, Sorenson, Myre, Sawin and Chiu, Journal of Cloud
 * Computing 9:44, 2020, algorithms 1 and 2; after Andrzejewski and Wrembel). A kernel for each step:
 *
 *     wah_sizes     DecompSizes[i] = the groups of word i                      (lines 2 to 8)
 *     scan_device   StartingPoints = exclusive sums of DecompSizes, in place   (line 9)
 *     wah_ends      EndPoints[StartingPoints[i] - 1] = 1                       (lines 10 to 13)
 *     scan_device   WordIndex = exclusive sums of EndPoints                    (line 14)
 *     wah_write     DecompData[g] = what word WordIndex[g] says of group g     (lines 15 to 26)
 *
 * Any number of vectors are decompressed at once: those of a range lie one after the other, each is of the same number of
 * groups, and so the words of all of them are one long vector, of which the result is all of theirs in order. Words and
 * groups: below 2^32 in all.
 *
 * Arrays are used again: starting points replace the sizes, and end points, a byte each, lie in the memory of the result,
 * which is written last. Bytes that move: 16 a word (8 read twice) + 4 + 8 + 4 and about 20 a group.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_WAH_DECOMPRESS_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_WAH_DECOMPRESS_CUDA_H

#include "lab/kernels/bitmaps/scan_device_cuda.h"
#include "storage/index/wah_format.h"

#define WAH_THREADS 256u

/* The item of this thread, of which the grid has one for each. */
TILE_INLINE uint64_t wah_item(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

TILE_INLINE void wah_sizes(const uint64_t *words, uint64_t count, uint32_t *sizes)
{
    const uint64_t i = wah_item();
    if (i < count)
        sizes[i] = words[i] & WAH_FILL ? (uint32_t)(words[i] & WAH_LENGTH) : 1;
}

/* `ends` is 0 before. */
TILE_INLINE void wah_ends(const uint32_t *starts, uint64_t count, uint8_t *ends)
{
    const uint64_t i = wah_item();
    if (i < count && i)
        ends[starts[i] - 1] = 1;
}

TILE_INLINE uint64_t wah_group(uint64_t word)
{
    return word & WAH_FILL ? (word & WAH_ONES ? WAH_FULL : 0) : word;
}

/* A thread writes two groups, 16 bytes; the result has an even number of them, of which the last may be none's. */
TILE_INLINE void wah_write(const uint64_t *words, const uint32_t *word_index, uint64_t groups, uint64_t *out)
{
    const uint64_t g = 2 * wah_item();
    if (g + 1 < groups) {
        const uint2 at = *reinterpret_cast<const uint2 *>(word_index + g);
        const ulonglong2 two =
            make_ulonglong2(wah_group(__ldg(reinterpret_cast<const unsigned long long *>(words) + at.x)),
                            wah_group(__ldg(reinterpret_cast<const unsigned long long *>(words) + at.y)));
        *reinterpret_cast<ulonglong2 *>(out + g) = two;
    } else if (g < groups) {
        out[g] = wah_group(words[word_index[g]]);
    }
}

#endif
