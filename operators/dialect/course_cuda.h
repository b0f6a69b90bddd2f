/*
 * course_cuda.h: the tiles that a warp of a scan takes, for the kernels of scan_cuda.h and operators/general.
 */
#ifndef TESSERA_OPERATORS_DIALECT_COURSE_CUDA_H
#define TESSERA_OPERATORS_DIALECT_COURSE_CUDA_H

#include "operators/dialect/tile_cuda.h"

/* The tiles of one warp: one tile of every work item that its group of warps takes. */
struct tile_course {
    const uint4 *items; /* struct bound_work */
    uint32_t count, first, step, place, lane;
    uint32_t item; /* the next item */
#ifdef TILE_MANY
    uint32_t
        split; /* a tile of an item is divided among 1 << split warps; `count` has as many places for each item */
#endif

    /* The next tile. Its `rows` is 0 if the item has no tile for this warp, or if there are no more items. */
    __device__ __forceinline__ tile next()
    {
        tile t = {0, 0, 0, lane, 0, 0};
        if (item < count) {
#ifdef TILE_MANY
            const uint32_t part = item & low_bits(split), each = 32 >> split;
            const uint4 piece = __ldg(items + (item >> split));
            t.dropped = ~(low_bits(each) << part * each);
#else
            const uint4 piece = __ldg(items + item);
#endif
            t.segment = piece.x;
            t.index = piece.y + place;
            t.place = piece.w;
#ifdef TILE_ITEMS
            const uint32_t rows = piece.z >> (16 + place) & 1 ? 0 : piece.z & 0xffff;
#else
            const uint32_t rows = piece.z; /* nothing is marked */
#endif
            t.rows = rows > place * TILE_ROWS ? min(rows - place * TILE_ROWS, TILE_ROWS) : 0;
        }
        item += step;
        return t;
    }
};

/* A block's warps in groups, each of which takes an item at a time: as many warps as items have tiles. */
struct tile_groups {
    uint32_t count, first, place; /* in the grid; this warp's group; and its tile of an item */

    __device__ __forceinline__ tile_groups(const bound_scan &work, uint32_t threads)
    {
        const uint32_t warp = threadIdx.x / 32, bits = WORK_TILES_BITS - work.narrow;
        const uint32_t of_block = threads / 32 >> bits;
        count = gridDim.x * of_block;
        first = blockIdx.x * of_block + (warp >> bits);
        place = warp & low_bits(bits);
    }
};

/* The scan may be launched while `prepare` runs (engine/gpu/scan.c). It waits here until what that kernel writes is
 * there. */
TILE_INLINE void wait_for_prepare()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

#endif
