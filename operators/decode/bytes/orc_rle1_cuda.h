/*
 * orc_rle1_cuda.h: the decoder of ORC's first run-length encoding of integers. storage/codec/bytes/orc_rle1.c
 * draws the bytes and is the host's twin; byte_block_cuda.h says what a decoder defines.
 *
 * A stream is symbols: a run (control byte 0..127: 3..130 items; a signed byte, which each item adds; the first
 * item as a varint) or literals (control byte 128..255: 128..1 varints). Streams of text and of small numbers have
 * symbols of two to twenty items: one symbol at a time, or one varint at a time, leaves most of a warp idle. Here a
 * warp takes a window of 254 bytes at a time, eight bytes a lane:
 *
 *   1. A byte without continuation bit is a terminator: it ends a varint, if it belongs to one. A warp scan
 *      numbers them, and the table `ends` says where each of them ends.
 *   2. For every byte: where would the next symbol begin if a symbol began here? A run ends at its first terminator
 *      after two bytes, n literals end at their n-th; so the answer is one look into `ends`. Table `next`.
 *   3. The warp follows `next` from the window's first symbol, one load a symbol, and lane k keeps the k-th one.
 *   4. A scan over the symbols' items gives each symbol its place in the output. Then the items are written, a lane
 *      an item: 32 items find their symbols by a mask of the symbols' first items and a count of its bits.
 *
 * Literals that reach out of the window are decoded as far as it goes; the next window begins with the rest.
 * Instructions: about 90 a window for 1 and 2, 3 a symbol for 3, 60 for each 32 symbols, 22 to 40 for each 32 items.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE1_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE1_CUDA_H

#include "operators/decode/bytes/stream_window_cuda.h"
#include "operators/decode/decode_cuda.h"

/* A window's bytes are 0..253, and things in it end at 1..254; 255 says that a symbol does not end in it. */
#define RLE1_WINDOW 254u
#define RLE1_OPEN   255u

