/*
 * deflate_copy_cuda.h: copies the matches of a window, after all its literals have been written.
 *
 * Matches are taken in groups of up to 32, a lane a match, whose bytes fit in a tile of shared memory: the tile is loaded
 * (with the literals between the matches), matches are copied into it, and it is stored. So a match that needs another
 * one's bytes waits for shared memory, 30 cycles, and not for the L2 cache, which takes some thousand when all warps
 * write; and memory sees stores of 16 bytes.
 *
 * Where few matches fit in the tile, because they are long, they are copied in the output itself. Chains of matches whose
 * distance is the width of a number are copied in another way (below).
 *
 * A match can be copied when the matches that its bytes come from are finished: all such matches are copied at once,
 * then those that waited for them, until none is left. Short matches are copied by their lanes, the words of long ones
 * by all lanes, long ones that overlap their source one after the other. Matches of equal distance that follow each
 * other directly are one match: runs of one value come as chains of 258 bytes.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_COPY_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_COPY_CUDA_H

#include "operators/decode/bytes/deflate_symbols_cuda.h"
#include "operators/decode/bytes/warp_words_cuda.h"

/* Longer matches are copied by all lanes: a lane alone takes 35 instructions for 8 bytes, all lanes 60 for 128. */
#define DEFLATE_SHORT 32u
/* Words of long matches that a lane loads before it stores them; each takes some six registers. */
#define DEFLATE_AHEAD 2u
/* A multiple of 16, and more than 258 + 15. Small enough to lie where the window of bits was. */
#define DEFLATE_TILE 1024u
/* If fewer of a group's matches fit in the tile, it is copied in the output. */
#define DEFLATE_FEW 20u

/* A match; places are from the tile's first byte. */
struct deflate_match {
    uint32_t to, length, distance;
};

struct deflate_tile {
    uint8_t *bytes;             /* shared memory */
    uint8_t *output;            /* the same bytes in the output; a multiple of 16 */
    const uint8_t *begin, *end; /* of the whole output */

    __device__ __forceinline__ const uint8_t *source(int32_t at) const
    {
        return (at >= 0 ? bytes : output) + at;
    }
    __device__ __forceinline__ uint8_t *target(uint32_t at) const
    {
        return bytes + at;
    }
};

/* The output itself in place of a tile, for long matches: few of them would fit. */
struct deflate_direct {
    uint8_t *output;

    __device__ __forceinline__ const uint8_t *source(int32_t at) const
    {
        return output + at;
    }
    __device__ __forceinline__ uint8_t *target(uint32_t at) const
    {
        return output + at;
    }
};

/* Calls copy(i) for each piece of 16 bytes that lies in the output, byte(i) for each byte of those that lie partly in
 * it; i is from the tile's first byte. */
template <class COPY, class BYTE>
TILE_INLINE void deflate_each_piece(const deflate_tile &tile, uint32_t bytes, uint32_t lane, COPY copy,
                                    BYTE byte)
{
#pragma unroll 1
    for (uint32_t i = 16 * lane; i < bytes; i += 512)
        if (tile.output + i >= tile.begin && tile.output + i + 16 <= tile.end)
            copy(i);
        else
#pragma unroll 1
            for (uint32_t b = i; b < i + 16; b++)
                if (tile.output + b >= tile.begin && tile.output + b < tile.end)
                    byte(b);
}

TILE_INLINE void deflate_tile_load(const deflate_tile &tile, uint32_t bytes, uint32_t lane)
{
    deflate_each_piece(
        tile, bytes, lane,
        [&](uint32_t i) {
            *reinterpret_cast<uint4 *>(tile.bytes + i) = *reinterpret_cast<const uint4 *>(tile.output + i);
        },
        [&](uint32_t i) { tile.bytes[i] = tile.output[i]; });
    __syncwarp();
}

