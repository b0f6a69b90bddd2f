/*
 * order_cuda.h: the order of a window over rows in plain columns (engine/plan/device/device_rows.h), and its partitions and groups
 * of peers. Rows often stand in a part of the order already:
 *
 *     window_orders    tells by which last terms the rows ascend, and by which first terms, and how many rows are equal in those
 *     window_keys      a word of the codes of each place's row; the first time the rows are in their own order
 *
 * If they ascend by the first terms, and few are equal in those, each row finds its rank in its run of such rows:
 *
 *     window_ranks     the row at each place
 *
 * Else a radix sort (operators/sort/radix_sort_cuda.h) makes the order, the least word first if there are several. It keeps the
 * order of rows that are equal; so it need not sort by terms by which all rows ascend up to the last term. Then:
 *
 *     window_marks     bits of the places where partitions and groups begin, and how many do in pieces of the places
 *     window_before    the sums of the pieces before each
 *     window_lists     the place of each partition and group
 */
#ifndef TESSERA_OPERATORS_WINDOW_ORDER_CUDA_H
#define TESSERA_OPERATORS_WINDOW_ORDER_CUDA_H

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
TILE_INLINE uint64_t window_warp()
{
    return window_thread() / 32;
}
TILE_INLINE uint64_t window_warps()
{
    return window_threads() / 32;
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

/* A value, or NULL. */
struct window_cell {
    int64_t value;
    bool valid;
};

TILE_INLINE window_cell window_cell_of(const window_column &column, uint64_t row)
{
    return window_is_null(column, row) ? window_cell{0, false} : window_cell{window_value(column, row), true};
}

TILE_INLINE void window_put(const window_column &out, uint64_t row, int64_t value)
{
    if (out.value_bytes == 4)
        reinterpret_cast<int32_t *>(out.values)[row] = (int32_t)value;
    else
        reinterpret_cast<int64_t *>(out.values)[row] = value;
}

/* ---- Batches: a lane's places are 32 apart. Numbers of rows fit 32 bits (RADIX_SORT_COUNT_MAX) ---- */

/* Those from `first` on. Past the end the last place is repeated. */
TILE_INLINE void window_places_from(const window_work &work, uint64_t first, uint32_t at[WINDOW_BATCH])
{
#pragma unroll
    for (uint32_t i = 0; i < WINDOW_BATCH; i++)
        at[i] = min((uint32_t)first + 32 * i + threadIdx.x % 32, (uint32_t)work.rows - 1);
}

/* A word of keys, which may be places, too. */
TILE_INLINE uint64_t window_word(const window_work &work, uint64_t words, uint64_t at)
{
    return work.narrow ? window_halves(words)[at] : window_words(words)[at];
}

TILE_INLINE uint64_t window_row(const window_work &work, uint64_t at)
{
    return work.places ? window_word(work, work.places, at) >> work.row_shift & work.row_mask : at;
}

TILE_INLINE void window_rows(const window_work &work, const uint32_t at[WINDOW_BATCH],
                             uint32_t rows[WINDOW_BATCH])
{
#pragma unroll
    for (uint32_t i = 0; i < WINDOW_BATCH; i++)
        rows[i] = (uint32_t)window_row(work, at[i]);
}

/* Whatever is there of those that are NULL. */
TILE_INLINE void window_load(const window_column &column, const uint32_t rows[WINDOW_BATCH],
                             int64_t values[WINDOW_BATCH])
{
    if (column.value_bytes == 4) {
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            values[i] = reinterpret_cast<const int32_t *>(column.values)[rows[i]];
    } else {
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            values[i] = reinterpret_cast<const int64_t *>(column.values)[rows[i]];
    }
}

/* ---- Order ---- */

TILE_INLINE void window_codes(const window_code &term, const uint32_t rows[WINDOW_BATCH],
                              uint64_t codes[WINDOW_BATCH])
{
    const bool first = term.column.validity && term.nulls_first;
    int64_t values[WINDOW_BATCH];
    window_load(term.column, rows, values);
#pragma unroll
    for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
        const uint64_t code = (uint64_t)values[i] - (uint64_t)term.low;
        codes[i] = (term.descending ? term.span - code : code) + first;
    }
    if (term.column.validity) {
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            if (window_is_null(term.column, rows[i]))
                codes[i] = first ? 0 : term.span + 1;
    }
}

