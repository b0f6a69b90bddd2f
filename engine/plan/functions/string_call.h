/*
 * string_call.h: functions of strings. Of one column they are computed once for each string of its dictionary when a
 * statement is bound, of several columns for all combinations if these are few. The results are a table by code
 * (EXPRESSION_LOOKUP), so a scan knows nothing of them. A string takes 20 to 500 ns on one of the threads
 * (string_table.h). All others are computed row by row (text_call.h).
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_CALL_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_CALL_H

#include "engine/function/string_body.h"
#include "engine/plan/expression.h"

/* Adds the node of a function of `count` nodes, all of them strings. The list takes over the context if the call has
 * `release`, also after an error. */
NODISCARD enum status expression_string_call(struct expression_list *list, const struct string_call *call,
                                             const uint32_t *children, uint32_t *index, struct error *error);

/* The same where numbers[n] is that of a node for each string: a table if all nodes are made of one column. */
NODISCARD enum status expression_string_call_varied(struct expression_list *list,
                                                    const struct string_call *call, const uint32_t *children,
                                                    const uint32_t *numbers, uint32_t number_count,
                                                    uint32_t *index, struct error *error);

/* The body's strings are constants, and numbers[2] is the child's value. For values as text: a table if the child is a
 * number of a small range. */
NODISCARD enum status expression_number_texts(struct expression_list *list, const struct string_call *call,
                                              const uint32_t *strings, uint32_t child, uint32_t *index,
                                              struct error *error);

#endif
