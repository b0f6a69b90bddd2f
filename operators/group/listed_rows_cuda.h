/*
 * listed_rows_cuda.h: groups of which there are so many that a table of them has no room in the second-level cache, where each
 * row would wait for memory some times, at random places. Instead the scan lists of each row one word: its group's number in
 * the high bits, the codes of the aggregates' arguments in the low ones. The engine sorts the words
 * (operators/sort/radix_sort_cuda.h), and of words with one number a group is made:
 *
 *     list_cursor    the places of a tile's rows in the list
 *     list_count     how many groups begin in each piece of the list, and whether its words ascend
 *                    (these are added up: values_scan of operators/general/values_cuda.h)
 *     list_each      the group of each word; groups become a table that is full, in the order of their numbers
 *
 * All memory is read and written in order, 8 bytes a row in each pass. Where the rows stand in the order of their groups the scan
 * makes the groups itself (streamed_groups_cuda.h).
 */
#ifndef TESSERA_OPERATORS_GROUP_LISTED_ROWS_CUDA_H
#define TESSERA_OPERATORS_GROUP_LISTED_ROWS_CUDA_H

#include "operators/general/values.h"
#include "operators/group/lane_runs_cuda.h"

/* The rows of a tile that a warp lists. All lanes make it; then each asks for the places of its own rows, in their order. */
struct list_cursor {
    uint64_t first; /* of the tile's places */
    uint32_t next;  /* this lane's next one */
    uint32_t from;  /* the first row, if they are `whole` */
    bool whole;     /* rows that follow each other: they are listed in their order, else lane by lane */

    __device__ __forceinline__ list_cursor(const tile *t, tile_mask keep)
    {
        const uint32_t own = __popc(keep), upto = scan_warp(own, t->lane),
                       total = __shfl_sync(FULL_WARP, upto, 31),
                       item = (uint32_t)__shfl_sync(FULL_WARP, __ffs(keep) - 1, 0) % 32;
        whole = __all_sync(FULL_WARP, keep == low_bits((total + 31 - t->lane) / 32) << item);
        from = 32 * item;
        next = upto - own;
        first = 0;
        if (total && t->lane == 0)
            first = atomicAdd(state_words(arguments.groups_found), (state_word)total);
        first = __shfl_sync(FULL_WARP, first, 0);
    }
    __device__ __forceinline__ void add(uint32_t row, uint64_t word)
    {
        state_words(arguments.rows)[first + (whole ? row - from : next++)] = word;
    }
};

TILE_INLINE uint64_t list_warp()
{
    return (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) / 32;
}
TILE_INLINE uint64_t list_warps()
{
    return gridDim.x * (uint64_t)blockDim.x / 32;
}

/* A group begins with a word whose number, without the low `shift` bits, is not that of the word before. Of pieces of `length`
 * words sums[p] are the groups that begin in piece p, and sums[pieces] is 0. *disorder is set if words do not ascend. */
TILE_INLINE void list_count(const state_word *words, uint64_t count, state_word *sums, uint32_t shift,
                            uint32_t length, uint32_t *disorder)
{
    const uint64_t pieces = (count + length - 1) / length;
    bool descends = false;
    for (uint64_t piece = list_warp(); piece < pieces; piece += list_warps()) {
        const uint64_t begin = piece * length, end = count - begin < length ? count : begin + length;
        uint32_t heads = 0;
#pragma unroll 4
        for (uint64_t i = begin + threadIdx.x % 32; i < end; i += 32) {
            const uint64_t number = __ldg(words + i) >> shift, before = i ? __ldg(words + i - 1) >> shift : 0;
            heads += i == 0 || number != before;
            descends |= number < before;
        }
        heads = sum_warp(heads);
        if (threadIdx.x % 32 == 0)
            sums[piece] = heads;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        sums[pieces] = 0;
    if (descends)
        *reinterpret_cast<volatile uint32_t *>(disorder) = 1;
}

/* A warp's 32 words, of which the lane has one. */
struct list_words {
    lane_run run;       /* of words of one group */
    uint64_t at, group; /* of the lane's word */
    bool has;           /* the lane has a word: lanes after the last one have none */
    bool whole;         /* the group has no words but those of the run */
};

/* Calls add(word, words) for all words, by all lanes of a warp at once; sums[p] are the groups that begin before piece p, after
 * `others`. */
template <class ADD>
TILE_INLINE void list_each(const state_word *words, uint64_t count, const state_word *sums, uint64_t others,
                           uint32_t shift, uint32_t length, ADD add)
{
    const uint64_t pieces = (count + length - 1) / length;
    const uint32_t lane = threadIdx.x % 32;
    for (uint64_t piece = list_warp(); piece < pieces; piece += list_warps()) {
        const uint64_t begin = piece * length, end = count - begin < length ? count : begin + length;
        uint64_t groups = others + sums[piece];
#pragma unroll 2
        for (uint64_t first = begin; first < end; first += 32) {
            list_words of;
            const uint64_t i = of.at = first + lane;
            of.has = i < end;
            const uint64_t word = of.has ? __ldg(words + i) : 0,
                           before = of.has && i ? __ldg(words + i - 1) >> shift : 0;
            const bool begins = of.has && (i == 0 || word >> shift != before);
            const uint32_t begun = __ballot_sync(FULL_WARP, begins), all = __ballot_sync(FULL_WARP, of.has);
            of.run.take(begun | 1 | ~all);
            of.group = groups + __popc(begun & low_bits(lane + 1)) - 1;
            of.whole = begins && of.run.end < 32;
            groups += __popc(begun);
            if (begins)
                state_words(arguments.keys)[of.group] = (word >> shift) + 1;
            add(word, of);
        }
    }
}

/* What a row adds to a state, by the code of its argument. */
TILE_INLINE uint64_t list_word(uint64_t code, bool nullable, uint32_t value, int64_t low)
{
    return nullable && code == 0 ? 0 : state_word_of(value, (int64_t)((uint64_t)low + code - nullable));
}

/* Merges what a run adds into the state of its group. Where a group has no rows in other runs, no other warp has its state. */
template <merge_kind KIND>
TILE_INLINE void list_merge(uint32_t aggregate, const list_words &of, uint64_t merged)
{
    state_word *const state = state_words(arguments.states[aggregate]) + of.group;
    if (!of.run.head || !of.has)
        return;
    if (of.whole)
        *state = merged;
    else if (KIND == MERGE_ADD)
        atomicAdd(state, (state_word)merged);
    else if (KIND == MERGE_GREATEST)
        atomicMax(state, (state_word)merged);
    else
        combine_bits<KIND == MERGE_XOR>(state, merged);
}

#endif
