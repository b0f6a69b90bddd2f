/* quantiles.c: see quantiles.h. */
#include "engine/plan/grouping/quantiles.h"

#include "storage/base/sort/sort.h"

static bool is_quantile(const struct plan *plan, const struct plan_measure *measure)
{
    return measure->of_values && measure_of(measure->kind)->first && measure->term == plan->grouping.listed &&
           measure->order_term == measure->term && !measure->distinct && measure->count == 0;
}

bool plan_is_of_quantiles(const struct plan *plan)
{
    const struct plan_grouping *const grouping = &plan->grouping;
    if ((plan->shape != PLAN_HASH && plan->shape != PLAN_DENSE) || plan->key_words > 1 ||
        grouping->set_count != 1 || plan->group_count != grouping->listed + 1 || plan->measure_count == 0 ||
        grouping->sets[0] != grouping_all(grouping->listed) || plan->aggregate_count != 1 ||
        !plan_is_row_count(plan, 0))
        return false;
    const struct plan_group *const value = &plan->groups[grouping->listed];
    if (value->values || value->stride != 1 ||
        plan->expressions.nodes[value->expression].type.kind == VALUE_STRING)
        return false;
    for (uint32_t m = 0; m < plan->measure_count; m++)
        if (!is_quantile(plan, &plan->measures[m]))
            return false;
    return true;
}

uint32_t plan_quantile_rows(const struct plan *plan, uint64_t rows, uint64_t wanted[PLAN_QUANTILE_ROWS_MAX])
{
    int64_t places[PLAN_QUANTILE_ROWS_MAX];
    uint32_t count = 0;
    for (uint32_t m = 0; m < plan->measure_count; m++) {
        const struct plan_measure *const measure = &plan->measures[m];
        const struct measure_list list = {
            .rows = rows, .fraction = measure->fraction, .whole = measure->whole};
        const uint64_t first = measure_of(measure->kind)->first(&list);
        places[count++] = (int64_t)first;
        if (first + 1 < rows)
            places[count++] = (int64_t)first + 1;
    }
    count = (uint32_t)sort_distinct(places, count);
    for (uint32_t i = 0; i < count; i++)
        wanted[i] = (uint64_t)places[i];
    return count;
}