TILE_INLINE void deflate_tile_store(const deflate_tile &tile, uint32_t bytes, uint32_t lane)
{
    deflate_each_piece(
        tile, bytes, lane,
        [&](uint32_t i) {
            *reinterpret_cast<uint4 *>(tile.output + i) = *reinterpret_cast<const uint4 *>(tile.bytes + i);
        },
        [&](uint32_t i) { tile.output[i] = tile.bytes[i]; });
    __syncwarp();
}

/* The word at `at`, a multiple of 4: from the tile, or before it from the output. */
template <class TILE> TILE_INLINE uint32_t deflate_word(const TILE &tile, int32_t at)
{
    return *reinterpret_cast<const uint32_t *>(tile.source(at));
}

/* The first `count` bytes at `from`, 1..8 (the others are arbitrary: another lane may be writing them); words without any of
 * them are not read. */
template <class TILE> TILE_INLINE uint2 deflate_bytes(const TILE &tile, int32_t from, uint32_t count)
{
#ifdef TILE_RACECHECK
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < count; b++)
        bytes |= (uint64_t)*tile.source(from + (int32_t)b) << 8 * b;
    return make_uint2((uint32_t)bytes, (uint32_t)(bytes >> 32));
#else
    const int32_t word = from & ~3;
    const uint32_t offset = from & 3, last = offset + count;
    const uint32_t first = deflate_word(tile, word), second = last > 4 ? deflate_word(tile, word + 4) : 0,
                   third = last > 8 ? deflate_word(tile, word + 8) : 0;
    return make_uint2(__funnelshift_r(first, second, 8 * offset), __funnelshift_r(second, third, 8 * offset));
#endif
}

/* How many bytes to load where `wanted` of up to four are used: it is faster to load four always. */
TILE_INLINE uint32_t deflate_four(uint32_t wanted)
{
#ifdef TILE_RACECHECK
    return min(wanted, 4u);
#else
    return 4;
#endif
}

/* Stores those of the four bytes at `to`, a multiple of 4, that belong to the match. */
template <class TILE>
TILE_INLINE void deflate_store_word(const TILE &tile, uint32_t to, uint32_t word, const deflate_match &match)
{
    const uint32_t end = match.to + match.length;
    if (to >= match.to && to + 4 <= end) {
        *reinterpret_cast<uint32_t *>(tile.target(to)) = word;
        return;
    }
#pragma unroll
    for (uint32_t b = 0; b < 4; b++)
        if (to + b >= match.to && to + b < end)
            *tile.target(to + b) = (uint8_t)(word >> 8 * b);
}

/* True for distances that divide 8: one lane can keep the pattern that they repeat in two registers. */
TILE_INLINE bool deflate_divides_8(uint32_t distance)
{
    return distance <= 8 && (distance & (distance - 1)) == 0;
}

/* One lane copies a short match. Its source ends before it, or its distance divides 8. */
template <class TILE> TILE_INLINE void deflate_copy_short(const TILE &tile, const deflate_match &match)
{
    const int32_t from = (int32_t)(match.to - match.distance);
    const bool repeats = match.distance < match.length;
    uint2 bytes = deflate_bytes(tile, from, min(min(match.length, match.distance), 8u));
    if (repeats && match.distance < 8) {
        if (match.distance < 4)
            bytes.x = __byte_perm(bytes.x, 0, match.distance == 1 ? 0 : 0x1010);
        bytes.y = bytes.x;
    }
    for (uint32_t i = 0;;) {
        uint8_t *to = tile.target(match.to + i);
        const uint32_t left = match.length - i;
#pragma unroll
        for (uint32_t b = 0; b < 8; b++)
            if (b < left)
                to[b] = (uint8_t)((b < 4 ? bytes.x : bytes.y) >> 8 * (b % 4));
        i += 8;
        if (left <= 8)
            break;
        if (!repeats)
            bytes = deflate_bytes(tile, from + (int32_t)i, min(left - 8, 8u));
    }
}

