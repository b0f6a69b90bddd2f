/*
 * statistics.h: what is noted about values while they are written: minima, maxima and runs of each tile and
 * segment, and how many different values a column has.
 *
 * One pass over up to 2^24 values just before they are encoded; it must cost less than encoding them (about 6
 * ns a value), so its loops are branch-free over whole tiles.
 *
 * Distinct values are counted exactly while the column's values span at most DISTINCT_SPAN_MAX numbers (a
 * byte for each number), which holds for every dictionary code, position, date and quantity in practice. A
 * column with a wider span gets a HyperLogLog estimate over 2^14 registers: standard error 1.04 / sqrt(2^14)
 * = 0.81 %. (P. Flajolet et al., AofA 2007; the estimator is the unbiased one of O. Ertl, arXiv 1702.01284,
 * algorithm 6.)
 */
#ifndef TESSERA_STORAGE_COLUMN_STATISTICS_H
#define TESSERA_STORAGE_COLUMN_STATISTICS_H

#include "storage/column/column.h"

/* 4 MiB of bytes for each segment being written and each column: one byte store a value stays in a core's
 * cache. */
#define DISTINCT_SPAN_MAX (1u << 22)

/* The domain of a column whose values are not known to be 0 .. domain-1. */
#define DOMAIN_ANY UINT64_MAX

/* Statistics of nothing, ready for merging. */
#define COLUMN_STATISTICS_NONE ((struct column_statistics){.min = INT64_MAX, .max = INT64_MIN})

/* Takes min, max, nulls and runs (not distinct) of one segment's values, and min and max of each tile into
 * tile_min_max[2 * tiles]. `validity`: NULL or one bit a row in row order, as for table_writer_segment. Runs
 * are counted over the stored values, NULL rows included. */
void statistics_segment(const void *values, uint32_t value_bytes, uint32_t rows, const uint64_t *validity,
                        int64_t *tile_min_max, struct column_statistics *statistics);

/* Adds a segment's to a column's: all but distinct. */
void statistics_merge(struct column_statistics *into, const struct column_statistics *from);

/* The set of different values; zero-initialised is empty. */
struct distinct {
    int64_t base;       /* the value that seen[0] stands for */
    uint64_t span;      /* bytes in seen; 0: none */
    uint8_t *seen;      /* 1 for each value that was met; exact */
    uint8_t *registers; /* or the HyperLogLog, if the span became too wide */
};

/* The set of `rows` values that lie in min..max, which must be those of the values. */
NODISCARD enum status distinct_take(struct distinct *distinct, const void *values, uint32_t value_bytes,
                                    uint32_t rows, int64_t min, int64_t max, struct error *error);
/* Adds `from`, which is empty afterwards. */
NODISCARD enum status distinct_merge(struct distinct *into, struct distinct *from, struct error *error);
uint64_t distinct_count(const struct distinct *distinct);
void distinct_free(struct distinct *distinct);

#endif
