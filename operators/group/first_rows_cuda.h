/*
 * first_rows_cuda.h: the first rows of an order, on a GPU. A statement with ORDER BY and LIMIT is answered by these launches:
 *
 *     first_choose    lists the sample: up to a sixteenth of the tiles, those with the best values by their minima and maxima
 *     scan            finds the best and the worst rank of each sampled tile's rows that pass, or each lane's best
 *     first_tighten   finds the rank that `wanted` rows have or better, as these tell: no worse row is wanted
 *     first_choose    lists the tiles that may have wanted rows
 *     scan            lists the wanted rows, or marks them in the mask of all tiles if they are too many for the list
 *
 * A rank is a number below 2^63, the less the better (engine/plan/order/first_rows.h). A tile's best
 * row has its best rank, and none of the others is worse than its worst: the first bounds rows of random data, the second
 * those of sorted data. A row that is worse than the bound is dropped, one that is equal is listed.
 */
#ifndef TESSERA_OPERATORS_GROUP_FIRST_ROWS_CUDA_H
#define TESSERA_OPERATORS_GROUP_FIRST_ROWS_CUDA_H

#include "operators/dialect/query_cuda.h"
#include "operators/group/first_rows.h"

#define FIRST_NO_RANK (~0ull)

TILE_INLINE volatile first_state *first_rows_state()
{
    return reinterpret_cast<volatile first_state *>(arguments.first.state);
}

/* No row with a greater rank is wanted. */
TILE_INLINE uint64_t first_bound()
{
    const uint64_t sampled = ~first_rows_state()->tightened;
    return sampled < arguments.first.bound ? sampled : arguments.first.bound;
}

/* A value's part of the rank. */
TILE_INLINE uint64_t first_part_of(const first_term_argument &term, bool descending, int64_t value, bool null)
{
    const int64_t within = value < term.low ? term.low : value > term.high ? term.high : value;
    const uint64_t distance =
        descending ? (uint64_t)term.high - (uint64_t)within : (uint64_t)within - (uint64_t)term.low;
    return (null ? term.null : term.best + (distance >> term.shift)) * term.stride;
}
template <uint32_t TERM, bool DESCENDING> TILE_INLINE uint64_t first_part(int64_t value, bool null)
{
    return first_part_of(arguments.first.terms[TERM], DESCENDING, value, null);
}

/* The row's part: its place in the table, if equal rows come in that order. */
template <bool BY_ROW> TILE_INLINE uint64_t first_place(const tile *t, uint32_t row)
{
    return BY_ROW ? (uint64_t)t->segment << 24 | (t->index * TILE_ROWS + row) : 0;
}

/* The number of items that the next scan reads. */
TILE_INLINE uint32_t first_items()
{
    return first_rows_state()->sampling ? first_rows_state()->sampled : first_rows_state()->items;
}

/* A warp's rows, in the scan. */
struct state_first {
    uint64_t bound, best, worst; /* of this lane's rows of the tile */
    uint32_t rows;
    bool sampling, full;

