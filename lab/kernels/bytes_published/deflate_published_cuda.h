/*
 * deflate_published_cuda.h: raw Deflate streams (RFC 1951), decoded as CODAG does: symbol after symbol, by all lanes alike.
 *
 * Shared memory of a warp, beside the window of input:
 *
 *     at      bytes
 *        0     4096   look-up table of literals and lengths, by the next 10 bits
 *     4096     1024   look-up table of distances, by the next 8 bits; before, of the code of code lengths
 *     5120      256   two alphabets: for each code length, the first code and its place among the symbols; their number
 *     5376      320   code lengths of the block's symbols
 *     5696      640   the symbols of each alphabet in the order of their codes, 2 bytes each
 *
 * An entry of a look-up table says all that a symbol means: the bits that it and its extra bits take (together at most
 * 28, so that one look at the input has them), and the literal, or the base of the length or distance. An entry of 0 is a
 * longer code, or none: then the lengths beyond the table's are tried one by one.
 *
 * What zlib's inflate() refuses is refused: over-subscribed codes, incomplete ones but for a single code of one bit, no
 * code for the end of the block, more than 286 lengths or 30 distances, and distances before the block's first byte.
 * Bytes after the last block are not looked at.
 */
#ifndef TESSERA_LAB_KERNELS_BYTES_PUBLISHED_DEFLATE_PUBLISHED_CUDA_H
#define TESSERA_LAB_KERNELS_BYTES_PUBLISHED_DEFLATE_PUBLISHED_CUDA_H

#include "lab/kernels/bytes_published/streams_cuda.h"

#define DEFLATE_LENGTH_BITS    10u
#define DEFLATE_DISTANCE_BITS  8u
#define DEFLATE_CODE_BITS      15u /* the longest code */
#define DEFLATE_END            256u
#define DEFLATE_LENGTHS        286u /* of literals, the end and lengths, in a dynamic block */
#define DEFLATE_DISTANCES      30u
#define DEFLATE_FIXED_LENGTHS  288u
#define DEFLATE_FIXED_DISTANCE 32u
#define DEFLATE_TABLES         6400u

/* An entry: literals have the sign bit and the byte in bits 16 .. 23. Others have a base in bits 16 .. 30, the bits of the
 * code, after which come the extra bits, in bits 8 .. 11, and may say that the block ends or that the symbol is none.
 * Bits 0 .. 4: the bits of code and extra bits. */
#define ENTRY_LITERAL 0x80000000u
#define ENTRY_END     0x1000u
#define ENTRY_REFUSED 0x2000u
#define ENTRY_TAKEN   31u

/* One of a block's codes. */
enum deflate_alphabet { ALPHABET_LENGTH, ALPHABET_DISTANCE, ALPHABET_CODE_LENGTH };

template <deflate_alphabet ALPHABET> TILE_INLINE uint32_t deflate_entry(uint32_t symbol, uint32_t length)
{
    uint32_t base = symbol, extra = 0, flags = 0;
    if constexpr (ALPHABET == ALPHABET_LENGTH) {
        if (symbol < DEFLATE_END)
            return ENTRY_LITERAL | symbol << 16 | length;
        const uint32_t i = symbol - DEFLATE_END - 1; /* of the end: more than all */
        extra = i < 8 || i >= 28 ? 0 : i / 4 - 1;
        base = i < 8 ? 3 + i : i == 28 ? 258 : 3 + ((4 + i % 4) << extra);
        flags = symbol == DEFLATE_END ? ENTRY_END : i > 28 ? ENTRY_REFUSED : 0;
    } else if constexpr (ALPHABET == ALPHABET_DISTANCE) {
        extra = symbol < 4 ? 0 : symbol / 2 - 1;
        base = symbol < 4 ? 1 + symbol : 1 + ((2 + symbol % 2) << extra);
        flags = symbol < DEFLATE_DISTANCES ? 0 : ENTRY_REFUSED;
    }
    return (flags ? flags : base << 16) | length << 8 | (flags ? length : length + extra);
}

