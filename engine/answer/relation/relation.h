/*
 * relation.h: operations on answers in memory (rowset.h) that are not scans of one table: joins on equality, UNION and
 * the like, windows. Everything else that an answer is asked is a scan (storage/database/database_memory.h).
 *
 * For answers of up to some millions of rows, on one thread: a join or a set takes about 100 ns a row, a window that
 * and the time of sorting.
 */
#ifndef TESSERA_ENGINE_ANSWER_RELATION_RELATION_H
#define TESSERA_ENGINE_ANSWER_RELATION_RELATION_H

#include "engine/aggregate/aggregate.h"
#include "engine/aggregate/measure.h"
#include "engine/answer/rowset.h"

#define RELATION_NO_ROW UINT64_MAX

/* The most rows of a join: more are refused, because a forgotten condition is the usual reason. */
#define RELATION_ROWS_MAX (UINT64_C(1) << 28)

/* ---- Columns (columns.c) ---- */

/* Makes a column of rows places[0 .. count - 1] of another one, or of its first `count` rows without `places`; NULL for
 * RELATION_NO_ROW. The name is copied, the dictionary is shared. */
NODISCARD enum status relation_gather(const struct rowset_column *from, const uint64_t *places,
                                      uint64_t count, struct rowset_column *to, struct error *error);
void relation_column_free(struct rowset_column *column);

/* Makes sorted dictionaries of those that the rowset owns and that are not. */
NODISCARD enum status relation_sort_dictionaries(struct rowset *rows, struct error *error);

/* Converts two columns to a common type: numbers to one scale, or to doubles; dates to timestamps; strings to one
 * dictionary, *made, which the caller frees (or NULL). A column whose type is not known (VALUE_UNTYPED) takes any. STATUS_BAD_INPUT,
 * without a position, if there is no common type. */
NODISCARD enum status relation_alike(struct rowset_column *left, uint64_t left_rows,
                                     struct rowset_column *right, uint64_t right_rows,
                                     struct dictionary **made, struct error *error);

/* ---- Joins (join.c) ---- */

/* Pairs the rows whose `count` keys are equal; a NULL equals nothing. The pairs are in the order of the left rows, and
 * then of the right ones. `outer`: a left row without a partner is paired with RELATION_NO_ROW. Without keys each row
 * is paired with each. The caller frees *lefts and *rights, and drops their charge. */
NODISCARD enum status relation_join(const struct rowset_column *left, uint64_t left_rows,
                                    const struct rowset_column *right, uint64_t right_rows, uint32_t count,
                                    bool outer, uint64_t **lefts, uint64_t **rights, uint64_t *pairs,
                                    struct memory_charge *charge, struct error *error);

/* ---- Sets (set.c) ---- */

/* ALL: a row that both sides have n and m times is left n - m times, or the lesser of n and m. */
enum relation_set {
    RELATION_UNION_ALL,
    RELATION_UNION,
    RELATION_EXCEPT,
    RELATION_EXCEPT_ALL,
    RELATION_INTERSECT,
    RELATION_INTERSECT_ALL
};

/* Makes *left what `set` makes of both, which have the same number of columns; *right is used up. Rows keep the order of
 * their first appearance; NULLs are equal to each other. Dictionaries that are made belong to *left. */
NODISCARD enum status relation_set(enum relation_set set, struct rowset *left, struct rowset *right,
                                   struct error *error);

/* ---- Windows (window.c) ---- */

enum window_function {
    WINDOW_ROW_NUMBER,
    WINDOW_RANK,
    WINDOW_DENSE_RANK,
    WINDOW_PERCENT_RANK,
    WINDOW_CUME_DIST,
    WINDOW_NTILE, /* `number` parts */
    WINDOW_LAG,   /* `number` rows before; may be negative */
    WINDOW_FIRST,
    WINDOW_LAST,
    WINDOW_NTH,       /* row `number` of the frame, from 1 */
    WINDOW_AGGREGATE, /* `aggregate` of the frame's values */
    WINDOW_MEASURE    /* `measure` of them: a sketch */
};

enum window_bound {
    BOUND_FIRST,
    BOUND_ROWS,
    BOUND_PEERS /* the last row equal to the current one */,
    BOUND_LAST
};

struct window_order {
    uint32_t column;
    bool descending, nulls_first;
};

#define WINDOW_NO_COLUMN UINT32_MAX

/* Columns are numbers of the rowset's columns. The frame of BOUND_ROWS begins or ends so many rows after the current
 * one. */
struct window {
    enum window_function function;
    uint32_t argument, otherwise; /* or WINDOW_NO_COLUMN; `otherwise`: what lag gives where no row is */
    int64_t number;
    enum aggregate_kind aggregate;
    bool average; /* the aggregate over the number of values */
    enum measure_kind measure;
    int64_t fraction, whole; /* of a quantile: fraction / whole */
    uint32_t partition_count, order_count;
    const uint32_t *partitions;
    const struct window_order *orders;
    enum window_bound begin, end;
    int64_t begin_rows, end_rows;
};

/* The rows' order for windows; one that is kept serves windows of the same partitions and order. Valid if
 * zero-initialised; free `places`. */
struct window_sort {
    uint64_t *places;
    uint32_t partition_count, order_count;
    const uint32_t *partitions;
    const struct window_order *orders;
};

/* Computes the window's value for each row. STATUS_BAD_INPUT, without a position, if a sum leaves 64 bits or the
 * argument has the wrong type. */
NODISCARD enum status relation_window(const struct rowset *rows, const struct window *window,
                                      const char *name, unsigned threads, struct window_sort *sort,
                                      struct rowset_column *column, struct error *error);

#endif
