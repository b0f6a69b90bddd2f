/* sums.c: count, sum, avg, min and max over frames; see window.h. Each takes the same time for any frame: numbers and sums
 * are differences of those before the frame's ends, exact also of doubles, and are rounded once; minima come from a tree,
 * in two steps a level. */
#include "engine/relational/window/window.h"

#include "engine/answer/double_sum.h"
#include "engine/sql/aggregates/aggregate_names.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum sum_kind { SUM_NONE, SUM_COUNT, SUM_COUNT_IF, SUM_SUM, SUM_AVG, SUM_MIN, SUM_MAX };

static enum sum_kind kind_of(const struct window_call *call)
{
    static const struct {
        const char *name;
        enum sum_kind kind;
    } kinds[] = {
        {"count", SUM_COUNT}, {"sum", SUM_SUM}, {"avg", SUM_AVG}, {"min", SUM_MIN}, {"max", SUM_MAX}};
    const struct sql_expression *const ast = call->of->call;
    const struct aggregate_name *const name = aggregate_name_find(ast->name);
    const bool truth = call->argument && call->argument->type.kind == VALUE_BOOLEAN;
    enum sum_kind kind = SUM_NONE;
    if (name->family == FAMILY_COUNT_IF)
        return truth && !ast->distinct ? SUM_COUNT_IF : SUM_NONE;
    if (name->family == FAMILY_TRUTH && !truth)
        return SUM_NONE;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(name->as ? name->as : name->name, kinds[k].name) == 0)
            kind = kinds[k].kind;
    return ast->distinct && kind != SUM_MIN && kind != SUM_MAX ? SUM_NONE : kind;
}

bool window_is_sum(const struct window_call *call)
{
    return kind_of(call) != SUM_NONE;
}

/* What is made for all frames. */
struct sums {
    struct window_call *call;
    enum sum_kind kind;
    struct window_counts counts;
    struct window_sums sums;
    int64_t *
        tree; /* of `places` leaves, which begin at tree[places]; node n has the better one of 2 n and 2 n + 1 */
    uint64_t places;
    struct memory_charge charge;
};

/* ---- Minima and maxima ---- */

static int64_t better(enum sum_kind kind, int64_t a, int64_t b)
{
    return kind == SUM_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

/* What is better than nothing. */
static int64_t worst(enum sum_kind kind)
{
    return kind == SUM_MIN ? INT64_MAX : INT64_MIN;
}

static enum status fill_leaves(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct sums *const sums = context;
    const struct rowset_column *const argument = sums->call->argument;
    for (uint64_t at = begin; at < end; at++) {
        const uint64_t row = sums->call->order->places[at];
        sums->tree[sums->places + at] =
            window_is_null(argument, row) ? worst(sums->kind) : argument->values[row];
    }
    return cancel_check(error);
}

static enum status make_tree(struct sums *sums, struct error *error)
{
    sums->places = sums->call->order->rows;
    RETURN_IF_ERROR(
        window_take(&sums->charge, &sums->tree, (2 * sums->places + 1) * sizeof *sums->tree, error));
    RETURN_IF_ERROR(window_blocks(sums->places, sums->call->threads, fill_leaves, sums, error));
    for (uint64_t n = sums->places; n-- > 1;)
        sums->tree[n] = better(sums->kind, sums->tree[2 * n], sums->tree[2 * n + 1]);
    return STATUS_OK;
}

static int64_t best_of(const struct sums *sums, struct window_range range)
{
    int64_t best = worst(sums->kind);
    for (uint64_t low = range.begin + sums->places, high = range.end + sums->places; low < high;
         low /= 2, high /= 2) {
        if (low & 1)
            best = better(sums->kind, best, sums->tree[low++]);
        if (high & 1)
            best = better(sums->kind, best, sums->tree[--high]);
    }
    return best;
}

/* The best value of the last range; if only its end moves on, what comes is compared alone. */
struct best {
    struct window_range range;
    int64_t value;
};

#define NEAR 16u /* places that are compared in less time than the tree takes */

static int64_t best_after(const struct sums *sums, struct window_range range, struct best *last)
{
    if (range.begin == last->range.begin && range.end >= last->range.end &&
        range.end - last->range.end <= NEAR) {
        for (uint64_t at = last->range.end; at < range.end; at++)
            last->value = better(sums->kind, last->value, sums->tree[sums->places + at]);
    } else {
        last->value = best_of(sums, range);
    }
    last->range = range;
    return last->value;
}

/* ---- Sums ---- */

static int64_t double_sum(const struct window_sums *sums, const __int128 *limbs, uint64_t divisor)
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
    window_give(sums->call, at, double_sum(&sums->sums, limbs, divisor));
}

