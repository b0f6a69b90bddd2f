/*
 * streams_cuda.h: CODAG's framework: a stream of bits in and a stream of items out, both of them a warp's ("CODAG:
 * Characterizing and Optimizing Decompression Algorithms for GPUs", section IV). A decoder on it is a serial loop that all
 * lanes of a warp run alike; the streams hide that the warp reads and writes together. docs/adding-a-byte-codec.md writes
 * a decoder.
 *
 *     input_stream     peek_bits(n), skip_bits(n), fetch_bits(n), n = 1 .. 32; fetch_long(n), n = 1 .. 64
 *     output_stream    write_byte(b), write_item(v), write_run(init, length, delta), memcpy(offset, length)
 *
 * A decoder D<T, POLICY> defines
 *
 *     item, policy              T and POLICY, by which others find them
 *     ORDER                     which bit of a byte comes first
 *     TABLE_BYTES               shared memory for its own tables, a multiple of 128
 *     read(in, out, tables)     the loop: true if the stream was right. Its streams are templates
 *
 * and has decode() and SCRATCH_BYTES (byte_block_cuda.h) from published_decoder. It asks the input only inside of
 * in.decode(function), which gives all lanes what the function returns. As published, all lanes run the function.
 *
 * Ablations are policies; what else the laboratory needs for them is in lab/kernels/byte_streams_cuda.h:
 *
 *     published_shared       the paper's: all lanes decode, the window of input is in shared memory
 *     published_registers    all lanes decode, the window is in two registers of each lane
 *     published_one_lane     lane 0 decodes and sends the others what it found; the window is in shared memory
 *
 * Loops that rarely run twice are not unrolled, here and in the decoders: they are inlined into a loop over symbols, which
 * should stay in the instruction cache.
 */
#ifndef TESSERA_LAB_KERNELS_BYTES_PUBLISHED_STREAMS_CUDA_H
#define TESSERA_LAB_KERNELS_BYTES_PUBLISHED_STREAMS_CUDA_H

#include "operators/decode/bytes/byte_block_cuda.h"
#include "operators/decode/bytes/warp_words_cuda.h"

#define LINE_WORDS 32u

/* ---- Windows of input ---- */

/* The lines of 128 bytes that hold a stream, as words: each lane loads one of a line. After the last line come zeros. */
struct stream_lines {
    const uint32_t *words;
    uint32_t count, lane;

    __device__ __forceinline__ void open(const byte_block &block, uint32_t of_lane)
    {
        const uint64_t address = reinterpret_cast<uint64_t>(block.in);
        words = words_at(address & ~127ull);
        count = block.in_bytes ? (uint32_t)(((address & 127) + block.in_bytes + 127) / 128) : 0;
        lane = of_lane;
    }
    __device__ __forceinline__ uint32_t fetch(uint32_t line) const
    {
        return line < count ? load(words + (uint64_t)line * LINE_WORDS + lane) : 0;
    }
};

/* Windows define BYTES of shared memory, open(), ahead(i), which makes sure that 128 bytes from word i on are there, and
 * word(i). Words are asked for once each, in their order. */

/* Two lines in shared memory (algorithm 1 of the paper). ON_DEMAND: word() fetches the line after the one that it enters,
 * which all lanes must do together. Otherwise ahead() does, so that a lane may then take words alone. */
template <bool ON_DEMAND> struct shared_window {
    static constexpr uint32_t BYTES = 2 * 128;
    stream_lines lines;
    uint32_t shared, fetched;

    __device__ __forceinline__ void open(const byte_block &block, uint32_t lane, uint32_t at_shared)
    {
        lines.open(block, lane);
        shared = at_shared;
        fetch(0);
        fetch(1);
    }
    __device__ __forceinline__ void fetch(uint32_t line)
    {
        __syncwarp();
        store_shared_word(shared + (line % 2 * LINE_WORDS + lines.lane) * 4, lines.fetch(line));
        __syncwarp();
        fetched = line + 1;
    }
    __device__ __forceinline__ void ahead(uint32_t i)
    {
        while (fetched < i / LINE_WORDS + 2)
            fetch(fetched);
    }
    __device__ __forceinline__ uint32_t word(uint32_t i)
    {
        if (ON_DEMAND && i % LINE_WORDS == 0)
            fetch(i / LINE_WORDS + 1);
        return load_shared_word(shared + i % (2 * LINE_WORDS) * 4);
    }
};

