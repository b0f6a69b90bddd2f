/*
 * window_cuda.h: window functions over rows in plain columns (engine/plan/device/device_rows.h). The order of a window is made by a
 * radix sort (operators/sort/radix_sort_cuda.h) of its terms' codes, the least word first if they take several:
 *
 *     window_keys      a word of the codes of each place's row; the first time the rows are in their own order
 *     window_sorted    tells whether the keys are sorted already
 *
 * What is the same for all rows is made once, and then each row finds its frame and asks it, whatever its length:
 *
 *     window_add       the sums of pieces of the places
 *     window_before    the sums of the pieces before each
 *     window_prefix    the sums before each place: of numbers of partitions and of groups of peers, of values
 *     window_lists     the place where each partition and each group of peers begins
 *     window_leaves    the argument in order, and window_nodes a level of a tree of its extrema
 *     window_values    the function of each row
 *
 * engine/relational/window is the host's twin. Sums are of 64 bits: the engine asks for those alone that fit.
 */
#ifndef TESSERA_OPERATORS_WINDOW_WINDOW_CUDA_H
#define TESSERA_OPERATORS_WINDOW_WINDOW_CUDA_H

#include "operators/dialect/query_cuda.h"
#include "operators/window/window.h"

TILE_INLINE uint64_t *window_words(uint64_t address)
{
    return reinterpret_cast<uint64_t *>(address);
}
TILE_INLINE uint32_t *window_halves(uint64_t address)
{
    return reinterpret_cast<uint32_t *>(address);
}
TILE_INLINE uint64_t window_thread()
{
    return blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
}
TILE_INLINE uint64_t window_threads()
{
    return gridDim.x * (uint64_t)blockDim.x;
}

/* ---- Columns ---- */

TILE_INLINE bool window_is_null(const window_column &column, uint64_t row)
{
    return column.validity &&
           !(window_halves(column.validity)[row / TILE_ROWS * TILE_LANES + row % 32] >> row % TILE_ROWS / 32 &
             1);
}

TILE_INLINE int64_t window_value(const window_column &column, uint64_t row)
{
    return column.value_bytes == 4 ? (int64_t) reinterpret_cast<const int32_t *>(column.values)[row]
                                   : reinterpret_cast<const int64_t *>(column.values)[row];
}

TILE_INLINE void window_give(const window_column &out, uint64_t row, int64_t value)
{
    if (out.value_bytes == 4)
        reinterpret_cast<int32_t *>(out.values)[row] = (int32_t)value;
    else
        reinterpret_cast<int64_t *>(out.values)[row] = value;
    if (out.validity)
        atomicOr(window_halves(out.validity) + row / TILE_ROWS * TILE_LANES + row % 32,
                 1u << row % TILE_ROWS / 32);
}

TILE_INLINE void window_give_null(const window_column &out, uint64_t row)
{
    if (out.value_bytes == 4)
        reinterpret_cast<int32_t *>(out.values)[row] = 0;
    else
        reinterpret_cast<int64_t *>(out.values)[row] = 0;
}

TILE_INLINE void window_give_cell(const window_work &work, uint64_t row, uint64_t from)
{
    if (window_is_null(work.argument, from))
        window_give_null(work.out, row);
    else
        window_give(work.out, row, window_value(work.argument, from));
}

/* ---- Order ---- */

TILE_INLINE uint64_t window_code_of(const window_code &term, uint64_t row)
{
    const bool nullable = term.column.validity, first = nullable && term.nulls_first;
    if (window_is_null(term.column, row))
        return first ? 0 : term.span + 1;
    const uint64_t code = (uint64_t)window_value(term.column, row) - (uint64_t)term.low;
    return (term.descending ? term.span - code : code) + first;
}

extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_keys(const __grid_constant__ window_work work)
{
    for (uint64_t at = window_thread(); at < work.rows; at += window_threads()) {
        const uint64_t row = work.word ? window_words(work.places)[at] : at;
        uint64_t key = 0;
        for (uint32_t t = 0; t < work.term_count; t++)
            if (work.terms[t].word == work.word)
                key |= window_code_of(work.terms[t], row) << work.terms[t].shift;
        window_words(work.keys)[at] = key;
        if (work.word == 0)
            window_words(work.places)[at] = row;
    }
}

extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_sorted(const __grid_constant__ window_work work)
{
    const uint64_t *const keys = window_words(work.keys);
    bool unsorted = false;
    for (uint64_t at = window_thread() + 1; at < work.rows; at += window_threads())
        unsorted |= keys[at - 1] > keys[at];
    if (unsorted)
        *window_halves(work.unsorted) = 1;
}

/* ---- Sums ---- */

/* Bits of a place: whether a partition and a group of peers begin there. With one word the keys tell. */
TILE_INLINE uint64_t window_marks(const window_work &work, uint64_t at)
{
    const uint64_t both = 1ull << 32 | 1;
    if (at == 0)
        return both;
    if (work.last_word == 0) {
        const uint64_t key = window_words(work.keys)[at], before = window_words(work.keys)[at - 1];
        const bool partition = work.order_bits < 64 && key >> work.order_bits != before >> work.order_bits;
        return (uint64_t)partition << 32 | (key != before);
    }
    const uint64_t row = window_words(work.places)[at], before = window_words(work.places)[at - 1];
    for (uint32_t t = 0; t < work.term_count; t++)
        if (window_code_of(work.terms[t], row) != window_code_of(work.terms[t], before))
            return (uint64_t)(t < work.partition_terms) << 32 | 1;
    return 0;
}

TILE_INLINE uint64_t window_item(const window_work &work, uint32_t sum, uint64_t at)
{
    if (sum == WINDOW_SUM_MARKS)
        return window_marks(work, at);
    const uint64_t row = window_words(work.places)[at];
    if (window_is_null(work.argument, row))
        return 0;
    return sum == WINDOW_SUM_COUNT ? 1 : (uint64_t)window_value(work.argument, row);
}

TILE_INLINE uint64_t window_upto(uint64_t value)
{
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint64_t other = __shfl_up_sync(FULL_WARP, value, distance);
        value += threadIdx.x % 32 >= distance ? other : 0;
    }
    return value;
}

extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_add(const __grid_constant__ window_work work, uint32_t sum)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE;
    for (uint64_t piece = window_thread() / 32; piece < pieces; piece += window_threads() / 32) {
        const uint64_t begin = piece * WINDOW_PIECE,
                       end = work.rows - begin < WINDOW_PIECE ? work.rows : begin + WINDOW_PIECE;
        uint64_t all = 0;
#pragma unroll 4
        for (uint64_t at = begin + threadIdx.x % 32; at < end; at += 32)
            all += window_item(work, sum, at);
        for (uint32_t distance = 16; distance > 0; distance /= 2)
            all += __shfl_down_sync(FULL_WARP, all, distance);
        if (threadIdx.x % 32 == 0)
            window_words(work.sums)[piece] = all;
    }
}

