/*
 * run_internal.h: a planned statement on the CPU: prepared (open.c), run in pieces by threads (run.c), and
 * expressions over the surviving rows of a tile (rows.c).
 */
#ifndef TESSERA_ENGINE_CPU_RUN_INTERNAL_H
#define TESSERA_ENGINE_CPU_RUN_INTERNAL_H

#include "engine/cpu/stream/group_delivery.h"
#include "engine/cpu/group_states.h"
#include "engine/cpu/index_mask.h"
#include "engine/cpu/key_bits.h"
#include "engine/cpu/tile_steps.h"
#include "engine/cpu/top_rows.h"
#include "engine/plan/reading/scan_reader.h"
#include "engine/run/device.h"

#include <stdatomic.h>

/* The tiles of a piece, which a thread takes at a time: 65,536 rows take about 50 microseconds, so the cost
 * of taking one is negligible and all threads end at about the same time. */
#define PIECE_TILES 64u

/* The rows that were found in a piece. As long as they follow each other, which all rows do, they are not listed. */
struct piece_rows {
    uint64_t count, first;
    bool listed;    /* else they are first .. first + count - 1 */
    uint64_t *rows; /* kept for the next run */
};

/* A leaf that is filled before an expression is evaluated. Leaves are ordered by join, so that the positions
 * of each join are found once. */
struct value_leaf {
    const struct plan_source *source;
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

/* A thread's view of a fact column, and of a join. */
struct worker_column {
    struct tile_column *tile; /* &own, or in `parameters` if a hand-written kernel reads it */
    struct tile_column own;
    int64_t *wide; /* the decoded tile of a 64-bit column; `tile` uses it if the plan has the column narrow */
    int64_t wide_tile; /* its index, or -1 */
};

struct worker_join {
    struct tile_dimension *tile; /* as of a column */
    struct tile_dimension own;
};

/* What rows are grouped by, or an argument of an aggregate. */
struct worker_term {
    struct tile_term tile; /* its column is NULL: it is in the program of `values` */
    struct row_vector rows;
};

struct cpu_worker {
    struct worker_column *columns; /* of plan->columns */
    struct worker_join *joins;     /* of plan->joins */
    uint8_t *parameters;           /* struct tile_parameters of a hand-written kernel, or NULL */
    struct tile_step
        *steps; /* the first one keeps rows up to the bound of `top`; those of the plan come after it */
    struct tile_list *list;
    struct row_values *conditions; /* one for each STEP_CONDITION */
    struct row_values values;  /* groups and arguments that are expressions; or the first term of ORDER BY */
    struct worker_term *terms; /* of plan->groups and then of plan->aggregates */
    struct row_vector *arguments;  /* of plan->aggregates */
    struct tile_term order;        /* plan->order_column, if the plan is in_order */
    struct row_values later_terms; /* of ORDER BY, as far as they are in ranks */
    struct top_heap top;
    struct group_states *states;
    struct scan_point *points; /* plan_points */
    uint32_t segment;
    bool used;
    bool dense; /* the rows that are left of a tile are those of `keep`; else `rows` lists them */
    tile_mask keep;
    uint16_t rows[TILE_ROWS];
    int64_t positions[VECTOR_ROWS];
    uint8_t missing[VECTOR_ROWS];
    uint64_t (*numbers)[VECTOR_ROWS]; /* each word of the groups' numbers; or ranks */
};

/* A fact column that is decoded before the scan: its segments as plain values, and the memory of these; else NULL. */
struct run_column {
    struct segment_data *staged;
    void *scratch;
};

struct device_run {
    const struct plan *plan;
    unsigned threads;
    bool counting;
    tile_query *kernel; /* the hand-written kernel; NULL: the plan's steps are run */
    tile_steps_rows *tile_rows;
    tile_steps_keep *tile_keep;
    tile_steps_values *tile_values;
    tile_steps_term *tile_term;
    tile_steps_number *tile_number;
    tile_steps_rank *tile_rank;
    bool may_be_dense,
        dense_conditions; /* arguments take rows by a mask; conditions may see rows that are dropped */
    uint16_t all_rows[TILE_ROWS];         /* 0, 1, ... */
    uint32_t step_count, condition_count; /* steps that make a tile's mask, and conditions on rows */
    uint32_t *condition_step, *mask_step; /* these steps of the plan */
    uint32_t **bitmaps; /* of each of plan->joins the positions that pass, if rows probe them; else NULL */
    struct run_column *columns;           /* of plan->columns */
    struct index_mask *index;             /* NULL: the plan uses no bitmap index */
    struct tile_skip own;                 /* the tiles of the share's segments; unused if it has all */
    const struct tile_skip *share, *scan; /* the tiles of the share, and of this run's segments */
    struct scan_reader *reader;           /* of the columns that the scan reads; NULL: they are in memory */
    bool backwards;                       /* the scan begins with the last piece */
    uint64_t *segment_first;              /* the first row of each segment in the table */

