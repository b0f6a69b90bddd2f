/*
 * wah_inline_cuda.h: the OR of WAH vectors in one pass over their compressed words, in shared memory: what becomes of it
 * there, others say (mask_cuda.h).
 *
 * A thread block has a piece of 1024 or 4096 groups of 63 rows of all vectors; their directories say where it begins and
 * ends. Its warps take vectors in turn and OR them into the piece's 8 or 32 KiB of shared memory. First, each lane looks
 * at a vector of its own: if the piece is in one fill, a look at the directory and at that word is all. Vectors of at most
 * 64 words are packed: 32 lines of four words a step, a lane each, of as many vectors as there are; a sum over lanes, less
 * the sum before a vector's first line, gives each word its first group. Then the warp takes the other vectors one by one,
 * 128 words at a time, 4 a lane. Literals are ORed by atomics, those halves that are not 0; fills of zeros do nothing. The
 * next step's words are loaded meanwhile.
 *
 * Shared atomics let the warps of a block share a piece, so that a multiprocessor is full; with a result for each warp it
 * would hold 28. index_launch.h says how large a piece is and how many warps have it. With 48 registers a multiprocessor
 * holds 40 warps; 40 registers spill and are up to 30 % slower. The halves of a group are apart, and places are swapped by
 * bits of the group, so that 32 lanes with four literals each meet in no bank. About 140 instructions for 128 words, 170
 * for 32 packed lines; 128 vectors, whose pieces have 223 words: 0.6 ms of instructions for 1 G rows.
 *
 * On an H200, `tessera lab bitmaps`, 1 G rows in ms, and the bound by bytes: uniform, 2 vectors: 0.110 (0.083), 8: 0.300
 * (0.246), 32: 0.651 (0.588), 128: 0.87 (0.81); Zipf 1, 128: 0.68 (0.59); runs of 1000 rows, 8: 0.059 (0.030), 128: 0.077
 * (0.030).
 */
#ifndef TESSERA_OPERATORS_INDEX_WAH_INLINE_CUDA_H
#define TESSERA_OPERATORS_INDEX_WAH_INLINE_CUDA_H

#include "operators/index/wah_words_cuda.h"

#define INLINE_STEP   128u /* words */
#define INLINE_SHORT  16u  /* groups of a fill of ones that its lane writes alone */
#define INLINE_FEW    8u   /* words of a vector without a directory that its lane takes alone */
#define INLINE_PACKED 64u  /* words of a vector that shares a step with others */

/* Where group `group` of a piece is: its first half; a second one is GROUPS further. */
TILE_INLINE uint32_t inline_place(uint32_t group)
{
    return group ^ (group >> 5 & 3);
}

/* The words of a vector that a part of a piece is in; or all, if the vector has no directory. `at`: the address of the
 * first one; `skip`: its groups before the piece; less than 0 if the first one begins within the piece. */
struct inline_words {
    uint64_t at;
    uint32_t count, skip;
    bool all;
};

/* A part of a piece: entries first .. end - 1 of a directory of `entries`, and its groups before it in the piece. */
struct inline_part {
    uint32_t first, end, entries, before;
};

