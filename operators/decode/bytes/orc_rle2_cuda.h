/*
 * orc_rle2_cuda.h: the decoder of ORC's second run-length encoding of integers. storage/codec/bytes/orc_rle2.c
 * draws the bytes and is the host's twin; byte_block_cuda.h says what a decoder defines.
 *
 * A stream is groups of 1..512 items. They are decoded in two ways:
 *
 *   windows  Rows of small groups: short repeats, and direct and delta groups of up to RLE2_SMALL bytes. 240 bytes
 *            of the stream, eight bytes a lane, are turned into the table `next`: for every byte, where would the
 *            next group begin if a small group began here? For delta groups this takes the varints' ends; so windows
 *            look for them only while there are some. The warp follows `next`, one load a group, and lane k keeps the
 *            k-th group. If groups are short, a scan over their items gives each its place, and a lane writes an item:
 *            32 items find their groups by a mask of the groups' first items and a count of its bits. (A short
 *            repeat is a packed group whose items all lie in the same place.) Long ones are written one by one.
 *   alone    Patched bases, long groups, and small ones between them. All lanes read the header alike; then 32
 *            items are unpacked at a time, each from the two or three words that hold it. Differences are summed by
 *            a warp scan. The list of patches has at most 31 entries: each lane holds one, and items find theirs as
 *            items of a window find their groups.
 *
 * Instructions: 180 a window (300 with deltas), 2 a group, 90 for each 32 groups, 28 for each 32 items; alone, 120 a
 * group and 20 (differences 45) for each 32 items. The scratch must lie in the first 64 KiB of shared memory
 * (stream_window_cuda.h); else every block is refused.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE2_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE2_CUDA_H

#include "operators/decode/bytes/stream_window_cuda.h"
#include "operators/decode/decode_cuda.h"

#define RLE2_WINDOW 240u /* bytes; `next` of its last byte is less than 256 for a short repeat */
#define RLE2_OPEN   255u
#define RLE2_SMALL  120u
#define RLE2_LONG   12u /* items of a group that is worth a loop of its own */

enum { RLE2_SHORT_REPEAT, RLE2_DIRECT, RLE2_PATCHED_BASE, RLE2_DELTA }; /* the upper two bits of a group */

/* Packed widths are stored as five bits: 1..24, 26, 28, 30, 32, 40, 48, 56, 64. */
TILE_INLINE uint32_t rle2_width(uint32_t code)
{
    return code < 24 ? code + 1 : code < 28 ? 2 * code - 22 : 8 * code - 184;
}

TILE_INLINE uint32_t rle2_width_at_least(uint32_t bits)
{
    return bits <= 24 ? bits : bits <= 32 ? (bits + 1) & ~1u : (bits + 7) & ~7u;
}

/* A field of `width` bits, 1..64, that ends before bit `end` of big-endian words; word(i) gives a word, also the one
 * before the field's and the one after it, whose bits are dropped. NUMBER is an unsigned type; higher bits are cut. */
template <class NUMBER, class WORD> TILE_INLINE NUMBER unpack_field(WORD word, uint32_t end, uint32_t width)
{
    const uint32_t after = end / 32, last = word(after), middle = word(after - 1);
    const uint32_t low = __funnelshift_l(last, middle, end) & (0xffffffffu >> max(32 - (int32_t)width, 0));
    if constexpr (sizeof(NUMBER) == 8)
        if (width > 32) {
            const uint32_t high = __funnelshift_l(middle, word(after - 2), end);
            return (uint64_t)(high & 0xffffffffu >> (64 - width)) << 32 | low;
        }
    return low;
}

TILE_INLINE uint32_t swap_bytes(uint32_t word)
{
    return __byte_perm(word, 0, 0x0123);
}

template <uint32_t BYTES> struct signed_of {
    typedef int64_t type;
};
template <> struct signed_of<1> {
    typedef int8_t type;
};
template <> struct signed_of<2> {
    typedef int16_t type;
};
template <> struct signed_of<4> {
    typedef int32_t type;
};

