/*
 * engine/cpu/run_internal.h: a planned statement on the CPU: made ready (engine/cpu/open.c), run in pieces by threads
 * (engine/cpu/run.c); what becomes of the rows that a tile's steps left (engine/cpu/rows.c).
 */
#ifndef TESSERA_ENGINE_CPU_RUN_INTERNAL_H
#define TESSERA_ENGINE_CPU_RUN_INTERNAL_H

#include "engine/cpu/dimension_match.h"
#include "engine/cpu/group_states.h"
#include "engine/cpu/tile_steps.h"
#include "engine/run/device.h"

#include <stdatomic.h>

/* Tiles that a thread takes at a time: 65,536 rows, some 50 microseconds, so that taking one costs nothing and the last
 * ones end together. */
#define PIECE_TILES 64u

/* Dimension rows whose condition a thread evaluates at a time. */
#define MATCH_ROWS 65536u

struct piece_rows {
    uint64_t count;
    uint64_t *rows;
};

/* What is filled in before an expression is evaluated: by join, so that positions are looked up once for each. */
struct value_leaf {
    int32_t join;    /* -1: the fact table */
    uint32_t column; /* as in struct plan_source */
    struct vector vector;
};

struct row_values {
    struct expression_program *program;
    struct vector result; /* of a condition */
    struct value_leaf *leaves;
    uint32_t leaf_count;
};

struct cpu_worker {
    struct tile_column
        *columns[PLAN_COLUMNS_MAX];      /* in `parameters` where a hand-written kernel reads them */
    int64_t *wide[PLAN_COLUMNS_MAX];     /* a 64-bit column's tile, decoded */
    int64_t wide_tile[PLAN_COLUMNS_MAX]; /* which one, or -1 */
    struct tile_dimension *dimensions[PLAN_JOINS_MAX]; /* likewise */
    struct tile_column own_columns[PLAN_COLUMNS_MAX];
    struct tile_dimension own_dimensions[PLAN_JOINS_MAX];
    uint8_t *parameters; /* struct tile_parameters of a hand-written kernel, or NULL */
    struct tile_step steps[PLAN_STEPS_MAX];
    struct tile_list *list;
    struct row_values conditions[PLAN_STEPS_MAX]; /* one for each STEP_CONDITION */
    struct row_values values;                     /* groups and arguments */
    struct expression_program *matches[PLAN_JOINS_MAX];
    struct group_states *states;
    struct scan_point points[SCAN_POINTS_MAX];
    uint32_t segment;
    bool used;
    uint16_t rows[TILE_ROWS];
    int64_t positions[VECTOR_ROWS];
    uint8_t missing[VECTOR_ROWS];
    uint64_t numbers[PLAN_KEY_WORDS_MAX][VECTOR_ROWS];
};

struct device_run {
    const struct plan *plan;
    unsigned threads;
    bool counting;
    tile_query *kernel; /* written by hand; NULL: the plan's steps */
    tile_steps_rows *tile_rows;
    tile_steps_values *tile_values;
    uint32_t step_count, condition_count; /* of a tile's mask, and conditions on rows */
    uint32_t condition_step[PLAN_STEPS_MAX];
    uint32_t mask_step[PLAN_STEPS_MAX];
    uint32_t *bitmaps[PLAN_JOINS_MAX];
    bool matched_fast[PLAN_JOINS_MAX]; /* by `matches` */
    struct dimension_match matches[PLAN_JOINS_MAX];
    const struct tile_skip *scan; /* of this run: of the segments that were asked for */
    uint64_t *segment_first;      /* of each segment: its first row in the table */
    struct segment_data
        *staged[PLAN_COLUMNS_MAX];   /* columns that are decoded first: their segments, as plain values */
    void *scratch[PLAN_COLUMNS_MAX]; /* what these point into */
    bool stages;                     /* there are such columns */
    uint64_t pieces;
    uint64_t match_pieces[PLAN_JOINS_MAX];
    struct cpu_worker *workers;
    struct group_states **used; /* of the workers that saw rows */
    struct piece_rows *found;   /* PLAN_ROWS: of each piece, were all tiles kept */
    atomic_uint_fast64_t found_rows;
};

/* ---- engine/cpu/open.c, engine/cpu/run.c: as in struct device_operations ---- */

NODISCARD enum status cpu_run_open(unsigned threads, const struct plan *plan, struct device_run **out,
                                   struct error *error);
void cpu_run_close(struct device_run *run);
NODISCARD enum status cpu_run_load(struct device_run *run, struct error *error);
NODISCARD enum status cpu_run(struct device_run *run, const struct device_request *request,
                              struct partial *partial, struct run_timing *timing, struct error *error);
NODISCARD enum status cpu_count(struct device_run *run, bool steps, struct scan_counts *counts,
                                struct error *error);

/* ---- engine/cpu/rows.c: rows of a tile, at most VECTOR_ROWS, listed in worker->rows ---- */

/* The program that evaluates these expressions, and the leaves that it is filled from. What there is, also after an
 * error, is freed by row_values_close. */
NODISCARD enum status row_values_open(const struct plan *plan, const uint32_t *roots, uint32_t root_count,
                                      struct row_values *values, struct error *error);
void row_values_close(struct row_values *values);

/* Points the worker's columns at a segment. */
void cpu_enter_segment(const struct device_run *run, struct cpu_worker *worker, uint32_t segment);

/* Keeps the rows that fulfil a condition; returns how many of `count` they are. */
uint32_t cpu_keep_rows(const struct device_run *run, struct cpu_worker *worker, uint32_t condition,
                       const struct tile *t, uint32_t count);

/* Adds the rows to the worker's states or, of PLAN_ROWS, to those that the piece found; the tile's first row is row
 * first_row of the table. */
NODISCARD enum status cpu_take_rows(struct device_run *run, struct cpu_worker *worker, const struct tile *t,
                                    uint64_t piece, uint64_t first_row, uint32_t count, struct error *error);

#endif
