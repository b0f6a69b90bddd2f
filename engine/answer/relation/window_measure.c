/*
 * window_measure.c: measures of the values in each row's frame, by way of a sketch; see relation.h.
 *
 * The partition's cells are sorted once, each with the number of the frame's rows that have it. A frame's begin and end
 * never move backwards, so each row enters and leaves once; then the occupied cells are the list of which the measure is
 * made, as of a group (engine/answer/measure_values.c), with the same result for the same rows.
 */
#include "engine/answer/relation/window_partition.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Rows that have the same cell and weight. */
struct cell {
    int64_t cell, weight;
    uint64_t rows; /* in the frame; while cells are found, the row's place in the partition */
};

/* The frame's places with a better value than all places of the frame after them. */
struct extreme {
    uint64_t *queue, head, tail;
    bool greatest;
};

struct frame_measure {
    const struct window_partition *partition;
    const struct measure *measure;
    uint64_t rows; /* of the partition */
    struct cell *cells;
    uint64_t *cell_of; /* for each place of the partition its cell, from 1; 0: the value is NULL */
    uint64_t cell_count;
    struct measure_entry *entries;
    struct extreme least, greatest;
    uint64_t begin, end; /* the frame that the cells count */
    struct memory_charge charge;
};

/* Of a row of the partition: its cell and that cell's number, its entry, and its places in two queues. */
#define ROW_BYTES (sizeof(struct cell) + sizeof(struct measure_entry) + 3 * sizeof(uint64_t))

static int64_t value_at(const struct frame_measure *frame, uint64_t place)
{
    return frame->partition->argument->values[frame->partition->places[place]];
}

/* ---- Cells ---- */

static int compare_cells(const void *left, const void *right)
{
    const struct cell *const a = left, *const b = right;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return (a->weight > b->weight) - (a->weight < b->weight);
}

static struct cell cell_of_value(const struct frame_measure *frame, int64_t value)
{
    const struct measure_sketch *const sketch = frame->measure->sketch;
    const bool real = frame->partition->argument->type.kind == VALUE_DOUBLE;
    return (struct cell){.cell = !sketch ? value
                                 : real  ? sketch->double_cell_of(value)
                                         : sketch->cell_of(value),
                         .weight = sketch && sketch->weight_of ? sketch->weight_of(value) : 0};
}

static void find_cells(struct frame_measure *frame)
{
    uint64_t count = 0, kept = 0;
    for (uint64_t i = 0; i < frame->rows; i++) {
        const uint64_t place = frame->partition->first + i;
        if (window_is_null(frame->partition->argument, frame->partition->places[place]))
            continue;
        frame->cells[count] = cell_of_value(frame, value_at(frame, place));
        frame->cells[count++].rows = i;
    }
    qsort(frame->cells, count, sizeof *frame->cells, compare_cells);
    for (uint64_t c = 0; c < count; c++) {
        const struct cell cell = frame->cells[c];
        if (kept == 0 || compare_cells(&frame->cells[kept - 1], &cell) != 0)
            frame->cells[kept++] = (struct cell){cell.cell, cell.weight, 0};
        frame->cell_of[cell.rows] = kept;
    }
    frame->cell_count = kept;
}

/* ---- Frames ---- */

static void enter(const struct frame_measure *frame, struct extreme *extreme, uint64_t place)
{
    const int64_t value = value_at(frame, place);
    while (extreme->tail > extreme->head) {
        const int64_t last = value_at(frame, extreme->queue[extreme->tail - 1]);
        if (extreme->greatest ? last > value : last < value)
            break;
        extreme->tail--;
    }
    extreme->queue[extreme->tail++] = place;
}

/* Moves the frame to places begin .. end - 1. */
static void move(struct frame_measure *frame, uint64_t begin, uint64_t end)
{
    const uint64_t first = frame->partition->first;
    struct extreme *const extremes[] = {&frame->least, &frame->greatest};
    for (; frame->end < end; frame->end++) {
        const uint64_t cell = frame->cell_of[frame->end - first];
        if (cell == 0)
            continue;
        frame->cells[cell - 1].rows++;
        for (uint32_t e = 0; e < 2; e++)
            enter(frame, extremes[e], frame->end);
    }
    for (; frame->begin < begin; frame->begin++) {
        const uint64_t cell = frame->cell_of[frame->begin - first];
        if (cell)
            frame->cells[cell - 1].rows--;
    }
    for (uint32_t e = 0; e < 2; e++)
        while (extremes[e]->head < extremes[e]->tail && extremes[e]->queue[extremes[e]->head] < begin)
            extremes[e]->head++;
}

