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
 *
 * Three kinds of windows are cheaper. Where all varints have one byte (text, small numbers), `next` is arithmetic and
 * step 1 is left out; whether it was so is known, and checked, at the end. Long literals at a window's beginning need
 * no `next`. And long symbols are written one after the other, without a mask.
 *
 * Instructions: 150 a window (one-byte varints), 250 (others), 2 a symbol, 90 for each 32 symbols, 24 to 45 for each
 * 32 items. The scratch must lie in the first 64 KiB of shared memory (stream_window_cuda.h); else every block is
 * refused.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE1_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_ORC_RLE1_CUDA_H

#include "operators/decode/bytes/stream_window_cuda.h"
#include "operators/decode/decode_cuda.h"

/* A window's bytes are 0..253, and things in it end at 1..254; 255 says that a symbol does not end in it. */
#define RLE1_WINDOW 254u
#define RLE1_OPEN   255u
#define RLE1_LONG   12u /* items of a symbol that is worth a loop of its own */

template <class T> struct orc_rle1_stream {
    /* The ring; the window's bytes and some that varints' words may reach into; for each byte, the terminators
     * before it; `next`, with an entry for carried literals at 256; `ends`, after a byte for ends[-1]. */
    static constexpr uint32_t BYTES = RING_BYTES, RANKS = BYTES + 288, NEXT = RANKS + 256, CARRIED = 256,
                              ENDS = NEXT + CHAIN_BYTES + 16, SCRATCH_BYTES = 2176;
    static_assert(ENDS + ENDS_BYTES <= SCRATCH_BYTES, "the tables fit");

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
    uint32_t plain;       /* 1 if all varints of the last window had one byte */
    uint32_t wrong;
    T *out;

    /* A symbol, each lane its own. */
    struct symbol {
        uint32_t items, offset; /* the second: of its first item, counted from the batch's first */
        uint32_t data;          /* place of its first varint in the window */
        uint32_t delta;
        bool is_literal;
    };

    __device__ __forceinline__ bool run(const byte_block &block, uint32_t of_lane, uint32_t at_shared)
    {
        shared = at_shared;
        lane = of_lane;
        place = ring.begin(block, lane, shared);
        end = place + block.in_bytes;
        done = carried = wrong = 0;
        plain = 1;
        total = block.out_bytes / sizeof(T);
        out = reinterpret_cast<T *>(block.out);
        bool right = end >= place && block.out_bytes % sizeof(T) == 0 && shared + SCRATCH_BYTES <= 65536;
        while (right && done < total)
            right = window();
        right = right && place == end && carried == 0;
        return __all_sync(FULL_WARP, right && !wrong);
    }

    __device__ __forceinline__ bool window()
    {
        ring.seek(place);
        limit = min(RLE1_WINDOW, end - place);
        const window_bytes bytes = load_window(ring, place);
        __syncwarp();
        store_shared_pair(shared + BYTES + lane * 8, make_uint2(bytes.low, bytes.high));
        if (plain && limit == RLE1_WINDOW) {
            if (plain_window(bytes))
                return true;
            __syncwarp();
            store_shared_pair(shared + BYTES + lane * 8, make_uint2(bytes.low, bytes.high));
        }
        return any_window(bytes);
    }

    /* ---- Windows with varints of any length ---- */

    __device__ __forceinline__ bool any_window(const window_bytes &bytes)
    {
        const window_ends mine = number_ends(bytes, limit, shared + ENDS, lane, &found);
        store_shared_pair(shared + RANKS + lane * 8, ranks_of(mine));
        __syncwarp();
        uint32_t at = 0, taken = min(carried, found);
        if (taken)
            at = emit_literals(0, 0, taken);
        carried -= taken;
        plain = at == taken;
        if (carried) {
            place += at;
            return taken > 0;
        }

        /* Long literals first; no table is needed to find them. */
        uint32_t rank = taken, control = load_shared_byte(shared + BYTES + at);
        while (at < limit && 256 - control - RLE1_LONG <= 128 - RLE1_LONG) {
            const uint32_t count = 256 - control;
            if (count > total - done)
                return false;
            taken = min(count, found - rank);
            const uint32_t stop = taken ? emit_literals(rank, at + 1, taken) : at + 1;
            plain = stop - at - 1 == taken ? plain : 0;
            at = stop;
            rank += taken;
            carried = count - taken;
            if (carried) {
                place += at;
                return true;
            }
            control = load_shared_byte(shared + BYTES + at);
        }

        any_chain(mine);
        uint32_t moved = RLE1_OPEN;
        do {
            if (!batch(&at, &moved))
                return false;
        } while (moved == RLE1_OPEN);
        place += moved;
        return moved > 0;
    }

    /* Step 2. */
    __device__ __forceinline__ void any_chain(const window_ends &mine)
    {
        const uint32_t first_end = shared + ENDS + mine.rank;
        const uint32_t low = mine.low_before +
                             last_terminator(mine.low, mine.low_ends,
                                             __funnelshift_r(mine.low_ends, mine.high_ends, 8)),
                       high = mine.high_before +
                              last_terminator(mine.high, mine.high_ends,
                                              __funnelshift_r(mine.high_ends, mine.after_ends, 8));
        uint32_t next[8];
#pragma unroll
        for (uint32_t i = 0; i < 8; i++)
            next[i] = load_shared_byte(__dp4a(i < 4 ? low : high, 1u << i % 4 * 8, first_end));
        store_chain(shared + NEXT, lane, four_bytes(next), four_bytes(next + 4));
        __syncwarp();
    }

    /* In each byte: which terminator from there on ends a symbol that begins there. Of n literals it is number
     * n - 1; of a run, 1 after the control byte, which is one, and 1 more if the byte `after` it is one too. */
    static __device__ __forceinline__ uint32_t last_terminator(uint32_t bytes, uint32_t ends, uint32_t after)
    {
        const uint32_t runs = ends * 0xffu;
        return (runs & (after + 0x01010101u)) | (~runs & ~bytes & 0x7f7f7f7fu);
    }

    /* Step 3, for a batch of up to 32 symbols from the window's byte `at` on, of which the first is carried literals
     * if there are any: says where each lane's begins and where the next one would. */
    __device__ __forceinline__ void find_symbols(bool has_carried, uint32_t at, uint32_t *begin,
                                                 uint32_t *next)
    {
        const uint32_t chain = shared + NEXT;
        uint32_t entry = chain + 2 * at;
        if (has_carried) {
            store_shared_half(chain + 2 * CARRIED, entry);
            entry = chain + 2 * CARRIED;
            __syncwarp();
        }
        entry = follow_chain(entry, chain + 2 * RLE1_OPEN, lane);
        *begin = (entry - chain) / 2;
        *next = (load_shared_half(entry) - chain) / 2;
    }

    /* Steps 3 and 4 for a batch. Then either *at is the next symbol, or the window holds no more and *moved is what
     * was decoded of it. */
    __device__ __forceinline__ bool batch(uint32_t *at, uint32_t *moved)
    {
        uint32_t begin, next;
        find_symbols(false, *at, &begin, &next);
        const uint32_t control = load_shared_byte(shared + BYTES + begin),
                       rank = load_shared_byte(shared + RANKS + begin);
        const bool exists = begin < limit, whole = next != RLE1_OPEN;
        symbol mine = {0, 0, begin + 1, 0, exists && control >= 128};
        uint32_t left = 0, stop = begin;
        number_of<T> base = 0;
        if (exists && control < 128 && whole) {
            mine.items = control + 3;
            mine.delta = load_shared_byte(shared + BYTES + begin + 1);
            mine.data = begin + 2;
            base = from_code<T>(varint_at(mine.data));
        } else if (mine.is_literal) {
            const uint32_t count = 256 - control;
            mine.items = whole ? count : found - rank;
            left = count - mine.items;
            stop = whole ? next : mine.items ? load_shared_byte(shared + ENDS + found - 1) : mine.data;
        }
        uint32_t sum;
        if (!place_items(&mine, begin != RLE1_OPEN && !whole, stop | left << 16, moved, &sum))
            return false;
        *at = max_warp(next);

        const bool longer =
            mine.is_literal ? stop - mine.data != mine.items : mine.items && next - mine.data > 1;
        const uint32_t wide = __ballot_sync(FULL_WARP, longer && mine.is_literal);
        plain = __ballot_sync(FULL_WARP, longer) ? 0 : plain;
        if (wide && mine.is_literal)
            store_shared_byte(shared + ENDS + rank - 1, mine.data);
        const uint32_t count = max_warp(mine.items ? lane + 1 : 0);
        if (sum > RLE1_LONG * count)
            emit_each(mine, base, wide ? rank : mine.data, count, !wide);
        else if (wide)
            emit<false>(mine, base, rank, sum);
        else
            emit<true>(mine, base, mine.data, sum);
        done += sum;
        return true;
    }

    /* The beginning of step 4: sets the symbols' offsets and the sum of their items, and, if a lane's symbol is the
     * window's `last`, *moved and `carried` from the two halves of that lane's `stop`. */
    __device__ __forceinline__ bool place_items(symbol *mine, bool last, uint32_t stop, uint32_t *moved,
                                                uint32_t *sum)
    {
        const uint32_t through = sum_lanes_up_to(mine->items);
        mine->offset = through - mine->items;
        *sum = max_warp(through);
        const uint32_t halves = or_warp(last ? stop | 0x8000 : 0);
        if (halves) {
            *moved = halves & 0x7fff;
            carried = halves >> 16;
        }
        return *sum + carried <= total - done;
    }

    /* Writes the items of the batch's symbols, `sum` in all. Literals begin at `first` + 0, 1, ... if they are
     * NARROW, which is that each has one byte; else at the ends of the terminators before those from `first` on. */
    template <bool NARROW>
    __device__ __forceinline__ void emit(const symbol &mine, number_of<T> base, uint32_t first, uint32_t sum)
    {
        const uint32_t record =
            mine.offset | (uint32_t)mine.is_literal << 13 | first << 16 | mine.delta << 24;
        const uint32_t lanes_up_to = 0xffffffffu >> (31 - lane);
        uint32_t before = (uint32_t)-1, shift = mine.offset;
        T *items = out + done;
        __syncwarp();
        for (uint32_t from = 0; from < sum; from += 32, shift -= 32) {
            const uint32_t heads = or_warp(shift_left_or_zero(1, shift));
            const uint32_t which = before + __popc(heads & lanes_up_to);
            before += __popc(heads);
            const uint32_t of = __shfl_sync(FULL_WARP, record, which);
            number_of<T> value = __shfl_sync(FULL_WARP, base, which);
            const uint32_t item = from + lane, nth = item - (of & 0x1fff), literals = of >> 16 & 0xff;
            if (item < sum) {
                if (!(of & 0x2000))
                    value += (number_of<T>)((int64_t)((int32_t)of >> 24) * nth);
                else if constexpr (NARROW)
                    value = from_code<T>(load_shared_byte(shared + BYTES + literals + nth));
                else
                    value = literal(literals + nth);
                items[item] = (T)value;
            }
        }
    }

    /* The same for long symbols, one after the other. */
    __device__ __forceinline__ void emit_each(const symbol &mine, number_of<T> base, uint32_t first,
                                              uint32_t count, bool narrow)
    {
        const uint32_t record = mine.items | (uint32_t)mine.is_literal << 8 | first << 16 | mine.delta << 24;
        T *items = out + done + lane;
        __syncwarp();
#pragma unroll 1
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t of = __shfl_sync(FULL_WARP, record, k);
            const number_of<T> value = __shfl_sync(FULL_WARP, base, k);
            const int32_t length = of & 0xff;
            if (!(of & 0x100)) {
                const number_of<T> delta = (number_of<T>)(int64_t)((int32_t)of >> 24);
                write_run(items, length, value + delta * lane, delta, lane);
            } else {
                const uint32_t literals = (of >> 16 & 0xff) + lane;
#pragma unroll 1
                for (int32_t from = 0; from < length; from += 32)
                    if ((int32_t)lane < length - from)
                        items[from] =
                            (T)(narrow ? from_code<T>(load_shared_byte(shared + BYTES + literals + from))
                                       : literal(literals + from));
            }
            items += length;
        }
    }

    /* The varint at the window's byte `at`. */
    __device__ __forceinline__ number_of<T> varint_at(uint32_t at)
    {
        const uint32_t address = shared + BYTES + at;
        return read_varint<T>([&](uint32_t i) { return load_shared_unaligned(address + i); }, &wrong);
    }

    /* The literal that begins where the terminator before number `rank` ends. */
    __device__ __forceinline__ number_of<T> literal(uint32_t rank)
    {
        const uint32_t begin = load_shared_byte(shared + ENDS + rank - 1);
        return from_code<T>(varint_at(begin));
    }

    /* Writes `count` > 0 literals of the window, of which the first begins at `begin` and ends at terminator `rank`;
     * returns their end. */
    __device__ __forceinline__ uint32_t emit_literals(uint32_t rank, uint32_t begin, uint32_t count)
    {
        T *items = out + done + lane;
        __syncwarp();
        store_shared_byte(shared + ENDS + rank - 1, begin);
        __syncwarp();
#pragma unroll 1
        for (uint32_t from = 0; from < count; from += 32, items += 32)
            if (from + lane < count)
                *items = (T)literal(rank + from + lane);
        done += count;
        return max_warp(load_shared_byte(shared + ENDS + rank + count - 1));
    }

    /* ---- Windows whose varints have one byte each ----
     * `next` is arithmetic then: a run has three bytes and n literals have n + 1. That it was right is known at the
     * end: no byte has a continuation bit but the control bytes of literals and the negative bytes that runs add. */

    /* Returns false, having changed nothing but the output, if the window is not of this kind, or is not right. */
    __device__ __forceinline__ bool plain_window(const window_bytes &bytes)
    {
        const uint32_t done_before = done, carried_before = carried, place_before = place;
        if (plain_symbols(bytes))
            return true;
        done = done_before;
        carried = carried_before;
        place = place_before;
        plain = 0;
        return false;
    }

    __device__ __forceinline__ bool plain_symbols(const window_bytes &bytes)
    {
        uint32_t at = carried, head = carried, moved = RLE1_OPEN, expected = 0;
        plain_chain(bytes);
        __syncwarp();
        carried = 0;
        do {
            if (!plain_batch(head, &at, &moved, &expected))
                return false;
            head = 0;
        } while (moved == RLE1_OPEN);
        const uint2 after = drop_bytes(bytes.low, bytes.high, (int32_t)(moved - lane * 8));
        const uint32_t marks =
            ((bytes.low ^ after.x) & 0x80808080u) >> 7 | ((bytes.high ^ after.y) & 0x80808080u) >> 6;
        place += moved;
        return sum_warp(__popc(marks)) == expected;
    }

    __device__ __forceinline__ void plain_chain(const window_bytes &bytes)
    {
        const uint32_t chain = shared + NEXT, open = (chain + 2 * RLE1_OPEN) * 0x00010001u;
        const uint32_t low = plain_length(bytes.low), high = plain_length(bytes.high);
        const uint32_t first = (chain + lane * 16) * 0x00010001u + 0x00060004u;
        store_shared_four(
            chain + lane * 16,
            make_uint4(add_halves_up_to(__byte_perm(low, 0, 0x4140), first, open),
                       add_halves_up_to(__byte_perm(low, 0, 0x4342), first + 0x00040004u, open),
                       add_halves_up_to(__byte_perm(high, 0, 0x4140), first + 0x00080008u, open),
                       add_halves_up_to(__byte_perm(high, 0, 0x4342), first + 0x000c000cu, open)));
    }

    /* In each byte: twice the bytes of a symbol that begins there, less 4. */
    static __device__ __forceinline__ uint32_t plain_length(uint32_t bytes)
    {
        const uint32_t literals = (bytes >> 7 & 0x01010101u) * 0xffu;
        return (literals & (~bytes << 1 & 0xfefefefeu)) | (~literals & 0x02020202u);
    }

    /* As batch(). Adds to *expected the bytes that have a continuation bit. */
    __device__ __forceinline__ bool plain_batch(uint32_t head, uint32_t *at, uint32_t *moved,
                                                uint32_t *expected)
    {
        uint32_t begin, next;
        find_symbols(head > 0, *at, &begin, &next);
        const uint32_t control = load_shared_byte(shared + BYTES + begin),
                       added = load_shared_byte(shared + BYTES + begin + 1);
        const bool exists = begin < RLE1_WINDOW, whole = next != RLE1_OPEN;
        symbol mine = {0, 0, begin + 1, 0, exists && control >= 128};
        uint32_t stop = begin;
        const bool has_control = mine.is_literal, is_run = exists && control < 128 && whole;
        if (is_run) {
            mine.items = control + 3;
            mine.data = begin + 2;
            mine.delta = added;
        }
        if (has_control) {
            const uint32_t count = 256 - control;
            mine.items = whole ? count : RLE1_WINDOW - mine.data;
            stop = RLE1_WINDOW | (count - mine.items) << 16;
        }
        if (begin == CARRIED) {
            mine.is_literal = true;
            mine.items = head;
            mine.data = 0;
        }
        uint32_t sum;
        if (!place_items(&mine, begin != RLE1_OPEN && !whole, stop, moved, &sum))
            return false;
        *at = max_warp(next);
        *expected += __popc(__ballot_sync(FULL_WARP, has_control || (is_run && added >= 128)));
        plain_emit(mine, sum);
        done += sum;
        return true;
    }

    /* Writes the items of the batch's symbols. All values are bytes of the window: an item's is at an address that
     * goes up with the items of literals. */
    __device__ __forceinline__ void plain_emit(const symbol &mine, uint32_t sum)
    {
        const uint32_t source = shared + BYTES + mine.data;
        uint32_t before = (uint32_t)-1, shift = mine.offset;
        /* One-byte items are `value + delta * item`, modulo 256, with the run's value as of item 0 of the batch. */
        if (sizeof(T) == 1 && mine.delta) {
            const uint32_t value =
                (uint32_t)from_code<T>(load_shared_byte(source)) - mine.delta * mine.offset;
            store_shared_byte(source,
                              is_zigzag<T> ? value << 1 ^ (uint32_t)((int32_t)(value << 24) >> 31) : value);
        }
        const uint32_t record =
            mine.delta | (uint32_t)mine.is_literal << 8 | (source - (mine.is_literal ? mine.offset : 0)) << 9;
        const uint32_t lanes_up_to = 0xffffffffu >> (31 - lane), most = sum + lane;
        T *items = out + done + lane;
        __syncwarp();
#pragma unroll 2
        for (uint32_t item = lane; item < most; item += 32, shift -= 32, items += 32) {
            const uint32_t heads = or_warp(shift_left_or_zero(1, shift));
            const uint32_t which = before + __popc(heads & lanes_up_to);
            before += __popc(heads);
            const uint32_t of = __shfl_sync(FULL_WARP, record, which);
            uint32_t offset = 0;
            if constexpr (sizeof(T) > 1)
                offset = __shfl_sync(FULL_WARP, mine.offset, which);
            /* Lanes after the last item look at most 31 bytes after the last symbol's. */
            const uint32_t address = (of & 0x100 ? item : 0) + ((int32_t)of >> 9);
            number_of<T> value = from_code<T>(load_shared_byte(address));
            if constexpr (sizeof(T) == 1)
                value += of * item;
            else
                value += (number_of<T>)((int64_t)(int8_t)of * (item - offset));
            if (item < sum)
                *items = (T)value;
        }
    }
};

/* The codec's. */
template <class VALUE> struct decode_orc_rle1 : decode_blocks, orc_rle1_stream<VALUE> {
};

#endif
