/*
 * statistics.h: statistics that are computed while values are written: minima and maxima of each tile and
 * segment, runs of each segment, and the number of different values of a column.
 *
 * They take one pass over up to 2^24 values just before these are encoded. It must cost less than encoding
 * them (about 6 ns a value), so its loops run over whole tiles without branches.
 *
 * Distinct values are counted exactly, with a byte for each number, while the column's values span at most
 * DISTINCT_SPAN_MAX numbers. In practice that holds for every dictionary code, position, date and quantity. A
 * column with a wider span gets a HyperLogLog estimate over 2^14 registers: the standard error is 1.04 /
 * sqrt(2^14) = 0.81 %. (P. Flajolet et al., AofA 2007; the estimator is the unbiased one of O. Ertl, arXiv
 * 1702.01284, algorithm 6.)
 */
#ifndef TESSERA_STORAGE_COLUMN_STATISTICS_H
#define TESSERA_STORAGE_COLUMN_STATISTICS_H

#include "storage/column/column.h"

/* 4 MiB of bytes for each segment being written and each column. At this size the byte stores, one a value,
 * hit a core's cache. */
#define DISTINCT_SPAN_MAX (1u << 22)

/* The domain of a column whose values are not limited to 0 .. domain-1. */
#define DOMAIN_ANY UINT64_MAX

/* The statistics of no rows, ready for merging. */
#define COLUMN_STATISTICS_NONE \
    ((struct column_statistics){.min = INT64_MAX, .max = INT64_MIN, .bits = DOUBLE_BITS_NONE})

/* Computes min, max, nulls and runs (not distinct) of one segment's values, and the min and max of each tile
 * in tile_min_max[2 * tiles]. `validity` is NULL or has one bit a row in row order, as for
 * table_writer_segment. Runs are counted over the stored values, NULL rows included. */
void statistics_segment(const void *values, uint32_t value_bytes, uint32_t rows, const uint64_t *validity,
                        int64_t *tile_min_max, struct column_statistics *statistics);

/* Fills `bounds` (column.h) with 1 + ceil(tiles / BOUNDS_TILES) entries. */
void statistics_bounds(const int64_t *tile_min_max, uint32_t tiles, struct tile_bounds *bounds);

/* The bits of doubles, whose keys are given. NULL rows count like others. */
struct double_bits statistics_bits(const int64_t *keys, uint32_t rows);

/* Adds a segment's statistics to a column's, except distinct. */
void statistics_merge(struct column_statistics *into, const struct column_statistics *from);

/* Limits the number of different values, also an estimate, by the rows, the runs and the span of the values. */
uint64_t statistics_plausible_distinct(const struct column_statistics *statistics, uint64_t count,
                                       uint64_t rows);

/* A set of different values; zero-initialised is empty. */
struct distinct {
    int64_t base;       /* the value of seen[0] */
    uint64_t span;      /* bytes in seen; 0: none */
    uint8_t *seen;      /* exact: 1 for each value of the set */
    uint8_t *registers; /* if the span became too wide: the HyperLogLog */
};

/* The set of `rows` values; min and max must be theirs. */
NODISCARD enum status distinct_take(struct distinct *distinct, const void *values, uint32_t value_bytes,
                                    uint32_t rows, int64_t min, int64_t max, struct error *error);
/* Adds `from` to `into`; `from` is empty afterwards. */
NODISCARD enum status distinct_merge(struct distinct *into, struct distinct *from, struct error *error);
uint64_t distinct_count(const struct distinct *distinct);
void distinct_free(struct distinct *distinct);

/* The series of Ertl's estimator ("New cardinality estimation algorithms for HyperLogLog sketches", 2017, algorithm 6), of the
 * share of registers that no value reached, and of those with the greatest rank (distinct.c). */
double distinct_sigma(double x);
double distinct_tau(double x);

#endif
