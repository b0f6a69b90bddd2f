/*
 * pfor_block_cuda.h: the compressed block of pfor and pfor-diff, for their decoders.
 * storage/codec/integer/pfor_block.h is the host's twin.
 */
#ifndef TESSERA_OPERATORS_DECODE_PFOR_BLOCK_CUDA_H
#define TESSERA_OPERATORS_DECODE_PFOR_BLOCK_CUDA_H

#include "operators/decode/patches_cuda.h"

template <class VALUE> struct pfor_block {
    const uint32_t *codes;
    uint32_t width, lane;
    unsigned_of<VALUE> reference, before;
    patches<VALUE> list;

    /* Reads the block's header. DIFFERENCES: it also has the value before row 0. */
    template <bool DIFFERENCES>
    __device__ __forceinline__ void seek(const bound_chunk &chunk, uint32_t tile, uint32_t of_lane)
    {
        constexpr uint32_t WORDS = value_words<VALUE>;
        const uint32_t *words = words_at(chunk.data) + load(words_at(chunk.directory) + tile);
        const uint32_t widths = load(words), exceptions = load(words + 1);
        reference = load_value<VALUE>(words + 2);
        before = DIFFERENCES ? load_value<VALUE>(words + 2 + 2 * WORDS) : 0;
        codes = words + 2 + (DIFFERENCES ? 3 : 2) * WORDS;
        width = widths & 255;
        lane = of_lane;
        list.count = exceptions & 0xffff;
        list.position_reference = exceptions >> 16;
        list.position_width = widths >> 8 & 255;
        list.high_width = widths >> 16 & 255;
        list.shift = width;
        list.high = load_value<VALUE>(words + 2 + WORDS);
        list.words = codes + TILE_ROWS / 32 * width;
        list.find_highs();
    }
    /* A row's value without the patch. */
    __device__ __forceinline__ unsigned_of<VALUE> unpatched(uint32_t row)
    {
        return reference + unpack_value<VALUE>(codes, row * width, width);
    }
    /* Decodes rows first .. first + PATCH_ROWS - 1 in scratch and patches them there, 32-bit values only.
     * place(row): the row's word. Parts are decoded in order. */
    template <class PLACE>
    __device__ __forceinline__ void decode(uint32_t *scratch, uint32_t first, PLACE place)
    {
        __syncwarp();
#pragma unroll
        for (uint32_t j = 0; j < PATCH_ITEMS; j++)
            scratch[place(32 * j + lane)] = unpatched(first + 32 * j + lane);
        __syncwarp();
        list.each_below(first + PATCH_ROWS, lane, [&](uint32_t index, uint32_t row) {
            scratch[place(row % PATCH_ROWS)] += list.value(index);
        });
        __syncwarp();
    }
    /* The same room has no 256 values of 64 bits: sets a row's word of scratch to the number of its exception
     * from 1; 0: it is none. */
    __device__ __forceinline__ void number(uint32_t *scratch, uint32_t first)
    {
        patch_scratch_clear(scratch, lane);
        list.each_below(first + PATCH_ROWS, lane,
                        [&](uint32_t index, uint32_t row) { scratch[row % PATCH_ROWS] = index + 1; });
        __syncwarp();
    }
    /* A row's value after number(). */
    __device__ __forceinline__ unsigned_of<VALUE> numbered(const uint32_t *scratch, uint32_t row)
    {
        const uint32_t exception = scratch[row % PATCH_ROWS];
        return unpatched(row) + (exception ? list.value(exception - 1) : 0);
    }
};

#endif
