/*
 * plan.h: the plan of a star query. It says which tiles and columns are read, by which steps in which order
 * rows are filtered, how rows are grouped and aggregated, and what is computed from the groups.
 *
 *     scan        the tiles of the fact table that their minima and maxima do not exclude
 *     steps       in order: what bitmap indexes decide, as one mask; ranges on fact columns, semi-joins with bitmaps of
 *                 dimensions, probes of sets of keys, conditions on single rows; the most selective per byte first
 *     groups      a mixed-radix number of the group terms' values: a slot if the domain is small, else the
 *                 key of a hash table; without groups and aggregates the result is the rows themselves
 *     aggregates  of each group
 *     output      expressions over groups and aggregates (or rows), HAVING, order, limit; on the host
 *
 * The binder makes plans (engine/sql/sql.h), devices run them (engine/run/device.h). A hand-written kernel
 * can replace the generated scan (plan_use_kernel); everything else stays the same.
 */
#ifndef TESSERA_ENGINE_PLAN_PLAN_H
#define TESSERA_ENGINE_PLAN_PLAN_H

#include "engine/aggregate/aggregate.h"
#include "engine/plan/expression.h"
#include "engine/plan/grouping/grouping.h"
#include "engine/plan/levels/position_test.h"
#include "engine/plan/order/first_rows.h"
#include "engine/plan/plan_index.h"
#include "engine/plan/tile_skip.h"
#include "operators/dialect/hand_kernel.h"
#include "storage/database/database.h"
#include "storage/database/kept_arrays.h"

struct expression_program; /* engine/plan/expression_vector.h */

#define PLAN_AGGREGATES_MAX 1024u
#define PLAN_OUTPUTS_MAX    2048u
#define PLAN_KEY_WORDS_MAX  64u

/* The most slots of dense groups; more groups are hashed. A slot has 12 to 24 bytes for each aggregate, on a
 * CPU in each thread. */
#define PLAN_DENSE_SLOTS_MAX (1u << 20)

/* Up to this number of slots, groups are dense even if the fact table has few rows. */
#define PLAN_DENSE_SLOTS_ALWAYS 4096u

/* A fact column, opened in one encoding. */
struct plan_column {
    const struct column *column;
    struct column_data *data;
    bool nullable; /* some segment has a validity bitmap */
    bool narrow;   /* the scan has its values as int32: they are, or on a CPU all of them fit it */
    bool stepped;  /* a range step or a semi-join reads it */
    bool fetched;  /* the surviving rows need its values */
    bool
        decided; /* it is not read: only conditions that bitmap indexes decide, and aggregates that are known, name it */
    bool crowded; /* on a GPU: a block of the scan has no shared memory for its decoder (engine_fit) */
    uint32_t width_low, width_high; /* of all chunks */
    uint32_t needed; /* the bits that survivors' values need: of a foreign key, else all ones */
};

/* A dimension column as a plain array: value p >> shift is that of position p; in a gap it is that of the row before it
 * (storage/column/positions.h). */
struct plan_array {
    const struct column *column;
    const void *values;    /* value_bytes 1, 2: unsigned; 4, 8: signed */
    uint32_t value_bytes;  /* 1, 2, 4 or 8 */
    uint32_t shift;        /* 0: a value for each position; else for each prefix, of a level */
    uint64_t rows;         /* elements */
    const uint32_t *valid; /* bit e%32 of word e/32: element e is not NULL; NULL: none is NULL */
    bool composed;         /* of a dimension of a dimension: made for one join and column only */
    /* What the values point into: the data of a stored column, an array that the database keeps for all plans, which this one
     * releases, or arrays of the plan's own (plan_array_fill). The others are NULL. */
    struct column_data *data;
    const struct kept_array *kept;
    void *copy, *valid_copy;
};