    __device__ __forceinline__ void begin()
    {
        bound = first_bound();
        best = FIRST_NO_RANK;
        worst = rows = 0;
        sampling = first_rows_state()->sampling;
        full = false;
    }
    /* False if the row is not wanted, although parts of its rank may be missing. */
    __device__ __forceinline__ bool may_take(const tile *, uint32_t, uint64_t rank) const
    {
        return rank <= bound;
    }
    /* Takes a row that passes; false: it is dropped. */
    __device__ __forceinline__ bool take(const tile *t, uint32_t row, uint64_t rank)
    {
        if (rank > bound)
            return false;
        if (sampling) {
            best = rank < best ? rank : best;
            worst = rank > worst ? rank : worst;
            rows++;
        }
        if (sampling || !arguments.first.list || full)
            return true;
        const uint64_t at = atomicAdd(const_cast<state_word *>(&first_rows_state()->found), 1ull);
        full = at >= arguments.first.capacity;
        if (full)
            *reinterpret_cast<volatile uint32_t *>(arguments.full) = 1;
        else
            reinterpret_cast<first_entry *>(arguments.first.list)[at] =
                first_entry{rank, t->segment, t->index * TILE_ROWS + row};
        return true;
    }
    /* After the tile's last row. All lanes must call it. */
    __device__ __forceinline__ void end(const tile *t, tile_mask keep)
    {
        if (sampling)
            tell(t);
        else if (!arguments.first.list)
            keep_rows(t, keep);
    }
    /* Tells of one row of the tile, or of each lane, and of all others. */
    __device__ __forceinline__ void tell(const tile *t)
    {
        const uint32_t all = sum_warp(rows);
#pragma unroll
        for (uint32_t distance = 16; distance > 0; distance /= 2) {
            const uint64_t least = __shfl_xor_sync(FULL_WARP, best, distance),
                           most = __shfl_xor_sync(FULL_WARP, worst, distance);
            best = !arguments.first.of_lanes && least < best ? least : best;
            worst = most > worst ? most : worst;
        }
        const bool one = arguments.first.of_lanes ? rows > 0 : t->lane == 0 && all > 0;
        const uint32_t lanes = __ballot_sync(FULL_WARP, one), ones = __popc(lanes);
        uint32_t at = 0;
        if (t->lane == 0 && all)
            at = atomicAdd(const_cast<uint32_t *>(&first_rows_state()->known), ones + 1);
        at = __shfl_sync(FULL_WARP, at, 0);
        first_known *const known = reinterpret_cast<first_known *>(arguments.first.known) + at;
        if (one)
            known[__popc(lanes & low_bits(t->lane))] = first_known{best, 1, 0};
        if (t->lane == 0 && all)
            known[ones] = first_known{worst, all - ones, 0};
        best = FIRST_NO_RANK;
        worst = rows = 0;
    }
    __device__ __forceinline__ void finish()
    {
    }
};

/* ---- Between scans ---- */

/* The tiles of an item that are left out: those that cannot have a wanted row. */
TILE_INLINE uint32_t first_left_out(uint64_t best, uint32_t item, uint64_t bound)
{
    const ulonglong2 *const ranks = reinterpret_cast<const ulonglong2 *>(best) + item * (WORK_TILES / 2);
    uint32_t out = 0;
#pragma unroll
    for (uint32_t pair = 0; pair < WORK_TILES / 2; pair++) {
        const ulonglong2 two = __ldg(ranks + pair);
        out |= (uint32_t)(two.x > bound) << 2 * pair | (uint32_t)(two.y > bound) << (2 * pair + 1);
    }
    return out;
}

extern "C" __global__ void __launch_bounds__(256) first_choose(const __grid_constant__ first_choice choice)
{
    volatile first_state *const state = first_rows_state();
    const uint64_t bound = first_bound();
    const uint32_t lane = threadIdx.x % 32, threads = gridDim.x * blockDim.x;
    uint32_t *const length = const_cast<uint32_t *>(choice.sampling ? &state->sampled : &state->items);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        state->sampling = choice.sampling;
    for (uint32_t first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < choice.count;
         first += threads) {
        const uint32_t item = first + lane;
        uint32_t out = FIRST_ALL_TILES;
        uint4 piece = make_uint4(0, 0, 0, 0);
        if (item < choice.count) {
            piece = __ldg(reinterpret_cast<const uint4 *>(choice.work) + item);
            out = choice.sampling ? ~(piece.z >> (16 + FIRST_SAMPLE_SHIFT)) & FIRST_ALL_TILES
                  : choice.best   ? first_left_out(choice.best, item, bound)
                                  : 0;
        }
        const uint32_t lanes = __ballot_sync(FULL_WARP, out != FIRST_ALL_TILES);
        uint32_t at = 0;
        if (lane == 0 && lanes)
            at = atomicAdd(length, (uint32_t)__popc(lanes));
        at = __shfl_sync(FULL_WARP, at, 0) + __popc(lanes & low_bits(lane));
        if (out != FIRST_ALL_TILES)
            reinterpret_cast<uint4 *>(choice.chosen)[at] =
                make_uint4(piece.x, piece.y, (piece.z & 0xffff) | out << 16, piece.w);
    }
}

