/*
 * grid.h: all codecs, the papers' methods of decoding them, and nvCOMP's schemes, measured over several datasets (widths,
 * distinct values, columns): bits a value, decoding to memory, decode-and-sum; as three tables and three charts. While
 * they are measured, each row of each dataset has a line.
 */
#ifndef TESSERA_LAB_BENCH_GRID_H
#define TESSERA_LAB_BENCH_GRID_H

#include "engine/report/chart.h"
#include "lab/bench/nvcomp.h"
#include "lab/published/published.h"

#define GRID_POINTS_MAX 32u

/* Rows of the tables: codecs by their numbers, then published methods (on a GPU), then nvCOMP's schemes. Row 0 is none. */
#define GRID_PUBLISHED CODEC_COUNT
#define GRID_NVCOMP    (GRID_PUBLISHED + PUBLISHED_METHODS)
#define GRID_ROWS      (GRID_NVCOMP + NVCOMP_SCHEMES)

struct grid_cell {
    double bits; /* 0: the codec cannot hold the values, or: */
    char why[NVCOMP_WHY_BYTES];
    struct decode_result speed;
    double encode_seconds;
};

/* What a paper calls a row. */
struct grid_paper {
    const char *row, *name; /* of a row; in the paper */
};
extern const struct grid_paper grid_tile_based[]; /* SIGMOD 2022; for `paper` of a grid */

struct grid {
    const char *title;          /* "uniform values" */
    struct chart_axis x;        /* what the datasets differ in */
    const char *const *charted; /* names of the rows that the charts show, ended by NULL; the tables have all.
                                   NULL: all; an empty list: no charts */
    const struct grid_paper *
        paper; /* rows' names in the paper, a column of the tables; ended by a row that is NULL. NULL: no column */
    struct nvcomp *nvcomp; /* a peer, or NULL: the tables have no rows of it */
    bool rates;            /* show values a second instead of milliseconds */
    uint32_t point_count;
    double points[GRID_POINTS_MAX];     /* x of each dataset */
    const char *names[GRID_POINTS_MAX]; /* instead of x, if names[0] is set; the caller's */
    uint64_t rows[GRID_POINTS_MAX];
    struct grid_cell cells[GRID_POINTS_MAX][GRID_ROWS];
    struct sheet *log; /* the lines that people see meanwhile, or NULL; the laboratory's (lab_log) */
};

/* The name of a row, and the row with a name; 0: there is none. */
const char *grid_row_name(uint32_t row);
uint32_t grid_row(const char *name);

/* Whether the tables have the row: --codecs may leave it out, published methods need a GPU, peers may not be wanted. */
bool grid_shows(const struct lab *lab, const struct grid *grid, uint32_t row);

/* Measures every codec on the dataset, as the next point of the grid, which was zero-initialised. */
NODISCARD enum status grid_measure(struct lab *lab, struct grid *grid, double x,
                                   const struct dataset *dataset, struct error *error);

/* Shows the tables and charts (lab/lab.h). */
NODISCARD enum status grid_report(struct lab *lab, const struct grid *grid, struct error *error);

#endif
