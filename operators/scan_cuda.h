/*
 * scan_cuda.h: the two kernels around a query: `prepare` evaluates dimension filters and clears the sums,
 * `scan` runs the query's tile_answer over the fact table. Included last, behind the query
 * (engine/kernel_plan.c).
 *
 * The grid is as large as the GPU holds at once (persistent blocks), so that bitmaps are copied to shared
 * memory and sums are flushed once a block and not once a tile.
 */
#ifndef TESSERA_OPERATORS_SCAN_CUDA_H
#define TESSERA_OPERATORS_SCAN_CUDA_H

#define TILE_BIND_COLUMN_(name)    q.name.bind(bound.name, staging);
#define TILE_BIND_DIMENSION_(name) q.name.bind(bound.name);
#define TILE_SEEK_COLUMN_(name)    q.name.seek(t);
#define TILE_PRELOAD_COLUMN_(name) q.name.preload();
#define TILE_NO_DIMENSION_(name)

/* The tiles of one warp: one of every item of work that falls to its group of eight warps. */
struct tile_course {
    const uint4 *items; /* struct bound_work */
    uint32_t count, first, step, place, lane;
    uint32_t item; /* the next one */

    /* The next tile; rows is 0 where an item has too few rows for this warp, or there are no more items. */
    __device__ __forceinline__ tile next()
    {
        tile t = {0, 0, 0, lane};
        if (item < count) {
            const uint4 piece = __ldg(items + item);
            t.segment = piece.x;
            t.index = piece.y + place;
            t.rows = piece.z > place * TILE_ROWS ? min(piece.z - place * TILE_ROWS, TILE_ROWS) : 0;
        }
        item += step;
        return t;
    }
};

extern "C" __global__ void __launch_bounds__(TILE_THREADS, TILE_BLOCKS)
    scan(const __grid_constant__ tile_bound bound, const __grid_constant__ bound_scan work)
{
    const uint32_t warp = threadIdx.x / 32, groups = TILE_THREADS / 32 / WORK_TILES;
    unsigned char *staging = tile_shared + work.staging_offset + warp * work.staging_bytes;
    tile_parameters q;
    TILE_PARAMETER_LIST(TILE_BIND_COLUMN_, TILE_BIND_DIMENSION_)
    q.sums.bind(bound.sums);
    __syncthreads();
    const uint32_t first = blockIdx.x * groups + warp / WORK_TILES;
    tile_course course = {reinterpret_cast<const uint4 *>(work.work),
                          work.items,
                          first,
                          gridDim.x * groups,
                          warp % WORK_TILES,
                          threadIdx.x % 32,
                          first};
    tile ahead = course.next();
    for (uint32_t item = course.first; item < course.count; item += course.step) {
        const tile t = ahead;
        ahead = course.next();
        if (!t.rows)
            continue;
        TILE_PARAMETER_LIST(TILE_SEEK_COLUMN_, TILE_NO_DIMENSION_)
        TILE_PARAMETER_LIST(TILE_PRELOAD_COLUMN_, TILE_NO_DIMENSION_)
        tile_answer(&q, &t);
        __syncwarp(); /* the next tile reuses the staging area */
    }
    q.sums.finish();
}

TILE_INLINE uint32_t attribute_value(const bound_predicate &predicate, uint64_t row)
{
    if (predicate.value_bytes == 1)
        return __ldg(reinterpret_cast<const unsigned char *>(predicate.values) + row);
    if (predicate.value_bytes == 2)
        return __ldg(reinterpret_cast<const unsigned short *>(predicate.values) + row);
    return __ldg(words_at(predicate.values) + row);
}

extern "C" __global__ void __launch_bounds__(256) prepare(const __grid_constant__ bound_preparation work)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t thread = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x,
                   threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t word = thread; word < work.clear_words; word += threads)
        reinterpret_cast<uint32_t *>(work.clear)[word] = 0;
#pragma unroll
    for (uint32_t d = 0; d < TILE_DIMENSIONS_MAX; d++) {
        const bound_filter &filter = work.dimension[d];
        for (uint64_t first = thread - lane; first < filter.rows;
             first += threads) { /* a warp makes a word of 32 rows */
            const uint64_t row = first + lane;
            bool passes = row < filter.rows;
#pragma unroll
            for (uint32_t p = 0; p < TILE_PREDICATES_MAX; p++) {
                const bound_predicate &predicate = filter.where[p];
                if (!predicate.value_bytes || !passes)
                    continue;
                const uint32_t value = attribute_value(predicate, row);
                bool any = false;
                for (uint32_t r = 0; r < predicate.ranges; r++)
                    any |= value - predicate.low[r] <= predicate.high[r] - predicate.low[r];
                passes = any;
            }
            const uint32_t bits = __brev(__ballot_sync(FULL_WARP, passes)); /* bit 31 - row % 32 */
            if (lane == 0)
                reinterpret_cast<uint32_t *>(filter.bitmap)[first / 32] = bits;
        }
    }
}

#endif
