/*
 * window.h: shared by the files that answer window functions over the rows of an operator (relational_windows).
 *
 *     window.c     the operator: columns of arguments, functions one after the other
 *     order.c      the rows in the order of a window, where partitions and groups of peers begin
 *     placed.c     results in the order of their window, and what becomes of them
 *     ranks.c      numbers of rows and of groups of peers, in one pass
 *     passes.c     counts, sums and extrema of the commonest frames, in one pass
 *     frame.c      the frame of a row
 *     values.c     the other ranks, and values of other rows
 *     prefix.c     numbers and sums of the values before each place
 *     sums.c       aggregates of states (engine/aggregate), which take the same time for any frame
 *     general.c    all other aggregates: each frame is a group of a plan
 *
 * Rows are numbered by their *place* in the window's order, and a function's results stand in it: writing them where their
 * rows are takes several times as long as all else that is done for a row. What is the same for all frames is made once, for all places:
 * the order, prefix sums, a tree of minima. Then each row's frame is found and asked on its own, so that blocks of places
 * are independent, also those of one partition, and all threads take them.
 *
 * A frame is at most three ranges of places, because EXCLUDE takes rows out of its middle: those before, the row itself,
 * those after. A function of a million rows takes some 20 ms of one thread, and the time of sorting.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_WINDOW_WINDOW_H
#define TESSERA_ENGINE_RELATIONAL_WINDOW_WINDOW_H

#include "engine/aggregate/aggregate.h"
#include "engine/relational/relational.h"
#include "storage/base/sort/sort_rows.h"

#define WINDOW_BLOCK 2048u /* places that a thread takes at once */

static inline bool window_is_null(const struct rowset_column *column, uint64_t row)
{
    return column->nulls && column->nulls[row];
}

/* ---- Order (order.c) ---- */

struct window_term {
    uint32_t column; /* of the rowset */
    bool descending, nulls_first;
};

/* Valid if zero-initialised; free with window_order_free. */
struct window_order {
    uint64_t rows;
    uint64_t *places; /* the row at each place; NULL: all rows stand in order as they are */
    uint8_t *
        marks; /* what begins at each place (sort_rows.h): a partition, a group. NULL: the order is not made */

    /* Made by window_order_divide. */
    uint64_t partition_count, group_count;
    uint64_t *partitions; /* the place where each begins, and at the end `rows` */
    uint64_t *groups;     /* likewise; a group has rows that are equal in partition and order */

    uint32_t term_count, partition_terms;
    const struct window_term *terms; /* those of the partition first; they must outlive it */
};

static inline uint64_t window_row(const struct window_order *order, uint64_t at)
{
    return order->places ? order->places[at] : at;
}

/* Makes the order. Rows that are equal keep their order. */
NODISCARD enum status window_order_make(const struct rowset *rows, const struct window_term *terms,
                                        uint32_t count, uint32_t partition_terms, unsigned threads,
                                        struct window_order *order, struct error *error);
/* True if it is that of these terms. */
bool window_order_is(const struct window_order *order, const struct window_term *terms, uint32_t count,
                     uint32_t partition_terms);
/* The first row of each partition, without an order of the others, if all rows stand in the order of the partitions; else
 * *list stays NULL. */
NODISCARD enum status window_first_rows(const struct rowset *rows, const struct window_term *terms,
                                        uint32_t count, uint32_t partition_terms, unsigned threads,
                                        uint64_t **list, uint64_t *found, struct error *error);
/* Lists partitions and groups, for cursors. */
NODISCARD enum status window_order_divide(struct window_order *order, unsigned threads, struct error *error);
void window_order_free(struct window_order *order);

/* A place, its partition and its group. */
struct window_cursor {
    const struct window_order *order;
    uint64_t at;
    uint64_t partition, first, end;         /* places first .. end - 1 */
    uint64_t group, group_first, group_end; /* its number in all groups */
    uint64_t first_group, end_group;        /* of the partition */
};

/* Goes to a place, which there must be; to the next one, if there is one. */
void window_cursor_open(const struct window_order *order, uint64_t at, struct window_cursor *cursor);
void window_cursor_next(struct window_cursor *cursor);

/* ---- Frames (frame.c) ---- */

/* A whole number of each row: that of a column, or a constant if it is NULL. */
struct window_number {
    const struct rowset_column *column;
    int64_t constant;
};

/* Where a frame begins or ends. */
struct window_edge {
    enum sql_bound bound;
    struct window_number number; /* ROWS, GROUPS: how many */
    const struct rowset_column *key,
        *value; /* RANGE: the order's term, and its value at the edge, of one type */
};

struct window_frames {
    enum sql_frame frame; /* not SQL_FRAME_NONE */
    struct window_edge begin, end;
    bool descending; /* of the order's only term, with RANGE */
    enum sql_exclude exclude;
};

/* Places begin .. end - 1. */
struct window_range {
    uint64_t begin, end;
};

/* In ascending order; none is empty. */
struct window_frame {
    uint32_t count;
    struct window_range ranges[3];
};

static inline bool window_frames_are_same(const struct window_frame *a, const struct window_frame *b)
{
    return a->count == b->count && memcmp(a->ranges, b->ranges, a->count * sizeof *a->ranges) == 0;
}

