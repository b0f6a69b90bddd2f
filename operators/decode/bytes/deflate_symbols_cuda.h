/*
 * deflate_symbols_cuda.h: decodes the symbols of a Deflate block in windows of 32 segments, a lane a segment.
 *
 * Nobody knows where in a segment the first symbol begins. But Huffman codes synchronise themselves: a path that begins
 * at a wrong bit meets the true one after some symbols, mostly. So each lane walks its segment from the segment's first
 * bit, and says where its last symbol ends: there the next lane's first symbol begins. Lanes that had begun elsewhere
 * walk again, until nobody has to, or for DEFLATE_ROUNDS rounds. Lane 0 knows its true beginning; all lanes before the
 * first one that would have to walk again are right, and the next window begins after them.
 *
 * Then sums over the lanes say where each lane's output begins, and the lanes walk a last time: they write literals to
 * the output and put matches in a list (deflate_copy_cuda.h).
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_SYMBOLS_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_SYMBOLS_CUDA_H

#include "operators/decode/bytes/deflate_tables_cuda.h"

#define DEFLATE_ROUNDS 8u

/* The matches of a window. A segment has at most 112 matches (two bits each), so those of one segment always fit. */
#define DEFLATE_MATCHES 448u
/* Places of matches in the window's output have 16 bits; a segment gives at most 112 x 258 bytes. */
#define DEFLATE_WINDOW_OUTPUT 65536u

struct deflate_matches {
    uint32_t *what;  /* distance - 1 in bits 0..14, length in bits 16..24 */
    uint16_t *where; /* its first byte, from the window's first one */
};

/* What ended a walk before the end of its segment. */
#define DEFLATE_END     1u /* the end of the block */
#define DEFLATE_INVALID 2u /* bits that are no symbol */

/* The extra bits of a symbol whose code and extra bits are the low `used` bits of `bits`, 1..31. */
TILE_INLINE uint32_t deflate_extra(uint32_t bits, uint32_t used, uint32_t extra)
{
    return __funnelshift_l(__funnelshift_l(0, bits, 0u - used), 0, extra);
}

/* Walks over the symbols that begin at bits at..limit - 1 of the window, until an end of block; returns where it
 * stopped, and why. */
template <class SINK>
TILE_INLINE uint32_t deflate_walk(const uint32_t *window, const deflate_tables &tables, uint32_t at,
                                  uint32_t limit, uint32_t &why, SINK &sink)
{
    typedef deflate_literal_code literal;
    typedef deflate_distance_code distance;
    why = 0;
    while (at < limit) {
        const uint32_t *word = window + at / 32;
        const uint32_t low = __funnelshift_r(word[0], word[1], at),
                       high = __funnelshift_r(word[1], word[2], at);
        uint32_t entry = tables.literals[low & ((1u << literal::ROOT_BITS) - 1)];
        if (entry & literal::LINK)
            entry = tables.literals[literal::link_offset(entry) +
                                    (low >> literal::ROOT_BITS & literal::link_mask(entry))];
        at += entry & 31;
        if (entry < literal::LINK) {
            sink.literal(entry >> 16);
        } else if (entry & literal::MATCH) {
            const uint32_t rest = __funnelshift_r(low, high, entry);
            uint32_t second = tables.distances[rest & ((1u << distance::ROOT_BITS) - 1)];
            if (second & distance::LINK)
                second = tables.distances[distance::link_offset(second) +
                                          (rest >> distance::ROOT_BITS & distance::link_mask(second))];
            if (second & distance::INVALID) {
                why = DEFLATE_INVALID;
                break;
            }
            at += second & 31;
            sink.match((entry >> 16 & 0x1ff) + deflate_extra(low, entry, entry >> 8), rest, second);
        } else {
            why = entry & literal::END ? DEFLATE_END : DEFLATE_INVALID;
            break;
        }
    }
    return at;
}

/* Counts a segment's output and matches: bytes in bits 0..19, matches in bits 20..31, which is enough for the sums over
 * all lanes: 32 x 112 matches of 258 bytes. */
struct deflate_counter {
    uint32_t counts;

    __device__ __forceinline__ void literal(uint32_t)
    {
        counts++;
    }
    __device__ __forceinline__ void match(uint32_t length, uint32_t, uint32_t)
    {
        counts += 1u << 20 | length;
    }
};

