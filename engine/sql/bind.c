/*
 * bind.c: makes a plan from a block (bind_internal.h): first the joins and WHERE, then groups and aggregates, then HAVING,
 * the outputs, the order and the limit.
 */
#include "engine/sql/bind_internal.h"
#include "storage/base/memory.h"

#include <stdlib.h>

/* ---- WHERE ---- */

static bool has_function(const struct sql_expression *ast)
{
    bool any =
        ast->operation == SQL_FUNCTION || ast->operation == SQL_CONCAT || ast->operation == SQL_MATCHES;
    for (uint32_t c = 0; c < ast->child_count && !any; c++)
        any = has_function(ast->children[c]);
    return any;
}

/* Of so many strings a table is made without asking how many rows there are: it takes less than a millisecond. */
#define TABLE_FEW 4096u
/* Of more combinations of strings none is made: it would take 0.2 s, and 8 MB. */
#define TABLE_MOST (UINT64_C(1) << 20)

/* Lets functions be computed row by row if their tables would have more values than there are rows to compute. */
static void limit_tables(struct binder *binder, uint64_t rows, bool of_one)
{
    const uint64_t most = rows < TABLE_FEW ? TABLE_FEW : rows;
    binder->list->table_most = of_one ? most : 0;
    binder->list->tables_most = most < TABLE_MOST ? most : TABLE_MOST;
}

/* Conditions with functions are bound after the others, so that functions of strings may be computed for the rows that
 * pass these, if nearly each row has a string of its own. */
static enum status bind_where(struct binder *binder)
{
    const uint64_t rows = binder->plan->fact->rows;
    for (unsigned functions = 0; functions < 2; functions++) {
        limit_tables(binder, rows / (1 + functions),
                     functions && !binder->planner.on_gpu && binder->plan->step_count);
        for (uint32_t c = 0; c < binder->condition_count; c++) {
            const struct sql_expression *ast = binder->conditions[c];
            uint32_t node;
            if (has_function(ast) != functions || bind_holds_by_reference(binder, ast))
                continue;
            RETURN_IF_ERROR(bind_condition(binder, ast, BIND_BELOW, &node));
            if (bind_node(binder, node)->by_row && binder->planner.on_gpu)
                return bind_refuse_text(binder, ast->position, SQL_CUT_BELOW_WHERE);
            RETURN_IF_ERROR(bind_placed(binder, ast->position, planner_condition(&binder->planner, node)));
        }
    }
    limit_tables(binder, rows, false);
    return STATUS_OK;
}

/* ---- Groups ---- */

static enum status append_term(struct binder *binder, struct sql_position position, uint32_t node,
                               uint32_t *term)
{
    struct plan *plan = binder->plan;
    const struct expression *made = &binder->list->nodes[node];
    *term = plan->group_count;
    if (bind_is_by_row(binder, made))
        return bind_refuse_text(binder, position, SQL_CUT_BELOW_GROUPS);
    RETURN_IF_ERROR(memory_grow(&plan->groups, (*term + 1) * sizeof *plan->groups, "a plan", binder->error));
    RETURN_IF_ERROR(
        memory_grow(&binder->groups, (*term + 1) * sizeof *binder->groups, "a statement", binder->error));
    binder->groups[*term] = (struct bind_group){.node = node};
    plan->groups[plan->group_count++] =
        (struct plan_group){.expression = node,
                            .low = made->low,
                            .nullable = made->nullable,
                            .domain = plan_group_domain(made->low, made->high, made->nullable)};
    return STATUS_OK;
}

enum status bind_group_term(struct binder *binder, struct sql_position position, uint32_t node,
                            uint32_t *term)
{
    for (*term = 0; *term < binder->plan->group_count; (*term)++)
        if (binder->groups[*term].node == node)
            return STATUS_OK;
    return append_term(binder, position, node, term);
}

uint32_t bind_listed_term(const struct binder *binder, const struct sql_expression *tree, uint32_t node)
{
    const uint32_t count = binder->plan->grouping.listed;
    uint32_t first = count;
    for (uint32_t t = count; t-- > 0;) {
        if (binder->groups[t].node != node)
            continue;
        first = t;
        if (sql_same_expression(binder->groups[t].tree, tree))
            return t;
    }
    return first;
}

static enum status group_add(struct binder *binder, const struct sql_expression *ast, uint32_t *term)
{
    uint32_t node;
    if (sql_has_aggregate(ast))
        return bind_refuse(binder, ast->position, "GROUP BY cannot hold an aggregate");
    RETURN_IF_ERROR(bind_expression(binder, ast, BIND_BELOW, &node));
    *term = 0;
    if (bind_is_wide(binder, node))
        return bind_wide_term(binder, ast, node);
    for (*term = 0; binder->select->set_count && *term < binder->plan->group_count; (*term)++)
        if (binder->groups[*term].node == node && sql_same_expression(binder->groups[*term].tree, ast))
            return STATUS_OK;
    RETURN_IF_ERROR(binder->select->set_count ? append_term(binder, ast->position, node, term)
                                              : bind_group_term(binder, ast->position, node, term));
    if (!binder->groups[*term].tree)
        binder->groups[*term].tree = ast;
    return STATUS_OK;
}

