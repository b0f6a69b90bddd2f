/*
 * positions.h: which positions of a table have rows (levels.h), and arrays by position made from arrays by row.
 *
 * A table without levels has one run of positions, all of its rows. One with levels has gaps between runs. In an array by
 * position a gap repeats the row before it, and positions before the first row repeat the first row. So a predicate
 * over such arrays holds in a gap as in that row: it is true of consecutive positions if it is true of consecutive
 * rows, and it may be evaluated over all positions.
 *
 * A step from run to run takes 2 ns; a table has at most LEAVES_MAX runs.
 */
#ifndef TESSERA_STORAGE_COLUMN_POSITIONS_H
#define TESSERA_STORAGE_COLUMN_POSITIONS_H

#include "storage/column/column.h"

/* Consecutive positions that have consecutive rows: position first + i is that of row `row` + i. */
struct position_run {
    uint64_t first, rows, row;
    uint32_t leaf; /* the leaf after the run; without levels 1 */
};

/* The next run, which begins and ends at gaps; the first one if *run is all zeros. False after the last. */
bool position_run_next(const struct table *table, struct position_run *run);

/* The first positions from `position` on that have rows; false if there are none. */
bool position_run_from(const struct table *table, uint64_t position, struct position_run *run);

/* For loops over positions in words of 32 that need not stop at small gaps: the next stretch first .. end - 1 from
 * `position`, a multiple of 32, on that ends before `limit` and has no gap of POSITION_GAP_MIN or more. `first` is a
 * multiple of 32. False if no position of position .. limit - 1 has a row. */
#define POSITION_GAP_MIN 1024u
bool position_stretch(const struct table *table, uint64_t position, uint64_t limit, uint64_t *first,
                      uint64_t *end);

/* Makes an array by position (table_positions values of 1, 2, 4 or 8 bytes) from an array by row. */
void positions_spread(const struct table *table, const void *by_row, uint32_t value_bytes, void *by_position);

/* Replaces the array *values (from malloc) by one by position, of one element more. After a failure it is as it was. */
NODISCARD enum status positions_spread_own(const struct table *table, uint32_t value_bytes, void *values,
                                           struct error *error);

/* The same as positions_spread of bits, 32 a word: bit p%32 of word p/32. The words by position must be zeros. */
void positions_spread_bits(const struct table *table, const uint32_t *by_row, uint32_t *by_position);

/* The position of each row, and the row of each position (-1: a gap), of a table of at most 2^31 - 1 rows. The caller frees
 * the array, which has at least one element. */
NODISCARD enum status positions_of_rows(const struct table *table, int32_t **positions, struct error *error);
NODISCARD enum status rows_of_positions(const struct table *table, int32_t **rows, struct error *error);

/* ---- Checks of stored keys ---- */

/* The highest of some stored indices; 0 of none. */
uint32_t position_highest(const uint32_t *values, uint32_t count);

/* Tells whether positions have rows, in 0.7 ns a position. Zero-initialised: nothing to free. */
struct position_check {
    uint64_t positions; /* table_positions */
    uint32_t rest_bits;
    uint32_t *rows; /* of each prefix; NULL: no levels, all positions have rows */
};
NODISCARD enum status position_check_open(const struct table *table, struct position_check *check,
                                          struct error *error);
void position_check_close(struct position_check *check);

static inline bool position_has_row(const struct position_check *check, uint64_t position)
{
    return position < check->positions &&
           (!check->rows ||
            (position & ((UINT64_C(1) << check->rest_bits) - 1)) < check->rows[position >> check->rest_bits]);
}

/* The first of `count` stored keys of a tile that no row of the referenced table has, NULLs left out (`validity` as for
 * tile_row_valid, or NULL); `count` if there is none. */
uint32_t position_check_tile(const struct position_check *check, const int32_t *keys,
                             const uint32_t *validity, uint32_t count);

#endif
