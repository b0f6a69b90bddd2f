/*
 * level_plan.h: what a plan makes of levels (storage/column/levels.h), for the planner. Called a few times for a statement.
 *
 *     level_arrays.c    a dimension column that levels decide is an array with one value for each prefix
 *     level_analysis.c  a dimension predicate is evaluated once for each prefix, where levels decide it, and becomes a
 *                       test of a key's bits (position_test.h)
 *     level_groups.c    a term of GROUP BY that is a level is bits of the key
 */
#ifndef TESSERA_ENGINE_PLAN_LEVELS_LEVEL_PLAN_H
#define TESSERA_ENGINE_PLAN_LEVELS_LEVEL_PLAN_H

#include "engine/plan/planner.h"

/* The number of leading levels that decide the column's values; 0 if the table has no levels or only the row decides. */
uint32_t level_depth(const struct column *column);
/* The same of an array's values: 0 if the array has a value for each position. */
uint32_t level_array_depth(const struct plan_array *array);

/* ---- Prefixes ---- */

/* The rows of one prefix: those of consecutive leaves. */
struct level_part {
    uint32_t prefix; /* of `depth` levels */
    uint32_t leaf, leaves;
    uint64_t first_row, rows;
};

/* Gives the parts of a depth, one after the other; false after the last. *part is all zeros at first. */
bool level_part_next(const struct table_levels *levels, uint32_t depth, struct level_part *part);

/* ---- Arrays, predicates, groups ---- */

/* Opens a column that levels decide as an array with a value for each prefix. Gaps repeat the value before them. */
NODISCARD enum status level_array_open(struct plan *plan, const struct column *column, unsigned threads,
                                       uint32_t *index, struct error *error);

/* Makes the array one of `count` elements: those of rows[0 ..], each one of `value_count` values or -1: NULL, or without
 * `rows` the values themselves, as many. `nulls` has 1 for each NULL, or is NULL: none is. The values of NULLs become 0.
 * array->rows stays: of a table with levels it is that of the positions, on which the values are spread after it
 * (plan_array.c). On all threads takes 2 ns for each value and element. */
NODISCARD enum status plan_array_fill(struct plan_array *array, const int64_t *values, const uint8_t *nulls,
                                      uint64_t value_count, const int32_t *rows, uint64_t count,
                                      unsigned threads, struct error *error);

/* The levels that decide all columns of a program over one join's table; 0 if there are other columns. */
uint32_t level_program_depth(const struct plan *plan, const struct expression_program *program);
/* The bits of a position below that depth; 0 if `depth` is 0. */
uint32_t level_shift_of(const struct table *table, uint32_t depth);

/* The part of plan_join_analyse that evaluates the program, over one row of each prefix. */
void level_join_analyse(struct plan *plan, uint32_t join, struct expression_program *program, uint32_t depth,
                        struct group_range *ranges, uint32_t count);

/* Finds the join's test and leaf_rows from its passing rows, for a scan of so many rows. */
NODISCARD enum status level_test_find(struct plan_join *join, uint64_t rows, struct error *error);

/* Decides whether the join's semi-join tests bits of the key instead of probing a bitmap. */
void level_test_use(struct plan *plan, uint32_t join);

/* Makes the terms of GROUP BY that are levels of inner joins bits of their keys, where the groups' slots allow it. All
 * joins have been analysed, and planner_shape follows. */
NODISCARD enum status level_groups(struct planner *planner);

/* Sets plan_column.needed, after all else is known. */
void level_bits_needed(struct plan *plan);

#endif
