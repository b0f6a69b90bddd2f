/* planner.c: see planner.h. */
#include "engine/plan/planner.h"

#include "engine/plan/grouping/in_order.h"
#include "engine/plan/levels/level_plan.h"

/* The surviving rows need the columns in groups, aggregates and conditions and, if the answer is rows, in outputs. */
static void see_fetched(void *context, const struct expression *leaf)
{
    struct plan *plan = context;
    const struct plan_source *source = &plan->sources[leaf->index];
    const uint32_t column = source->join < 0 ? source->column : plan->joins[source->join].column;
    plan->columns[column].fetched = true;
}

void planner_mark_columns(struct plan *plan)
{
    for (uint32_t c = 0; c < plan->column_count; c++)
        plan->columns[c].fetched = plan->columns[c].stepped = false;
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan_step_column(plan, &plan->steps[s]) >= 0)
            plan->columns[plan_step_column(plan, &plan->steps[s])].stepped = true;
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
    RETURN_IF_ERROR(planner_find_steps(planner));
    RETURN_IF_ERROR(level_groups(planner));
    RETURN_IF_ERROR(planner_shape(planner, aggregated));
    planner->plan->first = first_rows_of(planner->plan);
    planner->plan->nothing |= planner->plan->fact->rows == 0;
    RETURN_IF_ERROR(planner_know_values(planner));
    level_bits_needed(planner->plan);
    RETURN_IF_ERROR(planner_use_indexes(planner));
    planner_order_steps(planner->plan);
    RETURN_IF_ERROR(plan_find_tiles(planner->plan, planner->threads, planner->error));
    grouping_find_order(planner->plan);
    return STATUS_OK;
}

bool plan_take(struct plan *plan)
{
    bool possible = plan->shape == PLAN_ROWS && plan->order_count == 0 && plan->limit == UINT64_MAX &&
                    plan->offset == 0 && plan->having == EXPRESSION_NONE && plan->output_count > 0 &&
                    !plan->expressions.left && !plan->kernel.kernel;
    for (uint32_t o = 0; o < plan->output_count; o++)
        possible &= plan->outputs[o].late == EXPRESSION_NONE;
    plan->taken = possible;
    level_bits_needed(plan);
    return possible;
}

/* A bitmap of more values, or of more for each row of the table, takes longer to clear and to copy than groups do. */
#define SET_SPAN_MAX (UINT64_C(1) << 31)
#define SET_ROW_SPAN 64u

bool plan_want_set(struct plan *plan, uint32_t output)
{
    const struct plan_output *const of = &plan->outputs[output];
    const struct expression *const node = &plan->expressions.nodes[of->expression];
    const bool whole = node->type.kind == VALUE_INTEGER || node->type.kind == VALUE_DATE;
    plan->set = (plan->shape == PLAN_DENSE || plan->shape == PLAN_HASH) && plan->limit == UINT64_MAX &&
                plan->offset == 0 && plan->measure_count == 0 && plan->grouping.set_count == 0 && whole &&
                of->late == EXPRESSION_NONE && node->low <= node->high &&
                (uint64_t)node->high - (uint64_t)node->low < SET_SPAN_MAX &&
                ((uint64_t)node->high - (uint64_t)node->low) / SET_ROW_SPAN <= plan->fact->rows;
    plan->set_output = output;
    return plan->set;
}
