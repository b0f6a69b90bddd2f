/*
 * window.c: window functions over answers; see relation.h.
 *
 * Rows are sorted by partition and order, stably, so that equal rows keep their order. Aggregates of frames are in
 * window_aggregate.c, those that need a sketch in window_measure.c.
 */
#define _GNU_SOURCE /* qsort_r */
#include "engine/answer/relation/window_partition.h"
#include "engine/answer/sort_rows.h"

#include "storage/base/decimal.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* ---- Order ---- */

struct comparison {
    const struct rowset *rows;
    uint32_t partition_count, order_count;
    const uint32_t *partitions;
    const struct window_order *orders;
};

static int compare_values(const struct rowset_column *column, uint64_t a, uint64_t b)
{
    return (column->values[a] > column->values[b]) - (column->values[a] < column->values[b]);
}

static int compare_cells(const struct rowset_column *column, uint64_t a, uint64_t b, bool descending,
                         bool nulls_first)
{
    const bool null_a = window_is_null(column, a), null_b = window_is_null(column, b);
    if (null_a || null_b)
        return null_a == null_b ? 0 : null_a == nulls_first ? -1 : 1;
    const int order = compare_values(column, a, b);
    return descending ? -order : order;
}

static int compare_orders(const struct comparison *by, uint64_t a, uint64_t b)
{
    int order = 0;
    for (uint32_t o = 0; order == 0 && o < by->order_count; o++)
        order = compare_cells(&by->rows->columns[by->orders[o].column], a, b, by->orders[o].descending,
                              by->orders[o].nulls_first);
    return order;
}

static int compare_partitions(const struct comparison *by, uint64_t a, uint64_t b)
{
    int order = 0;
    for (uint32_t p = 0; order == 0 && p < by->partition_count; p++)
        order = compare_cells(&by->rows->columns[by->partitions[p]], a, b, false, true);
    return order;
}

static bool same_sort(const struct window_sort *sort, const struct window *window)
{
    return sort->places && sort->partition_count == window->partition_count &&
           sort->order_count == window->order_count &&
           (window->partition_count == 0 ||
            memcmp(sort->partitions, window->partitions,
                   window->partition_count * sizeof *window->partitions) == 0) &&
           (window->order_count == 0 ||
            memcmp(sort->orders, window->orders, window->order_count * sizeof *window->orders) == 0);
}

static struct sort_term term_of(const struct rowset_column *column, bool descending, bool nulls_first)
{
    return (struct sort_term){.values = column->values,
                              .nulls = column->nulls,
                              .descending = descending,
                              .nulls_first = nulls_first};
}

static enum status sort_rows(const struct comparison *by, const struct window *window, unsigned threads,
                             struct window_sort *sort, struct error *error)
{
    const struct rowset_column *const columns = by->rows->columns;
    struct sort_term *terms;
    uint32_t count = 0;
    if (same_sort(sort, window))
        return STATUS_OK;
    free(sort->places);
    sort->places = NULL;
    RETURN_IF_ERROR(
        memory_take(&terms, (by->partition_count + by->order_count + 1) * sizeof *terms, "a window", error));
    for (uint32_t p = 0; p < by->partition_count; p++)
        terms[count++] = term_of(&columns[by->partitions[p]], false, true);
    for (uint32_t o = 0; o < by->order_count; o++)
        terms[count++] =
            term_of(&columns[by->orders[o].column], by->orders[o].descending, by->orders[o].nulls_first);
    const enum status status =
        sort_rows_make(terms, count, by->rows->rows, by->rows->rows, threads, &sort->places, error);
    free(terms);
    RETURN_IF_ERROR(status);
    sort->partition_count = window->partition_count;
    sort->order_count = window->order_count;
    sort->partitions = window->partitions;
    sort->orders = window->orders;
    return STATUS_OK;
}

static void give_double(const struct window_partition *partition, uint64_t at, double value)
{
    partition->out->values[partition->places[at]] = double_key_of(value);
}

static void give_cell(const struct window_partition *partition, uint64_t at, const struct rowset_column *from,
                      uint64_t row)
{
    if (!from || window_is_null(from, row))
        window_give_null(partition, at);
    else
        window_give(partition, at, from->values[row]);
}

/* ---- Ranks ---- */