/* The frame's values, cell by cell; of the same cell the greatest weight stays. */
static struct measure_list list_of(const struct frame_measure *frame)
{
    const struct window *const window = frame->partition->window;
    const struct value_type type = frame->partition->argument->type;
    struct measure_list list = {.entries = frame->entries,
                                .real = type.kind == VALUE_DOUBLE,
                                .scale = type.scale,
                                .fraction = window->fraction,
                                .whole = window->whole,
                                .most = INT64_MAX};
    for (uint64_t c = 0; c < frame->cell_count; c++) {
        const struct cell *const cell = &frame->cells[c];
        if (cell->rows == 0)
            continue;
        struct measure_entry *const last = list.count ? &frame->entries[list.count - 1] : NULL;
        if (last && last->value == cell->cell)
            last->rows = (uint64_t)cell->weight;
        else
            frame->entries[list.count++] =
                (struct measure_entry){.order = cell->cell,
                                       .value = cell->cell,
                                       .rows = cell->weight ? (uint64_t)cell->weight : cell->rows};
    }
    for (uint64_t e = 0; e < list.count; e++)
        list.rows += frame->entries[e].rows;
    if (list.count) {
        list.least = value_at(frame, frame->least.queue[frame->least.head]);
        list.greatest = value_at(frame, frame->greatest.queue[frame->greatest.head]);
    }
    return list;
}

static enum status measure_frame(const struct frame_measure *frame, int64_t *value, bool *null)
{
    const struct measure_list list = list_of(frame);
    *value = 0;
    *null = list.count == 0 && frame->measure->result != RESULT_COUNT;
    return list.count ? frame->measure->of_values(frame->measure, &list, value, null, frame->partition->error)
                      : STATUS_OK;
}

static enum status measure_all(struct frame_measure *frame)
{
    const struct window_partition *const partition = frame->partition;
    int64_t value = 0;
    bool null = false;
    find_cells(frame);
    frame->begin = frame->end = partition->first;
    for (uint64_t at = partition->first; at < partition->end; at++) {
        uint64_t begin, end;
        window_frame(partition, at, &begin, &end);
        if (at % 64 == 0)
            RETURN_IF_ERROR(cancel_check(partition->error));
        if (at == partition->first || begin != frame->begin || end != frame->end) {
            move(frame, begin, end);
            RETURN_IF_ERROR(measure_frame(frame, &value, &null));
        }
        if (null)
            window_give_null(partition, at);
        else
            window_give(partition, at, value);
    }
    return STATUS_OK;
}

static enum status take_memory(struct frame_measure *frame, struct error *error)
{
    const uint64_t rows = frame->rows;
    RETURN_IF_ERROR(memory_charge_add(&frame->charge, rows * ROW_BYTES, "a window", error));
    RETURN_IF_ERROR(memory_take(&frame->cells, rows * sizeof *frame->cells, "a window", error));
    RETURN_IF_ERROR(memory_zeros(&frame->cell_of, rows * sizeof *frame->cell_of, "a window", error));
    RETURN_IF_ERROR(memory_take(&frame->entries, rows * sizeof *frame->entries, "a window", error));
    RETURN_IF_ERROR(memory_take(&frame->least.queue, rows * sizeof(uint64_t), "a window", error));
    return memory_take(&frame->greatest.queue, rows * sizeof(uint64_t), "a window", error);
}

enum status window_measure(const struct window_partition *partition)
{
    const struct measure *const measure = measure_of(partition->window->measure);
    const enum value_kind type = partition->argument->type.kind;
    const bool exact = measure->dates && (type == VALUE_DATE || type == VALUE_TIMESTAMP);
    struct frame_measure frame = {.partition = partition,
                                  .measure = exact ? measure_of(measure->dates) : measure,
                                  .rows = partition->end - partition->first,
                                  .greatest = {.greatest = true}};
    enum status status = take_memory(&frame, partition->error);
    if (status == STATUS_OK)
        status = measure_all(&frame);
    free(frame.cells);
    free(frame.cell_of);
    free(frame.entries);
    free(frame.least.queue);
    free(frame.greatest.queue);
    memory_charge_drop(&frame.charge);
    return status;
}
