/*
 * values_cuda.h: measures of all values, as medians or numbers of distinct values, of groups that are on a GPU. The scan has
 * grouped by the values, too. Of each term that is measured:
 *
 *     values_collect    makes an entry of each group of the scan: the statement's group and the value's code, and the rows
 *                       (these are sorted: operators/sort/radix_sort_cuda.h)
 *     values_add        the sums of pieces of the entries
 *     values_scan       the sums of the pieces before each
 *     values_prefix     the sums of the entries up to each: of rows, of groups and different values, of codes
 *     values_starts     lists the first entry of each group
 *     values_groups     what each group has: rows, different values, the sum of their codes
 *     values_pick       the codes in rows that the host has chosen, of each group
 *
 * All sums are exact. The only aggregate of the scan is the number of rows.
 */
#ifndef TESSERA_OPERATORS_GENERAL_VALUES_CUDA_H
#define TESSERA_OPERATORS_GENERAL_VALUES_CUDA_H

#include "operators/dialect/query_cuda.h"
#include "operators/general/values.h"

/* The slots that a lane looks at before it writes anything, so that loads are in flight. */
#define VALUES_TAKEN 4u

TILE_INLINE uint64_t values_warp()
{
    return (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / 32;
}
TILE_INLINE uint64_t values_warps()
{
    return gridDim.x * (uint64_t)blockDim.x / 32;
}

extern "C" __global__ void __launch_bounds__(VALUES_THREADS)
    values_collect(const __grid_constant__ values_work work)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint64_t first = values_warp() * VALUES_TAKEN * 32; first < arguments.slots;
         first += values_warps() * VALUES_TAKEN * 32) {
        uint64_t number[VALUES_TAKEN];
        uint32_t lanes[VALUES_TAKEN], count = 0;
#pragma unroll
        for (uint32_t i = 0; i < VALUES_TAKEN; i++) {
            const uint64_t slot = first + 32 * i + lane;
            const bool within = slot < arguments.slots;
            const uint64_t key = !within ? 0 : work.hashed ? state_words(arguments.keys)[slot] : slot + 1;
            const bool used =
                within &&
                (work.hashed ? key != 0 : reinterpret_cast<const uint32_t *>(arguments.present)[slot] != 0);
            number[i] = key - 1;
            lanes[i] = __ballot_sync(FULL_WARP, used);
            count += __popc(lanes[i]);
        }
        uint64_t at = 0;
        if (lane == 0 && count)
            at = atomicAdd(state_words(work.found), (state_word)count);
        at = __shfl_sync(FULL_WARP, at, 0);
#pragma unroll
        for (uint32_t i = 0; i < VALUES_TAKEN; i++) {
            const uint64_t to = at + __popc(lanes[i] & low_bits(lane));
            at += __popc(lanes[i]);
            if (!(lanes[i] >> lane & 1) || to >= work.capacity)
                continue;
            state_words(work.keys)[to] =
                number[i] / work.group_stride * work.domain + number[i] / work.stride % work.domain;
            state_words(work.rows)[to] = state_words(arguments.states[0])[first + 32 * i + lane];
        }
    }
}

TILE_INLINE uint64_t values_key(const values_work &work, uint64_t i)
{
    return state_words(work.keys)[i] - work.key_more;
}

/* ---- Prefix sums ---- */

TILE_INLINE uint64_t values_item(const values_work &work, uint32_t sum, uint64_t i)
{
    if (sum == VALUES_ROWS)
        return state_words(work.rows)[i];
    const uint64_t key = values_key(work, i), before = i ? values_key(work, i - 1) : 0;
    if (i && key == before)
        return 0;
    const uint64_t code = key % work.domain;
    const bool null = work.nullable && code == 0, group = i == 0 || key - code > before;
    return sum == VALUES_FLAGS ? (uint64_t)group << 32 | !null : code;
}

extern "C" __global__ void __launch_bounds__(VALUES_THREADS)
    values_add(const __grid_constant__ values_work work, uint32_t sum)
{
    const uint64_t pieces = (work.count + VALUES_PIECE - 1) / VALUES_PIECE;
    for (uint64_t piece = values_warp(); piece < pieces; piece += values_warps()) {
        const uint64_t begin = piece * VALUES_PIECE,
                       end = work.count - begin < VALUES_PIECE ? work.count : begin + VALUES_PIECE;
        uint64_t all = 0;
#pragma unroll 4
        for (uint64_t i = begin + threadIdx.x % 32; i < end; i += 32)
            all += values_item(work, sum, i);
        for (uint32_t distance = 16; distance > 0; distance /= 2)
            all += __shfl_down_sync(FULL_WARP, all, distance);
        if (threadIdx.x % 32 == 0)
            state_words(work.sums)[piece] = all;
    }
}

/* The inclusive sums over the lanes of a warp. */
TILE_INLINE uint64_t values_upto(uint64_t value)
{
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint64_t other = __shfl_up_sync(FULL_WARP, value, distance);
        value += threadIdx.x % 32 >= distance ? other : 0;
    }
    return value;
}

