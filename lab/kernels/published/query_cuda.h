/*
 * query_cuda.h: queries as the SIGMOD 2022 paper runs them (sections 4.2, 4.3 and 7): in the tile-based execution model of Crystal, whose
 * BlockLoad is replaced by a method of decoding. A thread block loads its piece of each of the query's columns whole, because packed values
 * cannot be read one by one, and a thread keeps its values in registers. block_cuda.h says what a method is.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_QUERY_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_QUERY_CUDA_H

#include "lab/kernels/published/block_cuda.h"

#define QUERY_COLUMNS 4u

/* The columns, which have the same rows; of those that are keys also a byte for each key, from the least key on: a hash table
 * without collisions, as Crystal's. */
struct query_columns {
    const bound_chunk *chunks[QUERY_COLUMNS];
    const uint8_t *dimensions[QUERY_COLUMNS];
};

/* A thread block's piece of the columns. */
template <class METHOD> struct query_piece {
    const query_columns &columns;
    const uint32_t chunk_tiles, tiles;

    __device__ __forceinline__ query_piece(const query_columns &columns, uint32_t chunk_tiles, uint32_t tiles)
        : columns(columns), chunk_tiles(chunk_tiles), tiles(tiles)
    {
    }

    /* A bit for each of the thread's items that is a row of the column, of `rows`. */
    __device__ __forceinline__ uint32_t all(uint64_t rows) const
    {
        constexpr uint32_t ROWS = METHOD::THREADS * METHOD::ITEMS;
        uint32_t keep = 0;
#pragma unroll
        for (uint32_t i = 0; i < METHOD::ITEMS; i++)
            keep |= (uint64_t)blockIdx.x * ROWS + METHOD::row(threadIdx.x, i) < rows ? 1u << i : 0u;
        return keep;
    }

    __device__ __forceinline__ void decode(uint32_t column, typename METHOD::shared &shared,
                                           int32_t (&values)[METHOD::ITEMS]) const
    {
        __syncthreads(); /* the column before is read */
        METHOD::decode(published_piece_at<METHOD>(columns.chunks[column], chunk_tiles, tiles, blockIdx.x),
                       shared, values);
    }
};

#endif
