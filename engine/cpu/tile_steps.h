/*
 * tile_steps.h: the part of a planned query that is compiled for each instruction set: the steps, which use
 * the operators of tile_cpu.h and give the surviving rows of a tile, and their values as int64.
 */
#ifndef TESSERA_ENGINE_CPU_TILE_STEPS_H
#define TESSERA_ENGINE_CPU_TILE_STEPS_H

#include "engine/plan/plan.h"
#include "operators/dialect/tile_cpu.h"

#include <time.h>

/* The clock of EXPLAIN ANALYZE: the processor's cycle counter, or nanoseconds if it has no counter that is
 * fast to read. */
static inline uint64_t scan_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* Counts the rows of a tile that reach a point. *since is the time of the point before, and then that of this
 * one. */
static inline void scan_point_reach(struct scan_point *point, uint32_t rows, uint64_t *since)
{
    const uint64_t now = scan_ticks();
    point->rows += rows;
    point->tiles += rows > 0;
    point->ticks += now - *since;
    *since = now;
}

struct tile_step {
    struct tile_column *column;             /* a range is in its low and high */
    const struct tile_dimension *dimension; /* of a semi-join, or NULL */
    struct tile_probe probe;                /* its members are NULL unless it is a probe */
};

/* Runs the steps on a tile and writes the surviving rows to rows[0 .. result-1], ascending. It begins with the rows of
 * `mask`, which has the bits of a tile_mask, or with all if that is NULL. `points` is NULL, or has step_count + 1 points
 * that count the rows; *since as in scan_point_reach. */
typedef uint32_t tile_steps_rows(const struct tile_step *steps, uint32_t step_count, const struct tile *t,
                                 const uint64_t *mask, uint16_t *rows, struct scan_point *points,
                                 uint64_t *since);
tile_steps_rows tile_steps_rows_baseline, tile_steps_rows_avx2, tile_steps_rows_avx512;

/* Fetches the values of an int32 column in these rows as int64. `nulls` is NULL, or gets a 1 for each
 * NULL. */
typedef void tile_steps_values(struct tile_column *column, const struct tile *t, const uint16_t *rows,
                               uint32_t count, int64_t *values, uint8_t *nulls);
tile_steps_values tile_steps_values_baseline, tile_steps_values_avx2, tile_steps_values_avx512;

#endif
