/*
 * star_tile.h: the part of a planned query that is compiled for each instruction set: the steps that make a
 * tile's mask, by the operators of tile_cpu.h, and the survivors' values as vectors of int64.
 */
#ifndef TESSERA_ENGINE_STAR_TILE_H
#define TESSERA_ENGINE_STAR_TILE_H

#include "operators/tile_cpu.h"

struct star_tile_step {
    struct tile_column *column;             /* low and high set where dimension is NULL */
    const struct tile_dimension *dimension; /* NULL: a range */
};

/* Runs the steps on a tile; the rows that are left into rows[0 .. result-1], ascending. counts: NULL, or what
 * reached each step and, last, what was left, added up. */
typedef uint32_t star_tile_rows(const struct star_tile_step *steps, uint32_t step_count, const struct tile *t,
                                uint16_t *rows, uint64_t *counts);
star_tile_rows star_tile_rows_baseline, star_tile_rows_avx2, star_tile_rows_avx512;

/* The values of an int32 column at these rows, widened; *_nulls: NULL, or set where the row is NULL. */
typedef void star_tile_values(struct tile_column *column, const struct tile *t, const uint16_t *rows,
                              uint32_t count, int64_t *values, uint8_t *nulls);
star_tile_values star_tile_values_baseline, star_tile_values_avx2, star_tile_values_avx512;

#endif
