/*
 * grid_claims.h: what the text of a paper says of a figure, beside what a grid has measured: a table with a line for each claim.
 */
#ifndef TESSERA_LAB_BENCH_GRID_CLAIMS_H
#define TESSERA_LAB_BENCH_GRID_CLAIMS_H

#include "lab/bench/grid.h"

enum claim_figure { CLAIM_BITS, CLAIM_MEMORY };

/* Of each point with first <= x <= last: the figure of row `of`, divided by that of row `to`, or, without one, less less_x * x + less. */
struct grid_claim {
    const char *text; /* "FOR+BitPack / GPU-FOR, time" */
    enum claim_figure figure;
    const char *of, *to; /* rows of the grid (grid_row_name); to: NULL is legal */
    double less, less_x;
    double first, last;     /* last 0: all points */
    bool last_point;        /* that one alone */
    double paper;           /* 0: no number: */
    const char *paper_says; /* ... but a word, or NULL */
};

/* Shows the table: the paper's number, and the least, the geometric mean and the most over the points. Claims of rows that the grid
 * does not show are left out; so is a table without claims. */
NODISCARD enum status grid_claims(struct lab *lab, const struct grid *grid, const char *caption,
                                  const struct grid_claim *claims, uint32_t count, struct error *error);

#endif
