/*
 * top_rows.h: keeps few rows of a plan with ORDER BY and LIMIT while they are found: a row is dropped, and a tile not
 * read, if `limit + offset` rows that were found before come before it in the order.
 *
 * Rows that are equal to the last of them are kept, so the other terms decide among these later (engine/answer/output.h).
 * Most rows would be kept before the bound is near its end. So a sample of tiles tells about where that is, and the scan begins
 * there. If it finds fewer rows than are wanted the guess was too low, and the scan is repeated without one.
 *
 * A thread's best rows are a heap; threads share the best of their bounds. A row that is kept costs log2(limit) steps,
 * one that is dropped a comparison; after a few tiles most rows are dropped.
 */
#ifndef TESSERA_ENGINE_CPU_TOP_ROWS_H
#define TESSERA_ENGINE_CPU_TOP_ROWS_H

#include "engine/plan/plan.h"

#include <stdatomic.h>

struct top_rows {
    struct first_rows first;
    atomic_uint_fast64_t bound; /* rows with a greater rank are dropped */
    bool guessed;               /* the bound was a guess at first: there may be too few rows */
};

/* The best ranks that a thread has found, the greatest first. */
struct top_heap {
    uint64_t count;
    uint64_t *ranks;
};

/* Begins a run. */
void top_rows_begin(struct top_rows *top);

/* True if no row of the tile can be among the first. */
bool top_rows_skip(const struct top_rows *top, const struct plan *plan, uint32_t segment, uint32_t tile);

/* True if the last of these tiles can have better rows than the first: a scan begins there. */
bool top_rows_backwards(const struct top_rows *top, const struct plan *plan, const struct tile_skip *scan);

/* Of a sample of `of_tiles` of a scan's `tiles` tiles, the place of the row whose rank most likely no wanted row exceeds: the
 * expected one, and four standard deviations. 0: nothing is to be gained. */
uint64_t top_rows_sampled(const struct top_rows *top, uint64_t of_tiles, uint64_t tiles);

/* Begins with a bound that is a guess, if it is less than that of the plan. */
void top_rows_guess(struct top_rows *top, uint64_t bound);

/* Narrows low .. high to the values of the first term's column that rows up to the bound have. False if the column's NULLs
 * are not worse than the bound, or nothing is known: all values must be looked at. */
bool top_rows_range(const struct top_rows *top, bool nullable, int32_t *low, int32_t *high);

/* Drops rows whose ranks are too great although parts of them may be missing; moves the ranks with the rows. Returns the
 * number of rows that are left. */
uint32_t top_rows_may_keep(const struct top_rows *top, uint64_t *ranks, uint16_t *rows, uint32_t count);

/* Drops rows that are not among the first; keeps the others' order. `ranks` belongs to the rows. Returns the number of
 * rows that are left. */
uint32_t top_rows_keep(struct top_rows *top, struct top_heap *heap, const uint64_t *ranks, uint16_t *rows,
                       uint32_t count);

#endif