/* The places of an alphabet's parts in shared memory. Code lengths use the distances'. */
template <deflate_alphabet ALPHABET> struct deflate_code {
    static constexpr bool IS_LENGTH = ALPHABET == ALPHABET_LENGTH;
    static constexpr uint32_t BITS = IS_LENGTH ? DEFLATE_LENGTH_BITS : DEFLATE_DISTANCE_BITS,
                              TABLE = IS_LENGTH ? 0 : 4096, PLACES = IS_LENGTH ? 5120 : 5248,
                              COUNTS = PLACES + 64, SYMBOLS = IS_LENGTH ? 5696 : 5696 + 2 * 288;
};
#define DEFLATE_CODE_LENGTHS 5376u

struct deflate_tables {
    uint8_t *bytes;
    uint32_t shared, lane;

    __device__ __forceinline__ uint16_t *symbols(uint32_t place) const
    {
        return reinterpret_cast<uint16_t *>(bytes + place);
    }

    /* The code of `count` symbols whose lengths begin at `lengths`; false if there is none. All lanes call it together. */
    template <deflate_alphabet ALPHABET>
    __device__ __forceinline__ bool build(uint32_t lengths, uint32_t count)
    {
        typedef deflate_code<ALPHABET> code;
        const uint32_t counts = shared + code::COUNTS, places = shared + code::PLACES;
        __syncwarp();
        if (lane < 16)
            store_shared_word(counts + lane * 4, 0);
#pragma unroll 1
        for (uint32_t i = lane; i < 1u << code::BITS; i += 32)
            store_shared_word(shared + code::TABLE + i * 4, 0);
        each_symbol(lengths, count, counts, [](uint32_t, uint32_t, uint32_t) {});
        if (!place_codes<ALPHABET == ALPHABET_CODE_LENGTH>(counts, places))
            return false;
        each_symbol(lengths, count, counts, [&](uint32_t symbol, uint32_t length, uint32_t rank) {
            const uint32_t place = load_shared_word(places + length * 4);
            symbols(code::SYMBOLS)[(place >> 16) + rank] = (uint16_t)symbol;
            if (length > code::BITS)
                return;
            const uint32_t reversed = __brev((place & 0xffff) + rank) >> (32 - length);
            const uint32_t entry = deflate_entry<ALPHABET>(symbol, length);
#pragma unroll 1
            for (uint32_t i = reversed; i < 1u << code::BITS; i += 1u << length)
                store_shared_word(shared + code::TABLE + i * 4, entry);
        });
        return true;
    }

    /* The entry of the code that `bits` begin with. */
    template <deflate_alphabet ALPHABET> __device__ __forceinline__ uint32_t find(uint32_t bits) const
    {
        typedef deflate_code<ALPHABET> code;
        const uint32_t entry = load_shared_word(shared + code::TABLE + (bits & ((1u << code::BITS) - 1)) * 4);
        return entry ? entry : find_long<ALPHABET>(bits);
    }

  private:
    /* Calls f(symbol, length, rank) for each symbol that has a code; rank: the symbols of this length before it. Adds
     * them to the counts. */
    template <class F>
    __device__ __forceinline__ void each_symbol(uint32_t lengths, uint32_t count, uint32_t counts, F f)
    {
        __syncwarp();
#pragma unroll 1
        for (uint32_t begin = 0; begin < count; begin += 32) {
            const uint32_t symbol = begin + lane;
            const uint32_t length = symbol < count ? load_shared_byte(lengths + symbol) : 0;
            const uint32_t same = __match_any_sync(FULL_WARP, length), below = same & ((1u << lane) - 1);
            const uint32_t before = load_shared_word(counts + length * 4);
            __syncwarp();
            if (length && below == 0)
                store_shared_word(counts + length * 4, before + __popc(same));
            if (length)
                f(symbol, length, before + __popc(below));
            __syncwarp();
        }
    }

    /* The first code of each length and the place of its symbol; sets the counts to 0 again. */
    template <bool COMPLETE> __device__ __forceinline__ bool place_codes(uint32_t counts, uint32_t places)
    {
        uint32_t first = 0, place = 0;
        int32_t left = 1; /* codes of this length that are no other's beginning */
#pragma unroll 1
        for (uint32_t length = 1; length <= DEFLATE_CODE_BITS; length++) {
            const uint32_t count = load_shared_word(counts + length * 4);
            first <<= 1;
            if (lane == 0)
                store_shared_word(places + length * 4, first | place << 16);
            first += count;
            place += count;
            left = 2 * left - (int32_t)count;
        }
        const bool one_bit = place == load_shared_word(counts + 4);
        __syncwarp();
        if (lane < 16)
            store_shared_word(counts + lane * 4, 0);
        return left == 0 || (left > 0 && !COMPLETE && one_bit);
    }

