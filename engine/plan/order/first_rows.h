/*
 * first_rows.h: the first rows of a plan with ORDER BY and LIMIT. A row's rank is a number of 64 bits, made from the terms
 * of ORDER BY as far as they fit: a row with a lesser rank comes before one with a greater. So a row is not wanted if
 * `limit + offset` rows have lesser ranks, and devices drop such rows while they scan (engine/cpu/top_rows.h,
 * engine/gpu/first/). Of rows with equal ranks, what is left of the order decides later (engine/answer/output.h).
 *
 *     rank = code of term 0 * stride 0 + code of term 1 * stride 1 + ... + place of the row
 *
 * A term's codes are the values in its range, from the end that comes first, and one for NULL. If a range is too large, as
 * that of doubles mostly is, its last bits are cut off, and later terms are left out. The place, segment * 2^24 + row, is
 * added if all terms fit exactly: equal rows come in the order of the table, so no two ranks are equal.
 *
 * A tile's least and greatest values are values of its rows. If every row of the table is in the answer, they bound the
 * wanted ranks before a row is read, and the plan then reads few tiles: of random data about `limit + offset`, of sorted
 * data those at one end. This takes about 20 ns a tile when a statement is planned.
 */
#ifndef TESSERA_ENGINE_PLAN_ORDER_FIRST_ROWS_H
#define TESSERA_ENGINE_PLAN_ORDER_FIRST_ROWS_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* With more rows wanted, finding the last of them costs more than it saves. */
#define FIRST_ROWS_MAX 65536u

/* Terms after these seldom decide. */
#define FIRST_TERMS_MAX 4u

struct plan;

/* A value's code is `best` + (its distance from the end that comes first >> shift). */
struct first_term {
    uint32_t expression;
    int32_t column; /* the fact column that it is, in plan->columns; -1: another expression */
    bool descending;
    uint32_t shift;
    int64_t low, high; /* values outside count as the nearer one */
    uint64_t best, null;
    uint64_t stride;
};

struct first_rows {
    uint64_t wanted; /* limit + offset; 0: no rows can be dropped, and the other fields are not set */
    uint32_t term_count;
    struct first_term terms[FIRST_TERMS_MAX];
    bool by_row; /* the place is added */
    uint64_t
        bound; /* rows with a greater rank are not wanted, as far as the tiles' least and greatest values tell */
};

/* Finds out whether the plan's rows can be dropped so. */
struct first_rows first_rows_of(const struct plan *plan);

/* The same of groups, whose terms are over groups and aggregates. Groups of equal ranks are ordered by their numbers; if
 * `by_number`, the highest word of the number is a part of the rank, times `number_stride`. `wanted` is 0 without a limit. */
struct first_groups {
    bool few; /* HAVING or the limit may drop groups; else the other fields are not set */
    struct first_rows first;
    bool by_number;
    uint64_t number_stride;
};
struct first_groups first_groups_of(const struct plan *plan);

/* ---- Ranks ---- */

/* A value's part of the rank. */
static inline uint64_t first_term_part(const struct first_term *term, int64_t value, bool null)
{
    const uint64_t within = (uint64_t)(value < term->low    ? term->low
                                       : value > term->high ? term->high
                                                            : value);
    const uint64_t distance = term->descending ? (uint64_t)term->high - within : within - (uint64_t)term->low;
    return (null ? term->null : term->best + (distance >> term->shift)) * term->stride;
}

/* The row's part. */
static inline uint64_t first_rows_place(const struct first_rows *first, uint32_t segment, uint32_t row)
{
    return first->by_row ? (uint64_t)segment << 24 | row : 0;
}

/* True if tiles' least and greatest values tell of ranks. */
static inline bool first_rows_know_tiles(const struct first_rows *first)
{
    return first->wanted > 0 && first->terms[0].column >= 0;
}

/* The best rank that a row of the tile can have. */
uint64_t first_rows_best(const struct first_rows *first, const struct plan *plan, uint32_t segment,
                         uint32_t tile);

/* The `nth` least of `count` ranks, from 1 on; moves the ranks. Takes about 10 ns a rank. */
uint64_t first_rows_nth(uint64_t *ranks, uint64_t count, uint64_t nth);

/* ---- Tiles (first_tiles.c) ---- */

/* If every row is in the answer, finds plan->first.bound, and removes the tiles without wanted rows from plan->scan. */
NODISCARD enum status first_rows_find(struct plan *plan, struct error *error);

#endif
