/*
 * stream_window_cuda.h: what the decoders of run-length streams share: the ring of input, and varints at any place
 * of shared memory.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_STREAM_WINDOW_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_STREAM_WINDOW_CUDA_H

#include "operators/decode/bytes/byte_block_cuda.h"
#include "operators/decode/bytes/warp_words_cuda.h"

/*
 * The ring holds two neighbouring units of 256 bytes of the stream in shared memory, and each lane holds its eight
 * bytes of the unit after them, so that a load from memory has a whole unit's time. Places in the stream count
 * from the 128-byte line that holds the first byte. After seek(place), the ring holds 257 bytes from `place` on;
 * those outside the stream's lines are 0.
 */
#define RING_UNIT  256u
#define RING_BYTES 512u

struct stream_ring {
    const uint2 *lines;
    uint32_t pairs; /* of words in the stream's lines */
    uint32_t shared, unit, lane;
    uint2 ahead; /* of unit + 2 */

    __device__ __forceinline__ uint2 load_unit(uint32_t of_unit) const
    {
        const uint32_t pair = of_unit * (RING_UNIT / 8) + lane;
        return pair < pairs ? load(lines + pair) : make_uint2(0, 0);
    }
    /* Returns the place of the first byte. */
    __device__ __forceinline__ uint32_t begin(const byte_block &block, uint32_t of_lane, uint32_t at_shared)
    {
        const uint64_t address = reinterpret_cast<uint64_t>(block.in);
        const uint32_t first = (uint32_t)address & 127;
        lines = reinterpret_cast<const uint2 *>(address - first);
        pairs = block.in_bytes ? (first + block.in_bytes + 127) / 128 * 16 : 0;
        shared = at_shared;
        lane = of_lane;
        unit = 0;
        ahead = load_unit(2);
        store_shared_pair(shared + lane * 8, load_unit(0));
        store_shared_pair(shared + RING_UNIT + lane * 8, load_unit(1));
        __syncwarp();
        return first;
    }
    __device__ __forceinline__ void seek(uint32_t place)
    {
#pragma unroll 1
        while (place / RING_UNIT > unit) {
            __syncwarp();
            store_shared_pair(shared + unit % 2 * RING_UNIT + lane * 8, ahead);
            unit++;
            ahead = load_unit(unit + 2);
            __syncwarp();
        }
    }
    __device__ __forceinline__ uint2 pair_at(uint32_t pair) const
    {
        return load_shared_pair(shared + pair % (RING_BYTES / 8) * 8);
    }
};

/*
 * A window is 256 bytes of the stream from any place on, eight bytes a lane. Its chain is a table in shared memory: for
 * each byte, where the next symbol would begin if a symbol began there, as the address of that byte's entry. Entries
 * have 16 bits, so that a step is one load: a warp's scratch must lie in the first 64 KiB of shared memory.
 */
#define CHAIN_BYTES 512u

struct window_bytes {
    uint32_t low, high,
        after; /* a lane's eight bytes, and in the low bits of `after` the next lane's first */
};

TILE_INLINE window_bytes load_window(const stream_ring &ring, uint32_t place)
{
    const uint32_t pair = place / 8 + ring.lane, shift = place * 8;
    const uint2 first = ring.pair_at(pair), second = ring.pair_at(pair + 1);
    const uint32_t word0 = place & 4 ? first.y : first.x, word1 = place & 4 ? second.x : first.y,
                   word2 = place & 4 ? second.y : second.x;
    return window_bytes{__funnelshift_r(word0, word1, shift), __funnelshift_r(word1, word2, shift),
                        word2 >> (shift & 31)};
}

/* `low` and `high` without their first `count` bytes; other bits are 0. */
TILE_INLINE uint2 drop_bytes(uint32_t low, uint32_t high, int32_t count)
{
    const int32_t bits = 8 * max(count, 0);
    return make_uint2(low & shift_left_or_zero(0xffffffffu, bits),
                      high & shift_left_or_zero(0xffffffffu, max(bits - 32, 0)));
}

/*
 * A byte without continuation bit is a terminator: it ends a varint, if it belongs to one. The table `ends` in shared
 * memory says where the window's terminators end, one byte each, and 255 after the last. A lane knows of its bytes:
 */
#define ENDS_BYTES 512u

struct window_ends {
    uint32_t low, high;           /* the lane's bytes, but those after the limit with a continuation bit */
    uint32_t low_ends, high_ends; /* bit 0 of each byte that is a terminator */
    uint32_t after_ends;          /* the same of the next lane's first byte */
    uint32_t low_before, high_before; /* in each byte, the lane's terminators before it */
    uint32_t rank;                    /* terminators of the lanes before */
};

/* Fills `ends` for the first `limit` bytes; *found gets their terminators. Others may read it after a barrier. */
TILE_INLINE window_ends number_ends(const window_bytes &bytes, uint32_t limit, uint32_t ends, uint32_t lane,
                                    uint32_t *found)
{
    store_shared_four(ends + lane * 16, make_uint4(0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu));
    window_ends mine;
    const int32_t exist = (int32_t)(limit - lane * 8);
    const uint2 outside = drop_bytes(0x80808080u, 0x80808080u, exist);
    mine.low = bytes.low | outside.x;
    mine.high = bytes.high | outside.y;
    mine.low_ends = (~mine.low & 0x80808080u) >> 7;
    mine.high_ends = (~mine.high & 0x80808080u) >> 7;
    mine.after_ends = exist > 8 ? (~bytes.after & 0x80) >> 7 : 0;
    const uint32_t low_through = mine.low_ends * 0x01010101u,
                   high_through = mine.high_ends * 0x01010101u + (low_through >> 24) * 0x01010101u;
    mine.low_before = low_through - mine.low_ends;
    mine.high_before = high_through - mine.high_ends;
    const uint32_t count = high_through >> 24, through = sum_lanes_up_to(count);
    mine.rank = through - count;
    *found = max_warp(through);
    __syncwarp();
    uint32_t slot = ends + mine.rank;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++)
        if (!((i < 4 ? mine.low : mine.high) & 0x80u << i % 4 * 8))
            store_shared_byte(slot++, lane * 8 + i + 1);
    return mine;
}