/* Two lines in two registers of each lane; the lane that has a word sends it to all. */
struct register_window {
    static constexpr uint32_t BYTES = 0;
    stream_lines lines;
    uint32_t even, odd;

    __device__ __forceinline__ void open(const byte_block &block, uint32_t lane, uint32_t)
    {
        lines.open(block, lane);
        even = lines.fetch(0);
        odd = lines.fetch(1);
    }
    __device__ __forceinline__ void ahead(uint32_t)
    {
    }
    __device__ __forceinline__ uint32_t word(uint32_t i)
    {
        const uint32_t line = i / LINE_WORDS;
        if (i % LINE_WORDS == 0) {
            const uint32_t next = lines.fetch(line + 1);
            (line % 2 ? even : odd) = next;
        }
        return __shfl_sync(FULL_WARP, line % 2 ? odd : even, i % LINE_WORDS);
    }
};

/* ---- The input ---- */

/* LOW_BIT_FIRST: as in Deflate. HIGH_BIT_FIRST: as in ORC, so that bytes in a row are a number with its high byte first. */
enum bit_order { LOW_BIT_FIRST, HIGH_BIT_FIRST };

/* Lane 0's value, word by word. */
template <class VALUE> TILE_INLINE VALUE broadcast(const VALUE &value)
{
    static_assert(sizeof(VALUE) % 4 == 0, "whole words");
    union {
        VALUE value;
        uint32_t words[sizeof(VALUE) / 4];
    } sent;
    sent.value = value;
#pragma unroll
    for (uint32_t i = 0; i < sizeof(VALUE) / 4; i++)
        sent.words[i] = __shfl_sync(FULL_WARP, sent.words[i], 0);
    return sent.value;
}

/* Bits of a byte stream. Two neighbouring words of it are in registers, so that any 32 bits are one funnel shift away.
 * Bits after the stream's end are what the rest of its last line has, then zeros; failed() then says so from there on. */
template <bit_order BITS, class WINDOW, bool ONE_LANE> struct input_stream {
    static constexpr uint32_t BYTES = WINDOW::BYTES;
    WINDOW window;
    uint32_t first, second; /* the next bit is bit `bit` of `first`, counted in the stream's order */
    uint32_t bit, next;     /* next: the word after `second` */
    uint32_t before;        /* bytes of the first line before the stream */
    uint32_t bytes, lane;
    uint32_t wrong;

    __device__ __forceinline__ void open(const byte_block &block, uint32_t of_lane, uint32_t shared)
    {
        window.open(block, of_lane, shared);
        lane = of_lane;
        bytes = block.in_bytes;
        before = (uint32_t) reinterpret_cast<uint64_t>(block.in) & 127;
        wrong = 0;
        next = before / 4;
        bit = before % 4 * 8;
        first = load_next();
        second = load_next();
    }

    /* Runs `function`, which may take up to 128 bytes, and returns what it returns. */
    template <class FUNCTION>
    __device__ __forceinline__ auto decode(FUNCTION function) -> decltype(function())
    {
        if constexpr (ONE_LANE) {
            window.ahead(__shfl_sync(FULL_WARP, next, 0));
            decltype(function()) found = {};
            if (lane == 0)
                found = function();
            __syncwarp();
            return broadcast(found);
        } else {
            return function();
        }
    }

    /* The next n bits, n = 1 .. 32: the low bits of the result. */
    __device__ __forceinline__ uint32_t peek_bits(uint32_t n) const
    {
        if constexpr (BITS == HIGH_BIT_FIRST)
            return __funnelshift_l(second, first, bit) >> (32 - n);
        else
            return __funnelshift_r(first, second, bit) & ~shift_left_or_zero(~0u, n);
    }
    /* n = 0 .. 32. */
    __device__ __forceinline__ void skip_bits(uint32_t n)
    {
        bit += n;
        if (bit >= 32) {
            bit -= 32;
            first = second;
            second = load_next();
        }
    }
    __device__ __forceinline__ uint32_t fetch_bits(uint32_t n)
    {
        const uint32_t bits = peek_bits(n);
        skip_bits(n);
        return bits;
    }
    /* n = 1 .. 64. */
    __device__ __forceinline__ uint64_t fetch_long(uint32_t n)
    {
        if (n <= 32)
            return fetch_bits(n);
        const uint32_t bits = fetch_bits(BITS == HIGH_BIT_FIRST ? n - 32 : 32);
        if constexpr (BITS == HIGH_BIT_FIRST)
            return (uint64_t)bits << 32 | fetch_bits(32);
        else
            return bits | (uint64_t)fetch_bits(n - 32) << 32;
    }
    /* To the next byte's first bit, if not at one. */
    __device__ __forceinline__ void align_to_byte()
    {
        skip_bits(-bit & 7);
    }

    __device__ __forceinline__ void fail()
    {
        wrong = 1;
    }
    __device__ __forceinline__ uint64_t bits_taken() const
    {
        return (uint64_t)(next - 2) * 32 + bit - before * 8;
    }
    __device__ __forceinline__ bool failed() const
    {
        return wrong || bits_taken() > (uint64_t)bytes * 8;
    }
    /* Whether all bytes were taken. */
    __device__ __forceinline__ bool at_end() const
    {
        return bits_taken() == (uint64_t)bytes * 8;
    }

  private:
    __device__ __forceinline__ uint32_t load_next()
    {
        const uint32_t word = window.word(next++);
        return BITS == HIGH_BIT_FIRST ? __byte_perm(word, 0, 0x0123) : word;
    }
};

