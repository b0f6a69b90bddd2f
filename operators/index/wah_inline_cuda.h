/*
 * wah_inline_cuda.h: the OR of WAH vectors in one pass: compressed words are read, the result is written, and nothing else.
 *
 * A thread block has a piece of 1024 groups (64512 rows) of all vectors; their directories say where it begins and ends.
 * Its warps take vectors in turn and OR them into the piece's 8 KiB of shared memory. First, each lane looks at a vector of
 * its own: if the piece is in one fill, a look at the directory and at that word is all; if it is in at most 8 words, the
 * lane ORs them alone. Then the warp takes the other vectors one by one, 128 words at a time, 4 a lane: a sum over a
 * lane's lengths and one over the lanes give each word its first group. Literals are ORed there by atomics, those halves
 * that are not 0; fills of zeros do nothing. The next 128 words are loaded meanwhile, of the next vector if need be.
 *
 * Shared atomics let the warps of a block share a piece, so that a multiprocessor is full; with a result for each warp it
 * would hold 28. index_launch.h says how many warps: few, so that waiting at a block's begin and end is shared by
 * many words. With 48 registers a multiprocessor holds 40 warps; 40 registers spill and are up to 30 % slower. The halves
 * of a group are apart, and places are swapped by bits of the group, so that 32 lanes with four literals each meet in no
 * bank. About 140 instructions for 128 words; 128 vectors, whose pieces have 223 words: 0.6 ms of instructions for 1 G rows.
 *
 * On an H200, 1 G rows in ms, and the bound by bytes: uniform, 2 vectors: 0.103 (0.083), 8: 0.288 (0.246), 32: 0.628
 * (0.588), 128: 0.87 (0.81); Zipf 1, 128: 0.71 (0.59); runs of 1000 rows, 8: 0.068 (0.030), 128: 0.080 (0.030).
 */
#ifndef TESSERA_OPERATORS_INDEX_WAH_INLINE_CUDA_H
#define TESSERA_OPERATORS_INDEX_WAH_INLINE_CUDA_H

#include "operators/index/wah_words_cuda.h"

#define INLINE_STEP  128u /* words */
#define INLINE_SHORT 16u  /* groups of a fill of ones that its lane writes alone */
#define INLINE_FEW   8u   /* words of a vector that its lane takes alone */

/* Where group `group` of a piece is: its first half; a second one is WAH_PIECE_GROUPS further. */
TILE_INLINE uint32_t inline_place(uint32_t group)
{
    return group ^ (group >> 5 & 3);
}

/* The words of a vector that a piece is in; or all, if the vector has no directory. `at`: the address of the first one;
 * `skip`: its groups before the piece. */
struct inline_words {
    uint64_t at;
    uint32_t count, skip;
    bool all;
};

/* Looks at the directory. If the whole piece is in one fill, there are no words, and `ones` says what it is. */
template <class WORDS>
TILE_INLINE inline_words inline_look(const bound_vector &vector, uint32_t piece, uint32_t pieces, bool &ones)
{
    inline_words words = {vector.words, (uint32_t)vector.count, piece * WAH_PIECE_GROUPS, true};
    if (vector.starts) {
        const uint2 *const starts = reinterpret_cast<const uint2 *>(vector.starts);
        const uint2 start = __ldg(starts + piece);
        if (piece + 1 < pieces) {
            const uint2 next = __ldg(starts + piece + 1);
            words.count = next.x + (next.y != 0);
        }
        words.at += (uint64_t)WORDS::BYTES * start.x;
        words.count -= start.x;
        words.skip = start.y;
        words.all = false;
    }
    if (words.count == 1) {
        uint32_t low, high;
        WORDS::load_one(words.at, 0, low, high);
        if (high >= HIGH_FILL) {
            ones = high >= HIGH_ONES;
            words.count = 0;
        }
    }
    return words;
}

/* What a warp reads of its vectors, step by step. All lanes have the same, but `words`: their four. */
template <class WORDS> struct inline_reader {
    const unsigned char *at; /* the lane's words; those of the step begin at a multiple of four words */
    int32_t base; /* the step's first word, from the vector's first one of the piece; it may be -3 .. 0 */
    int32_t count;
    uint32_t skip;
    WORDS words;

    __device__ __forceinline__ void load_words(uint32_t lane)
    {
        words.clear();
        if (base + (int32_t)(4 * lane) < count)
            words.load(at);
    }

    /* Goes to the next step of a vector, or to the first one of the next vector in `waiting`, whose words lane l has in
     * `mine`. False: there is none. */
    __device__ __forceinline__ bool next(const inline_words &mine, uint32_t &waiting, uint32_t lane)
    {
        if (base + (int32_t)INLINE_STEP < count) {
            at += INLINE_STEP * WORDS::BYTES;
            base += INLINE_STEP;
        } else if (waiting) {
            const uint32_t from = __ffs(waiting) - 1;
            const uint64_t begin = __shfl_sync(FULL_WARP, (unsigned long long)mine.at, from);
            waiting &= waiting - 1;
            count = (int32_t)__shfl_sync(FULL_WARP, mine.count, from);
            skip = __shfl_sync(FULL_WARP, mine.skip, from);
            base = -(int32_t)(begin / WORDS::BYTES & 3);
            at = reinterpret_cast<const unsigned char *>(begin & ~(4ull * WORDS::BYTES - 1)) +
                 4 * WORDS::BYTES * lane;
        } else {
            return false;
        }
        load_words(lane);
        return true;
    }
};

