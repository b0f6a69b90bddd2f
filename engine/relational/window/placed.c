/* placed.c: results in the order of their window; see window.h. */
#include "engine/relational/window/window.h"

#include <string.h>

struct placing {
    const struct window_order *order;
    const struct rowset_column *from;
    struct rowset_column *to;
};

static enum status place_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct placing *const placing = context;
    const uint64_t *const places = placing->order->places;
    for (uint64_t at = begin; at < end; at++)
        placing->to->values[places[at]] = placing->from->values[at];
    for (uint64_t at = begin; placing->to->nulls && at < end; at++)
        placing->to->nulls[places[at]] = placing->from->nulls[at];
    return cancel_check(error);
}

enum status window_to_rows(const struct window_order *order, unsigned threads, struct rowset_column *column,
                           struct error *error)
{
    struct rowset_column made = {.name = column->name, .type = column->type};
    const struct placing placing = {order, column, &made};
    enum status status =
        spillable_rows(&made.values, (order->rows + 1) * sizeof *made.values, "a window", error);
    if (column->nulls)
        status = AND_THEN(status, spillable_rows(&made.nulls, order->rows + 1, "a window", error));
    status = AND_THEN(status,
                      window_blocks(order->rows, threads, place_block, (void *)(uintptr_t)&placing, error));
    struct rowset_column *const left = status == STATUS_OK ? column : &made;
    spillable_free(left->values);
    spillable_free(left->nulls);
    if (status == STATUS_OK)
        *column = made;
    return status;
}

bool window_has_no_null(const struct rowset_column *column, uint64_t rows)
{
    return !memchr(column->nulls, 1, rows);
}