/* ---- The output ---- */

/* Items are computed in 32 or in 64 bits. */
template <uint32_t BYTES> struct number_type {
    typedef uint32_t type;
};
template <> struct number_type<8> {
    typedef uint64_t type;
};
template <class T> using number_of = typename number_type<sizeof(T)>::type;

/* The threads that write together: a warp. */
struct warp_writers {
    static constexpr uint32_t COUNT = 32;
    uint32_t rank;

    __device__ __forceinline__ void sync() const
    {
        __syncwarp();
    }
};

/* Items of T in a row. All writers call its functions alike. What does not fit is not written, but remembered: failed(). */
template <class T, class WRITERS = warp_writers> struct output_stream {
    typedef number_of<T> number;
    T *out;
    uint32_t at, items; /* at <= items */
    uint32_t wrong;
    WRITERS writers;

    __device__ __forceinline__ void open(const byte_block &block, const WRITERS &of_writers)
    {
        out = reinterpret_cast<T *>(block.out);
        at = 0;
        items = block.out_bytes / sizeof(T);
        wrong = block.out_bytes % sizeof(T) != 0;
        writers = of_writers;
    }
    __device__ __forceinline__ uint32_t place() const
    {
        return at;
    }
    __device__ __forceinline__ uint32_t room() const
    {
        return items - at;
    }
    __device__ __forceinline__ bool failed() const
    {
        return wrong;
    }
    __device__ __forceinline__ void fail()
    {
        wrong = 1;
    }

    /* One item, by one thread. */
    __device__ __forceinline__ void write_item(number value)
    {
        if (at == items) {
            wrong = 1;
            return;
        }
        if (writers.rank == 0)
            out[at] = (T)value;
        at++;
    }
    __device__ __forceinline__ void write_byte(uint32_t byte)
    {
        static_assert(sizeof(T) == 1, "a stream of bytes");
        write_item(byte);
    }

    /* init, init + delta, init + 2 delta ...: each thread computes its items. */
    __device__ __forceinline__ void write_run(number init, uint32_t length, number delta)
    {
        if (length > room()) {
            wrong = 1;
            return;
        }
        T *const run = out + at;
        number value = init + writers.rank * delta;
#pragma unroll 1
        for (uint32_t i = writers.rank; i < length; i += WRITERS::COUNT, value += WRITERS::COUNT * delta)
            run[i] = (T)value;
        at += length;
    }

    /* Adds to an item that write_item() has written. */
    __device__ __forceinline__ void add_to_item(uint32_t place, number value)
    {
        if (place >= at)
            wrong = 1;
        else if (writers.rank == 0)
            out[place] = (T)((number)out[place] + value);
    }

    /* The `length` bytes from `offset` bytes before the end, once more (algorithm 2 of the paper). After up to 3 single
     * bytes, each thread writes an aligned word, which it puts together from the two words that hold its source. Where
     * the copy is longer than the offset, sources lie in a circular window of `offset` bytes, so that no thread reads
     * what this copy writes. Bytes after the copy that belong to its last word get any value. */
    __device__ __forceinline__ void memcpy(uint32_t offset, uint32_t length)
    {
        static_assert(sizeof(T) == 1, "a stream of bytes");
        if (offset - 1 >= at || length > room()) {
            wrong = 1;
            return;
        }
        writers.sync(); /* what was written before can be read */
        const uint32_t ahead =
            (uint32_t) reinterpret_cast<uint64_t>(out) & 3; /* of `out`, in its first word */
        uint32_t *const words = reinterpret_cast<uint32_t *>(out - ahead);
        const uint32_t to = ahead + at, from = to - offset, last = (ahead + items - 1) / 4;
        const bool circular = offset < length;
        auto load_unaligned = [&](uint32_t byte) {
            return __funnelshift_r(words[byte / 4], words[min((byte + 3) / 4, last)], byte * 8);
        };
        const uint32_t head = min(-to & 3, length);
        if (writers.rank < head)
            out[at + writers.rank] =
                out[at - offset + (circular ? circular_place(writers.rank, offset) : writers.rank)];
#pragma unroll 1
        for (uint32_t i = head + 4 * writers.rank; i < length; i += 4 * WRITERS::COUNT) {
            const uint32_t place = circular ? circular_place(i, offset) : i;
            uint32_t word = load_unaligned(from + place);
            if (circular && offset - place < 4) {
                const uint32_t again = load_unaligned(from);
#pragma unroll 1
                for (uint32_t have = offset - place; have < 4; have += offset)
                    word = (word & low_bits(8 * have)) | again << 8 * have;
            }
            store_word(words, to + i, word);
        }
        at += length;
        writers.sync(); /* what is written next comes after the last word's other bytes */
    }

  private:
    /* i modulo `window`. The quotient's error is less than 0.5 / window for i < 2^20, which blocks bound. */
    static __device__ __forceinline__ uint32_t circular_place(uint32_t i, uint32_t window)
    {
        return i - window * (uint32_t)__fdividef((float)i + 0.5f, (float)window);
    }
    /* At a multiple of 4; at the stream's end only the bytes that it has. */
    __device__ __forceinline__ void store_word(uint32_t *words, uint32_t to, uint32_t word)
    {
        const uint32_t end = ((uint32_t) reinterpret_cast<uint64_t>(out) & 3) + items;
        if (to + 4 <= end) {
            words[to / 4] = word;
        } else {
            uint8_t *const bytes = reinterpret_cast<uint8_t *>(words);
#pragma unroll 1
            for (; to < end; to++, word >>= 8)
                bytes[to] = (uint8_t)word;
        }
    }
};

/* ---- Decoders ---- */

struct published_shared {
    template <bit_order ORDER> using input = input_stream<ORDER, shared_window<true>, false>;
};
struct published_registers {
    template <bit_order ORDER> using input = input_stream<ORDER, register_window, false>;
};
struct published_one_lane {
    template <bit_order ORDER> using input = input_stream<ORDER, shared_window<false>, true>;
};

/* What a decoder on the streams must define for kernels; DECODER inherits it. Scratch is the window, then the tables. */
template <class DECODER, class T, class POLICY, bit_order BITS, uint32_t TABLES> struct published_decoder {
    typedef T item;
    typedef POLICY policy;
    typedef typename POLICY::template input<BITS> input;
    static constexpr bit_order ORDER = BITS;
    static constexpr uint32_t TABLE_BYTES = TABLES, SCRATCH_BYTES = input::BYTES + TABLES;

    static __device__ __forceinline__ bool decode(const byte_block &block, uint32_t lane, void *scratch)
    {
        input in;
        output_stream<T> out;
        in.open(block, lane, shared_address(scratch));
        out.open(block, warp_writers{lane});
        return DECODER::read(in, out, static_cast<uint8_t *>(scratch) + input::BYTES);
    }
};

#endif
