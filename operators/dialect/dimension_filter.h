/*
 * dimension_filter.h: a dimension's predicates to a bitmap over its row positions, on a CPU.
 *
 * Called once per query and dimension; n is the dimension's rows (2,557 to some millions), an attribute is an
 * array of 1, 2 or 4 byte unsigned numbers (dictionary codes, years). The GPU's twin is in scan_cuda.h.
 */
#ifndef TESSERA_OPERATORS_DIALECT_DIMENSION_FILTER_H
#define TESSERA_OPERATORS_DIALECT_DIMENSION_FILTER_H

#include <stdint.h>

/* `values` is an attribute's array on this machine; a predicate holds if any low <= value <= high, as int32.
 */
struct dimension_predicate {
    const void *values; /* NULL: no predicate */
    uint32_t value_bytes;
    uint32_t ranges;
    int32_t low[4], high[4];
};

/* Sets bit r%32 of bitmap word r/32, for rows first .. first+rows-1 (first a multiple of 32), where all
 * `count` predicates hold; bits behind the last row of the last word are cleared. */
typedef void dimension_filter(const struct dimension_predicate *predicates, uint32_t count, uint64_t first,
                              uint64_t rows, uint32_t *bitmap);

dimension_filter dimension_filter_baseline, dimension_filter_avx2, dimension_filter_avx512;

#endif
