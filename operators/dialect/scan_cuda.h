/*
 * scan_cuda.h: the kernel around a query: `scan` runs the query's tile_answer over the fact table. It is
 * included after the query (engine/gpu/kernel.c).
 *
 * The grid has as many blocks as the GPU holds at once (persistent blocks). So bitmaps are copied to shared
 * memory, and sums are added to global memory, once a block and not once a tile.
 *
 * TILE_COPIES: lines of columns are copied to the warp's staging area as soon as the tile is known (tile_column).
 * TILE_AHEAD: the planes and packed words that a tile needs first are loaded before the tile before it is worked on, so
 * that no warp waits for them. TILE_TEST_FIRST: tests of planes that are loaded first come before the query's steps.
 */
#ifndef TESSERA_OPERATORS_DIALECT_SCAN_CUDA_H
#define TESSERA_OPERATORS_DIALECT_SCAN_CUDA_H

#include "operators/dialect/course_cuda.h"

#define TILE_BIND_COLUMN_(name)    q.name.bind(bound.name, staging);
#define TILE_BIND_DIMENSION_(name) q.name.bind(bound.name);
#define TILE_SEEK_COLUMN_(name)    q.name.seek(t);
#define TILE_PRELOAD_COLUMN_(name) q.name.preload();
#define TILE_AHEAD_COLUMN_(name)   q.name.ahead(coming);
#define TILE_COPY_COLUMN_(name)    q.name.copy(t);
#define TILE_ADVANCE_COLUMN_(name) q.name.advance(t);
#define TILE_FIRST_COLUMN_(name)   t.dropped |= ~q.name.first();
#define TILE_NO_DIMENSION_(name)

/* A kernel may define TILE_BEFORE(t), the rows of a tile that its first step keeps. It then leaves out tiles without such
 * rows, before their columns' words are loaded. */

/* A kernel may define TILE_ITEMS, the length of a list of work that an earlier kernel has made. The items' bits 0 to 7 of
 * `marks` are the tiles that it leaves out. */

extern "C" __global__ void __launch_bounds__(TILE_THREADS, TILE_BLOCKS)
    scan(const __grid_constant__ tile_bound bound, const __grid_constant__ bound_scan work)
{
    const uint32_t warp = threadIdx.x / 32;
    const tile_groups groups(work, TILE_THREADS);
    unsigned char *staging = tile_shared + work.staging_offset + warp * work.staging_bytes;
    tile_parameters q;
    if (TILE_WAIT_FIRST)
        wait_for_prepare();
    TILE_PARAMETER_LIST(TILE_BIND_COLUMN_, TILE_BIND_DIMENSION_)
    q.sums.bind();
    __syncthreads();
#ifdef TILE_ITEMS
    const uint32_t items = TILE_ITEMS;
#elif defined(TILE_MANY)
    const uint32_t items = work.items << work.split;
#else
    const uint32_t items = work.items;
#endif
    tile_course course = {reinterpret_cast<const uint4 *>(work.work),
                          items,
                          groups.first,
                          groups.count,
                          groups.place,
                          threadIdx.x % 32,
                          groups.first};
#if defined(TILE_MANY) && !defined(TILE_ITEMS)
    course.split = work.split;
#endif
    tile coming = course.next(), after = coming;
    if (TILE_AHEAD)
        after = course.next();
    if (TILE_AHEAD && coming.rows) {
        TILE_PARAMETER_LIST(TILE_AHEAD_COLUMN_, TILE_NO_DIMENSION_)
    }
    for (uint32_t item = course.first; item < course.count; item += course.step) {
        tile t = coming;
        if (!TILE_AHEAD) {
            coming = course.next();
        } else {
            coming = after;
            after = course.next();
            TILE_PARAMETER_LIST(TILE_ADVANCE_COLUMN_, TILE_NO_DIMENSION_)
            if (coming.rows) {
                TILE_PARAMETER_LIST(TILE_AHEAD_COLUMN_, TILE_NO_DIMENSION_)
            }
        }
        if (!t.rows)
            continue;
#ifdef TILE_BEFORE
        const tile_mask before = TILE_BEFORE(&t); /* in flight with what seeking loads */
#endif
        if (!TILE_AHEAD) {
            TILE_PARAMETER_LIST(TILE_SEEK_COLUMN_, TILE_NO_DIMENSION_)
        }
#ifdef TILE_BEFORE
        if (!__any_sync(FULL_WARP, before))
            continue;
#endif
        if (!TILE_AHEAD) {
            TILE_PARAMETER_LIST(TILE_PRELOAD_COLUMN_, TILE_NO_DIMENSION_)
        }
        TILE_PARAMETER_LIST(TILE_COPY_COLUMN_, TILE_NO_DIMENSION_)
        if (TILE_TEST_FIRST) {
            TILE_PARAMETER_LIST(TILE_FIRST_COLUMN_, TILE_NO_DIMENSION_)
        }
        tile_answer(&q, &t);
        if (TILE_COPIES)
            wait_for_copies(); /* also where the answer has not looked at them */
        __syncwarp();          /* the next tile reuses the staging area */
    }
    if (!TILE_WAIT_FIRST)
        wait_for_prepare();
    q.sums.finish();
}

#endif
