/*
 * window_cuda.h: window functions over rows in plain columns, in an order (order_cuda.h). What is the same for all rows is made
 * once, and then each row finds its frame and asks it, whatever its length:
 *
 *     window_add       the sums of pieces of values, and values in order; window_before those before each piece
 *     window_prefix    the sums of values before each place
 *     window_leaves    the argument in order, and window_nodes a level of a tree of its extrema
 *     window_values    the function of each row
 *
 * engine/relational/window is the host's twin. Sums are of 64 bits: the engine asks for those alone that fit.
 */
#ifndef TESSERA_OPERATORS_WINDOW_WINDOW_CUDA_H
#define TESSERA_OPERATORS_WINDOW_WINDOW_CUDA_H

#include "operators/window/order_cuda.h"

/* ---- Sums ---- */

/* The argument at a place is not NULL. */
TILE_INLINE bool window_is_there(const window_work &work, uint64_t at)
{
    return work.has_carried ? window_argument(work, at).valid
                            : !window_is_null(work.argument, window_row(work, at));
}

TILE_INLINE void window_items(const window_work &work, uint32_t sum, const uint32_t at[WINDOW_BATCH],
                              int64_t items[WINDOW_BATCH])
{
    if (sum == WINDOW_SUM_VALUES) {
        window_arguments(work, at, 0, items);
    } else {
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            items[i] = window_is_there(work, at[i]);
    }
}

/* Whether the argument of a place is at a row anywhere: then it is read once, and stays in order. */
TILE_INLINE bool window_is_gathered(const window_work &work)
{
    return work.places && !work.has_carried;
}

/* `to` gets the values in order, from its second word on, if they are gathered. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_add(const __grid_constant__ window_work work, uint32_t sum, uint64_t to)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE;
    for (uint64_t piece = window_warp(); piece < pieces; piece += window_warps()) {
        const uint64_t begin = piece * WINDOW_PIECE,
                       end = work.rows - begin < WINDOW_PIECE ? work.rows : begin + WINDOW_PIECE;
        uint64_t all = 0;
        for (uint64_t first = begin; first < end; first += WINDOW_BATCH * 32) {
            uint32_t at[WINDOW_BATCH];
            int64_t items[WINDOW_BATCH];
            window_places_from(work, first, at);
            window_items(work, sum, at, items);
#pragma unroll
            for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
                if (window_is_gathered(work))
                    window_words(to)[at[i] + 1] = (uint64_t)items[i];
                all += first + 32 * i + threadIdx.x % 32 < end ? (uint64_t)items[i] : 0;
            }
        }
        for (uint32_t distance = 16; distance > 0; distance /= 2)
            all += __shfl_down_sync(FULL_WARP, all, distance);
        if (threadIdx.x % 32 == 0)
            window_words(work.sums)[piece] = all;
    }
}

/* `to` has the values if they are gathered, and gets the sums before each place, and at the end of all. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_prefix(const __grid_constant__ window_work work, uint32_t sum, uint64_t to)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE;
    uint64_t *const out = window_words(to) + 1;
    if (window_thread() == 0)
        *window_words(to) = 0;
    for (uint64_t piece = window_warp(); piece < pieces; piece += window_warps()) {
        const uint64_t begin = piece * WINDOW_PIECE,
                       end = work.rows - begin < WINDOW_PIECE ? work.rows : begin + WINDOW_PIECE;
        uint64_t before = window_words(work.sums)[piece];
        for (uint64_t first = begin; first < end; first += WINDOW_BATCH * 32) {
            uint32_t at[WINDOW_BATCH];
            int64_t items[WINDOW_BATCH];
            window_places_from(work, first, at);
            if (window_is_gathered(work)) {
#pragma unroll
                for (uint32_t i = 0; i < WINDOW_BATCH; i++)
                    items[i] = (int64_t)out[at[i]];
            } else {
                window_items(work, sum, at, items);
            }
#pragma unroll
            for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
                const uint64_t place = first + 32 * i + threadIdx.x % 32,
                               upto = window_upto(place < end ? (uint64_t)items[i] : 0) + before;
                if (place < end)
                    out[place] = upto;
                before = __shfl_sync(FULL_WARP, upto, 31);
            }
        }
    }
}

/* ---- Extrema ---- */

