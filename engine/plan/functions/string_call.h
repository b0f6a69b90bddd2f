/*
 * string_call.h: functions of strings, computed once for each string of a dictionary when a statement is
 * bound, or for the combinations of strings if several columns are arguments (string_combinations.h). The results are a table by code
 * (EXPRESSION_LOOKUP), so a scan knows nothing of them. A string takes 20 to 500 ns on one of the threads
 * (string_table.h).
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_CALL_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_CALL_H

#include "engine/function/string_body.h"
#include "engine/plan/expression.h"

/* Adds the node of a function of `count` nodes, all of them strings. STATUS_BAD_INPUT if there are too many
 * combinations. */
NODISCARD enum status expression_string_call(struct expression_list *list, const struct string_call *call,
                                             const uint32_t *children, uint32_t *index, struct error *error);

/* The same where numbers[n] is that of a node for each string: all nodes must be made of one column. */
NODISCARD enum status expression_string_call_varied(struct expression_list *list,
                                                    const struct string_call *call, const uint32_t *children,
                                                    const uint32_t *numbers, uint32_t number_count,
                                                    uint32_t *index, struct error *error);

/* A table by whole numbers: the body's string is empty, and numbers[2] counts from `low` to `high`, which is
 * the range of the child. For values as text. */
NODISCARD enum status expression_number_texts(struct expression_list *list, const struct string_call *call,
                                              uint32_t child, int64_t low, int64_t high, uint32_t *index,
                                              struct error *error);

#endif
