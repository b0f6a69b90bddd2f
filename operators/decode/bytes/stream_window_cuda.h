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

/* Items of T are made from a number of this type. Zigzag needs one bit more than T has. */
template <class T> constexpr bool is_zigzag = (T)-1 < (T)0;
template <bool WIDE> struct stream_number {
    typedef uint32_t type;
};
template <> struct stream_number<true> {
    typedef uint64_t type;
};
template <class T> using number_of = typename stream_number<(sizeof(T) + is_zigzag<T> > 4)>::type;

/* The varint at a byte of shared memory, of which 12 bytes may be read. Sets *wrong if it has more than 10 bytes. */
template <class T> TILE_INLINE number_of<T> load_varint(uint32_t address, uint32_t *wrong)
{
    const uint32_t first = load_shared_unaligned(address), first_ends = ~first & 0x80808080u;
    number_of<T> value = varint_bits(first, first_ends);
    if (first_ends == 0) {
        const uint32_t second = load_shared_unaligned(address + 4), second_ends = ~second & 0x80808080u;
        if constexpr (sizeof(T) >= 4)
            value |= (number_of<T>)varint_bits(second, second_ends) << 28;
        if (second_ends == 0) {
            const uint32_t third = load_shared_unaligned(address + 8);
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

#endif
