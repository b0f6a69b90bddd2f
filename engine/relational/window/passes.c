/*
 * passes.c: counts, sums and extrema over the commonest frames, in one pass over the values; see window.h.
 *
 *     whole       all rows of the partition
 *     running     from its first row to this one, or to the last of this one's group
 *     sliding     some rows before this one to some rows after it, at most SLIDE together
 *
 * Threads take blocks of places. What a whole or running frame has outside of a block is known before: each block adds up
 * what it has of partitions and groups that begin before it or end after it, which is little where they are small, and
 * these totals are put together block after block. So a partition may be small or all rows.
 *
 *     block b      ... | head      P          P    tail | ...      P: a partition begins
 *
 * Sums of sliding frames gain a value and lose one. Their extrema are those of two runs of values, from and to the bounds
 * of chunks that are as long as a frame (van Herk 1992, Gil and Werman 1993): three comparisons a row for any length.
 */
#include "engine/relational/window/window.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define CORE  static inline __attribute__((always_inline))
#define SLIDE 512u /* rows: with those of a block 60 KB of a thread's stack */

/* Extrema are the greatest values; of the complements if the least are asked. */
enum what { COUNTS, SUMS, EXTREMES };
enum pass { NO_PASS, WHOLE, RUNNING_ROWS, RUNNING_GROUPS, SLIDING };

struct total {
    __int128 number;
    uint64_t count; /* of the values that are not NULL */
};

/* What a block has of partitions and groups that it shares; then what is outside of it. */
struct edge {
    bool partition, group;      /* one begins here */
    struct total head, peers;   /* before the first partition, group; else all */
    struct total tail;          /* from the last partition on; else all */
    struct total before, after; /* of the first row's partition, and of the last row's */
    struct total peers_after;   /* of the last row's group */
};

struct passes {
    struct window_call *call;
    struct window_aggregate aggregate;
    const struct rowset_column *argument; /* read through `places`, unless that is NULL */
    const uint64_t *places;
    enum what what;
    enum pass pass;
    uint64_t flip;                 /* all ones: the least values are asked */
    bool all;                      /* no value is NULL */
    uint64_t preceding, following; /* sliding */
    struct edge *edges;            /* of each block */
};

/* ---- Totals ---- */

CORE struct total none(enum what what)
{
    return (struct total){what == EXTREMES ? INT64_MIN : 0, 0};
}

CORE void add(enum what what, struct total *total, int64_t value, bool present)
{
    total->count += present;
    if (what == SUMS)
        total->number += present ? value : 0;
    else if (what == EXTREMES && present && value > (int64_t)total->number)
        total->number = value;
}

static void join(enum what what, struct total *total, const struct total *other)
{
    total->count += other->count;
    if (what == SUMS)
        total->number += other->number;
    else if (what == EXTREMES && other->number > total->number)
        total->number = other->number;
}

/* The value at a place, and whether it counts. */
CORE int64_t value_at(const struct passes *passes, uint64_t at, bool *present)
{
    const struct rowset_column *const argument = passes->argument;
    const uint64_t row = passes->places ? passes->places[at] : at;
    *present = passes->all ||
               (!window_is_null(argument, row) && (!passes->aggregate.true_only || argument->values[row]));
    return passes->what == COUNTS ? 0 : (int64_t)((uint64_t)argument->values[row] ^ passes->flip);
}

/* Gives rows begin .. end - 1 one value. */
CORE enum status give(const struct passes *passes, enum what what, const struct total *total, uint64_t begin,
                      uint64_t end, struct error *error)
{
    struct window_call *const call = passes->call;
    const __int128 number = total->number;
    int64_t value = (int64_t)number;
    if (what == COUNTS)
        value = (int64_t)total->count;
    else if (what == EXTREMES)
        value ^= (int64_t)passes->flip;
    else if (passes->aggregate.average && total->count)
        value = double_key_of(decimal_average(number, total->count, call->argument->type.scale));
    else if (!passes->aggregate.average && (number != value || value == INT64_MIN))
        return error_set(error, STATUS_BAD_INPUT, WINDOW_SUM_TOO_LARGE);
    for (uint64_t at = begin; at < end; at++)
        call->out.values[at] = value;
    for (uint64_t at = begin; what != COUNTS && total->count == 0 && at < end; at++)
        window_give_null(call, at);
    return STATUS_OK;
}