/* STATUS_BAD_INPUT, without a position, if a bound is NULL or negative. */
NODISCARD enum status window_frame_find(const struct window_frames *frames,
                                        const struct window_cursor *cursor, struct window_frame *frame,
                                        struct error *error);

/* ---- Functions ---- */

/* A function while it is computed. */
struct window_call {
    struct relational *run;
    const struct logical_window *of;
    const struct rowset *rows;
    const uint32_t *numbers; /* of the rowset's columns in the tree */
    struct window_order *order;
    struct window_frames frames;
    const struct rowset_column *argument, *otherwise; /* or NULL */
    const struct rowset_column *placed;               /* the argument in the window's order; or NULL */
    struct window_number number;                      /* of lag and lead, ntile, nth_value */
    unsigned threads;
    struct rowset_column out; /* of all places: `values`, and `nulls` with zeros; its type is set */
};

/* Works on the places begin .. end - 1. */
typedef enum status window_block(void *context, uint64_t begin, uint64_t end, struct error *error);
/* Calls it for blocks of all places, on all threads. */
NODISCARD enum status window_blocks(uint64_t places, unsigned threads, window_block *block, void *context,
                                    struct error *error);

static inline void window_give(struct window_call *call, uint64_t at, int64_t value)
{
    call->out.values[at] = value;
}

static inline void window_give_null(struct window_call *call, uint64_t at)
{
    call->out.values[at] = 0;
    call->out.nulls[at] = 1;
}

/* `row` of a column; NULL: NULL */
static inline void window_give_cell(struct window_call *call, uint64_t at, const struct rowset_column *from,
                                    uint64_t row)
{
    if (!from || window_is_null(from, row))
        window_give_null(call, at);
    else
        window_give(call, at, from->values[row]);
}

/* Each fills in call->out. */
/* True if the function is one of ranks.c, or of passes.c. */
bool window_is_rank(const struct window_call *call);
NODISCARD enum status window_ranks(struct window_call *call);
/* *nulls: values may be NULL; else call->out needs none. */
bool window_is_pass(struct window_call *call, bool *nulls);
NODISCARD enum status window_passes(struct window_call *call);
NODISCARD enum status window_values(struct window_call *call);  /* functions that are no aggregates */
NODISCARD enum status window_general(struct window_call *call); /* any aggregate */
/* True if the aggregate is one of sums.c, and then computes it. */
bool window_is_sum(struct window_call *call);

/* An aggregate of states. */
struct window_aggregate {
    const struct aggregate *of;
    bool average, true_only; /* a sum over the count; true values alone are counted */
};
/* False: the aggregate is none of states. */
bool window_aggregate_of(struct window_call *call, struct window_aggregate *aggregate);
#define WINDOW_SUM_TOO_LARGE "a sum over a window exceeds 64 bits; CAST the summed expression to double"

NODISCARD enum status window_sums(struct window_call *call);

/* ---- Results (placed.c) ---- */

/* Puts the values of places where their rows are. */
NODISCARD enum status window_to_rows(const struct window_order *order, unsigned threads,
                                     struct rowset_column *column, struct error *error);
/* True if no place has a NULL. */
bool window_has_no_null(const struct rowset_column *column, uint64_t rows);

/* ---- Numbers and sums before each place (prefix.c) ---- */

/* How many of the argument's values before each place count. NULL: all of them. Free both. */
struct window_counts {
    uint64_t *local, *bases; /* within a block of places; before a block */
    bool all;
};

/* Of an argument's values that are not NULL; `true_only`: and that are not 0. No argument: all rows. */
NODISCARD enum status window_counts_make(const struct window_order *order,
                                         const struct rowset_column *argument, bool true_only,
                                         unsigned threads, struct window_counts *counts, struct error *error);
void window_counts_free(struct window_counts *counts);

static inline uint64_t window_counts_before(const struct window_counts *counts, uint64_t at)
{
    return counts->all ? at : counts->bases[at / WINDOW_BLOCK] + counts->local[at];
}

/* Sums of 128 bits of the argument's values: of whole numbers; or of doubles, exact, limb by limb (double_bits.h), and
 * then how many are infinity, -infinity and NaN. */
#define WINDOW_LIMBS_MAX 40u
struct window_sums {
    uint32_t limbs, width;  /* the number of sums; of doubles the bits of a limb */
    int first;              /* of doubles: the exponent of the lowest bit */
    bool doubles, infinite; /* the last three of the sums are the numbers of infinities and NaNs */
    __int128 *local, *bases;
};

NODISCARD enum status window_sums_make(const struct window_order *order, const struct rowset_column *argument,
                                       unsigned threads, struct window_sums *sums, struct error *error);
void window_sums_free(struct window_sums *sums);

/* Adds the sums of a range's values to `to`; `limbs` is that of `sums`, a constant of whole numbers. */
static inline void window_sums_add(const struct window_sums *sums, uint32_t limbs, struct window_range range,
                                   __int128 *to)
{
    const __int128 *const before = sums->local + range.begin * limbs, *const after =
                                                                          sums->local + range.end * limbs;
    const __int128 *const base_before = sums->bases + range.begin / WINDOW_BLOCK * limbs,
                          *const base_after = sums->bases + range.end / WINDOW_BLOCK * limbs;
    for (uint32_t l = 0; l < limbs; l++)
        to[l] += after[l] - before[l] + base_after[l] - base_before[l];
}

#endif
