/* count_rows.c: answers that are only numbers of rows (plan.h, partial.h). */
#include "engine/plan/partial.h"
#include "storage/index/index_file.h"

bool plan_only_counts(const struct plan *plan)
{
    bool counts = plan->shape == PLAN_TOTAL;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        counts &= plan_is_row_count(plan, a);
    return counts;
}

bool plan_counts_rows(const struct plan *plan)
{
    return plan_only_counts(plan) && plan->step_count == (plan->index.term_count > 0);
}

bool plan_rows_are_known(const struct plan *plan)
{
    return plan_counts_rows(plan) && plan->index.term_count <= 1;
}

static uint64_t run_rows(const struct table *table, const struct tile_run *run)
{
    const uint64_t end = ((uint64_t)run->first + run->tiles) * TILE_ROWS,
                   rows = table->segment_rows[run->segment];
    return (end < rows ? end : rows) - (uint64_t)run->first * TILE_ROWS;
}

/* A row is in one vector only. Tiles that are skipped have no row that passes. */
static uint64_t term_rows(const struct plan_index_term *term, uint32_t segment)
{
    const struct index_vector *const vectors = term->index->segments[segment].vectors;
    uint64_t rows = 0;
    for (uint32_t r = 0; r < term->run_count; r++)
        for (uint32_t v = 0; v < term->runs[r].count; v++)
            rows += vectors[term->runs[r].first + v].rows;
    return rows;
}

uint64_t plan_known_rows(const struct plan *plan, const struct tile_skip *scan)
{
    uint64_t rows = 0;
    for (uint64_t r = 0; r < scan->run_count; r++) {
        const uint32_t segment = scan->runs[r].segment;
        if (plan->index.term_count == 0)
            rows += run_rows(plan->fact, &scan->runs[r]);
        else if (r == 0 || scan->runs[r - 1].segment != segment)
            rows += term_rows(&plan->index.terms[0], segment);
    }
    return rows;
}

enum status partial_of_rows(const struct plan *plan, uint64_t rows, struct partial *partial,
                            struct error *error)
{
    RETURN_IF_ERROR(partial_allocate(plan, 1, partial, error));
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        partial->states[a][0] = (int64_t)rows;
    partial->total_rows = rows;
    return STATUS_OK;
}