static enum status bind_groups(struct binder *binder)
{
    const struct sql_select *select = binder->select;
    uint32_t terms[SQL_SET_TERMS_MAX], term;
    for (uint32_t g = 0; g < select->group_count; g++) {
        RETURN_IF_ERROR(group_add(binder, select->groups[g], &term));
        if (g < SQL_SET_TERMS_MAX)
            terms[g] = term;
    }
    return bind_grouping_sets(binder, terms);
}

/* ---- Output ---- */

static enum status output_add(struct binder *binder, const char *name, uint32_t node, bool hidden)
{
    struct plan *plan = binder->plan;
    const uint32_t place = plan->output_count + plan->hidden_count;
    if (place == PLAN_OUTPUTS_MAX)
        return error_set(binder->error, STATUS_BAD_INPUT,
                         "the select list and what else ORDER BY names have more than %u columns; ask in "
                         "several statements",
                         PLAN_OUTPUTS_MAX);
    RETURN_IF_ERROR(
        memory_grow(&plan->outputs, (place + 1) * sizeof *plan->outputs, "a plan", binder->error));
    char *copy = strdup(name);
    if (!copy)
        return error_out_of_memory(binder->error, strlen(name), "a name");
    plan->outputs[place] = (struct plan_output){.name = copy, .expression = node, .late = EXPRESSION_NONE};
    if (hidden)
        plan->hidden_count++;
    else
        plan->output_count++;
    return STATUS_OK;
}

static enum bind_level level_of(const struct binder *binder)
{
    return binder->aggregated ? BIND_ABOVE : BIND_BELOW;
}

/* True if nothing else needs the values of an item: no term of ORDER BY is it. */
static bool stands_alone(const struct binder *binder, uint32_t i)
{
    const struct sql_select *select = binder->select;
    bool alone = true;
    for (uint32_t o = 0; o < select->order_count && alone; o++)
        alone = !sql_same_expression(select->items[i].expression, select->orders[o].expression);
    return alone;
}

static enum status bind_items(struct binder *binder)
{
    const struct sql_select *select = binder->select;
    for (uint32_t i = 0; i < select->item_count; i++) {
        const struct sql_item *item = &select->items[i];
        uint32_t node;
        if (!binder->aggregated && stands_alone(binder, i))
            limit_tables(binder, 0, true); /* the answer may have few rows */
        RETURN_IF_ERROR(bind_expression(binder, item->expression, level_of(binder), &node));
        limit_tables(binder, binder->plan->fact->rows, false);
        RETURN_IF_ERROR(output_add(binder, item->alias, node, false));
    }
    return STATUS_OK;
}

/* Gives the output of a term of ORDER BY. A term that is no output becomes a hidden one. */
static enum status order_output(struct binder *binder, const struct sql_expression *term, uint32_t *output)
{
    const struct sql_select *const select = binder->select;
    struct plan *const plan = binder->plan;
    uint32_t node;
    for (*output = 0; *output < select->item_count; (*output)++)
        if (sql_same_expression(select->items[*output].expression, term))
            return STATUS_OK;
    RETURN_IF_ERROR(bind_expression(binder, term, level_of(binder), &node));
    for (*output = 0; *output < plan->output_count + plan->hidden_count; (*output)++)
        if (plan->outputs[*output].expression == node)
            return STATUS_OK;
    return output_add(binder, "", node, true);
}

static enum status bind_order(struct binder *binder)
{
    struct plan *plan = binder->plan;
    const struct sql_select *select = binder->select;
    for (uint32_t o = 0; o < select->order_count; o++) {
        const struct sql_order *order = &select->orders[o];
        if (plan->order_count == PLAN_OUTPUTS_MAX)
            return bind_refuse(binder, order->expression->position,
                               "ORDER BY has more than %u terms; leave out the last ones", PLAN_OUTPUTS_MAX);
        RETURN_IF_ERROR(memory_grow(&plan->orders, (plan->order_count + 1) * sizeof *plan->orders, "a plan",
                                    binder->error));
        struct plan_order *made = &plan->orders[plan->order_count++];
        *made = (struct plan_order){.descending = order->descending, .nulls_first = order->nulls_first};
        RETURN_IF_ERROR(order_output(binder, order->expression, &made->output));
        if (bind_node(binder, plan->outputs[made->output].expression)->by_row)
            return bind_refuse_text(binder, order->expression->position, SQL_CUT_ABOVE_GROUPS);
    }
    return STATUS_OK;
}

