/* row_call.c: see row_call.h. */
#include "engine/plan/functions/row_call.h"

#include <string.h>

struct value_type row_call_type(const struct expression_list *list, const struct expression *call)
{
    const struct row_description *const function = row_call_function(call);
    if (function->as_third)
        return list->nodes[call->child[2]].type;
    const struct value_type first =
        list->nodes[call->child[0]].type; /* a time of one with time zone has one, too */
    return (struct value_type){.kind = function->kind,
                               .zoned = function->kind == VALUE_TIMESTAMP && first.zoned};
}

static void ranges_of(const struct expression_list *list, const struct expression *call,
                      struct function_range ranges[FUNCTION_ARGUMENTS_MAX])
{
    memset(ranges, 0, FUNCTION_ARGUMENTS_MAX * sizeof *ranges);
    for (uint32_t c = 0; c < call->children; c++) {
        const struct expression *const child = &list->nodes[call->child[c]];
        ranges[c] = (struct function_range){child->low, child->high, child->constant};
    }
}

void row_call_range(const struct expression_list *list, const struct expression *call, __int128 *low,
                    __int128 *high)
{
    struct function_range ranges[FUNCTION_ARGUMENTS_MAX];
    ranges_of(list, call, ranges);
    row_call_function(call)->range(row_call_function(call), (int)call->index, ranges, low, high);
}

bool row_call_may_miss(const struct expression_list *list, const struct expression *call)
{
    struct function_range ranges[FUNCTION_ARGUMENTS_MAX];
    ranges_of(list, call, ranges);
    return row_may_miss(row_call_function(call), (int)call->index, ranges);
}