static void ranks(const struct window_partition *partition)
{
    const uint64_t rows = partition->end - partition->first;
    uint64_t dense = 0, peers_first = partition->first;
    for (uint64_t at = partition->first; at < partition->end; at++) {
        if (at == partition->first || partition->peers[at - 1] == at) {
            peers_first = at;
            dense++;
        }
        const uint64_t rank = peers_first - partition->first;
        switch (partition->window->function) {
        case WINDOW_RANK:
            window_give(partition, at, (int64_t)rank + 1);
            break;
        case WINDOW_DENSE_RANK:
            window_give(partition, at, (int64_t)dense);
            break;
        case WINDOW_PERCENT_RANK:
            give_double(partition, at, rows > 1 ? (double)rank / (double)(rows - 1) : 0);
            break;
        case WINDOW_CUME_DIST:
            give_double(partition, at, (double)(partition->peers[at] - partition->first) / (double)rows);
            break;
        default:
            window_give(partition, at, (int64_t)(at - partition->first) + 1);
        }
    }
}

/* The first parts have one row more if the rows cannot be divided evenly. */
static void ntile(const struct window_partition *partition)
{
    const uint64_t rows = partition->end - partition->first, parts = (uint64_t)partition->window->number,
                   size = rows / parts, larger = rows % parts;
    for (uint64_t i = 0; i < rows; i++)
        window_give(
            partition, partition->first + i,
            (int64_t)(i < larger * (size + 1) ? i / (size + 1) : larger + (i - larger * (size + 1)) / size) +
                1);
}

/* ---- Values of other rows ---- */

static void lag(const struct window_partition *partition)
{
    const struct window *const window = partition->window;
    const struct rowset_column *const otherwise =
        window->otherwise == WINDOW_NO_COLUMN ? NULL : &partition->rows->columns[window->otherwise];
    for (uint64_t at = partition->first; at < partition->end; at++) {
        const __int128 from = (__int128)at - window->number;
        if (from >= (__int128)partition->first && from < (__int128)partition->end)
            give_cell(partition, at, partition->argument, partition->places[(uint64_t)from]);
        else
            give_cell(partition, at, otherwise, partition->places[at]);
    }
}

static void value_in_frame(const struct window_partition *partition)
{
    const struct window *const window = partition->window;
    for (uint64_t at = partition->first; at < partition->end; at++) {
        uint64_t begin, end;
        window_frame(partition, at, &begin, &end);
        const uint64_t skipped = window->function == WINDOW_NTH ? (uint64_t)window->number - 1 : 0;
        if (begin == end || skipped >= end - begin)
            window_give_null(partition, at);
        else
            give_cell(partition, at, partition->argument,
                      partition->places[window->function == WINDOW_LAST ? end - 1 : begin + skipped]);
    }
}

static enum status compute(const struct window_partition *partition)
{
    switch (partition->window->function) {
    case WINDOW_NTILE:
        ntile(partition);
        break;
    case WINDOW_LAG:
        lag(partition);
        break;
    case WINDOW_FIRST:
    case WINDOW_LAST:
    case WINDOW_NTH:
        value_in_frame(partition);
        break;
    case WINDOW_AGGREGATE:
        return window_aggregate(partition);
    case WINDOW_MEASURE:
        return window_measure(partition);
    default:
        ranks(partition);
    }
    return STATUS_OK;
}

/* ---- All partitions ---- */

static enum status type_of(const struct rowset *rows, const struct window *window, struct value_type *type,
                           struct error *error)
{
    const struct value_type integer = {.kind = VALUE_INTEGER}, real = {.kind = VALUE_DOUBLE};
    const struct rowset_column *const argument =
        window->argument == WINDOW_NO_COLUMN ? NULL : &rows->columns[window->argument];
    const bool number =
        argument && (argument->type.kind == VALUE_INTEGER || argument->type.kind == VALUE_DOUBLE ||
                     argument->type.kind == VALUE_BOOLEAN);
    *type = integer;
    switch (window->function) {
    case WINDOW_PERCENT_RANK:
    case WINDOW_CUME_DIST:
        *type = real;
        break;
    case WINDOW_AGGREGATE:
        if (aggregate_of(window->aggregate)->numbers && !number)
            return error_set(error, STATUS_BAD_INPUT, "%s over a window takes numbers",
                             window->average ? "avg" : aggregate_of(window->aggregate)->name);
        if (aggregate_of(window->aggregate)->whole &&
            (argument->type.kind != VALUE_INTEGER || argument->type.scale))
            return error_set(error, STATUS_BAD_INPUT, "%s over a window takes whole numbers",
                             aggregate_of(window->aggregate)->name);
        if (window->average)
            *type = real;
        else if (!aggregate_of(window->aggregate)->counts &&
                 !(aggregate_of(window->aggregate)->numbers && argument->type.kind == VALUE_BOOLEAN))
            *type = argument->type;
        if (aggregate_of(window->aggregate)->numbers)
            type->untyped = false;
        break;
    case WINDOW_MEASURE:
        if (measure_of(window->measure)->dates && !number && argument->type.kind != VALUE_DATE &&
            argument->type.kind != VALUE_TIMESTAMP)
            return error_set(error, STATUS_BAD_INPUT, "%s over a window takes numbers and dates",
                             measure_of(window->measure)->name);
        if (measure_of(window->measure)->result == RESULT_ARGUMENT)
            *type = argument->type;
        break;
    case WINDOW_LAG:
    case WINDOW_FIRST:
    case WINDOW_LAST:
    case WINDOW_NTH:
        *type = argument->type;
        break;
    default:
        break;
    }
    return STATUS_OK;
}