/* ---- What blocks share ---- */

static enum status find_edge(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct passes *const passes = context;
    const uint8_t *const marks = passes->call->order->marks;
    const enum what what = passes->what;
    struct edge *const edge = &passes->edges[begin / WINDOW_BLOCK];
    *edge = (struct edge){.head = none(what), .peers = none(what), .tail = none(what)};
    uint64_t first = begin; /* partition */
    for (; first < end && !(marks[first] & SORT_BEGINS_PREFIX); first++) {
        bool present;
        const int64_t value = value_at(passes, first, &present);
        edge->group |= (marks[first] & SORT_BEGINS) != 0;
        add(what, &edge->head, value, present);
        if (!edge->group)
            add(what, &edge->peers, value, present);
    }
    edge->partition = first < end;
    if (!edge->partition)
        edge->tail = edge->head;
    bool ends = !edge->partition;
    for (uint64_t at = end; !ends; ends = (marks[at] & SORT_BEGINS_PREFIX) != 0) {
        bool present;
        const int64_t value = value_at(passes, --at, &present);
        add(what, &edge->tail, value, present);
    }
    edge->group |= edge->partition;
    return cancel_check(error);
}

static void join_edges(struct edge *edges, uint64_t count, enum what what)
{
    struct total before = none(what), after = none(what), peers = none(what);
    for (uint64_t b = 0; b < count; b++) {
        edges[b].before = before;
        if (edges[b].partition)
            before = none(what);
        join(what, &before, &edges[b].tail);
    }
    for (uint64_t b = count; b-- > 0;) {
        edges[b].after = after;
        edges[b].peers_after = peers;
        if (edges[b].partition)
            after = none(what);
        if (edges[b].group)
            peers = none(what);
        join(what, &after, &edges[b].head);
        join(what, &peers, &edges[b].peers);
    }
}

/* ---- Whole and running frames ---- */

/* The values of a block, in its order. */
struct values {
    int64_t values[WINDOW_BLOCK + SLIDE];
    bool present[WINDOW_BLOCK + SLIDE];
};

/* Those of places begin .. end - 1; what is not there is the least value, or 0. */
static void gather(const struct passes *passes, uint64_t begin, uint64_t end, struct values *values)
{
    const int64_t instead = (int64_t)none(passes->what).number;
    const uint64_t *const places = passes->places, flip = passes->flip;
    const int64_t *const from = passes->what == COUNTS ? NULL : passes->argument->values;
    if (passes->all) {
        memset(values->present, 1, end - begin);
        for (uint64_t at = begin; from && places && at < end; at++)
            values->values[at - begin] = (int64_t)((uint64_t)from[places[at]] ^ flip);
        for (uint64_t at = begin; from && !places && at < end; at++)
            values->values[at - begin] = (int64_t)((uint64_t)from[at] ^ flip);
        return;
    }
    for (uint64_t at = begin; at < end; at++) {
        bool present;
        const int64_t value = value_at(passes, at, &present);
        values->values[at - begin] = present ? value : instead;
        values->present[at - begin] = present;
    }
}

/* Frames that end with the row's partition or group, or with itself: each run of rows has one value. `ends` is the mark at
 * which the next run begins; 0: each row is a run. */
CORE enum status give_runs(const struct passes *passes, enum what what, uint8_t ends, uint64_t begin,
                           uint64_t end, struct error *error)
{
    const struct window_order *const order = passes->call->order;
    const struct edge *const edge = &passes->edges[begin / WINDOW_BLOCK];
    const uint8_t *const marks = order->marks + begin;
    const uint64_t count = end - begin;
    struct values values;
    struct total total = edge->before;
    gather(passes, begin, end, &values);
    for (uint64_t first = 0, i = 0; first < count; first = i) {
        if (marks[first] & SORT_BEGINS_PREFIX)
            total = none(what);
        do {
            add(what, &total, values.values[i], values.present[i]);
            i++;
        } while (ends && i < count && !(marks[i] & ends));
        struct total all = total;
        if (ends && i == count && end < order->rows && !(marks[count] & ends))
            join(what, &all, ends == SORT_BEGINS ? &edge->peers_after : &edge->after);
        RETURN_IF_ERROR(give(passes, what, &all, begin + first, begin + i, error));
    }
    return cancel_check(error);
}

