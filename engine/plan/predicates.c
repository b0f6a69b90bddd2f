/*
 * predicates.c: turns the conditions of a statement into steps and dimension predicates (planner.h). A
 * condition that compares one fact column of int32 (plan_column.narrow) with constants becomes a range. A condition on one dimension
 * becomes a part of its predicate, and the join drops rows. All others are conditions on surviving rows: steps of their
 * own up to CONDITIONS_APART of them, and then joined with the last one by AND.
 */
#include "engine/plan/planner.h"

#include "storage/base/memory.h"
#include "storage/base/number/number_set.h"

#include <math.h>
#include <string.h>

/* ---- The columns that a condition reads ---- */

struct reading {
    const struct plan *plan;
    int32_t join; /* plan_join_read */
};

static void see(void *context, const struct expression *leaf)
{
    struct reading *reading = context;
    const int32_t join = reading->plan->sources[leaf->index].join;
    const bool another = reading->join != PLAN_READS_NOTHING && reading->join != join;
    reading->join = join < 0 || another ? PLAN_READS_MORE : join;
}

int32_t plan_join_read(const struct plan *plan, uint32_t node)
{
    struct reading reading = {.plan = plan, .join = PLAN_READS_NOTHING};
    expression_visit(&plan->expressions, node, see, &reading);
    return reading.join;
}

/* ---- Ranges ---- */

struct column_range {
    uint32_t column; /* of the plan */
    int64_t low, high;
};

static bool is_plain_column(const struct plan *plan, uint32_t node, uint32_t *column)
{
    const struct expression *leaf = &plan->expressions.nodes[node];
    if (leaf->operation != EXPRESSION_COLUMN)
        return false;
    const struct plan_source *source = &plan->sources[leaf->index];
    *column = source->column;
    return source->join < 0 && plan->columns[source->column].narrow;
}

/* True, with the range, for IN with a set that has no gaps. */
static bool range_of_set(const struct plan *plan, const struct expression *test, struct column_range *range)
{
    const struct value_table *table = &plan->expressions.tables[test->table];
    if (!is_plain_column(plan, test->child[0], &range->column))
        return false;
    range->low = table->count ? table->values[0] : 1;
    range->high = table->count ? table->values[table->count - 1] : 0;
    return table->count == 0 || (uint64_t)range->high - (uint64_t)range->low == table->size - 1;
}

/* True, with the range, for a column of booleans or its NOT. */
static bool range_of_truth(const struct plan *plan, uint32_t node, struct column_range *range)
{
    const struct expression *const test = &plan->expressions.nodes[node];
    const bool inverted = test->operation == EXPRESSION_NOT;
    range->low = range->high = !inverted;
    return is_plain_column(plan, inverted ? test->child[0] : node, &range->column);
}

/* True, with the range, for a condition that is a range of one fact column. NULL passes no range. */
static bool range_of(const struct plan *plan, uint32_t node, struct column_range *range)
{
    const struct expression *test = &plan->expressions.nodes[node];
    uint32_t leaf;
    if (test->operation == EXPRESSION_IN_SET)
        return range_of_set(plan, test, range);
    if (range_of_truth(plan, node, range))
        return true;
    return expression_range(&plan->expressions, test, &leaf, &range->low, &range->high) &&
           is_plain_column(plan, leaf, &range->column);
}

/* ---- Lists ---- */

#define LISTED_MOST 1024u

/* The values of a column that comparisons joined by OR list. */
struct listed {
    uint32_t leaf; /* the node of the column; EXPRESSION_NONE: it is not known yet */
    uint64_t count;
    int64_t values[LISTED_MOST];
};

static bool list_add(struct listed *listed, uint32_t leaf, const int64_t *values, uint64_t count)
{
    if ((listed->leaf != EXPRESSION_NONE && listed->leaf != leaf) || count > LISTED_MOST - listed->count)
        return false;
    listed->leaf = leaf;
    if (count)
        memcpy(listed->values + listed->count, values, count * sizeof *values);
    listed->count += count;
    return true;
}

