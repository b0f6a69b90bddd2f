/*
 * deflate_input_cuda.h: the bits of a Deflate stream: a window of them in shared memory, and a reader for headers.
 *
 * Bits are counted from the first bit of the word that holds the stream's first byte. A window is WINDOW_WORDS words
 * that the lanes load together; words after the stream's last byte are 0. Who decodes past the end reads zeros (or the
 * last word's other bytes) and is refused when its position is compared with `end`.
 */
#ifndef TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_INPUT_CUDA_H
#define TESSERA_OPERATORS_DECODE_BYTES_DEFLATE_INPUT_CUDA_H

#include "operators/decode/bytes/byte_block_cuda.h"

/* A window is cut into 32 segments, one a lane. A segment is an odd number of words, so that lanes which walk their
 * segments at the same speed read different banks. Longer segments hide wrong starts better (a path needs some symbols
 * to fall into step), shorter ones leave more memory for the list of matches. */
#define DEFLATE_SEGMENT_WORDS 7u
#define DEFLATE_SEGMENT_BITS  (32 * DEFLATE_SEGMENT_WORDS)
/* A symbol has at most 15 + 5 + 15 + 13 = 48 bits, and is read as three words. */
#define DEFLATE_WINDOW_WORDS (32 * DEFLATE_SEGMENT_WORDS + 4)

struct deflate_input {
    const uint32_t *words;
    uint32_t word_count; /* words that hold bytes of the stream */
    uint32_t end;        /* the bit after the stream's last one */
};

TILE_INLINE deflate_input deflate_input_of(const byte_block &block)
{
    const uint32_t before = (uint32_t)(reinterpret_cast<uint64_t>(block.in) & 3),
                   bytes = before + min(block.in_bytes, 1u << 28); /* positions of bits have 32 bits */
    deflate_input input;
    input.words = reinterpret_cast<const uint32_t *>(block.in - before);
    input.word_count = (bytes + 3) / 4;
    input.end = 8 * bytes;
    return input;
}

/* Fills the window with the words from `first` on. */
TILE_INLINE void deflate_stage(const deflate_input &input, uint32_t first, uint32_t lane, uint32_t *window)
{
    __syncwarp();
#pragma unroll
    for (uint32_t i = lane; i < DEFLATE_WINDOW_WORDS; i += 32)
        window[i] = first + i < input.word_count ? load(input.words + first + i) : 0;
    __syncwarp();
}

/* Reads fields of a few bits; all lanes alike. */
struct deflate_header_reader {
    const deflate_input &input;
    uint32_t *window;
    uint32_t lane, first, bit;

    __device__ __forceinline__ deflate_header_reader(const deflate_input &of_input, uint32_t *of_window,
                                                     uint32_t of_lane, uint32_t at)
        : input(of_input), window(of_window), lane(of_lane), first(at / 32), bit(at)
    {
        deflate_stage(input, first, lane, window);
    }
    /* The next 32 bits. */
    __device__ __forceinline__ uint32_t peek()
    {
        if (bit / 32 - first + 2 > DEFLATE_WINDOW_WORDS) {
            first = bit / 32;
            deflate_stage(input, first, lane, window);
        }
        const uint32_t *word = window + (bit / 32 - first);
        return __funnelshift_r(word[0], word[1], bit);
    }
    /* width 0..31 */
    __device__ __forceinline__ uint32_t take(uint32_t width)
    {
        const uint32_t value = peek() & ((1u << width) - 1);
        bit += width;
        return value;
    }
};

#endif
