/*
 * block.c: a block of operators becomes one SELECT (execute.h):
 *
 *     limit              LIMIT
 *       sort             ORDER BY
 *         project        the select list
 *           filter       HAVING
 *             aggregate  GROUP BY
 *               region   FROM, WHERE
 *
 * Any of these may be missing. Expressions name columns that are defined below them; they are put together until they name
 * columns of the region's sources alone. If these are stored tables that their references join as a star, the SELECT is a
 * plan over them; else the region is joined, and it is a plan over the rows in memory. A plan that is refused because its
 * expressions are too large, or of a kind that it does not know, is tried again with projections answered first.
 */
#include "engine/relational/region.h"
#include "engine/relational/blocks/totals.h"
#include "engine/relational/device/taken.h"
#include "engine/relational/spill/spill.h"
#include "engine/sql/aggregates/aggregate_names.h"

#include <string.h>

struct block {
    struct relational *run;
    const struct logical_node *node;
    const struct logical_set *needed;
    struct region region;
    const struct logical_node *limit, *sort, *aggregate;
    bool opaque_above;    /* a projection that computes was put above the region */
    bool computes_at_top; /* and one is its first operator that computes */
    bool constant_term;   /* a term of GROUPING SETS is a constant */
    bool apart;           /* so the rows that are grouped are answered first, and it is a column of them */
    struct sql_expression *having;
    struct sql_select select;        /* names columns as SQL_INPUT */
    uint32_t number_count, *numbers; /* of the items */
};

/* ---- Which operators it has ---- */

enum place { AT_TOP, AT_LIMIT, AT_SORT, AT_FILTER, AT_AGGREGATE };

static bool is_computing(const struct logical_node *project)
{
    for (uint32_t c = 0; c < project->column_count; c++)
        if (project->project.expressions[c]->operation != SQL_INPUT)
            return true;
    return false;
}

/* The first operator that is no filter and no projection. */
static const struct logical_node *below_of(const struct logical_node *node)
{
    while (node->kind == LOGICAL_FILTER || node->kind == LOGICAL_PROJECT)
        node = node->inputs[0];
    return node;
}

/* True if the operator goes on with the block at this place. */
static bool goes_on(const struct block *block, const struct logical_node *node, enum place place)
{
    const enum logical_kind below = below_of(node)->kind;
    switch (node->kind) {
    case LOGICAL_PROJECT:
        if (place == AT_TOP)
            return !(block->region.opaque && block->computes_at_top && is_computing(node));
        return !(block->region.opaque && is_computing(node)) &&
               ((below == LOGICAL_AGGREGATE && place < AT_AGGREGATE) ||
                (below == LOGICAL_SORT && place < AT_SORT && node->inputs[0]->kind == below));
    case LOGICAL_FILTER:
        return below == LOGICAL_AGGREGATE && place < AT_AGGREGATE;
    case LOGICAL_LIMIT:
        return place < AT_LIMIT;
    case LOGICAL_SORT:
        return place < AT_SORT;
    case LOGICAL_AGGREGATE:
        return place < AT_AGGREGATE;
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_JOIN:
    case LOGICAL_WINDOW:
    case LOGICAL_SET:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    return false;
}

static enum place place_of(const struct logical_node *node, enum place before)
{
    return node->kind == LOGICAL_LIMIT       ? AT_LIMIT
           : node->kind == LOGICAL_SORT      ? AT_SORT
           : node->kind == LOGICAL_FILTER    ? AT_FILTER
           : node->kind == LOGICAL_AGGREGATE ? AT_AGGREGATE
                                             : before;
}

/* ---- The SELECT ---- */

static enum status aggregate(struct block *block, const struct logical_node *node)
{
    struct region *const region = &block->region;
    struct relational *const run = block->run;
    struct sql_select *const select = &block->select;
    const uint32_t groups = node->aggregate.group_count;
    block->aggregate = node;
    RETURN_IF_ERROR(relational_memory(run, (groups + 1) * sizeof *select->groups, &select->groups));
    for (uint32_t g = 0; g < groups; g++) {
        struct sql_expression *const from = node->aggregate.groups[g];
        /* a column keeps its number where it is grouped by itself (fold.c) */
        if (from->operation != SQL_INPUT || from->index != node->columns[g])
            RETURN_IF_ERROR(region_define(region, node->columns[g], from));
        RETURN_IF_ERROR(region_rewrite(region, from, &select->groups[g]));
        /* a constant that a grouping set leaves out is NULL: as a column it can be. That of a subquery is a leaf */
        const bool leaf = select->groups[g]->child_count == 0;
        if (node->aggregate.set_count && (region->computes || leaf) &&
            !region_reads(region, select->groups[g])) {
            block->constant_term = !region->computes;
            return relational_refuse(run, from->position, "a term of GROUPING SETS is a constant");
        }
    }
    select->group_count = groups;
    select->set_count = node->aggregate.set_count;
    select->sets = node->aggregate.sets;
    for (uint32_t a = 0; a < node->aggregate.aggregate_count; a++)
        RETURN_IF_ERROR(region_define(region, node->columns[groups + a], node->aggregate.aggregates[a]));
    return STATUS_OK;
}

static enum status add_orders(struct block *block, const struct logical_node *node)
{
    struct relational *const run = block->run;
    struct sql_select *const select = &block->select;
    if (select->order_count)
        return STATUS_OK; /* a later sort decides */
    for (uint32_t o = 0; o < node->sort.count; o++) {
        const struct logical_order *const from = &node->sort.orders[o];
        struct sql_order order = {.descending = from->descending, .nulls_first = from->nulls_first};
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, node->position, &order.expression, run->error));
        order.expression->index = from->column;
        RETURN_IF_ERROR(region_rewrite(&block->region, order.expression, &order.expression));
        RETURN_IF_ERROR(sql_tree_append(run->arena, &select->orders, &select->order_count, sizeof order,
                                        &order, run->error));
    }
    return STATUS_OK;
}

