/*
 * sort_standing.c: finds terms by which rows stand in order already (sort_rows_internal.h).
 *
 * Rows that were loaded by a key stand in its order, and then an order that ends with it needs no more than its other
 * terms: a sort keeps rows that are alike as they stand. A suffix of the terms is tried at its first rows, where most fail,
 * and then at all rows, on all threads, until one of them finds two rows that do not ascend.
 */
#include "storage/base/sort/sort_rows_internal.h"

#include <stdatomic.h>
#include <stddef.h>

#define BATCH_ROWS 1024u /* whose ranks are in the first-level cache */
#define SLICE_ROWS 65536u

struct standing {
    const struct ranking *ranking;
    unsigned from, to, prefix; /* bits of the ranks; those of the marks' prefix */
    uint8_t *marks;            /* of the first `marked` places; or NULL */
    uint64_t marked;
    atomic_bool falls, repeats;
};

static uint8_t mark_between(const struct standing *standing, uint64_t before, uint64_t rank)
{
    const unsigned same =
        (unsigned)__builtin_clzll((before ^ rank) | 1) - (64 - (standing->to - standing->from));
    return before == rank                             ? 0
           : standing->from + same < standing->prefix ? SORT_BEGINS | SORT_BEGINS_PREFIX
                                                      : SORT_BEGINS;
}

/* Tests rows first .. end - 1, and the first one with the row before it. */
static void test_rows(struct standing *standing, uint64_t first, uint64_t end)
{
    uint64_t ranks[BATCH_ROWS + 1];
    bool falls = false, repeats = false;
    for (uint64_t row = first, count; row < end && !falls; row += count) {
        const uint64_t with = row > 0; /* the row before */
        count = end - row < BATCH_ROWS ? end - row : BATCH_ROWS;
        sort_ranks_of(standing->ranking, standing->from, standing->to, NULL, row - with, count + with, ranks);
        for (uint64_t i = 1; i < count + with; i++) {
            falls |= ranks[i] < ranks[i - 1];
            repeats |= ranks[i] == ranks[i - 1];
        }
        for (uint64_t i = 1; standing->marks && i < count + with && row + i - with < standing->marked; i++)
            standing->marks[row + i - with] = mark_between(standing, ranks[i - 1], ranks[i]);
    }
    if (falls)
        atomic_store(&standing->falls, true);
    if (repeats)
        atomic_store(&standing->repeats, true);
}

static enum status test_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct standing *const standing = context;
    const uint64_t rows = standing->ranking->ordering->rows, first = item * SLICE_ROWS,
                   end = rows - first < SLICE_ROWS ? rows : first + SLICE_ROWS;
    (void)thread;
    if (!atomic_load(&standing->falls))
        test_rows(standing, first, end);
    return cancel_check(error);
}

static enum status test_all(struct standing *standing, unsigned threads, struct error *error)
{
    const uint64_t rows = standing->ranking->ordering->rows;
    test_rows(standing, 0, rows < BATCH_ROWS ? rows : BATCH_ROWS);
    if (atomic_load(&standing->falls))
        return STATUS_OK;
    return parallel_for(threads, (rows + SLICE_ROWS - 1) / SLICE_ROWS, test_slice, standing, error);
}

enum status sort_ranking_cut(struct ranking *ranking, const struct sort_marks *marks, uint64_t marked,
                             unsigned threads, struct error *error)
{
    const uint32_t least = marks ? marks->prefix : 0;
    unsigned from = 0;
    if (!ranking->exact)
        return STATUS_OK;
    for (uint32_t t = 0; t < ranking->count || t == 0; from += ranking->parts[t++].bits) {
        if ((t > 0 && t < least) || ranking->bits - from > 64)
            continue;
        struct standing standing = {.ranking = ranking, .from = from, .to = ranking->bits};
        for (uint32_t p = 0; t == 0 && p < least; p++)
            standing.prefix += ranking->parts[p].bits;
        standing.marks = t == 0 && marks ? marks->marks : NULL;
        standing.marked = marked;
        RETURN_IF_ERROR(test_all(&standing, threads, error));
        if (atomic_load(&standing.falls))
            continue;
        if (standing.marks)
            standing.marks[0] = SORT_BEGINS | SORT_BEGINS_PREFIX;
        ranking->count = t;
        ranking->bits = from;
        ranking->cut = true;
        ranking->distinct = !atomic_load(&standing.repeats);
        return STATUS_OK;
    }
    return STATUS_OK;
}
