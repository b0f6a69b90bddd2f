/*
 * engine/sql/bind_where.c: conditions become steps (engine/sql/bind_internal.h). What a condition reads decides: one
 * dimension alone: a part of its condition, and the join drops rows; one int32 fact column between two values:
 * a range; anything else: a condition on the rows that are left. Then the steps are put into the cheapest order.
 */
#include "engine/sql/bind_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- What a condition reads ---- */

struct reads {
    const struct plan *plan;
    bool fact;
    uint32_t joins; /* a bit each */
};

static void see(void *context, const struct expression *leaf)
{
    struct reads *reads = context;
    const int32_t join = reads->plan->sources[leaf->index].join;
    if (join < 0)
        reads->fact = true;
    else
        reads->joins |= 1u << join;
}

static struct reads reads_of(const struct binder *binder, uint32_t node)
{
    struct reads reads = {.plan = binder->plan};
    expression_visit(binder->list, node, see, &reads);
    return reads;
}

static struct scalar every_null(void *context, const struct expression *leaf)
{
    (void)context;
    (void)leaf;
    return (struct scalar){0, true};
}

/* Whether the condition drops a row whose dimension is missing: then a left join is an inner one. */
static bool rejects_null(const struct binder *binder, uint32_t node)
{
    const struct scalar value = expression_evaluate(binder->list, node, every_null, NULL);
    return value.null || !value.value;
}

/* ---- Ranges ---- */

struct column_range {
    uint32_t column; /* of the plan */
    int64_t low, high;
};

static bool is_plain_column(const struct binder *binder, uint32_t node, uint32_t *column)
{
    const struct expression *leaf = &binder->list->nodes[node];
    if (leaf->operation != EXPRESSION_COLUMN)
        return false;
    const struct plan_source *source = &binder->plan->sources[leaf->index];
    *column = source->column;
    return source->join < 0 && binder->plan->columns[source->column].column->value_bytes == 4;
}

/* column OPERATION constant, or turned; a set without gaps. Ranges of NULL-free rows: a NULL passes none. */
static bool range_of(const struct binder *binder, uint32_t node, struct column_range *range)
{
    const struct expression_list *list = binder->list;
    const struct expression *test = &list->nodes[node];
    *range = (struct column_range){.low = INT64_MIN, .high = INT64_MAX};
    if (test->operation == EXPRESSION_IN_SET && is_plain_column(binder, test->child[0], &range->column)) {
        const struct value_table *table = &list->tables[test->table];
        if (table->count == 0)
            *range = (struct column_range){range->column, 1, 0};
        else
            *range = (struct column_range){range->column, table->values[0], table->values[table->count - 1]};
        return table->count == 0 || (uint64_t)range->high - (uint64_t)range->low == table->count - 1;
    }
    if (test->operation != EXPRESSION_EQUAL && test->operation != EXPRESSION_LESS &&
        test->operation != EXPRESSION_LESS_EQUAL)
        return false;
    const bool strict = test->operation == EXPRESSION_LESS;
    if (is_plain_column(binder, test->child[0], &range->column) &&
        expression_is_constant(list, test->child[1])) {
        const int64_t constant = list->nodes[test->child[1]].constant;
        range->high = constant - strict;
        if (test->operation == EXPRESSION_EQUAL)
            range->low = constant;
        return true;
    }
    if (is_plain_column(binder, test->child[1], &range->column) &&
        expression_is_constant(list, test->child[0])) {
        const int64_t constant = list->nodes[test->child[0]].constant;
        range->low = constant + strict;
        if (test->operation == EXPRESSION_EQUAL)
            range->high = constant;
        return true;
    }
    return false;
}

static enum status step_add(struct binder *binder, struct plan_step step)
{
    struct plan *plan = binder->plan;
    if (plan->step_count == PLAN_STEPS_MAX)
        return error_set(binder->error, STATUS_BAD_INPUT, "the statement has more than %u conditions",
                         PLAN_STEPS_MAX);
    plan->steps[plan->step_count++] = step;
    return STATUS_OK;
}

static enum status range_add(struct binder *binder, struct column_range range)
{
    struct plan *plan = binder->plan;
    const struct column_statistics *statistics = &plan->columns[range.column].column->statistics;
    struct plan_step *step = NULL;
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_RANGE && plan->steps[s].column == range.column)
            step = &plan->steps[s];
    int64_t low = step ? step->low : statistics->min, high = step ? step->high : statistics->max;
    low = range.low > low ? range.low : low;
    high = range.high < high ? range.high : high;
    if (low > high) {
        plan->nothing = true;
        low = high = 0;
    }
    if (!step) {
        RETURN_IF_ERROR(step_add(binder, (struct plan_step){.kind = STEP_RANGE, .column = range.column}));
        step = &plan->steps[plan->step_count - 1];
        plan->columns[range.column].stepped = true;
    }
    step->low = (int32_t)low; /* within the statistics of an int32 column */
    step->high = (int32_t)high;
    return STATUS_OK;
}

