/*
 * query_cuda.h: what the kernels of planned statements (engine/gpu/kernel.h) use in addition to the
 * tile dialect: fact columns of 64 bits and with NULLs, dimension columns at a position, conditions on
 * single rows, lookup tables, and answers that are rows.
 */
#ifndef TESSERA_OPERATORS_DIALECT_QUERY_CUDA_H
#define TESSERA_OPERATORS_DIALECT_QUERY_CUDA_H

#include "operators/decode/double_key_cuda.h"
#include "operators/dialect/tile_levels_cuda.h"
#include "storage/base/calendar.h"

/* ---- Fact columns of 64 bits: values are read one by one ---- */

/* COPIED and WHOLE: as of tile_column. */
template <class DECODE, uint32_t COPIED, bool NULLABLE, bool WHOLE = false> struct tile_wide_column {
    static constexpr bool STAGED = WHOLE || !DECODE::RANDOM_ACCESS;
    static constexpr uint32_t STAGING_BYTES =
        DECODE::SCRATCH_BYTES + (STAGED   ? tile_places(WHOLE) * sizeof(int64_t)
                                 : COPIED ? COPIED_BYTES(COPIED)
                                          : 0);
    DECODE decode;
    const bound_chunk *chunks;
    uint32_t *scratch; /* the decoder's, then 1024 values if STAGED */
    bool staged;       /* this tile's values, or what the decoder's item() needs, are in shared memory */
    uint32_t copy_at;  /* as of tile_column */

    __device__ __forceinline__ void bind(const bound_column &bound, unsigned char *staging)
    {
        chunks = reinterpret_cast<const bound_chunk *>(bound.chunks);
        scratch = reinterpret_cast<uint32_t *>(staging + bound.staging);
        if constexpr (COPIED)
            copy_at = copied_at(values());
    }
    __device__ __forceinline__ void seek(const tile &t)
    {
        decode.seek(chunks[t.place], t.index, t.lane);
        staged = false;
    }
    __device__ __forceinline__ void preload()
    {
    }
    __device__ __forceinline__ void ahead(const tile &)
    {
    }
    __device__ __forceinline__ void copy(const tile &t)
    {
        if constexpr (COPIED)
            decode.copy(copy_at, tile_first_item(t), tile_items(t));
    }
    __device__ __forceinline__ void advance(const tile &t)
    {
        seek(t);
    }
    __device__ __forceinline__ tile_mask first() const
    {
        return FULL_WARP;
    }
    __device__ __forceinline__ int64_t *values() const
    {
        return reinterpret_cast<int64_t *>(scratch + DECODE::SCRATCH_BYTES / sizeof(uint32_t));
    }
    __device__ __forceinline__ void fetch(const tile *t, tile_mask keep)
    {
        if (COPIED)
            wait_for_copies();
        if (COPIED || STAGING_BYTES == 0 || staged || !__any_sync(FULL_WARP, keep != 0))
            return;
        if constexpr (STAGED) {
            int64_t *mine = values() + t->lane;
            decode.template items<false>(
                scratch, [&](uint32_t j, int64_t value) { mine[tile_place(32 * j, WHOLE)] = value; });
            __syncwarp();
        } else {
            decode.stage(scratch);
        }
        staged = true;
    }
    __device__ __forceinline__ int64_t value(uint32_t row)
    {
        if constexpr (STAGED)
            return values()[tile_place(row, WHOLE)];
        else if constexpr (COPIED)
            return decode.copied(copy_at, row);
        else
            return decode.item(scratch, row);
    }
    __device__ __forceinline__ bool is_null(const tile *t, uint32_t row) const
    {
        return NULLABLE && tile_row_is_null(chunks[t->place], t, row);
    }
};

#define tile_is_null(t, column, row) (column).is_null((t), (row))

/* ---- Conditions on single rows ---- */

/* In the body of tile_where: removes the row from its mask. */
#define tile_drop(keep, row) ((keep) &= ~(1u << (row) / 32u))

/* ---- Dimension columns and lookup tables ---- */

template <class TYPE> TILE_INLINE TYPE array_value(uint32_t array, uint64_t position)
{
    return __ldg(reinterpret_cast<const TYPE *>(arguments.arrays[array].values) + position);
}

TILE_INLINE bool array_is_null(uint32_t array, uint64_t position)
{
    return !(__ldg(words_at(arguments.arrays[array].valid) + position / 32) >> position % 32 & 1);
}

TILE_INLINE lookup_argument lookup_at(uint32_t table)
{
    const ulonglong2 *const entry = reinterpret_cast<const ulonglong2 *>(arguments.tables) + 2 * table;
    const ulonglong2 first = __ldg(entry), second = __ldg(entry + 1);
    return lookup_argument{first.x, first.y, second.x, second.y};
}

/* The value at `code`; INT64_MIN (NULL) if the table is empty. A code beyond the table, which only a damaged
 * file has, gives the last value, so that no read leaves the table. */
TILE_INLINE int64_t lookup_index(uint32_t table, int64_t code)
{
    const lookup_argument at = lookup_at(table);
    if (at.count == 0)
        return INT64_MIN;
    const uint64_t place = (uint64_t)code < at.count ? (uint64_t)code : at.count - 1;
    return __ldg(reinterpret_cast<const long long *>(at.values) + place);
}

