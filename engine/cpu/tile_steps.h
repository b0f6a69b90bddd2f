/*
 * tile_steps.h: the part of a planned query that is compiled for each instruction set: the steps, which use
 * the operators of tile_cpu.h and give the surviving rows of a tile, their values, and the numbers of their groups.
 */
#ifndef TESSERA_ENGINE_CPU_TILE_STEPS_H
#define TESSERA_ENGINE_CPU_TILE_STEPS_H

#include "engine/cpu/row_vector.h"
#include "engine/plan/expression_vector.h"
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

/* Where so many rows of a tile survive, a pass over a mask is cheaper than a list and loads by it. */
#define TILE_DENSE_SHARE 4u
static inline bool tile_steps_dense(const struct tile *t, uint32_t count)
{
    return count * TILE_DENSE_SHARE >= t->rows;
}

/* Runs the steps on a tile and writes the surviving rows to rows[0 .. result-1], ascending. It begins with the rows of
 * `mask`, which has the bits of a tile_mask, or with all if that is NULL. If `dense` is not NULL and the tile is dense, the
 * survivors are only in *dense, and there is no list. `points` is NULL, or has step_count + 1 points that count the rows;
 * *since as in scan_point_reach. */
typedef uint32_t tile_steps_rows(const struct tile_step *steps, uint32_t step_count, const struct tile *t,
                                 const uint64_t *mask, tile_mask *dense, uint16_t *rows,
                                 struct scan_point *points, uint64_t *since);
tile_steps_rows tile_steps_rows_baseline, tile_steps_rows_avx2, tile_steps_rows_avx512;

/* Drops the rows of a tile for which a condition, whose values all its rows have, is not true. Returns the number of rows
 * that are left. */
typedef uint32_t tile_steps_keep(const struct vector *truth, const struct tile *t, tile_mask *keep);
tile_steps_keep tile_steps_keep_baseline, tile_steps_keep_avx2, tile_steps_keep_avx512;

/* In all functions below, `count` rows are all of a tile if there are as many. They are those of the list `rows` or, if `mask`
 * is not NULL, those of the mask; then `rows` lists all rows of the tile. */

/* Fetches the values of an int32 column in these rows as int64. `nulls` is NULL, or gets a 1 for each NULL. With a mask the
 * column has no NULLs; so has a term's. */
typedef void tile_steps_values(struct tile_column *column, const struct tile *t, const uint16_t *rows,
                               const tile_mask *mask, uint32_t count, int64_t *values, uint8_t *nulls);
tile_steps_values tile_steps_values_baseline, tile_steps_values_avx2, tile_steps_values_avx512;

/* A term or an argument that is an int32 column, or some bits of one: a level of a join's position. The values of a tile
 * stay where they are decoded if its rows are all wanted, else they are in `buffer`. */
struct tile_term {
    struct tile_column *column;
    uint32_t shift, mask; /* of the bits; UINT32_MAX: all, which may be a negative number */
    int32_t *buffer;      /* room for TILE_ROWS values and, for nullable columns, a byte for each */
};

/* Fetches the term's values. */
typedef struct row_vector tile_steps_term(const struct tile_term *term, const struct tile *t,
                                          const uint16_t *rows, const tile_mask *mask, uint32_t count);
tile_steps_term tile_steps_term_baseline, tile_steps_term_avx2, tile_steps_term_avx512;

/* Adds a term's part to the numbers of the rows' groups; numbers[i] is `spread` * (i % GROUP_COPIES) before the first
 * term, whatever it was. */
typedef void tile_steps_number(const struct plan_group *group, const struct row_vector *from, uint32_t count,
                               bool first, uint32_t spread, uint64_t *numbers);
tile_steps_number tile_steps_number_baseline, tile_steps_number_avx2, tile_steps_number_avx512;

/* Adds a term's part to the ranks of `count` rows (first_rows.h). Returns the least rank. */
typedef uint64_t tile_steps_rank(const struct first_term *term, const struct vector *values, uint32_t count,
                                 uint64_t *ranks);
tile_steps_rank tile_steps_rank_baseline, tile_steps_rank_avx2, tile_steps_rank_avx512;

#endif