/* Sets groups begin .. end - 1 of a piece to ones, every `step`-th one. Another warp's OR at the same time does no harm. */
template <class WORDS> TILE_INLINE void inline_set(uint32_t *piece, int32_t begin, int32_t end, int32_t step)
{
    for (int32_t g = begin; g < end; g += step) {
        const uint32_t place = inline_place((uint32_t)g);
        if (WORDS::HALVES == 2)
            piece[place] = ~0u;
        piece[place + (WORDS::HALVES - 1) * WAH_PIECE_GROUPS] = HIGH_FULL;
    }
}

/* ORs fills of ones, of `length` groups from `begin`; lanes without one have is_ones false. */
template <class WORDS>
TILE_INLINE void inline_or_ones(uint32_t *piece, bool is_ones, uint32_t begin, uint32_t length, uint32_t lane)
{
    const int32_t from = max((int32_t)begin, 0);
    const int32_t to = is_ones ? min((int32_t)(begin + length), (int32_t)WAH_PIECE_GROUPS) : 0;
    const bool is_long = to - from > (int32_t)INLINE_SHORT;
    if (!is_long)
        inline_set<WORDS>(piece, from, to, 1);
    for (uint32_t rest = __ballot_sync(FULL_WARP, is_long); rest; rest &= rest - 1) {
        const uint32_t source = __ffs(rest) - 1;
        const int32_t first = __shfl_sync(FULL_WARP, from, source) + (int32_t)lane;
        inline_set<WORDS>(piece, first, __shfl_sync(FULL_WARP, to, source), 32);
    }
}

/* ORs a lane's four words, `low` and `high`, of which the first begins at group `position`. `address`: the piece's. */
template <class WORDS>
TILE_INLINE void inline_or(uint32_t *piece, uint32_t address, const uint32_t (&low)[4],
                           const uint32_t (&high)[4], const uint32_t (&length)[4], uint32_t position,
                           uint32_t lane)
{
    uint32_t begin = position;
#pragma unroll
    for (uint32_t j = 0; j < 4; begin += length[j], j++)
        WORDS::put(address + 4 * inline_place(begin), low[j], high[j]);
    if (!__any_sync(FULL_WARP, max(max(high[0], high[1]), max(high[2], high[3])) >= HIGH_ONES))
        return;
    begin = position;
#pragma unroll
    for (uint32_t j = 0; j < 4; begin += length[j], j++)
        inline_or_ones<WORDS>(piece, high[j] >= HIGH_ONES, begin, length[j], lane);
}

/* ORs the vectors that the lanes of a warp have: one after the other. `waiting`: the lanes that have one. */
template <class WORDS>
TILE_INLINE void inline_or_vectors(uint32_t *piece, const inline_words &mine, uint32_t waiting, uint32_t lane)
{
    const uint32_t address = shared_address_of(piece);
    inline_reader<WORDS> reader;
    reader.base = reader.count = 0;
    uint32_t position = 0;
    bool more = reader.next(mine, waiting, lane);
    while (more) {
        const uint32_t slot = (uint32_t)reader.base + 4 * lane;
        uint32_t low[4], high[4], length[4];
        reader.words.split(low, high);
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            const bool is_word = slot + j < (uint32_t)reader.count;
            low[j] = is_word ? low[j] : 0;
            high[j] = is_word ? high[j] : HIGH_FILL;
            length[j] = WORDS::length(low[j], high[j]);
        }
        if (reader.base <= 0)
            position = 0u - reader.skip;
        more = reader.next(mine, waiting, lane);
        const uint32_t sum = length[0] + length[1] + length[2] + length[3];
        const uint32_t up_to = sum_up_to(sum);
        inline_or<WORDS>(piece, address, low, high, length, position + up_to - sum, lane);
        position += __shfl_sync(FULL_WARP, up_to, 31);
    }
}

/* ORs one word a lane, which begins at group `begin`; literals outside the piece are left out. */
template <class WORDS>
TILE_INLINE void inline_or_one(uint32_t *piece, uint32_t address, uint32_t low, uint32_t high,
                               uint32_t length, uint32_t begin, uint32_t lane)
{
    WORDS::put(address + 4 * inline_place(begin & (WAH_PIECE_GROUPS - 1)), low,
               begin < WAH_PIECE_GROUPS ? high : HIGH_FILL);
    if (__any_sync(FULL_WARP, high >= HIGH_ONES))
        inline_or_ones<WORDS>(piece, high >= HIGH_ONES, begin, length, lane);
}