/* True if the node is true for the values of one int32 fact column that are added to the list, and for no others. */
static bool list_values(const struct plan *plan, uint32_t node, struct listed *listed)
{
    const struct expression *const test = &plan->expressions.nodes[node];
    uint32_t leaf, column;
    int64_t low, high;
    if (test->operation == EXPRESSION_OR)
        return list_values(plan, test->child[0], listed) && list_values(plan, test->child[1], listed);
    if (test->operation == EXPRESSION_IN_SET) {
        const struct value_table *const set = &plan->expressions.tables[test->table];
        return is_plain_column(plan, test->child[0], &column) &&
               list_add(listed, test->child[0], set->values, set->count);
    }
    return expression_range(&plan->expressions, test, &leaf, &low, &high) && low == high &&
           is_plain_column(plan, leaf, &column) && list_add(listed, leaf, &low, 1);
}

/* Makes x = 1 OR x = 2 a set, which is a range or is probed, and tells which tiles have none of its values. */
static enum status make_set(struct planner *planner, uint32_t *node)
{
    struct expression_list *const list = &planner->plan->expressions;
    struct listed listed = {.leaf = EXPRESSION_NONE};
    int64_t *values;
    if (list->nodes[*node].operation != EXPRESSION_OR || !list_values(planner->plan, *node, &listed))
        return STATUS_OK;
    const uint64_t count = number_set_sort(listed.values, listed.count);
    RETURN_IF_ERROR(memory_take(&values, (count + 1) * sizeof *values, "a set of values", planner->error));
    memcpy(values, listed.values, count * sizeof *values);
    return expression_in_set(list, listed.leaf, values, count, node, planner->error);
}

enum status planner_step(struct planner *planner, struct plan_step step)
{
    struct plan *plan = planner->plan;
    RETURN_IF_ERROR(
        memory_grow(&plan->steps, (plan->step_count + 1) * sizeof *plan->steps, "a plan", planner->error));
    plan->steps[plan->step_count++] = step;
    return STATUS_OK;
}

/* The range step of the column, or NULL. */
static struct plan_step *range_step(struct plan *plan, uint32_t column)
{
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_RANGE && plan->steps[s].column == column)
            return &plan->steps[s];
    return NULL;
}

static enum status range_add(struct planner *planner, struct column_range range)
{
    struct plan *plan = planner->plan;
    const struct column_statistics *statistics = &plan->columns[range.column].column->statistics;
    struct plan_step *step = range_step(plan, range.column);
    int64_t low = step ? step->low : statistics->min, high = step ? step->high : statistics->max;
    low = range.low > low ? range.low : low;
    high = range.high < high ? range.high : high;
    if (low > high) {
        plan->nothing = true;
        low = high = 0;
    }
    if (!step) {
        RETURN_IF_ERROR(
            planner_step(planner, (struct plan_step){.kind = STEP_RANGE, .column = range.column}));
        step = &plan->steps[plan->step_count - 1];
    }
    step->low = (int32_t)low; /* fits, because it is within the column's statistics */
    step->high = (int32_t)high;
    return STATUS_OK;
}

/* ---- Conditions ---- */

enum status planner_match(struct planner *planner, uint32_t j, uint32_t node)
{
    struct plan_join *join = &planner->plan->joins[j];
    if (join->match == EXPRESSION_NONE) {
        join->match = node;
        return STATUS_OK;
    }
    return expression_apply(&planner->plan->expressions, EXPRESSION_AND, join->match, node, EXPRESSION_NONE,
                            &join->match, planner->error);
}

/* The different values of a column of the fact table or of a dimension; 0: the node is none. */
static double values_of(const struct plan *plan, uint32_t node)
{
    const struct expression *const leaf = &plan->expressions.nodes[node];
    if (leaf->operation != EXPRESSION_COLUMN)
        return 0;
    const struct plan_source *const source = &plan->sources[leaf->index];
    const struct column *const column =
        source->join < 0 ? plan->columns[source->column].column : plan->arrays[source->column].column;
    return (double)column->statistics.distinct;
}

