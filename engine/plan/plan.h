/*
 * engine/plan/plan.h: a star query ready to be run: which tiles and columns are read, which rows
 * stay and in which order that is decided, how rows are grouped, what is summed, and what becomes of the
 * groups.
 *
 *     scan        every tile of the fact table that its minima and maxima do not rule out
 *     steps       in order: ranges on fact columns, semi-joins with dimensions' bitmaps, conditions on single
 *                 rows; most selective per byte first
 *     groups      a mixed-radix number of the group terms' values: a slot where the domain is small, a key in
 *                 a hash table where it is not; or no groups and no aggregates: the rows themselves
 *     aggregates  of each group
 *     output      expressions over groups and aggregates (or rows), HAVING, order, limit: on the host
 *
 * Made by engine/sql/sql.h, run by the devices of engine/run/device.h. A kernel that was written by hand can stand for
 * the generated scan (plan_use_kernel); all else stays as it is.
 */
#ifndef TESSERA_ENGINE_PLAN_PLAN_H
#define TESSERA_ENGINE_PLAN_PLAN_H

#include "engine/plan/expression.h"
#include "engine/plan/tile_skip.h"
#include "operators/dialect/hand_kernel.h"
#include "storage/database/database.h"

struct expression_program; /* engine/plan/expression_vector.h */

#define PLAN_COLUMNS_MAX    256u /* fact columns that are read */
#define PLAN_JOINS_MAX      16u
#define PLAN_SOURCES_MAX    256u
#define PLAN_GROUPS_MAX     16u
#define PLAN_AGGREGATES_MAX 128u
#define PLAN_STEPS_MAX      64u
#define PLAN_OUTPUTS_MAX    512u
#define PLAN_KEY_WORDS_MAX  4u

/* The most slots of dense groups (a slot's state is 12 to 24 bytes an aggregate, on a CPU once a thread);
 * more are hashed. */
#define PLAN_DENSE_SLOTS_MAX (1u << 20)

/* So few slots are dense however few rows there are. */
#define PLAN_DENSE_SLOTS_ALWAYS 4096u

/* A fact column, opened in one encoding. */
struct plan_column {
    const struct column *column;
    struct column_data *data;
    bool nullable;                  /* some segment has a validity bitmap */
    bool stepped;                   /* a range step or a semi-join reads it */
    bool fetched;                   /* its values are needed of the rows that are left */
    uint32_t width_low, width_high; /* of all chunks */
};

/* A dimension column as a plain array over row positions. */
struct plan_array {
    const struct column *column;
    const void *values;   /* value_bytes 1, 2: unsigned; 4, 8: signed */
    uint32_t value_bytes; /* 1, 2, 4 or 8 */
    uint64_t rows;
    const uint32_t *valid;    /* bit r%32 of word r/32: row r is not NULL; NULL: none is */
    bool composed;            /* of a dimension of a dimension: made for one join and column alone */
    struct column_data *data; /* what `values` points into, or NULL */
    void *copy, *valid_copy;  /* what had to be put together */
};

/* A join along a declared reference: the key of a fact row is the position of its row. */
struct plan_join {
    const struct table *table;
    char *name;      /* alias or table: for EXPLAIN */
    uint32_t column; /* the key, of plan->columns */
    /* A fact row without a partner (its key is NULL, or the partner does not fulfil `match`) is dropped if
     * `inner`; else the dimension's columns are NULL for it. */
    bool inner;
    uint32_t match;   /* condition over the dimension's columns alone, or EXPRESSION_NONE: every row */
    uint64_t passing; /* rows of the table that fulfil it, as found when the query was planned */
    bool contiguous;  /* they are one range of positions (or none) */
    uint64_t first, last;
    struct position_set passing_rows; /* these rows, until plan_find_tiles has used them */
};

/* What an EXPRESSION_COLUMN with that index reads: a fact column, or an array at the join's position. */
struct plan_source {
    int32_t join;    /* -1: a fact column */
    uint32_t column; /* of plan->columns if join is -1, else of plan->arrays */
};

enum plan_step_kind {
    STEP_RANGE,     /* low <= column <= high, not NULL: an int32 column of plan->columns */
    STEP_SEMI_JOIN, /* the row's partner in `join` fulfils its condition; only inner joins that have one or
                       whose key may be NULL */
    STEP_CONDITION  /* an expression is true */
};

struct plan_step {
    enum plan_step_kind kind;
    uint32_t column; /* STEP_RANGE */
    int32_t low, high;
    uint32_t join;       /* STEP_SEMI_JOIN */
    uint32_t expression; /* STEP_CONDITION */
    double share;        /* of the rows that reach it, expected to pass */
};