template <class T> struct orc_rle1_stream {
    /* The ring; the window's bytes and some that varints' words may reach into; for each byte, the terminators
     * before it; `next`, with an entry for carried literals at 256; `ends`, after a byte for ends[-1]. */
    static constexpr uint32_t BYTES = RING_BYTES, RANKS = BYTES + 288, NEXT = RANKS + 256, CARRIED = 256,
                              ENDS = NEXT + 256 + 16, SCRATCH_BYTES = 1920;
    static_assert(ENDS + 512 <= SCRATCH_BYTES, "the tables fit");

    static __device__ __forceinline__ bool decode(const byte_block &block, uint32_t lane, void *scratch)
    {
        orc_rle1_stream stream;
        return stream.run(block, lane, shared_address(scratch));
    }

  private:
    stream_ring ring;
    uint32_t shared, lane;
    uint32_t place, end;  /* in the stream: of the window, and after the last byte */
    uint32_t limit;       /* bytes of the window that exist */
    uint32_t found;       /* terminators in the window */
    uint32_t done, total; /* items */
    uint32_t carried;     /* literals of a group that began in an earlier window */
    uint32_t wrong;
    T *out;

    __device__ __forceinline__ bool run(const byte_block &block, uint32_t of_lane, uint32_t at_shared)
    {
        shared = at_shared;
        lane = of_lane;
        place = ring.begin(block, lane, shared);
        end = place + block.in_bytes;
        done = carried = wrong = 0;
        total = block.out_bytes / sizeof(T);
        out = reinterpret_cast<T *>(block.out);
        bool right = end >= place && block.out_bytes % sizeof(T) == 0;
        while (right && done < total)
            right = window();
        right = right && place == end && carried == 0;
        return __all_sync(FULL_WARP, right && !wrong);
    }

    __device__ __forceinline__ bool window()
    {
        ring.seek(place);
        limit = min(RLE1_WINDOW, end - place);
        const bool only_literals = tables();
        const uint32_t taken = min(carried, found);
        uint32_t at = 0;
        if (taken)
            at = load_shared_byte(shared + ENDS + taken - 1);
        if (only_literals) {
            emit_literals(taken, at == taken);
            carried -= taken;
            place += at;
            return taken > 0;
        }
        carried = 0;
        uint32_t moved = RLE1_OPEN, head = taken;
        do {
            if (!batch(head, &at, &moved))
                return false;
            head = 0;
        } while (moved == RLE1_OPEN);
        place += moved;
        return moved > 0;
    }

    /* Steps 1 and 2. Returns whether the window holds nothing but literals that began before it; then there is no
     * `next`. */
    __device__ __forceinline__ bool tables()
    {
        const uint32_t pair = place / 8 + lane, shift = place * 8;
        const uint2 low = ring.pair_at(pair), high = ring.pair_at(pair + 1);
        const uint32_t word0 = place & 4 ? low.y : low.x, word1 = place & 4 ? high.x : low.y,
                       word2 = place & 4 ? high.y : high.x;
        uint32_t bytes0 = __funnelshift_r(word0, word1, shift), bytes1 = __funnelshift_r(word1, word2, shift),
                 byte8 = word2 >> (shift & 31);
        __syncwarp();
        store_shared_pair(shared + BYTES + lane * 8, make_uint2(bytes0, bytes1));
        store_shared_quad(shared + ENDS + lane * 16, RLE1_OPEN * 0x01010101u);

        /* Bytes after the limit are no terminators. */
        const uint32_t bits = 8 * (uint32_t)max((int32_t)(limit - lane * 8), 0);
        bytes0 |= shift_left_or_zero(0x80808080u, bits);
        bytes1 |= shift_left_or_zero(0x80808080u, (uint32_t)max((int32_t)bits - 32, 0));
        byte8 |= bits > 64 ? 0 : 0x80;

        /* One bit in each byte that is a terminator; then, in each byte, the lane's terminators before it. */
        const uint32_t ends0 = (~bytes0 & 0x80808080u) >> 7, ends1 = (~bytes1 & 0x80808080u) >> 7,
                       ends8 = (~byte8 & 0x80) >> 7;
        const uint32_t through0 = ends0 * 0x01010101u,
                       through1 = ends1 * 0x01010101u + (through0 >> 24) * 0x01010101u;
        const uint32_t before0 = through0 - ends0, before1 = through1 - ends1, mine = through1 >> 24;
        const uint32_t inclusive = scan_warp(mine, lane), rank = inclusive - mine;
        found = __shfl_sync(FULL_WARP, inclusive, 31);
        __syncwarp();
        const uint32_t first_end = shared + ENDS + rank;
        uint32_t slot = first_end;
#pragma unroll
        for (uint32_t i = 0; i < 8; i++)
            if (!((i < 4 ? bytes0 : bytes1) & 0x80u << i % 4 * 8))
                store_shared_byte(slot++, lane * 8 + i + 1);
        const bool only_literals = carried > 0 && carried >= found;
        if (!only_literals) {
            store_shared_pair(shared + RANKS + lane * 8,
                              make_uint2(before0 + rank * 0x01010101u, before1 + rank * 0x01010101u));
            __syncwarp();
            const uint32_t index0 =
                               before0 + last_terminator(bytes0, ends0, __funnelshift_r(ends0, ends1, 8)),
                           index1 =
                               before1 + last_terminator(bytes1, ends1, __funnelshift_r(ends1, ends8, 8));
            uint32_t next[8];
#pragma unroll
            for (uint32_t i = 0; i < 8; i++)
                next[i] = load_shared_byte(__dp4a(i < 4 ? index0 : index1, 1u << i % 4 * 8, first_end));
            store_shared_pair(shared + NEXT + lane * 8, make_uint2(four_bytes(next), four_bytes(next + 4)));
        }
        __syncwarp();
        return only_literals;
    }

    /* In each byte: which terminator from there on ends a symbol that begins there. Of n literals it is number
     * n - 1; of a run, 1 after the control byte, which is one, and 1 more if the byte `after` it is one too. */
    static __device__ __forceinline__ uint32_t last_terminator(uint32_t bytes, uint32_t ends, uint32_t after)
    {
        const uint32_t runs = ends * 0xffu;
        return (runs & (after + 0x01010101u)) | (~runs & ~bytes & 0x7f7f7f7fu);
    }

    static __device__ __forceinline__ uint32_t four_bytes(const uint32_t *bytes)
    {
        return __byte_perm(__byte_perm(bytes[0], bytes[1], 0x0040), __byte_perm(bytes[2], bytes[3], 0x0040),
                           0x5410);
    }

    /* Steps 3 and 4 for up to 32 symbols from the window's byte *at on, of which the first is `head` carried
     * literals if that is not 0. Then either *at is the next symbol, or the window holds no more and *moved is what
     * was decoded of it. */
    __device__ __forceinline__ bool batch(uint32_t head, uint32_t *at, uint32_t *moved)
    {
        uint32_t begin = RLE1_OPEN, follow = *at;
        if (head) {
            store_shared_byte(shared + NEXT + CARRIED, follow);
            follow = CARRIED;
            __syncwarp();
        }
#pragma unroll 1
        for (uint32_t group = 0; group < 32 && follow != RLE1_OPEN; group += 8)
#pragma unroll
            for (uint32_t i = 0; i < 8; i++) {
                if (lane == group + i)
                    begin = follow;
                follow = load_shared_byte(shared + NEXT + follow);
            }

        const uint32_t next = load_shared_byte(shared + NEXT + begin);
        const uint32_t control = load_shared_byte(shared + BYTES + begin);
        uint32_t rank = load_shared_byte(shared + RANKS + begin);
        const bool exists = begin < limit, whole = next != RLE1_OPEN;
        bool is_literal = exists && control >= 128;
        uint32_t items = 0, left = 0, stop = begin, delta = 0, data = begin + 1;
        number_of<T> base = 0;
        if (exists && control < 128 && whole) {
            items = control + 3;
            delta = load_shared_byte(shared + BYTES + begin + 1);
            data = begin + 2;
            base = from_code<T>(load_varint<T>(shared + BYTES + data, &wrong));
        } else if (is_literal) {
            const uint32_t count = 256 - control;
            items = whole ? count : found - rank;
            left = count - items;
            stop = whole ? next : items ? load_shared_byte(shared + ENDS + found - 1) : data;
        } else if (begin == CARRIED) {
            is_literal = true;
            items = head;
            data = rank = 0;
            stop = next;
        }

        const uint32_t through = scan_warp(items, lane), sum = __shfl_sync(FULL_WARP, through, 31);
        const uint32_t last = __ballot_sync(FULL_WARP, begin != RLE1_OPEN && !whole);
        *at = follow;
        if (last) {
            const uint32_t packed = __shfl_sync(FULL_WARP, stop | left << 16, __ffs(last) - 1);
            *moved = packed & 0xffff;
            carried = packed >> 16;
        }
        if (sum + carried > total - done)
            return false;

        /* Bits 0..12: where the symbol's items begin in the batch's; 13: it is literals; 16..23: `data`, or the
         * rank of the literals' first terminator; 24..31: delta. */
        const uint32_t packed = (through - items) | (uint32_t)is_literal << 13 | delta << 24;
        const bool narrow = __all_sync(FULL_WARP, !is_literal || stop - data == items);
        if (narrow) {
            if constexpr (sizeof(T) == 1)
                if (!is_literal && items)
                    store_shared_byte(shared + BYTES + data, to_code((uint32_t)base));
            __syncwarp();
            emit<true>(packed | data << 16, base, sum);
        } else {
            if (is_literal)
                store_shared_byte(shared + ENDS + rank - 1, data);
            __syncwarp();
            emit<false>(packed | rank << 16, base, sum);
        }
        done += sum;
        return true;
    }

    /* The byte that from_code() makes `item` of, for one-byte items. */
    static __device__ __forceinline__ uint32_t to_code(uint32_t item)
    {
        if constexpr (is_zigzag<T>)
            return item << 1 ^ (uint32_t)((int32_t)(item << 24) >> 31);
        else
            return item;
    }

    /* Writes the items of the batch's symbols, `sum` in all. NARROW: all literals have one byte. */
    template <bool NARROW>
    __device__ __forceinline__ void emit(uint32_t symbol, number_of<T> base, uint32_t sum)
    {
        const uint32_t offset = symbol & 0x1fff, lanes_up_to = 0xffffffffu >> (31 - lane);
        uint32_t before = (uint32_t)-1;
        T *items = out + done;
        for (uint32_t from = 0; from < sum; from += 32) {
            const uint32_t heads = or_warp(shift_left_or_zero(1, offset - from));
            const uint32_t which = before + __popc(heads & lanes_up_to);
            before += __popc(heads);
            const uint32_t of = __shfl_sync(FULL_WARP, symbol, which);
            number_of<T> value = 0;
            if constexpr (sizeof(T) > 1 || !NARROW)
                value = __shfl_sync(FULL_WARP, base, which);
            const uint32_t item = from + lane, nth = item - (of & 0x1fff), data = of >> 16 & 0xff;
            const bool is_literal = of & 0x2000;
            const int32_t delta = (int32_t)of >> 24;
            if (item < sum) {
                if constexpr (sizeof(T) == 1 && NARROW) {
                    const uint32_t code = load_shared_byte(shared + BYTES + data + (is_literal ? nth : 0));
                    value = from_code<T>(code) + delta * nth;
                } else if (is_literal) {
                    if constexpr (NARROW)
                        value = from_code<T>(load_shared_byte(shared + BYTES + data + nth));
                    else
                        value = literal(data + nth);
                } else
                    value += (number_of<T>)((int64_t)delta * nth);
                items[item] = (T)value;
            }
        }
    }

    /* The literal that begins where the terminator before number `rank` ends. */
    __device__ __forceinline__ number_of<T> literal(uint32_t rank)
    {
        const uint32_t begin = load_shared_byte(shared + ENDS + rank - 1);
        return from_code<T>(load_varint<T>(shared + BYTES + begin, &wrong));
    }

    /* The window's first `count` literals; they were checked against the block's items when their group began. */
    __device__ __forceinline__ void emit_literals(uint32_t count, bool narrow)
    {
        T *items = out + done;
        if (narrow)
            for (uint32_t item = lane; item < count; item += 32)
                items[item] = (T)from_code<T>(load_shared_byte(shared + BYTES + item));
        else {
            store_shared_byte(shared + ENDS - 1, 0);
            __syncwarp();
            for (uint32_t item = lane; item < count; item += 32)
                items[item] = (T)literal(item);
        }
        done += count;
    }
};

/* The codec's. */
template <class VALUE> struct decode_orc_rle1 : decode_blocks, orc_rle1_stream<VALUE> {
};

#endif