/* A join along a declared reference: the foreign key of a fact row is the position of a row of the table. */
struct plan_join {
    const struct table *table;
    char *name;      /* the alias or the table's name, for EXPLAIN */
    uint32_t column; /* the foreign key, in plan->columns */
    /* A fact row has no match if its key is NULL or the dimension's row does not satisfy `match`. If `inner`,
     * such a fact row is dropped; else the dimension's columns are NULL in it. */
    bool inner;
    bool
        conditional; /* of a left join: ON has conditions besides the keys, so that the dimension's columns may be NULL
                       * although the key is not */
    uint32_t match;   /* the dimension predicate, or EXPRESSION_NONE: all rows pass */
    uint64_t passing; /* the number of the table's rows that satisfy it, counted when the query is planned */
    bool contiguous;  /* these rows follow each other, at the positions first .. last, or there are none */
    uint64_t first, last;
    struct position_set
        passing_rows;          /* their positions, if there is a predicate; a GPU evaluates it itself */
    struct position_test test; /* of `match`; if used and exact, no run makes a bitmap */
    uint64_t *leaf_rows; /* the passing rows of each leaf of the table's levels, while planning; NULL: all */
};

/* The source of an EXPRESSION_COLUMN with this index: a fact column, or an array at the join's position. With
 * `bits`, which a term of GROUP BY may have, it is those bits of the position instead of the array's value. */
struct plan_source {
    int32_t join;         /* -1: a fact column */
    uint32_t column;      /* in plan->columns if join is -1, else in plan->arrays */
    uint32_t bits, shift; /* 0, or (position >> shift) & (1 << bits) - 1 */
};

enum plan_step_kind {
    STEP_RANGE,     /* low <= column <= high and not NULL, for an int32 column of plan->columns */
    STEP_SEMI_JOIN, /* the row has a match in `join`, which is inner and has a predicate or a nullable key */
    STEP_PROBE, /* the same, for a condition that is [NOT] IN a dense set of an int32 column of plan->columns */
    STEP_CONDITION, /* an expression is true */
    STEP_INDEX      /* the row's bit is set in the mask of plan->index; it is steps[0], or there is none */
};

struct plan_step {
    enum plan_step_kind kind;
    uint32_t column; /* STEP_RANGE, STEP_PROBE */
    int32_t low, high;
    uint32_t join;       /* STEP_SEMI_JOIN */
    uint32_t expression; /* STEP_CONDITION, STEP_PROBE */
    double share;        /* the expected selectivity: the fraction of the rows that reach it and pass */
};

/* A set of keys as a dimension that is made for one scan: its positions are key - low, and its bitmap says which of them
 * are there. */
struct plan_probe {
    const struct value_table *set; /* whose members are not NULL */
    bool negated;                  /* rows pass whose key is not NULL and not in the set */
};

/* A term of GROUP BY. Its code is NULL ? 0 : value - low + nullable, at most domain - 1: a damaged catalogue
 * may have wrong ranges, but a slot must exist. A group's number is the sum of code * stride. If this could
 * exceed 2^63, numbers have several words, and each term belongs to one word. */
struct plan_group {
    uint32_t expression;
    uint32_t written; /* the same as in the statement: differs from `expression` if levels took its place */
    int64_t low;
    uint64_t domain; /* codes are 0 .. domain - 1 */
    uint64_t stride; /* 1 for the last term of a word */
    uint32_t word;
    bool nullable;
    /* NULL, or the term's source has `bits`, which are the code, and values[code] is the value; any value if
     * no row has the code. No two codes of passing rows have the same value. Owned by the plan. */
    int64_t *values;
};

/* The range of a group's term among some rows; low > high: all are NULL, or there are none. */
struct group_range {
    struct plan_group *group;
    int64_t low, high;
};

