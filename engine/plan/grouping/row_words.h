/*
 * row_words.h: a row as one word of 64 bits: the number of its group, and below it the codes of the aggregates' arguments.
 * Devices list rows so whose groups are too many for a table in a cache, and add them up group by group.
 *
 *     bit  63 ......... number_shift .............. shifts[a] + bits[a] ... shifts[a] ... 0
 *          the group's number        other codes    the code of a           other codes
 *
 * A code is that of the argument's distance from its least value; of an argument that may be NULL it is 0 for NULL, and else
 * one more. Aggregates of one argument have one code, and aggregates of rows have none.
 */
#ifndef TESSERA_ENGINE_PLAN_GROUPING_ROW_WORDS_H
#define TESSERA_ENGINE_PLAN_GROUPING_ROW_WORDS_H

#include "engine/plan/plan.h"

#define ROW_WORDS_NO_CODE UINT16_MAX

struct row_words {
    bool fit; /* else the rest has no meaning */
    uint32_t number_shift, number_bits;
    uint64_t numbers; /* those of groups are less */
    /* The first aggregate with this argument: itself, if it brings the code. */
    uint16_t code_of[PLAN_AGGREGATES_MAX];
    uint8_t shifts[PLAN_AGGREGATES_MAX], bits[PLAN_AGGREGATES_MAX];
};

/* All ones in the bits of an aggregate's code. */
static inline uint64_t row_words_mask(const struct row_words *of, uint32_t a)
{
    return (UINT64_C(1) << of->bits[a]) - 1; /* fewer than 64 */
}

/* Finds whether the rows of a plan fit words: hashed groups whose numbers are one word, without sets of values. */
void row_words_find(const struct plan *plan, struct row_words *words);

/* The groups that are expected at most, if all rows that pass have different ones; and these rows. */
double row_words_groups(const struct plan *plan);
double row_words_rows(const struct plan *plan);

/* The runs of the columns that the groups are made of, in the table's order: of that which has most, and of all together, so many
 * groups there are at most if their rows stand together. */
struct row_runs {
    uint64_t most, all;
    bool known; /* of each column; what is not known counts as 0 */
};
struct row_runs row_words_runs(const struct plan *plan);

#endif