/* Looks at the directory. If the whole part is in one fill, there are no words, and `ones` says what it is. */
template <class WORDS>
TILE_INLINE inline_words inline_look(const bound_vector &vector, const inline_part &part, bool &ones)
{
    inline_words words = {vector.words, (uint32_t)vector.count, part.first * WAH_PIECE_GROUPS, true};
    if (vector.starts) {
        const uint2 *const starts = reinterpret_cast<const uint2 *>(vector.starts);
        const uint2 start = __ldg(starts + part.first);
        if (part.end < part.entries) {
            const uint2 next = __ldg(starts + part.end);
            words.count = next.x + (next.y != 0);
        }
        words.at += (uint64_t)WORDS::BYTES * start.x;
        words.count -= start.x;
        words.skip = start.y - part.before;
        words.all = false;
    }
    if (words.count == 1) {
        uint32_t low, high;
        WORDS::load_one(words.at, 0, low, high);
        ones = high >= HIGH_ONES;
        words.count = high < HIGH_FILL;
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

/* Takes a lane's four words apart, of which the first is word `slot` of `count`; others than these are empty fills. */
template <class WORDS>
TILE_INLINE void inline_split(const WORDS &words, uint32_t slot, uint32_t count, uint32_t (&low)[4],
                              uint32_t (&high)[4], uint32_t (&length)[4])
{
    words.split(low, high);
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) {
        const bool is_word = slot + j < count;
        low[j] = is_word ? low[j] : 0;
        high[j] = is_word ? high[j] : HIGH_FILL;
        length[j] = WORDS::length(low[j], high[j]);
    }
}

/* Makes a word ones. Another warp may do the same, or OR literals into it: in each order the word has the ones. */
TILE_INLINE void inline_ones(uint32_t *word, uint32_t ones)
{
#ifdef TILE_RACECHECK
    atomicOr(word, ones);
#else
    *word = ones;
#endif
}

/* Sets groups begin .. end - 1 of a piece to ones, every `step`-th one. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_set(uint32_t *piece, int32_t begin, int32_t end, int32_t step)
{
    for (int32_t g = begin; g < end; g += step) {
        const uint32_t place = inline_place((uint32_t)g);
        if (WORDS::HALVES == 2)
            inline_ones(piece + place, ~0u);
        inline_ones(piece + place + (WORDS::HALVES - 1) * GROUPS, HIGH_FULL);
    }
}

/* ORs fills of ones, of `length` groups from `begin`; lanes without one have is_ones false. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_or_ones(uint32_t *piece, bool is_ones, uint32_t begin, uint32_t length, uint32_t lane)
{
    const int32_t from = max((int32_t)begin, 0);
    const int32_t to = is_ones ? min((int32_t)(begin + length), (int32_t)GROUPS) : 0;
    const bool is_long = to - from > (int32_t)INLINE_SHORT;
    if (!is_long)
        inline_set<WORDS, GROUPS>(piece, from, to, 1);
    for (uint32_t rest = __ballot_sync(FULL_WARP, is_long); rest; rest &= rest - 1) {
        const uint32_t source = __ffs(rest) - 1;
        const int32_t first = __shfl_sync(FULL_WARP, from, source) + (int32_t)lane;
        inline_set<WORDS, GROUPS>(piece, first, __shfl_sync(FULL_WARP, to, source), 32);
    }
}

/* ORs a lane's four words, `low` and `high`, of which the first begins at group `position`. `address`: the piece's. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_or(uint32_t *piece, uint32_t address, const uint32_t (&low)[4],
                           const uint32_t (&high)[4], const uint32_t (&length)[4], uint32_t position,
                           uint32_t lane)
{
    uint32_t begin = position;
#pragma unroll
    for (uint32_t j = 0; j < 4; begin += length[j], j++)
        WORDS::template put<GROUPS>(address + 4 * inline_place(begin), low[j], high[j]);
    if (!__any_sync(FULL_WARP, max(max(high[0], high[1]), max(high[2], high[3])) >= HIGH_ONES))
        return;
    begin = position;
#pragma unroll
    for (uint32_t j = 0; j < 4; begin += length[j], j++)
        inline_or_ones<WORDS, GROUPS>(piece, high[j] >= HIGH_ONES, begin, length[j], lane);
}

/* ORs the vectors that the lanes of a warp have: one after the other. `waiting`: the lanes that have one. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_or_vectors(uint32_t *piece, const inline_words &mine, uint32_t waiting, uint32_t lane)
{
    const uint32_t address = shared_address_of(piece);
    inline_reader<WORDS> reader;
    reader.base = reader.count = 0;
    uint32_t position = 0;
    bool more = reader.next(mine, waiting, lane);
    while (more) {
        uint32_t low[4], high[4], length[4];
        inline_split(reader.words, (uint32_t)reader.base + 4 * lane, (uint32_t)reader.count, low, high,
                     length);
        if (reader.base <= 0)
            position = 0u - reader.skip;
        more = reader.next(mine, waiting, lane);
        const uint32_t sum = length[0] + length[1] + length[2] + length[3];
        const uint32_t up_to = sum_up_to(sum);
        inline_or<WORDS, GROUPS>(piece, address, low, high, length, position + up_to - sum, lane);
        position += __shfl_sync(FULL_WARP, up_to, 31);
    }
}

/* The lines of four words of a warp's short vectors, one after the other: lane l has `ends`, the lines up to the end of
 * its vector, and `firsts`, those before it (high half) and its words (low half). */
struct inline_lines {
    uint32_t ends, firsts, total;

    __device__ __forceinline__ inline_lines(const inline_words &mine, uint32_t bytes, bool is_short)
    {
        const uint32_t lines = is_short ? ((uint32_t)(mine.at / bytes & 3) + mine.count + 3) / 4 : 0;
        ends = sum_up_to(lines);
        total = __shfl_sync(FULL_WARP, ends, 31);
        firsts = (ends - lines) << 16 | mine.count;
    }
};

/* A lane's line of a step of 32. */
template <class WORDS> struct inline_line {
    WORDS words;
    uint32_t slot, count; /* the first word's number in its vector, which has `count` here */
    uint32_t skip;
    int32_t head; /* the lane that has the vector's first line; less than 0: an earlier step has it */

    __device__ __forceinline__ void load(const inline_lines &lines, const inline_words &mine, uint32_t base,
                                         uint32_t lane)
    {
        const uint32_t line = base + lane;
        uint32_t from = 0; /* the lane whose vector has the line */
#pragma unroll
        for (uint32_t distance = 16; distance; distance /= 2)
            if (__shfl_sync(FULL_WARP, lines.ends, from + distance - 1) <= line)
                from += distance;
        const uint64_t begin = __shfl_sync(FULL_WARP, (unsigned long long)mine.at, from);
        const uint32_t firsts = __shfl_sync(FULL_WARP, lines.firsts, from);
        const uint32_t number = line - (firsts >> 16);
        skip = __shfl_sync(FULL_WARP, mine.skip, from);
        head = (int32_t)(lane - number);
        slot = 4 * number - (uint32_t)(begin / WORDS::BYTES & 3);
        count = line < lines.total ? firsts & 0xffff : 0;
        words.clear();
        if (count)
            words.load(reinterpret_cast<const unsigned char *>(begin & ~(4ull * WORDS::BYTES - 1)) +
                       4ull * WORDS::BYTES * number);
    }
};

/* ORs the vectors of at most INLINE_PACKED words that the lanes of a warp have: 32 lines a step, of as many vectors as
 * there are. A word's first group follows from the lengths before it in the step, less those before its vector. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_or_packed(uint32_t *piece, const inline_words &mine, bool is_short, uint32_t lane)
{
    const uint32_t address = shared_address_of(piece);
    const inline_lines lines(mine, WORDS::BYTES, is_short);
    if (!lines.total)
        return;
    inline_line<WORDS> line;
    line.load(lines, mine, 0, lane);
    for (uint32_t base = 0, carry = 0; base < lines.total; base += 32) {
        uint32_t low[4], high[4], length[4];
        inline_split(line.words, line.slot, line.count, low, high, length);
        const int32_t head = line.head;
        const uint32_t skip = line.skip;
        if (base + 32 < lines.total)
            line.load(lines, mine, base + 32, lane);
        const uint32_t sum = length[0] + length[1] + length[2] + length[3];
        const uint32_t before = sum_up_to(sum) - sum;
        const uint32_t origin = __shfl_sync(FULL_WARP, before, max(head, 0));
        const uint32_t position = before - origin + (head < 0 ? carry : 0u - skip);
        inline_or<WORDS, GROUPS>(piece, address, low, high, length, position, lane);
        carry = __shfl_sync(FULL_WARP, position + sum, 31);
    }
}

/* ORs one word a lane, which begins at group `begin`; literals outside the piece are left out. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_or_one(uint32_t *piece, uint32_t address, uint32_t low, uint32_t high,
                               uint32_t length, uint32_t begin, uint32_t lane)
{
    WORDS::template put<GROUPS>(address + 4 * inline_place(begin & (GROUPS - 1)), low,
                                begin < GROUPS ? high : HIGH_FILL);
    if (__any_sync(FULL_WARP, high >= HIGH_ONES))
        inline_or_ones<WORDS, GROUPS>(piece, high >= HIGH_ONES, begin, length, lane);
}

/* ORs the vectors of few words that have no directory, each by the lane that has it; the others wait. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_or_short(uint32_t *piece, const inline_words &mine, uint32_t lane)
{
    const uint32_t address = shared_address_of(piece);
    const uint32_t count = mine.all && mine.count <= INLINE_FEW ? mine.count : 0;
    uint32_t begin = 0u - mine.skip;
    for (uint32_t w = 0; __any_sync(FULL_WARP, w < count); w++) {
        uint32_t low = 0, high = HIGH_FILL;
        if (w < count)
            WORDS::load_one(mine.at, w, low, high);
        const uint32_t length = WORDS::length(low, high);
        inline_or_one<WORDS, GROUPS>(piece, address, low, high, length, begin, lane);
        begin += length;
    }
}

/* ORs the vectors without a directory: a lane has a word, and the sum of lengths says where it is. */
template <class WORDS, uint32_t GROUPS>
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
        inline_or_one<WORDS, GROUPS>(piece, address, low, high, length, begin, lane);
    }
}

