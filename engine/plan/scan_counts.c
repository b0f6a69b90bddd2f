/* scan_counts.c: the figures of EXPLAIN ANALYZE for each step (plan.h). */
#include "engine/plan/plan.h"

#include "storage/base/memory.h"

#include <stdlib.h>

enum status scan_counts_make(const struct plan *plan, struct scan_counts *counts, struct error *error)
{
    *counts = (struct scan_counts){.tiles = plan->scan.tiles};
    RETURN_IF_ERROR(
        memory_zeros(&counts->steps, (plan->step_count + 1) * sizeof *counts->steps, "counts", error));
    return memory_zeros(&counts->bytes, plan->column_count * sizeof *counts->bytes, "counts", error);
}

void scan_counts_free(struct scan_counts *counts)
{
    free(counts->steps);
    free(counts->bytes);
}

void scan_counts_fill(const struct plan *plan, const struct scan_point *points, struct scan_counts *counts)
{
    uint64_t ticks = 0;
    for (uint32_t p = 1; p < plan_points(plan); p++)
        ticks += points[p].ticks;
    for (uint32_t s = 0; s <= plan->step_count; s++)
        counts->steps[s].share = ticks ? (double)points[s + 1].ticks / (double)ticks : 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        counts->steps[s].reached = points[s].rows;
        counts->steps[s].left = points[s + 1].rows;
    }
}

void scan_counts_add(const struct plan *plan, const struct scan_counts *from, struct scan_counts *counts)
{
    for (uint32_t s = 0; s < plan->step_count; s++) {
        counts->steps[s].reached += from->steps[s].reached;
        counts->steps[s].left += from->steps[s].left;
    }
    for (uint32_t c = 0; c < plan->column_count; c++)
        counts->bytes[c] += from->bytes[c];
    scan_moves_add(&counts->moves, &from->moves);
}

struct use {
    const struct plan *plan;
    uint32_t column;
    bool found;
};

static void look(void *context, const struct expression *leaf)
{
    struct use *use = context;
    const struct plan_source *source = &use->plan->sources[leaf->index];
    use->found |= use->column == (source->join < 0 ? source->column : use->plan->joins[source->join].column);
}

bool plan_expression_reads(const struct plan *plan, uint32_t node, uint32_t column)
{
    struct use use = {.plan = plan, .column = column};
    expression_visit(&plan->expressions, node, look, &use);
    return use.found;
}

bool plan_groups_read(const struct plan *plan, uint32_t column)
{
    bool read = false;
    for (uint32_t g = 0; g < plan->group_count; g++)
        read |= plan_expression_reads(plan, plan->groups[g].expression, column);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            read |= plan_expression_reads(plan, plan->aggregates[a].argument, column);
    return read;
}

uint32_t plan_first_use(const struct plan *plan, uint32_t column)
{
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        if (step->kind == STEP_INDEX)
            continue;
        if (step->kind == STEP_CONDITION ? plan_expression_reads(plan, step->expression, column)
                                         : (int32_t)column == plan_step_column(plan, step))
            return s;
    }
    return plan->step_count + !plan_groups_read(plan, column);
}
