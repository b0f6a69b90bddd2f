/* scan_counts.c: the figures of EXPLAIN ANALYZE for each step (plan.h). */
#include "engine/plan/plan.h"

void scan_counts_fill(const struct plan *plan, const struct scan_point *points, struct scan_counts *counts)
{
    uint64_t ticks = 0;
    for (uint32_t p = 1; p < plan->step_count + 2; p++)
        ticks += points[p].ticks;
    for (uint32_t s = 0; s <= plan->step_count; s++)
        counts->share[s] = ticks ? (double)points[s + 1].ticks / (double)ticks : 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        counts->reached[s] = points[s].rows;
        counts->left[s] = points[s + 1].rows;
    }
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

uint32_t plan_first_use(const struct plan *plan, uint32_t column)
{
    struct use use = {.plan = plan, .column = column};
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        if (step->kind == STEP_INDEX)
            continue;
        if (step->kind == STEP_CONDITION)
            expression_visit(&plan->expressions, step->expression, look, &use);
        else if (column == (step->kind == STEP_RANGE ? step->column : plan->joins[step->join].column))
            return s;
        if (use.found)
            return s;
    }
    for (uint32_t g = 0; g < plan->group_count; g++)
        expression_visit(&plan->expressions, plan->groups[g].expression, look, &use);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            expression_visit(&plan->expressions, plan->aggregates[a].argument, look, &use);
    return plan->step_count + !use.found;
}
