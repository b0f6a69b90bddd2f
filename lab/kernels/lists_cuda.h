/*
 * lists_cuda.h: AND and OR of posting lists that are decoded in a GPU's memory (lists_bound.h). Decoded d-gaps are first summed by
 * scan_device.
 *
 *     AND    lists_probe looks each document of the first list, the shortest, up in all others by a binary search; scan_device gives
 *            those that are found their places, and lists_pick writes them (as Ding et al., WWW 2008, and Wu et al., IPDPS 2010)
 *     OR     lists_mark sets the documents' bits in a bitmap, list by list; lists_count and scan_device give each word's documents
 *            their places, and lists_write writes them
 *
 * The grid of each has a thread for each document or word. Both give ascending documents and, in *total, how many.
 */
#ifndef TESSERA_LAB_KERNELS_LISTS_CUDA_H
#define TESSERA_LAB_KERNELS_LISTS_CUDA_H

#include "lab/kernels/lists_bound.h"
#include "lab/kernels/bitmaps/scan_device_cuda.h"

TILE_INLINE uint64_t lists_item()
{
    return blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
}

TILE_INLINE uint32_t lists_document(const bound_list &list, uint64_t i)
{
    const uint32_t *const gaps = reinterpret_cast<const uint32_t *>(list.gaps);
    const uint32_t *const sums = reinterpret_cast<const uint32_t *>(list.sums);
    return sums[i] + gaps[i] - 1;
}

/* sums[i] is 1 more than the document before document i, so sums[low] <= document < sums[high] leaves document low alone. */
TILE_INLINE bool lists_has(const bound_list &list, uint32_t document)
{
    const uint32_t *const sums = reinterpret_cast<const uint32_t *>(list.sums);
    uint64_t low = 0, high = list.count;
    while (high - low > 1) {
        const uint64_t middle = (low + high) / 2;
        if (sums[middle] <= document)
            low = middle;
        else
            high = middle;
    }
    return lists_document(list, low) == document;
}

/* found[i] = 1 if document i of the first list is in all others, else 0. */
TILE_INLINE void lists_probe(const bound_list *lists, uint32_t list_count, uint8_t *found)
{
    const uint64_t i = lists_item();
    if (i >= lists[0].count)
        return;
    const uint32_t document = lists_document(lists[0], i);
    bool in = true;
    for (uint32_t l = 1; l < list_count && in; l++)
        in = lists_has(lists[l], document);
    found[i] = in;
}

/* `places`: the sums of `found` before each. */
TILE_INLINE void lists_pick(const bound_list *lists, const uint8_t *found, const uint32_t *places,
                            uint32_t *out, uint32_t *total)
{
    const uint64_t i = lists_item(), count = lists[0].count;
    if (i < count && found[i])
        out[places[i]] = lists_document(lists[0], i);
    if (i + 1 == count)
        *total = places[i] + found[i];
}

/* Neighbours in a list often share a word of the bitmap; lanes with the same word lie side by side, and the first one sets the bits
 * of all. */
TILE_INLINE void lists_mark(const bound_list *list, uint32_t *bitmap)
{
    const uint64_t i = lists_item();
    const uint32_t lane = threadIdx.x % 32;
    const bool there = i < list->count;
    const uint32_t document = there ? lists_document(*list, i) : 0;
    const uint32_t word = there ? document / 32 : UINT32_MAX;
    uint32_t bits = there ? 1u << document % 32 : 0;
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint32_t next_bits = __shfl_down_sync(FULL_WARP, bits, distance);
        const uint32_t next_word = __shfl_down_sync(FULL_WARP, word, distance);
        bits |= lane + distance < 32 && next_word == word ? next_bits : 0;
    }
    const uint32_t word_before = __shfl_up_sync(FULL_WARP, word, 1);
    if (there && (lane == 0 || word_before != word))
        atomicOr(bitmap + word, bits);
}

TILE_INLINE void lists_count(const uint32_t *bitmap, uint64_t words, uint32_t *counts)
{
    const uint64_t w = lists_item();
    if (w < words)
        counts[w] = (uint32_t)__popc(bitmap[w]);
}

/* `places`: the sums of the words' counts before each. */
TILE_INLINE void lists_write(const uint32_t *bitmap, uint64_t words, const uint32_t *places, uint32_t *out,
                             uint32_t *total)
{
    const uint64_t w = lists_item();
    if (w >= words)
        return;
    uint32_t place = places[w];
    for (uint32_t bits = bitmap[w]; bits; bits &= bits - 1)
        out[place++] = (uint32_t)w * 32 + __ffs((int)bits) - 1;
    if (w + 1 == words)
        *total = place;
}

#endif
