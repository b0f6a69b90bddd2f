/*
 * grouping.h: the part of a plan that is computed from the groups of its scan.
 *
 *     measures        numbers that follow from several aggregates of a group (a variance from a count, a sum and a sum of
 *                     squares), or from all values of an argument (a median)
 *     grouping sets   GROUP BY ROLLUP (a, b): the sets (a, b), (a) and ()
 *
 * The values of an argument are found by grouping by it: select a, median(x) ... group by a scans with the terms a and x.
 * The answer then merges the groups of the scan that have the same a, and takes the values of x from them, with their
 * counts. The scan for a sketch has the values' cells as a term. A grouping set is the same: the groups of the scan that are alike in the terms of the set are merged. So partial
 * results of segments, devices and processes are merged as ever.
 */
#ifndef TESSERA_ENGINE_PLAN_GROUPING_GROUPING_H
#define TESSERA_ENGINE_PLAN_GROUPING_GROUPING_H

#include "engine/aggregate/measure.h"

#include <stdbool.h>
#include <stdint.h>

#define PLAN_MEASURES_MAX 64u

/* CUBE of 10 terms. */
#define PLAN_SETS_MAX 1024u

/* grouping(...) is a number of 64 bits with a sign. */
#define GROUPING_TERMS_MAX 62u

/* The leaf EXPRESSION_MEASURE with this index. */
struct plan_measure {
    enum measure_kind kind;
    bool of_values;    /* it is made from the values of `term`, else from sums, or from the set */
    uint32_t argument; /* for EXPLAIN; EXPRESSION_NONE: none */

    /* Variances: the aggregates of y = x - center. If y may exceed 32 bits, y = (high << MEASURE_PART_BITS) + low is
     * squared in parts: squares[0..2] sum high * high, high * low and low * low; else squares[0] sums y * y. */
    uint32_t count, sum, squares[3];
    uint32_t parts; /* of squares: 1 or 3 */
    uint8_t scale;  /* x has this many digits after the point */

    /* Covariances: the same of x, `count` and `sum`, in the rows that have x and y; the sum of y; and in squares[0..2] the
     * sums of x * x, y * y and x * y. */
    uint32_t other_sum;
    uint8_t other_scale;

    /* of_values: `count` is count(*), or the weight of a sketch's cells. Values are taken in their order, or in that of
     * another term. */
    uint32_t term, order_term;                      /* of GROUP BY; of a sketch, the cell */
    uint32_t least, greatest;                       /* aggregates of the values, if a sketch wants them */
    bool descending, nulls_last;                    /* of the order */
    bool distinct;                                  /* string_agg: each value once */
    int64_t fraction, whole;                        /* quantiles: fraction / whole */
    uint32_t separator;                             /* string_agg: a constant string, or EXPRESSION_NONE */
    uint32_t terms[GROUPING_TERMS_MAX], term_count; /* grouping() */
};

/* The set of the first `listed` terms, at most 64. */
static inline uint64_t grouping_all(uint32_t listed)
{
    return listed < 64 ? (UINT64_C(1) << listed) - 1 : UINT64_MAX;
}

/* Terms of GROUP BY before `listed` are those of the statement; those after it are arguments of measures. */
struct plan_grouping {
    uint32_t listed;
    uint32_t set_count; /* 0: the groups of the scan are the answer's */
    uint64_t *sets;     /* bit g: term g is in the set */
};

#endif
