/*
 * runs_cuda.h: functions of whole partitions over rows that stand in the partitions' order, as lines of orders do. One pass reads
 * the terms and arguments and writes all results; there is no list of partitions, no tree and no sum before each row:
 *
 *     window_runs    the functions of each row; WINDOW_SUFFIXES of the flags is set if it cannot tell
 *
 * A warp has a tile, and looks at the rows around it that belong to its first and last partition. That the rows ascend by the
 * terms is seen on the way: else a partition may have rows elsewhere, and the pass ends. So it does where a partition is long, as
 * each warp that has some of it would read all.
 */
#ifndef TESSERA_OPERATORS_WINDOW_RUNS_CUDA_H
#define TESSERA_OPERATORS_WINDOW_RUNS_CUDA_H

#include "operators/group/tile_runs_cuda.h"
#include "operators/window/order_cuda.h"

/* 32 rows each, that a warp looks at before and after its own: as many as it has itself. */
#define WINDOW_RUN_LOOKS 32u

/* Rows of a lane whose values are loaded at once. */
#define WINDOW_RUN_BATCH 8u

/* ---- Where partitions are ---- */

struct window_span {
    uint64_t first, end;  /* the warp's rows: a tile */
    uint64_t from, until; /* those of its first and last partition */
    uint32_t heads; /* where partitions begin, as tile_run_totals takes them; rows past the last one do */
};

/* What terms tell of some rows of a lane and the row before each: bits in the order of the rows. */
struct window_steps {
    uint32_t differ, descend;
};

/* By one term, of rows that no term before it tells apart; `first` is the lane's first one. Memory has whole tiles. */
template <class T>
TILE_INLINE void window_step(const window_column &column, uint64_t first, window_steps *steps)
{
    const T *const from = reinterpret_cast<const T *>(column.values) + first;
    T own[WINDOW_RUN_BATCH], before[WINDOW_RUN_BATCH];
    uint32_t differ = 0, descend = 0;
#pragma unroll
    for (uint32_t i = 0; i < WINDOW_RUN_BATCH; i++) {
        own[i] = from[32 * i];
        before[i] = i ? from[32 * i - 1] : *(from - (first > 0));
    }
#pragma unroll
    for (uint32_t i = 0; i < WINDOW_RUN_BATCH; i++) {
        differ |= (uint32_t)(own[i] != before[i]) << i;
        descend |= (uint32_t)(own[i] < before[i]) << i;
    }
    for (uint32_t i = 0; column.validity && i < WINDOW_RUN_BATCH; i++) { /* NULLs come first */
        const uint64_t row = first + 32 * i;
        const bool null = window_is_null(column, row), other = window_is_null(column, row - (row > 0));
        differ = null || other ? (differ & ~(1u << i)) | (uint32_t)(null != other) << i : differ;
        descend = null || other ? (descend & ~(1u << i)) | (uint32_t)(null && !other) << i : descend;
    }
    steps->descend |= descend & ~steps->differ;
    steps->differ |= differ;
}

/* Finds the heads; false: the rows do not ascend. */
TILE_INLINE bool window_find_heads(const window_work &work, window_span &span)
{
    const uint32_t lane = threadIdx.x % 32,
                   rows = work.rows - span.first < TILE_ROWS ? (uint32_t)(work.rows - span.first) : TILE_ROWS;
    uint32_t descends = 0;
    span.heads = 0;
#pragma unroll 1
    for (uint32_t item = 0; item < 32; item += WINDOW_RUN_BATCH) {
        window_steps steps = {0, 0};
#pragma unroll 1
        for (uint32_t t = 0; t < work.term_count; t++) {
            const window_column &column = work.terms[t].column;
            const uint64_t first = span.first + 32 * item + lane;
            if (column.value_bytes == 4)
                window_step<int32_t>(column, first, &steps);
            else
                window_step<int64_t>(column, first, &steps);
        }
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_RUN_BATCH; i++) {
            const uint32_t row = 32 * (item + i) + lane,
                           begun = __ballot_sync(FULL_WARP, row >= rows || steps.differ >> i & 1);
            span.heads = lane == item + i ? begun : span.heads;
            descends |= row < rows && steps.descend >> i & 1;
        }
    }
    span.heads |= span.first == 0 && lane == 0;
    return !__any_sync(FULL_WARP, descends);
}

TILE_INLINE bool window_same(const window_work &work, uint64_t a, uint64_t b)
{
    bool same = true;
#pragma unroll 1
    for (uint32_t t = 0; t < work.term_count && same; t++) {
        const window_cell one = window_cell_of(work.terms[t].column, a),
                          other = window_cell_of(work.terms[t].column, b);
        same = one.valid == other.valid && (one.value == other.value || !one.valid);
    }
    return same;
}

/* Finds the rows of the first partition before the span, and those of the last one after it; false: they are too many. */
TILE_INLINE bool window_find_ends(const window_work &work, window_span &span)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t found = __shfl_sync(FULL_WARP, span.heads, 0) & 1 ? 0 : 32;
    span.from = span.first;
    for (uint32_t looks = 0; found == 32 && looks < WINDOW_RUN_LOOKS; looks++) {
        const bool same = span.from + lane >= 32 && window_same(work, span.from + lane - 32, span.first);
        found = __clz(~__ballot_sync(FULL_WARP, same));
        span.from -= found;
    }
    const bool known = found < 32;
    span.until = span.end;
    found = 32;
    for (uint32_t looks = 0; found == 32 && looks < WINDOW_RUN_LOOKS; looks++) {
        const bool same = span.until + lane < work.rows && window_same(work, span.until + lane, span.end - 1);
        const uint32_t others = ~__ballot_sync(FULL_WARP, same);
        found = others ? __ffs(others) - 1 : 32;
        span.until += found;
    }
    return known && found < 32;
}