/* All lanes copy a match whose distance is at most 32, as a pattern that repeats itself. The lanes take as many words as
 * are a multiple of the pattern; so each lane stores the same word again and again. */
template <class TILE>
TILE_INLINE void deflate_copy_pattern(const TILE &tile, const deflate_match &match, uint32_t lane)
{
    const uint32_t distance = match.distance, before = match.to & 3;
    const uint32_t period = distance % 4 == 0 ? distance / 4 : distance % 2 == 0 ? distance / 2 : distance;
    const uint32_t words = 32 / period * period; /* 4 * period is a multiple of the distance */
    const int32_t from = (int32_t)(match.to - distance);
    uint32_t phase = (4 * lane + 4 * distance - before) % distance, word = 0;
#pragma unroll
    for (uint32_t b = 0; b < 4; b++) {
        const int32_t at = from + (int32_t)phase;
        word |= (uint32_t)*tile.source(at) << 8 * b;
        phase = phase + 1 == distance ? 0 : phase + 1;
    }
    if (lane < words)
        for (uint32_t to = match.to - before + 4 * lane; to < match.to + match.length; to += 4 * words)
            deflate_store_word(tile, to, word, match);
}

/* All lanes copy a match that overlaps its source, with a distance of more than 32: a step takes only words whose source
 * is complete. */
template <class TILE>
TILE_INLINE void deflate_copy_overlapping(const TILE &tile, const deflate_match &match, uint32_t lane)
{
    const uint32_t step = min(128u, (match.distance - 3) & ~3u), before = match.to & 3,
                   end = match.to + match.length;
#pragma unroll 1
    for (uint32_t to = match.to - before; to < end; to += step) {
        const uint32_t own = to + 4 * lane;
        if (own < end && 4 * lane < step) {
            /* The first word may begin before the match, and so its source before the output. */
            const uint32_t skip = own < match.to ? before : 0;
            const uint2 bytes =
                deflate_bytes(tile, (int32_t)(own + skip - match.distance), deflate_four(end - own - skip));
            deflate_store_word(tile, own, bytes.x << 8 * skip, match);
        }
        __syncwarp();
    }
}

TILE_INLINE deflate_match deflate_match_of(const deflate_match &match, uint32_t lane)
{
    deflate_match other;
    other.to = __shfl_sync(FULL_WARP, match.to, lane);
    other.length = __shfl_sync(FULL_WARP, match.length, lane);
    other.distance = __shfl_sync(FULL_WARP, match.distance, lane);
    return other;
}

/* The last lane whose `first` is at most `wanted`; `first` does not fall from lane to lane, and lane 0's is 0. */
TILE_INLINE uint32_t deflate_owner(uint32_t first, uint32_t wanted)
{
    uint32_t owner = 0;
#pragma unroll
    for (uint32_t step = 16; step; step /= 2)
        owner += __shfl_sync(FULL_WARP, first, owner + step) <= wanted ? step : 0;
    return owner;
}

/* All lanes copy all matches that are `chosen`, whose sources end before them: a lane takes every 32nd of all their
 * words. DEFLATE_AHEAD words are loaded before the first one is stored, as they may come from far away. */
