/*
 * q21_cuda.h: query Q2.1 of the Star Schema Benchmark on query_cuda.h: three joins, and a sum for each of 7 years and 40 brands.
 *
 *     select sum(lo_revenue), d_year, p_brand1 from lineorder, date, part, supplier
 *     where lo_orderdate = d_datekey and lo_partkey = p_partkey and lo_suppkey = s_suppkey
 *     and p_category = 'MFGR#12' and s_region = 'AMERICA' group by d_year, p_brand1
 *
 * The bytes of the dimensions: of a supplier 1 if it passes, of a part its brand in the category, 1 .. 40, or 0 if it does not pass, of a
 * date the years since 1992.
 */
#ifndef TESSERA_LAB_KERNELS_PUBLISHED_Q21_CUDA_H
#define TESSERA_LAB_KERNELS_PUBLISHED_Q21_CUDA_H

#include "lab/kernels/published/query_cuda.h"

enum { Q21_SUPPKEY, Q21_PARTKEY, Q21_ORDERDATE, Q21_REVENUE };
#define Q21_BRANDS     40u
#define Q21_FIRST_DATE 19920101

/* Adds this piece's revenues to out[year * Q21_BRANDS + brand - 1]. */
template <class METHOD>
TILE_INLINE void q21(const query_columns &columns, unsigned long long *out, uint32_t chunk_tiles,
                     uint32_t tiles, uint64_t rows)
{
    __shared__ typename METHOD::shared shared;
    int32_t values[METHOD::ITEMS];
    uint32_t groups[METHOD::ITEMS];
    const query_piece<METHOD> piece(columns, chunk_tiles, tiles);
    uint32_t keep = piece.all(rows);
    piece.decode(Q21_SUPPKEY, shared, values);
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++)
        if (keep >> i & 1 && !columns.dimensions[Q21_SUPPKEY][values[i]])
            keep &= ~(1u << i);
    piece.decode(Q21_PARTKEY, shared, values);
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++) {
        groups[i] = keep >> i & 1 ? columns.dimensions[Q21_PARTKEY][values[i]] : 0;
        if (groups[i] == 0)
            keep &= ~(1u << i);
    }
    piece.decode(Q21_ORDERDATE, shared, values);
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++)
        if (keep >> i & 1)
            groups[i] += Q21_BRANDS * columns.dimensions[Q21_ORDERDATE][values[i] - Q21_FIRST_DATE];
    piece.decode(Q21_REVENUE, shared, values);
#pragma unroll
    for (uint32_t i = 0; i < METHOD::ITEMS; i++)
        if (keep >> i & 1)
            atomicAdd(&out[groups[i] - 1], (unsigned long long)(long long)values[i]);
}

#endif
