/*
 * orc_rle2_cuda.h: the decoder of ORC's second run-length encoding of integers. storage/codec/bytes/orc_rle2.c
 * draws the bytes and is the host's twin; byte_block_cuda.h says what a decoder defines.
 *
 * A stream is groups of 1..512 items, and groups are of two sorts here:
 *
 *   small   Short repeats, and direct groups of up to RLE2_SMALL bytes. Text and small numbers are long rows of
 *           them, of three to twenty items each. They are decoded by the window: 240 bytes of the stream, eight bytes a
 *           lane, are turned into the table `next`: for every byte, where would the next group begin if a small group
 *           began here? The warp follows `next`, one load a group, lane k keeps the k-th group, and a scan over their
 *           items gives each its place. Then a lane writes an item: 32 items find their groups by a mask of the
 *           groups' first items and a count of its bits. A short repeat is a packed group whose items all lie in the same
 *           place, so all items are made by one expression.
 *   large   All others. All lanes read the header alike; then 32 items are unpacked at a time, each from the two or
 *           three words that hold it. Deltas are summed by a warp scan. The list of patches has at most 31 entries, so
 *           each lane holds one; items find theirs as items of the window find their groups.
 *
 * Instructions: about 100 a window, 3 a small group, 60 for each 32 of them, 35 for each 32 items; 60 a large group
 * and 25 (deltas 50) for each 32 items.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE2_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE2_CUDA_H

#include "operators/decode/bytes/stream_window_cuda.h"
#include "operators/decode/decode_cuda.h"

#define RLE2_WINDOW 240u /* bytes; `next` of its last byte is less than 256 for a short repeat */
#define RLE2_OPEN   255u
#define RLE2_SMALL  120u

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

