/*
 * sums.c: aggregates of states (engine/aggregate/aggregate.h) over frames; see window.h. What is made for all frames
 * depends on the descriptor:
 *
 *     count       numbers of values before each place, and a frame's is their difference
 *     sums        so are sums: of 128 bits, or exact ones of doubles, which are rounded once
 *     others      values in order, and a tree of states of LEAF values each: a frame is merged from what it has of its
 *                 first and last leaf, and two nodes a level of the tree
 */
#include "engine/relational/window/window.h"

#include "engine/aggregate/aggregate.h"
#include "engine/answer/double_sum.h"
#include "engine/sql/aggregates/aggregate_names.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

struct sums {
    struct window_call *call;
    const struct aggregate *aggregate;
    bool average, true_only; /* struct window_aggregate */
    struct window_counts counts;
    struct window_sums sums;
    int64_t *values;     /* of the argument, at each place */
    uint8_t *nulls;      /* NULL: no value is NULL */
    int64_t *low, *high; /* a tree: `leaves` leaves from `leaves` on; node n is merged from 2 n and 2 n + 1 */
    uint64_t leaves;
};

bool window_aggregate_of(struct window_call *call, struct window_aggregate *aggregate)
{
    const struct sql_expression *const ast = call->of->call;
    const struct aggregate_name *name = aggregate_name_find(ast->name);
    const bool truth = call->argument && call->argument->type.kind == VALUE_BOOLEAN;
    *aggregate = (struct window_aggregate){.true_only = name->family == FAMILY_COUNT_IF};
    if ((name->family == FAMILY_TRUTH || name->family == FAMILY_COUNT_IF) && !truth)
        return false;
    if (name->as)
        name = aggregate_name_find(name->as);
    if (ast->distinct || name->family != FAMILY_BASIC)
        return false;
    aggregate->of = aggregate_of(aggregate_of_any_range(name->aggregate));
    aggregate->average = name->average;
    return true;
}

bool window_is_sum(struct window_call *call)
{
    struct window_aggregate aggregate;
    return window_aggregate_of(call, &aggregate);
}

/* ---- A tree of states ---- */

#define LEAF 32u /* values that are added in about the time of a step in the tree; divides WINDOW_BLOCK */

struct state {
    int64_t low, high;
};

/* A range of places, and its state. */
struct last {
    struct window_range range;
    struct state state;
};

static struct state nothing(const struct sums *sums)
{
    return (struct state){sums->aggregate->identity[0], sums->aggregate->identity[1]};
}

static void merge(const struct sums *sums, struct state *state, uint64_t node)
{
    const uint64_t first = 0;
    sums->aggregate->merge(&state->low, &state->high, 1, &first, sums->low + node, sums->high + node, 0);
}

/* Adds the values of places, of which there are few. */
static void fold(const struct sums *sums, struct state *state, uint64_t begin, uint64_t end)
{
    if (begin < end)
        sums->aggregate->fold(&state->low, &state->high, (uint32_t)(end - begin), sums->values + begin,
                              sums->nulls ? sums->nulls + begin : NULL);
}

static void keep(const struct sums *sums, uint64_t node, struct state state)
{
    sums->low[node] = state.low;
    sums->high[node] = state.high;
}

static enum status fill_leaves(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct sums *const sums = context;
    const struct rowset_column *const argument = sums->call->argument;
    for (uint64_t at = begin; at < end; at++) {
        const uint64_t row = window_row(sums->call->order, at);
        sums->values[at] = argument->values[row];
        if (sums->nulls)
            sums->nulls[at] = argument->nulls[row];
    }
    for (uint64_t at = begin; at < end; at += LEAF) {
        struct state state = nothing(sums);
        fold(sums, &state, at, at + LEAF < end ? at + LEAF : end);
        keep(sums, sums->leaves + at / LEAF, state);
    }
    return cancel_check(error);
}

static enum status make_tree(struct sums *sums, struct error *error)
{
    const struct window_call *const call = sums->call;
    const uint64_t rows = call->order->rows, leaves = sums->leaves = (rows + LEAF - 1) / LEAF;
    const uint64_t bytes = (2 * leaves + 1) * sizeof *sums->low;
    RETURN_IF_ERROR(spillable_work(&sums->values, (rows + 1) * sizeof *sums->values, "a window", error));
    if (call->argument->nulls)
        RETURN_IF_ERROR(spillable_work(&sums->nulls, rows + 1, "a window", error));
    RETURN_IF_ERROR(spillable_work(&sums->low, bytes, "a window", error));
    RETURN_IF_ERROR(spillable_work(&sums->high, bytes, "a window", error));
    RETURN_IF_ERROR(window_blocks(rows, call->threads, fill_leaves, sums, error));
    for (uint64_t n = leaves; n-- > 1;) {
        struct state state = nothing(sums);
        merge(sums, &state, 2 * n);
        merge(sums, &state, 2 * n + 1);
        keep(sums, n, state);
    }
    return STATUS_OK;
}

static struct state merge_range(const struct sums *sums, struct window_range range)
{
    struct state state = nothing(sums);
    uint64_t low = (range.begin + LEAF - 1) / LEAF, high = range.end / LEAF; /* whole leaves */
    if (low >= high) {
        fold(sums, &state, range.begin, range.end);
        return state;
    }
    fold(sums, &state, range.begin, low * LEAF);
    fold(sums, &state, high * LEAF, range.end);
    for (low += sums->leaves, high += sums->leaves; low < high; low /= 2, high /= 2) {
        if (low & 1)
            merge(sums, &state, low++);
        if (high & 1)
            merge(sums, &state, --high);
    }
    return state;
}