/* code = NULL ? 0 : value - low + nullable, cut to domain - 1 (catalogues may lie about ranges, and slots must
 * exist); the group's number: sum of code * stride. Where that could pass 2^63, numbers have several words, and a term
 * belongs to one of them. */
struct plan_group {
    uint32_t expression;
    int64_t low;
    uint64_t domain; /* codes 0 .. domain - 1 */
    uint64_t stride; /* a word's last term's is 1 */
    uint32_t word;
    bool nullable;
};

/* Codes of values low .. high (low <= high), and one for NULL; 0: 2^64 or more. */
static inline uint64_t plan_group_domain(int64_t low, int64_t high, bool nullable)
{
    const uint64_t width = (uint64_t)high - (uint64_t)low;
    return width < UINT64_MAX - nullable ? width + 1 + nullable : 0;
}

enum aggregate_kind {
    AGGREGATE_COUNT,    /* rows where the argument is not NULL; without argument: all rows */
    AGGREGATE_SUM,      /* proven to fit 64 bits */
    AGGREGATE_SUM_WIDE, /* summed in 128 bits; a result that does not fit 64 is an error when it is output */
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_COUNT_DISTINCT
};

/* avg(x) is sum(x) and count(x) with a division above. sum, min and max over no value that is not NULL are
 * NULL: the plan counts such values where the argument may be NULL. */
struct plan_aggregate {
    enum aggregate_kind kind;
    uint32_t argument; /* expression, or EXPRESSION_NONE: count(*) */
    uint32_t count;    /* the aggregate that counts its values, or its own number: every row has one */
    struct value_type type;
    int64_t low, high; /* of the argument: COUNT_DISTINCT's domain */
};

enum plan_shape {
    PLAN_ROWS,  /* no aggregates: the rows that are left, in order */
    PLAN_TOTAL, /* aggregates without GROUP BY: one group, even of no row */
    PLAN_DENSE, /* slots */
    PLAN_HASH   /* a table of numbers: one word below 2^63, or several of 64 bits */
};

struct plan_output {
    char *name;
    uint32_t expression; /* PLAN_ROWS: over sources; else over groups and aggregates */
};

struct plan_order {
    uint32_t output; /* of plan->outputs: hidden ones follow the visible */
    bool descending, nulls_first;
};

/* A hand-written kernel with its names resolved, by the places that they have in struct kernel_names; -1 stands for a
 * name that it does not use. */
struct plan_kernel {
    const struct hand_kernel *kernel; /* NULL: the kernel is made from the plan */
    uint32_t column_count, dimension_count;
    int32_t columns[KERNEL_NAMES_MAX];    /* of plan->columns */
    int32_t joins[KERNEL_NAMES_MAX];      /* of plan->joins */
    int32_t codes[KERNEL_NAMES_MAX];      /* of plan->arrays: what tile_code reads */
    uint32_t code_base[KERNEL_NAMES_MAX]; /* and takes away from it */
    uint32_t domain[TILE_GROUPS_MAX];     /* of each group; 1 where there is none */
};

struct plan {
    struct database *database;
    const struct table *fact;
    struct expression_list expressions;
    uint32_t column_count, array_count, join_count, source_count, step_count, group_count, aggregate_count;
    uint32_t output_count; /* visible */
    uint32_t hidden_count; /* behind them: ORDER BY's */
    uint32_t order_count;
    struct plan_column columns[PLAN_COLUMNS_MAX];
    struct plan_array arrays[PLAN_SOURCES_MAX];
    struct plan_join joins[PLAN_JOINS_MAX];
    struct plan_source sources[PLAN_SOURCES_MAX];
    struct plan_step steps[PLAN_STEPS_MAX]; /* those that are conditions come last */
    struct plan_group groups[PLAN_GROUPS_MAX];
    struct plan_aggregate aggregates[PLAN_AGGREGATES_MAX];
    struct plan_output outputs[PLAN_OUTPUTS_MAX];
    struct plan_order orders[PLAN_OUTPUTS_MAX];
    enum plan_shape shape;
    uint32_t key_words;     /* of a group's number: 1, or of PLAN_HASH up to PLAN_KEY_WORDS_MAX */
    uint64_t slots;         /* PLAN_DENSE: of the group numbers; PLAN_TOTAL: 1; else 0 */
    uint64_t groups_most;   /* PLAN_HASH: no more groups than this (rows, product of the domains) */
    uint32_t having;        /* over groups and aggregates, or EXPRESSION_NONE */
    uint64_t limit, offset; /* limit UINT64_MAX: none */
    bool nothing;           /* a condition is never true: no row is read */
    bool staged;            /* columns are decoded into scratch memory, and the scan reads them there */
    struct plan_kernel kernel;
    struct tile_skip scan; /* the tiles that can hold a row of the answer */
    double skip_ms;        /* that finding them took */
};

