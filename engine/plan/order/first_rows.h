/*
 * first_rows.h: the first rows of a plan with ORDER BY and LIMIT. A row is not wanted if `limit + offset` rows come before
 * it by the first term of ORDER BY; devices drop such rows while they scan (engine/cpu/top_rows.h, engine/gpu/top/).
 *
 * Rows that are equal to the last wanted one are kept: the other terms, and then the order of rows, decide among these
 * later (engine/answer/output.h).
 *
 * A tile's least and greatest values are values of its rows. If every row of the table is in the answer, `limit + offset`
 * of them bound what is wanted before a row is read, and the plan then reads few tiles: of random data about
 * `limit + offset`, of sorted data those at one end. This takes about 10 ns a tile when a statement is planned.
 */
#ifndef TESSERA_ENGINE_PLAN_ORDER_FIRST_ROWS_H
#define TESSERA_ENGINE_PLAN_ORDER_FIRST_ROWS_H

#include "storage/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* With more rows wanted, finding the last of them costs more than it saves. */
#define FIRST_ROWS_MAX 65536u

struct plan;

/* Ranks are numbers of 64 bits; the row with the lesser one comes before the other. */
struct first_rows {
    uint64_t wanted;     /* limit + offset; 0: no rows can be dropped, and the other fields are not set */
    uint32_t expression; /* the first term */
    int32_t column;      /* the fact column that it is, in plan->columns; -1: another expression */
    bool descending, nulls_first;
    uint64_t
        bound; /* rows with a greater rank are not wanted, as far as the tiles' least and greatest values tell */
};

/* Finds out whether the plan's rows can be dropped so. */
struct first_rows first_rows_of(const struct plan *plan);

/* The rank of a value. */
static inline uint64_t first_rows_rank(const struct first_rows *first, int64_t value, bool null)
{
    const uint64_t ascending = (uint64_t)value ^ (UINT64_C(1) << 63);
    if (null)
        return first->nulls_first ? 0 : UINT64_MAX;
    return first->descending ? ~ascending : ascending;
}

/* The best rank that a row of the tile can have; first->column is not -1. */
uint64_t first_rows_best(const struct first_rows *first, const struct plan *plan, uint32_t segment,
                         uint32_t tile);

/* The `nth` least of `count` ranks, from 1 on; moves the ranks. Takes about 10 ns a rank. */
uint64_t first_rows_nth(uint64_t *ranks, uint64_t count, uint64_t nth);

/* Fills plan->first, and removes the tiles without wanted rows from plan->scan. */
NODISCARD enum status first_rows_find(struct plan *plan, struct error *error);

#endif
