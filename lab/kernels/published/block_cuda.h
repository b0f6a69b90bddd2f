/*
 * block_cuda.h: decoding as the papers publish it: a thread block owns a piece of a column, and each of its threads a fixed
 * number of the piece's values, in registers. (Our own decoders give a tile to a warp: operators/decode/decode_cuda.h.)
 *
 * A published method is a type with
 *
 *     THREADS            of a thread block
 *     ITEMS              values of a thread; a piece has THREADS * ITEMS rows
 *     row(thread, i)     the row in the piece of item i of a thread
 *     shared             a struct: all of the block's shared memory
 *     decode(piece, shared, values)   sets values[0 .. ITEMS - 1]; all threads of the block call it together. Rows from
 *                        piece.rows on may get any value.
 *
 * Chunks are those of the codec of the same name, which fills the last tile, so pieces of up to 1024 rows are always whole; longer ones
 * may end early. A method may leave shared memory in use: the kernels here decode one piece a thread block, as published.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_BLOCK_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_BLOCK_CUDA_H

#include "operators/decode/decode_cuda.h"

struct published_piece {
    bound_chunk chunk;
    uint32_t first; /* row of the chunk; a multiple of the rows of a piece */
    uint32_t rows;  /* from there on, at most those of a piece */
    uint64_t row;   /* `first` as a row of the column */
    bool last;      /* has rows of the column's last tile, which may be filled */
};

/* Piece `index` of a column of `tiles` tiles in chunks of `chunk_tiles`, of which the rows of a piece are a divisor. */
template <class METHOD>
TILE_INLINE published_piece published_piece_at(const bound_chunk *chunks, uint32_t chunk_tiles,
                                               uint32_t tiles, uint32_t index)
{
    constexpr uint32_t ROWS = METHOD::THREADS * METHOD::ITEMS;
    const uint64_t row = (uint64_t)index * ROWS;
    const uint64_t chunk_rows = (uint64_t)chunk_tiles * TILE_ROWS, rest = (uint64_t)tiles * TILE_ROWS - row;
    published_piece piece;
    piece.chunk = chunks[row / chunk_rows];
    piece.first = (uint32_t)(row % chunk_rows);
    piece.rows = (uint32_t)min((uint64_t)ROWS, rest);
    piece.row = row;
    piece.last = rest < ROWS + TILE_ROWS;
    return piece;
}

/* Writes the values of one piece. */
template <class METHOD>
TILE_INLINE void published_memory(const bound_chunk *chunks, int32_t *out, uint32_t chunk_tiles,
                                  uint32_t tiles)
{
    __shared__ typename METHOD::shared shared;
    const published_piece piece = published_piece_at<METHOD>(chunks, chunk_tiles, tiles, blockIdx.x);
    int32_t values[METHOD::ITEMS];
    METHOD::decode(piece, shared, values);
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++) {
        const uint32_t row = METHOD::row(threadIdx.x, i);
        if (row < piece.rows)
            out[piece.row + row] = values[i];
    }
}

/* Adds the values of one piece to *out, modulo 2^32; `rows` are those of the column, without the last tile's filling. */
template <class METHOD>
TILE_INLINE void published_sum(const bound_chunk *chunks, uint32_t *out, uint32_t chunk_tiles, uint32_t tiles,
                               uint64_t rows)
{
    __shared__ typename METHOD::shared shared;
    __shared__ uint32_t sums[METHOD::THREADS / 32];
    const published_piece piece = published_piece_at<METHOD>(chunks, chunk_tiles, tiles, blockIdx.x);
    int32_t values[METHOD::ITEMS];
    METHOD::decode(piece, shared, values);
    uint32_t sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++)
        sum += piece.row + METHOD::row(threadIdx.x, i) < rows ? (uint32_t)values[i] : 0;
    sum = sum_warp(sum);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = sum_warp(threadIdx.x < METHOD::THREADS / 32 ? sums[threadIdx.x] : 0u);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}

/* Copies words to shared memory and waits for them. */
template <uint32_t THREADS>
TILE_INLINE void published_copy(uint32_t *to, const uint32_t *from, uint32_t words)
{
    for (uint32_t w = threadIdx.x; w < words; w += THREADS)
        to[w] = from[w];
    __syncthreads();
}

/* The bits [bit, bit + width) of words that are packed in a row; also reads the word after them. width 0..32. */
TILE_INLINE uint32_t published_unpack(const uint32_t *words, uint32_t bit, uint32_t width)
{
    const uint32_t *const word = words + bit / 32;
    return __funnelshift_r(word[0], word[1], bit) & low_bits(width);
}

#endif