template <class TILE>
TILE_INLINE void deflate_copy_chosen(const TILE &tile, const deflate_match &match, bool chosen, uint32_t lane)
{
    const uint32_t words = chosen ? ((match.to & 3) + match.length + 3) / 4 : 0, sum = scan_warp(words, lane),
                   first = sum - words, total = __shfl_sync(FULL_WARP, sum, 31);
#pragma unroll 1
    for (uint32_t i = lane; i - lane < total; i += 32 * DEFLATE_AHEAD) {
        deflate_match owner[DEFLATE_AHEAD];
        uint32_t to[DEFLATE_AHEAD], word[DEFLATE_AHEAD];
#pragma unroll
        for (uint32_t j = 0; j < DEFLATE_AHEAD; j++) {
            const uint32_t wanted = i + 32 * j, from_lane = deflate_owner(first, wanted);
            owner[j] = deflate_match_of(match, from_lane);
            to[j] = (owner[j].to & ~3u) + 4 * (wanted - __shfl_sync(FULL_WARP, first, from_lane));
            /* The first word may begin before the match, and so its source before the output. */
            const uint32_t begin = max(to[j], owner[j].to);
            word[j] = 0;
            if (wanted < total)
                word[j] = deflate_bytes(tile, (int32_t)(begin - owner[j].distance),
                                        deflate_four(owner[j].to + owner[j].length - begin))
                              .x
                          << 8 * (begin - to[j]);
        }
#pragma unroll
        for (uint32_t j = 0; j < DEFLATE_AHEAD; j++)
            if (i + 32 * j < total)
                deflate_store_word(tile, to[j], word[j], owner[j]);
    }
}

/* Joins matches of equal distance that follow each other directly: the first one gets the length of all, the others
 * become 0. Returns the lanes whose matches this one stands for. */
TILE_INLINE uint32_t deflate_join(deflate_match &match, uint32_t lane)
{
    const uint32_t to = match.to, length = match.length,
                   distance_before = __shfl_up_sync(FULL_WARP, match.distance, 1),
                   end_before = __shfl_up_sync(FULL_WARP, to + length, 1);
    const bool joined = lane && length && match.distance == distance_before && to == end_before;
    const uint32_t heads = ~__ballot_sync(FULL_WARP, joined), after = heads & ~((2u << lane) - 1);
    const uint32_t tail = after ? __ffs(after) - 2 : 31;
    const uint32_t end = __shfl_sync(FULL_WARP, to + length, tail);
    if (joined || length == 0) {
        match.length = 0;
        return 0;
    }
    match.length = end - to;
    return ((2u << tail) - 1) & ~((1u << lane) - 1);
}

/* The matches of other lanes that this lane's match copies from: those whose bytes are among from..from_end - 1. Bytes of
 * the group's matches are in the order of lanes, so the first and the last one are found by bisection. */
TILE_INLINE uint32_t deflate_sources(uint32_t to, uint32_t to_end, uint32_t from, uint32_t from_end,
                                     uint32_t lane)
{
    uint32_t first = 0,
             after = 0; /* lanes whose match ends before `from`; lanes whose match begins before from_end */
#pragma unroll
    for (uint32_t step = 16; step; step /= 2) {
        const uint32_t end = __shfl_sync(FULL_WARP, to_end, first + step - 1),
                       begin = __shfl_sync(FULL_WARP, to, after + step - 1);
        first += (int32_t)(end - from) <= 0 ? step : 0;
        after += (int32_t)(begin - from_end) < 0 ? step : 0;
    }
    /* Up to 31 of each are counted; no lane copies from lane 31. */
    return ((1u << min(after, lane)) - 1) & ~((1u << first) - 1);
}

/* Copies all matches of a group, of which there is one in each lane, or none (length 0). */
template <class TILE>
TILE_INLINE void deflate_copy_matches(const TILE &tile, deflate_match match, uint32_t lane)
{
    const uint32_t to_end = match.to + match.length;
    uint32_t unfinished = __ballot_sync(FULL_WARP, match.length);
    const uint32_t pieces = deflate_join(match, lane);
    const bool alone = match.length <= DEFLATE_SHORT &&
                       (match.length <= match.distance || deflate_divides_8(match.distance));
    const bool spread = !alone && match.length <= match.distance;
    const uint32_t from = match.to - match.distance, from_end = from + min(match.length, match.distance);
    const uint32_t sources = deflate_sources(match.to, to_end, from, from_end, lane);
    while (unfinished) {
        const bool ready = (unfinished & pieces) && (unfinished & sources) == 0;
        if (ready && alone)
            deflate_copy_short(tile, match);
        if (__any_sync(FULL_WARP, ready && spread))
            deflate_copy_chosen(tile, match, ready && spread, lane);
        for (uint32_t together = __ballot_sync(FULL_WARP, ready && !alone && !spread); together;
             together &= together - 1) {
            const deflate_match one = deflate_match_of(match, __ffs(together) - 1);
            if (one.distance <= 32)
                deflate_copy_pattern(tile, one, lane);
            else
                deflate_copy_overlapping(tile, one, lane);
        }
        unfinished &= ~or_warp(ready ? pieces : 0);
        __syncwarp();
    }
}

