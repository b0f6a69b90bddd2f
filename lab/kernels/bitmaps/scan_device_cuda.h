/*
 * scan_device_cuda.h: exclusive sums over all of a device's memory, in one pass (decoupled look-back: Merrill and
 * Garland, 2016; CUB's DeviceScan does the same). Up to 2^32 - 1 items whose sum is below 2^32.
 *
 * It needs no headers but the program's; CUB's own is in cub_scan_cuda.h, and the experiment has both times.
 *
 * Thread blocks take tiles of 8192 items by a ticket, so that every tile before theirs is taken by a block that runs. A
 * tile's state is one 64-bit word, so that no fence is needed: two bits say what is known, the rest is the sum.
 *
 *     00 nothing     01 the sum of the tile     10 the sum of all tiles up to it
 *
 * It reads 4 bytes (or 1) and writes 4 an item.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_SCAN_DEVICE_CUDA_H
#define TESSERA_LAB_KERNELS_BITMAPS_SCAN_DEVICE_CUDA_H

#include "operators/decode/unpack_cuda.h"

#define SCAN_THREADS 256u
#define SCAN_WARPS   (SCAN_THREADS / 32)
#define SCAN_ROWS    8u /* of 128 items, which a warp takes one after the other */
#define SCAN_TILE    (SCAN_WARPS * SCAN_ROWS * 128)

#define SCAN_OF_TILE  (1ull << 62)
#define SCAN_UP_TO    (2ull << 62)
#define SCAN_SUM_BITS (SCAN_OF_TILE - 1)

/* The sum over the lanes up to this one. */
TILE_INLINE uint32_t scan_lanes(uint32_t value, uint32_t lane)
{
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint32_t before = __shfl_up_sync(FULL_WARP, value, distance);
        value += lane >= distance ? before : 0;
    }
    return value;
}

/* Four items from `at`, of which those from `count` on are 0: words, or bytes of 0 and 1. */
TILE_INLINE uint4 scan_load(const uint32_t *items, uint64_t at, uint64_t count)
{
    if (at + 4 <= count)
        return *reinterpret_cast<const uint4 *>(items + at);
    return make_uint4(at < count ? items[at] : 0, at + 1 < count ? items[at + 1] : 0,
                      at + 2 < count ? items[at + 2] : 0, 0);
}

TILE_INLINE uint4 scan_load(const uint8_t *items, uint64_t at, uint64_t count)
{
    uint32_t word = 0;
    if (at + 4 <= count)
        word = *reinterpret_cast<const uint32_t *>(items + at);
    else
        for (uint32_t i = 0; at + i < count; i++)
            word |= (uint32_t)items[at + i] << 8 * i;
    return make_uint4(word & 255, word >> 8 & 255, word >> 16 & 255, word >> 24);
}

/* Writes what comes before each of four items. */
TILE_INLINE void scan_store(uint32_t *sums, uint64_t at, uint64_t count, uint32_t before, const uint4 &items)
{
    const uint4 four = make_uint4(before, before + items.x, before + items.x + items.y,
                                  before + items.x + items.y + items.z);
    if (at + 4 <= count) {
        *reinterpret_cast<uint4 *>(sums + at) = four;
        return;
    }
    if (at < count)
        sums[at] = four.x;
    if (at + 1 < count)
        sums[at + 1] = four.y;
    if (at + 2 < count)
        sums[at + 2] = four.z;
}

/* A warp finds the sum of all tiles before `tile`, 32 tiles at a time. */
TILE_INLINE uint32_t scan_look_back(volatile unsigned long long *states, uint32_t tile, uint32_t lane)
{
    uint32_t sum = 0;
    for (int64_t nearest = (int64_t)tile - 1; nearest >= 0; nearest -= 32) {
        const int64_t mine = nearest - lane;
        unsigned long long state = SCAN_UP_TO; /* before the first tile there is nothing */
        if (mine >= 0)
            do
                state = states[mine];
            while (state < SCAN_OF_TILE);
        __syncwarp();
        const uint32_t complete = __ballot_sync(FULL_WARP, state >= SCAN_UP_TO);
        const uint32_t last = complete ? __ffs(complete) - 1 : 31;
        uint32_t part = lane <= last ? (uint32_t)(state & SCAN_SUM_BITS) : 0;
#pragma unroll
        for (uint32_t distance = 16; distance; distance /= 2)
            part += __shfl_xor_sync(FULL_WARP, part, distance);
        sum += part;
        if (complete)
            break;
    }
    return sum;
}

/* sums[i] = the sum of items[0 .. i - 1]. `sums` may be `items`. `states`, one for each tile of SCAN_TILE items, and
 * *ticket are 0 before. ITEM: uint32_t, or uint8_t for 0 and 1. The grid has a block for each tile. `items` and `sums` lie
 * at multiples of 16 bytes. */
template <class ITEM>
TILE_INLINE void scan_device(const ITEM *items, uint64_t count, uint32_t *sums, unsigned long long *states,
                             uint32_t *ticket)
{
    __shared__ uint32_t warp_sums[SCAN_WARPS], taken, before_tile; /* 40 bytes */
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        taken = atomicAdd(ticket, 1u);
    __syncthreads();
    const uint32_t tile = taken;
    const uint64_t first = (uint64_t)tile * SCAN_TILE + warp * SCAN_ROWS * 128 + lane * 4;
    uint4 rows[SCAN_ROWS];
    uint32_t starts[SCAN_ROWS], sum = 0;
#pragma unroll
    for (uint32_t r = 0; r < SCAN_ROWS; r++)
        rows[r] = scan_load(items, first + r * 128, count);
#pragma unroll
    for (uint32_t r = 0; r < SCAN_ROWS; r++) {
        const uint32_t mine = rows[r].x + rows[r].y + rows[r].z + rows[r].w;
        const uint32_t up_to = scan_lanes(mine, lane);
        starts[r] = sum + up_to - mine;
        sum += __shfl_sync(FULL_WARP, up_to, 31);
    }
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const uint32_t mine = lane < SCAN_WARPS ? warp_sums[lane] : 0;
        const uint32_t up_to = scan_lanes(mine, lane);
        const uint32_t whole = __shfl_sync(FULL_WARP, up_to, SCAN_WARPS - 1);
        volatile unsigned long long *const shown = states;
        if (lane == 0)
            shown[tile] = (tile ? SCAN_OF_TILE : SCAN_UP_TO) | whole;
        const uint32_t before = scan_look_back(shown, tile, lane);
        if (lane == 0 && tile)
            shown[tile] = SCAN_UP_TO | (before + whole);
        if (lane < SCAN_WARPS)
            warp_sums[lane] = up_to - mine;
        if (lane == 0)
            before_tile = before;
    }
    __syncthreads();
    const uint32_t before = before_tile + warp_sums[warp];
#pragma unroll
    for (uint32_t r = 0; r < SCAN_ROWS; r++)
        scan_store(sums, first + r * 128, count, before + starts[r], rows[r]);
}

#endif
