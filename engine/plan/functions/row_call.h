/* row_call.h: nodes of functions that are computed row by row (EXPRESSION_CALL; engine/function/function.h). */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_ROW_CALL_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_ROW_CALL_H

#include "engine/function/function.h"
#include "engine/plan/expression_vector.h"

static inline const struct row_description *row_call_function(const struct expression *call)
{
    return row_function((enum row_function)call->field);
}

/* The type and the range of a call whose children are made. */
struct value_type row_call_type(const struct expression_list *list, const struct expression *call);
void row_call_range(const struct expression_list *list, const struct expression *call, __int128 *low,
                    __int128 *high);

/* Whether the call may be NULL where none of its children is. */
bool row_call_may_miss(const struct expression_list *list, const struct expression *call);

/* Computes a call for each row, 1 .. VECTOR_ROWS (row_loops.c). */
typedef void row_call_loops(const struct expression *call, uint32_t rows, const struct vector *children,
                            struct vector out);
row_call_loops row_call_loop_baseline, row_call_loop_avx2, row_call_loop_avx512;

#endif