    bool stages; /* some column is staged */
    uint64_t pieces;
    struct cpu_worker *workers;
    struct group_states **used;        /* the states of workers that have rows */
    struct group_delivery *deliveries; /* of each thread, of PLAN_HASH */
    struct group_sink *sink;           /* what takes the groups of this run, or NULL */
    struct piece_rows
        *found; /* PLAN_ROWS: the rows of each piece; there is one for each piece of plan->scan */
    atomic_uint_fast64_t found_rows;
    struct top_rows top;
    struct key_bits keys;      /* instead of groups, in a run whose result is not merged */
    int32_t top_column;        /* of plan->columns, whose values tell of ranks; -1: none */
    int32_t top_low, top_high; /* that the plan's steps keep of it */
};

/* True if the bits of the key decide the join's predicate, so that a run makes no bitmap. Codecs that do not keep bits apart
 * are decoded, and their values are tested: by a few comparisons for a vector of them, fewer than a probe takes, but more
 * than the two of a range. */
static inline bool cpu_join_is_tested(const struct plan_join *join)
{
    return join->inner && join->test.exact && join->test.cube_count > 0 &&
           (join->test.used || !join->contiguous);
}

/* ---- open.c, run.c: as in struct device_operations ---- */

NODISCARD enum status cpu_run_open(unsigned threads, const struct plan *plan,
                                   const struct device_share *share, struct device_run **out,
                                   struct error *error);
void cpu_run_close(struct device_run *run);
NODISCARD enum status cpu_run_load(struct device_run *run, struct error *error);
NODISCARD enum status cpu_run(struct device_run *run, const struct device_request *request,
                              struct partial *partial, struct run_timing *timing, struct error *error);
NODISCARD enum status cpu_count(struct device_run *run, bool steps, struct scan_counts *counts,
                                struct error *error);

/* ---- rows.c: rows of a tile, at most VECTOR_ROWS, which worker->rows lists or worker->keep has ---- */

/* Makes the program that evaluates these expressions, and the list of its leaves. Free with row_values_close,
 * also after an error. */
NODISCARD enum status row_values_open(const struct plan *plan, const uint32_t *roots, uint32_t root_count,
                                      struct row_values *values, struct error *error);
void row_values_close(struct row_values *values);

/* Makes a segment the worker's current one. */
void cpu_enter_segment(const struct device_run *run, struct cpu_worker *worker, uint32_t segment);

/* Keeps the rows, of `count`, that satisfy a condition; returns their number. */
uint32_t cpu_keep_rows(const struct device_run *run, struct cpu_worker *worker, uint32_t condition,
                       const struct tile *t, uint32_t count);

/* Keeps the rows, of `count`, that can be among the first ones (top_rows.h); returns their number. */
uint32_t cpu_keep_top(struct device_run *run, struct cpu_worker *worker, const struct tile *t,
                      uint32_t count);

/* Adds the rows to the worker's states or, for PLAN_ROWS, to the rows of the piece. The tile begins at row
 * first_row of the table. */
NODISCARD enum status cpu_take_rows(struct device_run *run, struct cpu_worker *worker, const struct tile *t,
                                    uint64_t piece, uint64_t first_row, uint32_t count, struct error *error);

#endif
