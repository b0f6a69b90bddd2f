/* values.c: ranks as shares, and values of other rows; see window.h. */
#include "engine/relational/window/window.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>

/* With IGNORE NULLS: the numbers of values before each place, and the places of the values. */
struct values {
    struct window_call *call;
    struct window_counts counts;
    uint64_t *present;
};

/* ---- Numbers of rows ---- */

/* The number of the row's arguments; *null: it is NULL. */
static enum status number_of(const struct window_call *call, uint64_t row, int64_t least, int64_t *number,
                             bool *null, struct error *error)
{
    const struct window_number *const of = &call->number;
    *null = of->column && window_is_null(of->column, row);
    *number = of->column ? of->column->values[row] : of->constant;
    return *null || *number >= least
               ? STATUS_OK
               : error_set(error, STATUS_BAD_INPUT, "%s takes a whole number from %lld, not %lld",
                           call->of->call->name, (long long)least, (long long)*number);
}

/* ---- Ranks ---- */

/* The part of `parts` in which the row of that index is; the first ones have a row more if rows are left over. */
static int64_t tile_of(uint64_t index, uint64_t rows, uint64_t parts)
{
    const uint64_t size = rows / parts, larger = rows % parts;
    return (int64_t)(index < larger * (size + 1) ? index / (size + 1)
                                                 : larger + (index - larger * (size + 1)) / size) +
           1;
}

static enum status give_rank(struct window_call *call, const struct window_cursor *cursor,
                             struct error *error)
{
    const uint64_t rows = cursor->end - cursor->first, rank = cursor->group_first - cursor->first,
                   at = cursor->at;
    int64_t parts;
    bool null;
    switch (call->of->function) {
    case WINDOW_PERCENT_RANK:
        window_give(call, at, double_key_of(rows > 1 ? (double)rank / (double)(rows - 1) : 0));
        break;
    case WINDOW_CUME_DIST:
        window_give(call, at, double_key_of((double)(cursor->group_end - cursor->first) / (double)rows));
        break;
    default: /* ntile */
        RETURN_IF_ERROR(number_of(call, window_row(call->order, at), 1, &parts, &null, error));
        if (null)
            window_give_null(call, at);
        else
            window_give(call, at, tile_of(at - cursor->first, rows, (uint64_t)parts));
    }
    return STATUS_OK;
}

/* ---- Rows before and after ---- */

/* The place `number` rows after the cursor's, or values with IGNORE NULLS; false: there is none in the partition. */
static bool place_after(const struct values *values, const struct window_cursor *cursor, __int128 number,
                        uint64_t *place)
{
    const bool skips = values->present && number != 0;
    uint64_t low = cursor->first, high = cursor->end;
    __int128 from = cursor->at;
    if (skips) {
        from = (__int128)window_counts_before(&values->counts, cursor->at + (number > 0)) - (number > 0);
        low = window_counts_before(&values->counts, low);
        high = window_counts_before(&values->counts, high);
    }
    const __int128 to = from + number;
    if (to < (__int128)low || to >= (__int128)high)
        return false;
    *place = skips ? values->present[(uint64_t)to] : (uint64_t)to;
    return true;
}

static enum status give_moved(const struct values *values, const struct window_cursor *cursor,
                              struct error *error)
{
    struct window_call *const call = values->call;
    const struct window_order *const order = call->order;
    const uint64_t at = cursor->at, row = window_row(order, at);
    int64_t number;
    uint64_t place;
    bool null;
    RETURN_IF_ERROR(number_of(call, row, INT64_MIN, &number, &null, error));
    const __int128 after = call->of->function == WINDOW_LAG ? -(__int128)number : number;
    if (null)
        window_give_null(call, at);
    else if (place_after(values, cursor, after, &place))
        window_give_cell(call, at, call->argument, window_row(order, place));
    else
        window_give_cell(call, at, call->otherwise, row);
    return STATUS_OK;
}

/* True if all rows look at most a block away, at values that may be NULL. */
static bool moves_alike(const struct values *values)
{
    const struct window_number *const number = &values->call->number;
    return !values->present && !number->column && number->constant >= 0 && number->constant <= WINDOW_BLOCK;
}

/* How far the rows of a block look: `from[i]` is the row that row i of it takes its value of, or NO_ROW. */
#define NO_ROW UINT64_MAX

/* The rows before: no partition may begin after the one that is looked at. */
static void find_lags(const struct window_order *order, uint64_t begin, uint64_t end, uint64_t number,
                      uint64_t *from)
{
    const uint8_t *const marks = order->marks;
    uint64_t first = begin;
    while (first > 0 && begin - first < number && !(marks[first] & SORT_BEGINS_PREFIX))
        first--;
    for (uint64_t at = begin; at < end; at++) {
        first = marks[at] & SORT_BEGINS_PREFIX ? at : first;
        from[at - begin] = at - first >= number ? window_row(order, at - number) : NO_ROW;
    }
}

/* The rows after: `last` is the last place up to there where a partition begins. */
static void find_leads(const struct window_order *order, uint64_t begin, uint64_t end, uint64_t number,
                       uint64_t *from)
{
    uint64_t last = begin, looked = begin;
    for (uint64_t at = begin; at < end; at++) {
        for (; looked < at + number && looked + 1 < order->rows; looked++)
            last = order->marks[looked + 1] & SORT_BEGINS_PREFIX ? looked + 1 : last;
        from[at - begin] = at + number < order->rows && last <= at ? window_row(order, at + number) : NO_ROW;
    }
}