CORE enum status give_runs_of(const struct passes *passes, enum what what, uint64_t begin, uint64_t end,
                              struct error *error)
{
    return passes->pass == RUNNING_ROWS ? give_runs(passes, what, 0, begin, end, error)
           : passes->pass == WHOLE      ? give_runs(passes, what, SORT_BEGINS_PREFIX, begin, end, error)
                                        : give_runs(passes, what, SORT_BEGINS, begin, end, error);
}

static enum status give_runs_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct passes *const passes = context;
    return passes->what == COUNTS ? give_runs_of(passes, COUNTS, begin, end, error)
           : passes->what == SUMS ? give_runs_of(passes, SUMS, begin, end, error)
                                  : give_runs_of(passes, EXTREMES, begin, end, error);
}

/* ---- Sliding frames ---- */

/* What a thread has of a block, and of as much before and after it as its frames reach. Places are counted from the first
 * value. */
struct slide {
    struct values values;
    int64_t to[WINDOW_BLOCK + SLIDE];   /* the extreme from the chunk's first value to this one */
    int64_t from[WINDOW_BLOCK + SLIDE]; /* and from this one to its last */
};

/* The extremes of chunks of `width` values from `first` on, the last of which may be shorter. */
static void find_runs(struct slide *slide, uint64_t first, uint64_t end, uint64_t width)
{
    const int64_t *const values = slide->values.values;
    for (uint64_t begin = first, stop; begin < end; begin = stop) {
        stop = end - begin < width ? end : begin + width;
        slide->to[begin] = values[begin];
        for (uint64_t i = begin + 1; i < stop; i++)
            slide->to[i] = values[i] > slide->to[i - 1] ? values[i] : slide->to[i - 1];
        slide->from[stop - 1] = values[stop - 1];
        for (uint64_t i = stop - 1; i-- > begin;)
            slide->from[i] = values[i] > slide->from[i + 1] ? values[i] : slide->from[i + 1];
    }
}

/* Gives the rows first .. last - 1 of a partition of which low .. high - 1 are here. `base` is the place of the first
 * value. */
CORE enum status give_slides(const struct passes *passes, enum what what, struct slide *slide, uint64_t low,
                             uint64_t high, uint64_t first, uint64_t last, uint64_t base, struct error *error)
{
    const uint64_t width = passes->preceding + passes->following + 1;
    const int64_t *const values = slide->values.values;
    const bool *const present = slide->values.present;
    uint64_t begin = low, end = low,
             chunk = low; /* the frame; `chunk` is the first one's after its beginning */
    struct total total = {0};
    if (what == EXTREMES)
        find_runs(slide, low, high, width);
    for (uint64_t at = first; at < last; at++) {
        const uint64_t from = at - low < passes->preceding ? low : at - passes->preceding,
                       to = high - at <= passes->following ? high : at + passes->following + 1;
        for (; end < to; end++) {
            total.count += present[end];
            total.number += what == SUMS ? values[end] : 0;
        }
        for (; begin < from; begin++) {
            total.count -= present[begin];
            total.number -= what == SUMS ? values[begin] : 0;
        }
        if (what == EXTREMES) {
            while (chunk <= from)
                chunk += width;
            const int64_t left = slide->from[from], right = slide->to[to - 1];
            total.number = chunk < to ? (left > right ? left : right) : from == low ? right : left;
        }
        RETURN_IF_ERROR(give(passes, what, &total, base + at, base + at + 1, error));
    }
    return STATUS_OK;
}