template <class T> struct orc_rle2_stream {
    /* The ring; the window as big-endian words, after one that fields may reach back into and before some that
     * varints may reach into; `next`; for each byte that begins a group, its width; and for windows with deltas, for
     * each byte the terminators before it, and `ends`. */
    static constexpr uint32_t BYTES = RING_BYTES + 16, NEXT = BYTES + 272, WIDTHS = NEXT + CHAIN_BYTES,
                              RANKS = WIDTHS + 256, ENDS = RANKS + 256, SCRATCH_BYTES = 2432;
    static_assert(ENDS + ENDS_BYTES <= SCRATCH_BYTES, "the tables fit");

    static __device__ __forceinline__ bool decode(const byte_block &block, uint32_t lane, void *scratch)
    {
        orc_rle2_stream stream;
        return stream.run(block, lane, shared_address(scratch));
    }

  private:
    typedef number_of<T> number;
    typedef typename stream_number<sizeof(T) == 8>::type sum; /* of items and differences */

    stream_ring ring;
    uint32_t shared, lane;
    uint32_t place, end;  /* in the stream: of the next group, and after the last byte */
    uint32_t done, total; /* items */
    uint32_t deltas;      /* 1 if windows find delta groups, too */
    uint32_t in_row;      /* 1 if the last group was a small one */
    uint32_t wrong;
    T *out;

    __device__ __forceinline__ bool run(const byte_block &block, uint32_t of_lane, uint32_t at_shared)
    {
        shared = at_shared;
        lane = of_lane;
        uint32_t widths[8];
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t head = lane * 8 + i;
            widths[i] = head / 2 == RLE2_DELTA * 32 ? 0 : rle2_width(head / 2 % 32);
        }
        store_shared_pair(shared + WIDTHS + lane * 8, make_uint2(four_bytes(widths), four_bytes(widths + 4)));
        place = ring.begin(block, lane, shared);
        end = place + block.in_bytes;
        done = deltas = in_row = wrong = 0;
        total = block.out_bytes / sizeof(T);
        out = reinterpret_cast<T *>(block.out);
        bool right = end >= place && block.out_bytes % sizeof(T) == 0 && shared + SCRATCH_BYTES <= 65536;
        while (right && done < total)
            right = place < end && step();
        return __all_sync(FULL_WARP, right && place == end && !wrong);
    }

    /* Decodes a group, or the small ones of a window. A small group after a large one is decoded alone, too: often
     * the next one is large again. */
    __device__ __forceinline__ bool step()
    {
        ring.seek(place);
        const uint32_t head = ring_byte(place), encoding = head >> 6, code = head / 2 % 32;
        const uint32_t width = encoding == RLE2_DELTA && code == 0 ? 0 : rle2_width(code);
        uint32_t items = (head % 2 << 8 | ring_byte(place + 1)) + 1;
        const bool is_small = encoding == RLE2_SHORT_REPEAT ||
                              (encoding != RLE2_PATCHED_BASE && (items * width + 7) / 8 <= RLE2_SMALL);
        const uint32_t before = place;
        bool right = true;
        if (is_small && in_row && (encoding != RLE2_DELTA || deltas))
            right = window();
        in_row = is_small;
        if (place != before || !right)
            return right;

        deltas = encoding == RLE2_DELTA && is_small;
        if (encoding == RLE2_SHORT_REPEAT)
            items = head % 8 + 3;
        if (end - place < 2 || items > total - done)
            return false;
        if (encoding == RLE2_SHORT_REPEAT)
            right = short_repeat(items, (head / 8 + 1) * 8);
        else if (encoding == RLE2_DIRECT)
            right = direct(items, width);
        else if (encoding == RLE2_PATCHED_BASE)
            right = patched_base(items, width);
        else
            right = delta(items, width);
        done += items;
        return right;
    }

    __device__ __forceinline__ uint32_t ring_byte(uint32_t at) const
    {
        return load_shared_byte(shared + at % RING_BYTES);
    }

    /* The field of `width` bits that ends before bit `bit`, counted from word `first` of the stream. */
    template <class NUMBER>
    __device__ __forceinline__ NUMBER ring_field_from(uint32_t first, uint32_t bit, uint32_t width) const
    {
        return unpack_field<NUMBER>(
            [&](uint32_t i) { return swap_bytes(load_shared_word(shared + (first + i) * 4 % RING_BYTES)); },
            bit, width);
    }

    /* The field of `width` bits that ends `bits` after the place `at`. */
    template <class NUMBER>
    __device__ __forceinline__ NUMBER ring_field(uint32_t at, uint32_t bits, uint32_t width) const
    {
        return ring_field_from<NUMBER>(at / 4, at % 4 * 8 + bits, width);
    }

    /* The same from memory, for what is not in the ring yet. */
    __device__ __forceinline__ uint64_t memory_field(uint32_t at, uint32_t bits, uint32_t width) const
    {
        const uint32_t *stream_words = reinterpret_cast<const uint32_t *>(ring.lines);
        const uint32_t first = at / 4, words = ring.pairs * 2;
        return unpack_field<uint64_t>(
            [&](uint32_t i) {
                const uint32_t word = first + i;
                return word < words ? swap_bytes(load(stream_words + word)) : 0;
            },
            at % 4 * 8 + bits, width);
    }

    /* Groups alone: these write `items` items from out[done] on and move `place` to the group's end. */
    __device__ __forceinline__ bool short_repeat(uint32_t items, uint32_t width)
    {
        if (width / 8 > end - place - 1)
            return false;
        const T item = (T)from_code<T>(ring_field<number>(place + 1, width, width));
        if (lane < items)
            out[done + lane] = item;
        place += 1 + width / 8;
        return true;
    }

    __device__ __forceinline__ bool direct(uint32_t items, uint32_t width)
    {
        uint32_t at = place + 2;
        const uint32_t bytes = (items * width + 7) / 8;
        if (bytes > end - at)
            return false;
        place = at + bytes;
        /* 32 items are `width` words, so that an item's bits lie alike in the words of all rounds. Two rounds of at
         * most 32 bits an item are in reach of one seek. */
        const uint32_t bit = at % 4 * 8 + (lane + 1) * width;
        T *item = out + done + lane;
        for (uint32_t from = 0; from < items; from += 64, at += width * 8, item += 64) {
            ring.seek(at);
            if (from + lane < items)
                *item = (T)from_code<T>(ring_field_from<number>(at / 4, bit, width));
            if (width > 32 && from + 32 < items)
                ring.seek(at + width * 4);
            if (from + 32 + lane < items)
                item[32] = (T)from_code<T>(ring_field_from<number>(at / 4 + width, bit, width));
        }
        return true;
    }

    __device__ __forceinline__ bool delta(uint32_t items, uint32_t width)
    {
        /* The header has at most 22 bytes: each lane looks at one. */
        const uint32_t byte = ring_byte(place + lane);
        const uint32_t ends = __ballot_sync(FULL_WARP, byte < 0x80 && lane >= 2 && lane < end - place);
        const uint32_t first_end = __ffs(ends), step_end = __ffs(ends & (ends - 1));
        if (step_end == 0 || first_end > 12 || step_end - first_end > 10)
            return false;
        const uint64_t first = header_number(byte, 2, first_end),
                       step_code = header_number(byte, first_end, step_end);
        const sum step = (sum)(step_code >> 1 ^ (0 - (step_code & 1)));
        sum value = (sum)from_code<T>((number)first);
        const uint32_t at = place + step_end;
        place = at;
        if (width == 0) {
            write_run(out + done + lane, (int32_t)items, value + lane * step, step, lane);
            return true;
        }
        const uint32_t bytes = ((items - 2) * width + 7) / 8;
        if (items < 2 || bytes > end - at)
            return false;
        place = at + bytes;
        const sum sign = 0 - (sum)(step_code & 1);
        for (uint32_t from = 0; from < items; from += 32) {
            /* Item i has difference i - 2 of the list. */
            const uint32_t item = from + lane, before = from == 0 ? 0 : from - 2, bit = before * width;
            ring.seek(at + bit / 8);
            sum difference = item == 1 ? step : 0;
            if (item >= 2)
                difference =
                    (ring_field<sum>(at + bit / 8, bit % 8 + (item - 1 - before) * width, width) ^ sign) -
                    sign;
            const sum mine = value + scan_values<sum>(difference, lane);
            if (item < items)
                out[done + item] = (T)mine;
            value = __shfl_sync(FULL_WARP, mine, 31);
        }
        return true;
    }

    /* The varint in the header's bytes begin..end-1. */
    __device__ __forceinline__ uint64_t header_number(uint32_t byte, uint32_t begin, uint32_t end_byte) const
    {
        const uint64_t digit =
            lane >= begin && lane < end_byte ? (uint64_t)(byte & 0x7f) << 7 * (lane - begin) : 0;
        return or_warp((uint32_t)digit) | (uint64_t)or_warp((uint32_t)(digit >> 32)) << 32;
    }

    __device__ __forceinline__ bool patched_base(uint32_t items, uint32_t width)
    {
        if (end - place < 4)
            return false;
        const uint32_t third = ring_byte(place + 2), fourth = ring_byte(place + 3);
        const uint32_t base_bytes = third / 32 + 1, patch_width = rle2_width(third % 32);
        const uint32_t gap_width = fourth / 32 + 1, patches = fourth % 32;
        const uint32_t entry_width = rle2_width_at_least(gap_width + patch_width);
        const uint32_t data_bytes = (items * width + 7) / 8, list_bytes = (patches * entry_width + 7) / 8;
        uint32_t at = place + 4;
        if (patches == 0 || gap_width + patch_width > 64 || base_bytes + data_bytes + list_bytes > end - at)
            return false;
        const uint64_t stored = ring_field<uint64_t>(at, base_bytes * 8, base_bytes * 8),
                       sign = 1ull << (base_bytes * 8 - 1);
        const sum base = (sum)(stored & sign ? 0 - (stored ^ sign) : stored);
        at += base_bytes;
        place = at + data_bytes + list_bytes;

        /* Each lane holds a patch: the item that it is for, and the bits above the item's. */
        uint64_t entry = 0;
        if (lane < patches)
            entry = memory_field(at + data_bytes, (lane + 1) * entry_width, entry_width);
        const uint64_t gap = entry >> patch_width;
        const uint32_t counted = gap < 1024 ? (uint32_t)gap : 1024;
        uint32_t patched = scan_warp(counted, lane);
        if (lane >= patches)
            patched = 0xffffffffu;
        else if (patched >= items || (counted == 0 && lane > 0))
            patched = 0xfffffffeu;
        if (__any_sync(FULL_WARP, patched == 0xfffffffeu))
            return false;
        sum patch = (sum)(entry & ~(~0ull << patch_width));
        patch = width < sizeof(sum) * 8 ? patch << width : 0;

        const uint32_t bit = at % 4 * 8 + (lane + 1) * width;
        uint32_t before = 0;
        for (uint32_t from = 0; from < items; from += 32, at += width * 4) {
            const uint32_t item = from + lane;
            ring.seek(at);
            sum difference = ring_field_from<sum>(at / 4, bit, width);
            const uint32_t here = or_warp(shift_left_or_zero(1, patched - from));
            if (here) {
                const sum bits = __shfl_sync(FULL_WARP, patch, before + __popc(here & ((1u << lane) - 1)));
                before += __popc(here);
                if (here >> lane & 1)
                    difference |= bits;
            }
            if (item < items)
                out[done + item] = (T)(base + difference);
        }
        return true;
    }

    /* ---- Small groups ---- */

    /* May leave `place` where it was: then the group there is a large one, or wrong. */
    __device__ __forceinline__ bool window()
    {
        const uint32_t limit = min(RLE2_WINDOW, end - place);
        const window_bytes bytes = load_window(ring, place);
        __syncwarp();
        store_shared_pair(shared + BYTES + lane * 8,
                          make_uint2(swap_bytes(bytes.low), swap_bytes(bytes.high)));
        uint32_t at = 0, moved = RLE2_OPEN;
        if (deltas) {
            deltas = 0;
            any_chain(bytes, limit);
            do {
                if (!batch<true>(limit, &at, &moved))
                    return false;
            } while (moved == RLE2_OPEN);
        } else {
            plain_chain(bytes, limit);
            do {
                if (!batch<false>(limit, &at, &moved))
                    return false;
            } while (moved == RLE2_OPEN);
        }
        place += moved;
        return true;
    }

    /* The first two bytes of a group at byte i of a lane's eight, without the encoding and the width. */
    static __device__ __forceinline__ uint32_t head_at(const window_bytes &bytes, uint32_t i)
    {
        const uint32_t word = i < 4 ? bytes.low : bytes.high, after = i < 4 ? bytes.high : bytes.after;
        return __byte_perm(word, after, (i % 4 << 4 | (i % 4 + 1)) | 0x7700) & 0x1ff;
    }

    __device__ __forceinline__ uint32_t width_at(const window_bytes &bytes, uint32_t i) const
    {
        return load_shared_byte(__dp4a(i < 4 ? bytes.low : bytes.high, 1u << i % 4 * 8, shared + WIDTHS));
    }

    /* `next` for short repeats and direct groups. */
    __device__ __forceinline__ void plain_chain(const window_bytes &bytes, uint32_t limit)
    {
        uint32_t next[8];
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t width = width_at(bytes, i);
            next[i] = min((head_at(bytes, i) * width + width + 23) / 8 + lane * 8 + i, RLE2_OPEN);
        }
        finish_chain(bytes, limit, next, 0x01010101u);
    }

    /* `next` for delta groups, too: their differences come after two varints. */
    __device__ __forceinline__ void any_chain(const window_bytes &bytes, uint32_t limit)
    {
        uint32_t found;
        const window_ends mine = number_ends(bytes, limit, shared + ENDS, lane, &found);
        store_shared_pair(shared + RANKS + lane * 8, ranks_of(mine));
        __syncwarp();
        const uint32_t low =
                           mine.low_before + __funnelshift_r(mine.low_ends, mine.high_ends, 8) + 0x01010101u,
                       high = mine.high_before + __funnelshift_r(mine.high_ends, mine.after_ends, 8) +
                              0x01010101u;
        uint32_t next[8];
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t width = width_at(bytes, i), packed = head_at(bytes, i) * width;
            const uint32_t data =
                load_shared_byte(__dp4a(i < 4 ? low : high, 1u << i % 4 * 8, shared + ENDS + mine.rank));
            const bool is_delta = (i < 4 ? bytes.low : bytes.high) & 0x80u << i % 4 * 8;
            /* A delta group of one item must have no width; the others have two items before the packed ones. */
            next[i] =
                min(is_delta ? (packed - width + 7) / 8 + data : (packed + width + 23) / 8 + lane * 8 + i,
                    RLE2_OPEN);
        }
        finish_chain(bytes, limit, next, 0);
    }

    /* Stores `next`: as given for groups that begin with bit 6, the ends of short repeats, and RLE2_OPEN for those that
     * begin with bit 7 and not bit 6, or, if `only_plain` is 0x01010101 and not 0, with bit 7; and after the limit. */
    __device__ __forceinline__ void finish_chain(const window_bytes &bytes, uint32_t limit,
                                                 const uint32_t *next, uint32_t only_plain)
    {
        const uint32_t places = lane * 0x08080808u + 0x03020100u;
        const uint2 outside = drop_bytes(0xffffffffu, 0xffffffffu, (int32_t)(limit - lane * 8));
        store_chain(shared + NEXT, lane, next_of(bytes.low, four_bytes(next), places, only_plain) | outside.x,
                    next_of(bytes.high, four_bytes(next + 4), places + 0x04040404u, only_plain) | outside.y);
        __syncwarp();
    }

    static __device__ __forceinline__ uint32_t next_of(uint32_t bytes, uint32_t given, uint32_t places,
                                                       uint32_t only_plain)
    {
        const uint32_t bit6 = bytes >> 6 & 0x01010101u, bit7 = bytes >> 7 & 0x01010101u;
        const uint32_t is_given = bit6 * 0xffu, is_open = (bit7 & (~bit6 | only_plain)) * 0xffu;
        const uint32_t repeat = places + 0x02020202u + (bytes >> 3 & 0x07070707u);
        return (is_given & given) | (~is_given & repeat) | is_open;
    }

    __device__ __forceinline__ uint32_t window_byte(uint32_t at) const
    {
        return load_shared_byte(shared + BYTES + (at ^ 3));
    }

    /* The field of the window that ends before bit `bit`. */
    template <class NUMBER> __device__ __forceinline__ NUMBER window_field(uint32_t bit, uint32_t width) const
    {
        const uint32_t words = shared + BYTES;
        return unpack_field<NUMBER>([&](uint32_t i) { return load_shared_word(words + i * 4); }, bit, width);
    }

    template <class NUMBER_TYPE> __device__ __forceinline__ number_of<NUMBER_TYPE> window_varint(uint32_t at)
    {
        const uint32_t words = shared + BYTES + (at & ~3u);
        return read_varint<NUMBER_TYPE>(
            [&](uint32_t i) {
                return swap_bytes(
                    __funnelshift_l(load_shared_word(words + i + 4), load_shared_word(words + i), at * 8));
            },
            &wrong);
    }

    /* A small group, each lane its own. Items lie in the window from the byte `data` on, `width` bits each; those of a
     * LINE are made of two numbers, those of DELTAS are sums. */
    enum { PACKED, LINE, DELTAS };
    struct group {
        uint32_t items, offset; /* the second: of its first item, counted from the batch's first */
        uint32_t kind, data, width;
        uint32_t is_delta, sign; /* 1 for delta groups; 1 if their differences are negative */
        sum first, step;
    };

    /* Decodes up to 32 groups from the window's byte *at on. Then either *at is the next group, or the window holds no
     * more and *moved is what was decoded of it. */
    template <bool WITH_DELTAS>
    __device__ __forceinline__ bool batch(uint32_t limit, uint32_t *at, uint32_t *moved)
    {
        const uint32_t chain = shared + NEXT;
        const uint32_t entry = follow_chain(chain + 2 * *at, chain + 2 * RLE2_OPEN, lane);
        const uint32_t begin = (entry - chain) / 2, next = (load_shared_half(entry) - chain) / 2;
        const uint32_t head = window_byte(begin), second = window_byte(begin + 1);
        const bool whole = next <= limit, is_repeat = head < 0x40;
        group mine = {0, 0, PACKED, begin + 2, 0, 0, 0, 0, 0};
        if (whole) {
            mine.items = is_repeat ? head % 8 + 3 : (head % 2 << 8 | second) + 1;
            mine.width = is_repeat ? (head / 8 + 1) * 8 : load_shared_byte(shared + WIDTHS + head);
            mine.data -= is_repeat;
            mine.kind = is_repeat ? LINE : PACKED;
        }
        uint32_t found_deltas = 0;
        if constexpr (WITH_DELTAS) {
            const bool is_delta = whole && head >= 0xc0;
            found_deltas = __ballot_sync(FULL_WARP, is_delta);
            if (is_delta)
                read_delta(begin, second, &mine);
            if (__any_sync(FULL_WARP, is_delta && mine.width && mine.items < 2))
                return false;
            deltas = found_deltas ? 1 : deltas;
        }
        const uint32_t through = sum_lanes_up_to(mine.items), all = max_warp(through);
        mine.offset = through - mine.items;
        *moved = min_warp(whole ? RLE2_OPEN : begin);
        *at = max_warp(next);
        if (all > total - done)
            return false;
        const uint32_t count = max_warp(whole ? lane + 1 : 0);
        if (all > RLE2_LONG * count)
            emit_each<WITH_DELTAS>(mine, whole && is_repeat, count);
        else
            emit<WITH_DELTAS>(mine, all);
        done += all;
        return true;
    }

    /* The numbers of a delta group at the window's byte `begin`. */
    __device__ __forceinline__ void read_delta(uint32_t begin, uint32_t second, group *mine)
    {
        typedef typename signed_of<sizeof(T)>::type SIGNED;
        const uint32_t first_end = shared + ENDS + load_shared_byte(shared + RANKS + begin) + (second < 0x80);
        const uint32_t step_at = load_shared_byte(first_end);
        mine->data = load_shared_byte(first_end + 1);
        mine->first = (sum)from_code<T>(window_varint<T>(begin + 2));
        mine->step = (sum)from_code<SIGNED>(window_varint<SIGNED>(step_at));
        mine->kind = mine->width ? DELTAS : LINE;
        mine->is_delta = 1;
        mine->sign = window_byte(step_at) & 1; /* also where T cuts it off */
    }

    /* Writes the items of the batch's groups, `all` of them. */
    template <bool WITH_DELTAS> __device__ __forceinline__ void emit(const group &mine, uint32_t all)
    {
        /* Item i of the batch ends before bit `origin + stride * i` of the window; of a delta group, it is
         * `first + step * i`. Groups whose differences are packed get zeros first. */
        const uint32_t is_delta = WITH_DELTAS && mine.is_delta, stride = mine.kind == PACKED ? mine.width : 0;
        const uint32_t origin = is_delta ? 0 : mine.data * 8 + mine.width - stride * mine.offset;
        const sum step = mine.kind == LINE ? mine.step : 0,
                  first = mine.kind == LINE ? mine.first - step * mine.offset : 0;
        uint32_t record, width = 0;
        if constexpr (sizeof(number) ==
                      4) /* bits 0..6: stride; 7..11: unused bits of 32; 12: delta; 13..31: origin */
            record = stride | (32 - min(mine.width, 32u)) % 32 << 7 | is_delta << 12 | origin << 13;
        else /* bits 0..6: stride; 12: delta; 13..31: origin */
            record = stride | is_delta << 12 | origin << 13;
        const uint32_t lanes_up_to = 0xffffffffu >> (31 - lane), most = all + lane, words = shared + BYTES;
        uint32_t before = (uint32_t)-1, shift = mine.offset;
        T *items = out + done + lane;
#pragma unroll 2
        for (uint32_t item = lane; item < most; item += 32, shift -= 32, items += 32) {
            const uint32_t heads = or_warp(shift_left_or_zero(1, shift));
            const uint32_t which = before + __popc(heads & lanes_up_to);
            before += __popc(heads);
            const uint32_t of = __shfl_sync(FULL_WARP, record, which);
            if constexpr (sizeof(number) == 8)
                width = __shfl_sync(FULL_WARP, mine.width, which);
            sum line = 0;
            if constexpr (WITH_DELTAS)
                line = __shfl_sync(FULL_WARP, first, which) + __shfl_sync(FULL_WARP, step, which) * item;
            if (item < all) {
                const uint32_t bit = ((int32_t)of >> 13) + (of & 0x7f) * item;
                number code;
                if constexpr (sizeof(number) == 4) {
                    const uint32_t word = words + bit / 32 * 4;
                    code = __funnelshift_l(load_shared_word(word), load_shared_word(word - 4), bit) &
                           (0xffffffffu >> (of >> 7 & 31));
                } else
                    code = window_field<number>(bit, width);
                *items = WITH_DELTAS && of & 0x1000 ? (T)line : (T)from_code<T>(code);
            }
        }
        if constexpr (WITH_DELTAS) {
            uint32_t left = __ballot_sync(FULL_WARP, mine.kind == DELTAS);
            __syncwarp(); /* other lanes write over the zeros */
            for (; left; left &= left - 1) {
                const uint32_t k = __ffs(left) - 1;
                const uint32_t of = __shfl_sync(
                    FULL_WARP, mine.items | mine.data << 10 | mine.width << 18 | mine.sign << 25, k);
                emit_differences(out + done + __shfl_sync(FULL_WARP, mine.offset, k), of & 0x3ff,
                                 (of >> 10 & 0xff) * 8, of >> 18 & 0x7f,
                                 __shfl_sync(FULL_WARP, mine.first, k), __shfl_sync(FULL_WARP, mine.step, k),
                                 of >> 25);
            }
        }
    }

    /* Writes a group of `length` items from `first` on: the second is `step` more, and the packed differences follow,
     * from the window's bit `bit` on, negative if `negative` is 1. */
    __device__ __forceinline__ void emit_differences(T *items, uint32_t length, uint32_t bit, uint32_t width,
                                                     sum first, sum step, uint32_t negative)
    {
        const sum sign = 0 - (sum)negative;
        sum value = first;
#pragma unroll 1
        for (uint32_t from = 0; from < length; from += 32) {
            const uint32_t item = from + lane;
            sum difference = item == 1 ? step : 0;
            if (item >= 2 && item < length)
                difference = (window_field<sum>(bit + (item - 1) * width, width) ^ sign) - sign;
            const sum here = value + scan_values<sum>(difference, lane);
            if (item < length)
                items[item] = (T)here;
            value = __shfl_sync(FULL_WARP, here, 31);
        }
    }

    /* The same for long groups, one after the other. */
    template <bool WITH_DELTAS>
    __device__ __forceinline__ void emit_each(group mine, bool is_repeat, uint32_t count)
    {
        if (is_repeat)
            mine.first = (sum)from_code<T>(window_field<number>(mine.data * 8 + mine.width, mine.width));
        const uint32_t record =
            mine.items | mine.data << 10 | mine.width << 18 | mine.kind << 25 | mine.sign << 27;
        T *items = out + done;
#pragma unroll 1
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t of = __shfl_sync(FULL_WARP, record, k), length = of & 0x3ff, kind = of >> 25 & 3;
            const uint32_t width = of >> 18 & 0x7f, data = (of >> 10 & 0xff) * 8;
            const sum first = __shfl_sync(FULL_WARP, mine.first, k),
                      step = __shfl_sync(FULL_WARP, mine.step, k);
            if (WITH_DELTAS && kind == DELTAS)
                emit_differences(items, length, data, width, first, step, of >> 27);
            else if (kind == LINE)
                write_run(items + lane, (int32_t)length, first + step * lane, step, lane);
            else {
                uint32_t bit = data + (lane + 1) * width;
#pragma unroll 1
                for (uint32_t from = 0; from < length; from += 32, bit += 32 * width)
                    if (from + lane < length)
                        items[from + lane] = (T)from_code<T>(window_field<number>(bit, width));
            }
            items += length;
        }
    }
};

/* The codec's. */
template <class VALUE> struct decode_orc_rle2 : decode_blocks, orc_rle2_stream<VALUE> {
};

#endif
