/*
 * deflate_copy_cuda.h: copies the matches of a window, after all its literals have been written.
 *
 * Matches are taken in groups of 32, a lane a match. Everything before the group's first unfinished match is complete,
 * so all matches whose source ends before it can be copied together; then the others, until none is left. Short matches
 * are copied by their lanes at once, long ones one after the other by all lanes. Matches of equal distance that follow
 * each other directly are one long match: so runs of one value, which come as chains of 258 bytes, take few steps.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_COPY_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_COPY_CUDA_H

#include "operators/decode/bytes/deflate_symbols_cuda.h"

/* Longer matches are copied by all lanes: a lane alone takes 12 instructions for 4 bytes, all lanes 40 for 128. */
#define DEFLATE_SHORT 32u

TILE_INLINE uint32_t deflate_or_warp(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(FULL_WARP, value);
#else
#pragma unroll
    for (uint32_t distance = 16; distance > 0; distance /= 2)
        value |= __shfl_xor_sync(FULL_WARP, value, distance);
    return value;
#endif
}

struct deflate_match {
    uint8_t *to;
    uint32_t length, distance; /* to - distance is where it comes from */
};

/* Stores those of the four bytes at `to` (a multiple of 4) that are between `begin` and `end`. */
TILE_INLINE void deflate_store_word(uint8_t *to, uint32_t word, const uint8_t *begin, const uint8_t *end)
{
    if (to >= begin && to + 4 <= end) {
        *reinterpret_cast<uint32_t *>(to) = word;
        return;
    }
#pragma unroll
    for (uint32_t b = 0; b < 4; b++)
        if (to + b >= begin && to + b < end)
            to[b] = (uint8_t)(word >> 8 * b);
}

/* The four bytes at `from`, from the two aligned words that hold them; the second one is not read if it has none. */
TILE_INLINE uint32_t deflate_load_word(const uint8_t *from)
{
    const uint32_t offset = (uint32_t)(reinterpret_cast<uint64_t>(from) & 3);
    const uint32_t *word = reinterpret_cast<const uint32_t *>(from - offset);
    return __funnelshift_r(word[0], offset ? word[1] : 0, 8 * offset);
}

/* True for distances that divide 8: one lane can keep the pattern that they repeat in two registers. */
TILE_INLINE bool deflate_divides_8(uint32_t distance)
{
    return distance <= 8 && (distance & (distance - 1)) == 0;
}

/* One lane copies a short match. Its source ends before it, or its distance divides 8. */
TILE_INLINE void deflate_copy_short(const deflate_match &match)
{
    const uint8_t *from = match.to - match.distance;
    const bool repeats = match.distance < match.length;
    uint32_t word = deflate_load_word(from), next = word;
    if (repeats) {
        if (match.distance == 8)
            next = deflate_load_word(from + 4);
        else if (match.distance < 4)
            word = next = __byte_perm(word, 0, match.distance == 1 ? 0 : 0x1010);
    }
#pragma unroll 1
    for (uint32_t i = 0; i < match.length; i += 4) {
#pragma unroll
        for (uint32_t b = 0; b < 4; b++)
            if (i + b < match.length)
                match.to[i + b] = (uint8_t)(word >> 8 * b);
        const uint32_t stored = word;
        word = next;
        next = stored;
        if (!repeats && i + 4 < match.length)
            word = deflate_load_word(from + i + 4);
    }
}

/* All lanes copy a match whose distance is at most 32, as a pattern that repeats itself. The lanes take as many words as
 * are a multiple of the pattern; so each lane stores the same word again and again. */
TILE_INLINE void deflate_copy_pattern(const deflate_match &match, uint32_t lane)
{
    const uint32_t distance = match.distance, before = (uint32_t)(reinterpret_cast<uint64_t>(match.to) & 3);
    const uint32_t period = distance % 4 == 0 ? distance / 4 : distance % 2 == 0 ? distance / 2 : distance;
    const uint32_t words = 32 / period * period; /* 4 * period is a multiple of the distance */
    const uint8_t *from = match.to - distance, *end = match.to + match.length;
    uint8_t *to = match.to - before + 4 * lane;
    uint32_t phase = (4 * lane + 4 * distance - before) % distance, word = 0;
#pragma unroll
    for (uint32_t b = 0; b < 4; b++) {
        word |= (uint32_t)from[phase] << 8 * b;
        phase = phase + 1 == distance ? 0 : phase + 1;
    }
    if (lane < words)
        for (; to < end; to += 4 * words)
            deflate_store_word(to, word, match.to, end);
}

