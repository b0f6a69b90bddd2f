/* listed_rows.c: the rows that a GPU has listed (first.h): those that are wanted, ascending. */
#include "engine/gpu/first/first.h"

#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>

/* A list has room for 32 times as many rows as are wanted, twice what a sample of a sixteenth lets through; and for some
 * thousands, because the sample of few rows varies. */
#define ROWS_A_WANTED_ROW 32u
#define ENTRIES_MIN       16384u

uint64_t cuda_first_capacity(const struct plan *plan)
{
    const uint64_t entries = plan->first.wanted * ROWS_A_WANTED_ROW,
                   rows = plan->fact->rows; /* all of them fit a list that is not longer */
    const uint64_t most = entries < ENTRIES_MIN ? ENTRIES_MIN : entries;
    return rows < most ? rows + 1 : most;
}

enum status cuda_first_bound(const struct plan *plan, const struct first_entry *entries, uint64_t count,
                             uint64_t *bound, struct error *error)
{
    uint64_t *ranks;
    RETURN_IF_ERROR(memory_take(&ranks, count * sizeof *ranks, "ranks", error));
    for (uint64_t i = 0; i < count; i++)
        ranks[i] = entries[i].rank;
    *bound = first_rows_nth(ranks, count, plan->first.wanted);
    free(ranks);
    return STATUS_OK;
}

/* Moves the entries that are wanted to the beginning; changes their number. */
static enum status keep_wanted(const struct plan *plan, struct first_entry *entries, uint64_t *count,
                               struct error *error)
{
    uint64_t bound, kept = 0;
    if (*count <= plan->first.wanted)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_first_bound(plan, entries, *count, &bound, error));
    for (uint64_t i = 0; i < *count; i++)
        if (entries[i].rank <= bound)
            entries[kept++] = entries[i];
    *count = kept;
    return STATUS_OK;
}

enum status cuda_first_rows(const struct plan *plan, struct first_entry *entries, uint64_t count,
                            struct partial *rows, struct error *error)
{
    const struct table *fact = plan->fact;
    uint64_t *before;
    RETURN_IF_ERROR(keep_wanted(plan, entries, &count, error));
    RETURN_IF_ERROR(spillable_rows(&rows->rows, (count + 1) * sizeof *rows->rows, "rows", error));
    RETURN_IF_ERROR(memory_take(&before, (fact->segment_count + 1) * sizeof *before, "segments", error));
    before[0] = 0;
    for (uint32_t s = 0; s < fact->segment_count; s++)
        before[s + 1] = before[s] + fact->segment_rows[s];
    for (uint64_t i = 0; i < count; i++)
        rows->rows[i] = before[entries[i].segment] + entries[i].row;
    free(before);
    rows->count = count;
    sort_integers((int64_t *)rows->rows, count);
    return STATUS_OK;
}
