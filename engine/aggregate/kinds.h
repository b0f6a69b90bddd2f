/*
 * kinds.h: the numbers of aggregates and measures, which are places in their tables (aggregate.c, measure.c). Names of SQL
 * have them in names.c, and the binder asks for a few by number (engine/sql/bind_function.c); nobody else names a kind
 * (tests/engine/aggregate/test_aggregate_names.c).
 */
#ifndef TESSERA_ENGINE_AGGREGATE_KINDS_H
#define TESSERA_ENGINE_AGGREGATE_KINDS_H

enum aggregate_kind {
    AGGREGATE_COUNT,    /* the rows in which the argument is not NULL; without an argument all rows */
    AGGREGATE_SUM,      /* the sum is known to fit 64 bits */
    AGGREGATE_SUM_WIDE, /* summed in 128 bits; a result that does not fit 64 bits is an error */
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_COUNT_DISTINCT,
    AGGREGATE_BIT_AND,
    AGGREGATE_BIT_OR,
    AGGREGATE_BIT_XOR,
    AGGREGATE_KINDS
};

enum measure_kind {
    MEASURE_NONE,
    MEASURE_VAR_POP,
    MEASURE_VAR_SAMP,
    MEASURE_STDDEV_POP,
    MEASURE_STDDEV_SAMP,
    MEASURE_COVAR_POP,
    MEASURE_COVAR_SAMP,
    MEASURE_CORR,
    MEASURE_GROUPING, /* grouping(a, b): a bit for each term, the last one's least; 1: it is not in the set */
    MEASURE_COUNT_DISTINCT, /* where the answer merges groups; else the aggregate */
    MEASURE_SUM_DISTINCT,
    MEASURE_AVG_DISTINCT,
    MEASURE_MODE,
    MEASURE_QUANTILE_CONT,
    MEASURE_QUANTILE_DISC,
    MEASURE_ARG_MIN, /* the value in the row of the least, or greatest, order */
    MEASURE_ARG_MAX,
    MEASURE_STRINGS, /* string_agg */
    MEASURE_APPROX_COUNT_DISTINCT,
    MEASURE_APPROX_QUANTILE,
    MEASURE_KINDS
};

#endif
