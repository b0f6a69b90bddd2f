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

    /* take() follows. */
    __device__ __forceinline__ lane_run() : lane(threadIdx.x % 32)
    {
    }
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
        take(__ballot_sync(FULL_WARP, lane == 0 || before != number));
    }
    /* The runs of a whole warp, which begin at the lanes of `heads`; a run begins at the first lane. */
    __device__ __forceinline__ void take(uint32_t heads)
    {
        const uint32_t later = heads & ~low_bits(lane + 1);
        head = heads >> lane & 1;
        merged = heads != FULL_WARP;
        end = later ? __ffs(later) - 1 : 32;
    }
    /* The rows of the run, in its head. */
    __device__ __forceinline__ uint32_t rows() const
    {
        return end - lane;
    }
    /* Merges the words of the run; the head has the result. Sums may have words of 32 bits, if those of 32 rows fit. */
    template <merge_kind KIND, class WORD> __device__ __forceinline__ WORD fold(WORD word) const
    {
        if (!merged)
            return word;
#pragma unroll
        for (uint32_t distance = 1; distance < 32; distance *= 2) {
            const WORD other = __shfl_down_sync(FULL_WARP, word, distance);
            uint64_t low = word, unused;
            state_merge_words(KIND, &low, &unused, other, 0);
            word = lane + distance < end ? (WORD)low : word;
            if (!__any_sync(FULL_WARP, lane + 2 * distance < end))
                break;
        }
        return word;
    }
};

#endif