/* True if it reads groups alone. Of grouping sets there may be a NULL in their place. */
static bool is_of_groups(const struct block *block, const struct sql_expression *condition)
{
    return block->select.group_count && !block->select.set_count && !sql_has_aggregate(condition) &&
           region_reads(&block->region, condition);
}

/* Adds the conditions that AND joins: over groups or aggregates, or over the rows that are grouped. */
static enum status add_filter(struct block *block, struct sql_expression *condition)
{
    if (condition->operation == SQL_AND) {
        for (uint32_t c = 0; c < condition->child_count; c++)
            RETURN_IF_ERROR(add_filter(block, condition->children[c]));
        return STATUS_OK;
    }
    if (is_of_groups(block, condition)) /* whole groups go: as well before they are made */
        return region_split(&block->region, condition, &block->region.conjuncts);
    return relational_and(block->run, &block->select.having, condition);
}

/* Adds an operator over those that were added. */
static enum status add_operator(struct block *block, const struct logical_node *node)
{
    struct sql_expression *condition;
    switch (node->kind) {
    case LOGICAL_PROJECT:
        return region_project(&block->region, node);
    case LOGICAL_FILTER:
        RETURN_IF_ERROR(region_rewrite(&block->region, node->filter.condition, &condition));
        return add_filter(block, condition);
    case LOGICAL_LIMIT:
        block->limit = node;
        block->select.limit = (struct sql_expression *)node->limit.limit;
        block->select.offset = (struct sql_expression *)node->limit.offset;
        return STATUS_OK;
    case LOGICAL_SORT:
        block->sort = node;
        return add_orders(block, node);
    case LOGICAL_AGGREGATE:
        return aggregate(block, node);
    case LOGICAL_SCAN:
    case LOGICAL_VALUES:
    case LOGICAL_JOIN:
    case LOGICAL_WINDOW:
    case LOGICAL_SET:
    case LOGICAL_SHARED:
    case LOGICAL_RECURSIVE:
    case LOGICAL_WORKING:
        break;
    }
    return STATUS_OK;
}

static enum status collect(struct block *block, const struct logical_node *node, enum place place)
{
    if (!goes_on(block, node, place))
        return block->apart ? region_collect_alone(&block->region, node)
                            : region_collect(&block->region, node, true);
    block->computes_at_top |= place == AT_TOP && node->kind == LOGICAL_PROJECT && is_computing(node);
    RETURN_IF_ERROR(collect(block, node->inputs[0], place_of(node, place)));
    block->opaque_above |= place != AT_TOP && node->kind == LOGICAL_PROJECT && is_computing(node);
    return add_operator(block, node);
}

