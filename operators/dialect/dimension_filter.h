/*
 * dimension_filter.h: evaluates the dimension predicates of one dimension to a bitmap over its positions, on a
 * CPU.
 *
 * It runs once per query and dimension, over 2,557 to some millions of rows. An attribute is an array of
 * unsigned numbers of 1, 2 or 4 bytes (dictionary codes, years). On a GPU, kernels evaluate conditions
 * themselves (query_cuda.h: match_rows).
 */
#ifndef TESSERA_OPERATORS_DIALECT_DIMENSION_FILTER_H
#define TESSERA_OPERATORS_DIALECT_DIMENSION_FILTER_H

#include <stdint.h>

/* `values` is the attribute's array. The predicate holds if low[i] <= value <= high[i] for any range i;
 * values are compared as int32. */
struct dimension_predicate {
    const void *values; /* NULL: no predicate */
    uint32_t value_bytes;
    uint32_t ranges;
    int32_t low[4], high[4];
};

/* Writes the bitmap for rows first .. first+rows-1 (first is a multiple of 32): bit r%32 of word r/32 is set
 * if all `count` predicates hold. The bits after the last row in the last word are cleared. */
typedef void dimension_filter(const struct dimension_predicate *predicates, uint32_t count, uint64_t first,
                              uint64_t rows, uint32_t *bitmap);

dimension_filter dimension_filter_baseline, dimension_filter_avx2, dimension_filter_avx512;

#endif
