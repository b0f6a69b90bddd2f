/*
 * late_text.h: functions of strings that stand alone in the select list, computed for the rows of the answer.
 *
 * Nothing else needs their results: so the plan has the number of each row's combination of strings instead, and the
 * texts are made when ORDER BY and LIMIT have left few rows.
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_LATE_TEXT_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_LATE_TEXT_H

#include "engine/plan/functions/string_combinations.h"

struct late_text {
    struct string_call call;
    struct string_combinations of; /* all of them, even 2^62 */
    uint32_t children[STRINGS_MAX];
};

/* True if the results can be computed late: they are strings, of fewer than 2^62 combinations of strings that are known
 * before the answer. */
bool late_text_fits(const struct expression_list *list, const struct string_call *call,
                    const uint32_t *children);

/* Makes the node of the number. The list must outlive *late, which is freed with late_text_free; NULL is legal. */
NODISCARD enum status late_text_make(struct expression_list *list, const struct string_call *call,
                                     const uint32_t *children, struct late_text **late, uint32_t *index,
                                     struct error *error);
void late_text_free(struct late_text *late);

/* Makes the numbers codes of a sorted dictionary, which belongs to `owner`, an empty list; INT64_MIN is NULL. `nulls` as
 * in a vector. Takes 100 ns a row, or less where rows are more than combinations. */
NODISCARD enum status late_text_compute(const struct late_text *late, uint64_t rows, int64_t *values,
                                        const uint8_t *nulls, struct expression_list *owner,
                                        const struct dictionary **dictionary, struct error *error);

#endif
