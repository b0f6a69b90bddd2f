/* planner.c: see planner.h. */
#include "engine/plan/planner.h"

/* Marks the columns whose values the surviving rows need: those in groups, aggregates and conditions and, if
 * the answer is rows, in outputs. */
static void see_fetched(void *context, const struct expression *leaf)
{
    struct plan *plan = context;
    const struct plan_source *source = &plan->sources[leaf->index];
    const uint32_t column = source->join < 0 ? source->column : plan->joins[source->join].column;
    plan->columns[column].fetched = true;
}

static void mark_fetched(struct plan *plan)
{
    for (uint32_t g = 0; g < plan->group_count; g++)
        expression_visit(&plan->expressions, plan->groups[g].expression, see_fetched, plan);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            expression_visit(&plan->expressions, plan->aggregates[a].argument, see_fetched, plan);
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION)
            expression_visit(&plan->expressions, plan->steps[s].expression, see_fetched, plan);
    for (uint32_t o = 0; plan->shape == PLAN_ROWS && o < plan->output_count + plan->hidden_count; o++)
        expression_visit(&plan->expressions, plan->outputs[o].expression, see_fetched, plan);
}

enum status planner_complete(struct planner *planner, bool aggregated)
{
    RETURN_IF_ERROR(planner_order_steps(planner));
    RETURN_IF_ERROR(planner_shape(planner, aggregated));
    mark_fetched(planner->plan);
    planner->plan->nothing |= planner->plan->fact->rows == 0;
    return plan_find_tiles(planner->plan, planner->threads, planner->error);
}
