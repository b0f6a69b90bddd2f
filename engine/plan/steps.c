/* steps.c: chooses the order of steps (planner.h). */
#include "engine/plan/levels/level_plan.h"
#include "engine/plan/planner.h"

#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

/* Up to ORDERED_STEPS steps get the cheapest order. The cost of a step depends only on the set of steps
 * before it, so the best order of a set is the best order of a smaller set, followed by one more step. */
#define ORDERED_STEPS 10u

static double cost_of(const struct plan *plan, const struct plan_step *step, double share, bool on_gpu)
{
    return (on_gpu ? plan_step_bytes : plan_step_cost)(plan, step, share);
}

static double order_few(const struct plan *plan, struct plan_step *ordered, uint32_t count, double reaching,
                        bool on_gpu)
{
    static const double unknown = 1e300;
    double cost[1u << ORDERED_STEPS];
    uint8_t last[1u << ORDERED_STEPS];
    struct plan_step steps[ORDERED_STEPS];
    memcpy(steps, ordered, count * sizeof *steps);
    cost[0] = 0;
    for (uint32_t set = 1; set < 1u << count; set++) {
        cost[set] = unknown;
        for (uint32_t s = 0; s < count; s++) {
            const uint32_t before = set & ~(1u << s);
            double share = reaching;
            if (before == set)
                continue;
            for (uint32_t b = 0; b < count; b++)
                share *= before >> b & 1 ? steps[b].share : 1;
            const double total = cost[before] + cost_of(plan, &steps[s], share, on_gpu);
            if (total < cost[set]) {
                cost[set] = total;
                last[set] = (uint8_t)s;
            }
        }
    }
    for (uint32_t set = (1u << count) - 1, place = count; place-- > 0; set &= ~(1u << last[set]))
        ordered[place] = steps[last[set]];
    return cost[(1u << count) - 1];
}

double planner_cheapest_order(const struct plan *plan, struct plan_step *steps, uint32_t count, double share,
                              bool on_gpu)
{
    const uint32_t few = count < ORDERED_STEPS ? count : ORDERED_STEPS;
    double cost = order_few(plan, steps, few, share, on_gpu);
    for (uint32_t s = 0; s < count; s++) {
        cost += s < few ? 0 : cost_of(plan, &steps[s], share, on_gpu);
        share *= steps[s].share;
    }
    return cost;
}

/* Ranges, semi-joins and probes come first, by selectivity if there are more of them than ORDERED_STEPS. Conditions
 * on single rows come last, in the order in which they were written. */
static int compare_steps(const void *left, const void *right, const void *context)
{
    (void)context;
    const struct plan_step *a = left, *b = right;
    const double x = a->kind == STEP_CONDITION ? 2 + a->expression : a->share,
                 y = b->kind == STEP_CONDITION ? 2 + b->expression : b->share;
    return (x > y) - (x < y);
}

enum status planner_find_steps(struct planner *planner)
{
    struct plan *plan = planner->plan;
    for (uint32_t j = 0; j < plan->join_count; j++) {
        struct plan_join *join = &plan->joins[j];
        if (join->match != EXPRESSION_NONE)
            RETURN_IF_ERROR(planner_narrow_groups(planner, j));
        level_test_use(plan, j);
        if (!join->inner || (join->match == EXPRESSION_NONE && !plan->columns[join->column].nullable))
            continue;
        const double rows = join->table->rows ? (double)join->table->rows : 1;
        RETURN_IF_ERROR(planner_step(
            planner,
            (struct plan_step){.kind = STEP_SEMI_JOIN, .join = j, .share = (double)join->passing / rows}));
        plan->nothing |= join->passing == 0;
    }
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_RANGE)
            plan->steps[s].share = plan_range_share(plan, &plan->steps[s]);
    return STATUS_OK;
}

void planner_order_steps(struct plan *plan)
{
    const uint32_t first = plan->index.term_count > 0; /* STEP_INDEX */
    struct plan_step *const steps = plan->steps + first;
    uint32_t count = 0;
    if (plan->step_count == first)
        return;
    sort_items(steps, plan->step_count - first, sizeof *steps, compare_steps, NULL);
    while (first + count < plan->step_count && steps[count].kind != STEP_CONDITION)
        count++;
    (void)planner_cheapest_order(plan, steps, count, first ? plan->steps[0].share : 1, false);
}
