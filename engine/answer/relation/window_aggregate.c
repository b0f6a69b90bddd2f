/*
 * window_aggregate.c: aggregates (engine/aggregate/aggregate.h) over each row's frame; see relation.h.
 *
 * A frame's begin and end never move backwards within a partition, so it is a queue of rows. States can be merged but not
 * taken back, so the queue is two stacks: the states of all rows from each of its first places up to `middle`, and one
 * state of the rows after these. When the first part is used up, all rows become the first part: each row is added and
 * merged once, whatever the frame. A frame that only grows is a single state.
 *
 * A moving sum of doubles is added up anew for each row: their sum depends on its order.
 */
#include "engine/answer/relation/window_partition.h"

#include "storage/base/decimal.h"
#include "storage/base/double_key.h"
#include "storage/base/parallel.h"

/* Places are of the partition: 0 is its first row. */
struct frame {
    const struct aggregate *aggregate;
    const int64_t *values; /* NULL: there is no argument */
    const uint8_t *nulls;  /* NULL: no value is NULL */
    int64_t *low, *high;   /* the states of places begin .. middle - 1, with all after them up to `middle` */
    uint64_t begin, middle, end;
    int64_t last_low, last_high; /* of places middle .. end - 1 */
};

static void clear(const struct frame *frame, int64_t *low, int64_t *high)
{
    *low = frame->aggregate->identity[0];
    *high = frame->aggregate->identity[1];
}

static void add_rows(const struct frame *frame, uint64_t first, uint64_t end, int64_t *low, int64_t *high)
{
    for (uint64_t rows; first < end; first += rows) {
        rows = end - first < UINT32_MAX ? end - first : UINT32_MAX;
        frame->aggregate->fold(low, high, (uint32_t)rows, frame->values ? frame->values + first : NULL,
                               frame->nulls ? frame->nulls + first : NULL);
    }
}

static void merge(const struct frame *frame, int64_t *low, int64_t *high, uint64_t place)
{
    frame->aggregate->merge(low, high, 1, &(uint64_t){0}, frame->low + place, frame->high + place, 0);
}

/* Makes all rows the first part. */
static void turn(struct frame *frame)
{
    int64_t low, high;
    clear(frame, &low, &high);
    for (uint64_t place = frame->end; place-- > frame->begin;) {
        add_rows(frame, place, place + 1, &low, &high);
        frame->low[place] = low;
        frame->high[place] = high;
    }
    frame->middle = frame->end;
    clear(frame, &frame->last_low, &frame->last_high);
}

static __int128 number_of(struct frame *frame, uint64_t begin, uint64_t end)
{
    if (frame->end < end)
        add_rows(frame, frame->end, end, &frame->last_low, &frame->last_high);
    frame->end = end;
    frame->begin = begin;
    if (begin > frame->middle)
        turn(frame);
    int64_t low = frame->last_low, high = frame->last_high;
    if (begin < frame->middle)
        merge(frame, &low, &high, begin);
    return aggregate_number(frame->aggregate, &low, &high, 0);
}

/* ---- Sums of doubles ---- */

/* Of places begin .. end - 1. */
struct double_sum {
    uint64_t begin, end;
    double sum;
};

/* Goes on from the sum of *done if only the end moved. */
static double sum_doubles(const struct frame *frame, uint64_t begin, uint64_t end, struct double_sum *done)
{
    if (done->begin != begin || done->end > end)
        *done = (struct double_sum){.begin = begin, .end = begin};
    for (; done->end < end; done->end++)
        if (!frame->nulls || !frame->nulls[done->end])
            done->sum += double_of_key(frame->values[done->end]);
    return done->sum;
}

/* ---- Rows ---- */

/* Puts the argument's values into the order of places, so that rows that are near are near in memory, and counts those
 * before each place that are not NULL. */
static void gather(const struct window_partition *partition)
{
    const struct rowset_column *const argument = partition->argument;
    const uint64_t *const places = partition->places + partition->first;
    const uint64_t rows = partition->end - partition->first;
    for (uint64_t i = 0; argument && i < rows; i++)
        partition->values[i] = argument->values[places[i]];
    for (uint64_t i = 0; argument && argument->nulls && i < rows; i++)
        partition->nulls[i] = argument->nulls[places[i]];
    partition->counts[0] = 0;
    for (uint64_t i = 0; i < rows; i++)
        partition->counts[i + 1] =
            partition->counts[i] + !(argument && argument->nulls && partition->nulls[i]);
}

static enum status give_number(const struct window_partition *partition, const struct aggregate *aggregate,
                               uint64_t at, __int128 number, uint64_t count)
{
    if (partition->window->average) {
        const double average = decimal_average(number, count, partition->argument->type.scale);
        window_give(partition, at, double_key_of(average));
        return STATUS_OK;
    }
    if (aggregate->words > 1 && (number > INT64_MAX || number <= INT64_MIN))
        return error_set(partition->error, STATUS_BAD_INPUT,
                         "a %s over a window exceeds 64 bits; CAST the summed expression to double",
                         aggregate->name);
    window_give(partition, at, (int64_t)number);
    return STATUS_OK;
}

enum status window_aggregate(const struct window_partition *partition)
{
    const struct window *const window = partition->window;
    const struct rowset_column *const argument = partition->argument;
    const struct aggregate *const aggregate = aggregate_of(aggregate_of_any_range(window->aggregate));
    const bool doubles = aggregate->numbers && argument->type.kind == VALUE_DOUBLE;
    struct frame frame = {.aggregate = aggregate,
                          .values = argument ? partition->values : NULL,
                          .nulls = argument && argument->nulls ? partition->nulls : NULL,
                          .low = partition->low,
                          .high = partition->high};
    struct double_sum done = {.begin = UINT64_MAX};
    clear(&frame, &frame.last_low, &frame.last_high);
    gather(partition);
    for (uint64_t at = partition->first; at < partition->end; at++) {
        uint64_t begin, end;
        window_frame(partition, at, &begin, &end);
        begin -= partition->first;
        end -= partition->first;
        const uint64_t count = partition->counts[end] - partition->counts[begin];
        if (at % 4096 == 0)
            RETURN_IF_ERROR(cancel_check(partition->error));
        if (count == 0 && !aggregate->counts) {
            window_give_null(partition, at);
        } else if (doubles) {
            const double sum = sum_doubles(&frame, begin, end, &done);
            window_give(partition, at, double_key_of(window->average ? sum / (double)count : sum));
        } else {
            RETURN_IF_ERROR(give_number(partition, aggregate, at, number_of(&frame, begin, end), count));
        }
    }
    return STATUS_OK;
}