/* The expected share of rows for which a condition is true. */
static double share_of(const struct plan *plan, uint32_t node)
{
    const struct expression *const test = &plan->expressions.nodes[node];
    double values, listed = 1;
    switch (test->operation) {
    case EXPRESSION_NOT:
        return 1 - share_of(plan, test->child[0]);
    case EXPRESSION_AND:
        return share_of(plan, test->child[0]) * share_of(plan, test->child[1]);
    case EXPRESSION_OR:
        return 1 - (1 - share_of(plan, test->child[0])) * (1 - share_of(plan, test->child[1]));
    case EXPRESSION_IN_SET:
        listed = (double)plan->expressions.tables[test->table].size;
        values = values_of(plan, test->child[0]);
        return listed < values ? listed / values : 0.5;
    case EXPRESSION_EQUAL:
        values = fmax(values_of(plan, test->child[0]), values_of(plan, test->child[1]));
        return values > 1 ? 1 / values : 0.5;
    default: /* it is not known */
        return 0.5;
    }
}

/* A step of the condition: a probe if it is one of a set with a bitmap, all of whose values are int32. */
static struct plan_step step_of(const struct plan *plan, uint32_t node)
{
    struct plan_step step = {.kind = STEP_CONDITION, .expression = node, .share = share_of(plan, node)};
    const struct expression *test = &plan->expressions.nodes[node];
    if (test->operation == EXPRESSION_NOT)
        test = &plan->expressions.nodes[test->child[0]];
    if (test->operation != EXPRESSION_IN_SET || !is_plain_column(plan, test->child[0], &step.column))
        return step;
    const struct value_table *const set = &plan->expressions.tables[test->table];
    if (set->members && set->values[0] >= INT32_MIN && set->values[set->count - 1] <= INT32_MAX &&
        set->values[set->count - 1] - set->values[0] < INT32_MAX)
        step.kind = STEP_PROBE;
    return step;
}

/* Each step has a program in each thread, which takes memory for all nodes of the statement. */
#define CONDITIONS_APART 64u

static enum status condition_step(struct planner *planner, uint32_t node)
{
    struct plan *plan = planner->plan;
    struct plan_step *last = NULL;
    uint32_t conditions = 0;
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION) {
            last = &plan->steps[s];
            conditions++;
        }
    if (conditions < CONDITIONS_APART)
        return planner_step(planner, step_of(plan, node));
    last->share *= share_of(plan, node);
    return expression_apply(&plan->expressions, EXPRESSION_AND, last->expression, node, EXPRESSION_NONE,
                            &last->expression, planner->error);
}

/* Adds a condition that is not an AND of others. */
static enum status conjunct_add(struct planner *planner, uint32_t node)
{
    struct plan *plan = planner->plan;
    RETURN_IF_ERROR(make_set(planner, &node));
    const struct expression *condition = &plan->expressions.nodes[node];
    struct column_range range;
    if (condition->operation == EXPRESSION_CONSTANT) {
        plan->nothing |= condition->is_null || !condition->constant;
        return STATUS_OK;
    }
    if (range_of(plan, node, &range))
        return range_add(planner, range);
    const int32_t join = plan_join_read(plan, node);
    if (join >= 0) {
        const uint32_t j = (uint32_t)join;
        /* A condition that is not true for a missing row of the dimension makes a left join an inner one. */
        plan->joins[j].inner |=
            !condition->by_row && (condition->of_nulls.null || !condition->of_nulls.value);
        if (plan->joins[j].inner)
            return planner_match(planner, j, node);
    }
    return condition_step(planner, node);
}

enum status planner_condition(struct planner *planner, uint32_t node)
{
    bool conjunct[EXPRESSION_NODES_MAX];
    memset(conjunct, 0, (node + 1) * sizeof *conjunct);
    conjunct[node] = true;
    for (uint32_t n = node + 1; n-- > 0;) { /* replaces an AND by its children, which come before it */
        const struct expression *at = &planner->plan->expressions.nodes[n];
        if (!conjunct[n] || at->operation != EXPRESSION_AND)
            continue;
        conjunct[n] = false;
        conjunct[at->child[0]] = conjunct[at->child[1]] = true;
    }
    for (uint32_t n = 0; n <= node; n++)
        if (conjunct[n])
            RETURN_IF_ERROR(conjunct_add(planner, n));
    return STATUS_OK;
}