/* Widens the range by a value that is not NULL. */
static inline void group_range_see(struct group_range *range, int64_t value)
{
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

/* The number of codes of the values low .. high (low <= high), with one for NULL; 0: 2^64 or more. */
static inline uint64_t plan_group_domain(int64_t low, int64_t high, bool nullable)
{
    const uint64_t width = (uint64_t)high - (uint64_t)low;
    return width < UINT64_MAX - nullable ? width + 1 + nullable : 0;
}

/* avg(x) becomes sum(x), count(x) and a division in the output. Aggregates that do not count are NULL if all values are
 * NULL; so the plan counts the values if the argument may be NULL. */

/* A sum of doubles: `limbs` aggregates one after the other, each the sum of one limb (storage/base/doubles/double_bits.h). Their
 * sum, which is exact, is rounded once in the output (engine/answer/double_sum.h). */
struct plan_double_sum {
    uint32_t limbs;    /* 0: none */
    uint32_t argument; /* the doubles */
    int first;         /* the exponent of the first limb's last bit */
    unsigned width;    /* of a limb in bits */
    bool
        infinite; /* infinities and NaN are possible: the aggregates least and greatest tell if there are any */
    uint32_t least, greatest;
};

/* An aggregate whose value the statistics have: what it was, before it became a number of rows (grouping/known_values.c). */
struct plan_known {
    bool known;
    enum aggregate_kind kind;
    uint32_t argument;
};

struct plan_aggregate {
    enum aggregate_kind kind;
    uint32_t argument; /* an expression, or EXPRESSION_NONE: count(*) */
    uint32_t count;    /* the aggregate that counts its values, or its own index: no value is NULL */
    struct value_type type;
    int64_t low, high;              /* the range of the argument */
    bool limb;                      /* of a sum of doubles */
    struct plan_double_sum doubles; /* the first limb of a sum of doubles; else all zeros */
    struct plan_known known;
};

enum plan_shape {
    PLAN_ROWS,  /* no aggregates: the surviving rows, in order */
    PLAN_TOTAL, /* aggregates without GROUP BY: one group, even without rows */
    PLAN_DENSE, /* the group's number is its slot */
    PLAN_HASH   /* a hash table of numbers: of one word less than 2^63, or of several words */
};

struct plan_output {
    char *name;
    uint32_t expression; /* PLAN_ROWS: over sources; else over groups and aggregates */
    uint32_t
        late; /* EXPRESSION_NONE, or what the output is: computed row by row, for the rows of the answer, from the
                    * values of `expression` and other outputs */
};

struct plan_order {
    uint32_t output; /* in plan->outputs; hidden ones come after the visible ones */
    bool descending, nulls_first;
};

/* A number of all groups that pass HAVING: an aggregate over them. A GPU that has them all may give these instead of the groups
 * (struct partial). */
struct plan_total {
    enum aggregate_kind kind;
    uint32_t
        argument; /* over groups and aggregates; groups where it is NULL do not count. EXPRESSION_NONE: all groups */
};

/* A hand-written kernel with its names resolved. The arrays are indexed by the name's position in struct
 * kernel_names; -1 for a name that the kernel does not use. */
struct plan_kernel {
    const struct hand_kernel *kernel; /* NULL: the kernel is generated from the plan */
    uint32_t column_count, dimension_count;
    int32_t columns[KERNEL_NAMES_MAX];    /* in plan->columns */
    int32_t joins[KERNEL_NAMES_MAX];      /* in plan->joins */
    int32_t codes[KERNEL_NAMES_MAX];      /* in plan->arrays: the array that tile_code reads */
    uint32_t code_base[KERNEL_NAMES_MAX]; /* the number that tile_code subtracts */
    /* The array is read at position >> code_shift. Without an array the code is (position >> code_shift) & code_mask. */
    uint32_t code_shift[KERNEL_NAMES_MAX], code_mask[KERNEL_NAMES_MAX];
    uint32_t domain[TILE_GROUPS_MAX]; /* of each group; 1 if there are fewer groups */
};

struct plan {
    struct database *database;
    const struct table *fact;
    struct expression_list expressions;
    uint32_t column_count, array_count, join_count, source_count, step_count, group_count, aggregate_count;
    uint32_t output_count; /* the visible ones */
    uint32_t hidden_count; /* those after them, for ORDER BY */
    uint32_t order_count, measure_count, total_count;

    /* The lists, which grow as they are filled. */
    struct plan_column *columns;
    struct plan_array *arrays;
    struct plan_join *joins;
    struct plan_source *sources;
    struct plan_step *steps; /* STEP_INDEX comes first, STEP_CONDITIONs come last */
    struct plan_group *groups;
    struct plan_aggregate *aggregates;
    struct plan_measure *measures;
    struct plan_output *outputs;
    struct plan_order *orders;
    struct plan_total *totals;
    struct plan_grouping grouping;
    struct plan_index index;

    /* Steps that are not in `steps`, because bitmap indexes decide them wholly; they still exclude tiles. */
    uint32_t decided_count;
    struct plan_step *decided;
    enum plan_shape shape;
    uint32_t key_words;   /* of a group's number: 1, or up to PLAN_KEY_WORDS_MAX for PLAN_HASH */
    uint64_t slots;       /* PLAN_DENSE: the number of group numbers; PLAN_TOTAL: 1; else 0 */
    uint64_t groups_most; /* PLAN_HASH: the most groups (the rows, or the product of the domains) */
    /* PLAN_HASH: no group has rows on both sides of a greater value of order_column (grouping/in_order.h). */
    bool in_order;
    uint32_t order_column;
    uint32_t having;        /* over groups and aggregates, or EXPRESSION_NONE */
    uint64_t limit, offset; /* limit UINT64_MAX: no limit */
    bool nothing;           /* a condition is never true: no row is read */
    bool taken; /* PLAN_ROWS: of the rows that pass a GPU makes columns, if it can (struct partial) */
    bool
        set; /* PLAN_DENSE, PLAN_HASH: of the groups the values of an output are wanted alone, in no order, each once: a GPU gives
                  * a bitmap if it can (struct partial) */
    uint32_t set_output; /* which one */
    bool staged;         /* columns are decoded into scratch memory, from which the scan reads them */
    struct plan_kernel kernel;
    struct tile_skip scan;   /* the tiles that can have a row of the answer */
    struct first_rows first; /* which rows are wanted of many */
    double skip_ms;          /* the time for finding them */
};

/* plan_clear frees all that a plan owns, plan_free the plan, too. */
void plan_clear(struct plan *plan);
void plan_free(struct plan *plan);

/* Sets `taken` before the plan is fitted to a device; false: its rows cannot be taken. */
bool plan_take(struct plan *plan);

/* Sets `set` before the plan is fitted to a device; false: the output's values cannot be a bitmap. */
bool plan_want_set(struct plan *plan, uint32_t output);

/* The bytes of memory that the plan owns, without names, nearly. Those of columns and dictionaries are the database's. */
uint64_t plan_bytes(const struct plan *plan);

/* The fact column that a step reads; -1: none, or those of its expression (STEP_CONDITION, STEP_INDEX). */
static inline int32_t plan_step_column(const struct plan *plan, const struct plan_step *step)
{
    return step->kind == STEP_RANGE || step->kind == STEP_PROBE ? (int32_t)step->column
           : step->kind == STEP_SEMI_JOIN                       ? (int32_t)plan->joins[step->join].column
                                                                : -1;
}

/* True if the step is an expression. A GPU asks each of single rows, a CPU those that are no probes. */
static inline bool plan_step_is_expression(const struct plan_step *step)
{
    return step->kind == STEP_PROBE || step->kind == STEP_CONDITION;
}

/* Of a STEP_PROBE. */
static inline struct plan_probe plan_probe_of(const struct plan *plan, const struct plan_step *step)
{
    const struct expression *const nodes = plan->expressions.nodes;
    const struct expression *test = &nodes[step->expression];
    const bool negated = test->operation == EXPRESSION_NOT;
    test = negated ? &nodes[test->child[0]] : test;
    return (struct plan_probe){&plan->expressions.tables[test->table], negated};
}

static inline const struct aggregate *plan_aggregate_of(const struct plan *plan, uint32_t a)
{
    return aggregate_of(plan->aggregates[a].kind);
}

/* True if the aggregate needs the set of its values. */
static inline bool plan_is_distinct(const struct plan *plan, uint32_t a)
{
    return plan_aggregate_of(plan, a)->distinct;
}

/* True if the aggregate is the number of all rows of a group. */
static inline bool plan_is_row_count(const struct plan *plan, uint32_t a)
{
    return plan_aggregate_of(plan, a)->counts && plan->aggregates[a].argument == EXPRESSION_NONE;
}

/* True if the aggregate has an argument that may be NULL. */
static inline bool plan_argument_is_nullable(const struct plan *plan, uint32_t a)
{
    const uint32_t node = plan->aggregates[a].argument;
    return node != EXPRESSION_NONE && plan->expressions.nodes[node].nullable;
}

/* True if the column is decoded before the scan: the plan is staged, or the codec always is
 * (codec_is_staged), or a GPU has no room for its decoder; and the column's chunks are not plain values. */
bool plan_stages(const struct plan *plan, uint32_t column, bool on_gpu);
/* True if a column of the plan is decoded before the scan. */
bool plan_stages_any(const struct plan *plan, bool on_gpu);
/* The bytes of a segment's values in scratch memory, in whole tiles. */
uint64_t plan_staged_bytes(const struct plan *plan, uint32_t column, uint32_t segment);
/* The bytes of chunks that decoding the staged columns reads: those of the kept tiles. */
uint64_t plan_staged_reads(const struct plan *plan, bool on_gpu);

/* Lets `kernel` answer the plan instead of the generated kernel, and puts the steps into the kernel's order.
 * The kernel must do what the plan says: the same filters and semi-joins, one sum of the same value, and
 * dense groups by dimension columns in the same order. STATUS_BAD_INPUT, with the difference, if it does not.
 * If no row is read, it does nothing; nor if bitmap indexes decide conditions: then the generated scan answers,
 * because hand-written kernels begin with all rows. */
NODISCARD enum status plan_use_kernel(struct plan *plan, const struct hand_kernel *kernel,
                                      struct error *error);

/* The fraction of a key column's bytes that has the bits of `mask`: planes are read alone, and the rest whole; 1 for a
 * column in a codec that does not keep bits apart (levels/level_analysis.c). */
double plan_bits_share(const struct plan *plan, uint32_t column, uint32_t mask);

/* ---- Dimension columns as arrays (plan_array.c) ---- */

/* Add an array, which plan_free frees, and a source. */
NODISCARD enum status plan_array_add(struct plan *plan, struct plan_array array, uint32_t *index,
                                     struct error *error);
NODISCARD enum status plan_source_add(struct plan *plan, struct plan_source source, struct error *error);

/* Opens a dimension column as an array with one value for each position of a join's table. `rows` is NULL or,
 * for a dimension of a dimension, has for each of the `count` positions of the join's table the row there; -1:
 * NULL. The database keeps the array, if it is no stored column's bytes as they are. */
NODISCARD enum status plan_array_open(struct plan *plan, const struct column *column,
                                      const struct kept_array *rows, uint64_t count, unsigned threads,
                                      uint32_t *index, struct error *error);

/* Reads a column into an array by position, which the caller frees and which has at least one element. The
 * values of NULLs are undefined. */
NODISCARD enum status plan_column_read(struct database *database, const struct column *column,
                                       unsigned threads, int64_t **values, struct error *error);

/* Reads for each row of a foreign key's table the row that it references into an array, which the caller frees; -1:
 * NULL. */
NODISCARD enum status plan_references_read(struct plan *plan, const struct column *column, unsigned threads,
                                           int32_t **rows, struct error *error);

/* Fills the vector with the array's values at positions first .. first + count - 1. */
void plan_array_read(const struct plan_array *array, uint64_t first, uint32_t count, int64_t *values,
                     uint8_t *nulls);

/* The same at any positions; missing[i], if `missing` is not NULL, makes value i NULL. */
void plan_array_gather(const struct plan_array *array, const int64_t *positions, const uint8_t *missing,
                       uint32_t count, int64_t *values, uint8_t *nulls);

/* Sets used[a] for each array a, of plan->array_count, that the expression reads. */
void plan_mark_arrays(const struct plan *plan, uint32_t expression, bool *used);

/* ---- Parts of a plan that is being made (dimensions/join_analysis.c, plan.c) ---- */

/* Fills the program's leaves, which are columns of one dimension, with its positions first .. first + count - 1. */
void plan_fill_dimension(const struct plan *plan, const struct expression_program *program, uint64_t first,
                         uint32_t count);

/* Evaluates the join's predicate, which it must have, over its table, and sets passing, passing_rows, contiguous, first
 * and last. Also finds the ranges, among the rows that pass, of `count` groups, whose terms are over the join's columns. A
 * thread takes 0.1 ns for each row and conjunct of the common shape (dimensions/dimension_match.h), and 1 to 10 ns for
 * each node of others and row that the former leave. */
NODISCARD enum status plan_join_analyse(struct plan *plan, uint32_t join, struct group_range *ranges,
                                        uint32_t count, unsigned threads, struct error *error);

/* True if rows look up at run time whether the join's row satisfies its predicate. It is not so where a bitmap index
 * has decided that. */
bool plan_join_is_probed(const struct plan *plan, uint32_t join);

/* Finds plan->scan from the steps and from the dimensions' passing rows, which must be known. */
NODISCARD enum status plan_find_tiles(struct plan *plan, unsigned threads, struct error *error);

/* ---- Answers from row counts (index/count_rows.c) ---- */

/* True if the answer is nothing but numbers of rows. */
bool plan_only_counts(const struct plan *plan);
/* True if they are numbers that bitmap indexes decide alone, or of all rows: no column is read. */
bool plan_counts_rows(const struct plan *plan);
/* True if this number also follows from the vectors' numbers of rows, without their words. */
bool plan_rows_are_known(const struct plan *plan);
/* The rows of the segments of `scan`, if they are known so. */
uint64_t plan_known_rows(const struct plan *plan, const struct tile_skip *scan);

/* ---- Analysed runs (scan_counts.c) ---- */

/* A point of the scan. There is one before each step, one after the last step, and one after the tile's rows
 * have been added to their groups: plan_points in all. */
struct scan_point {
    uint64_t rows, tiles; /* the rows that reach it; on a CPU the tiles with such rows */
    uint64_t ticks;       /* the time since the point before, of all threads */
};
static inline uint32_t plan_points(const struct plan *plan)
{
    return plan->step_count + 2;
}

/* The bytes of chunks that a run needs: those that a GPU keeps, those that are copied to it, and those that its kernels
 * read from the host's memory. On a CPU all are 0. */
struct scan_moves {
    uint64_t kept, copied, read;
};
static inline void scan_moves_add(struct scan_moves *to, const struct scan_moves *from)
{
    to->kept += from->kept;
    to->copied += from->copied;
    to->read += from->read;
}

struct step_counts {
    uint64_t reached, left; /* the rows before and after the step */
    double share;           /* the fraction of the scan's time that it takes */
};

struct scan_counts {
    struct step_counts
        *steps; /* of each step; then the grouping of survivors, whose share alone is counted */

    /* The bytes of each fact column that the scan touches; of a staged column, those of its values. */
    uint64_t *bytes;
    struct scan_moves moves;
    uint64_t tiles, tiles_skipped;
};

/* Makes counts of 0. Free them with scan_counts_free, also after an error; counts that are all zeros may be freed. */
NODISCARD enum status scan_counts_make(const struct plan *plan, struct scan_counts *counts,
                                       struct error *error);
void scan_counts_free(struct scan_counts *counts);

/* Adds the rows, bytes and moves of a run over other segments; `tiles`, `tiles_skipped` and `share` are the caller's. */
void scan_counts_add(const struct plan *plan, const struct scan_counts *from, struct scan_counts *counts);

/* Fills the steps from the points, which are in the order of the plan's steps. */
void scan_counts_fill(const struct plan *plan, const struct scan_point *points, struct scan_counts *counts);

/* True if the expression reads the fact column, as a value or as the key of a join; or if groups or aggregates do. */
bool plan_expression_reads(const struct plan *plan, uint32_t node, uint32_t column);
bool plan_groups_read(const struct plan *plan, uint32_t column);

/* The first step that reads the fact column; step_count if only groups or aggregates read it; step_count + 1
 * if it is not read. */
uint32_t plan_first_use(const struct plan *plan, uint32_t column);

#endif
