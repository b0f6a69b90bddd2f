/*
 * query.h: the parts of a query's file: SSB_QUERY has the SQL, TILE_QUERY has the kernel of a tile.
 *
 * SSB_QUERY is compiled once, for the host. TILE_QUERY is compiled for every instruction set, for CUDA, and
 * for the trace. TILE_PARAMETER_LIST has the columns and dimensions that the 13 kernels may name.
 */
#ifndef TESSERA_SSB_QUERIES_QUERY_H
#define TESSERA_SSB_QUERIES_QUERY_H

#include "operators/dialect/tile.h"

/* Fact columns, and dimensions by their names in FROM. */
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