struct deflate_writer {
    uint8_t *to;             /* the window's first byte of output */
    uint32_t before;         /* bytes of output before it */
    uint32_t at;             /* the lane's next byte, from `to` */
    uint32_t next;           /* the lane's next match */
    deflate_matches matches; /* all lanes' */
    bool too_far;            /* a match begins before the output */

    __device__ __forceinline__ void literal(uint32_t byte)
    {
        to[at++] = (uint8_t)byte;
    }
    __device__ __forceinline__ void match(uint32_t length, uint32_t bits, uint32_t entry)
    {
        const uint32_t symbol = entry >> 5 & 31, extra = deflate_distance_code::extra_bits(symbol),
                       base = symbol < 2 ? symbol : (2 + symbol % 2) << extra,
                       distance = base + deflate_extra(bits, entry, extra); /* minus 1 */
        too_far |= distance >= before + at;
        matches.what[next] = distance | length << 16;
        matches.where[next] = (uint16_t)at;
        next++;
        at += length;
    }
};

/* A window's symbols, in all lanes alike. */
struct deflate_window_result {
    uint32_t bits;    /* taken from the window */
    uint32_t bytes;   /* of output */
    uint32_t matches; /* in the list */
    bool ended;       /* the block */
    bool refused;
};

/* Decodes the symbols from bit `at` of the window (at < 32) on: as many segments as are known to be right and fit.
 * `end` is the stream's end in the window's bits, `before` and `room` the bytes before and after `to`. */
TILE_INLINE deflate_window_result deflate_window_symbols(const uint32_t *window, const deflate_tables &tables,
                                                         const deflate_matches &matches, uint32_t at,
                                                         uint32_t end, uint8_t *to, uint32_t before,
                                                         uint32_t room, uint32_t lane)
{
    const uint32_t limit = (lane + 1) * DEFLATE_SEGMENT_BITS;
    uint32_t start = lane ? lane * DEFLATE_SEGMENT_BITS : at, stop = 0, why = 0, wrong;
    bool walks = true;
    deflate_counter counter;
    counter.counts = 0;
#pragma unroll 1
    for (uint32_t round = 0;; round++) {
        if (walks) {
            counter.counts = 0;
            stop = deflate_walk(window, tables, start, limit, why, counter);
        }
        const uint32_t neighbour = __shfl_up_sync(FULL_WARP, stop, 1),
                       neighbour_why = __shfl_up_sync(FULL_WARP, why, 1);
        walks = lane && !neighbour_why && neighbour != start;
        wrong = __ballot_sync(FULL_WARP, walks);
        if (wrong == 0 || round + 1 == DEFLATE_ROUNDS)
            break;
        if (walks)
            start = neighbour;
    }

    /* Lanes are taken up to the first wrong one, the first one that ended, and what fits. */
    const uint32_t stopped = __ballot_sync(FULL_WARP, why), sums = scan_warp(counter.counts, lane),
                   crowded = __ballot_sync(FULL_WARP, sums >> 20 > DEFLATE_MATCHES ||
                                                          (sums & 0xfffff) > DEFLATE_WINDOW_OUTPUT);
    uint32_t lanes = min(wrong ? __ffs(wrong) - 1 : 32u, crowded ? __ffs(crowded) - 1 : 32u);
    const bool ended = stopped && (uint32_t)__ffs(stopped) <= lanes;
    lanes = ended ? __ffs(stopped) : lanes;
    deflate_window_result result;
    const uint32_t total = __shfl_sync(FULL_WARP, sums, lanes - 1);
    result.bits = __shfl_sync(FULL_WARP, stop, lanes - 1);
    result.bytes = total & 0xfffff;
    result.matches = total >> 20;
    result.ended = ended;
    const uint32_t last_why = __shfl_sync(FULL_WARP, why, lanes - 1);
    result.refused = last_why == DEFLATE_INVALID || result.bits > end || result.bytes > room;
    if (result.refused)
        return result;

    deflate_writer writer;
    writer.to = to;
    writer.before = before;
    writer.at = (sums - counter.counts) & 0xfffff;
    writer.next = (sums - counter.counts) >> 20;
    writer.matches = matches;
    writer.too_far = false;
    if (lane < lanes)
        deflate_walk(window, tables, start, limit, why, writer);
    result.refused = __ballot_sync(FULL_WARP, writer.too_far) != 0;
    return result;
}

#endif