extern "C" __global__ void __launch_bounds__(WINDOW_BEFORE_THREADS)
    window_before(const __grid_constant__ window_work work)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE,
                   each = (pieces + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * each,
                   end = begin + each < pieces ? begin + each : pieces;
    uint64_t *const sums = window_words(work.sums), *const of_warps =
                                                        reinterpret_cast<uint64_t *>(tile_shared);
    uint64_t own = 0;
    for (uint64_t piece = begin; piece < end; piece++)
        own += sums[piece];
    uint64_t before = window_upto(own);
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

/* `to` gets the sums up to each place and with it; or from its second word on, and 0 first: those before it. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_prefix(const __grid_constant__ window_work work, uint32_t sum, uint64_t to)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE;
    uint64_t *const out = window_words(to) + (sum != WINDOW_SUM_MARKS);
    if (window_thread() == 0 && sum != WINDOW_SUM_MARKS)
        *window_words(to) = 0;
    for (uint64_t piece = window_thread() / 32; piece < pieces; piece += window_threads() / 32) {
        const uint64_t begin = piece * WINDOW_PIECE,
                       end = work.rows - begin < WINDOW_PIECE ? work.rows : begin + WINDOW_PIECE;
        uint64_t before = window_words(work.sums)[piece];
        for (uint64_t first = begin; first < end; first += 32) {
            const uint64_t at = first + threadIdx.x % 32,
                           upto = window_upto(at < end ? window_item(work, sum, at) : 0) + before;
            if (at < end)
                out[at] = upto;
            before = __shfl_sync(FULL_WARP, upto, 31);
        }
    }
}

extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_lists(const __grid_constant__ window_work work)
{
    const uint64_t *const numbers = window_words(work.numbers);
    for (uint64_t at = window_thread(); at < work.rows; at += window_threads()) {
        const uint64_t number = numbers[at], before = at ? numbers[at - 1] : 0;
        if (number >> 32 != before >> 32)
            window_halves(work.partitions)[(number >> 32) - 1] = (uint32_t)at;
        if ((uint32_t)number != (uint32_t)before)
            window_halves(work.groups)[(uint32_t)number - 1] = (uint32_t)at;
        if (at + 1 == work.rows) {
            window_halves(work.partitions)[number >> 32] = (uint32_t)work.rows;
            window_halves(work.groups)[(uint32_t)number] = (uint32_t)work.rows;
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
    for (uint64_t at = window_thread(); at < work.rows; at += window_threads()) {
        const uint64_t row = window_words(work.places)[at];
        reinterpret_cast<int64_t *>(work.tree[0])[at] =
            window_is_null(work.argument, row) ? window_no_value(work) : window_value(work.argument, row);
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
        const uint64_t number = window_words(work.numbers)[place];
        const uint32_t *const partition = window_halves(work.partitions) + ((number >> 32) - 1),
                              *const group = window_halves(work.groups) + ((uint32_t)number - 1);
        at = (int64_t)place;
        first = partition[0];
        end = partition[1];
        group_first = group[0];
        group_end = group[1];
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

TILE_INLINE void window_aggregate(const window_work &work, const window_place &place, uint64_t row)
{
    const uint64_t begin = place.frame_begin, end = place.frame_end,
                   count = work.counts ? window_words(work.counts)[end] - window_words(work.counts)[begin]
                                       : end - begin;
    if (work.result == WINDOW_GIVES_COUNT) {
        window_give(work.out, row, (int64_t)count);
    } else if (work.values) {
        const int64_t sum = (int64_t)(window_words(work.values)[end] - window_words(work.values)[begin]);
        if (!count)
            window_give_null(work.out, row);
        else if (work.result == WINDOW_GIVES_SUM)
            window_give(work.out, row, sum);
        else
            window_give(work.out, row, window_quotient(sum, (int64_t)count * work.number));
    } else {
        const int64_t best = window_extreme(work, begin, end);
        if (best != window_no_value(work))
            window_give(work.out, row, best);
        else
            window_give_null(work.out, row);
    }
}

TILE_INLINE void window_function(const window_work &work, const window_place &place, uint64_t row)
{
    const uint64_t *const places = window_words(work.places);
    switch (work.result) {
    case WINDOW_GIVES_ROW_NUMBER:
        window_give(work.out, row, place.at - place.first + 1);
        break;
    case WINDOW_GIVES_RANK:
        window_give(work.out, row, place.group_first - place.first + 1);
        break;
    case WINDOW_GIVES_DENSE_RANK:
        window_give(work.out, row,
                    (int64_t)(uint32_t)window_words(work.numbers)[place.at] -
                        (uint32_t)window_words(work.numbers)[place.first] + 1);
        break;
    case WINDOW_GIVES_PERCENT_RANK:
        window_give(work.out, row,
                    place.end - place.first > 1
                        ? window_quotient(place.group_first - place.first, place.end - place.first - 1)
                        : double_key(0));
        break;
    case WINDOW_GIVES_CUME_DIST:
        window_give(work.out, row, window_quotient(place.group_end - place.first, place.end - place.first));
        break;
    case WINDOW_GIVES_NTILE:
        window_give(work.out, row, window_tile(place.at - place.first, place.end - place.first, work.number));
        break;
    case WINDOW_GIVES_MOVED:
        if (work.number >= place.first - place.at && work.number < place.end - place.at)
            window_give_cell(work, row, places[place.at + work.number]);
        else
            window_give_null(work.out, row);
        break;
    case WINDOW_GIVES_FIRST:
    case WINDOW_GIVES_LAST:
        if (place.frame_begin < place.frame_end)
            window_give_cell(
                work, row,
                places[work.result == WINDOW_GIVES_FIRST ? place.frame_begin : place.frame_end - 1]);
        else
            window_give_null(work.out, row);
        break;
    default:
        window_aggregate(work, place, row);
    }
}

extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_values(const __grid_constant__ window_work work)
{
    for (uint64_t at = window_thread(); at < work.rows; at += window_threads())
        window_function(work, window_place(work, at), window_words(work.places)[at]);
}

#endif
