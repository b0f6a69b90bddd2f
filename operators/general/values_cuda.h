/*
 * values_cuda.h: medians and other quantiles need few of the values that a scan has grouped by. The statement's groups have
 * some bins of values each:
 *
 *     values_count    counts the rows of each bin
 *     values_find     keeps the bins that have rows near a quantile's place, and makes each row of bins between them a lump:
 *                     one value with all their rows, which stands before and after the same values as they
 *     values_list     lists the slots of the groups of the scan whose values are in kept bins, or NULL
 *
 * The only aggregate is the number of rows. The host computes quantiles from these groups and lumps as from all, and gets the same.
 */
#ifndef TESSERA_OPERATORS_GENERAL_VALUES_CUDA_H
#define TESSERA_OPERATORS_GENERAL_VALUES_CUDA_H

#include "operators/dialect/query_cuda.h"
#include "operators/general/values.h"

/* A quantile of n rows is between rows (n - 1) * target and n * target; doubles are near enough for the rest. */
#define VALUES_NEAR 2.0

/* The group of the scan in a slot. */
struct value_reader {
    uint64_t group, code, bin, rows;
    bool used, null;

    __device__ __forceinline__ value_reader(const values_work &work, uint64_t slot)
    {
        const uint64_t key = work.hashed ? state_words(arguments.keys)[slot] : slot + 1;
        used = work.hashed ? key != 0 : reinterpret_cast<const uint32_t *>(arguments.present)[slot] != 0;
        if (!used)
            return;
        group = (key - 1) / work.domain;
        code = (key - 1) % work.domain;
        bin = code / work.width;
        null = work.nullable && code == 0;
        rows = state_words(arguments.states[0])[slot];
    }
};

extern "C" __global__ void __launch_bounds__(256) values_count(const __grid_constant__ values_work work)
{
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; slot < arguments.slots;
         slot += threads) {
        const value_reader value(work, slot);
        if (value.used && !value.null)
            atomicAdd(state_words(work.counts) + value.bin * work.groups + value.group,
                      (state_word)value.rows);
    }
}

/* Whether a quantile's place may be among rows `first` to `end` of `rows`. */
TILE_INLINE bool values_wanted(const values_work &work, uint64_t first, uint64_t end, uint64_t rows)
{
    bool wanted = false;
    for (uint32_t t = 0; t < work.target_count; t++)
        wanted |= (double)end >= work.targets[t] * (double)(rows - 1) - VALUES_NEAR &&
                  (double)first <= work.targets[t] * (double)rows + VALUES_NEAR;
    return wanted;
}

TILE_INLINE void values_give(const values_work &work, uint64_t number, uint64_t rows)
{
    values_state *const state = reinterpret_cast<values_state *>(work.state);
    const uint64_t at = atomicAdd(&state->lumps, 1ull);
    reinterpret_cast<values_lump *>(work.lumps)[at] = values_lump{number, rows};
}

TILE_INLINE void values_find_of(const values_work &work, uint64_t group)
{
    const state_word *const counts = state_words(work.counts) + group;
    uint64_t rows = 0, first = 0, lump = 0, lump_bin = 0;
#pragma unroll 8
    for (uint64_t bin = 0; bin < work.bins; bin++)
        rows += counts[bin * work.groups];
#pragma unroll 4
    for (uint64_t bin = 0; bin < work.bins; bin++) {
        const uint64_t count = counts[bin * work.groups];
        const bool keep = count > 0 && values_wanted(work, first, first + count, rows);
        reinterpret_cast<unsigned char *>(work.keep)[bin * work.groups + group] = keep;
        first += count;
        if (count && !keep) {
            lump += count;
            lump_bin = bin;
        }
        if (lump && (keep || bin + 1 == work.bins)) {
            const uint64_t code = lump_bin * work.width;
            values_give(work, group * work.domain + (code < work.nullable ? work.nullable : code), lump);
            lump = 0;
        }
    }
}

/* A thread has a group at a time. */
extern "C" __global__ void __launch_bounds__(256) values_find(const __grid_constant__ values_work work)
{
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t group = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; group < work.groups;
         group += threads)
        values_find_of(work, group);
}

/* The list has the first `capacity`; the state counts all. */
extern "C" __global__ void __launch_bounds__(256) values_list(const __grid_constant__ values_work work)
{
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    values_state *const state = reinterpret_cast<values_state *>(work.state);
    for (uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; slot < arguments.slots;
         slot += threads) {
        const value_reader value(work, slot);
        if (!value.used || (!value.null && !reinterpret_cast<const unsigned char *>(
                                               work.keep)[value.bin * work.groups + value.group]))
            continue;
        const uint64_t at = atomicAdd(&state->found, 1ull);
        if (at < work.capacity)
            state_words(work.list)[at] = slot;
    }
}

#endif