/* ORs vectors first .. end - 1 of piece `number`, of GROUPS groups, where their directories have `entries`. Each vector
 * is taken in `parts` parts, so that few vectors keep all warps busy. */
template <class WORDS, uint32_t GROUPS>
TILE_INLINE void inline_or_range(uint32_t *piece, const bound_vector *vectors, uint32_t first, uint32_t end,
                                 uint32_t number, uint32_t entries, uint32_t parts)
{
    constexpr uint32_t ENTRIES = GROUPS / WAH_PIECE_GROUPS;
    const uint32_t lane = kept_lane(), warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (uint32_t round = first * parts; round < end * parts; round += 32 * warps) {
        const uint32_t item = round + lane * warps + warp, v = item / parts;
        const uint32_t before = ENTRIES / parts * (item - v * parts), at = number * ENTRIES + before;
        inline_words mine = {0, 0, 0, false};
        bool ones = false;
        if (v < end && at < entries)
            mine = inline_look<WORDS>(vectors[v],
                                      {at, at + ENTRIES / parts, entries, before * WAH_PIECE_GROUPS}, ones);
        if (mine.all && before)
            mine.count = 0;
        __syncwarp();
        if (ones && parts > 1) {
            inline_set<WORDS, GROUPS>(piece, (int32_t)(before * WAH_PIECE_GROUPS),
                                      (int32_t)((before + ENTRIES / parts) * WAH_PIECE_GROUPS), 1);
            ones = false;
        }
        if (__any_sync(FULL_WARP, ones)) {
            inline_set<WORDS, GROUPS>(piece, (int32_t)lane, GROUPS, 32);
            return;
        }
        inline_or_short<WORDS, GROUPS>(piece, mine, lane);
        const bool is_long = mine.all && mine.count > INLINE_FEW;
        inline_or_whole<WORDS, GROUPS>(piece, mine, __ballot_sync(FULL_WARP, is_long), lane);
        const bool is_short = !mine.all && mine.count <= INLINE_PACKED;
        inline_or_packed<WORDS, GROUPS>(piece, mine, is_short, lane);
        inline_or_vectors<WORDS, GROUPS>(piece, mine, __ballot_sync(FULL_WARP, !mine.all && !is_short), lane);
    }
}

/* The words of 32 bits of a piece. */
template <class WORDS, uint32_t GROUPS> constexpr uint32_t inline_halves = WORDS::HALVES *GROUPS;

template <class WORDS, uint32_t GROUPS> TILE_INLINE void inline_clear(uint32_t *piece)
{
    for (uint32_t i = threadIdx.x; i < inline_halves<WORDS, GROUPS> / 4; i += blockDim.x)
        reinterpret_cast<uint4 *>(piece)[i] = make_uint4(0, 0, 0, 0);
}

#endif