/* ORs the vectors of few words, each by the lane that has it; the others wait. */
template <class WORDS>
TILE_INLINE void inline_or_short(uint32_t *piece, const inline_words &mine, uint32_t lane)
{
    const uint32_t address = shared_address_of(piece);
    const uint32_t count = mine.count <= INLINE_FEW ? mine.count : 0;
    uint32_t begin = 0u - mine.skip;
    for (uint32_t w = 0; __any_sync(FULL_WARP, w < count); w++) {
        uint32_t low = 0, high = HIGH_FILL;
        if (w < count)
            WORDS::load_one(mine.at, w, low, high);
        const uint32_t length = WORDS::length(low, high);
        inline_or_one<WORDS>(piece, address, low, high, length, begin, lane);
        begin += length;
    }
}

/* ORs the vectors without a directory: a lane has a word, and the sum of lengths says where it is. */
template <class WORDS>
TILE_INLINE void inline_or_whole(uint32_t *piece, const inline_words &mine, uint32_t waiting, uint32_t lane)
{
    const uint32_t address = shared_address_of(piece);
    for (; waiting; waiting &= waiting - 1) {
        const uint32_t from = __ffs(waiting) - 1;
        const uint64_t words = __shfl_sync(FULL_WARP, (unsigned long long)mine.at, from);
        uint32_t low = 0, high = HIGH_FILL;
        if (lane < __shfl_sync(FULL_WARP, mine.count, from))
            WORDS::load_one(words, lane, low, high);
        const uint32_t length = WORDS::length(low, high);
        const uint32_t begin = sum_up_to(length) - length - __shfl_sync(FULL_WARP, mine.skip, from);
        inline_or_one<WORDS>(piece, address, low, high, length, begin, lane);
    }
}

/* ORs vectors first .. end - 1 of piece `number` of the `pieces` that they have. */
template <class WORDS>
TILE_INLINE void inline_or_range(uint32_t *piece, const bound_vector *vectors, uint32_t first, uint32_t end,
                                 uint32_t number, uint32_t pieces)
{
    const uint32_t lane = kept_lane(), warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (uint32_t round = first; round < end; round += 32 * warps) {
        const uint32_t v = round + lane * warps + warp;
        inline_words mine = {0, 0, 0, false};
        bool ones = false;
        if (v < end)
            mine = inline_look<WORDS>(vectors[v], number, pieces, ones);
        __syncwarp();
        if (__any_sync(FULL_WARP, ones)) {
            inline_set<WORDS>(piece, (int32_t)lane, WAH_PIECE_GROUPS, 32);
            return;
        }
        inline_or_short<WORDS>(piece, mine, lane);
        const bool is_long = mine.count > INLINE_FEW;
        inline_or_whole<WORDS>(piece, mine, __ballot_sync(FULL_WARP, is_long && mine.all), lane);
        inline_or_vectors<WORDS>(piece, mine, __ballot_sync(FULL_WARP, is_long && !mine.all), lane);
    }
}

/* The words of 32 bits of a piece. */
template <class WORDS> constexpr uint32_t inline_halves = WORDS::HALVES *WAH_PIECE_GROUPS;

template <class WORDS> TILE_INLINE void inline_clear(uint32_t *piece)
{
    for (uint32_t i = threadIdx.x; i < inline_halves<WORDS> / 4; i += blockDim.x)
        reinterpret_cast<uint4 *>(piece)[i] = make_uint4(0, 0, 0, 0);
}

/* Writes the piece's groups to `out`, and adds the rows that are set to *count; either may be NULL. */
TILE_INLINE void inline_finish(const uint32_t *piece, uint64_t groups, uint64_t *out,
                               unsigned long long *count)
{
    const uint64_t first = (uint64_t)blockIdx.x * WAH_PIECE_GROUPS;
    uint32_t rows = 0;
    for (uint32_t g = threadIdx.x; g < WAH_PIECE_GROUPS && first + g < groups; g += blockDim.x) {
        const uint32_t place = inline_place(g), low = piece[place], high = piece[place + WAH_PIECE_GROUPS];
        rows += __popc(low) + __popc(high);
        if (out)
            out[first + g] = (uint64_t)high << 32 | low;
    }
    if (!count)
        return;
#pragma unroll
    for (uint32_t distance = 16; distance; distance /= 2)
        rows += __shfl_xor_sync(FULL_WARP, rows, distance);
    if (threadIdx.x % 32 == 0 && rows)
        atomicAdd(count, (unsigned long long)rows);
}

/* The OR of `count` vectors of 64-bit words. The grid has a block for each piece, of any number of warps. Shared
 * memory: 8 KiB. Vectors have less than 2^31 - 1024 groups. */
TILE_INLINE void wah_inline_or(const bound_vector *vectors, uint32_t vector_count, uint64_t groups,
                               uint64_t *out, unsigned long long *count)
{
    __shared__ __align__(16) uint32_t piece[inline_halves<wah64_words>];
    inline_clear<wah64_words>(piece);
    __syncthreads();
    inline_or_range<wah64_words>(piece, vectors, 0, vector_count, blockIdx.x, gridDim.x);
    __syncthreads();
    inline_finish(piece, groups, out, count);
}

#endif