static enum status add_item(struct block *block, uint32_t number, struct sql_expression *expression)
{
    RETURN_IF_ERROR(relational_item(block->run, &block->select, expression, number));
    return sql_tree_append(block->run->arena, &block->numbers, &block->number_count, sizeof number, &number,
                           block->run->error);
}

/* The columns that are needed. Without any the rows are counted; an aggregation must be seen to be one. */
static enum status add_items(struct block *block)
{
    struct relational *const run = block->run;
    const struct logical_node *const node = block->node;
    bool aggregated = block->select.group_count > 0 || block->select.having;
    struct sql_expression *expression;
    for (uint32_t c = 0; c < node->column_count; c++) {
        if (!logical_has(block->needed, node->columns[c]))
            continue;
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, node->position, &expression, run->error));
        expression->index = node->columns[c];
        RETURN_IF_ERROR(region_rewrite(&block->region, expression, &expression));
        RETURN_IF_ERROR(add_item(block, node->columns[c], expression));
        aggregated |= sql_has_aggregate(expression);
    }
    if (block->aggregate && !aggregated) {
        struct sql_expression *star;
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_FUNCTION, node->position, &expression, run->error));
        expression->name = "count";
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_STAR, node->position, &star, run->error));
        RETURN_IF_ERROR(sql_tree_child(run->arena, expression, star, run->error));
        return add_item(block, run->next_column++, expression);
    }
    if (block->select.item_count)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_literal(run, node->position, SQL_NUMBER, "1", &expression));
    return add_item(block, run->next_column++, expression);
}

/* ---- The plan ---- */

/* The SELECT with the conditions that are not done. */
static enum status copy_select(struct block *block, struct sql_select **copy)
{
    struct relational *const run = block->run;
    RETURN_IF_ERROR(relational_copy_select(run, &block->select, copy));
    for (uint32_t i = 0; i < block->region.conjuncts.count; i++)
        if (!block->region.conjuncts.list[i].done)
            RETURN_IF_ERROR(relational_and(run, &(*copy)->where, block->region.conjuncts.list[i].tree));
    return STATUS_OK;
}

static void note_names(const struct block *block, struct logical_set *names)
{
    const struct sql_select *const select = &block->select;
    for (uint32_t i = 0; i < select->item_count; i++)
        logical_names(select->items[i].expression, names);
    for (uint32_t g = 0; g < select->group_count; g++)
        logical_names(select->groups[g], names);
    for (uint32_t o = 0; o < select->order_count; o++)
        logical_names(select->orders[o].expression, names);
    logical_names(select->having, names);
}

/* True if the SELECT gives the region's rows as they are. */
static bool is_plain(const struct block *block)
{
    bool plain = !block->aggregate && !block->select.order_count && !block->limit;
    for (uint32_t i = 0; i < block->region.conjuncts.count; i++)
        plain &= block->region.conjuncts.list[i].done;
    for (uint32_t i = 0; i < block->select.item_count; i++)
        plain &= block->select.items[i].expression->operation == SQL_INPUT;
    return plain;
}

static enum status rename_rows(struct block *block, const struct result *from, struct result *result)
{
    struct relational *const run = block->run;
    uint32_t *numbers;
    RETURN_IF_ERROR(relational_memory(run, (block->number_count + 1) * sizeof *numbers, &numbers));
    for (uint32_t i = 0; i < block->number_count; i++)
        numbers[i] = block->select.items[i].expression->index;
    return result_renamed(run, from, block->number_count, numbers, block->numbers, result);
}

/* True if the region's rows are those of one source: not if that is joined with a row of constants, which is no source. */
static bool is_of_one(const struct region *region)
{
    return region->source_count == 1 && region->sources[0].join == LOGICAL_INNER && !region->full;
}

/* True if the block aggregates all groups of another one. */
static bool is_of_all_groups(const struct block *block)
{
    const struct region *const region = &block->region;
    const struct logical_node *const below = is_of_one(region) ? below_of(region->sources[0].node) : NULL;
    return below && below->kind == LOGICAL_AGGREGATE && below->aggregate.group_count && block->aggregate &&
           !block->select.group_count && !block->select.set_count &&
           (!region->conjuncts.count || region->sources[0].node->kind == LOGICAL_AGGREGATE) &&
           !source_is_answered(&region->sources[0]) && totals_are_possible(block->run);
}

