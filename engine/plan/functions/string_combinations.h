/*
 * string_combinations.h: numbers for the combinations of strings that a function of several columns is computed for.
 *
 * If all combinations are few, their number is the mixed-radix number of the codes. Else it is that of the combinations
 * that occur (struct expression_rows), column by column: a row's pair of (combination so far, code of the next column) is
 * found in a table of cells. Of the two values, `a` is that with the larger domain:
 *
 *     cell = starts[a] + b % sizes[a]
 *
 * where sizes[a] is the least number tried for which the b that occur with this a have different remainders: 1 for most
 * a that occur with one b. So a scan needs three look-ups, on any device.
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_COMBINATIONS_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_COMBINATIONS_H

#include "engine/plan/functions/string_table.h"

/* The most combinations that are not looked for in the rows: computing them takes a second, and a table 32 MB. */
#define STRING_COMBINATIONS_MAX (UINT64_C(1) << 22)

/* The most that may occur, and the most cells: 128 and 256 MB of tables. */
#define STRING_PAIRS_MAX (UINT64_C(1) << 24)
#define STRING_CELLS_MAX (UINT64_C(1) << 25)

struct string_combinations {
    const struct expression_list *list;
    const uint32_t *children; /* of the function */
    uint32_t child_count;
    uint32_t node;                      /* its values are numbers of combinations, or of cells */
    uint64_t count;                     /* of combinations */
    const uint64_t *only;               /* NULL, or the strings of the only column that are taken */
    int64_t *cells;                     /* the combination of each cell; NULL: `node` has combinations */
    uint64_t cell_count;                /* of the last column */
    const uint64_t *pairs[STRINGS_MAX]; /* of column c, by number: before * domain + code; NULL: all pairs */
    bool turned[STRINGS_MAX];           /* the pairs are code * domain + before */
    uint64_t domain[STRINGS_MAX];       /* that pairs are multiplied by */
};

/* Makes the nodes. `costly`: of one column, too, only strings that occur may be taken. End with string_combinations_free,
 * also after an error. */
NODISCARD enum status string_combinations_make(struct expression_list *list, const uint32_t *children,
                                               uint32_t child_count, bool costly,
                                               struct string_combinations *made, struct error *error);
/* The same by all combinations, of which there must be fewer than 2^63. */
NODISCARD enum status string_combinations_all(struct expression_list *list, const uint32_t *children,
                                              uint32_t child_count, struct string_combinations *made,
                                              struct error *error);
void string_combinations_free(struct string_combinations *made);

/* Gives the strings of a combination. */
void string_combination(const struct string_combinations *of, uint64_t number, struct string_value *strings);

#endif
