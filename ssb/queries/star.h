/*
 * star.h: what the 13 SSB kernels may name, and how a query file is put together: STAR_QUERY says what the
 * query asks (host only, once), TILE_QUERY how a tile answers it (every instruction set, and CUDA).
 */
#ifndef TESSERA_SSB_QUERIES_STAR_H
#define TESSERA_SSB_QUERIES_STAR_H

#include "operators/dialect/tile.h"

#define TILE_PARAMETER_LIST(COLUMN, DIMENSION) \
    COLUMN(lo_orderdate)                       \
    COLUMN(lo_custkey)                         \
    COLUMN(lo_partkey)                         \
    COLUMN(lo_suppkey)                         \
    COLUMN(lo_quantity)                        \
    COLUMN(lo_discount)                        \
    COLUMN(lo_extendedprice)                   \
    COLUMN(lo_revenue)                         \
    COLUMN(lo_supplycost)                      \
    DIMENSION(date)                            \
    DIMENSION(customer)                        \
    DIMENSION(part)                            \
    DIMENSION(supplier)

#include "operators/dialect/parameters.h"

#ifdef TILE_CUDA
#define STAR_QUERY(id, ...)
#else
#include "ssb/queries/queries.h"
#define STAR_QUERY(id, ...) STAR_QUERY_(id, __VA_ARGS__)
#ifdef TESSERA_ISA_IS_BASELINE
#if defined(__x86_64__)
#define STAR_KERNELS_(id)                     \
    {                                         \
        id##_baseline, id##_avx2, id##_avx512 \
    }
#else
#define STAR_KERNELS_(id) \
    {                     \
        id##_baseline     \
    }
#endif
#define STAR_QUERY_(id, ...)                                         \
    tile_query id##_baseline, id##_avx2, id##_avx512;                \
    const struct star_query id = {.source = "ssb/queries/" #id ".c", \
                                  .fact = "lineorder",               \
                                  .layout = &ssb_layout,             \
                                  .kernel = STAR_KERNELS_(id),       \
                                  __VA_ARGS__};
#else
#define STAR_QUERY_(id, ...)
#endif
#endif

#endif
