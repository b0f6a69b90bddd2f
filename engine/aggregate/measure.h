/*
 * measure.h: what an answer computes for a group beyond the states of aggregates (aggregate.h). A measure is one
 * descriptor. It is computed in one of two ways, or knows both:
 *
 *     of_sums      from exact sums of the group: a variance from a count, a sum and sums of squares
 *     of_values    from the list of the group's values, which are further terms of the scan's groups
 *                  (engine/plan/grouping/grouping.h): a median. With a sketch, from the list of their cells: few numbers
 *                  that stand for many values
 *
 * Both get whole numbers that do not depend on the order of rows, so results have the same bits on all devices.
 * Descriptors are constant; lists belong to the caller.
 */
#ifndef TESSERA_ENGINE_AGGREGATE_MEASURE_H
#define TESSERA_ENGINE_AGGREGATE_MEASURE_H

#include "engine/aggregate/kinds.h"
#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct measure;

/* A result's type, and so its range. */
enum measure_result {
    RESULT_DOUBLE,
    RESULT_COUNT, /* a whole number from 0 to the rows of the fact table; of no values 0, and not NULL */
    RESULT_SUM,   /* as that of a sum of the argument */
    RESULT_ARGUMENT,
    RESULT_TEXT /* a string that the answer makes */
};

/* ---- Of sums ---- */

/* The sums of a group, of values x and y, which are whole numbers of units of 10^-scale and 10^-other_scale.
 *
 *     variances     of y = x - some constant: the sum, and the sum of squares; if `parts` is 3, y = (high <<
 *                   MEASURE_PART_BITS) + low, and squares[0..2] sum high * high, high * low and low * low
 *     covariances   of x and y: sums, and in squares[0..2] the sums of x * x, y * y and x * y
 */
struct measure_sums {
    uint64_t rows;
    __int128 sum, other_sum, squares[3];
    uint32_t parts;
    uint8_t scale, other_scale;
};

#define MEASURE_PART_BITS 31u

/* False: NULL. */
typedef bool measure_of_sums(const struct measure *measure, const struct measure_sums *sums, double *value);
measure_of_sums measure_spread, measure_covariance; /* spread.c */

/* ---- Of values ---- */

struct measure_entry {
    int64_t order; /* by which values are sorted; the value itself if there is no other order */
    int64_t value;
    uint64_t rows;
    bool last; /* its order is NULL, which comes after all others */
};

/* The values of a group that are not NULL, of which there is at least one: each once, sorted if the measure wants it. */
struct measure_list {
    const struct measure_entry *entries;
    uint64_t count, rows;
    uint64_t skipped;        /* rows before those of the first entry, if the measure wants two rows alone */
    bool real;               /* values are keys of doubles */
    uint8_t scale;           /* of other values: digits after the point */
    int64_t fraction, whole; /* quantiles: fraction / whole */
    int64_t most;            /* the greatest result of RESULT_COUNT (measure_most) */
    int64_t least, greatest; /* of the values, if the sketch wants them; values of entries are cells */
    const __int128 *sum;     /* of the values, if the measure is of_set and there are no entries; else NULL */
};

/* The first of the two rows, which follow each other, that are all that the measure wants of a list of list->rows. */
typedef uint64_t measure_first(const struct measure_list *list);

/* Sets *null if the result is NULL. STATUS_BAD_INPUT: the result leaves its type. */
typedef enum status measure_of_values(const struct measure *measure, const struct measure_list *list,
                                      int64_t *value, bool *null, struct error *error);
measure_of_values measure_double_spread;                                /* double_spread.c */
measure_of_values measure_distinct_estimate, measure_quantile_estimate; /* sketch.c */

/* The cells of values. The scan's groups have a cell's weight: its number of rows or, with `weight`, the greatest weight
 * of its values. Functions are given as the scan calls them (engine/function/list.h), and as they are called
 * here. */
struct measure_sketch {
    const char *cell, *double_cell; /* of values, and of keys of doubles */
    const char *weight;             /* or NULL */
    int64_t (*cell_of)(int64_t value), (*double_cell_of)(int64_t key), (*weight_of)(int64_t value);
    bool extremes; /* the least and the greatest value are wanted, too */
};

/* ---- Descriptors ---- */

struct measure {
    const char *name; /* "stddev_pop", for EXPLAIN */
    enum measure_result result;
    bool sample;   /* over the rows less one */
    bool root;     /* of a variance */
    bool scaled;   /* of a covariance: over the deviations */
    bool sums;     /* of_values: it takes whole numbers and decimals alone */
    bool by_other; /* of_values: of the rows that have an order, in no order */
    bool greatest; /* ... it is in the row of the greatest order, else of the least */
    bool of_set;   /* of_values: it wants the number of the different values, and their sum, alone */
    bool fraction; /* it takes a fraction from 0 to 1 */
    enum measure_kind dates;             /* of numbers alone; what is made of dates and times */
    const struct measure_sketch *sketch; /* of_values: entries are cells; NULL: they are values */
    measure_of_sums *of_sums;            /* NULL: it is not made so */
    measure_of_values *of_values;
    measure_first *first; /* of_values: it wants the values of two rows alone; NULL: all */
};

extern const struct measure_sketch measure_registers, measure_buckets; /* sketch.c */
extern const struct measure measure_table[MEASURE_KINDS];

static inline const struct measure *measure_of(enum measure_kind kind)
{
    return &measure_table[kind];
}

/* The greatest result of RESULT_COUNT over a table of so many rows. Estimates may be greater than what they estimate. */
static inline int64_t measure_most(enum measure_kind kind, uint64_t rows)
{
    return (int64_t)(measure_of(kind)->sketch ? 2 * rows + 1024 : rows);
}

/* True if the measure is computed from all values, whatever their type. */
static inline bool measure_needs_values(enum measure_kind kind)
{
    const struct measure *const measure = measure_of(kind);
    return !measure->of_sums && (measure->of_values || measure->result == RESULT_TEXT);
}

#endif
