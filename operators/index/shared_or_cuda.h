/*
 * shared_or_cuda.h: the inner steps of wah_inline_cuda.h in PTX, where C++ takes several times the instructions: the sum over
 * lanes, and a literal ORed into shared memory, of which the compiler makes a branch for each half, in which it computes
 * the beginning of shared memory again.
 */
#ifndef TESSERA_OPERATORS_INDEX_SHARED_OR_CUDA_H
#define TESSERA_OPERATORS_INDEX_SHARED_OR_CUDA_H

#include "operators/decode/unpack_cuda.h"

/* The lane, which the compiler keeps and does not compute again. */
TILE_INLINE uint32_t kept_lane(void)
{
    uint32_t lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

TILE_INLINE uint32_t shared_address_of(const uint32_t *words)
{
    return (uint32_t)__cvta_generic_to_shared(words);
}

/* The sum over the lanes up to this one. A shuffle tells whether there was a lane to take from, so that a step is two
 * instructions. */
TILE_INLINE uint32_t sum_up_to(uint32_t value)
{
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2)
        asm volatile("{\n"
                     ".reg .pred taken;\n"
                     ".reg .b32 before;\n"
                     "shfl.sync.up.b32 before|taken, %0, %1, 0, 0xffffffff;\n"
                     "@taken add.u32 %0, %0, before;\n"
                     "}"
                     : "+r"(value)
                     : "r"(distance));
    return value;
}

/* If the high half does not begin with a 1, ORs the halves that are not 0 at `address` and DISTANCE bytes further. */
template <uint32_t DISTANCE> TILE_INLINE void or_literal(uint32_t address, uint32_t low, uint32_t high)
{
    asm volatile("{\n"
                 ".reg .pred literal, wanted;\n"
                 "setp.ge.s32 literal, %2, 0;\n"
                 "setp.ne.and.b32 wanted, %1, 0, literal;\n"
                 "@wanted red.shared.or.b32 [%0], %1;\n"
                 "setp.ne.and.b32 wanted, %2, 0, literal;\n"
                 "@wanted red.shared.or.b32 [%0 + %3], %2;\n"
                 "}"
                 :
                 : "r"(address), "r"(low), "r"(high), "n"(DISTANCE)
                 : "memory");
}

/* The same for a group of one half. */
TILE_INLINE void or_literal(uint32_t address, uint32_t half)
{
    asm volatile("{\n"
                 ".reg .pred literal, wanted;\n"
                 "setp.ge.s32 literal, %1, 0;\n"
                 "setp.ne.and.b32 wanted, %1, 0, literal;\n"
                 "@wanted red.shared.or.b32 [%0], %1;\n"
                 "}"
                 :
                 : "r"(address), "r"(half)
                 : "memory");
}

#endif
