/*
 * wah_words_cuda.h: the two formats of wah_inline_cuda.h: WAH in words of 64 and of 32 bits.
 *
 * A word is a low and a high half of 32 bits each; one of 32 bits is a high half alone, and its low half is 0. So the
 * high half says what a word is: a literal is less than HIGH_FILL, a fill of ones at least HIGH_ONES. In shared memory,
 * the high halves of a piece's 1024 groups follow its low halves, if it has these.
 */
#ifndef TESSERA_OPERATORS_INDEX_WAH_WORDS_CUDA_H
#define TESSERA_OPERATORS_INDEX_WAH_WORDS_CUDA_H

#include "operators/index/index_arguments.h"
#include "operators/index/shared_or_cuda.h"
#include "storage/index/wah_format.h"

#define HIGH_FILL 0x80000000u
#define HIGH_ONES 0xc0000000u
#define HIGH_FULL 0x7fffffffu

/* Four words of a lane, and how words of this format are taken apart. */
struct wah64_words {
    static constexpr uint32_t BYTES = 8, HALVES = 2, GROUP_ROWS = WAH_GROUP_ROWS, TILES = INDEX_TILES_WAH64;
    ulonglong2 first, second;

    __device__ __forceinline__ void clear()
    {
        first = second = make_ulonglong2(0, 0);
    }
    __device__ __forceinline__ void load(const unsigned char *at)
    {
        first = __ldg(reinterpret_cast<const ulonglong2 *>(at));
        second = __ldg(reinterpret_cast<const ulonglong2 *>(at) + 1);
    }
    __device__ __forceinline__ void split(uint32_t (&low)[4], uint32_t (&high)[4]) const
    {
        const uint64_t words[4] = {first.x, first.y, second.x, second.y};
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            low[j] = (uint32_t)words[j];
            high[j] = (uint32_t)(words[j] >> 32);
        }
    }
    static __device__ __forceinline__ void load_one(uint64_t words, uint32_t word, uint32_t &low,
                                                    uint32_t &high)
    {
        const uint2 one = __ldg(reinterpret_cast<const uint2 *>(words) + word);
        low = one.x;
        high = one.y;
    }
    static __device__ __forceinline__ uint32_t length(uint32_t low, uint32_t high)
    {
        return high >= HIGH_FILL ? low : 1;
    }
    /* ORs a word that is a literal. */
    template <uint32_t GROUPS>
    static __device__ __forceinline__ void put(uint32_t address, uint32_t low, uint32_t high)
    {
        or_literal<4 * GROUPS>(address, low, high);
    }
    /* 32 rows from bit `shift` of a group on; `next` is the place of the group after it, of which no bit is taken after the
     * piece's last group. */
    static __device__ __forceinline__ uint32_t rows(const uint32_t *piece, uint32_t place, uint32_t next,
                                                    uint32_t shift)
    {
        const uint32_t low = piece[place], high = piece[place + WAH_PIECE_GROUPS];
        if (shift < 32)
            return __funnelshift_r(low, high,
                                   shift); /* with shift 31, bit 31 is bit 62, the group's last one */
        return high >> (shift - 32) | piece[next] << (GROUP_ROWS - shift);
    }
};

struct wah32_words {
    static constexpr uint32_t BYTES = 4, HALVES = 1, GROUP_ROWS = WAH32_GROUP_ROWS, TILES = INDEX_TILES_WAH32;
    uint4 four;

    __device__ __forceinline__ void clear()
    {
        four = make_uint4(0, 0, 0, 0);
    }
    __device__ __forceinline__ void load(const unsigned char *at)
    {
        four = __ldg(reinterpret_cast<const uint4 *>(at));
    }
    __device__ __forceinline__ void split(uint32_t (&low)[4], uint32_t (&high)[4]) const
    {
        low[0] = low[1] = low[2] = low[3] = 0;
        high[0] = four.x;
        high[1] = four.y;
        high[2] = four.z;
        high[3] = four.w;
    }
    static __device__ __forceinline__ void load_one(uint64_t words, uint32_t word, uint32_t &low,
                                                    uint32_t &high)
    {
        low = 0;
        high = __ldg(reinterpret_cast<const uint32_t *>(words) + word);
    }
    static __device__ __forceinline__ uint32_t length(uint32_t, uint32_t high)
    {
        return high >= HIGH_FILL ? high & WAH32_LENGTH : 1;
    }
    template <uint32_t GROUPS>
    static __device__ __forceinline__ void put(uint32_t address, uint32_t, uint32_t high)
    {
        or_literal(address, high);
    }
    static __device__ __forceinline__ uint32_t rows(const uint32_t *piece, uint32_t place, uint32_t next,
                                                    uint32_t shift)
    {
        return piece[place] >> shift | piece[next] << (GROUP_ROWS - shift);
    }
};

#endif
