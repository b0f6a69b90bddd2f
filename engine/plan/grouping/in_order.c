/*
 * in_order.c: see in_order.h. Rows that were loaded in the order of a key (lines of orders by their numbers, events by
 * their days) have tiles whose ranges of that key do not overlap but at their ends. So a group by such a key, also by
 * it and others, is complete when a greater key follows: a scan need not find it again in a table. A look at the
 * least and greatest values of the kept tiles tells; most columns fail at the second tile.
 */
#include "engine/plan/grouping/in_order.h"

/* The fact column whose different values are different values of the term: the column itself, or the key of a
 * dimension whose primary key the term is; -1: there is none. */
static int64_t column_of(const struct plan *plan, const struct plan_group *group)
{
    const struct expression *const node = &plan->expressions.nodes[group->expression];
    if (node->operation != EXPRESSION_COLUMN)
        return -1;
    const struct plan_source *const source = &plan->sources[node->index];
    if (source->join < 0)
        return source->column;
    const struct plan_join *const join = &plan->joins[source->join];
    if (source->bits || !(join->inner || join->match == EXPRESSION_NONE))
        return -1;
    const struct plan_array *const array = &plan->arrays[source->column];
    return !array->composed && array->shift == 0 && array->column->schema.primary_key ? (int64_t)join->column
                                                                                      : -1;
}

/* True if survivors have all bits of the column's values. */
static bool is_whole(const struct plan_column *column)
{
    uint64_t bits =
        column->column->statistics.min < 0 ? UINT32_MAX : (uint64_t)column->column->statistics.max;
    for (uint32_t shift = 1; shift < 64; shift *= 2)
        bits |= bits >> shift;
    return (bits & UINT32_MAX & ~column->needed) == 0;
}

/* True if no kept tile has a value that is less than one of a tile before it. */
static bool ascends(const struct plan *plan, const struct plan_column *column)
{
    int64_t last = INT64_MIN;
    if (column->nullable || column->column->value_bytes != 4 || !is_whole(column))
        return false;
    for (uint64_t r = 0; r < plan->scan.run_count; r++) {
        const struct tile_run *const run = &plan->scan.runs[r];
        const int64_t *const ranges = column->data->segments[run->segment].tile_min_max;
        if (!ranges)
            return false;
        for (uint64_t tile = run->first; tile < (uint64_t)run->first + run->tiles; tile++) {
            if (ranges[2 * tile] < last || ranges[2 * tile] > ranges[2 * tile + 1])
                return false;
            last = ranges[2 * tile + 1];
        }
    }
    return true;
}

void grouping_find_order(struct plan *plan)
{
    plan->in_order = false;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            return;
    for (uint32_t g = 0; plan->shape == PLAN_HASH && !plan->in_order && g < plan->group_count; g++) {
        const int64_t column = column_of(plan, &plan->groups[g]);
        plan->in_order = column >= 0 && ascends(plan, &plan->columns[column]);
        plan->order_column = plan->in_order ? (uint32_t)column : 0;
    }
}