/* Makes outputs of what a value is computed from row by row: nodes below it that are not. The output that is computed
 * itself has the first of them until then. */
static enum status add_inputs(struct binder *binder, uint32_t output, uint32_t node)
{
    struct plan *const plan = binder->plan;
    const struct expression of = *bind_node(binder, node);
    if (of.operation == EXPRESSION_CONSTANT)
        return STATUS_OK;
    for (uint32_t c = 0; of.by_row && c < of.children; c++)
        RETURN_IF_ERROR(add_inputs(binder, output, of.child[c]));
    if (of.by_row)
        return STATUS_OK;
    if (plan->outputs[output].expression == plan->outputs[output].late)
        plan->outputs[output].expression = node;
    for (uint32_t o = 0; o < plan->output_count + plan->hidden_count; o++)
        if (plan->outputs[o].expression == node)
            return STATUS_OK;
    return output_add(binder, "", node, true);
}

static enum status bind_late(struct binder *binder)
{
    for (uint32_t o = 0; o < binder->plan->output_count; o++) {
        struct plan_output *const output = &binder->plan->outputs[o];
        if (!bind_node(binder, output->expression)->by_row)
            continue;
        output->late = output->expression;
        RETURN_IF_ERROR(add_inputs(binder, o, output->late));
    }
    return STATUS_OK;
}

static bool is_aggregated(const struct sql_select *select)
{
    bool any = select->group_count > 0 || select->set_count > 0 || select->having;
    for (uint32_t i = 0; i < select->item_count; i++)
        any |= sql_has_aggregate(select->items[i].expression);
    for (uint32_t o = 0; o < select->order_count; o++)
        any |= sql_has_aggregate(select->orders[o].expression);
    return any;
}

static enum status bind_all(struct binder *binder)
{
    struct plan *plan = binder->plan;
    const struct sql_select *select = binder->select;
    plan->limit = UINT64_MAX;
    plan->having = EXPRESSION_NONE;
    binder->aggregated = is_aggregated(select);
    RETURN_IF_ERROR(bind_tables(binder));
    limit_tables(binder, plan->fact->rows, false);
    RETURN_IF_ERROR(bind_where(binder));
    if (binder->aggregated)
        RETURN_IF_ERROR(bind_needs_values(binder, &binder->regroups));
    RETURN_IF_ERROR(bind_groups(binder));
    RETURN_IF_ERROR(bind_items(binder));
    if (select->having)
        RETURN_IF_ERROR(bind_condition(binder, select->having, BIND_ABOVE, &plan->having));
    RETURN_IF_ERROR(bind_order(binder));
    if (select->limit)
        RETURN_IF_ERROR(bind_row_count(binder, select->limit, &plan->limit));
    if (select->offset)
        RETURN_IF_ERROR(bind_row_count(binder, select->offset, &plan->offset));
    RETURN_IF_ERROR(bind_late(binder));
    return planner_complete(&binder->planner, binder->aggregated);
}

void bind_free(struct binder *binder)
{
    for (uint32_t t = 0; t < binder->table_count; t++)
        kept_array_release(binder->plan->database, binder->tables[t].rows);
    free(binder->conditions);
    free(binder->known);
    free(binder->groups);
    free(binder->wide);
}

enum status sql_bind(const struct sql_star *star, const struct sql_select *select,
                     const struct sql_parameter *parameters, uint32_t parameter_count,
                     const struct sql_options *options, struct plan **out, struct error *error)
{
    struct binder *binder = calloc(1, sizeof *binder);
    struct plan *plan = calloc(1, sizeof *plan);
    enum status status;
    if (binder && plan) {
        plan->database = star->database;
        plan->expressions.threads = options->threads;
        plan->expressions.on_gpu = options->on_gpu;
        *binder = (struct binder){.plan = plan,
                                  .list = &plan->expressions,
                                  .star = star,
                                  .select = select,
                                  .parameters = parameters,
                                  .parameter_count = parameter_count,
                                  .planner = {.plan = plan,
                                              .codec = options->codec,
                                              .threads = options->threads,
                                              .on_gpu = options->on_gpu,
                                              .index_use = options->index,
                                              .error = error},
                                  .cut = options->cut,
                                  .now = options->now,
                                  .like_ignores_case = options->like == SQL_LIKE_SQLITE,
                                  .zone = options->zone,
                                  .error = error};
        status = bind_all(binder);
        if (status == STATUS_OK) /* conditions on dimensions have been evaluated */
            status = expression_check(&plan->expressions, error);
        bind_free(binder);
    } else {
        status = error_out_of_memory(error, sizeof *plan, "a plan");
    }
    free(binder);
    if (status == STATUS_OK)
        *out = plan;
    else
        plan_free(plan);
    return status;
}