/* No value is this one. */
TILE_INLINE int64_t window_no_value(const window_work &work)
{
    return work.result == WINDOW_GIVES_MIN ? INT64_MAX : INT64_MIN;
}

TILE_INLINE int64_t window_better(const window_work &work, int64_t a, int64_t b)
{
    return (work.result == WINDOW_GIVES_MIN ? a < b : a > b) ? a : b;
}

extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_leaves(const __grid_constant__ window_work work)
{
    for (uint64_t first = window_warp() * WINDOW_BATCH * 32; first < work.rows;
         first += window_warps() * WINDOW_BATCH * 32) {
        uint32_t at[WINDOW_BATCH];
        int64_t values[WINDOW_BATCH];
        window_places_from(work, first, at);
        window_arguments(work, at, window_no_value(work), values);
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            reinterpret_cast<int64_t *>(work.tree[0])[at[i]] = values[i];
    }
}

/* Makes the nodes of a level, of the `count` ones below it. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_nodes(const __grid_constant__ window_work work, uint32_t level, uint64_t count)
{
    const int64_t *const below = reinterpret_cast<const int64_t *>(work.tree[level - 1]);
    for (uint64_t node = window_thread(); node * WINDOW_FAN < count; node += window_threads()) {
        const uint64_t end = count - node * WINDOW_FAN < WINDOW_FAN ? count : (node + 1) * WINDOW_FAN;
        int64_t best = window_no_value(work);
        for (uint64_t child = node * WINDOW_FAN; child < end; child++)
            best = window_better(work, best, below[child]);
        reinterpret_cast<int64_t *>(work.tree[level])[node] = best;
    }
}

/* Of the places begin .. end - 1: the ends of each level until few nodes are between them. */
TILE_INLINE int64_t window_extreme(const window_work &work, uint64_t begin, uint64_t end)
{
    int64_t best = window_no_value(work);
#pragma unroll 1
    for (uint32_t level = 0; begin < end; level++) {
        const int64_t *const nodes = reinterpret_cast<const int64_t *>(work.tree[level]);
        const bool last = end - begin < 2 * WINDOW_FAN;
        const uint64_t low = last ? end : (begin + WINDOW_FAN - 1) / WINDOW_FAN * WINDOW_FAN,
                       high = last ? end : end / WINDOW_FAN * WINDOW_FAN;
        for (; begin < low; begin++)
            best = window_better(work, best, nodes[begin]);
        for (uint64_t at = high; at < end; at++)
            best = window_better(work, best, nodes[at]);
        begin = low / WINDOW_FAN;
        end = last ? begin : high / WINDOW_FAN;
    }
    return best;
}

/* ---- Functions ---- */

/* A place, its partition and its group of peers; and its frame. */
struct window_place {
    int64_t at, first, end, group_first, group_end;
    int64_t frame_begin, frame_end;

    __device__ __forceinline__ window_place(const window_work &work, uint64_t place)
    {
        const uint32_t *const partition =
            window_halves(work.partitions.list) + (window_number(work.partitions, place) - 1);
        at = (int64_t)place;
        first = partition[0];
        end = partition[1];
        group_first = at;
        group_end = at + 1;
        if (work.groups.list) {
            const uint32_t *const group =
                window_halves(work.groups.list) + (window_number(work.groups, place) - 1);
            group_first = group[0];
            group_end = group[1];
        }
        frame_begin = edge(work.begin, first, group_first);
        frame_end = edge(work.end, end, group_end);
        if (frame_begin > frame_end)
            frame_end = frame_begin;
    }
    __device__ __forceinline__ int64_t edge(const window_edge_at &edge, int64_t partition,
                                            int64_t peers) const
    {
        if (edge.kind != WINDOW_EDGE_ROW)
            return edge.kind == WINDOW_EDGE_PARTITION ? partition : peers;
        /* `rows` may be any number */
        return edge.rows > end - at ? end : edge.rows < first - at ? first : at + edge.rows;
    }
};