/* The source with the region's conditions, which are on it alone. */
static enum status filter_source(struct block *block, const struct logical_node **node)
{
    struct region *const region = &block->region;
    struct source *const source = &region->sources[0];
    struct logical_node *filter;
    for (uint32_t i = 0; i < region->conjuncts.count; i++) {
        struct conjunct *const conjunct = &region->conjuncts.list[i];
        if (!conjunct->done)
            RETURN_IF_ERROR(relational_and(block->run, &source->filter, conjunct->tree));
        conjunct->done = true;
    }
    *node = source->node;
    if (!source->filter)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_filter(block->run, source->node, source->filter, &filter));
    *node = filter;
    return STATUS_OK;
}

/* Answers the source, and with it the block if the source's groups were added up as they were completed (totals.h). */
static enum status ask_totals(struct block *block, const struct logical_set *names, bool *done,
                              struct result *result)
{
    struct relational *const run = block->run;
    struct source *const source = &block->region.sources[0];
    struct totals totals = {.select = &block->select, .numbers = block->numbers};
    struct totals *const before = run->totals;
    RETURN_IF_ERROR(filter_source(block, &totals.node));
    run->totals = &totals;
    const enum status status = relational_node(run, totals.node, names, &source->answered);
    run->totals = before;
    totals_free(&totals);
    *done = totals.done;
    if (*done) {
        *result = totals.result;
        result_free(&source->answered);
    }
    return status;
}

/* ---- Over windows whose rows are on a GPU (device/taken.h) ---- */

static bool is_of_windows(const struct block *block)
{
    const struct region *const region = &block->region;
    return is_of_one(region) && region->sources[0].node->kind == LOGICAL_WINDOW &&
           !region->sources[0].filter && !source_is_answered(&region->sources[0]) &&
           taken_is_possible(block->run);
}

/* Answers a SELECT over them on the GPU; *done is false if that refuses it, or has no memory. */
static enum status try_taken(struct relational *run, const struct taken *taken,
                             const struct sql_select *select, const uint32_t *numbers, struct taken *into,
                             struct result *result, bool *done)
{
    const struct error before = *run->error;
    const enum status status = taken_select(run, taken, select, numbers, into, result);
    *done = status == STATUS_OK;
    if (*done)
        return STATUS_OK;
    if (into)
        taken_free(into);
    if (status != STATUS_BAD_INPUT && status != STATUS_MACHINE)
        return status;
    *run->error = before; /* what is wrong with the statement is told by the host */
    return STATUS_OK;
}

/* The rows that pass the conditions, with the columns that the SELECT names. */
static enum status filter_taken(struct block *block, struct taken *taken, const struct logical_set *names)
{
    struct relational *const run = block->run;
    struct taken passed = {0};
    struct sql_select select = {.position = block->select.position, .limit = NULL};
    uint32_t *numbers = NULL, count = 0;
    struct source *const source = &block->region.sources[0];
    struct result none = {0}; /* has no columns */
    bool done;
    for (uint32_t c = 0; c < taken->count; c++) {
        struct sql_expression *column;
        if (!logical_has(names, taken->numbers[c]))
            continue;
        RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, select.position, &column, run->error));
        column->index = taken->numbers[c];
        RETURN_IF_ERROR(relational_item(run, &select, column, column->index));
        RETURN_IF_ERROR(
            sql_tree_append(run->arena, &numbers, &count, sizeof *numbers, &column->index, run->error));
    }
    for (uint32_t i = 0; i < block->region.conjuncts.count; i++)
        if (!block->region.conjuncts.list[i].done)
            RETURN_IF_ERROR(relational_and(run, &select.where, block->region.conjuncts.list[i].tree));
    if (!select.where || !count)
        return STATUS_OK;
    RETURN_IF_ERROR(try_taken(run, taken, &select, numbers, &passed, &none, &done));
    if (!passed.rows)
        return STATUS_OK;
    explain_under(operator_scan(&none), source->answered.explained);
    source->answered.explained = none.explained;
    for (uint32_t i = 0; i < block->region.conjuncts.count; i++)
        block->region.conjuncts.list[i].done = true;
    taken_free(taken);
    *taken = passed;
    return STATUS_OK;
}

