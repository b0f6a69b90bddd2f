/* row_call.c: see row_call.h. */
#include "engine/plan/functions/row_call.h"

struct value_type row_call_type(const struct expression_list *list, const struct expression *call)
{
    const struct row_description *const function = row_call_function(call);
    return function->as_third ? list->nodes[call->child[2]].type
                              : (struct value_type){.kind = function->kind};
}

void row_call_range(const struct expression_list *list, const struct expression *call, __int128 *low,
                    __int128 *high)
{
    struct function_range ranges[FUNCTION_ARGUMENTS_MAX] = {{0}};
    for (uint32_t c = 0; c < call->children; c++) {
        const struct expression *const child = &list->nodes[call->child[c]];
        ranges[c] = (struct function_range){child->low, child->high, child->constant};
    }
    row_call_function(call)->range(row_call_function(call), (int)call->index, ranges, low, high);
}

void row_call_loop(const struct expression *call, uint32_t rows, const struct vector *children,
                   struct vector out)
{
    row_body *const body = row_call_function(call)->body;
    const struct vector a = children[0], b = children[call->children > 1 ? 1 : 0],
                        c = children[call->children > 2 ? 2 : 0];
    for (uint32_t row = 0; row < rows; row++) {
        bool missing = (a.nulls && a.nulls[row]) || (b.nulls && b.nulls[row]) || (c.nulls && c.nulls[row]);
        out.values[row] = 0;
        if (!missing)
            out.values[row] = body(a.values[row], b.values[row], c.values[row], (int)call->index, &missing);
        if (out.nulls)
            out.nulls[row] = missing;
    }
}