/* All lanes copy a match with a distance of more than 32. If it overlaps its source, a step takes only words whose
 * source is complete. */
TILE_INLINE void deflate_copy_long(const deflate_match &match, uint32_t lane)
{
    const uint32_t before = (uint32_t)(reinterpret_cast<uint64_t>(match.to) & 3);
    const bool overlaps = match.distance < match.length;
    const uint32_t step = overlaps ? min(128u, (match.distance - 3) & ~3u) : 128;
    const uint8_t *end = match.to + match.length;
    uint8_t *to = match.to - before;
#pragma unroll 1
    for (; to < end; to += step) {
        uint8_t *own = to + 4 * lane;
        if (own < end && 4 * lane < step) {
            /* The first word may begin before the match, and so its source before the output. */
            const uint32_t skip = own < match.to ? before : 0;
            const uint32_t word = deflate_load_word(own + skip - match.distance) << 8 * skip;
            deflate_store_word(own, word, match.to, end);
        }
        if (overlaps)
            __syncwarp();
    }
}

TILE_INLINE deflate_match deflate_match_of(const deflate_match &match, uint32_t lane)
{
    deflate_match other;
    other.to = reinterpret_cast<uint8_t *>(
        __shfl_sync(FULL_WARP, (unsigned long long)reinterpret_cast<uint64_t>(match.to), lane));
    other.length = __shfl_sync(FULL_WARP, match.length, lane);
    other.distance = __shfl_sync(FULL_WARP, match.distance, lane);
    return other;
}

/* Joins matches of equal distance that follow each other directly: the first one gets the length of all, the others
 * become 0. Returns the lanes whose matches this one stands for. */
TILE_INLINE uint32_t deflate_join(deflate_match &match, uint32_t to, uint32_t lane)
{
    const uint32_t length = match.length, distance_before = __shfl_up_sync(FULL_WARP, match.distance, 1),
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

/* Copies `count` matches, 1..32. */
TILE_INLINE void deflate_copy_group(const deflate_matches &matches, uint32_t count, uint8_t *output,
                                    uint32_t lane)
{
    const uint32_t what = lane < count ? matches.what[lane] : 0, last = count - 1;
    const uint32_t where = matches.where[min(lane, last)];
    deflate_match match;
    match.length = what >> 16;
    match.distance = (what & 0x7fff) + 1;
    /* Lanes without a match follow the last one, so that joining finds its end. */
    const uint32_t last_length = __shfl_sync(FULL_WARP, match.length, last);
    const uint32_t to = where + (lane < count ? 0 : last_length), to_end = to + match.length;
    match.to = output + to;
    uint32_t unfinished = __ballot_sync(FULL_WARP, match.length);
    const uint32_t pieces = deflate_join(match, to, lane);
    const bool alone = match.length <= DEFLATE_SHORT &&
                       (match.length <= match.distance || deflate_divides_8(match.distance));
    const uint32_t from = to - match.distance, from_end = from + min(match.length, match.distance);
    const uint32_t sources = deflate_sources(to, to_end, from, from_end, lane);
    while (unfinished) {
        const bool ready = (unfinished & pieces) && (unfinished & sources) == 0;
        if (ready && alone)
            deflate_copy_short(match);
        for (uint32_t together = __ballot_sync(FULL_WARP, ready && !alone); together;
             together &= together - 1) {
            const deflate_match one = deflate_match_of(match, __ffs(together) - 1);
            if (one.distance <= 32)
                deflate_copy_pattern(one, lane);
            else
                deflate_copy_long(one, lane);
        }
        unfinished &= ~deflate_or_warp(ready ? pieces : 0);
        __syncwarp();
    }
}

/* Copies the matches of a window, whose output begins at `output`. */
TILE_INLINE void deflate_copy(const deflate_matches &matches, uint32_t count, uint8_t *output, uint32_t lane)
{
    __syncwarp();
#pragma unroll 1
    for (uint32_t i = 0; i < count; i += 32) {
        deflate_matches group;
        group.what = matches.what + i;
        group.where = matches.where + i;
        deflate_copy_group(group, min(count - i, 32u), output, lane);
    }
}

#endif
