/*
 * sort_first.c: finds the first row of each partition without sorting any (sort_rows.h).
 *
 * Rows that stand in the order of their partitions, as those of an order's lines do, have each partition in one run: one
 * pass keeps the row of the least rank of the run. Threads have slices of the rows, and the runs that begin in them. Other
 * rows are dealt to parts by their partitions, and of each the least rank is kept in the cache (sort_radix.c).
 */
#include "storage/base/sort/sort_rows_internal.h"

#include "storage/base/execution/spillable.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 1024u /* whose ranks are in the first-level cache */
#define SLICE_ROWS 65536u

struct firsts {
    struct ranking ranking;
    unsigned prefix;   /* bits of a rank that say the partition */
    uint8_t *kept;     /* of each row */
    atomic_bool falls; /* the rows do not stand so */
};

/* The run that is being read: the row of its least rank. */
struct run {
    bool open;
    uint64_t rank, row;
};

static void close_run(const struct firsts *firsts, struct run *run)
{
    if (run->open)
        firsts->kept[run->row] = 1;
    run->open = false;
}

/* Reads the runs that begin at rows begin .. end - 1, to their ends. */
static void read_runs(struct firsts *firsts, uint64_t begin, uint64_t end)
{
    const struct ranking *const ranking = &firsts->ranking;
    const uint64_t rows = ranking->ordering->rows;
    uint64_t partitions[BATCH_ROWS], ranks[BATCH_ROWS], before = 0;
    struct run run = {0};
    if (begin > 0)
        sort_ranks_of(ranking, 0, firsts->prefix, NULL, begin - 1, 1, &before);
    for (uint64_t row = begin, count; row < rows && (row < end || run.open); row += count) {
        count = rows - row < BATCH_ROWS ? rows - row : BATCH_ROWS;
        sort_ranks_of(ranking, 0, firsts->prefix, NULL, row, count, partitions);
        sort_ranks_of(ranking, firsts->prefix, ranking->bits, NULL, row, count, ranks);
        for (uint64_t i = 0; i < count; i++) {
            if (partitions[i] != before || row + i == 0) {
                close_run(firsts, &run);
                if (row + i >= end)
                    return;
                if (partitions[i] < before)
                    atomic_store(&firsts->falls, true);
                run = (struct run){true, ranks[i], row + i};
                before = partitions[i];
            } else if (ranks[i] < run.rank) {
                run.rank = ranks[i];
                run.row = row + i;
            }
        }
        if (atomic_load_explicit(&firsts->falls, memory_order_relaxed))
            return;
    }
    close_run(firsts, &run);
}

static enum status read_slice(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct firsts *const firsts = context;
    const uint64_t rows = firsts->ranking.ordering->rows, begin = item * SLICE_ROWS,
                   end = rows - begin < SLICE_ROWS ? rows : begin + SLICE_ROWS;
    (void)thread;
    if (!atomic_load(&firsts->falls))
        read_runs(firsts, begin, end);
    return cancel_check(error);
}

/* Most rows that do not stand so are told by the first ones. */
static enum status read_all(struct firsts *firsts, unsigned threads, struct error *error)
{
    const uint64_t rows = firsts->ranking.ordering->rows;
    read_runs(firsts, 0, rows < BATCH_ROWS ? rows : BATCH_ROWS);
    if (atomic_load(&firsts->falls))
        return STATUS_OK;
    return parallel_for(threads, (rows + SLICE_ROWS - 1) / SLICE_ROWS, read_slice, firsts, error);
}

enum status sort_first_of_each(const struct sort_term *terms, uint32_t count, uint32_t prefix, uint64_t rows,
                               unsigned threads, uint64_t **list, uint64_t *found, struct error *error)
{
    const struct ordering ordering = {.terms = terms, .count = count, .rows = rows};
    struct firsts firsts = {0};
    *list = NULL;
    enum status status = sort_ranking_make(&ordering, threads, &firsts.ranking, error);
    for (uint32_t t = 0; t < prefix && t < firsts.ranking.count; t++)
        firsts.prefix += firsts.ranking.parts[t].bits;
    const bool may = firsts.ranking.exact && firsts.prefix <= 64 && firsts.ranking.bits - firsts.prefix <= 64;
    if (status == STATUS_OK && may) {
        status = spillable_zeros(&firsts.kept, rows + 1, "an answer's order", error);
        status = AND_THEN(status, read_all(&firsts, threads, error));
        bool found_all = !atomic_load(&firsts.falls);
        if (status == STATUS_OK && !found_all && sort_radix_may_find_first(&firsts.ranking, firsts.prefix) &&
            sort_rows_fit(rows)) {
            memset(firsts.kept, 0, rows); /* those that were kept until then */
            status = sort_radix_first(&firsts.ranking, firsts.prefix, threads, firsts.kept, error);
            found_all = true;
        }
        if (status == STATUS_OK && found_all)
            status = sort_marks_list(firsts.kept, rows, 1, SORT_LIST_ROWS, threads, list, found, error);
    }
    spillable_free(firsts.kept);
    free(firsts.ranking.parts);
    return status;
}