CORE enum status give_slides_of(const struct passes *passes, enum what what, uint64_t begin, uint64_t end,
                                struct error *error)
{
    const struct window_order *const order = passes->call->order;
    const uint64_t base = begin < passes->preceding ? 0 : begin - passes->preceding,
                   stop = order->rows - end < passes->following ? order->rows : end + passes->following;
    struct slide slide;
    gather(passes, base, stop, &slide.values);
    for (uint64_t low = base, high; low < end; low = high) {
        for (high = low + 1; high < stop && !(order->marks[high] & SORT_BEGINS_PREFIX);)
            high++;
        if (high <= begin)
            continue;
        RETURN_IF_ERROR(give_slides(passes, what, &slide, low - base, high - base,
                                    (low < begin ? begin : low) - base, (high < end ? high : end) - base,
                                    base, error));
    }
    return cancel_check(error);
}

static enum status give_slides_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct passes *const passes = context;
    return passes->what == COUNTS ? give_slides_of(passes, COUNTS, begin, end, error)
           : passes->what == SUMS ? give_slides_of(passes, SUMS, begin, end, error)
                                  : give_slides_of(passes, EXTREMES, begin, end, error);
}

/* ---- All ---- */

/* The number of rows between an edge and the row itself. */
static bool rows_of(const struct window_edge *edge, enum sql_bound bound, uint64_t *rows)
{
    *rows = edge->bound == bound ? (uint64_t)edge->number.constant : 0;
    return edge->bound == SQL_BOUND_CURRENT || (edge->bound == bound && !edge->number.column &&
                                                edge->number.constant >= 0 && edge->number.constant < SLIDE);
}

static enum pass pass_of(const struct window_call *call, struct passes *passes)
{
    const struct window_frames *const frames = &call->frames;
    const enum sql_bound begin = frames->begin.bound, end = frames->end.bound;
    const bool rows = frames->frame == SQL_FRAME_ROWS;
    if (frames->exclude != SQL_EXCLUDE_NONE)
        return NO_PASS;
    if (begin == SQL_BOUND_FIRST && end == SQL_BOUND_LAST)
        return WHOLE;
    if (begin == SQL_BOUND_FIRST && end == SQL_BOUND_CURRENT)
        return rows                                                      ? RUNNING_ROWS
               : call->order->term_count == call->order->partition_terms ? WHOLE
                                                                         : RUNNING_GROUPS;
    return rows && rows_of(&frames->begin, SQL_BOUND_BEFORE, &passes->preceding) &&
                   rows_of(&frames->end, SQL_BOUND_AFTER, &passes->following) &&
                   passes->preceding + passes->following <= SLIDE
               ? SLIDING
               : NO_PASS;
}

static bool find(struct window_call *call, struct passes *passes)
{
    *passes = (struct passes){.call = call};
    if (!window_aggregate_of(call, &passes->aggregate))
        return false;
    const struct aggregate *const of = passes->aggregate.of;
    passes->argument = call->placed ? call->placed : call->argument;
    passes->places = call->placed ? NULL : call->order->places;
    passes->what = of->counts ? COUNTS : of->sums ? SUMS : EXTREMES;
    passes->flip = of->extreme < 0 ? UINT64_MAX : 0;
    passes->all = !call->argument || (!call->argument->nulls && !passes->aggregate.true_only);
    passes->pass = pass_of(call, passes);
    return passes->pass != NO_PASS &&
           (of->counts || of->extreme || (of->sums && call->argument->type.kind != VALUE_DOUBLE));
}

bool window_is_pass(struct window_call *call, bool *nulls)
{
    struct passes passes;
    *nulls = true;
    if (!find(call, &passes))
        return false;
    *nulls = !passes.all && passes.what != COUNTS;
    return true;
}

enum status window_passes(struct window_call *call)
{
    const uint64_t rows = call->order->rows, count = (rows + WINDOW_BLOCK - 1) / WINDOW_BLOCK;
    struct error *const error = call->run->error;
    struct passes passes;
    find(call, &passes);
    if (passes.pass == SLIDING)
        return window_blocks(rows, call->threads, give_slides_block, &passes, error);
    enum status status = memory_take(&passes.edges, (count + 1) * sizeof *passes.edges, "a window", error);
    status = AND_THEN(status, window_blocks(rows, call->threads, find_edge, &passes, error));
    if (status == STATUS_OK)
        join_edges(passes.edges, count, passes.what);
    status = AND_THEN(status, window_blocks(rows, call->threads, give_runs_block, &passes, error));
    free(passes.edges);
    return status;
}
