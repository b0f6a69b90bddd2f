/*
 * for_cuda.h: GPU-FOR decoded as its paper says (Shanbhag et al., SIGMOD 2022, section 4.2): a thread block of 128 threads decodes D
 * blocks of 128 values, a thread one value of each. The first four methods are the paper's steps; the others are what it tried besides
 * (section 4.3), on the bytes of other codecs that have just that difference:
 *
 *     for_base               each thread reads all it needs from global memory (algorithm 1)
 *     for_shared             the block's words are first copied to shared memory (optimisation 1)
 *     for_blocks<D>          D blocks at a time (optimisation 2)
 *     for_offsets<D>         ... and the offsets of the miniblocks are computed once (optimisation 3)
 *     for_single<D, HEAD>    no miniblocks: a width a block. HEAD is the words of a block before its packed values: 2 in gpu-for-block,
 *                            or 0 in gpu-bp128, whose values have zero as their reference
 *     for_uniform<D, HEAD>   ... and all blocks have the chunk's first width, so that no block's place is read
 *
 * docs/codecs.md draws the bytes, block_cuda.h says what a method is.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_FOR_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_FOR_CUDA_H

#include "lab/kernels/published/block_cuda.h"

#define FOR_ROWS        128u /* of a block */
#define FOR_BLOCK_WORDS (2u + 128u)
#define FOR_MINIBLOCKS  4u

/* What the steps share: thread t has row t of each of D blocks. */
template <uint32_t D> struct for_method {
    static constexpr uint32_t THREADS = FOR_ROWS, ITEMS = D;

    static __device__ __forceinline__ uint32_t row(uint32_t thread, uint32_t item)
    {
        return item * FOR_ROWS + thread;
    }
};

/* Where the piece's first block begins, by block: `at` is 0 .. D, and D is the end. */
TILE_INLINE const uint32_t *for_starts(const published_piece &piece)
{
    return words_at(piece.chunk.directory) + piece.first / FOR_ROWS;
}

/* The word of a miniblock after the block's begin, and its width. */
TILE_INLINE uint32_t for_miniblock(uint32_t widths, uint32_t miniblock, uint32_t &width)
{
    uint32_t offset = 2;
    for (uint32_t m = 0; m < miniblock; m++, widths >>= 8)
        offset += max(widths & 255, 1u);
    width = widths & 255;
    return offset;
}

/* One value of a block whose words are at `words`, in global or in shared memory. */
TILE_INLINE int32_t for_value(const uint32_t *words, uint32_t thread)
{
    uint32_t width;
    const uint32_t offset = for_miniblock(words[1], thread / 32, width);
    return (int32_t)(words[0] + published_unpack(words + offset, thread % 32 * width, width));
}

struct for_base : for_method<1> {
    struct shared {
    };

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &,
                                                  int32_t (&values)[1])
    {
        values[0] = for_value(words_at(piece.chunk.data) + for_starts(piece)[0], threadIdx.x);
    }
};

/* The words of D blocks; the word after the last one is read, too. */
template <uint32_t D> struct for_words {
    uint32_t words[D * FOR_BLOCK_WORDS + 1];
};

/* Copies the words of `count` blocks. */
template <uint32_t D>
TILE_INLINE void for_copy(const published_piece &piece, uint32_t count, for_words<D> &shared)
{
    const uint32_t *const starts = for_starts(piece);
    published_copy<FOR_ROWS>(shared.words, words_at(piece.chunk.data) + starts[0], starts[count] - starts[0]);
}

struct for_shared : for_method<1> {
    typedef for_words<1> shared;

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[1])
    {
        for_copy<1>(piece, 1, shared);
        values[0] = for_value(shared.words, threadIdx.x);
    }
};

