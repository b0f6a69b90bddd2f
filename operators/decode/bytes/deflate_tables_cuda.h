/*
 * deflate_tables_cuda.h: builds the look-up tables of Deflate's canonical Huffman codes, all lanes together.
 *
 * A table has two levels, as zlib's: the next ROOT_BITS bits of the stream select an entry; for a longer code this entry
 * is a link to a part of the second level, which the bits after them select from. With 8 bits, 286 symbols never need
 * more than 660 entries, and 32 symbols never more than 402 (the program `enough` that comes with zlib).
 *
 * In the order of codes (first bit highest) the table is simple: the symbols of length 1 by number, those of length 2,
 * ..., each with 2^(ROOT_BITS - length) equal entries; longer codes at the end. So each symbol stores one entry where
 * its code begins, each lane copies entries forward in its part of the table, and the index with its bits reversed is
 * where the entry is needed.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_TABLES_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_TABLES_CUDA_H

#include "operators/decode/bytes/deflate_input_cuda.h"

#define DEFLATE_MAX_BITS 15u
#define DEFLATE_FULL     (1u << DEFLATE_MAX_BITS) /* the sum of 2^(15 - length) of a complete code */

/*
 * Literals, lengths and the end of the block. An entry of 32 bits:
 *
 *     bit 0..4   bits to consume: the code and its extra bits
 *     bit 8..12  extra bits, 0..5
 *     bit 16..24 the literal, or the length without its extra bits
 *     bit 28     link: bits 0..9 are where the second level's part begins, bits 16..22 the mask of its index
 *     bit 29     match, bit 30: end of the block, bit 31: no symbol
 */
struct deflate_literal_code {
    typedef uint32_t entry;
    static constexpr uint32_t ROOT_BITS = 8, SYMBOLS = 288, ENTRIES = 660;
    static constexpr uint32_t LINK = 1u << 28, MATCH = 1u << 29, END = 1u << 30, INVALID = 1u << 31;

    static __device__ __forceinline__ uint32_t make(uint32_t symbol, uint32_t length)
    {
        if (symbol < 256)
            return length | symbol << 16;
        if (symbol == 256)
            return length | END;
        if (symbol > 285)
            return INVALID;
        const uint32_t s = symbol - 257;
        if (s < 8 || s == 28)
            return length | (s < 8 ? 3 + s : 258) << 16 | MATCH;
        const uint32_t extra = s / 4 - 1;
        return (length + extra) | extra << 8 | (3 + ((4 + s % 4) << extra)) << 16 | MATCH;
    }
    static __device__ __forceinline__ uint32_t link(uint32_t offset, uint32_t bits)
    {
        return LINK | ((1u << bits) - 1) << 16 | offset;
    }
    static __device__ __forceinline__ uint32_t link_offset(uint32_t entry)
    {
        return entry & 0x3ff;
    }
    static __device__ __forceinline__ uint32_t link_mask(uint32_t entry)
    {
        return entry >> 16 & 127;
    }
};

/*
 * Distances. An entry of 16 bits:
 *
 *     bit 0..4  bits to consume: the code and its extra bits
 *     bit 5..9  the symbol
 *     bit 14    no symbol
 *     bit 15    link: bits 0..7 are where the second level's part begins, minus 256; bits 8..11 the bits of its index
 */
struct deflate_distance_code {
    typedef uint16_t entry;
    static constexpr uint32_t ROOT_BITS = 8, SYMBOLS = 32, ENTRIES = 402;
    static constexpr uint32_t LINK = 1u << 15, INVALID = 1u << 14;

    static __device__ __forceinline__ uint32_t extra_bits(uint32_t symbol)
    {
        return max(symbol >> 1, 1u) - 1;
    }
    static __device__ __forceinline__ uint32_t make(uint32_t symbol, uint32_t length)
    {
        return symbol > 29 ? INVALID : (length + extra_bits(symbol)) | symbol << 5;
    }
    static __device__ __forceinline__ uint32_t link(uint32_t offset, uint32_t bits)
    {
        return LINK | bits << 8 | (offset - 256);
    }
    static __device__ __forceinline__ uint32_t link_offset(uint32_t entry)
    {
        return 256 + (entry & 0xff);
    }
    static __device__ __forceinline__ uint32_t link_mask(uint32_t entry)
    {
        return (1u << (entry >> 8 & 15)) - 1;
    }
};

/* Lengths of codes: at most 7 bits, so there is one level. An entry: bits 0..4 the bits of the code, 5..9 the symbol. */
struct deflate_length_code {
    typedef uint32_t entry;
    static constexpr uint32_t ROOT_BITS = 7, SYMBOLS = 32, ENTRIES = 128;
    static constexpr uint32_t LINK = 1u << 15, INVALID = 1u << 14;

