/*
 * query.h: how a file of this folder is put together: SSB_QUERY says what the query asks (host only, once), TILE_QUERY
 * how a tile answers it (every instruction set, CUDA, and the trace), and what the 13 kernels may name.
 */
#ifndef TESSERA_SSB_QUERIES_QUERY_H
#define TESSERA_SSB_QUERIES_QUERY_H

#include "operators/dialect/tile.h"

/* Fact columns, and dimensions by the name that they have in FROM. */
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

#ifdef TESSERA_ISA_IS_BASELINE
#include "ssb/queries/queries.h"
#if defined(__x86_64__)
#define SSB_KERNELS_(id)                      \
    {                                         \
        id##_baseline, id##_avx2, id##_avx512 \
    }
#else
#define SSB_KERNELS_(id) \
    {                    \
        id##_baseline    \
    }
#endif
#define SSB_QUERY(id, name_, sql_)                                             \
    tile_query id##_baseline, id##_avx2, id##_avx512;                          \
    void id##_trace(struct kernel_trace *trace);                               \
    const struct ssb_query id = {.name = name_,                                \
                                 .sql = sql_,                                  \
                                 .kernel = {.name = name_,                     \
                                            .source = "ssb/queries/" #id ".c", \
                                            .names = &ssb_names,               \
                                            .kernel = SSB_KERNELS_(id),        \
                                            .trace = id##_trace}};
#else
#define SSB_QUERY(id, name_, sql_)
#endif

#endif