/* Copies the first of `count` matches, up to 32: as many as fit in the tile, or all, if few do. Returns their number. */
TILE_INLINE uint32_t deflate_copy_group(deflate_tile tile, const deflate_matches &matches, uint32_t count,
                                        uint8_t *output, uint32_t lane)
{
    const uint32_t own = min(lane, count - 1), what = matches.what[own], where = matches.where[own];
    const uint32_t first = __shfl_sync(FULL_WARP, where, 0);
    const uint32_t before = (uint32_t) reinterpret_cast<uint64_t>(output + first) & 15;
    tile.output = output + first - before;
    deflate_match match;
    match.to = where - first + before;
    match.length = what >> 16;
    match.distance = (what & 0x7fff) + 1;
    uint32_t taken =
        __popc(__ballot_sync(FULL_WARP, lane < count && match.to + match.length <= DEFLATE_TILE));
    const bool direct = taken < count && taken < DEFLATE_FEW;
    taken = direct ? count : taken;
    const uint32_t bytes = __shfl_sync(FULL_WARP, match.to + match.length, taken - 1);
    if (lane >= taken) { /* follows the last one, so that joining finds its end */
        match.to = bytes;
        match.length = 0;
    }
    if (direct) {
        const deflate_direct place = {tile.output};
        deflate_copy_matches(place, match, lane);
    } else {
        deflate_tile_load(tile, bytes, lane);
        deflate_copy_matches(tile, match, lane);
        deflate_tile_store(tile, bytes, lane);
    }
    return taken;
}

/* ---- Chains ---- */

/* Runs of a number become matches of its width, 8 bytes or a divisor, with some literals between them: each match copies
 * bytes of the one before. But what such a match writes does not change the last byte at any address modulo its distance.
 * So its pattern is known from literals alone: those after the match before it, over earlier ones, and so on, which
 * is a scan. Then all matches can be written at once, in words of 8 bytes, which are all the pattern. */

/* The eight bytes of a pattern at addresses 0..7 modulo 8, and 0xff for each that is known. */
struct deflate_pattern {
    uint64_t bytes, known;
};

/* What the literals after the match before this one, at most `distance`, say of its pattern. */
TILE_INLINE deflate_pattern deflate_pattern_of(const uint8_t *to, uint32_t distance, uint32_t literals)
{
    deflate_pattern pattern = {0, 0};
#pragma unroll
    for (uint32_t k = 1; k <= 8; k++)
        if (k <= min(distance, literals)) {
            const uint8_t *from = to - k;
            const uint32_t shift = 8 * ((uint32_t) reinterpret_cast<uint64_t>(from) & (distance - 1));
            pattern.bytes |= (uint64_t)*from << shift;
            pattern.known |= (uint64_t)0xff << shift;
        }
    const uint64_t repeat = distance == 8   ? 1
                            : distance == 4 ? 0x0000000100000001
                            : distance == 2 ? 0x0001000100010001
                                            : 0x0101010101010101;
    pattern.bytes *= repeat;
    pattern.known *= repeat;
    return pattern;
}