/* Gives the rows to the source, as an answer of the host. */
static enum status take_source(struct block *block, struct taken *taken, const struct logical_set *names)
{
    struct relational *const run = block->run;
    struct source *const source = &block->region.sources[0];
    uint32_t *numbers, count = 0;
    struct rowset rows;
    RETURN_IF_ERROR(filter_taken(block, taken, names));
    RETURN_IF_ERROR(relational_memory(run, (taken->count + 1ull) * sizeof *numbers, &numbers));
    for (uint32_t c = 0; c < taken->count; c++)
        if (logical_has(names, taken->numbers[c]))
            numbers[count++] = taken->numbers[c];
    RETURN_IF_ERROR(taken_fetch(run, taken, numbers, count, &rows));
    struct explain_node *const explained = source->answered.explained;
    RETURN_IF_ERROR(result_of_rows(run, &rows, numbers, &source->answered));
    source->answered.explained = explained;
    return STATUS_OK;
}

/* Answers the source, which may leave its rows on the GPU; then the GPU answers the block, or filters the rows. */
static enum status ask_windows(struct block *block, struct logical_set *names, bool *done,
                               struct result *result)
{
    struct relational *const run = block->run;
    struct source *const source = &block->region.sources[0];
    struct taken taken = {.node = source->node};
    struct sql_select *select;
    for (uint32_t i = 0; i < block->region.conjuncts.count; i++)
        logical_names(block->region.conjuncts.list[i].tree, names);
    RETURN_IF_ERROR(taken_ask(run, &taken, names, &source->answered));
    if (!taken.rows)
        return STATUS_OK;
    struct explain_node *const explained = source->answered.explained;
    enum status status = STATUS_OK;
    if (block->aggregate)
        status = copy_select(block, &select);
    if (block->aggregate && status == STATUS_OK)
        status = try_taken(run, &taken, select, block->numbers, NULL, result, done);
    if (status == STATUS_OK && *done)
        explain_under(operator_scan(result), explained);
    else if (status == STATUS_OK)
        status = take_source(block, &taken, names);
    taken_free(&taken);
    return status;
}