/* ---- WHERE ---- */

static enum status condition_add(struct binder *binder, uint32_t node)
{
    struct plan *plan = binder->plan;
    const struct expression *condition = &binder->list->nodes[node];
    struct column_range range;
    if (condition->operation == EXPRESSION_CONSTANT) {
        plan->nothing |= condition->is_null || !condition->constant;
        return STATUS_OK;
    }
    if (condition->operation == EXPRESSION_AND) {
        const uint32_t second = condition->child[1];
        RETURN_IF_ERROR(condition_add(binder, condition->child[0]));
        return condition_add(binder, second);
    }
    if (range_of(binder, node, &range))
        return range_add(binder, range);
    const struct reads reads = reads_of(binder, node);
    if (!reads.fact && reads.joins && (reads.joins & (reads.joins - 1)) == 0) {
        const uint32_t j = (uint32_t)__builtin_ctz(reads.joins);
        struct plan_join *join = &plan->joins[j];
        if (join->inner || rejects_null(binder, node)) {
            join->inner = true;
            if (join->match == EXPRESSION_NONE) {
                join->match = node;
                return STATUS_OK;
            }
            return expression_apply(binder->list, EXPRESSION_AND, join->match, node, EXPRESSION_NONE,
                                    &join->match, binder->error);
        }
    }
    return step_add(binder, (struct plan_step){.kind = STEP_CONDITION, .expression = node, .share = 0.5});
}

enum status bind_where(struct binder *binder)
{
    for (uint32_t c = 0; c < binder->condition_count; c++) {
        const struct sql_expression *ast = binder->conditions[c];
        uint32_t node;
        RETURN_IF_ERROR(bind_condition(binder, ast, BIND_BELOW, &node));
        RETURN_IF_ERROR(bind_placed(binder, ast->position, condition_add(binder, node)));
    }
    return STATUS_OK;
}

/* ---- Steps ---- */

/* Cycles a row of the tile, on a CPU (docs/performance.md, "On a CPU"): decoding, and asking all rows at once or,
 * where few are left, one by one. */
#define DECODE_CYCLES     0.4
#define DECODE_BIT_CYCLES 0.02
#define COMPARE_CYCLES    0.1
#define SLICE_BIT_CYCLES  0.02
#define GATHER_CYCLES     1.0
#define PROBE_CYCLES      2.7
#define GATHER_FROM       0.375 /* of a tile: TILE_GATHER_ROWS */

/* What decoding takes beyond lane-for's. */
static const double slow_decoding[CODEC_COUNT] = {
    [CODEC_GPU_FOR] = 0.2, [CODEC_GPU_DFOR] = 1.4, [CODEC_GPU_RFOR] = 0.7, [CODEC_RANK_RLE] = 0.35};

/* A bitmap of more rows than this does not fit the shared memory of a GPU's block (227 KB): each row that is asked
 * goes further. */
#define NEAR_BITMAP_ROWS 1800000u
#define FAR_CYCLES       4.0

/* What a step costs a tile's row if `share` of the rows reach it. A column is decoded whole as soon as one row of
 * the tile is left, which is why a step saves its followers little until few rows are left at all. */
static double step_cost(const struct plan *plan, const struct plan_step *step, double share)
{
    const struct plan_join *join = step->kind == STEP_RANGE ? NULL : &plan->joins[step->join];
    const struct plan_column *column = &plan->columns[join ? join->column : step->column];
    const double rows = plan->fact->rows ? (double)plan->fact->rows : 1;
    const double bits = (double)column->data->bytes * 8 / rows;
    const bool compares = !join || join->contiguous;
    if (compares && column->data->codec->in_range)
        return SLICE_BIT_CYCLES * bits;
    double none = 1 - share; /* of the tile's 1024 rows, to the power of 2^10 */
    for (int i = 0; i < 10; i++)
        none *= none;
    const double decoding = DECODE_CYCLES + DECODE_BIT_CYCLES * bits + slow_decoding[column->data->codec->id];
    const double asking = compares               ? COMPARE_CYCLES
                          : share >= GATHER_FROM ? GATHER_CYCLES
                                                 : PROBE_CYCLES * share;
    const double far = !compares && join->table->rows > NEAR_BITMAP_ROWS ? FAR_CYCLES * share : 0;
    return (1 - none) * decoding + asking + far;
}

