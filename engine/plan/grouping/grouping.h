/*
 * grouping.h: the part of a plan that is computed from its groups after the scan: measures, which are numbers that follow
 * from several aggregates of a group (a variance from a count, a sum and a sum of squares).
 */
#ifndef TESSERA_ENGINE_PLAN_GROUPING_GROUPING_H
#define TESSERA_ENGINE_PLAN_GROUPING_GROUPING_H

#include <stdint.h>

#define PLAN_MEASURES_MAX 64u

enum measure_kind { MEASURE_VAR_POP, MEASURE_VAR_SAMP, MEASURE_STDDEV_POP, MEASURE_STDDEV_SAMP };

/* The leaf EXPRESSION_MEASURE with this index. */
struct plan_measure {
    enum measure_kind kind;
    uint32_t argument; /* for EXPLAIN */

    /* Variances: the aggregates of y = x - center. If y may exceed 32 bits, y = (high << MEASURE_PART_BITS) + low is
     * squared in parts: squares[0..2] sum high * high, high * low and low * low; else squares[0] sums y * y. */
    uint32_t count, sum, squares[3];
    uint32_t parts; /* of squares: 1 or 3 */
    uint8_t scale;  /* x has this many digits after the point */
};

#define MEASURE_PART_BITS 31u

/* "stddev_pop" */
const char *measure_name(enum measure_kind kind);

#endif
