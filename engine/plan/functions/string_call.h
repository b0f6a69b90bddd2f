/*
 * string_call.h: functions of strings. Where the strings and numbers of their arguments have few combinations, they are
 * computed for all of these when a statement is bound; of one column that is once for each string of its dictionary. The
 * results are a table (EXPRESSION_LOOKUP), so a scan knows nothing of them. A string takes 20 to 500 ns on one of the
 * threads (string_table.h). All others are computed row by row (text_call.h), and so is a function of which a string is an
 * error: only a row that is asked for makes it one, by the conditions of the statement and, in CASE, by the list's guard.
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_CALL_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_CALL_H

#include "engine/plan/functions/text_call.h"

/* Adds the node of a function and its arguments. The list takes over the context if the call has `release`, also after an
 * error. */
NODISCARD enum status expression_text_call(struct expression_list *list, const struct text_call *call,
                                           uint32_t *index, struct error *error);

/* The same of a function of `count` nodes, all of them strings. */
NODISCARD enum status expression_string_call(struct expression_list *list, const struct string_call *call,
                                             const uint32_t *children, uint32_t *index, struct error *error);

#endif