template <uint32_t D> struct for_blocks : for_method<D> {
    struct shared : for_words<D> {
        uint32_t starts[D];
    };

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[D])
    {
        const uint32_t *const starts = for_starts(piece);
        const uint32_t count = piece.rows / FOR_ROWS;
        if (threadIdx.x < count)
            shared.starts[threadIdx.x] = starts[threadIdx.x] - starts[0];
        for_copy<D>(piece, count, shared);
#pragma unroll
        for (uint32_t d = 0; d < D; d++)
            if (d < count)
                values[d] = for_value(shared.words + shared.starts[d], threadIdx.x);
    }
};

template <uint32_t D> struct for_offsets : for_method<D> {
    struct shared : for_words<D> {
        uint32_t offsets[D * FOR_MINIBLOCKS], widths[D * FOR_MINIBLOCKS], references[D];
    };

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[D])
    {
        const uint32_t *const starts = for_starts(piece);
        const uint32_t count = piece.rows / FOR_ROWS;
        for_copy<D>(piece, count, shared);
        if (threadIdx.x < count * FOR_MINIBLOCKS) {
            const uint32_t d = threadIdx.x / FOR_MINIBLOCKS, start = starts[d] - starts[0];
            const uint32_t offset = for_miniblock(shared.words[start + 1], threadIdx.x % FOR_MINIBLOCKS,
                                                  shared.widths[threadIdx.x]);
            shared.offsets[threadIdx.x] = start + offset;
            if (threadIdx.x % FOR_MINIBLOCKS == 0)
                shared.references[d] = shared.words[start];
        }
        __syncthreads();
#pragma unroll
        for (uint32_t d = 0; d < D; d++)
            if (d < count) {
                const uint32_t at = d * FOR_MINIBLOCKS + threadIdx.x / 32, width = shared.widths[at];
                values[d] =
                    (int32_t)(shared.references[d] + published_unpack(shared.words + shared.offsets[at],
                                                                      threadIdx.x % 32 * width, width));
            }
    }
};

/* One value of a block without miniblocks. */
template <uint32_t HEAD> TILE_INLINE int32_t for_single_value(const uint32_t *words, uint32_t width)
{
    const uint32_t reference = HEAD ? words[0] : 0;
    return (int32_t)(reference + published_unpack(words + HEAD, threadIdx.x * width, width));
}

template <uint32_t D, uint32_t HEAD> struct for_single : for_method<D> {
    struct shared : for_words<D> {
        uint32_t starts[D + 1];
    };

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[D])
    {
        const uint32_t *const starts = for_starts(piece);
        const uint32_t count = piece.rows / FOR_ROWS;
        if (threadIdx.x <= count)
            shared.starts[threadIdx.x] = starts[threadIdx.x] - starts[0];
        for_copy<D>(piece, count, shared);
#pragma unroll
        for (uint32_t d = 0; d < D; d++)
            if (d < count) {
                const uint32_t start = shared.starts[d];
                values[d] = for_single_value<HEAD>(shared.words + start,
                                                   (shared.starts[d + 1] - start - HEAD) / FOR_MINIBLOCKS);
            }
    }
};

/* The blocks of the column's last tile may have other widths, because that tile is filled. */
template <uint32_t D, uint32_t HEAD> struct for_uniform : for_method<D> {
    typedef typename for_single<D, HEAD>::shared shared;

    static __device__ __forceinline__ void decode(const published_piece &piece, shared &shared,
                                                  int32_t (&values)[D])
    {
        if (piece.last) {
            for_single<D, HEAD>::decode(piece, shared, values);
            return;
        }
        const uint32_t block = words_at(piece.chunk.directory)[1], width = (block - HEAD) / FOR_MINIBLOCKS;
        published_copy<FOR_ROWS>(shared.words, words_at(piece.chunk.data) + piece.first / FOR_ROWS * block,
                                 D * block);
#pragma unroll
        for (uint32_t d = 0; d < D; d++)
            values[d] = for_single_value<HEAD>(shared.words + d * block, width);
    }
};

#endif
