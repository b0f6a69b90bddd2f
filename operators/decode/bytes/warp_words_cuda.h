/*
 * warp_words_cuda.h: shared memory by its address, and operations on a word or a warp's words.
 *
 * Addresses of shared memory are 32-bit numbers: with pointers, the compiler computes the beginning of shared
 * memory again and again (unpack_cuda.h).
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_WARP_WORDS_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_WARP_WORDS_CUDA_H

#include "operators/decode/unpack_cuda.h"

TILE_INLINE uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

TILE_INLINE uint32_t load_shared_byte(uint32_t address)
{
    uint32_t byte;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(address) : "memory");
    return byte;
}

/* Unlike load_shared(), it may follow a store to the same address. */
TILE_INLINE uint32_t load_shared_word(uint32_t address)
{
    uint32_t word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

TILE_INLINE uint32_t load_shared_half(uint32_t address)
{
    uint32_t half;
    asm volatile("{\n"
                 ".reg .u16 loaded;\n"
                 "ld.shared.u16 loaded, [%1];\n"
                 "cvt.u32.u16 %0, loaded;\n"
                 "}"
                 : "=r"(half)
                 : "r"(address)
                 : "memory");
    return half;
}

TILE_INLINE uint2 load_shared_pair(uint32_t address)
{
    uint2 pair;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(pair.x), "=r"(pair.y) : "r"(address) : "memory");
    return pair;
}

TILE_INLINE void store_shared_byte(uint32_t address, uint32_t byte)
{
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(byte) : "memory");
}

TILE_INLINE void store_shared_half(uint32_t address, uint32_t half)
{
    asm volatile("{\n"
                 ".reg .u16 stored;\n"
                 "cvt.u16.u32 stored, %1;\n"
                 "st.shared.u16 [%0], stored;\n"
                 "}" ::"r"(address),
                 "r"(half)
                 : "memory");
}

TILE_INLINE void store_shared_word(uint32_t address, uint32_t word)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}

TILE_INLINE void store_shared_pair(uint32_t address, uint2 pair)
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(pair.x), "r"(pair.y) : "memory");
}

TILE_INLINE void store_shared_four(uint32_t address, uint4 words)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(words.x), "r"(words.y),
                 "r"(words.z), "r"(words.w)
                 : "memory");
}

/* 0 if `by` is more than 31. */
TILE_INLINE uint32_t shift_left_or_zero(uint32_t word, uint32_t by)
{
    uint32_t shifted;
    asm("shl.b32 %0, %1, %2;" : "=r"(shifted) : "r"(word), "r"(by));
    return shifted;
}

/* min(a + b, most) of both halves of the words. */
TILE_INLINE uint32_t add_halves_up_to(uint32_t a, uint32_t b, uint32_t most)
{
    return __viaddmin_u16x2(a, b, most);
}

TILE_INLINE uint32_t or_warp(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(FULL_WARP, value);
#else
#pragma unroll
    for (uint32_t distance = 16; distance > 0; distance /= 2)
        value |= __shfl_xor_sync(FULL_WARP, value, distance);
    return value;
#endif
}

/* scan_warp() with two instructions a step: the shuffle says whether there is a lane to add. */
TILE_INLINE uint32_t sum_lanes_up_to(uint32_t value)
{
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2)
        asm volatile("{\n"
                     ".reg .u32 below;\n"
                     ".reg .pred exists;\n"
                     "shfl.sync.up.b32 below|exists, %0, %1, 0, 0xffffffff;\n"
                     "@exists add.u32 %0, %0, below;\n"
                     "}"
                     : "+r"(value)
                     : "r"(distance));
    return value;
}

/* The compiler knows that what these return is the same for all lanes, and that a loop that they end is not left
 * by some of them earlier; it does not know this of a shuffle from one lane. */
TILE_INLINE uint32_t max_warp(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL_WARP, value);
#else
#pragma unroll
    for (uint32_t distance = 16; distance > 0; distance /= 2)
        value = max(value, __shfl_xor_sync(FULL_WARP, value, distance));
    return value;
#endif
}

TILE_INLINE uint32_t min_warp(uint32_t value)
{
    return ~max_warp(~value);
}

#endif
