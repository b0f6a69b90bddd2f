/* merge_rows.c: merges ascending lists of rows (parts.h). A list has whole segments, so that the merge copies long
 * runs of rows from one list. */
#include "engine/plan/partial/parts.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The fewest rows that a thread merges. */
#define RANGE_ROWS (UINT64_C(1) << 18)

struct rows_merge {
    const struct partial *from;
    uint32_t count, ranges;
    uint64_t *start; /* of each range in each list: ranges + 1 times `count` */
    uint64_t *rows;
};

/* The number of the list's rows, from `at` on, that are less than `row`: the search doubles its steps, because
 * the next run may be short or long. */
static uint64_t rows_before(const struct partial *list, uint64_t at, uint64_t end, uint64_t row)
{
    uint64_t step = 1, low = at;
    while (low + step < end && list->rows[low + step] < row) {
        low += step;
        step *= 2;
    }
    uint64_t high = low + step < end ? low + step : end;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (list->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low - at;
}

/* Finds the list with the least next row; *limit is the least next row of the others. */
static uint32_t least_list(const struct rows_merge *merge, const uint64_t *at, const uint64_t *end,
                           uint64_t *limit)
{
    uint32_t least = merge->count;
    uint64_t row = UINT64_MAX;
    *limit = UINT64_MAX;
    for (uint32_t i = 0; i < merge->count; i++) {
        if (at[i] == end[i])
            continue;
        const uint64_t next = merge->from[i].rows[at[i]];
        if (least == merge->count || next < row) {
            *limit = row;
            row = next;
            least = i;
        } else if (next < *limit) {
            *limit = next;
        }
    }
    return least;
}

static enum status merge_range(void *context, uint64_t range, unsigned thread, struct error *error)
{
    const struct rows_merge *merge = context;
    const uint64_t *const end = merge->start + (range + 1) * merge->count;
    uint64_t *at, *to = merge->rows, limit;
    uint32_t list;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(memory_take(&at, merge->count * sizeof *at, "rows", error));
    memcpy(at, merge->start + range * merge->count, merge->count * sizeof *at);
    for (uint32_t i = 0; i < merge->count; i++)
        to += at[i];
    while ((list = least_list(merge, at, end, &limit)) < merge->count) {
        const struct partial *from = &merge->from[list];
        const uint64_t run = 1 + rows_before(from, at[list] + 1, end[list], limit);
        memcpy(to, from->rows + at[list], run * sizeof *to);
        at[list] += run;
        to += run;
    }
    free(at);
    return STATUS_OK;
}

/* Divides the row numbers evenly; lists of rows that pass are dense where the table has rows. */
static void find_ranges(const struct rows_merge *merge, uint64_t last)
{
    for (uint32_t range = 0; range <= merge->ranges; range++)
        for (uint32_t i = 0; i < merge->count; i++) {
            const struct partial *list = &merge->from[i];
            const uint64_t first = last / merge->ranges * range;
            merge->start[(uint64_t)range * merge->count + i] =
                range == merge->ranges ? list->count : rows_before(list, 0, list->count, first);
        }
}

enum status partial_merge_rows(const struct partial *from, uint32_t count, unsigned threads,
                               struct partial *into, struct error *error)
{
    struct rows_merge merge = {.from = from, .count = count};
    uint64_t rows = 0, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        rows += from[i].count;
        if (from[i].count && from[i].rows[from[i].count - 1] > last)
            last = from[i].rows[from[i].count - 1];
    }
    merge.ranges = rows / RANGE_ROWS < threads ? (uint32_t)(rows / RANGE_ROWS) + 1 : threads;
    RETURN_IF_ERROR(spillable_rows(&into->rows, (rows + 1) * sizeof *into->rows, "a list of rows", error));
    into->count = rows;
    merge.rows = into->rows;
    RETURN_IF_ERROR(
        memory_take(&merge.start, (merge.ranges + UINT64_C(1)) * count * sizeof *merge.start, "rows", error));
    find_ranges(&merge, last);
    const enum status status = parallel_for(threads, merge.ranges, merge_range, &merge, error);
    free(merge.start);
    return status;
}
