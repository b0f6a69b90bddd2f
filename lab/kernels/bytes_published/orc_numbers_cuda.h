/*
 * orc_numbers_cuda.h: the numbers of ORC's run-length encodings, taken from an input_stream: in base 128, and
 * zigzag-coded where items are signed. storage/codec/bytes/orc_rle_parts.h is the host's twin.
 */
#ifndef TESSERA_LAB_KERNELS_BYTES_PUBLISHED_ORC_NUMBERS_CUDA_H
#define TESSERA_LAB_KERNELS_BYTES_PUBLISHED_ORC_NUMBERS_CUDA_H

#include "lab/kernels/bytes_published/streams_cuda.h"

#define ORC_REPEAT_LEAST 3u  /* items of a run, in both versions */
#define ORC_VARINT_BITS  70u /* ten digits of 7 bits; those beyond 64 are dropped */

template <class T> constexpr bool is_signed_item = (T)-1 < (T)0;

TILE_INLINE uint64_t from_zigzag(uint64_t code)
{
    return code >> 1 ^ (0 - (code & 1));
}

/* The item that a code means. */
template <class T> TILE_INLINE number_of<T> item_of_code(uint64_t code)
{
    return (number_of<T>)(is_signed_item<T> ? from_zigzag(code) : code);
}

/* A number in base 128, the low digit first; all bytes but the last one have bit 7. More than ten bytes are refused. */
template <class NUMBER, class IN> TILE_INLINE NUMBER fetch_varint(IN &in)
{
    uint32_t byte = in.fetch_bits(8);
    NUMBER number = byte & 127;
    for (uint32_t shift = 7; byte >= 128; shift += 7) {
        if (shift == ORC_VARINT_BITS) {
            in.fail();
            break;
        }
        byte = in.fetch_bits(8);
        if constexpr (sizeof(NUMBER) == 8)
            number |= (uint64_t)(byte & 127) << shift;
        else
            number |= shift_left_or_zero(byte & 127, shift);
    }
    return number;
}

/* An item in base 128. Unsigned items of up to 4 bytes need no more than 32 bits of it, signed ones of 4 bytes 33. */
template <class T> constexpr bool needs_long_varint = sizeof(T) == 8 || (sizeof(T) == 4 && is_signed_item<T>);

template <class T, class IN> TILE_INLINE number_of<T> fetch_number(IN &in)
{
    if constexpr (needs_long_varint<T>)
        return item_of_code<T>(fetch_varint<uint64_t>(in));
    else if constexpr (is_signed_item<T>) {
        const uint32_t code = fetch_varint<uint32_t>(in);
        return code >> 1 ^ (0 - (code & 1));
    } else
        return fetch_varint<uint32_t>(in);
}

#endif
