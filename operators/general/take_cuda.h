/*
 * take_cuda.h: rows that a scan has marked, as plain columns in the order of the table: of each expression an array of
 * numbers, and bits of those that are not NULL. The scan is the general kernel for rows, which comes before this text:
 *
 *     take_count     counts the rows of each tile, and gives those before it in its part of 256 tiles
 *     take_before    the rows in the parts before each, by one block: there are 250,000 times as many rows as parts
 *     take_columns   writes what is nothing but a column of the scan, or an array at its positions, as keys are, tile by tile: a
 *                    lane decodes its own 32 items, so that a plane or a word of packed values is loaded once for all of them
 *     take_rows      computes the other expressions of 32 neighbouring rows by a warp at a time, and writes them
 */
#ifndef TESSERA_OPERATORS_GENERAL_TAKE_CUDA_H
#define TESSERA_OPERATORS_GENERAL_TAKE_CUDA_H

#include "operators/general/scan_cuda.h"
#include "operators/general/take.h"

static_assert(GENERAL_ITEMS == 1, "a lane takes one row at a time");

/* In a tile with at most so many rows only their bytes are read. */
#define TAKE_FEW_ROWS 8u

/* ---- Places ---- */

extern "C" __global__ void __launch_bounds__(TAKE_THREADS) take_count(const __grid_constant__ take_work work)
{
    const uint32_t *const masks = reinterpret_cast<const uint32_t *>(work.masks);
    uint32_t *const of_warps = reinterpret_cast<uint32_t *>(tile_shared);
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (uint64_t part = blockIdx.x; part < work.parts; part += gridDim.x) {
        const uint64_t first = part * TAKE_PART_TILES + warp * 32;
        uint32_t own = 0;
#pragma unroll 8
        for (uint32_t i = 0; i < 32; i++) {
            const uint64_t tile = first + i;
            const uint32_t count = sum_warp(tile < work.tiles ? __popc(masks[tile * TILE_LANES + lane]) : 0);
            own = lane == i ? count : own;
        }
        uint32_t sum = scan_warp(own, lane);
        if (lane == 31)
            of_warps[warp] = sum;
        __syncthreads();
        for (uint32_t before = 0; before < warp; before++)
            sum += of_warps[before];
        if (first + lane < work.tiles)
            reinterpret_cast<uint32_t *>(work.before)[first + lane] = sum - own;
        if (threadIdx.x == TAKE_THREADS - 1)
            reinterpret_cast<uint64_t *>(work.parts_before)[part] = sum;
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(TAKE_SCAN_THREADS)
    take_before(const __grid_constant__ take_work work)
{
    uint64_t *const before = reinterpret_cast<uint64_t *>(work.parts_before),
                    *const of_warps = reinterpret_cast<uint64_t *>(tile_shared);
    const uint64_t each = (work.parts + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * each,
                   end = begin + each < work.parts ? begin + each : work.parts;
    uint64_t own = 0;
    for (uint64_t part = begin; part < end; part++)
        own += before[part];
    uint64_t sum = scan_values(own, threadIdx.x % 32);
    if (threadIdx.x % 32 == 31)
        of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    sum -= own;
    for (uint32_t warp = 0; warp < threadIdx.x / 32; warp++)
        sum += of_warps[warp];
    for (uint64_t part = begin; part < end; part++) {
        const uint64_t of = before[part];
        before[part] = sum;
        sum += of;
    }
    if (threadIdx.x == blockDim.x - 1)
        before[work.parts] = sum;
}

/* The rows of a tile that are kept. The first goes to place `before`. */
struct take_tile {
    uint64_t before;
    tile_mask keep;
    uint32_t lane, count;

    __device__ __forceinline__ take_tile(const take_work &work, const tile &t)
    {
        const uint64_t place = mask_place(&t), number = place / TILE_LANES;
        keep = reinterpret_cast<const uint32_t *>(work.masks)[place];
        before = reinterpret_cast<const uint64_t *>(work.parts_before)[number / TAKE_PART_TILES] +
                 reinterpret_cast<const uint32_t *>(work.before)[number];
        lane = t.lane;
        count = sum_warp(__popc(keep));
    }
    __device__ __forceinline__ bool kept(uint32_t j) const
    {
        return keep >> j & 1;
    }
    /* The place of the lane's item j, if it is kept, after `before`; `rank` counts those before item j of all lanes. All lanes
     * call it. */
    __device__ __forceinline__ uint32_t place(uint32_t j, uint32_t &rank) const
    {
        const uint32_t lanes = __ballot_sync(FULL_WARP, kept(j)),
                       place = rank + __popc(lanes & low_bits(lane));
        rank += __popc(lanes);
        return place;
    }
};

TILE_INLINE void take_valid(const take_column &column, uint64_t place)
{
    atomicOr(reinterpret_cast<uint32_t *>(column.validity) + place / TILE_ROWS * TILE_LANES + place % 32,
             1u << place % TILE_ROWS / 32);
}

/* ---- Columns of the scan ---- */

/* Writes value `i` from an address on. Narrow values go to columns of 4 bytes a value, wide ones to either. */
template <class VALUE>
TILE_INLINE void take_put(const take_column &column, uint64_t address, uint32_t i, VALUE value)
{
    if (!is_wide<VALUE> || column.value_bytes == 4)
        reinterpret_cast<int32_t *>(address)[i] = (int32_t)value;
    else
        reinterpret_cast<int64_t *>(address)[i] = value;
}

/* All of a tile's items. Their loads are in flight together, as far as the code of an item is short. */
template <class VALUE, class DECODE, class F>
TILE_INLINE void take_items(DECODE &decode, const general_source &from, F f)
{
    constexpr uint32_t unrolled = is_wide<VALUE> ? 2 : 8;
    if constexpr (general_by_tile<DECODE>) {
        decode.template items<false>(from.scratch, f);
    } else {
#pragma unroll unrolled
        for (uint32_t j = 0; j < 32; j++)
            f(j, value_at<VALUE>(decode, from, 32 * j + from.lane));
    }
}

enum take_share { TAKE_ALL, TAKE_MANY, TAKE_FEW }; /* all 1024 rows of a tile; or so many */

template <take_share SHARE, class VALUE, class DECODE>
TILE_INLINE void take_with(DECODE &decode, const general_source &from, const take_column &to,
                           const take_tile &tile)
{
    const uint32_t lane = SHARE == TAKE_ALL ? tile.lane : 0;
    const uint64_t address = to.values + (tile.before + lane) * (is_wide<VALUE> ? to.value_bytes : 4);
    uint32_t rank = 0;
    if constexpr (DECODE::RANDOM_ACCESS)
        decode.seek(*from.chunk, from.tile, from.lane);
    if constexpr (SHARE == TAKE_FEW) {
#pragma unroll 1
        for (uint32_t j = 0; j < 32; j++) {
            const uint32_t place = tile.place(j, rank);
            if (tile.kept(j))
                take_put<VALUE>(to, address, place, value_at<VALUE>(decode, from, 32 * j + from.lane));
        }
    } else {
        take_items<VALUE>(decode, from, [&](uint32_t j, VALUE value) {
            const uint32_t place = SHARE == TAKE_ALL ? 32 * j : tile.place(j, rank);
            if (SHARE == TAKE_ALL || tile.kept(j))
                take_put<VALUE>(to, address, place, value);
        });
    }
}

template <take_share SHARE>
TILE_INLINE void take_values(const general_column &column, const general_source &from, const take_column &to,
                             const take_tile &tile)
{
    if (column.wide)
        with_wide_decoder(column, [&](auto &decode) { take_with<SHARE, int64_t>(decode, from, to, tile); });
    else
        with_narrow_decoder(column, [&](auto &decode) { take_with<SHARE, int32_t>(decode, from, to, tile); });
}

/* Its arguments are copies: they stay in registers, whatever is written. */
template <take_share SHARE>
static __device__ __noinline__ void take_some(general_column column, general_source from, take_column to,
                                              take_tile tile)
{
    take_values<SHARE>(column, from, to, tile);
}

#define TAKE_TOGETHER 8u

/* Replaces positions, which are where the values of the tile's kept rows go, by the elements there. NULLs may have any position
 * before and have any value then. */
template <class ELEMENT> TILE_INLINE void take_elements_of(const take_column &to, const take_tile &tile)
{
    const ELEMENT *const elements = reinterpret_cast<const ELEMENT *>(to.elements);
    int32_t *const values = reinterpret_cast<int32_t *>(to.values) + tile.before;
#pragma unroll 1
    for (uint32_t first = tile.lane; first < tile.count; first += TAKE_TOGETHER * TILE_LANES) {
        uint32_t position[TAKE_TOGETHER];
        ELEMENT element[TAKE_TOGETHER];
#pragma unroll
        for (uint32_t i = 0; i < TAKE_TOGETHER; i++)
            position[i] = first + i * TILE_LANES < tile.count ? values[first + i * TILE_LANES] : 0;
#pragma unroll
        for (uint32_t i = 0; i < TAKE_TOGETHER; i++)
            element[i] = __ldg(elements + min(position[i] >> to.shift, to.last));
#pragma unroll
        for (uint32_t i = 0; i < TAKE_TOGETHER; i++)
            if (first + i * TILE_LANES < tile.count)
                values[first + i * TILE_LANES] = (int32_t)element[i];
    }
}

static __device__ __noinline__ void take_elements(take_column to, take_tile tile)
{
    __syncwarp(); /* another lane has written the position */
    switch (to.element_bytes) {
    case 1:
        return take_elements_of<unsigned char>(to, tile);
    case 2:
        return take_elements_of<unsigned short>(to, tile);
    case 4:
        return take_elements_of<int>(to, tile);
    default:
        return take_elements_of<long long>(to, tile);
    }
}

/* Where all rows are kept and a tile of the taken rows begins with them, their bits have the same places. */
TILE_INLINE void take_validity(const general_column &column, const general_source &from,
                               const take_column &to, const take_tile &tile)
{
    const uint32_t *const validity = words_at(column.nullable ? from.chunk->validity : 0);
    const tile_mask valid =
        tile.keep & (validity ? load(validity + from.tile * TILE_LANES + tile.lane) : FULL_WARP);
    if (tile.count == TILE_ROWS && tile.before % TILE_ROWS == 0) {
        reinterpret_cast<uint32_t *>(to.validity)[tile.before / 32 + tile.lane] = valid;
        return;
    }
    uint32_t rank = 0;
#pragma unroll 1
    for (uint32_t j = 0; j < 32; j++) {
        const uint32_t place = tile.place(j, rank);
        if (valid >> j & 1)
            take_valid(to, tile.before + place);
    }
}

extern "C" __global__ void __launch_bounds__(GENERAL_THREADS, GENERAL_BLOCKS)
    take_columns(const __grid_constant__ general_bound bound, const __grid_constant__ bound_scan scanned,
                 const __grid_constant__ take_work work)
{
    general_each_tile(bound, scanned, [&](general_tile &from, general_tile_rows &, general_states &) {
        const take_tile tile(work, from.t);
#pragma unroll 1
        for (uint32_t c = 0; tile.count && c < work.count; c++) {
            const take_column to = reinterpret_cast<const take_column *>(work.columns)[c];
            if (to.column == TAKE_COMPUTED)
                continue;
            const general_column column = from.context.columns[to.column];
            const general_source source = from.source(to.column);
            from.prepare(to.column);
            if (tile.count == TILE_ROWS)
                take_values<TAKE_ALL>(column, source, to, tile);
            else if (tile.count > TAKE_FEW_ROWS)
                take_some<TAKE_MANY>(column, source, to, tile);
            else
                take_some<TAKE_FEW>(column, source, to, tile);
            if (to.elements)
                take_elements(to, tile);
            if (to.validity)
                take_validity(column, source, to, tile);
        }
    });
}

/* ---- Expressions ---- */

TILE_INLINE void take_row(const take_work &work, const general_tile_rows &rows, uint64_t place)
{
    for (uint32_t c = 0; c < work.count; c++) {
        const take_column column = reinterpret_cast<const take_column *>(work.columns)[c];
        if (column.column != TAKE_COMPUTED)
            continue;
        take_put<int64_t>(column, column.values + place * column.value_bytes, 0, rows.slot(column.slot, 0));
        if (column.validity && !rows.is_null(column.slot, 0))
            take_valid(column, place);
    }
}

extern "C" __global__ void __launch_bounds__(GENERAL_THREADS, GENERAL_BLOCKS)
    take_rows(const __grid_constant__ general_bound bound, const __grid_constant__ bound_scan scanned,
              const __grid_constant__ take_work work)
{
    general_each_tile(bound, scanned,
                      [&](general_tile &from, general_tile_rows &rows, general_states &states) {
                          const take_tile tile(work, from.t);
                          if (!tile.count)
                              return;
                          from.prepare_all(work.staged);
                          uint32_t rank = 0;
#pragma unroll 1
                          for (uint32_t j = 0; j < 32; j++) {
                              const uint32_t before = rank, place = tile.place(j, rank);
                              if (rank == before)
                                  continue;
                              rows.active[0] = tile.kept(j);
                              rows.row[0] = rows.active[0] ? 32 * j + tile.lane : 0;
                              general_evaluate<GENERAL_OF_ROWS>(
                                  from.context, work.first, work.end, rows, states,
                                  [&](uint32_t column) { return from.source(column); },
                                  [&](uint32_t dimension, uint32_t probe, uint32_t position) {
                                      return from.passes(dimension, probe, position);
                                  });
                              if (rows.active[0])
                                  take_row(work, rows, tile.before + place);
                          }
                      });
}

#endif