/* What a code in a word means: the inverse of window_codes. */
TILE_INLINE window_cell window_decode(const window_code &term, uint64_t word)
{
    const bool nullable = term.column.validity, first = nullable && term.nulls_first;
    const uint64_t code = word >> term.shift & term.mask;
    if (nullable && code == (first ? 0 : term.span + 1))
        return window_cell{0, false};
    const uint64_t value = code - first;
    return window_cell{(int64_t)((uint64_t)term.low + (term.descending ? term.span - value : value)), true};
}

/* The argument at a place. */
TILE_INLINE window_cell window_argument(const window_work &work, uint64_t at)
{
    return work.has_carried ? window_decode(work.carried, window_word(work, work.places, at))
                            : window_cell_of(work.argument, window_row(work, at));
}

/* The arguments at places, and `null` for those that are NULL. */
TILE_INLINE void window_arguments(const window_work &work, const uint32_t at[WINDOW_BATCH], int64_t null,
                                  int64_t values[WINDOW_BATCH])
{
    if (work.has_carried) {
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
            const window_cell cell = window_decode(work.carried, window_word(work, work.places, at[i]));
            values[i] = cell.valid ? cell.value : null;
        }
        return;
    }
    uint32_t rows[WINDOW_BATCH];
    window_rows(work, at, rows);
    window_load(work.argument, rows, values);
    if (work.argument.validity) {
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            values[i] = window_is_null(work.argument, rows[i]) ? null : values[i];
    }
}

/* A row and the one before it, a bit for each term. */
struct window_pair {
    uint32_t greater, less; /* of the one before */
    uint32_t apart;         /* the one before differs from that which is WINDOW_RUN_MAX after it */
};

/* By the terms from `begin` on. */
TILE_INLINE void window_compare(const window_work &work, const uint32_t at[WINDOW_BATCH], uint32_t begin,
                                bool runs, window_pair pairs[WINDOW_BATCH])
{
    uint32_t before[WINDOW_BATCH], after[WINDOW_BATCH];
#pragma unroll
    for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
        before[i] = at[i] ? at[i] - 1 : 0;
        const bool within = work.rows - before[i] > WINDOW_RUN_MAX;
        after[i] = within ? before[i] + WINDOW_RUN_MAX : before[i];
        pairs[i] = window_pair{0, 0, runs && within ? 0 : UINT32_MAX};
    }
#pragma unroll 1
    for (uint32_t t = begin; t < work.term_count; t++) {
        uint64_t own[WINDOW_BATCH], last[WINDOW_BATCH];
        window_codes(work.terms[t], before, last);
        window_codes(work.terms[t], at, own);
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
            pairs[i].greater |= (uint32_t)(last[i] > own[i]) << t;
            pairs[i].less |= (uint32_t)(last[i] < own[i]) << t;
        }
        if (!runs)
            continue;
        window_codes(work.terms[t], after, own);
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            pairs[i].apart |= (uint32_t)(last[i] != own[i]) << t;
    }
}

/* Rows do not ascend by the terms t and later if the first of these that differs is greater: so it is where t is, or where it
 * differs for none and so for t + 1, which is how carries go through a sum. The bits are turned around for that. */
