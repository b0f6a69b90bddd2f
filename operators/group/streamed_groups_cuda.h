/*
 * streamed_groups_cuda.h: groups whose rows follow each other in the table, as lines of orders do: a warp that scans a tile has
 * whole groups, and writes them to a table that is full, in any order. No row is listed, and no group is looked for.
 *
 *     list_stream    the groups of a tile. All lanes call see() with the number of a row's group, for 32 rows at a time, then
 *                    place(), and for each aggregate begin() and end(); between these each lane calls for its 32 rows that follow
 *                    each other, from the last to the first, add() with what the row adds, and where begins() key() and close()
 *
 * The first and the last group of a tile may have rows in the tiles around it: they are its edges, and go to a list of them, two of
 * each tile in the order of tiles. A tile of one group has it in the first one, and nothing in the second. After the scan groups
 * are made of the edges as of listed rows (listed_rows_cuda.h), whose list is as long as twice the tiles. If numbers do not
 * ascend the flag after `full` is set, and the engine lists all rows instead.
 */
#ifndef TESSERA_OPERATORS_GROUP_STREAMED_GROUPS_CUDA_H
#define TESSERA_OPERATORS_GROUP_STREAMED_GROUPS_CUDA_H

#include "operators/group/listed_rows_cuda.h"
#include "operators/group/tile_runs_cuda.h"

/* How words of states are merged. */
template <merge_kind KIND> struct list_merge_of {
    template <class T> static __device__ __forceinline__ T nothing()
    {
        return 0;
    }
    template <class T> static __device__ __forceinline__ T merge(T a, T b)
    {
        return KIND == MERGE_ADD        ? a + b
               : KIND == MERGE_GREATEST ? (a > b ? a : b)
               : KIND == MERGE_OR       ? a | b
                                        : a ^ b;
    }
};

/* NUMBER: of groups. */
template <class NUMBER> struct list_stream {
    const tile *t;
    uint64_t edge, slot; /* the places of the tile's first edge, and of its first whole group */
    uint32_t heads,
        before; /* lane i: the rows 32i .. 32i + 31 with which groups begin, and how many do before them */
    uint32_t total;     /* groups of the tile */
    NUMBER first, last; /* of the tile's first row, and of the last one that was seen */
    bool ascends;
    uint32_t rank;                 /* among the tile's groups, of that which the lane adds to */
    uint64_t all, lowest, highest; /* what it has; that of the lane's first and last groups */

    __device__ __forceinline__ list_stream(const tile *of) : t(of), heads(0), first(0), last(0), ascends(true)
    {
        edge = 2 * (state_words(arguments.segment_tiles)[t->segment] + t->index);
    }
    __device__ __forceinline__ void see(uint32_t item, NUMBER own)
    {
        const uint32_t row = 32 * item + t->lane;
        const NUMBER earlier = __shfl_sync(FULL_WARP, t->lane == 31 ? last : own, (t->lane + 31) % 32);
        const bool has = row < t->rows;
        const uint32_t begun = __ballot_sync(FULL_WARP, has && (row == 0 || own != earlier));
        ascends &= !has || row == 0 || own >= earlier;
        heads = t->lane == item ? begun : heads;
        first = item ? first : own;
        last = own;
    }
    /* After all rows were seen. */
    __device__ __forceinline__ void place()
    {
        const uint32_t own = __popc(heads), upto = scan_warp(own, t->lane);
        before = upto - own;
        total = __shfl_sync(FULL_WARP, upto, 31);
        slot = 0;
        if (total > 2 && t->lane == 0)
            slot = atomicAdd(state_words(arguments.groups_found), (state_word)(total - 2));
        slot = __shfl_sync(FULL_WARP, slot, 0);
        /* A table that statistics have told to be too small is as rows in no order. */
        ascends &= total < 3 || slot + total - 2 < arguments.group_places;
        ascends = __all_sync(FULL_WARP, ascends);
        if (!ascends && t->lane == 0)
            reinterpret_cast<volatile uint32_t *>(arguments.full)[1] = 1;
        first = __shfl_sync(FULL_WARP, first, 0);
        last = __shfl_sync(FULL_WARP, last, (t->rows - 1) % 32);
        if (t->lane < 2)
            state_words(arguments.rows)[edge + t->lane] = t->lane ? last : first;
    }
    __device__ __forceinline__ void begin()
    {
        rank = before + __popc(heads) - 1;
        all = lowest = highest = 0;
    }
    __device__ __forceinline__ bool begins(uint32_t i) const
    {
        return heads >> i & 1;
    }
    /* The group has a place in the table: it is no edge. */
    __device__ __forceinline__ bool is_whole() const
    {
        return rank - 1 < total - 2 && ascends;
    }
    __device__ __forceinline__ uint64_t at() const
    {
        return slot + rank - 1;
    }
    __device__ __forceinline__ void key(NUMBER own)
    {
        if (is_whole())
            state_words(arguments.keys)[at()] = (state_word)own + 1;
    }
    template <merge_kind KIND> __device__ __forceinline__ void add(uint64_t word)
    {
        all = list_merge_of<KIND>::merge(all, word);
    }
    /* The lane's last group, which may have rows in the lanes after it, waits for end(). */
    __device__ __forceinline__ void close(uint32_t aggregate)
    {
        const bool waits = rank - before == (uint32_t)__popc(heads) - 1;
        if (waits)
            highest = all;
        else if (is_whole())
            state_words(arguments.states[aggregate])[at()] = all;
        lowest = all;
        all = 0;
        rank--;
    }
    template <merge_kind KIND> __device__ __forceinline__ void end(uint32_t aggregate)
    {
        const uint64_t rest = tile_run_rest<list_merge_of<KIND>>(heads, (uint64_t)0, &all);
        const uint32_t own = __popc(heads), lanes = __ballot_sync(FULL_WARP, heads != 0);
        highest = list_merge_of<KIND>::merge(highest, rest);
        lowest = own == 1 ? highest : lowest;
        rank = before + own - 1;
        if (own && is_whole())
            state_words(arguments.states[aggregate])[at()] = highest;
        const uint64_t low = __shfl_sync(FULL_WARP, lowest, 0),
                       high = __shfl_sync(FULL_WARP, highest, 31 - __clz(lanes));
        if (t->lane < 2)
            state_words(arguments.rows)[(aggregate + 1) * arguments.edge_count + edge + t->lane] =
                t->lane == 0 ? low
                : total == 1 ? 0
                             : high;
    }
};

#endif
