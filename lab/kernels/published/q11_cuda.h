/*
 * q11_cuda.h: query Q1.1 of the Star Schema Benchmark as the SIGMOD 2022 paper runs it (sections 4.3 and 7): in the tile-based execution
 * model of Crystal, whose BlockLoad is replaced by a method of decoding. A thread block loads its piece of each of the four columns whole,
 * because packed values cannot be read one by one, tests, and adds up.
 *
 *     select sum(lo_extendedprice * lo_discount) from lineorder
 *     where lo_orderdate between 19930101 and 19931231 and lo_discount between 1 and 3 and lo_quantity < 25
 *
 * Dates are yyyymmdd numbers, so that the query needs no join, as in Crystal.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_Q11_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_Q11_CUDA_H

#include "lab/kernels/published/query_cuda.h"

enum { Q11_ORDERDATE, Q11_DISCOUNT, Q11_QUANTITY, Q11_EXTENDEDPRICE };

/* Clears the bits of items that are not in the range; a thread has bit i for its item i. */
template <class METHOD>
TILE_INLINE void q11_filter(const int32_t (&values)[METHOD::ITEMS], int32_t low, int32_t high, uint32_t &keep)
{
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++)
        if (values[i] < low || values[i] > high)
            keep &= ~(1u << i);
}

/* Adds this piece's sum to *out. */
template <class METHOD>
TILE_INLINE void q11(const query_columns &columns, unsigned long long *out, uint32_t chunk_tiles,
                     uint32_t tiles, uint64_t rows)
{
    __shared__ typename METHOD::shared shared;
    __shared__ unsigned long long sums[METHOD::THREADS / 32];
    int32_t values[METHOD::ITEMS], discounts[METHOD::ITEMS];
    const query_piece<METHOD> piece(columns, chunk_tiles, tiles);
    uint32_t keep = piece.all(rows);
    piece.decode(Q11_ORDERDATE, shared, values);
    q11_filter<METHOD>(values, 19930101, 19931231, keep);
    piece.decode(Q11_QUANTITY, shared, values);
    q11_filter<METHOD>(values, -2147483647 - 1, 24, keep);
    piece.decode(Q11_DISCOUNT, shared, discounts);
    q11_filter<METHOD>(discounts, 1, 3, keep);
    piece.decode(Q11_EXTENDEDPRICE, shared, values);
    unsigned long long sum = 0;
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++)
        if (keep >> i & 1)
            sum += (unsigned long long)((long long)values[i] * discounts[i]);
    for (uint32_t step = 16; step; step /= 2)
        sum += __shfl_down_sync(FULL_WARP, sum, step);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (uint32_t w = 1; w < METHOD::THREADS / 32; w++)
            sum += sums[w];
        atomicAdd(out, sum);
    }
}

#endif
