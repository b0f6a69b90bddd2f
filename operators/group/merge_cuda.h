/*
 * merge_cuda.h: the loops of the kernels that merge the states of several GPUs (merge.h, merge_hash.h, merge_sets.h), in
 * blocks of whole warps. Sets give each warp words that follow each other, so that a thread meets few groups.
 */
#ifndef TESSERA_OPERATORS_GROUP_MERGE_CUDA_H
#define TESSERA_OPERATORS_GROUP_MERGE_CUDA_H

#include "operators/group/merge_sets.h"

#define MERGE_WARP 0xffffffffu

MERGE_INLINE uint64_t merge_thread()
{
    return blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
}

MERGE_INLINE uint64_t merge_threads()
{
    return gridDim.x * (uint64_t)blockDim.x;
}

/* The sum of the warp's numbers, in its first lane. */
MERGE_INLINE uint64_t merge_warp_sum(uint64_t number)
{
    for (uint32_t distance = 16; distance > 0; distance /= 2)
        number += __shfl_down_sync(MERGE_WARP, number, distance);
    return number;
}

MERGE_INLINE void merge_slots(const bound_merge &work)
{
    for (uint64_t item = merge_thread(); item < merge_items(&work); item += merge_threads())
        merge_item(&work, (uint32_t)item);
}

MERGE_INLINE void merge_table(const bound_absorb &work)
{
    uint64_t added = 0;
    for (uint64_t slot = merge_thread(); slot < work.other_slots; slot += merge_threads())
        added += absorb_slot(&work, slot);
    added = merge_warp_sum(added);
    if (threadIdx.x % 32 == 0)
        merge_count(work.own, work.found, added);
}

/* Adds what all lanes have left, at once if it is of one group. */
MERGE_INLINE void merge_rest(uint64_t counts, const merge_pending &pending)
{
    const uint32_t some = __ballot_sync(MERGE_WARP, pending.count != 0);
    if (some == 0)
        return;
    const uint32_t lane = __ffs(some) - 1;
    const uint64_t slot = __shfl_sync(MERGE_WARP, pending.slot, lane);
    if (!__all_sync(MERGE_WARP, pending.count == 0 || pending.slot == slot)) {
        merge_count(counts, pending.slot, pending.count);
        return;
    }
    const uint64_t count = merge_warp_sum(pending.count);
    if (threadIdx.x % 32 == 0)
        merge_count(counts, slot, count);
}

MERGE_INLINE void merge_bits(const bound_bits &work)
{
    const uint64_t warps = merge_threads() / 32, lines = (work.words + 31) / 32,
                   each = (lines + warps - 1) / warps * 32, first = merge_thread() / 32 * each;
    merge_pending pending = {0, 0};
    for (uint64_t word = first + threadIdx.x % 32; word < first + each && word < work.words; word += 32)
        merge_bits_word(&work, word, &pending);
    __syncwarp();
    merge_rest(work.counts, pending);
}

MERGE_INLINE void merge_keys(const bound_keys &work)
{
    merge_pending pending = {0, 0};
    for (uint64_t place = merge_thread(); place < work.table.other_slots; place += merge_threads())
        merge_keys_place(&work, place, &pending);
    __syncwarp();
    merge_rest(work.counts, pending);
}

#endif