template <class T> struct orc_rle2_stream {
    /* The ring; the window as big-endian words, after one that fields may reach back into; `next`; for each first
     * byte of a group, its width. */
    static constexpr uint32_t BYTES = RING_BYTES + 16, NEXT = BYTES + 272, WIDTHS = NEXT + 256,
                              SCRATCH_BYTES = 1408;
    static_assert(WIDTHS + 256 <= SCRATCH_BYTES, "the tables fit");

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
    T *out;

    __device__ __forceinline__ bool run(const byte_block &block, uint32_t of_lane, uint32_t at_shared)
    {
        shared = at_shared;
        lane = of_lane;
        uint32_t widths[8];
#pragma unroll
        for (uint32_t i = 0; i < 8; i++)
            widths[i] = rle2_width((lane * 8 + i) / 2 % 32);
        store_shared_pair(shared + WIDTHS + lane * 8, make_uint2(four_bytes(widths), four_bytes(widths + 4)));
        place = ring.begin(block, lane, shared);
        end = place + block.in_bytes;
        done = 0;
        total = block.out_bytes / sizeof(T);
        out = reinterpret_cast<T *>(block.out);
        bool right = end >= place && block.out_bytes % sizeof(T) == 0;
        while (right && done < total)
            right = place < end && step();
        return right && place == end;
    }

    /* Decodes a large group, or the small ones of a window. */
    __device__ __forceinline__ bool step()
    {
        ring.seek(place);
        const uint32_t head = ring_byte(place), encoding = head >> 6;
        if (encoding == RLE2_SHORT_REPEAT)
            return window();
        if (end - place < 2)
            return false;
        const uint32_t code = head / 2 % 32, width = rle2_width(code);
        const uint32_t items = (head % 2 << 8 | ring_byte(place + 1)) + 1;
        if (encoding == RLE2_DIRECT && (items * width + 7) / 8 <= RLE2_SMALL)
            return window();
        if (items > total - done)
            return false;
        const bool right = encoding == RLE2_DIRECT         ? direct(items, width)
                           : encoding == RLE2_PATCHED_BASE ? patched_base(items, width)
                           : code == 0                     ? delta(items, 0)
                                                           : delta(items, width);
        done += items;
        return right;
    }

    __device__ __forceinline__ uint32_t ring_byte(uint32_t at) const
    {
        return load_shared_byte(shared + at % RING_BYTES);
    }

    /* The field of `width` bits that ends `bits` after the place `at`. */
    template <class NUMBER>
    __device__ __forceinline__ NUMBER ring_field(uint32_t at, uint32_t bits, uint32_t width) const
    {
        const uint32_t first = at / 4;
        return unpack_field<NUMBER>(
            [&](uint32_t i) { return swap_bytes(load_shared_word(shared + (first + i) * 4 % RING_BYTES)); },
            at % 4 * 8 + bits, width);
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

    /* Large groups: `direct` and the others write `items` items from out[done] on and move `place` to their end. */
    __device__ __forceinline__ bool direct(uint32_t items, uint32_t width)
    {
        uint32_t at = place + 2;
        const uint32_t bytes = (items * width + 7) / 8;
        if (bytes > end - at)
            return false;
        place = at + bytes;
        for (uint32_t from = 0; from < items; from += 32, at += width * 4) {
            ring.seek(at);
            const number code = ring_field<number>(at, (lane + 1) * width, width);
            if (from + lane < items)
                out[done + from + lane] = (T)from_code<T>(code);
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
            value += lane * step;
            for (uint32_t item = lane; item < items; item += 32, value += 32 * step)
                out[done + item] = (T)value;
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

        uint32_t before = 0;
        for (uint32_t from = 0; from < items; from += 32, at += width * 4) {
            const uint32_t item = from + lane;
            ring.seek(at);
            sum difference = ring_field<sum>(at, (lane + 1) * width, width);
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

    __device__ __forceinline__ bool window()
    {
        const uint32_t limit = min(RLE2_WINDOW, end - place);
        tables(limit);
        uint32_t at = 0, moved = RLE2_OPEN;
        do {
            if (!batch(limit, &at, &moved))
                return false;
        } while (moved == RLE2_OPEN);
        place += moved;
        return moved > 0;
    }

    /* Fills the window's words and `next`. A group at or after the limit has no next one. */
    __device__ __forceinline__ void tables(uint32_t limit)
    {
        const uint32_t pair = place / 8 + lane, shift = place * 8;
        const uint2 low = ring.pair_at(pair), high = ring.pair_at(pair + 1);
        const uint32_t word0 = place & 4 ? low.y : low.x, word1 = place & 4 ? high.x : low.y,
                       word2 = place & 4 ? high.y : high.x;
        const uint32_t bytes0 = __funnelshift_r(word0, word1, shift),
                       bytes1 = __funnelshift_r(word1, word2, shift), byte8 = word2 >> (shift & 31);
        __syncwarp();
        store_shared_pair(shared + BYTES + lane * 8, make_uint2(swap_bytes(bytes0), swap_bytes(bytes1)));

        uint32_t next[8];
#pragma unroll
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t word = i < 4 ? bytes0 : bytes1, after = i < 4 ? bytes1 : byte8;
            const uint32_t width = load_shared_byte(__dp4a(word, 1u << i % 4 * 8, shared + WIDTHS));
            /* The first two bytes, the first one above. */
            const uint32_t head = __byte_perm(word, after, (i % 4 << 4 | (i % 4 + 1)) | 0x7700) & 0x1ff;
            next[i] = min((head * width + width + 23) / 8 + lane * 8 + i, RLE2_OPEN);
        }
        const uint32_t places = lane * 0x08080808u + 0x03020100u;
        const uint32_t bits = 8 * (uint32_t)max((int32_t)(limit - lane * 8), 0);
        store_shared_pair(
            shared + NEXT + lane * 8,
            make_uint2(next_of(bytes0, four_bytes(next), places) | shift_left_or_zero(0xffffffffu, bits),
                       next_of(bytes1, four_bytes(next + 4), places + 0x04040404u) |
                           shift_left_or_zero(0xffffffffu, (uint32_t)max((int32_t)bits - 32, 0))));
        __syncwarp();
    }

    /* `direct` in the bytes that begin a direct group; the ends of short repeats; RLE2_OPEN for the others. */
    static __device__ __forceinline__ uint32_t next_of(uint32_t bytes, uint32_t direct, uint32_t places)
    {
        const uint32_t is_direct = (bytes >> 6 & 0x01010101u) * 0xffu,
                       is_large = (bytes >> 7 & 0x01010101u) * 0xffu;
        const uint32_t repeat = places + 0x02020202u + (bytes >> 3 & 0x07070707u);
        return (is_direct & direct) | (~is_direct & repeat) | is_large;
    }

    __device__ __forceinline__ uint32_t window_byte(uint32_t at) const
    {
        return load_shared_byte(shared + BYTES + (at ^ 3));
    }

    /* Decodes up to 32 groups from the window's byte *at on. Then either *at is the next group, or the window holds no
     * more and *moved is what was decoded of it. */
    __device__ __forceinline__ bool batch(uint32_t limit, uint32_t *at, uint32_t *moved)
    {
        uint32_t begin = RLE2_OPEN, follow = *at;
#pragma unroll 1
        for (uint32_t first = 0; first < 32 && follow != RLE2_OPEN; first += 8)
#pragma unroll
            for (uint32_t i = 0; i < 8; i++) {
                if (lane == first + i)
                    begin = follow;
                follow = load_shared_byte(shared + NEXT + follow);
            }
        *at = follow;

        const uint32_t next = load_shared_byte(shared + NEXT + begin), head = window_byte(begin);
        const bool whole = next <= limit;
        uint32_t items = 0, width = 0, data = 0, repeat = 0;
        if (whole && head < 0x40) {
            items = head % 8 + 3;
            width = (head / 8 + 1) * 8;
            data = begin + 1;
            repeat = 1;
        } else if (whole) {
            items = (head % 2 << 8 | window_byte(begin + 1)) + 1;
            width = rle2_width(head / 2 % 32);
            data = begin + 2;
        }
        const uint32_t through = scan_warp(items, lane), all = max_warp(through);
        const uint32_t stop = __ballot_sync(FULL_WARP, begin != RLE2_OPEN && !whole);
        if (stop)
            *moved = max_warp(lane == __ffs(stop) - 1 ? begin : 0);
        if (all > total - done)
            return false;
        /* Bits 0..10: where the group's items begin in the batch's; 11: a repeat; 12..19: its first byte of data;
         * 20..26: the width. */
        emit((through - items) | repeat << 11 | data << 12 | width << 20, all);
        done += all;
        return true;
    }

    /* Writes the items of the batch's groups, `all` of them. */
    __device__ __forceinline__ void emit(uint32_t group, uint32_t all)
    {
        const uint32_t offset = group & 0x7ff, lanes_up_to = 0xffffffffu >> (31 - lane);
        uint32_t before = (uint32_t)-1;
        T *items = out + done;
        for (uint32_t from = 0; from < all; from += 32) {
            const uint32_t heads = or_warp(shift_left_or_zero(1, offset - from));
            const uint32_t of = __shfl_sync(FULL_WARP, group, before + __popc(heads & lanes_up_to));
            before += __popc(heads);
            const uint32_t item = from + lane, width = of >> 20;
            const uint32_t nth = of & 0x800 ? 0 : item - (of & 0x7ff);
            if (item < all) {
                const uint32_t words = shared + BYTES;
                const number code =
                    unpack_field<number>([&](uint32_t i) { return load_shared_word(words + i * 4); },
                                         (of >> 12 & 0xff) * 8 + (nth + 1) * width, width);
                items[item] = (T)from_code<T>(code);
            }
        }
    }
};

/* The codec's. */
template <class VALUE> struct decode_orc_rle2 : decode_blocks, orc_rle2_stream<VALUE> {
};

#endif
