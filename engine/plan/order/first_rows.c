/* first_rows.c: see first_rows.h. */
#include "engine/plan/order/first_rows.h"

#include "engine/plan/planner.h"
#include "storage/base/memory.h"

#include <stdlib.h>

struct first_rows first_rows_of(const struct plan *plan)
{
    const struct first_rows none = {.bound = UINT64_MAX};
    if (plan->shape != PLAN_ROWS || plan->order_count == 0 || plan->having != EXPRESSION_NONE ||
        plan->limit > FIRST_ROWS_MAX || plan->offset > FIRST_ROWS_MAX - plan->limit)
        return none;
    const struct plan_order *order = &plan->orders[0];
    struct first_rows first = {.wanted = plan->limit + plan->offset,
                               .expression = plan->outputs[order->output].expression,
                               .column = -1,
                               .descending = order->descending,
                               .nulls_first = order->nulls_first,
                               .bound = UINT64_MAX};
    const struct expression *node = &plan->expressions.nodes[first.expression];
    const bool column = node->operation == EXPRESSION_COLUMN;
    if (plan_reads(plan, first.expression).joins || (node->type.kind == VALUE_STRING && !column))
        return none; /* computed strings have codes of their own order */
    if (column && plan->sources[node->index].join < 0)
        first.column = (int32_t)plan->sources[node->index].column;
    return first;
}

static const int64_t *range_of(const struct plan_column *column, uint32_t segment, uint32_t tile)
{
    return column->data->segments[segment].tile_min_max + 2 * (uint64_t)tile;
}

uint64_t first_rows_best(const struct first_rows *first, const struct plan *plan, uint32_t segment,
                         uint32_t tile)
{
    const struct plan_column *column = &plan->columns[first->column];
    const int64_t *const range = range_of(column, segment, tile);
    if (column->nullable && first->nulls_first)
        return 0;
    return range[0] > range[1] ? UINT64_MAX : first_rows_rank(first, range[first->descending ? 1 : 0], false);
}

/* Quickselect: all ranks before `low` are less, and all from `end` on greater, than those between. */
uint64_t first_rows_nth(uint64_t *ranks, uint64_t count, uint64_t nth)
{
    uint64_t low = 0, end = count;
    for (;;) {
        const uint64_t pivot = ranks[low + (end - low) / 2];
        uint64_t less = low, greater = end;
        for (uint64_t i = low; i < greater;) {
            const uint64_t rank = ranks[i];
            if (rank < pivot) {
                ranks[i++] = ranks[less];
                ranks[less++] = rank;
            } else if (rank > pivot) {
                ranks[i] = ranks[--greater];
                ranks[greater] = rank;
            } else {
                i++;
            }
        }
        if (nth <= less)
            end = less;
        else if (nth <= greater)
            return pivot;
        else
            low = greater;
    }
}

/* ---- The bound ---- */

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

/* A tile tells of its best value's row, and that none of its rows is worse than its worst value. */
static void add_tile(struct bound_search *search, const struct plan *plan, uint32_t segment, uint32_t tile)
{
    const struct first_rows *first = &plan->first;
    const struct plan_column *column = &plan->columns[first->column];
    const int64_t *const range = range_of(column, segment, tile);
    const uint32_t left = plan->fact->segment_rows[segment] - tile * TILE_ROWS;
    if (range[0] > range[1])
        return;
    add_known(search, first_rows_rank(first, range[first->descending ? 1 : 0], false), 1);
    if (!column->nullable)
        add_known(search, first_rows_rank(first, range[first->descending ? 0 : 1], false),
                  (left < TILE_ROWS ? left : TILE_ROWS) - 1);
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
    return first_rows_best(&plan->first, plan, segment, tile) <= plan->first.bound;
}

enum status first_rows_find(struct plan *plan, struct error *error)
{
    plan->first = first_rows_of(plan);
    const bool all_rows = plan->step_count + plan->decided_count == 0 && !plan->nothing;
    if (plan->first.wanted == 0 || plan->first.column < 0 || !all_rows)
        return STATUS_OK;
    RETURN_IF_ERROR(find_bound(plan, error));
    return plan->first.bound == UINT64_MAX
               ? STATUS_OK
               : tile_skip_narrow(&plan->scan, plan->fact, may_be_first, plan, error);
}