/* The cheapest order of up to ORDERED_STEPS steps: what a step costs depends only on which ones come before it, so
 * the best order of each set is that of a smaller set and one step more. */
#define ORDERED_STEPS 10u

static void order_steps(struct plan *plan, uint32_t count)
{
    static const double unknown = 1e300;
    double cost[1u << ORDERED_STEPS];
    uint8_t last[1u << ORDERED_STEPS];
    struct plan_step steps[ORDERED_STEPS];
    memcpy(steps, plan->steps, count * sizeof *steps);
    cost[0] = 0;
    for (uint32_t set = 1; set < 1u << count; set++) {
        cost[set] = unknown;
        for (uint32_t s = 0; s < count; s++) {
            const uint32_t before = set & ~(1u << s);
            double share = 1;
            if (before == set)
                continue;
            for (uint32_t b = 0; b < count; b++)
                share *= before >> b & 1 ? steps[b].share : 1;
            const double total = cost[before] + step_cost(plan, &steps[s], share);
            if (total < cost[set]) {
                cost[set] = total;
                last[set] = (uint8_t)s;
            }
        }
    }
    for (uint32_t set = (1u << count) - 1, place = count; place-- > 0; set &= ~(1u << last[set]))
        plan->steps[place] = steps[last[set]];
}

/* Conditions on single rows stay last, in the order in which they were written; the others first, and more of
 * them than can be tried in every order by what they keep. */
static int compare_steps(const void *left, const void *right)
{
    const struct plan_step *a = left, *b = right;
    const double x = a->kind == STEP_CONDITION ? 2 + a->expression : a->share,
                 y = b->kind == STEP_CONDITION ? 2 + b->expression : b->share;
    return (x > y) - (x < y);
}

static double range_share(const struct plan *plan, const struct plan_step *step)
{
    const struct column_statistics *statistics = &plan->columns[step->column].column->statistics;
    return ((double)step->high - step->low + 1) / ((double)statistics->max - (double)statistics->min + 1);
}

/* Groups of a filtered dimension have the values that its passing rows have: fewer slots. Where rows without a partner
 * stay, a column is NULL for them, but an expression may be anything. */
static enum status narrow_groups(struct binder *binder, uint32_t j)
{
    struct plan *plan = binder->plan;
    uint32_t nodes[PLAN_GROUPS_MAX] = {0}, terms[PLAN_GROUPS_MAX], count = 0;
    int64_t low[PLAN_GROUPS_MAX] = {0}, high[PLAN_GROUPS_MAX] = {0};
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct reads reads = reads_of(binder, plan->groups[g].expression);
        if (reads.fact || reads.joins != 1u << j ||
            (!plan->joins[j].inner &&
             plan->expressions.nodes[plan->groups[g].expression].operation != EXPRESSION_COLUMN))
            continue;
        terms[count] = g;
        nodes[count++] = plan->groups[g].expression;
    }
    RETURN_IF_ERROR(plan_join_analyse(plan, j, nodes, count, low, high, binder->error));
    for (uint32_t i = 0; i < count; i++) {
        struct plan_group *group = &plan->groups[terms[i]];
        group->nullable |= !plan->joins[j].inner;
        group->low = low[i] <= high[i] ? low[i] : 0;
        group->domain = (low[i] <= high[i] ? (uint64_t)high[i] - (uint64_t)low[i] + 1 : 0) + group->nullable;
        group->domain += group->domain == 0;
    }
    return STATUS_OK;
}

enum status bind_steps(struct binder *binder)
{
    struct plan *plan = binder->plan;
    for (uint32_t j = 0; j < plan->join_count; j++) {
        struct plan_join *join = &plan->joins[j];
        if (join->match != EXPRESSION_NONE)
            RETURN_IF_ERROR(narrow_groups(binder, j));
        if (!join->inner || (join->match == EXPRESSION_NONE && !plan->columns[join->column].nullable))
            continue;
        const double rows = join->table->rows ? (double)join->table->rows : 1;
        RETURN_IF_ERROR(step_add(
            binder,
            (struct plan_step){.kind = STEP_SEMI_JOIN, .join = j, .share = (double)join->passing / rows}));
        plan->columns[join->column].stepped = true;
        plan->nothing |= join->passing == 0;
    }
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_RANGE)
            plan->steps[s].share = range_share(plan, &plan->steps[s]);
    uint32_t count = 0;
    qsort(plan->steps, plan->step_count, sizeof *plan->steps, compare_steps);
    while (count < plan->step_count && count < ORDERED_STEPS && plan->steps[count].kind != STEP_CONDITION)
        count++;
    order_steps(plan, count);
    return STATUS_OK;
}