/* Each lane's pattern over those of the lanes before it. */
TILE_INLINE uint64_t deflate_pattern_scan(deflate_pattern pattern, uint32_t lane)
{
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint64_t bytes = __shfl_up_sync(FULL_WARP, (unsigned long long)pattern.bytes, step),
                       known = __shfl_up_sync(FULL_WARP, (unsigned long long)pattern.known, step);
        if (lane >= step) {
            pattern.bytes |= bytes & ~pattern.known;
            pattern.known |= known;
        }
    }
    return pattern.bytes;
}

/* The first matches of up to 32, if six of them or more are a chain: returns their number, or 0. Else *others is the number of matches
 * before the next chain. */
TILE_INLINE uint32_t deflate_chain(const deflate_matches &matches, uint32_t count, uint32_t *others,
                                   uint32_t lane)
{
    const uint32_t distance = lane < count ? (matches.what[lane] & 0x7fff) + 1 : 0;
    const uint32_t before = __shfl_up_sync(FULL_WARP, distance, 1);
    const bool follows = lane && lane < count && distance == before && deflate_divides_8(distance);
    const uint32_t links = __ballot_sync(FULL_WARP, follows);
    const uint32_t three = links & links >> 1 & links >> 2;
    const uint32_t chains = three & three >> 2; /* a bit at each one's second match, or later */
    if (!(chains & 2)) {
        *others = chains ? __ffs(chains) - 2 : count;
        return 0;
    }
    return __ffs(~(links | 1)) ? __ffs(~(links | 1)) - 1 : 32;
}

/* Copies a chain of `count` matches. */
TILE_INLINE void deflate_copy_chain(const deflate_matches &matches, uint32_t count, uint8_t *output,
                                    uint32_t lane)
{
    const uint32_t own = min(lane, count - 1), what = matches.what[own], where = matches.where[own];
    const uint32_t length = lane < count ? what >> 16 : 0, distance = (what & 0x7fff) + 1;
    const uint32_t end_before = __shfl_up_sync(FULL_WARP, where + length, 1);
    uint8_t *to = output + where;
    const uint32_t literals = lane == 0 ? 8 : lane < count ? where - end_before : 0;
    const uint64_t pattern = deflate_pattern_scan(deflate_pattern_of(to, distance, literals), lane);

    /* The bytes before the first whole word, and after the last one. */
    const uint32_t at = (uint32_t) reinterpret_cast<uint64_t>(to), head = min((0u - at) & 7, length),
                   tail = (length - head) & 7;
    uint8_t *rest = to + length - tail;
#pragma unroll
    for (uint32_t b = 0; b < 7; b++) {
        if (b < head)
            to[b] = (uint8_t)(pattern >> 8 * ((at + b) & 7));
        if (b < tail)
            rest[b] = (uint8_t)(pattern >> 8 * b); /* it begins with a word */
    }
    const uint32_t first = where + head, words = (length - head) / 8;
#pragma unroll 1
    for (uint32_t match = 0; match < count; match++) {
        const uint32_t place = __shfl_sync(FULL_WARP, first, match),
                       all = __shfl_sync(FULL_WARP, words, match);
        const uint64_t word = __shfl_sync(FULL_WARP, (unsigned long long)pattern, match);
#pragma unroll 1
        for (uint32_t i = lane; i < all; i += 32)
            *reinterpret_cast<uint64_t *>(output + place + 8 * i) = word;
    }
    __syncwarp();
}

/* Copies the matches of a window, whose output begins at `output`. */
TILE_INLINE void deflate_copy(const deflate_tile &tile, const deflate_matches &matches, uint32_t count,
                              uint8_t *output, uint32_t lane)
{
    __syncwarp();
#pragma unroll 1
    for (uint32_t i = 0; i < count;) {
        deflate_matches group;
        group.what = matches.what + i;
        group.where = matches.where + i;
        uint32_t others = 0;
        const uint32_t chain = deflate_chain(group, min(count - i, 32u), &others, lane);
        if (chain)
            deflate_copy_chain(group, chain, output, lane);
        else
            others = deflate_copy_group(tile, group, others, output, lane);
        i += chain + others;
    }
}

#endif
