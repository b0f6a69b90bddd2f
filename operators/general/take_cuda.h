/*
 * take_cuda.h: rows that a scan has marked, as plain columns in the order of the table: of each expression an array of
 * numbers, and bits of those that are not NULL. The scan is the general kernel for rows, which comes before this text:
 *
 *     take_count    counts the rows of each tile
 *     take_before   the rows in the tiles before each, by one block: there are 1000 times as many rows as tiles
 *     take_rows     computes the expressions of the rows, 32 neighbouring ones by a warp at a time, and writes them
 */
#ifndef TESSERA_OPERATORS_GENERAL_TAKE_CUDA_H
#define TESSERA_OPERATORS_GENERAL_TAKE_CUDA_H

#include "operators/general/scan_cuda.h"
#include "operators/general/take.h"

static_assert(GENERAL_ITEMS == 1, "a lane takes one row at a time");

extern "C" __global__ void __launch_bounds__(TAKE_THREADS) take_count(const __grid_constant__ take_work work)
{
    const uint64_t warps = gridDim.x * (uint64_t)blockDim.x / 32;
    for (uint64_t tile = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / 32; tile < work.tiles;
         tile += warps) {
        uint32_t count =
            __popc(reinterpret_cast<const uint32_t *>(work.masks)[tile * TILE_LANES + threadIdx.x % 32]);
        for (uint32_t distance = 16; distance > 0; distance /= 2)
            count += __shfl_down_sync(FULL_WARP, count, distance);
        if (threadIdx.x % 32 == 0)
            reinterpret_cast<uint64_t *>(work.before)[tile] = count;
    }
}

extern "C" __global__ void __launch_bounds__(TAKE_SCAN_THREADS)
    take_before(const __grid_constant__ take_work work)
{
    uint64_t *const before = reinterpret_cast<uint64_t *>(work.before), *const of_warps =
                                                                            reinterpret_cast<uint64_t *>(
                                                                                tile_shared);
    const uint64_t each = (work.tiles + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * each,
                   end = begin + each < work.tiles ? begin + each : work.tiles;
    uint64_t own = 0;
    for (uint64_t tile = begin; tile < end; tile++)
        own += before[tile];
    uint64_t sum = own;
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint64_t other = __shfl_up_sync(FULL_WARP, sum, distance);
        sum += threadIdx.x % 32 >= distance ? other : 0;
    }
    if (threadIdx.x % 32 == 31)
        of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum -= own;
    for (uint32_t warp = 0; warp < threadIdx.x / 32; warp++)
        sum += of_warps[warp];
    for (uint64_t tile = begin; tile < end; tile++) {
        const uint64_t of = before[tile];
        before[tile] = sum;
        sum += of;
    }
    if (threadIdx.x == blockDim.x - 1)
        before[work.tiles] = sum;
}

TILE_INLINE void take_row(const take_work &work, const general_tile_rows &rows, uint64_t to)
{
    for (uint32_t c = 0; c < work.count; c++) {
        const take_column column = reinterpret_cast<const take_column *>(work.columns)[c];
        const int64_t value = rows.slot(column.slot, 0);
        if (column.value_bytes == 4)
            reinterpret_cast<int32_t *>(column.values)[to] = (int32_t)value;
        else
            reinterpret_cast<int64_t *>(column.values)[to] = value;
        if (column.validity && !rows.is_null(column.slot, 0))
            atomicOr(reinterpret_cast<uint32_t *>(column.validity) + to / TILE_ROWS * TILE_LANES + to % 32,
                     1u << to % TILE_ROWS / 32);
    }
}

extern "C" __global__ void __launch_bounds__(GENERAL_THREADS, GENERAL_BLOCKS)
    take_rows(const __grid_constant__ general_bound bound, const __grid_constant__ bound_scan scanned,
              const __grid_constant__ take_work work)
{
    general_each_tile(
        bound, scanned, [&](general_tile &tile, general_tile_rows &rows, general_states &states) {
            const uint64_t place = mask_place(&tile.t);
            const tile_mask keep = reinterpret_cast<const uint32_t *>(work.masks)[place];
            uint64_t before = reinterpret_cast<const uint64_t *>(work.before)[place / TILE_LANES];
            if (!__any_sync(FULL_WARP, keep))
                return;
            tile.prepare_all(work.staged);
#pragma unroll 1
            for (uint32_t j = 0; j < 32; j++) {
                const uint32_t lanes = __ballot_sync(FULL_WARP, keep >> j & 1);
                if (!lanes)
                    continue;
                rows.active[0] = lanes >> tile.t.lane & 1;
                rows.row[0] = rows.active[0] ? 32 * j + tile.t.lane : 0;
                general_evaluate<GENERAL_OF_ROWS>(
                    tile.context, work.first, work.end, rows, states,
                    [&](uint32_t column) { return tile.source(column); },
                    [&](uint32_t dimension, uint32_t probe, uint32_t position) {
                        return tile.passes(dimension, probe, position);
                    });
                if (rows.active[0])
                    take_row(work, rows, before + __popc(lanes & low_bits(tile.t.lane)));
                before += __popc(lanes);
            }
        });
}

#endif
