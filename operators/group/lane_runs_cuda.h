/*
 * lane_runs_cuda.h: rows of one group that follow each other in a warp's lanes are merged there, so that the first lane of a
 * run alone finds the group and adds to its states in global memory. Lanes take consecutive rows (tile_walk), or with TILE_MANY
 * each its own, which follow each other where a tile is kept whole. So keys that stand in order or in runs in the table are
 * mostly found once for some rows.
 */
#ifndef TESSERA_OPERATORS_GROUP_LANE_RUNS_CUDA_H
#define TESSERA_OPERATORS_GROUP_LANE_RUNS_CUDA_H

#include "operators/group/states_cuda.h"

struct lane_run {
    uint32_t lane, end; /* the lane after the run's last one */
    bool head;          /* the run's first lane */
    bool merged;        /* some run of the warp has several lanes; the same in all lanes */

    /* Lanes that come apart from the others, as the last rows of a tile do, are runs of one. */
    __device__ __forceinline__ lane_run(uint64_t number)
    {
        lane = threadIdx.x % 32;
        end = lane + 1;
        head = true;
        merged = false;
        if (__activemask() != FULL_WARP)
            return;
        const uint64_t before = __shfl_up_sync(FULL_WARP, number, 1);
        head = lane == 0 || before != number;
        const uint32_t heads = __ballot_sync(FULL_WARP, head), later = heads & ~low_bits(lane + 1);
        merged = heads != FULL_WARP;
        end = later ? __ffs(later) - 1 : 32;
    }
    /* Merges the words of the run; the head has the result. */
    template <merge_kind KIND> __device__ __forceinline__ uint64_t fold(uint64_t word) const
    {
        if (!merged)
            return word;
#pragma unroll
        for (uint32_t distance = 1; distance < 32; distance *= 2) {
            const uint64_t other = __shfl_down_sync(FULL_WARP, word, distance);
            uint64_t unused;
            if (lane + distance < end)
                state_merge_words(KIND, &word, &unused, other, 0);
            if (!__any_sync(FULL_WARP, lane + 2 * distance < end))
                break;
        }
        return word;
    }
};

#endif