static enum status ask_memory(struct block *block, struct result *result)
{
    struct relational *const run = block->run;
    struct logical_set names;
    struct sql_select *select;
    struct result rows = {.rows = 1};
    bool done = false;
    if (block->region.source_count) {
        RETURN_IF_ERROR(relational_set(run, &names));
        note_names(block, &names);
        if (is_of_all_groups(block))
            RETURN_IF_ERROR(ask_totals(block, &names, &done, result));
        else if (is_of_windows(block))
            RETURN_IF_ERROR(ask_windows(block, &names, &done, result));
        if (done)
            return STATUS_OK;
        RETURN_IF_ERROR(region_join(&block->region, &names, &rows));
    }
    if (block->region.source_count && is_plain(block)) {
        const enum status status = rename_rows(block, &rows, result);
        result_free(&rows);
        return status;
    }
    enum status status = copy_select(block, &select);
    if (status == STATUS_OK && run->dry && !block->region.source_count && !block->aggregate) {
        struct operator operator;
        operator_begin(run, "plan", NULL, NULL, &operator);
        explain_constants(operator.node);
        operator_dry(&operator, 1, result);
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = relational_select(run, &rows, select, block->numbers, result);
    result_free(&rows);
    return status;
}

/* Asks the tables of the region by one plan; false: they are no star, or memory does not suffice for its groups. */
static enum status ask_star(struct block *block, bool *is_star, struct result *result)
{
    struct relational *const run = block->run;
    const uint32_t count = block->region.source_count;
    struct sql_select *select;
    RETURN_IF_ERROR(copy_select(block, &select));
    const struct error before = *run->error;
    const struct spill_mark mark = spill_mark();
    run->totals_of_plan = run->totals && run->totals->node == block->node ? run->totals : NULL;
    run->taken_of_plan = run->taken && run->taken->node == block->node ? run->taken : NULL;
    run->keys_of_plan = run->keys && run->keys->node == block->node ? run->keys : NULL;
    const enum status status =
        region_plan(&block->region, count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1, select,
                    block->numbers, result);
    run->totals_of_plan = NULL;
    run->taken_of_plan = NULL;
    run->keys_of_plan = NULL;
    *is_star =
        !spill_wanted(run, &mark, status) && (status != STATUS_BAD_INPUT || run->cut == SQL_CUT_NOWHERE);
    if (*is_star)
        return status;
    *run->error = before;
    return STATUS_OK;
}

static enum status ask(struct block *block, struct result *result)
{
    bool is_star = false;
    RETURN_IF_ERROR(add_items(block));
    if (block->run->kept && block->number_count != block->node->column_count)
        return STATUS_OK; /* rows are counted that nothing asks for */
    if (region_is_stored(&block->region))
        RETURN_IF_ERROR(ask_star(block, &is_star, result));
    return is_star || block->run->kept ? STATUS_OK : ask_memory(block, result);
}

/* How a block is tried, and what the try has told. */
struct attempt {
    bool opaque;           /* struct region */
    struct folded *folded; /* also of the tries before */
    bool again;            /* it was refused, but may be answered if projections are answered first */
    bool large; /* it was, because its expressions are too large when they are put into each other */
    bool apart; /* it was, because a term of GROUPING SETS is a constant (struct block) */
};

static enum status try(struct relational *run, const struct logical_node *node,
                       const struct logical_set *needed, struct attempt *attempt, struct result *result)
{
    struct block *block;
    RETURN_IF_ERROR(relational_memory(run, sizeof *block, &block));
    block->run = run;
    block->select.position = node->position;
    block->node = node;
    block->needed = needed;
    block->apart = attempt->apart;
    enum status status = region_open(run, attempt->opaque, &attempt->folded, &block->region);
    bool dimensions = false;
    if (status == STATUS_OK)
        status = collect(block, node, AT_TOP);
    if (status == STATUS_OK && !run->kept)
        status = region_find_dimensions(&block->region, &dimensions);
    if (status == STATUS_OK && dimensions) {
        region_close(&block->region);
        return try(run, node, needed, attempt, result);
    }
    if (status == STATUS_OK)
        status = region_ask_dimensions(&block->region);
    if (status == STATUS_OK)
        status = ask(block, result);
    attempt->again = status == STATUS_BAD_INPUT && !attempt->opaque &&
                     (block->region.computes || block->opaque_above || block->constant_term);
    attempt->apart = block->constant_term;
    attempt->large = block->region.large;
    region_close(&block->region);
    return status;
}

enum status relational_star_block(struct relational *run, const struct logical_node *node,
                                  const struct logical_set *needed)
{
    struct attempt attempt = {0};
    struct result none = {0};
    const enum status status = try(run, node, needed, &attempt, &none);
    result_free(&none);
    if (status != STATUS_BAD_INPUT || !(attempt.again || sql_cuts_select(run->cut)))
        return status;
    *run->error = (struct error){0};
    return STATUS_OK;
}

/* A second refusal is one of a part that nobody has written, so the first is told. */
static enum status try_parts(struct relational *run, const struct logical_node *node,
                             const struct logical_set *needed, struct attempt *attempt, struct result *result)
{
    const struct error first = *run->error;
    const bool large = attempt->large;
    *run->error = (struct error){0};
    attempt->opaque = true;
    const enum status status = try(run, node, needed, attempt, result);
    if (status == STATUS_BAD_INPUT && !large)
        *run->error = first;
    return status;
}

enum status relational_block(struct relational *run, const struct logical_node *node,
                             const struct logical_set *needed, struct result *result)
{
    struct attempt attempt = {0};
    *result = (struct result){0};
    enum status status = try(run, node, needed, &attempt, result);
    if (attempt.again)
        status = try_parts(run, node, needed, &attempt, result);
    for (; attempt.folded; attempt.folded = attempt.folded->next) {
        if (attempt.folded->result.explained && !attempt.folded->result.explained->above) {
            explain_under(attempt.folded->explained, attempt.folded->result.explained);
            explain_under(result->explained, attempt.folded->explained); /* else it is a side of a join */
        }
        result_free(&attempt.folded->result);
    }
    return status;
}