/* Whether the sorted table contains the value: by its bitmap or, without one, by a binary search. */
TILE_INLINE bool lookup_contains(uint32_t table, int64_t value)
{
    const lookup_argument at = lookup_at(table);
    const long long *values = reinterpret_cast<const long long *>(at.values);
    if (at.members) {
        const uint64_t place = (uint64_t)value - (uint64_t)__ldg(values);
        return place <= (uint64_t)__ldg(values + at.count - 1) - (uint64_t)__ldg(values) &&
               (__ldg(words_at(at.members) + place / 32) >> place % 32 & 1);
    }
    uint64_t low = 0, high = at.count;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (__ldg(values + middle) < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < at.count && __ldg(values + low) == value;
}

/* ---- Scalar functions, whose bodies use keys of doubles ---- */

#include "operators/dialect/row_body.h"

/* ---- Division of whole numbers: x / 0 is NULL; the least number / -1 wraps, with remainder 0 ---- */

template <class TYPE> TILE_INLINE TYPE whole_quotient(TYPE a, TYPE b)
{
    return b == 0 ? 0 : b == -1 ? (TYPE)(0 - (uint64_t)a) : a / b;
}
template <class TYPE> TILE_INLINE TYPE whole_remainder(TYPE a, TYPE b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

/* A group term's part of the group's number. */
TILE_INLINE uint64_t group_number_part(uint32_t term, uint64_t value, bool null)
{
    const uint64_t code = null ? 0 : value - arguments.groups[term].base;
    return (code < arguments.groups[term].last ? code : arguments.groups[term].last) *
           arguments.groups[term].stride;
}
/* The same, for slots and values of 32 bits. */
TILE_INLINE uint32_t group_slot_part(uint32_t term, uint32_t value, bool null)
{
    const uint32_t code = null ? 0 : value - (uint32_t)arguments.groups[term].base;
    return min(code, (uint32_t)arguments.groups[term].last) * (uint32_t)arguments.groups[term].stride;
}

/* ---- Masks of all tiles: rows that pass the plan's index terms, and answers that are rows ---- */

/* Where the lane's word is in a mask of all tiles. */
TILE_INLINE uint64_t mask_place(const tile *t)
{
    const uint64_t first =
        __ldg(reinterpret_cast<const unsigned long long *>(arguments.segment_tiles) + t->segment);
    return (first + t->index) * TILE_LANES + t->lane;
}

/* Not counted as bytes of the fact table: it is made for the statement. */
TILE_INLINE tile_mask index_mask(const tile *t)
{
    return __ldg(reinterpret_cast<const uint32_t *>(arguments.index_mask) + mask_place(t));
}

TILE_INLINE void keep_rows(const tile *t, tile_mask keep)
{
    reinterpret_cast<uint32_t *>(arguments.rows)[mask_place(t)] = keep;
}

/* ---- Before the scan ---- */

TILE_INLINE void memory_clear()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t at = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; at < arguments.clear_words;
         at += threads)
        reinterpret_cast<uint4 *>(arguments.clear)[at] = make_uint4(0, 0, 0, 0);
}

/* Evaluates a join's dimension predicate at every position of the dimension, to a bitmap. A warp makes one word of 32
 * positions. In gaps between rows the arrays repeat the row before (storage/column/positions.h). */
template <class CONDITION> TILE_INLINE void match_rows(uint32_t join, CONDITION condition)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t positions = arguments.matches[join].positions, threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t first = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x - lane; first < positions;
         first += threads) {
        const uint64_t position = first + lane;
        const uint32_t bits = __brev(__ballot_sync(FULL_WARP, position < positions && condition(position)));
        if (lane == 0)
            reinterpret_cast<uint32_t *>(arguments.matches[join].bitmap)[first / 32] = bits;
    }
}

/* ---- After the scan ---- */

/* Copies the used slots of a group table to `out` without gaps, column by column: the words of the group
 * numbers, then the words(state) words of each aggregate state. Groups come in any order. */
template <class WORDS>
TILE_INLINE void groups_collect(uint32_t key_words, uint64_t out, uint64_t count, uint64_t next, WORDS words,
                                uint32_t states)
{
    state_word *const to = state_words(out);
    const uint64_t threads = gridDim.x * (uint64_t)blockDim.x;
    for (uint64_t slot = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; slot < arguments.slots;
         slot += threads) {
        const uint64_t key = state_words(arguments.keys)[slot];
        if (key == 0)
            continue;
        const uint64_t at = atomicAdd(state_words(next), 1ull);
        if (at >= count)
            continue;
        uint64_t column = key_words - 1;
        for (uint32_t word = 0; word < key_words; word++)
            to[word * count + at] =
                key_words == 1 ? key - 1 : state_words(arguments.key_words)[word * arguments.slots + slot];
        for (uint32_t state = 0; state < states; state++)
            for (uint32_t word = 0; word < words(state); word++)
                to[++column * count + at] =
                    state_words(arguments.states[state])[word * arguments.slots + slot];
    }
}

#endif
