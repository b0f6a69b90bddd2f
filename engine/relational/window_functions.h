/* window_functions.h: the names of window functions, and what their arguments and frames are (relation.h). */
#ifndef TESSERA_ENGINE_RELATIONAL_WINDOW_FUNCTIONS_H
#define TESSERA_ENGINE_RELATIONAL_WINDOW_FUNCTIONS_H

#include "engine/answer/relation/relation.h"
#include "engine/sql/ast.h"

/* Gives the function, its numbers and its frame; the columns of its arguments and terms are for the caller. STATUS_BAD_INPUT,
 * "line L, column C: ...", if there is no such function, or for its arguments. */
NODISCARD enum status window_function_of(const struct sql_expression *call, const struct sql_window *over,
                                         struct window *window, struct error *error);

/* The names one after the other; NULL at the end. */
const char *window_function_name(size_t index);

#endif