/* The part of `parts` in which the row of that index is; the first ones have a row more if rows are left over. */
TILE_INLINE int64_t window_tile(uint64_t index, uint64_t rows, uint64_t parts)
{
    const uint64_t size = rows / parts, larger = rows % parts;
    return (int64_t)(index < larger * (size + 1) ? index / (size + 1)
                                                 : larger + (index - larger * (size + 1)) / size) +
           1;
}

TILE_INLINE int64_t window_quotient(int64_t number, int64_t divisor)
{
    return double_key(__ddiv_rn((double)number, (double)divisor));
}

TILE_INLINE window_cell window_aggregate(const window_work &work, const window_place &place)
{
    const uint64_t begin = place.frame_begin, end = place.frame_end,
                   count = work.counts ? window_words(work.counts)[end] - window_words(work.counts)[begin]
                                       : end - begin;
    if (work.result == WINDOW_GIVES_COUNT)
        return {(int64_t)count, true};
    if (work.values) {
        const int64_t sum = (int64_t)(window_words(work.values)[end] - window_words(work.values)[begin]);
        if (!count)
            return {0, false};
        return {work.result == WINDOW_GIVES_SUM ? sum : window_quotient(sum, (int64_t)count * work.number),
                true};
    }
    const int64_t best = window_extreme(work, begin, end);
    return best != window_no_value(work) ? window_cell{best, true} : window_cell{0, false};
}

/* The groups that begin in the partition up to the place. */
TILE_INLINE int64_t window_dense_rank(const window_work &work, const window_place &place)
{
    return work.groups.list
               ? (int64_t)window_number(work.groups, place.at) - window_number(work.groups, place.first) + 1
               : place.at - place.first + 1;
}

TILE_INLINE window_cell window_function(const window_work &work, const window_place &place)
{
    const int64_t rows = place.end - place.first;
    switch (work.result) {
    case WINDOW_GIVES_ROW_NUMBER:
        return {place.at - place.first + 1, true};
    case WINDOW_GIVES_RANK:
        return {place.group_first - place.first + 1, true};
    case WINDOW_GIVES_DENSE_RANK:
        return {window_dense_rank(work, place), true};
    case WINDOW_GIVES_PERCENT_RANK:
        return {rows > 1 ? window_quotient(place.group_first - place.first, rows - 1) : double_key(0), true};
    case WINDOW_GIVES_CUME_DIST:
        return {window_quotient(place.group_end - place.first, rows), true};
    case WINDOW_GIVES_NTILE:
        return {window_tile(place.at - place.first, rows, work.number), true};
    case WINDOW_GIVES_MOVED:
        return work.number >= place.first - place.at && work.number < place.end - place.at
                   ? window_argument(work, place.at + work.number)
                   : window_cell{0, false};
    case WINDOW_GIVES_FIRST:
    case WINDOW_GIVES_LAST:
        return place.frame_begin < place.frame_end
                   ? window_argument(work, work.result == WINDOW_GIVES_FIRST ? place.frame_begin
                                                                             : place.frame_end - 1)
                   : window_cell{0, false};
    }
    return window_aggregate(work, place);
}

/* A warp has a tile of places. Where results stand in the order of places, a lane's bits are a word of the validity. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_values(const __grid_constant__ window_work work)
{
    const uint32_t lane = threadIdx.x % 32;
    const bool in_order = work.placed || !work.places;
    for (uint64_t tile = window_warp(); tile * TILE_ROWS < work.rows; tile += window_warps()) {
        uint32_t valid = 0;
#pragma unroll 1
        for (uint32_t j = 0; j < TILE_ROWS / 32; j++) {
            const uint64_t at = tile * TILE_ROWS + 32 * j + lane;
            if (at >= work.rows)
                break;
            const window_cell cell = window_function(work, window_place(work, at));
            const uint64_t to = in_order ? at : window_row(work, at);
            window_put(work.out, to, cell.value);
            valid |= (uint32_t)cell.valid << j;
            if (!in_order && work.out.validity && cell.valid)
                atomicOr(window_halves(work.out.validity) + to / TILE_ROWS * TILE_LANES + to % 32,
                         1u << to % TILE_ROWS / 32);
        }
        if (in_order && work.out.validity)
            window_halves(work.out.validity)[tile * TILE_LANES + lane] = valid;
    }
}

#endif
