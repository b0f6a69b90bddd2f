/*
 * relation.h: operations on answers in memory (rowset.h) that are not scans of one table: UNION and
 * the like. Everything else that an answer is asked is a scan (engine/relational/rows_table.h).
 *
 * A set takes some 50 ns a row of one thread; all threads work on it.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_ROWS_RELATION_H
#define TESSERA_ENGINE_RELATIONAL_ROWS_RELATION_H

#include "engine/answer/rowset.h"

#define RELATION_NO_ROW UINT64_MAX

/* The most rows of a join: more are refused, because a forgotten condition is the usual reason. */
#define RELATION_ROWS_MAX (UINT64_C(1) << 28)

/* ---- Columns (columns.c) ---- */

/* Makes a column of rows places[0 .. count - 1] of another one, or of its first `count` rows without `places`; NULL for
 * RELATION_NO_ROW. The name is copied, the dictionary is shared. */
NODISCARD enum status relation_gather(const struct rowset_column *from, const uint64_t *places,
                                      uint64_t count, unsigned threads, struct rowset_column *to,
                                      struct error *error);

/* Converts two columns to a common type: numbers to one scale, or to doubles; dates to timestamps; strings to one
 * dictionary, *made, which the caller frees (or NULL). A column whose type is not known (VALUE_UNTYPED) takes any. STATUS_BAD_INPUT,
 * without a position, if there is no common type. */
NODISCARD enum status relation_alike(struct rowset_column *left, uint64_t left_rows,
                                     struct rowset_column *right, uint64_t right_rows,
                                     struct dictionary **made, struct error *error);

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

/* Makes *left what `set` makes of both, which have the same number of columns; *right is used up. After a failure they are
 * alike, and may be asked again or freed. Rows keep the order of
 * their first appearance; NULLs are equal to each other. Dictionaries that are made belong to *left. */
NODISCARD enum status relation_set(enum relation_set set, struct rowset *left, struct rowset *right,
                                   unsigned threads, struct error *error);

#endif
