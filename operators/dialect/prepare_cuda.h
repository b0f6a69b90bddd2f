/*
 * prepare_cuda.h: the kernel that runs before the scan of a hand-written query. `prepare` evaluates dimension
 * filters and clears the sums. Planned statements use operators/dialect/query_cuda.h for that.
 */
#ifndef TESSERA_OPERATORS_DIALECT_PREPARE_CUDA_H
#define TESSERA_OPERATORS_DIALECT_PREPARE_CUDA_H

#include "operators/dialect/tile.h"

TILE_INLINE uint32_t attribute_value(const bound_predicate &predicate, uint64_t row)
{
    if (predicate.value_bytes == 1)
        return __ldg(reinterpret_cast<const unsigned char *>(predicate.values) + row);
    if (predicate.value_bytes == 2)
        return __ldg(reinterpret_cast<const unsigned short *>(predicate.values) + row);
    return __ldg(words_at(predicate.values) + row);
}

extern "C" __global__ void __launch_bounds__(256) prepare(const __grid_constant__ bound_preparation work)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x,
                   threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t word = thread; word < work.clear_words; word += threads)
        reinterpret_cast<uint32_t *>(work.clear)[word] = 0;
#pragma unroll
    for (uint32_t d = 0; d < TILE_DIMENSIONS_MAX; d++) {
        const bound_filter &filter = work.dimension[d];
        for (uint64_t first = thread - lane; first < filter.rows;
             first += threads) { /* a warp makes a word of 32 rows */
            const uint64_t row = first + lane;
            bool passes = row < filter.rows;
#pragma unroll
            for (uint32_t p = 0; p < TILE_PREDICATES_MAX; p++) {
                const bound_predicate &predicate = filter.where[p];
                if (!predicate.value_bytes || !passes)
                    continue;
                const uint32_t value = attribute_value(predicate, row);
                bool any = false;
                for (uint32_t r = 0; r < predicate.ranges; r++)
                    any |= value - predicate.low[r] <= predicate.high[r] - predicate.low[r];
                passes = any;
            }
            const uint32_t bits = __brev(__ballot_sync(FULL_WARP, passes)); /* bit 31 - row % 32 */
            if (lane == 0)
                reinterpret_cast<uint32_t *>(filter.bitmap)[first / 32] = bits;
        }
    }
}

#endif
