/* frame.c: the frame of a row; see window.h. */
#include "engine/relational/window/window.h"

/* ---- ROWS and GROUPS ---- */

static enum status number_of(const struct window_number *number, const struct window_cursor *cursor,
                             uint64_t *out, struct error *error)
{
    const uint64_t row = window_row(cursor->order, cursor->at);
    const int64_t value = number->column ? number->column->values[row] : number->constant;
    if (number->column && window_is_null(number->column, row))
        return error_set(error, STATUS_BAD_INPUT, "a bound of the frame is NULL");
    if (value < 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "a bound of the frame is negative; PRECEDING and FOLLOWING "
                         "say its direction");
    *out = (uint64_t)value;
    return STATUS_OK;
}

/* The unit that is `number` before or after the one `at`, among first .. end - 1; beyond them it is `first` or `end`.
 * `past`: the one after that unit. */
static uint64_t moved(const struct window_edge *edge, uint64_t number, uint64_t at, uint64_t first,
                      uint64_t end, bool past)
{
    if (edge->bound == SQL_BOUND_BEFORE)
        return number > at - first ? first : at - number + past;
    return number >= end - at ? end : at + number + past;
}

/* ---- RANGE ---- */

/* True if a value stands before another one in the order. */
static bool is_before(const struct window_frames *frames, int64_t a, int64_t b)
{
    return frames->descending ? a > b : a < b;
}

/* The first place of low .. high - 1, which are in order, whose key is not before the value; `past`: that is after it. */
static uint64_t search(const struct window_frames *frames, const struct window_order *order,
                       const struct window_edge *edge, uint64_t low, uint64_t high, int64_t value, bool past)
{
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const int64_t key = edge->key->values[window_row(order, middle)];
        if (past ? !is_before(frames, value, key) : is_before(frames, key, value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rows without a key are peers of each other, and are in no other row's range. */
static enum status ranged(const struct window_frames *frames, const struct window_edge *edge,
                          const struct window_cursor *cursor, bool past, uint64_t *place, struct error *error)
{
    const struct window_order *const order = cursor->order;
    const uint64_t row = window_row(order, cursor->at);
    uint64_t low = cursor->first, high = cursor->end;
    if (window_is_null(edge->key, row)) {
        *place = past ? cursor->group_end : cursor->group_first;
        return STATUS_OK;
    }
    if (window_is_null(edge->value, row))
        return error_set(error, STATUS_BAD_INPUT, "a bound of the frame is NULL");
    const int64_t key = edge->key->values[row], value = edge->value->values[row];
    if (edge->bound == SQL_BOUND_BEFORE ? is_before(frames, key, value) : is_before(frames, value, key))
        return error_set(error, STATUS_BAD_INPUT,
                         "a bound of the frame is negative; PRECEDING and FOLLOWING "
                         "say its direction");
    if (window_is_null(edge->key, window_row(order, low)))
        low = order->groups[cursor->first_group + 1];
    if (window_is_null(edge->key, window_row(order, high - 1)))
        high = order->groups[cursor->end_group - 1];
    *place = search(frames, order, edge, low, high, value, past);
    return STATUS_OK;
}

/* ---- Edges ---- */

/* The place where the frame begins, or with `past` that after its end. */
static enum status edge_of(const struct window_frames *frames, const struct window_edge *edge,
                           const struct window_cursor *cursor, bool past, uint64_t *place,
                           struct error *error)
{
    uint64_t number = 0;
    if (edge->bound == SQL_BOUND_FIRST || edge->bound == SQL_BOUND_LAST) {
        *place = edge->bound == SQL_BOUND_FIRST ? cursor->first : cursor->end;
        return STATUS_OK;
    }
    if (edge->bound == SQL_BOUND_CURRENT) {
        if (frames->frame == SQL_FRAME_ROWS)
            *place = cursor->at + past;
        else
            *place = past ? cursor->group_end : cursor->group_first;
        return STATUS_OK;
    }
    if (frames->frame == SQL_FRAME_RANGE)
        return ranged(frames, edge, cursor, past, place, error);
    RETURN_IF_ERROR(number_of(&edge->number, cursor, &number, error));
    *place =
        frames->frame == SQL_FRAME_ROWS
            ? moved(edge, number, cursor->at, cursor->first, cursor->end, past)
            : cursor->order
                  ->groups[moved(edge, number, cursor->group, cursor->first_group, cursor->end_group, past)];
    return STATUS_OK;
}

static void add_range(struct window_frame *frame, uint64_t begin, uint64_t end)
{
    if (begin < end)
        frame->ranges[frame->count++] = (struct window_range){begin, end};
}

enum status window_frame_find(const struct window_frames *frames, const struct window_cursor *cursor,
                              struct window_frame *frame, struct error *error)
{
    const bool row = frames->exclude == SQL_EXCLUDE_ROW, ties = frames->exclude == SQL_EXCLUDE_TIES;
    const uint64_t out_begin = row ? cursor->at : cursor->group_first,
                   out_end = row ? cursor->at + 1 : cursor->group_end;
    uint64_t begin, end;
    RETURN_IF_ERROR(edge_of(frames, &frames->begin, cursor, false, &begin, error));
    RETURN_IF_ERROR(edge_of(frames, &frames->end, cursor, true, &end, error));
    frame->count = 0;
    if (frames->exclude == SQL_EXCLUDE_NONE) {
        add_range(frame, begin, end);
        return STATUS_OK;
    }
    add_range(frame, begin, end < out_begin ? end : out_begin);
    if (ties && begin <= cursor->at && cursor->at < end)
        add_range(frame, cursor->at, cursor->at + 1);
    add_range(frame, begin > out_end ? begin : out_end, end);
    return STATUS_OK;
}