void plan_free(struct plan *plan);

/* Whether the column is decoded before the scan reads it: one whose chunks are not its values as they are. */
bool plan_stages(const struct plan *plan, uint32_t column);
/* Bytes of its values in scratch memory, whole tiles of the segment's rows. */
uint64_t plan_staged_bytes(const struct plan *plan, uint32_t column, uint32_t segment);
/* Bytes of chunks that decoding all staged columns reads: those of the tiles that are kept. */
uint64_t plan_staged_reads(const struct plan *plan);

/* Lets `kernel` answer instead of the kernel that would be made from the plan, and puts the steps into its order. What
 * it does must be what the plan says: the same filters and semi-joins, groups in dense slots by the plain columns of
 * dimensions in the same order, one sum of the same value. STATUS_BAD_INPUT with the difference if it is not. Nothing
 * is done where no row is read. */
NODISCARD enum status plan_use_kernel(struct plan *plan, const struct hand_kernel *kernel,
                                      struct error *error);

/* ---- Dimension columns as arrays: engine/plan/plan_array.c ---- */

/* The dimension column as an array, one value for each row of a join's table. positions: NULL, or for a table
 * beyond the join's (a dimension of a dimension) the `rows` positions there, -1: NULL. */
NODISCARD enum status plan_array_open(struct plan *plan, const struct column *column,
                                      const int32_t *positions, uint64_t rows, unsigned threads,
                                      uint32_t *index, struct error *error);

/* All values of a column by row, at least one; those of NULLs mean nothing. Owned by the caller (free). */
NODISCARD enum status plan_column_read(struct database *database, const struct column *column,
                                       unsigned threads, int64_t **values, struct error *error);

/* Stored values of a column whole, one int32 each, -1 where it is NULL: a foreign key's positions. Owned by
 * the caller (free). */
NODISCARD enum status plan_positions_read(struct plan *plan, const struct column *column, unsigned threads,
                                          int32_t **positions, struct error *error);

/* Fills the vector with the array's values at rows first .. first + rows - 1. */
void plan_array_read(const struct plan_array *array, uint64_t first, uint32_t rows, int64_t *values,
                     uint8_t *nulls);

/* Sets used[a] for each array a that the expression reads. */
void plan_mark_arrays(const struct plan *plan, uint32_t expression, bool used[PLAN_SOURCES_MAX]);

/* ---- Parts of a plan that is being made: engine/plan/plan.c ---- */

/* Fills the program's leaves, which all are columns of one dimension, with rows first .. first + rows - 1 of it. */
void plan_fill_dimension(const struct plan *plan, const struct expression_program *program, uint64_t first,
                         uint32_t rows);

/* Evaluates the join's condition over its table: passing and its rows, contiguous, first and last; and for each of
 * `count` expressions over its columns alone the least and greatest value among the rows that pass, low >
 * high if there are none. Constraints: as many rows as the table has, 10 ns each and node. */
NODISCARD enum status plan_join_analyse(struct plan *plan, uint32_t join, const uint32_t *expressions,
                                        uint32_t count, int64_t *low, int64_t *high, struct error *error);

/* Finds plan->scan, once the steps and the dimensions' passing rows are known. */
NODISCARD enum status plan_find_tiles(struct plan *plan, struct error *error);

/* ---- Analysed runs: engine/plan/scan_counts.c ---- */

/* A point of the scan: before each step, behind the last one, and (the last) where the tile's rows are in the groups. */
struct scan_point {
    uint64_t rows, tiles; /* that reached it; tiles with such rows (on a CPU) */
    uint64_t ticks;       /* of a clock, spent since the point before, over all threads */
};
#define SCAN_POINTS_MAX (PLAN_STEPS_MAX + 2)

struct scan_counts {
    uint64_t reached[PLAN_STEPS_MAX], left[PLAN_STEPS_MAX];
    double share[PLAN_STEPS_MAX +
                 1]; /* of the scan's time, that each step took and, behind them, what becomes of
                                         the rows that are left */
    uint64_t bytes
        [PLAN_COLUMNS_MAX]; /* of each fact column, that the scan touched; values of one that is staged */
    uint64_t tiles, tiles_skipped;
};

/* Fills reached, left and share from step_count + 2 points, given in the order of the plan's steps. */
void scan_counts_fill(const struct plan *plan, const struct scan_point *points, struct scan_counts *counts);

/* The number of the step that is the first to read the fact column; step_count if only groups or aggregates read it;
 * step_count + 1 if nothing does. */
uint32_t plan_first_use(const struct plan *plan, uint32_t column);

#endif