/* The state of a range. That of the last one is kept, because often only its end moves on. */
static struct state state_of(const struct sums *sums, struct window_range range, struct last *last)
{
    if (range.begin == last->range.begin && range.end >= last->range.end &&
        range.end - last->range.end <= LEAF)
        fold(sums, &last->state, last->range.end, range.end);
    else
        last->state = merge_range(sums, range);
    last->range = range;
    return last->state;
}

static __int128 merged(const struct sums *sums, const struct window_frame *frame, struct last *last)
{
    struct state all = state_of(sums, frame->ranges[0], last);
    const uint64_t first = 0;
    for (uint32_t r = 1; r < frame->count; r++) {
        const struct state other = state_of(sums, frame->ranges[r], last);
        sums->aggregate->merge(&all.low, &all.high, 1, &first, &other.low, &other.high, 0);
    }
    return aggregate_number(sums->aggregate, &all.low, &all.high, 0);
}

/* ---- Sums ---- */

static int64_t round_sum(const struct window_sums *sums, const __int128 *limbs, uint64_t divisor)
{
    const uint32_t count = sums->limbs - (sums->infinite ? 3 : 0);
    if (sums->infinite) {
        const bool up = limbs[count] != 0, down = limbs[count + 1] != 0, nan = limbs[count + 2] != 0;
        if (nan || (up && down))
            return DOUBLE_KEY_NAN;
        if (up || down)
            return up ? DOUBLE_KEY_INFINITY : DOUBLE_KEY_MINUS_INFINITY;
    }
    return double_sum_round(limbs, count, sums->width, sums->first, divisor);
}

static void give_double_sum(const struct sums *sums, const struct window_frame *frame, uint64_t divisor,
                            uint64_t at)
{
    __int128 limbs[WINDOW_LIMBS_MAX];
    memset(limbs, 0, sums->sums.limbs * sizeof *limbs);
    for (uint32_t r = 0; r < frame->count; r++)
        window_sums_add(&sums->sums, sums->sums.limbs, frame->ranges[r], limbs);
    window_give(sums->call, at, round_sum(&sums->sums, limbs, divisor));
}

static __int128 whole_sum(const struct sums *sums, const struct window_frame *frame)
{
    __int128 sum = 0;
    for (uint32_t r = 0; r < frame->count; r++)
        window_sums_add(&sums->sums, 1, frame->ranges[r], &sum);
    return sum;
}

/* ---- Frames ---- */

static enum status give(const struct sums *sums, const struct window_frame *frame, uint64_t at,
                        struct last *last, struct error *error)
{
    struct window_call *const call = sums->call;
    uint64_t count = 0;
    for (uint32_t r = 0; r < frame->count; r++)
        count += window_counts_before(&sums->counts, frame->ranges[r].end) -
                 window_counts_before(&sums->counts, frame->ranges[r].begin);
    if (sums->aggregate->counts) {
        window_give(call, at, (int64_t)count);
        return STATUS_OK;
    }
    if (count == 0) {
        window_give_null(call, at);
        return STATUS_OK;
    }
    if (sums->sums.doubles) {
        give_double_sum(sums, frame, sums->average ? count : 1, at);
        return STATUS_OK;
    }
    const __int128 number = sums->low ? merged(sums, frame, last) : whole_sum(sums, frame);
    if (sums->average)
        window_give(call, at, double_key_of(decimal_average(number, count, call->argument->type.scale)));
    else if (number > INT64_MAX || (number <= INT64_MIN && !sums->low))
        return error_set(error, STATUS_BAD_INPUT, WINDOW_SUM_TOO_LARGE);
    else
        window_give(call, at, (int64_t)number);
    return STATUS_OK;
}

static enum status give_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct sums *const sums = context;
    struct last last = {.range = {UINT64_MAX, UINT64_MAX}};
    struct window_call *const call = sums->call;
    struct window_cursor cursor;
    struct window_frame frames[2]; /* of a place, and of the one before it */
    window_cursor_open(call->order, begin, &cursor);
    for (uint64_t at = begin; at < end; at++, window_cursor_next(&cursor)) {
        RETURN_IF_ERROR(window_frame_find(&call->frames, &cursor, &frames[at % 2], error));
        if (at > begin && window_frames_are_same(&frames[0], &frames[1]))
            window_give_cell(call, at, &call->out, at - 1);
        else
            RETURN_IF_ERROR(give(sums, &frames[at % 2], at, &last, error));
    }
    return cancel_check(error);
}

static enum status compute(struct sums *sums, struct error *error)
{
    const struct window_call *const call = sums->call;
    RETURN_IF_ERROR(window_order_divide(call->order, call->threads, error));
    RETURN_IF_ERROR(window_counts_make(call->order, call->argument, sums->true_only, call->threads,
                                       &sums->counts, error));
    if (sums->aggregate->sums)
        RETURN_IF_ERROR(window_sums_make(call->order, call->argument, call->threads, &sums->sums, error));
    else if (!sums->aggregate->counts)
        RETURN_IF_ERROR(make_tree(sums, error));
    return window_blocks(call->order->rows, call->threads, give_block, sums, error);
}

enum status window_sums(struct window_call *call)
{
    struct window_aggregate aggregate;
    (void)window_aggregate_of(call, &aggregate);
    struct sums sums = {.call = call,
                        .aggregate = aggregate.of,
                        .average = aggregate.average,
                        .true_only = aggregate.true_only};
    const enum status status = compute(&sums, call->run->error);
    window_counts_free(&sums.counts);
    window_sums_free(&sums.sums);
    spillable_free(sums.values);
    spillable_free(sums.nulls);
    spillable_free(sums.low);
    spillable_free(sums.high);
    return status;
}