TILE_INLINE void window_note_suffixes(const window_pair &pair, uint32_t terms, uint32_t *flags)
{
    const uint32_t all = low_bits(terms), different = (pair.greater | pair.less) & all,
                   greater = __brev(pair.greater & all) >> 16, same = __brev(all & ~different) >> 16,
                   either = greater | same, carries = (either ^ greater ^ (either + greater)) >> 1 & 0xffff;
    *flags |= __brev(carries) >> 16;
    *flags |= (all & ~low_bits(32 - __clz(different))) << 16;
}

TILE_INLINE void window_note_prefixes(const window_pair &pair, uint32_t terms, uint32_t *flags)
{
    const uint32_t all = low_bits(terms), different = __ffs(pair.greater | pair.less),
                   apart = __ffs(pair.apart & all);
    if (different && pair.greater >> (different - 1) & 1)
        *flags |= all & ~low_bits(different - 1);
    *flags |= (apart ? low_bits(apart - 1) : all) << 16;
}

/* Once the rows are known not to ascend by the first term, nor by the terms from one on, those before it need no look. Three
 * blocks of a multiprocessor have 80 registers a thread, which suffice. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS, 3)
    window_orders(const __grid_constant__ window_work work)
{
    uint32_t suffixes = 0, prefixes = 0, begin = 0;
    for (uint64_t first = window_warp() * WINDOW_BATCH * 32; first < work.rows;
         first += window_warps() * WINDOW_BATCH * 32) {
        uint32_t at[WINDOW_BATCH];
        window_pair pairs[WINDOW_BATCH];
        window_places_from(work, first, at);
        while (begin < work.term_count && __any_sync(FULL_WARP, prefixes & 1) &&
               __any_sync(FULL_WARP, suffixes >> begin & 1))
            begin++;
        if (begin == work.term_count)
            break;
        window_compare(work, at, begin, !__any_sync(FULL_WARP, prefixes & 1), pairs);
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            if (at[i] > 0) {
                window_note_suffixes(pairs[i], work.term_count, &suffixes);
                window_note_prefixes(pairs[i], work.term_count, &prefixes);
            }
    }
    for (uint32_t distance = 16; distance > 0; distance /= 2) {
        suffixes |= __shfl_down_sync(FULL_WARP, suffixes, distance);
        prefixes |= __shfl_down_sync(FULL_WARP, prefixes, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicOr(window_halves(work.flags) + WINDOW_SUFFIXES, suffixes);
        atomicOr(window_halves(work.flags) + WINDOW_PREFIXES, prefixes);
    }
}

/* Of the rows in their own order it gives the rows, too, in the keys or in `rows_out`; 0: ranks need none. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_keys(const __grid_constant__ window_work work, uint64_t rows_out)
{
    for (uint64_t first = window_warp() * WINDOW_BATCH * 32; first < work.rows;
         first += window_warps() * WINDOW_BATCH * 32) {
        uint32_t at[WINDOW_BATCH], rows[WINDOW_BATCH];
        uint64_t keys[WINDOW_BATCH];
        window_places_from(work, first, at);
        window_rows(work, at, rows);
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            keys[i] = work.has_row ? (uint64_t)rows[i] << work.row_shift : 0;
#pragma unroll 1
        for (uint32_t t = 0; t < work.term_count + work.carried_count; t++)
            if (work.terms[t].word == work.word) {
                uint64_t codes[WINDOW_BATCH];
                window_codes(work.terms[t], rows, codes);
#pragma unroll
                for (uint32_t i = 0; i < WINDOW_BATCH; i++)
                    keys[i] |= codes[i] << work.terms[t].shift;
            }
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
            if (work.narrow)
                window_halves(work.keys)[at[i]] = (uint32_t)keys[i];
            else
                window_words(work.keys)[at[i]] = keys[i];
            if (rows_out)
                window_words(rows_out)[at[i]] = rows[i];
        }
    }
}

/* A row comes after those of its run whose keys are less, and those that are equal and before it. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_ranks(const __grid_constant__ window_work work)
{
    const uint64_t *const keys = window_words(work.keys);
    const auto run_of = [&](uint64_t key) { return work.run_bits < 64 ? key >> work.run_bits : 0; };
    for (uint64_t row = window_thread(); row < work.rows; row += window_threads()) {
        const uint64_t key = keys[row], run = run_of(key);
        uint64_t place = row;
        for (uint64_t before = row; before > 0 && run_of(keys[before - 1]) == run; before--)
            place -= keys[before - 1] > key;
        for (uint64_t after = row + 1; after < work.rows && run_of(keys[after]) == run; after++)
            place += keys[after] < key;
        window_words(work.places)[place] = row;
    }
}

/* ---- Partitions and groups ---- */

