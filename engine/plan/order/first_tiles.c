/* first_tiles.c: what tiles' least and greatest values tell of ranks before a row is read (first_rows.h). */
#include "engine/plan/order/first_rows.h"

#include "engine/plan/planner.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* ---- Tiles ---- */

static const int64_t *range_of(const struct plan_column *column, uint32_t segment, uint32_t tile)
{
    return column->data->segments[segment].tile_min_max + 2 * (uint64_t)tile;
}

/* The part of the best value in the tile or, if `worst`, of the worst. */
static uint64_t part_of_tile(const struct first_term *term, const struct plan *plan, uint32_t segment,
                             uint32_t tile, bool worst)
{
    if (term->column < 0) {
        const uint64_t value = first_term_part(term, term->descending ? term->low : term->high, false),
                       null = first_term_part(term, 0, true);
        return !worst ? 0 : value > null ? value : null;
    }
    const struct plan_column *column = &plan->columns[term->column];
    const int64_t *const range = range_of(column, segment, tile);
    const bool null_comes_first = term->null == 0;
    if (range[0] > range[1] || (column->nullable && null_comes_first != worst))
        return first_term_part(term, 0, true);
    return first_term_part(term, range[term->descending != worst], false);
}

uint64_t first_rows_best(const struct first_rows *first, const struct plan *plan, uint32_t segment,
                         uint32_t tile)
{
    uint64_t rank = first_rows_place(first, segment, tile * TILE_ROWS);
    for (uint32_t t = 0; t < first->term_count; t++)
        rank += part_of_tile(&first->terms[t], plan, segment, tile, false);
    return rank;
}

/* The rank that a row of the tile has or betters: the row with the tile's best value of the first term if `one`, else every
 * row. False if the tile has no such row. */
static bool rank_of_worst(const struct plan *plan, uint32_t segment, uint32_t tile, bool one, uint64_t *rank)
{
    const struct first_rows *first = &plan->first;
    const struct first_term *term = &first->terms[0];
    const int64_t *const range = range_of(&plan->columns[term->column], segment, tile);
    const uint32_t end = (tile + 1) * TILE_ROWS, rows = plan->fact->segment_rows[segment];
    *rank = one ? first_term_part(term, range[term->descending], false)
                : part_of_tile(term, plan, segment, tile, true);
    for (uint32_t t = 1; t < first->term_count; t++)
        *rank += part_of_tile(&first->terms[t], plan, segment, tile, true);
    *rank += first_rows_place(first, segment, (end < rows ? end : rows) - 1);
    return !one || range[0] <= range[1];
}

/* ---- The bound ---- */

/* True if the first term alone makes all ranks of the tile greater than `bound`. */
static bool is_worse(const struct plan *plan, uint32_t segment, uint32_t tile, uint64_t bound)
{
    return part_of_tile(&plan->first.terms[0], plan, segment, tile, false) > bound;
}

/* So many rows have this rank or a lesser one. */
struct known_rows {
    uint64_t rank, count;
};

/* A heap, the greatest rank first: without it there would be fewer rows than are wanted. */
struct bound_search {
    struct known_rows *known;
    uint64_t known_count, rows, wanted;
};

static void remove_greatest(struct bound_search *search)
{
    struct known_rows *const known = search->known;
    search->rows -= known[0].count;
    const struct known_rows last = known[--search->known_count];
    uint64_t at = 0;
    for (uint64_t child; (child = 2 * at + 1) < search->known_count; at = child) {
        child += child + 1 < search->known_count && known[child + 1].rank > known[child].rank;
        if (known[child].rank <= last.rank)
            break;
        known[at] = known[child];
    }
    known[at] = last;
}

static void add_known(struct bound_search *search, uint64_t rank, uint64_t count)
{
    struct known_rows *const known = search->known;
    if (count == 0 || (search->rows >= search->wanted && rank >= known[0].rank))
        return;
    uint64_t at = search->known_count++;
    for (; at > 0 && known[(at - 1) / 2].rank < rank; at = (at - 1) / 2)
        known[at] = known[(at - 1) / 2];
    known[at] = (struct known_rows){.rank = rank, .count = count};
    search->rows += count;
    while (search->rows - known[0].count >= search->wanted)
        remove_greatest(search);
}

/* A tile tells of the row with its best value, and that all its rows are as good as the worst. */
static void add_tile(struct bound_search *search, const struct plan *plan, uint32_t segment, uint32_t tile)
{
    const uint32_t left = plan->fact->segment_rows[segment] - tile * TILE_ROWS;
    uint64_t rank;
    if (search->rows >= search->wanted && is_worse(plan, segment, tile, search->known[0].rank))
        return; /* most tiles */
    const bool one = rank_of_worst(plan, segment, tile, true, &rank);
    if (one)
        add_known(search, rank, 1);
    if (rank_of_worst(plan, segment, tile, false, &rank))
        add_known(search, rank, (left < TILE_ROWS ? left : TILE_ROWS) - one);
}

static enum status find_bound(struct plan *plan, struct error *error)
{
    struct bound_search search = {.wanted = plan->first.wanted};
    /* Without the greatest one, there are fewer rows than wanted; and one is being added. */
    RETURN_IF_ERROR(memory_take(&search.known, (search.wanted + 2) * sizeof *search.known, "ranks", error));
    for (uint64_t r = 0; r < plan->scan.run_count; r++) {
        const struct tile_run *run = &plan->scan.runs[r];
        for (uint32_t tile = run->first; tile < run->first + run->tiles; tile++)
            add_tile(&search, plan, run->segment, tile);
    }
    if (search.rows >= search.wanted)
        plan->first.bound = search.known[0].rank;
    free(search.known);
    return STATUS_OK;
}

/* ---- Tiles ---- */

static bool may_be_first(const void *context, uint32_t segment, uint32_t tile)
{
    const struct plan *plan = context;
    return !is_worse(plan, segment, tile, plan->first.bound) &&
           first_rows_best(&plan->first, plan, segment, tile) <= plan->first.bound;
}

enum status first_rows_find(struct plan *plan, struct error *error)
{
    const bool all_rows = plan->step_count + plan->decided_count == 0 && !plan->nothing;
    if (!first_rows_know_tiles(&plan->first) || !all_rows)
        return STATUS_OK;
    RETURN_IF_ERROR(find_bound(plan, error));
    return plan->first.bound == UINT64_MAX
               ? STATUS_OK
               : tile_skip_narrow(&plan->scan, plan->fact, may_be_first, plan, error);
}