    static __device__ __forceinline__ uint32_t make(uint32_t symbol, uint32_t length)
    {
        return length | symbol << 5;
    }
    static __device__ __forceinline__ uint32_t link(uint32_t, uint32_t)
    {
        return INVALID;
    }
    static __device__ __forceinline__ uint32_t link_offset(uint32_t)
    {
        return 0;
    }
    static __device__ __forceinline__ uint32_t link_mask(uint32_t)
    {
        return 0;
    }
};

/* The lanes whose value, of 4 bits, is `wanted`; bits[i] is the ballot of bit i. */
TILE_INLINE uint32_t deflate_lanes_with(const uint32_t *bits, uint32_t wanted)
{
    return (wanted & 1 ? bits[0] : ~bits[0]) & (wanted & 2 ? bits[1] : ~bits[1]) &
           (wanted & 4 ? bits[2] : ~bits[2]) & (wanted & 8 ? bits[3] : ~bits[3]);
}

/* Builds a code's table; length_of(symbol) gives the length of each symbol's code, 0..15, 0: none. `plain` has
 * 2^ROOT_BITS words; it may be the table itself if entries are words. Returns the sum of 2^(15 - length), or 0 with
 * `longest` > 15 if no decoder could use this code: it has two meanings for some bits, or none (zlib allows the latter
 * only for a code of one symbol, or none at all). */
template <class CODE, class LENGTH_OF>
TILE_INLINE bool deflate_build(LENGTH_OF length_of, bool complete, uint32_t lane, uint32_t *plain,
                               typename CODE::entry *table)
{
    constexpr uint32_t CHUNKS = CODE::SYMBOLS / 32, ROOT = CODE::ROOT_BITS, EACH = (1u << ROOT) / 32;
    uint32_t length[CHUNKS], code[CHUNKS], count = 0; /* count: of length `lane` */
    __syncwarp();
#pragma unroll
    for (uint32_t c = 0; c < CHUNKS; c++) {
        length[c] = length_of(32 * c + lane);
        uint32_t bits[4];
#pragma unroll
        for (uint32_t b = 0; b < 4; b++)
            bits[b] = __ballot_sync(FULL_WARP, length[c] >> b & 1);
        code[c] = __popc(deflate_lanes_with(bits, length[c]) & ((1u << lane) - 1)) +
                  __shfl_sync(FULL_WARP, count, length[c]);
        count += __popc(deflate_lanes_with(bits, lane));
    }
    const bool is_length = lane >= 1 && lane <= DEFLATE_MAX_BITS;
    const uint32_t share = is_length ? count << (DEFLATE_MAX_BITS - lane) : 0, sum = scan_warp(share, lane),
                   total = __shfl_sync(FULL_WARP, sum, 31),
                   longest = 31 - __clz(__ballot_sync(FULL_WARP, is_length && count) | 1);
    if (total > DEFLATE_FULL || (total < DEFLATE_FULL && (complete || longest > 1)))
        return false;

    const uint32_t first = is_length ? (sum - share) >> (DEFLATE_MAX_BITS - lane) : 0;
    for (uint32_t i = lane; i < 1u << ROOT; i += 32)
        plain[i] = 0;
    __syncwarp();
#pragma unroll
    for (uint32_t c = 0; c < CHUNKS; c++) {
        code[c] += __shfl_sync(FULL_WARP, first, length[c]);
        if (length[c] == 0)
            continue;
        if (length[c] <= ROOT)
            plain[code[c] << (ROOT - length[c])] = CODE::make(32 * c + lane, length[c]);
        else if ((~code[c] & ((1u << (length[c] - ROOT)) - 1)) ==
                 0) /* the last, so a longest, of its prefix */
            plain[code[c] >> (length[c] - ROOT)] = CODE::LINK | (length[c] - ROOT);
    }
    if (lane == 0 && total < DEFLATE_FULL)
        plain[total >> (DEFLATE_MAX_BITS - ROOT)] = CODE::INVALID;
    __syncwarp();

    uint32_t entry[EACH], last = 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        entry[i] = plain[EACH * lane + i];
        last = entry[i] = entry[i] ? entry[i] : last;
    }
    const uint32_t below = __ballot_sync(FULL_WARP, last) & ((1u << lane) - 1),
                   carried = __shfl_sync(FULL_WARP, last, (31 - __clz(below)) & 31);
    if (longest > ROOT) {
        uint32_t size = 0;
#pragma unroll
        for (uint32_t i = 0; i < EACH; i++)
            size += entry[i] & CODE::LINK ? 1u << (entry[i] & 15) : 0;
        uint32_t offset = (1u << ROOT) + scan_warp(size, lane) - size;
#pragma unroll
        for (uint32_t i = 0; i < EACH; i++)
            if (entry[i] & CODE::LINK) {
                const uint32_t bits = entry[i] & 15;
                entry[i] = CODE::link(offset, bits);
                offset += 1u << bits;
            }
    }
    const uint32_t reversed_lane = __brev(lane) >> 27;
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
        table[(__brev(i) >> (32 - (ROOT - 5))) * 32 + reversed_lane] =
            (typename CODE::entry)(entry[i] ? entry[i] : carried);
    __syncwarp();
    if (longest <= ROOT)
        return true;
