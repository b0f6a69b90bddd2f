/* sort_rows.c: see sort_rows.h. Few rows are compared; of many, ranks are sorted by radix, in memory or by runs. */
#include "storage/base/sort/sort_rows_internal.h"

#include "storage/base/execution/memory_account.h"
#include "storage/base/execution/spillable.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

/* With fewer rows, comparing them takes less time than finding the range of each term. */
#define RADIX_ROWS 512u

/* What sort_radix takes of a row, with the result. */
#define RADIX_BYTES 12u

#define MARKED_ROWS 65536u

/* So many rows, or fewer, are selected by a heap, which fits the caches. */
#define HEAP_ROWS 16384u

static int compare_term(const struct sort_term *term, uint64_t a, uint64_t b)
{
    const bool a_null = sort_term_null(term, a), b_null = sort_term_null(term, b);
    if (a_null || b_null)
        return a_null == b_null ? 0 : a_null == term->nulls_first ? -1 : 1;
    const int64_t x = sort_term_value(term, a), y = sort_term_value(term, b);
    const int result = (x > y) - (x < y);
    return term->descending ? -result : result;
}

int sort_rows_compare(const void *left, const void *right, const void *context)
{
    const struct ordering *ordering = context;
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    for (uint32_t t = 0; t < ordering->count; t++) {
        const int result = compare_term(&ordering->terms[t], a, b);
        if (result)
            return result;
    }
    return (a > b) - (a < b);
}

/* ---- The first rows ---- */

/* Restores the heap places[0 .. count-1], whose last row in order is first, after a change of places[at]. */
static void sift(uint64_t *places, uint64_t count, uint64_t at, const struct ordering *ordering)
{
    const uint64_t moved = places[at];
    for (uint64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && sort_rows_compare(&places[child + 1], &places[child], ordering) > 0)
            child++;
        if (sort_rows_compare(&places[child], &moved, ordering) <= 0)
            break;
        places[at] = places[child];
        at = child;
    }
    places[at] = moved;
}

/* Gives the first `count` rows in order. Most other rows take one comparison. */
static void select_first(uint64_t *places, uint64_t count, const struct ordering *ordering)
{
    for (uint64_t at = count / 2; at-- > 0;)
        sift(places, count, at, ordering);
    for (uint64_t row = count; row < ordering->rows; row++) {
        if (sort_rows_compare(&row, &places[0], ordering) >= 0)
            continue;
        places[0] = row;
        sift(places, count, 0, ordering);
    }
    sort_items(places, count, sizeof *places, sort_rows_compare, ordering);
}

/* ---- Marks ---- */

uint8_t sort_rows_mark(const struct ordering *ordering, uint32_t prefix, uint64_t before, uint64_t row)
{
    for (uint32_t t = 0; t < ordering->count; t++)
        if (compare_term(&ordering->terms[t], before, row) != 0)
            return t < prefix ? SORT_BEGINS | SORT_BEGINS_PREFIX : SORT_BEGINS;
    return 0;
}

struct marking {
    const struct ordering *ordering;
    const struct sort_marks *marks;
    const uint64_t *places;
    uint64_t count;
};

static enum status mark_some(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct marking *const marking = context;
    const uint64_t begin = item * MARKED_ROWS, left = marking->count - begin,
                   end = begin + (left < MARKED_ROWS ? left : MARKED_ROWS);
    (void)thread;
    for (uint64_t at = begin; at < end; at++)
        marking->marks->marks[at] = at == 0 ? SORT_BEGINS | SORT_BEGINS_PREFIX
                                            : sort_rows_mark(marking->ordering, marking->marks->prefix,
                                                             marking->places[at - 1], marking->places[at]);
    return cancel_check(error);
}

enum status sort_rows_mark_all(const struct ordering *ordering, const uint64_t *places, uint64_t count,
                               unsigned threads, const struct sort_marks *marks, struct error *error)
{
    struct marking marking = {ordering, marks, places, count};
    return parallel_for(threads, (count + MARKED_ROWS - 1) / MARKED_ROWS, mark_some, &marking, error);
}

/* ---- All ---- */

bool sort_rows_fit(uint64_t rows)
{
    struct memory_charge charge = {0};
    const struct memory_account *const account = execution_memory();
    const bool fitting = !account || memory_charge_try(&charge, rows * RADIX_BYTES, account->limit / 2);
    memory_charge_drop(&charge);
    return fitting;
}

enum status sort_rows_make(const struct sort_term *terms, uint32_t count, uint64_t rows, uint64_t wanted,
                           const struct sort_moved *moved, const struct sort_marks *marks, unsigned threads,
                           uint64_t **places, struct error *error)
{
    const struct ordering ordering = {.terms = terms, .count = count, .rows = rows};
    enum status status;
    threads = threads ? threads : parallel_threads_available();
    wanted = wanted < rows ? wanted : rows;
    if (rows >= RADIX_ROWS && (wanted > rows / 8 || wanted > HEAP_ROWS)) {
        if (sort_rows_fit(rows))
            return sort_radix(&ordering, wanted, marks, threads, places, error);
        status = sort_runs(&ordering, moved, threads, places, error);
    } else {
        status = spillable_rows(places, (wanted + 1) * sizeof **places, "an answer's order", error);
        for (uint64_t row = 0; status == STATUS_OK && row < wanted; row++)
            (*places)[row] = row;
        if (status == STATUS_OK && wanted)
            select_first(*places, wanted, &ordering);
    }
    if (status == STATUS_OK && marks)
        status = sort_rows_mark_all(&ordering, *places, wanted, threads, marks, error);
    return status;
}
