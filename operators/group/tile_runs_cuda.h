/*
 * tile_runs_cuda.h: what runs of rows of a tile add up to, where runs are short and follow each other. 32 lanes that exchange
 * their values take five turns for 32 rows, whatever they are; instead each lane adds up 32 rows that follow each other, from the
 * last to the first, which are in shared memory (tile_place):
 *
 *     tile_run_rest     what the lane's last run has in the rows of the lanes after it
 *     tile_run_totals   at the place of each row with which a run begins: what the run adds up to
 *     tile_run_spread   at the place of each row: what its run adds up to
 *
 * A warp has a tile of TILE_ROWS rows. `heads`: lane l has a bit for each of the rows 32l .. 32l + 31 that begins a run, as a
 * ballot over these rows tells. OF says how values are merged: `nothing` changes none.
 */
#ifndef TESSERA_OPERATORS_GROUP_TILE_RUNS_CUDA_H
#define TESSERA_OPERATORS_GROUP_TILE_RUNS_CUDA_H

#include "operators/dialect/tile_cuda.h"

/* `all`: what the lane's rows before its first head add up to; then those that follow them in the run, too. `after`: what the
 * tile's last run has in the rows after it. All lanes call it. */
template <class OF, class T> TILE_INLINE T tile_run_rest(uint32_t heads, T after, T *all)
{
    const uint32_t lane = threadIdx.x % 32;
    bool ended = heads || lane == 31;
    T upto = lane == 31 && !heads ? OF::merge(*all, after) : *all;
    for (uint32_t distance = 1; distance < 32 && __any_sync(FULL_WARP, !ended); distance *= 2) {
        const T other = __shfl_down_sync(FULL_WARP, upto, distance);
        const bool others = __shfl_down_sync(FULL_WARP, (uint32_t)ended, distance);
        upto = ended ? upto : OF::merge(upto, other);
        ended |= others;
    }
    *all = upto;
    const T next = __shfl_down_sync(FULL_WARP, upto, 1);
    return lane == 31 ? after : next;
}

/* `after`: what the tile's last run has in the rows after it. Returns what the lane's rows before its first head, and those that
 * follow them in the run, add up to. All lanes call it, after a __syncwarp. */
template <class OF, class T> TILE_INLINE T tile_run_totals(T *values, uint32_t heads, T after)
{
    const uint32_t lane = threadIdx.x % 32;
    const T nothing = OF::template nothing<T>();
    T *const own = values + tile_place(32 * lane, true);
    T all = nothing;
#pragma unroll
    for (uint32_t i = 32; i-- > 0;) {
        all = OF::merge(all, own[i]);
        if (heads >> i & 1) {
            own[i] = all;
            all = nothing;
        }
    }
    const T rest = tile_run_rest<OF>(heads, after, &all);
    if (heads) {
        T *const last = own + (31 - __clz(heads));
        *last = OF::merge(*last, rest);
    }
    return all;
}

/* After tile_run_totals, which has returned `all`. `before`: what the tile's first run has in the rows before it. */
template <class OF, class T> TILE_INLINE void tile_run_spread(T *values, uint32_t heads, T all, T before)
{
    const uint32_t lane = threadIdx.x % 32, lanes = __ballot_sync(FULL_WARP, heads != 0) & low_bits(lane);
    T *const own = values + tile_place(32 * lane, true);
    const T last = heads ? own[31 - __clz(heads)] : OF::template nothing<T>(),
            first = OF::merge(before, (T)__shfl_sync(FULL_WARP, all, 0)),
            earlier = __shfl_sync(FULL_WARP, last, lanes ? 31 - __clz(lanes) : 0);
    T of = lanes ? earlier : first;
#pragma unroll
    for (uint32_t i = 0; i < 32; i++) {
        of = heads >> i & 1 ? own[i] : of;
        own[i] = of;
    }
}

#endif