/* Whether places begin a partition (bit 0) and a group (bit 1). */
TILE_INLINE void window_begun(const window_work &work, const uint32_t at[WINDOW_BATCH],
                              uint32_t begun[WINDOW_BATCH])
{
    uint32_t rows[WINDOW_BATCH], before[WINDOW_BATCH];
#pragma unroll
    for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
        begun[i] = at[i] ? 0 : 3;
        before[i] = at[i] ? at[i] - 1 : 0;
    }
    if (work.by_keys) {
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
            const uint64_t differs =
                (window_word(work, work.keys, at[i]) ^ window_word(work, work.keys, before[i])) >>
                work.key_shift;
            const uint32_t shift = work.partition_shift - work.key_shift;
            begun[i] |= (shift < 64 && differs >> shift != 0) | (differs != 0) << 1;
        }
        return;
    }
    window_rows(work, at, rows);
    window_rows(work, before, before);
#pragma unroll 1
    for (uint32_t t = 0; t < work.compared_terms; t++) {
        uint64_t own[WINDOW_BATCH], last[WINDOW_BATCH];
        window_codes(work.terms[t], rows, own);
        window_codes(work.terms[t], before, last);
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_BATCH; i++)
            begun[i] |= own[i] != last[i] ? t < work.partition_terms ? 3 : 2 : 0;
    }
}

/* The sums have partitions in the high 32 bits, groups in the low ones. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_marks(const __grid_constant__ window_work work)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE;
    for (uint64_t piece = window_warp(); piece < pieces; piece += window_warps()) {
        const uint64_t begin = piece * WINDOW_PIECE,
                       end = work.rows - begin < WINDOW_PIECE ? work.rows : begin + WINDOW_PIECE;
        uint64_t sum = 0;
        for (uint64_t first = begin; first < end; first += WINDOW_BATCH * 32) {
            uint32_t at[WINDOW_BATCH];
            uint32_t begun[WINDOW_BATCH];
            window_places_from(work, first, at);
            window_begun(work, at, begun);
#pragma unroll
            for (uint32_t i = 0; i < WINDOW_BATCH; i++) {
                const uint64_t word = first / 32 + i;
                const bool within = word * 32 + threadIdx.x % 32 < end;
                const uint32_t partitions = __ballot_sync(FULL_WARP, within && begun[i] & 1),
                               groups = __ballot_sync(FULL_WARP, within && begun[i] & 2);
                sum += (uint64_t)__popc(partitions) << 32 | __popc(groups);
                if (threadIdx.x % 32 || word * 32 >= end)
                    continue;
                window_halves(work.partitions.bits)[word] = partitions;
                if (work.groups.bits)
                    window_halves(work.groups.bits)[word] = groups;
            }
        }
        if (threadIdx.x % 32 == 0)
            window_words(work.sums)[piece] = sum;
    }
}

TILE_INLINE uint64_t window_upto(uint64_t value)
{
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint64_t other = __shfl_up_sync(FULL_WARP, value, distance);
        value += threadIdx.x % 32 >= distance ? other : 0;
    }
    return value;
}

/* Of a block: the sum of the warps before this one, and of all; `upto` is that of a warp's lanes up to each. */
TILE_INLINE uint64_t window_warps_before(uint64_t *of_warps, uint64_t upto, uint64_t *all)
{
    uint64_t before = 0;
    if (threadIdx.x % 32 == 31)
        of_warps[threadIdx.x / 32] = upto;
    __syncthreads();
    *all = 0;
    for (uint32_t warp = 0; warp < blockDim.x / 32; warp++) {
        before += warp < threadIdx.x / 32 ? of_warps[warp] : 0;
        *all += of_warps[warp];
    }
    __syncthreads();
    return before;
}

