/*
 * star_cpu_internal.h: a planned statement on the CPU: made ready (star_cpu_open.c), run in pieces by threads
 * (star_cpu.c); what becomes of the rows that a tile's steps left (star_cpu_rows.c).
 */
#ifndef TESSERA_ENGINE_STAR_CPU_INTERNAL_H
#define TESSERA_ENGINE_STAR_CPU_INTERNAL_H

#include "engine/execute_internal.h"
#include "engine/sql.h"
#include "engine/star_match.h"
#include "engine/star_states.h"
#include "engine/star_tile.h"

#include <stdatomic.h>

/* As in execute_cpu.c: 65,536 rows a piece. */
#define PIECE_TILES 64u

/* Dimension rows whose condition a thread evaluates at a time. */
#define MATCH_ROWS 65536u

struct star_piece_rows {
    uint64_t count;
    uint64_t *rows;
};

/* What is filled in before an expression is evaluated: by join, so that positions are looked up once for each. */
struct star_leaf {
    int32_t join;    /* -1: the fact table */
    uint32_t column; /* as in struct plan_source */
    struct vector vector;
};

struct star_values {
    struct expression_program *program;
    struct vector result; /* of a condition */
    struct star_leaf *leaves;
    uint32_t leaf_count;
};

struct star_worker {
    struct tile_column columns[PLAN_COLUMNS_MAX];
    int64_t *wide[PLAN_COLUMNS_MAX];     /* a 64-bit column's tile, decoded */
    int64_t wide_tile[PLAN_COLUMNS_MAX]; /* which one, or -1 */
    struct tile_dimension dimensions[PLAN_JOINS_MAX];
    struct star_tile_step steps[PLAN_STEPS_MAX];
    struct tile_list *list;
    struct star_values conditions[PLAN_STEPS_MAX]; /* one for each STEP_CONDITION */
    struct star_values values;                     /* groups and arguments */
    struct expression_program *matches[PLAN_JOINS_MAX];
    struct star_states *states;
    struct star_point points[STAR_POINTS_MAX];
    uint64_t tiles_skipped;
    uint32_t segment;
    bool used;
    uint16_t rows[TILE_ROWS];
    int64_t positions[VECTOR_ROWS];
    uint8_t missing[VECTOR_ROWS];
    uint64_t numbers[PLAN_KEY_WORDS_MAX][VECTOR_ROWS];
};

struct star_run {
    struct star_plan *plan;
    unsigned threads;
    bool counting;
    star_tile_rows *tile_rows;
    star_tile_values *tile_values;
    uint32_t step_count, condition_count; /* of a tile's mask, and conditions on rows */
    uint32_t condition_step[PLAN_STEPS_MAX];
    uint32_t mask_step[PLAN_STEPS_MAX];
    uint32_t *bitmaps[PLAN_JOINS_MAX];
    bool matched_fast[PLAN_JOINS_MAX]; /* by `matches` */
    struct star_match matches[PLAN_JOINS_MAX];
    uint64_t **skipped; /* of each segment, a bit a tile */
    uint64_t pieces;
    uint64_t match_pieces[PLAN_JOINS_MAX];
    struct star_worker *workers;
    struct star_states **used;     /* of the workers that saw rows */
    struct star_piece_rows *found; /* PLAN_ROWS: of each piece */
    atomic_uint_fast64_t found_rows;
};

/* ---- star_cpu_open.c: as in struct star_device ---- */

NODISCARD enum status star_cpu_open(struct engine *engine, struct star_plan *plan, bool timed,
                                    struct star_run **out, struct star_timing *timing, struct error *error);
void star_cpu_close(struct star_run *run);

/* ---- star_cpu_rows.c: rows of a tile, at most VECTOR_ROWS, listed in worker->rows ---- */

/* The program that evaluates these expressions, and the leaves that it is filled from. What there is, also after an
 * error, is freed by star_values_close. */
NODISCARD enum status star_values_open(const struct star_plan *plan, const uint32_t *roots,
                                       uint32_t root_count, struct star_values *values, struct error *error);
void star_values_close(struct star_values *values);

/* Points the worker's columns at a segment. */
void star_enter_segment(const struct star_plan *plan, struct star_worker *worker, uint32_t segment);

/* Keeps the rows that fulfil a condition; returns how many of `count` they are. */
uint32_t star_keep_rows(const struct star_run *run, struct star_worker *worker, uint32_t condition,
                        const struct tile *t, uint32_t count);

/* Adds the rows to the worker's states or, of PLAN_ROWS, to those that the piece found; the tile's first row is row
 * first_row of the table. */
NODISCARD enum status star_take_rows(struct star_run *run, struct star_worker *worker, const struct tile *t,
                                     uint64_t piece, uint64_t first_row, uint32_t count, struct error *error);

#endif