#pragma unroll
    for (uint32_t c = 0; c < CHUNKS; c++)
        if (length[c] > ROOT) {
            const uint32_t bits = length[c] - ROOT, link = table[__brev(code[c] >> bits) >> (32 - ROOT)],
                           mask = CODE::link_mask(link), made = CODE::make(32 * c + lane, length[c]);
            typename CODE::entry *part = table + CODE::link_offset(link);
            for (uint32_t i = __brev(code[c] << (32 - bits)); i <= mask; i += 1u << bits)
                part[i] = (typename CODE::entry)made;
        }
    __syncwarp();
    return true;
}

struct deflate_tables {
    uint32_t *literals;   /* deflate_literal_code::ENTRIES */
    uint16_t *distances;  /* deflate_distance_code::ENTRIES */
    uint32_t *plain;      /* 256 words for building */
    uint8_t *code_length; /* 320 lengths of codes: literals and lengths, then distances */
};

/* Reads the lengths of `count` codes, which the code in `table` encodes: 0..15 is a length, 16 repeats the last one
 * 3..6 times, 17 and 18 are 3..10 and 11..138 zeros. to[] is 0. */
TILE_INLINE bool deflate_read_lengths(deflate_header_reader &in, const uint32_t *table, uint32_t count,
                                      uint8_t *to)
{
    uint32_t last = 16; /* none */
    for (uint32_t i = 0; i < count;) {
        const uint32_t bits = in.peek(), entry = table[bits & 127], used = entry & 31, symbol = entry >> 5,
                       after = bits >> used;
        if (symbol < 16) {
            if (in.lane == 0)
                to[i] = (uint8_t)symbol;
            last = symbol;
            in.bit += used;
            i++;
            continue;
        }
        const uint32_t width = symbol == 16   ? 2
                               : symbol == 17 ? 3
                                              : 7,
                       times = (symbol == 18 ? 11 : 3) + (after & ((1u << width) - 1));
        in.bit += used + width;
        if (symbol != 16)
            last = 0;
        if (i + times > count || last > 15)
            return false;
        if (last && in.lane < times)
            to[i + in.lane] = (uint8_t)last;
        i += times;
    }
    return true;
}

/* Builds the tables of codes whose lengths are in to.code_length. */
TILE_INLINE bool deflate_build_tables(const deflate_tables &to, uint32_t literals, uint32_t distances,
                                      uint32_t lane)
{
    const uint8_t *length = to.code_length;
    return deflate_build<deflate_literal_code>(
               [=](uint32_t symbol) { return symbol < literals ? length[symbol] : 0u; }, false, lane,
               to.literals, to.literals) &&
           deflate_build<deflate_distance_code>(
               [=](uint32_t symbol) { return symbol < distances ? length[literals + symbol] : 0u; }, false,
               lane, to.plain, to.distances);
}

/* The lengths of the fixed codes: 288 of literals and lengths, 32 of distances. */
TILE_INLINE void deflate_fixed_lengths(const deflate_tables &to, uint32_t lane)
{
    for (uint32_t i = lane; i < 320; i += 32)
        to.code_length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
    __syncwarp();
}

/* Reads the lengths of a block's own codes. */
TILE_INLINE bool deflate_dynamic_lengths(deflate_header_reader &in, const deflate_tables &to,
                                         uint32_t &literals, uint32_t &distances)
{
    literals = 257 + in.take(5);
    distances = 1 + in.take(5);
    const uint32_t lengths = 4 + in.take(4);
    if (literals > 286 || distances > 30)
        return false;
    /* The lengths come in the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15; `place` is a symbol's place in it. */
    uint32_t own = 0, place = in.lane >= 16  ? in.lane - 16
                              : in.lane == 0 ? 3
                              : in.lane < 8  ? 19 - 2 * in.lane
                                             : 2 * in.lane - 12;
    for (uint32_t i = 0; i < lengths; i++) {
        const uint32_t length = in.take(3);
        own = place == i ? length : own;
    }
    if (in.lane >= 19)
        own = 0;
    if (!deflate_build<deflate_length_code>([=](uint32_t) { return own; }, true, in.lane, to.literals,
                                            to.literals))
        return false;
    uint32_t *zeros = reinterpret_cast<uint32_t *>(to.code_length);
    for (uint32_t i = in.lane; i < 320 / 4; i += 32)
        zeros[i] = 0;
    __syncwarp();
    if (!deflate_read_lengths(in, to.literals, literals + distances, to.code_length) || in.bit > in.input.end)
        return false;
    __syncwarp();
    return to.code_length[256] != 0; /* else the block could not end */
}

#endif