/* Gives the values of these rows. Those of a column without NULLs wait for nothing but their memory. */
static void give_rows(struct window_call *call, uint64_t begin, uint64_t end, const uint64_t *from)
{
    const int64_t *const values = call->argument->values;
    int64_t *const out = call->out.values + begin;
    for (uint64_t i = 0; !call->argument->nulls && i < end - begin; i++)
        out[i] = from[i] == NO_ROW ? 0 : values[from[i]];
    for (uint64_t i = 0; call->argument->nulls && i < end - begin; i++)
        if (from[i] != NO_ROW)
            window_give_cell(call, begin + i, call->argument, from[i]);
    for (uint64_t i = 0; i < end - begin; i++)
        if (from[i] == NO_ROW)
            window_give_cell(call, begin + i, call->otherwise, window_row(call->order, begin + i));
}

static enum status move_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct values *const values = context;
    const uint64_t number = (uint64_t)values->call->number.constant;
    uint64_t from[WINDOW_BLOCK];
    if (values->call->of->function == WINDOW_LAG)
        find_lags(values->call->order, begin, end, number, from);
    else
        find_leads(values->call->order, begin, end, number, from);
    give_rows(values->call, begin, end, from);
    return cancel_check(error);
}

/* ---- Rows of the frame ---- */

static uint64_t before(const struct values *values, uint64_t place)
{
    return values->present ? window_counts_before(&values->counts, place) : place;
}

/* The place of row `index` of a frame, or value with IGNORE NULLS; from its end if `last`. False: there is none. */
static bool place_in(const struct values *values, const struct window_frame *frame, uint64_t index, bool last,
                     uint64_t *place)
{
    for (uint32_t i = 0; i < frame->count; i++) {
        const struct window_range *const range = &frame->ranges[last ? frame->count - 1 - i : i];
        const uint64_t low = before(values, range->begin), high = before(values, range->end);
        if (index < high - low) {
            const uint64_t found = last ? high - 1 - index : low + index;
            *place = values->present ? values->present[found] : found;
            return true;
        }
        index -= high - low;
    }
    return false;
}

static enum status give_framed(const struct values *values, const struct window_cursor *cursor,
                               struct error *error)
{
    struct window_call *const call = values->call;
    struct window_frame frame;
    int64_t number = 1;
    uint64_t place;
    bool null = false;
    RETURN_IF_ERROR(window_frame_find(&call->frames, cursor, &frame, error));
    if (call->of->function == WINDOW_NTH_VALUE)
        RETURN_IF_ERROR(number_of(call, window_row(call->order, cursor->at), 1, &number, &null, error));
    if (!null &&
        place_in(values, &frame, (uint64_t)number - 1, call->of->function == WINDOW_LAST_VALUE, &place))
        window_give_cell(call, cursor->at, call->argument, window_row(call->order, place));
    else
        window_give_null(call, cursor->at);
    return STATUS_OK;
}

/* ---- All rows ---- */

static enum status value_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct values *const values = context;
    struct window_cursor cursor;
    window_cursor_open(values->call->order, begin, &cursor);
    for (uint64_t at = begin; at < end; at++, window_cursor_next(&cursor))
        switch (values->call->of->function) {
        case WINDOW_LAG:
        case WINDOW_LEAD:
            RETURN_IF_ERROR(give_moved(values, &cursor, error));
            break;
        case WINDOW_FIRST_VALUE:
        case WINDOW_LAST_VALUE:
        case WINDOW_NTH_VALUE:
            RETURN_IF_ERROR(give_framed(values, &cursor, error));
            break;
        default: /* the others are ranks */
            RETURN_IF_ERROR(give_rank(values->call, &cursor, error));
        }
    return cancel_check(error);
}

static enum status find_present(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct values *const values = context;
    const struct window_call *const call = values->call;
    uint64_t found = window_counts_before(&values->counts, begin);
    for (uint64_t at = begin; at < end; at++)
        if (!window_is_null(call->argument, window_row(call->order, at)))
            values->present[found++] = at;
    return cancel_check(error);
}

static enum status compute(struct values *values, struct error *error)
{
    const struct window_call *const call = values->call;
    const uint64_t rows = call->order->rows;
    if (call->of->call->ignores_nulls && call->argument->nulls) {
        RETURN_IF_ERROR(
            window_counts_make(call->order, call->argument, false, call->threads, &values->counts, error));
        RETURN_IF_ERROR(
            spillable_work(&values->present, (rows + 1) * sizeof *values->present, "a window", error));
        RETURN_IF_ERROR(window_blocks(rows, call->threads, find_present, values, error));
    }
    const bool moves = call->of->function == WINDOW_LAG || call->of->function == WINDOW_LEAD;
    if (moves && moves_alike(values))
        return window_blocks(rows, call->threads, move_block, values, error);
    RETURN_IF_ERROR(window_order_divide(call->order, call->threads, error));
    return window_blocks(rows, call->threads, value_block, values, error);
}

enum status window_values(struct window_call *call)
{
    struct values values = {.call = call};
    const enum status status = compute(&values, call->run->error);
    window_counts_free(&values.counts);
    spillable_free(values.present);
    return status;
}
