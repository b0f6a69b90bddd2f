/*
 * published_cuda.h: GPU-FOR decoded as its paper says (Shanbhag et al., SIGMOD 2022, section 4.2): a thread block of 128
 * threads decodes D blocks of 128 values, a thread one value of each. The four kernels are the paper's steps:
 *
 *     for_base       each thread reads all it needs from global memory (algorithm 1)
 *     for_shared     the block's words are first copied to shared memory (optimisation 1)
 *     for_blocks     D blocks at a time (optimisation 2)
 *     for_offsets    ... and the offsets of the miniblocks are computed once (optimisation 3)
 *
 * Each writes the decoded values. docs/codecs.md draws the bytes.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_CUDA_H

#include "operators/decode/decode_cuda.h"

#define FOR_ROWS        128u /* of a block */
#define FOR_BLOCK_WORDS (2u + 128u)
#define FOR_MINIBLOCKS  4u

/* A chunk of GPU-FOR and the place of its first value in the output. `blocks`: of 128 values, whole tiles. */
struct for_chunk {
    const uint32_t *starts, *data;
    int32_t *out;
    uint32_t first, blocks;
};

TILE_INLINE for_chunk for_chunk_at(const bound_chunk *chunks, int32_t *out, uint32_t chunk_blocks,
                                   uint32_t all_blocks, uint32_t block)
{
    const uint32_t c = block / chunk_blocks;
    return {words_at(chunks[c].directory), words_at(chunks[c].data),
            out + (uint64_t)c * chunk_blocks * FOR_ROWS, block % chunk_blocks,
            min(chunk_blocks, all_blocks - c * chunk_blocks)};
}

/* One value of a block whose words are at `words`, in global or in shared memory. */
TILE_INLINE int32_t for_value(const uint32_t *words, uint32_t thread)
{
    const uint32_t reference = words[0], widths = words[1], miniblock = thread / 32;
    uint32_t offset = 2, rest = widths;
    for (uint32_t m = 0; m < miniblock; m++, rest >>= 8)
        offset += max(rest & 255, 1u);
    const uint32_t width = rest & 255, bit = thread % 32 * width;
    const uint32_t *word = words + offset + bit / 32;
    return (int32_t)(reference + (__funnelshift_r(word[0], word[1], bit) & low_bits(width)));
}

TILE_INLINE void for_base(const for_chunk &chunk)
{
    const uint32_t *words = chunk.data + chunk.starts[chunk.first];
    chunk.out[chunk.first * FOR_ROWS + threadIdx.x] = for_value(words, threadIdx.x);
}

/* Copies the words of `count` blocks to shared memory, in which the word after the last one is readable. */
template <uint32_t D> TILE_INLINE void for_copy(const for_chunk &chunk, uint32_t count, uint32_t *words)
{
    const uint32_t begin = chunk.starts[chunk.first], end = chunk.starts[chunk.first + count];
    for (uint32_t w = threadIdx.x; w < end - begin; w += FOR_ROWS)
        words[w] = chunk.data[begin + w];
    __syncthreads();
}

TILE_INLINE void for_shared(const for_chunk &chunk)
{
    __shared__ uint32_t words[FOR_BLOCK_WORDS + 1];
    for_copy<1>(chunk, 1, words);
    chunk.out[chunk.first * FOR_ROWS + threadIdx.x] = for_value(words, threadIdx.x);
}

template <uint32_t D> TILE_INLINE void for_blocks(const for_chunk &chunk)
{
    extern __shared__ uint32_t words[]; /* D * FOR_BLOCK_WORDS + 1 */
    __shared__ uint32_t starts[D];
    const uint32_t count = min(D, chunk.blocks - chunk.first);
    if (threadIdx.x < count)
        starts[threadIdx.x] = chunk.starts[chunk.first + threadIdx.x] - chunk.starts[chunk.first];
    for_copy<D>(chunk, count, words);
    int32_t values[D];
#pragma unroll
    for (uint32_t d = 0; d < D; d++)
        if (d < count)
            values[d] = for_value(words + starts[d], threadIdx.x);
#pragma unroll
    for (uint32_t d = 0; d < D; d++)
        if (d < count)
            chunk.out[(chunk.first + d) * FOR_ROWS + threadIdx.x] = values[d];
}

template <uint32_t D> TILE_INLINE void for_offsets(const for_chunk &chunk)
{
    extern __shared__ uint32_t words[];
    __shared__ uint32_t offsets[D * FOR_MINIBLOCKS], widths[D * FOR_MINIBLOCKS], references[D];
    const uint32_t count = min(D, chunk.blocks - chunk.first);
    for_copy<D>(chunk, count, words);
    if (threadIdx.x < count * FOR_MINIBLOCKS) {
        const uint32_t d = threadIdx.x / FOR_MINIBLOCKS, m = threadIdx.x % FOR_MINIBLOCKS;
        const uint32_t start = chunk.starts[chunk.first + d] - chunk.starts[chunk.first];
        uint32_t offset = start + 2, rest = words[start + 1];
        for (uint32_t before = 0; before < m; before++, rest >>= 8)
            offset += max(rest & 255, 1u);
        offsets[threadIdx.x] = offset;
        widths[threadIdx.x] = rest & 255;
        if (m == 0)
            references[d] = words[start];
    }
    __syncthreads();
    int32_t values[D];
#pragma unroll
    for (uint32_t d = 0; d < D; d++)
        if (d < count) {
            const uint32_t at = d * FOR_MINIBLOCKS + threadIdx.x / 32, width = widths[at];
            const uint32_t bit = threadIdx.x % 32 * width;
            const uint32_t *word = words + offsets[at] + bit / 32;
            values[d] = (int32_t)(references[d] + (__funnelshift_r(word[0], word[1], bit) & low_bits(width)));
        }
#pragma unroll
    for (uint32_t d = 0; d < D; d++)
        if (d < count)
            chunk.out[(chunk.first + d) * FOR_ROWS + threadIdx.x] = values[d];
}

#endif