/* Finds the digit of the `rank`-th number, from 0 on, in a histogram; subtracts from *rank the numbers of lesser digits.
 * One warp calls it. */
TILE_INLINE uint32_t first_digit(const uint32_t *counts, uint32_t lane, uint32_t *rank)
{
    uint32_t own = 0;
    for (uint32_t i = 0; i < FIRST_DIGITS / 32; i++)
        own += counts[lane * (FIRST_DIGITS / 32) + i];
    const uint32_t upto = scan_warp(own, lane), owner = __popc(__ballot_sync(FULL_WARP, upto <= *rank));
    uint32_t left = *rank - __shfl_sync(FULL_WARP, upto - own, owner), digit = owner * (FIRST_DIGITS / 32);
    while (counts[digit] <= left)
        left -= counts[digit++];
    *rank = left;
    return digit;
}

/* One block, of FIRST_TIGHTEN_THREADS. Finds the rank of the sample's `wanted`-th row by its digits, the most significant first; digits that all
 * ranks have in common take no pass over them. */
extern "C" __global__ void __launch_bounds__(FIRST_TIGHTEN_THREADS) first_tighten()
{
    first_tightening &own_block = *reinterpret_cast<first_tightening *>(tile_shared);
    uint32_t *const counts = own_block.counts;
    unsigned long long &least = own_block.least, &most = own_block.most,
                       &prefix_found = own_block.prefix_found;
    uint32_t &rank_left = own_block.rank_left, &rows = own_block.rows;
    volatile first_state *const state = first_rows_state();
    const uint32_t count = state->known, lane = threadIdx.x % 32;
    const first_known *const known = reinterpret_cast<const first_known *>(arguments.first.known);
    if (threadIdx.x == 0) {
        least = FIRST_NO_RANK;
        most = rows = 0;
        rank_left = (uint32_t)arguments.first.wanted - 1;
    }
    __syncthreads();
    uint64_t low = FIRST_NO_RANK, high = 0;
    uint32_t own = 0;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        low = known[i].rank < low ? known[i].rank : low;
        high = known[i].rank > high ? known[i].rank : high;
        own += known[i].rows;
    }
    atomicAdd(&rows, own);
    atomicMin(&least, (unsigned long long)low);
    atomicMax(&most, (unsigned long long)high);
    __syncthreads();
    low = least;
    const bool enough = rows >= arguments.first.wanted;
    const uint64_t differing = low ^ most;
    uint64_t prefix = 0;
    for (uint32_t shift = 64; enough && shift > 0;) {
        shift -= 8;
        const uint64_t above = shift == 56 ? 0 : ~0ull << (shift + 8);
        if (differing >> shift == 0) {
            prefix |= low & 0xffull << shift;
            continue;
        }
        for (uint32_t digit = threadIdx.x; digit < FIRST_DIGITS; digit += blockDim.x)
            counts[digit] = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
            if ((known[i].rank & above) == prefix)
                atomicAdd(&counts[known[i].rank >> shift & 0xff], known[i].rows);
        __syncthreads();
        if (threadIdx.x < 32) {
            uint32_t rank = rank_left;
            const uint64_t digit = first_digit(counts, lane, &rank);
            __syncwarp();
            if (lane == 0) {
                rank_left = rank;
                prefix_found = prefix | digit << shift;
            }
        }
        __syncthreads();
        prefix = prefix_found;
    }
    if (threadIdx.x)
        return;
    if (enough) {
        state->tightened = ~prefix > state->tightened ? ~prefix : state->tightened;
        state->known = 0;
    }
    state->sampled = state->items = 0;
}

#endif