/* One block; a thread has WINDOW_SUMS pieces that follow each other at a time. */
extern "C" __global__ void __launch_bounds__(WINDOW_BEFORE_THREADS)
    window_before(const __grid_constant__ window_work work)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE;
    uint64_t *const sums = window_words(work.sums);
    uint64_t before = 0, all;
    for (uint64_t piece = 0; piece < pieces; piece += blockDim.x * WINDOW_SUMS) {
        const uint64_t first = piece + threadIdx.x * WINDOW_SUMS;
        uint64_t of[WINDOW_SUMS], own = 0;
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_SUMS; i++)
            own += of[i] = first + i < pieces ? sums[first + i] : 0;
        const uint64_t upto = window_upto(own);
        uint64_t sum =
            before + window_warps_before(reinterpret_cast<uint64_t *>(tile_shared), upto, &all) + upto - own;
#pragma unroll
        for (uint32_t i = 0; i < WINDOW_SUMS; i++) {
            if (first + i < pieces)
                sums[first + i] = sum;
            sum += of[i];
        }
        before += all;
    }
}

/* The places that begin something in a piece, before which so many do. */
TILE_INLINE void window_list(const window_work &work, const window_begins &begins, uint64_t piece,
                             uint64_t before)
{
    const uint64_t words = (work.rows + 31) / 32, begin = piece * (WINDOW_PIECE / 32);
    for (uint64_t first = begin; first < begin + WINDOW_PIECE / 32; first += 32) {
        const uint64_t word = first + threadIdx.x % 32;
        const uint32_t bits = word < words ? window_halves(begins.bits)[word] : 0;
        const uint64_t upto = window_upto(__popc(bits));
        const uint32_t own = (uint32_t)(before + upto) - __popc(bits);
        if (word < words)
            window_halves(begins.before)[word] = own;
        for (uint32_t j = 0; j < 32; j++) {
            const uint32_t of = __shfl_sync(FULL_WARP, bits, j), to = __shfl_sync(FULL_WARP, own, j);
            if (of >> threadIdx.x % 32 & 1)
                window_halves(begins.list)[to + __popc(of & low_bits(threadIdx.x % 32))] =
                    (uint32_t)(32 * (first + j)) + threadIdx.x % 32;
        }
        before += __shfl_sync(FULL_WARP, upto, 31);
    }
    if (threadIdx.x % 32 == 0 && begin + WINDOW_PIECE / 32 >= words)
        window_halves(begins.list)[before] = (uint32_t)work.rows;
}

/* The sums are those before each piece. */
extern "C" __global__ void __launch_bounds__(WINDOW_THREADS)
    window_lists(const __grid_constant__ window_work work)
{
    const uint64_t pieces = (work.rows + WINDOW_PIECE - 1) / WINDOW_PIECE;
    for (uint64_t piece = window_warp(); piece < pieces; piece += window_warps()) {
        const uint64_t before = window_words(work.sums)[piece];
        window_list(work, work.partitions, piece, before >> 32);
        if (work.groups.bits)
            window_list(work, work.groups, piece, (uint32_t)before);
    }
}

/* Those that begin up to a place, and at it. */
TILE_INLINE uint32_t window_number(const window_begins &begins, uint64_t at)
{
    return window_halves(begins.before)[at / 32] +
           __popc(window_halves(begins.bits)[at / 32] & ((2u << at % 32) - 1));
}

#endif