/* The end of the rows that are equal to the first one by `compare`. */
static uint64_t run_end(const struct comparison *by, const uint64_t *places, uint64_t first, uint64_t end,
                        int (*compare)(const struct comparison *, uint64_t, uint64_t))
{
    uint64_t at = first + 1;
    while (at < end && compare(by, places[first], places[at]) == 0)
        at++;
    return at;
}

static enum status compute_all(struct window_partition *partition, const struct comparison *by,
                               uint64_t *peers)
{
    const uint64_t rows = by->rows->rows;
    for (partition->first = 0; partition->first < rows; partition->first = partition->end) {
        partition->end = run_end(by, partition->places, partition->first, rows, compare_partitions);
        for (uint64_t first = partition->first, end; first < partition->end; first = end) {
            end = run_end(by, partition->places, first, partition->end, compare_orders);
            for (uint64_t at = first; at < end; at++)
                peers[at] = end;
        }
        RETURN_IF_ERROR(compute(partition));
    }
    return STATUS_OK;
}

/* A row's place of its last peer, its state of an aggregate, its value, and its count. */
#define SCRATCH_BYTES (5 * sizeof(uint64_t) + 1)

enum status relation_window(const struct rowset *rows, const struct window *window, const char *name,
                            unsigned threads, struct window_sort *sort, struct rowset_column *column,
                            struct error *error)
{
    const struct comparison by = {.rows = rows,
                                  .partition_count = window->partition_count,
                                  .order_count = window->order_count,
                                  .partitions = window->partitions,
                                  .orders = window->orders};
    const uint64_t count = rows->rows;
    struct value_type type;
    struct memory_charge charge = {0}, scratch = {0};
    RETURN_IF_ERROR(type_of(rows, window, &type, error));
    RETURN_IF_ERROR(sort_rows(&by, window, threads, sort, error));
    RETURN_IF_ERROR(memory_charge_add(&charge, count * ROWSET_VALUE_BYTES, "a window", error));
    const enum status fits = memory_charge_add(&scratch, count * SCRATCH_BYTES, "a window", error);
    if (fits != STATUS_OK) {
        memory_charge_drop(&charge);
        return fits;
    }
    *column = (struct rowset_column){.name = strdup(name),
                                     .type = type,
                                     .values = malloc((count + 1) * sizeof *column->values),
                                     .nulls = calloc(count + 1, 1),
                                     .charge = charge};
    uint64_t *const peers = malloc((count + 1) * sizeof *peers);
    struct window_partition partition = {
        .rows = rows,
        .window = window,
        .argument = window->argument == WINDOW_NO_COLUMN ? NULL : &rows->columns[window->argument],
        .places = sort->places,
        .peers = peers,
        .low = malloc((count + 1) * sizeof *partition.low),
        .high = malloc((count + 1) * sizeof *partition.high),
        .values = malloc((count + 1) * sizeof *partition.values),
        .nulls = malloc(count + 1),
        .counts = malloc((count + 1) * sizeof *partition.counts),
        .out = column,
        .error = error};
    enum status status = column->name && column->values && column->nulls && peers && partition.low &&
                                 partition.high && partition.values && partition.nulls && partition.counts
                             ? compute_all(&partition, &by, peers)
                             : error_out_of_memory(error, count * sizeof *column->values, "a window");
    free(peers);
    free(partition.low);
    free(partition.high);
    free(partition.values);
    free(partition.nulls);
    free(partition.counts);
    memory_charge_drop(&scratch);
    if (status != STATUS_OK)
        relation_column_free(column);
    return status;
}