/* One block, with 64 bits of shared memory for each warp. */
extern "C" __global__ void __launch_bounds__(VALUES_SCAN_THREADS)
    values_scan(const __grid_constant__ values_work work)
{
    const uint64_t pieces = (work.count + VALUES_PIECE - 1) / VALUES_PIECE,
                   each = (pieces + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * each,
                   end = begin + each < pieces ? begin + each : pieces;
    state_word *const sums = state_words(work.sums), *const of_warps =
                                                         reinterpret_cast<state_word *>(tile_shared);
    uint64_t own = 0;
    for (uint64_t piece = begin; piece < end; piece++)
        own += sums[piece];
    uint64_t before = values_upto(own);
    if (threadIdx.x % 32 == 31)
        of_warps[threadIdx.x / 32] = before;
    __syncthreads();
    before -= own;
    for (uint32_t warp = 0; warp < threadIdx.x / 32; warp++)
        before += of_warps[warp];
    for (uint64_t piece = begin; piece < end; piece++) {
        const uint64_t of = sums[piece];
        sums[piece] = before;
        before += of;
    }
}

/* `to` may be the rows. */
extern "C" __global__ void __launch_bounds__(VALUES_THREADS)
    values_prefix(const __grid_constant__ values_work work, uint32_t sum, uint64_t to)
{
    const uint64_t pieces = (work.count + VALUES_PIECE - 1) / VALUES_PIECE;
    for (uint64_t piece = values_warp(); piece < pieces; piece += values_warps()) {
        const uint64_t begin = piece * VALUES_PIECE,
                       end = work.count - begin < VALUES_PIECE ? work.count : begin + VALUES_PIECE;
        uint64_t before = state_words(work.sums)[piece];
#pragma unroll 4
        for (uint64_t first = begin; first < end; first += 32) {
            const uint64_t i = first + threadIdx.x % 32;
            const uint64_t upto = values_upto(i < end ? values_item(work, sum, i) : 0);
            if (i < end)
                state_words(to)[i] = before + upto;
            before += __shfl_sync(FULL_WARP, upto, 31);
        }
    }
}

/* The sum of the entries before `i`. */
TILE_INLINE uint64_t values_before(uint64_t prefix, uint64_t i)
{
    return i ? state_words(prefix)[i - 1] : 0;
}

/* ---- Groups ---- */

extern "C" __global__ void __launch_bounds__(VALUES_THREADS)
    values_starts(const __grid_constant__ values_work work)
{
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < work.count; i += threads) {
        const uint64_t before = values_before(work.flags, i) >> 32, upto = state_words(work.flags)[i] >> 32;
        if (upto != before)
            state_words(work.starts)[before] = i;
    }
}

TILE_INLINE void values_group_of(const values_work &work, uint64_t g)
{
    const uint64_t begin = state_words(work.starts)[g],
                   end = g + 1 < work.group_count ? state_words(work.starts)[g + 1] : work.count,
                   group = values_key(work, begin) / work.domain;
    uint64_t first = begin, last = end;
    while (work.nullable && first < last) { /* NULLs come first, with code 0 */
        const uint64_t middle = first + (last - first) / 2;
        if (values_key(work, middle) == group * work.domain)
            first = middle + 1;
        else
            last = middle;
    }
    const uint64_t rows = state_words(work.rows)[end - 1];
    reinterpret_cast<values_group *>(work.groups)[g] = values_group{
        group * work.group_stride,
        rows - values_before(work.rows, begin),
        first,
        end,
        rows - values_before(work.rows, first),
        (uint32_t)state_words(work.flags)[end - 1] - (uint64_t)(uint32_t)values_before(work.flags, begin),
        work.codes ? state_words(work.codes)[end - 1] - values_before(work.codes, begin) : 0};
}

extern "C" __global__ void __launch_bounds__(VALUES_THREADS)
    values_groups(const __grid_constant__ values_work work)
{
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t g = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; g < work.group_count; g += threads)
        values_group_of(work, g);
}

/* Each group has `each` places, rows of it that are not NULL, counted from 0; they become codes. */
extern "C" __global__ void __launch_bounds__(VALUES_THREADS)
    values_pick(const __grid_constant__ values_work work, uint64_t places, uint64_t each)
{
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t p = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; p < work.group_count * each;
         p += threads) {
        const values_group group = reinterpret_cast<const values_group *>(work.groups)[p / each];
        const uint64_t row = state_words(places)[p] + values_before(work.rows, group.first);
        uint64_t first = group.first, last = group.end;
        while (first < last) { /* the first entry with more rows up to it */
            const uint64_t middle = first + (last - first) / 2;
            if (state_words(work.rows)[middle] <= row)
                first = middle + 1;
            else
                last = middle;
        }
        state_words(places)[p] = first < group.end ? values_key(work, first) % work.domain : 0;
    }
}

#endif