static enum status give_sum(const struct sums *sums, const struct window_frame *frame, uint64_t count,
                            uint64_t at, struct error *error)
{
    struct window_call *const call = sums->call;
    __int128 sum = 0;
    if (sums->sums.doubles) {
        give_double_sum(sums, frame, sums->kind == SUM_AVG ? count : 1, at);
        return STATUS_OK;
    }
    for (uint32_t r = 0; r < frame->count; r++)
        window_sums_add(&sums->sums, 1, frame->ranges[r], &sum);
    if (sums->kind == SUM_AVG)
        window_give(call, at, double_key_of(decimal_average(sum, count, call->argument->type.scale)));
    else if (sum > INT64_MAX || sum <= INT64_MIN)
        return error_set(error, STATUS_BAD_INPUT,
                         "a sum over a window exceeds 64 bits; CAST the summed expression to double");
    else
        window_give(call, at, (int64_t)sum);
    return STATUS_OK;
}

static enum status give(const struct sums *sums, const struct window_frame *frame, uint64_t at,
                        struct best *last, struct error *error)
{
    struct window_call *const call = sums->call;
    int64_t best = worst(sums->kind);
    uint64_t count = 0;
    for (uint32_t r = 0; r < frame->count; r++)
        count += window_counts_before(&sums->counts, frame->ranges[r].end) -
                 window_counts_before(&sums->counts, frame->ranges[r].begin);
    switch (sums->kind) {
    case SUM_NONE:
    case SUM_COUNT:
    case SUM_COUNT_IF:
        window_give(call, at, (int64_t)count);
        return STATUS_OK;
    case SUM_SUM:
    case SUM_AVG:
        if (count)
            return give_sum(sums, frame, count, at, error);
        break;
    case SUM_MIN:
    case SUM_MAX:
        for (uint32_t r = 0; r < frame->count; r++)
            best = better(sums->kind, best, best_after(sums, frame->ranges[r], last));
        if (count) {
            window_give(call, at, best);
            return STATUS_OK;
        }
        break;
    }
    window_give_null(call, at);
    return STATUS_OK;
}

static enum status sum_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct sums *const sums = context;
    struct best last = {.range = {UINT64_MAX, UINT64_MAX}};
    struct window_call *const call = sums->call;
    struct window_cursor cursor;
    struct window_frame frames[2]; /* of a place, and of the one before it */
    window_cursor_open(call->order, begin, &cursor);
    for (uint64_t at = begin; at < end; at++, window_cursor_next(&cursor)) {
        RETURN_IF_ERROR(window_frame_find(&call->frames, &cursor, &frames[at % 2], error));
        if (at > begin && window_frames_are_same(&frames[0], &frames[1]))
            window_give_cell(call, at, &call->out, call->order->places[at - 1]);
        else
            RETURN_IF_ERROR(give(sums, &frames[at % 2], at, &last, error));
    }
    return cancel_check(error);
}

static enum status compute(struct sums *sums, struct error *error)
{
    const struct window_call *const call = sums->call;
    RETURN_IF_ERROR(window_counts_make(call->order, call->argument, sums->kind == SUM_COUNT_IF, call->threads,
                                       &sums->counts, error));
    if (sums->kind == SUM_SUM || sums->kind == SUM_AVG)
        RETURN_IF_ERROR(window_sums_make(call->order, call->argument, call->threads, &sums->sums, error));
    if (sums->kind == SUM_MIN || sums->kind == SUM_MAX)
        RETURN_IF_ERROR(make_tree(sums, error));
    return window_blocks(call->order->rows, call->threads, sum_block, sums, error);
}

enum status window_sums(struct window_call *call)
{
    struct sums sums = {.call = call, .kind = kind_of(call)};
    const enum status status = compute(&sums, call->run->error);
    window_counts_free(&sums.counts);
    window_sums_free(&sums.sums);
    free(sums.tree);
    memory_charge_drop(&sums.charge);
    return status;
}
