/* scalar_call.c: see scalar_call.h. */
#include "engine/plan/functions/scalar_call.h"

#include "operators/dialect/scalar_call_body.h"

#include <string.h>

typedef int64_t call_body(int64_t a, int64_t b, int64_t c, int unit, bool *missing);

static const struct {
    const char *text, *function;
    call_body *body;
    bool may_be_null;
} calls[] = {
#define SCALAR_CALL_ENTRY(name, function, may_be_null, text) \
    [CALL_##name] = {text, "call_" #function, call_##function, may_be_null},
    SCALAR_CALLS(SCALAR_CALL_ENTRY)
#undef SCALAR_CALL_ENTRY
};

const char *scalar_call_text(const struct expression *call)
{
    return calls[call->field].text;
}

enum scalar_call scalar_call_named(const char *text)
{
    uint32_t call = 0;
    while (call < SCALAR_CALL_COUNT && strcmp(calls[call].text, text) != 0)
        call++;
    return (enum scalar_call)call;
}

const char *scalar_call_function(const struct expression *call)
{
    return calls[call->field].function;
}

struct value_type scalar_call_type(const struct expression_list *list, const struct expression *call)
{
    switch ((enum scalar_call)call->field) {
    case CALL_WHOLE:
    case CALL_CUT: /* the type of the most */
        return list->nodes[call->child[2]].type;
    case CALL_DATE_TRUNC:
    case CALL_MAKE_DATE:
        return (struct value_type){.kind = VALUE_DATE};
    case CALL_TIME_TRUNC:
        return (struct value_type){.kind = VALUE_TIMESTAMP};
    case CALL_SKETCH_REGISTER:
    case CALL_SKETCH_RANK:
    case CALL_SKETCH_BUCKET:
    case CALL_SKETCH_DOUBLE_BUCKET:
        return (struct value_type){.kind = VALUE_INTEGER};
    default:
        return (struct value_type){.kind = VALUE_DOUBLE};
    }
}

bool scalar_call_may_be_null(const struct expression *call)
{
    return calls[call->field].may_be_null;
}

/* The other functions of doubles do not fall, so the values at the ends bound all others. */
static void range_of_monotone(const struct expression_list *list, const struct expression *call,
                              __int128 *low, __int128 *high)
{
    const struct expression *const first = &list->nodes[call->child[0]];
    const int64_t unit = call->children > 1 ? list->nodes[call->child[1]].constant : 0;
    bool missing = false, also = false;
    *low = calls[call->field].body(first->low, unit, 0, 0, &missing);
    *high = calls[call->field].body(first->high, unit, 0, 0, &also);
    if (call->field >= CALL_EXP && call->field <= CALL_LOG2) { /* they may err by a unit in the last place */
        *low -= 2;
        *high += 2;
    }
    if (missing) /* only greater arguments have a value */
        *low = DOUBLE_KEY_MINUS_INFINITY;
    if (also)
        *high = DOUBLE_KEY_NAN;
}

/* Within the most, and between the numbers at the ends. */
static void range_of_whole(const struct expression_list *list, const struct expression *call, __int128 *low,
                           __int128 *high)
{
    const struct expression *const first = &list->nodes[call->child[0]];
    const int64_t unit = list->nodes[call->child[1]].constant, most = list->nodes[call->child[2]].constant;
    bool missing = false, also = false;
    *low = calls[call->field].body(first->low, unit, most, 0, &missing);
    *high = calls[call->field].body(first->high, unit, most, 0, &also);
    if (missing)
        *low = -(__int128)most;
    if (also)
        *high = most;
}

void scalar_call_range(const struct expression_list *list, const struct expression *call, __int128 *low,
                       __int128 *high)
{
    const struct expression *const first = &list->nodes[call->child[0]];
    *low = *high = 0;
    switch ((enum scalar_call)call->field) {
    case CALL_WHOLE:
    case CALL_CUT:
        range_of_whole(list, call, low, high);
        return;
    case CALL_DATE_TRUNC:
        *low = calendar_date_truncate(first->low, (int)call->index);
        *high = calendar_date_truncate(first->high, (int)call->index);
        return;
    case CALL_TIME_TRUNC: /* a year earlier, so that no time at the edge of 64 bits is computed here */
        *low = (__int128)first->low - 366 * (__int128)CALENDAR_DAY_MICROSECONDS;
        *high = first->high;
        if (*low >= INT64_MIN) {
            *low = calendar_timestamp_truncate(first->low, (int)call->index);
            *high = calendar_timestamp_truncate(first->high, (int)call->index);
        }
        return;
    case CALL_MAKE_DATE: /* within the years that it gives dates for */
        *low = calendar_days(first->low < -5000000 ? -5000000 : first->low, 1, 1);
        *high = calendar_days(first->high > 5000000 ? 5000000 : first->high, 12, 31);
        return;
    case CALL_SKETCH_REGISTER:
        *high = SKETCH_REGISTERS - 1;
        return;
    case CALL_SKETCH_RANK:
        *low = 1;
        *high = SKETCH_RANKS;
        return;
    case CALL_POWER:
        *low = DOUBLE_KEY_MINUS_INFINITY;
        *high = DOUBLE_KEY_NAN;
        return;
    default:
        range_of_monotone(list, call, low, high);
    }
}

void scalar_call_loop(const struct expression *call, uint32_t rows, const struct vector *children,
                      struct vector out)
{
    call_body *const body = calls[call->field].body;
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
