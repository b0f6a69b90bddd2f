/*
 * gpu_vbyte_cuda.h: decodes GPU-VByte: blocks of BLOCK 2-bit selectors and then the bytes of BLOCK values (Mallia et
 * al., CIKM 2019, section 3.2). The codecs with blocks of 128 and of 1024 values share it.
 *
 * The published kernel gives a thread one value and sums the lengths with a scan over the whole block. Here a tile has
 * 64 selector words, two for each lane. One scan over the lanes adds up the lengths of whole words (16 values); the
 * lengths before a value in its own word are two bit counts. So 1024 values need at most five shuffles for the scan,
 * and then two a value: its selector word, and the place where the values of that word begin.
 */
#ifndef TESSERA_OPERATORS_DECODE_LISTS_GPU_VBYTE_CUDA_H
#define TESSERA_OPERATORS_DECODE_LISTS_GPU_VBYTE_CUDA_H

#include "operators/decode/selectors_cuda.h"

#define SELECTOR_WORDS (TILE_ROWS / SELECTOR_ROWS)

template <class VALUE, uint32_t BLOCK> struct gpu_vbyte_tile : decode_base {
    static constexpr bool RANDOM_ACCESS = true;
    static constexpr uint32_t SCRATCH_BYTES = 512; /* 64 selector words, and the place of each one's values */
    static constexpr uint32_t WORDS = BLOCK / SELECTOR_ROWS;     /* of selectors of a block */
    static constexpr uint32_t SCANNED = WORDS < 32 ? WORDS : 32; /* lanes whose words are of one block */
    /* Items whose words are loaded before the first of them is used. Decoding to memory takes 32 registers with 4 and
     * 74 with 8 (sm_90), so that 64 instead of 24 warps of a multiprocessor wait for memory. */
    static constexpr uint32_t BATCH = 4;
    const uint32_t *data, *ends; /* ends[b]: the byte of data where block b of this tile begins */
    uint32_t lane;

    /* Selector words `lane` and 32 + lane of the tile, and the byte of data where the values of each begin. */
    struct selectors {
        uint32_t word[2], at[2];
    };

    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        data = words_at(chunk.data);
        ends = words_at(chunk.directory) + tile * (TILE_ROWS / BLOCK);
        lane = of_lane;
    }
    /* Both halves of the words are summed in one scan: the bytes of 32 words are less than 2^16. */
    __device__ __forceinline__ selectors find()
    {
        selectors found;
        uint32_t bytes = 0;
#pragma unroll
        for (uint32_t h = 0; h < 2; h++) {
            const uint32_t begin = load(ends + (32 * h + lane) / WORDS);
            found.word[h] = load(data + (begin / 4 + (32 * h + lane) % WORDS));
            found.at[h] = begin + 4 * WORDS;
            bytes |= selector_bytes<VALUE>(found.word[h], SELECTOR_ROWS) << (16 * h);
        }
        uint32_t sum = bytes;
#pragma unroll
        for (uint32_t distance = 1; distance < SCANNED; distance *= 2) {
            const uint32_t below = __shfl_up_sync(FULL_WARP, sum, distance);
            sum += lane % SCANNED >= distance ? below : 0;
        }
        found.at[0] += (sum - bytes) & 0xffff;
        found.at[1] += (sum - bytes) >> 16;
        if constexpr (WORDS > 32)
            found.at[1] += __shfl_sync(FULL_WARP, sum, 31) & 0xffff;
        return found;
    }
    /* Where the value begins whose selector is number `before` of a word. */
    static __device__ __forceinline__ uint32_t value_at(uint32_t word, uint32_t at, uint32_t before)
    {
        return at + selector_bytes<VALUE>(word & ((1u << (2 * before)) - 1), before);
    }
    /* The mask of the 1 .. 4 bytes of selector number `before`. The word is rotated so that eight times the selector is
     * at bits 3 and 4; inverted, they are the bits that the mask does not have. */
    static __device__ __forceinline__ uint32_t length_mask(uint32_t word, uint32_t before)
    {
        return 0xffffffffu >> (~__funnelshift_r(word, word, 2 * before - 3) & 24);
    }
    __device__ __forceinline__ VALUE value(uint32_t at, uint32_t selector)
    {
        if constexpr (is_wide<VALUE>)
            return (VALUE)unpack_wide(data + at / 4, 1, at % 4 * 8, 8u << selector);
        else
            return (VALUE)unpack(data + at / 4, at % 4 * 8, 8 * selector + 8);
    }
    __device__ __forceinline__ void preload()
    {
    }
    template <bool PRELOADED, class F> __device__ __forceinline__ void items(uint32_t *, F f)
    {
        const selectors found = find();
        const uint32_t before = lane % SELECTOR_ROWS, second = lane / SELECTOR_ROWS;
        if constexpr (is_wide<VALUE>) {
            for (uint32_t j = 0; j < 32; j++) { /* words 2j and 2j + 1 are those of item j */
                const uint32_t from = 2 * j % 32 + second, h = j / 16;
                const uint32_t word = __shfl_sync(FULL_WARP, h ? found.word[1] : found.word[0], from);
                const uint32_t at = __shfl_sync(FULL_WARP, h ? found.at[1] : found.at[0], from);
                f(j, value(value_at(word, at, before), word >> (2 * before) & 3));
            }
            return;
        }
#pragma unroll
        for (uint32_t first = 0; first < 32; first += BATCH) {
            uint32_t at[BATCH], word[BATCH], low[BATCH], high[BATCH];
#pragma unroll
            for (uint32_t i = 0; i < BATCH; i++) {
                const uint32_t h = (first + i) / 16, from = 2 * (first + i) % 32 + second;
                word[i] = __shfl_sync(FULL_WARP, found.word[h], from);
                at[i] = value_at(word[i], __shfl_sync(FULL_WARP, found.at[h], from), before);
                low[i] = load(data + at[i] / 4);
                high[i] = load(data + at[i] / 4 + 1);
            }
#pragma unroll
            for (uint32_t i = 0; i < BATCH; i++)
                f(first + i,
                  (VALUE)(__funnelshift_r(low[i], high[i], 8 * at[i]) & length_mask(word[i], before)));
        }
    }
    __device__ __forceinline__ void stage(uint32_t *scratch)
    {
        const selectors found = find();
#pragma unroll
        for (uint32_t h = 0; h < 2; h++) {
            scratch[32 * h + lane] = found.word[h];
            scratch[SELECTOR_WORDS + 32 * h + lane] = found.at[h];
        }
        __syncwarp();
    }
    __device__ __forceinline__ VALUE item(const uint32_t *scratch, uint32_t row)
    {
        const uint32_t word = scratch[row / SELECTOR_ROWS], before = row % SELECTOR_ROWS;
        const uint32_t at = value_at(word, scratch[SELECTOR_WORDS + row / SELECTOR_ROWS], before);
        return value(at, word >> (2 * before) & 3);
    }
};

#endif