    template <deflate_alphabet ALPHABET> __device__ __forceinline__ uint32_t find_long(uint32_t bits) const
    {
        typedef deflate_code<ALPHABET> code;
        const uint32_t reversed = __brev(bits);
#pragma unroll 1
        for (uint32_t length = code::BITS + 1; length <= DEFLATE_CODE_BITS; length++) {
            const uint32_t place = load_shared_word(shared + code::PLACES + length * 4);
            const uint32_t rank = (reversed >> (32 - length)) - (place & 0xffff);
            if (rank < load_shared_word(shared + code::COUNTS + length * 4))
                return deflate_entry<ALPHABET>(symbols(code::SYMBOLS)[(place >> 16) + rank], length);
        }
        return ENTRY_REFUSED;
    }
};

/* Deflate gives bytes: T is uint8_t or int8_t. */
template <class T, class POLICY = published_shared>
struct deflate_published
    : published_decoder<deflate_published<T, POLICY>, T, POLICY, LOW_BIT_FIRST, DEFLATE_TABLES> {

    template <class IN, class OUT>
    static __device__ __forceinline__ bool read(IN &in, OUT &out, void *at_tables)
    {
        deflate_tables tables = {static_cast<uint8_t *>(at_tables), shared_address(at_tables), in.lane};
        uint32_t is_last;
        do {
            is_last = in.decode([&] { return in.fetch_bits(1); });
            const uint32_t kind = in.decode([&] { return in.fetch_bits(2); });
            if (kind == 3)
                return false;
            if (!(kind == 0 ? read_stored(in, out)
                            : read_codes(in, tables, kind == 2) && read_symbols(in, out, tables)))
                return false;
        } while (!is_last);
        return !in.decode([&] { return (uint32_t)in.failed(); }) && out.room() == 0 && !out.failed();
    }

  private:
    template <class IN, class OUT> static __device__ __forceinline__ bool read_stored(IN &in, OUT &out)
    {
        in.align_to_byte();
        const uint32_t length = in.decode([&] { return in.fetch_bits(16); });
        const uint32_t check = in.decode([&] { return in.fetch_bits(16); });
        if (length != (check ^ 0xffff) || length > out.room())
            return false;
#pragma unroll 1
        for (uint32_t i = 0; i < length; i++)
            out.write_byte(in.decode([&] { return in.fetch_bits(8); }));
        return true;
    }

    /* ---- The head of a block ---- */

    template <class IN>
    static __device__ __forceinline__ bool read_codes(IN &in, deflate_tables &tables, bool is_dynamic)
    {
        const uint32_t lengths = tables.shared + DEFLATE_CODE_LENGTHS;
        uint32_t length_count = DEFLATE_FIXED_LENGTHS, distance_count = DEFLATE_FIXED_DISTANCE;
        __syncwarp();
        if (is_dynamic) {
            if (!read_lengths(in, tables, length_count, distance_count))
                return false;
        } else {
#pragma unroll 1
            for (uint32_t i = tables.lane; i < DEFLATE_FIXED_LENGTHS + DEFLATE_FIXED_DISTANCE; i += 32)
                store_shared_byte(lengths + i, i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5);
        }
        return tables.build<ALPHABET_LENGTH>(lengths, length_count) &&
               tables.build<ALPHABET_DISTANCE>(lengths + length_count, distance_count);
    }

    /* The code lengths of a dynamic block; they have a code themselves. */
    template <class IN>
    static __device__ __forceinline__ bool read_lengths(IN &in, deflate_tables &tables,
                                                        uint32_t &length_count, uint32_t &distance_count)
    {
        const uint32_t lengths = tables.shared + DEFLATE_CODE_LENGTHS, lane = tables.lane;
        const uint32_t head = in.decode([&] { return in.fetch_bits(14); });
        length_count = (head & 31) + 257;
        distance_count = (head >> 5 & 31) + 1;
        if (length_count > DEFLATE_LENGTHS || distance_count > DEFLATE_DISTANCES ||
            !read_length_code(in, tables, (head >> 10) + 4))
            return false;
        const uint32_t count = length_count + distance_count;
        uint32_t last = 0;
#pragma unroll 1
        for (uint32_t i = 0; i < count;) {
            const repeated_length next = in.decode([&] { return read_length(in, tables); });
            if (next.times == 0 || next.times > count - i || (next.is_last && i == 0))
                return false;
            last = next.is_last ? last : next.length;
#pragma unroll 1
            for (uint32_t j = lane; j < next.times; j += 32)
                store_shared_byte(lengths + i + j, last);
            i += next.times;
        }
        __syncwarp();
        return load_shared_byte(lengths + DEFLATE_END) != 0;
    }

    template <class IN>
    static __device__ __forceinline__ bool read_length_code(IN &in, deflate_tables &tables, uint32_t count)
    {
        const uint32_t lengths = tables.shared + DEFLATE_CODE_LENGTHS;
        if (tables.lane < 19)
            store_shared_byte(lengths + tables.lane, 0);
#pragma unroll 1
        for (uint32_t i = 0; i < count; i++) {
            /* 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1 15 */
            const uint32_t symbol = i < 3 ? 16 + i : i == 3 ? 0 : i % 2 ? 9 - i / 2 : 6 + i / 2;
            const uint32_t length = in.decode([&] { return in.fetch_bits(3); });
            __syncwarp();
            if (tables.lane == 0)
                store_shared_byte(lengths + symbol, length);
        }
        return tables.build<ALPHABET_CODE_LENGTH>(lengths, 19);
    }

    /* `times` times `length`, or the length before it. No times: no code. */
    struct repeated_length {
        uint32_t length, times, is_last;
    };
    template <class IN>
    static __device__ __forceinline__ repeated_length read_length(IN &in, const deflate_tables &tables)
    {
        const uint32_t entry = tables.find<ALPHABET_CODE_LENGTH>(in.peek_bits(32)), symbol = entry >> 16;
        in.skip_bits(entry & ENTRY_TAKEN);
        if (entry & ENTRY_REFUSED)
            return {0, 0, 0};
        if (symbol < 16)
            return {symbol, 1, 0};
        if (symbol == 16)
            return {0, 3 + in.fetch_bits(2), 1};
        return {0, symbol == 17 ? 3 + in.fetch_bits(3) : 11 + in.fetch_bits(7), 0};
    }

    /* ---- Symbols ---- */

    /* A literal has length 0, and its byte as `value`; a copy its distance. */
    struct symbol {
        uint32_t length, value;
    };
    static constexpr uint32_t LENGTH_END = 1, LENGTH_REFUSED = 2; /* copies have 3 .. 258 */

    /* The base and the extra bits, which follow the code in `bits`. */
    static __device__ __forceinline__ uint32_t value_of(uint32_t entry, uint32_t bits)
    {
        const uint32_t taken = bits & ~(~0u << (entry & ENTRY_TAKEN));
        return (entry >> 16) + (taken >> (entry >> 8 & 15));
    }

    template <class IN>
    static __device__ __forceinline__ symbol read_symbol(IN &in, const deflate_tables &tables)
    {
        uint32_t bits = in.peek_bits(32), entry = tables.find<ALPHABET_LENGTH>(bits);
        in.skip_bits(entry & ENTRY_TAKEN);
        if (entry & ENTRY_LITERAL)
            return {0, entry >> 16 & 255};
        if (entry & (ENTRY_END | ENTRY_REFUSED))
            return {entry & ENTRY_END ? LENGTH_END : LENGTH_REFUSED, 0};
        const uint32_t length = value_of(entry, bits);
        bits = in.peek_bits(32);
        entry = tables.find<ALPHABET_DISTANCE>(bits);
        in.skip_bits(entry & ENTRY_TAKEN);
        if (entry & ENTRY_REFUSED)
            return {LENGTH_REFUSED, 0};
        return {length, value_of(entry, bits)};
    }

    template <class IN, class OUT>
    static __device__ __forceinline__ bool read_symbols(IN &in, OUT &out, const deflate_tables &tables)
    {
        __syncwarp(); /* the tables are complete */
        while (!out.failed()) {
            const symbol next = in.decode([&] { return read_symbol(in, tables); });
            if (next.length == 0)
                out.write_byte(next.value);
            else if (next.length > LENGTH_REFUSED)
                out.memcpy(next.value, next.length);
            else
                return next.length == LENGTH_END;
        }
        return false;
    }
};

#endif