/* For each of a lane's bytes: the terminators of the window before it. */
TILE_INLINE uint2 ranks_of(const window_ends &mine)
{
    return make_uint2(mine.low_before + mine.rank * 0x01010101u, mine.high_before + mine.rank * 0x01010101u);
}

/* The eight entries of a lane, of which each byte of `low` and `high` has one. */
TILE_INLINE void store_chain(uint32_t chain, uint32_t lane, uint32_t low, uint32_t high)
{
    const uint32_t origin = chain * 0x00010001u;
    store_shared_four(chain + lane * 16, make_uint4(2 * __byte_perm(low, 0, 0x4140) + origin,
                                                    2 * __byte_perm(low, 0, 0x4342) + origin,
                                                    2 * __byte_perm(high, 0, 0x4140) + origin,
                                                    2 * __byte_perm(high, 0, 0x4342) + origin));
}

/* Lane k gets the k-th entry from `at` on; after the last symbol comes `open`, which follows itself. */
TILE_INLINE uint32_t follow_chain(uint32_t at, uint32_t open, uint32_t lane)
{
    int32_t left = (int32_t)lane;
#pragma unroll 1
    for (uint32_t step = 0; step < 32; step += 8, left -= 8) {
#pragma unroll
        for (int32_t i = 0; i < 8; i++)
            if (left > i)
                at = load_shared_half(at);
        if (!__any_sync(FULL_WARP, lane == 31 && at != open))
            break;
    }
    return at;
}

/* The four bytes at any address of shared memory. It reads the two words that hold them. */
TILE_INLINE uint32_t load_shared_unaligned(uint32_t address)
{
    const uint32_t word = address & ~3u;
    return __funnelshift_r(load_shared_word(word), load_shared_word(word + 4), address * 8);
}

/* The low 7 bits of the bytes up to the first terminator, put together: up to 28 bits. */
TILE_INLINE uint32_t varint_bits(uint32_t bytes, uint32_t terminators)
{
    const uint32_t kept = bytes & (terminators ^ (terminators - 1)) & 0x7f7f7f7fu;
    return __dp4a(kept, 0x00008001u, 0u) + (__dp4a(kept, 0x80010000u, 0u) << 14);
}

/* The low bytes of four words. */
TILE_INLINE uint32_t four_bytes(const uint32_t *bytes)
{
    return __byte_perm(__byte_perm(bytes[0], bytes[1], 0x0040), __byte_perm(bytes[2], bytes[3], 0x0040),
                       0x5410);
}

/* Items of T are made from a number of this type. Zigzag needs one bit more than T has. */
template <class T> constexpr bool is_zigzag = (T)-1 < (T)0;
template <bool WIDE> struct stream_number {
    typedef uint32_t type;
};
template <> struct stream_number<true> {
    typedef uint64_t type;
};
template <class T> using number_of = typename stream_number<(sizeof(T) + is_zigzag<T> > 4)>::type;

/* The varint of which four(i) gives the bytes i..i+3, for i = 0, 4 and 8. Sets *wrong if it has more than 10 bytes. */
template <class T, class FOUR> TILE_INLINE number_of<T> read_varint(FOUR four, uint32_t *wrong)
{
    const uint32_t first = four(0), first_ends = ~first & 0x80808080u;
    number_of<T> value = varint_bits(first, first_ends);
    if (first_ends == 0) {
        const uint32_t second = four(4), second_ends = ~second & 0x80808080u;
        if constexpr (sizeof(T) >= 4)
            value |= (number_of<T>)varint_bits(second, second_ends) << 28;
        if (second_ends == 0) {
            const uint32_t third = four(8);
            if constexpr (sizeof(T) == 8)
                value |= (uint64_t)(third & 0x7f) << 56;
            if (third & 0x80) {
                if constexpr (sizeof(T) == 8)
                    value |= (uint64_t)(third >> 8) << 63;
                *wrong |= third & 0x8000;
            }
        }
    }
    return value;
}

/* The item of T that a number in the stream means: signed types are zigzag-coded. */
template <class T> TILE_INLINE number_of<T> from_code(number_of<T> value)
{
    if constexpr (is_zigzag<T>)
        return (value >> 1) ^ (0 - (value & 1));
    else
        return value;
}

/* Writes `length` items: value, value + step, ...; `items` is this lane's first and `value` its value. */
template <class T, class NUMBER>
TILE_INLINE void write_run(T *items, int32_t length, NUMBER value, NUMBER step, uint32_t lane)
{
    const int32_t left = length - (int32_t)lane;
    const NUMBER next = step * 32;
    if (left > 0)
        items[0] = (T)value;
    value += next;
    if (left > 32)
        items[32] = (T)value;
#pragma unroll 1
    for (int32_t from = 64; from < length; from += 64) {
        items += 64;
        value += next;
        if (left > from)
            items[0] = (T)value;
        value += next;
        if (left > from + 32)
            items[32] = (T)value;
    }
}

#endif