/* ---- What they have ---- */

struct window_sum_of {
    template <class T> static __device__ __forceinline__ T nothing()
    {
        return 0;
    }
    template <class T> static __device__ __forceinline__ T merge(T a, T b)
    {
        return a + b;
    }
};
struct window_least_of {
    template <class T> static __device__ __forceinline__ T nothing()
    {
        return sizeof(T) == 4 ? (T)INT32_MAX : (T)INT64_MAX;
    }
    template <class T> static __device__ __forceinline__ T merge(T a, T b)
    {
        return a < b ? a : b;
    }
};
struct window_greatest_of {
    template <class T> static __device__ __forceinline__ T nothing()
    {
        return sizeof(T) == 4 ? (T)INT32_MIN : (T)INT64_MIN;
    }
    template <class T> static __device__ __forceinline__ T merge(T a, T b)
    {
        return a > b ? a : b;
    }
};

template <class T> TILE_INLINE T window_item(const window_run &of, uint64_t row)
{
    if (of.result == WINDOW_GIVES_COUNT)
        return !window_is_null(of.argument, row);
    return (T)window_value(of.argument, row);
}

/* Of the rows from `begin` to `end`, few of which there are mostly none. */
template <class OF, class T> TILE_INLINE T window_fold(const window_run &of, uint64_t begin, uint64_t end)
{
    T all = OF::template nothing<T>();
    if (begin == end)
        return all;
    for (uint64_t row = begin + threadIdx.x % 32; row < end; row += 32)
        all = OF::merge(all, window_item<T>(of, row));
    for (uint32_t distance = 16; distance > 0; distance /= 2)
        all = OF::merge(all, (T)__shfl_xor_sync(FULL_WARP, all, distance));
    return all;
}

/* Reads the arguments of rows that are 32 apart; memory has whole tiles. */
template <class T> TILE_INLINE void window_run_items(const window_run &of, uint64_t first, T *values)
{
    if (of.result == WINDOW_GIVES_COUNT) {
#pragma unroll 8
        for (uint32_t item = 0; item < 32; item++)
            values[33 * item] = !window_is_null(of.argument, first + 32 * item);
    } else if (of.argument.value_bytes == 4) {
        const int32_t *const from = reinterpret_cast<const int32_t *>(of.argument.values) + first;
#pragma unroll 16
        for (uint32_t item = 0; item < 32; item++)
            values[33 * item] = from[32 * item];
    } else {
        const int64_t *const from = reinterpret_cast<const int64_t *>(of.argument.values) + first;
#pragma unroll 8
        for (uint32_t item = 0; item < 32; item++)
            values[33 * item] = (T)from[32 * item];
    }
}

template <class OUT, class T>
TILE_INLINE void window_run_write(const window_run &of, uint64_t first, const T *values)
{
    OUT *const to = reinterpret_cast<OUT *>(of.out.values) + first;
#pragma unroll
    for (uint32_t item = 0; item < 32; item++)
        to[32 * item] = (OUT)values[33 * item];
}

template <class OF, class T>
TILE_INLINE void window_run_function(const window_span &span, const window_run &of, T *values)
{
    const uint32_t lane = threadIdx.x % 32;
    window_run_items(of, span.first + lane, values + lane);
    __syncwarp();
    const T before = window_fold<OF, T>(of, span.from, span.first),
            after = window_fold<OF, T>(of, span.end, span.until),
            all = tile_run_totals<OF>(values, span.heads, after);
    tile_run_spread<OF>(values, span.heads, all, before);
    __syncwarp();
    if (of.out.value_bytes == 4)
        window_run_write<int32_t>(of, span.first + lane, values + lane);
    else
        window_run_write<int64_t>(of, span.first + lane, values + lane);
    __syncwarp();
}

template <class OF>
TILE_INLINE void window_run_widths(const window_span &span, const window_run &of, unsigned char *memory)
{
    if (of.narrow)
        window_run_function<OF>(span, of, reinterpret_cast<int32_t *>(memory));
    else
        window_run_function<OF>(span, of, reinterpret_cast<int64_t *>(memory));
}

/* A warp has tile_places(true) values of shared memory, of 8 bytes, or of 4 if all functions are narrow: place_bytes. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS, 3)
    window_runs(const __grid_constant__ window_work work, const __grid_constant__ window_run_work runs)
{
    unsigned char *const memory = tile_shared + threadIdx.x / 32 * tile_places(true) * runs.place_bytes;
    uint32_t *const fails = window_halves(work.flags) + WINDOW_SUFFIXES;
    window_span span;
    for (span.first = window_warp() * TILE_ROWS; span.first < work.rows;
         span.first += window_warps() * TILE_ROWS) {
        const uint32_t failed = *reinterpret_cast<volatile uint32_t *>(fails);
        span.end = span.first + TILE_ROWS;
        const bool known = window_find_heads(work, span) && window_find_ends(work, span);
        if (!known && threadIdx.x % 32 == 0)
            *reinterpret_cast<volatile uint32_t *>(fails) = 1;
        if (!known || __any_sync(FULL_WARP, failed))
            break;
#pragma unroll 1
        for (uint32_t f = 0; f < runs.count; f++) {
            const window_run &of = runs.functions[f];
            if (of.result == WINDOW_GIVES_MIN)
                window_run_widths<window_least_of>(span, of, memory);
            else if (of.result == WINDOW_GIVES_MAX)
                window_run_widths<window_greatest_of>(span, of, memory);
            else
                window_run_widths<window_sum_of>(span, of, memory);
        }
    }
}

#endif
