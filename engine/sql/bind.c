/*
 * bind.c: makes a plan from a statement (bind_internal.h): first FROM and WHERE, then groups and aggregates,
 * then HAVING, the outputs, the order and the limit.
 */
#include "engine/sql/bind_internal.h"

#include "engine/plan/functions/late_text.h"
#include "engine/plan/occurring/occurring.h"
#include "storage/base/words/word.h"

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

/* Conditions with functions are bound after the others, so that functions of strings may be computed for the strings of
 * rows that pass these. */
static enum status bind_where(struct binder *binder)
{
    for (unsigned functions = 0; functions < 2; functions++)
        for (uint32_t c = 0; c < binder->condition_count; c++) {
            const struct sql_expression *ast = binder->conditions[c];
            uint32_t node;
            if (has_function(ast) != functions)
                continue;
            RETURN_IF_ERROR(bind_condition(binder, ast, BIND_BELOW, &node));
            RETURN_IF_ERROR(bind_placed(binder, ast->position, planner_condition(&binder->planner, node)));
        }
    return STATUS_OK;
}

/* ---- Groups ---- */

static enum status append_term(struct binder *binder, struct sql_position position, uint32_t node,
                               uint32_t *term)
{
    struct plan *plan = binder->plan;
    const struct expression *made = &binder->list->nodes[node];
    *term = plan->group_count;
    if (plan->group_count == PLAN_GROUPS_MAX)
        return bind_refuse(
            binder, position, "GROUP BY or DISTINCT has more than %u terms%s; group by fewer of them",
            PLAN_GROUPS_MAX,
            binder->regroups ? ", with the arguments of medians, string_agg and the like" : "");
    binder->group_nodes[plan->group_count] = node;
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
        if (binder->group_nodes[*term] == node)
            return STATUS_OK;
    return append_term(binder, position, node, term);
}

/* True if both are written alike, or name the same column. */
static bool is_same(const struct binder *binder, const struct sql_expression *a,
                    const struct sql_expression *b)
{
    const struct column *columns[2];
    uint32_t tables[2];
    if (a == b)
        return true;
    if (a->operation != b->operation || a->child_count != b->child_count || a->negated != b->negated ||
        a->has_operand != b->has_operand || a->has_else != b->has_else || a->index != b->index)
        return false;
    if (a->operation == SQL_COLUMN && bind_name_exists(binder, a) && bind_name_exists(binder, b))
        return bind_name(binder, a, &tables[0], &columns[0]) == STATUS_OK &&
               bind_name(binder, b, &tables[1], &columns[1]) == STATUS_OK && tables[0] == tables[1] &&
               columns[0] == columns[1];
    if (strcmp(a->text ? a->text : "", b->text ? b->text : "") != 0 ||
        word_compare(a->name ? a->name : "", b->name ? b->name : "") != 0)
        return false;
    for (uint32_t c = 0; c < a->child_count; c++)
        if (!is_same(binder, a->children[c], b->children[c]))
            return false;
    return true;
}

uint32_t bind_listed_term(const struct binder *binder, const struct sql_expression *tree, uint32_t node)
{
    const uint32_t count = binder->plan->grouping.listed;
    uint32_t first = count;
    for (uint32_t t = count; t-- > 0;) {
        if (binder->group_nodes[t] != node)
            continue;
        first = t;
        if (is_same(binder, binder->group_trees[t], tree))
            return t;
    }
    return first;
}

static enum status group_add(struct binder *binder, const struct sql_expression *ast, uint32_t *term)
{
    uint32_t node;
    if (bind_has_aggregate(ast))
        return bind_refuse(binder, ast->position, "GROUP BY cannot hold an aggregate");
    RETURN_IF_ERROR(bind_expression(binder, ast, BIND_BELOW, &node));
    *term = 0;
    if (bind_is_wide(binder, node))
        return bind_wide_term(binder, ast, node);
    for (*term = 0; binder->select->set_count && *term < binder->plan->group_count; (*term)++)
        if (binder->group_nodes[*term] == node && is_same(binder, binder->group_trees[*term], ast))
            return STATUS_OK;
    RETURN_IF_ERROR(binder->select->set_count ? append_term(binder, ast->position, node, term)
                                              : bind_group_term(binder, ast->position, node, term));
    if (!binder->group_trees[*term])
        binder->group_trees[*term] = ast;
    return STATUS_OK;
}

/* Gives the place, from 0, that a number from 1 to `count` names: GROUP BY 2 is the second item of the select list. */
static enum status place_of_number(const struct binder *binder, const struct sql_expression *ast,
                                   const char *clause, uint32_t count, uint32_t *place)
{
    char *end;
    const unsigned long number = strtoul(ast->text, &end, 10);
    if (*end || number < 1 || number > count)
        return bind_refuse(binder, ast->position, "%s %s: the select list has no item of that number", clause,
                           ast->text);
    *place = (uint32_t)number - 1;
    return STATUS_OK;
}

static enum status bind_groups(struct binder *binder)
{
    const struct sql_select *select = binder->select;
    uint32_t terms[SQL_SET_TERMS_MAX], term;
    for (uint32_t g = 0; g < select->group_count; g++) {
        const struct sql_expression *ast = select->groups[g];
        uint32_t item = 0;
        if (ast->operation == SQL_NUMBER) {
            RETURN_IF_ERROR(place_of_number(binder, ast, "GROUP BY", select->item_count, &item));
            ast = select->items[item].expression;
        }
        RETURN_IF_ERROR(group_add(binder, ast, &term));
        if (g < SQL_SET_TERMS_MAX)
            terms[g] = term;
    }
    RETURN_IF_ERROR(bind_grouping_sets(binder, terms));
    if (!select->distinct)
        return STATUS_OK;
    if (binder->aggregated)
        return bind_refuse(
            binder, select->items[0].expression->position,
            "DISTINCT is not supported together with GROUP BY or aggregates; leave it out where the "
            "groups are in the select list, else write SELECT DISTINCT ... FROM (SELECT ... GROUP BY ...)");
    for (uint32_t i = 0; i < select->item_count; i++) {
        if (select->items[i].expression->operation == SQL_STAR)
            return bind_refuse(binder, select->items[i].expression->position,
                               "SELECT DISTINCT * is not supported; name the columns");
        RETURN_IF_ERROR(group_add(binder, select->items[i].expression, &term));
    }
    binder->plan->grouping.listed = binder->plan->group_count;
    binder->aggregated = true;
    return STATUS_OK;
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
    char *copy = strdup(name);
    if (!copy)
        return error_out_of_memory(binder->error, strlen(name), "a name");
    plan->outputs[place] = (struct plan_output){.name = copy, .expression = node};
    if (hidden)
        plan->hidden_count++;
    else
        plan->output_count++;
    return STATUS_OK;
}

static enum status add_star(struct binder *binder, const struct sql_expression *ast)
{
    bool any = false;
    if (binder->aggregated)
        return bind_refuse(binder, ast->position, "* cannot stand beside aggregates or GROUP BY");
    for (uint32_t t = 0; t < binder->table_count; t++) {
        if (ast->qualifier && word_compare(ast->qualifier, binder->tables[t].name) != 0)
            continue;
        any = true;
        for (uint32_t c = 0; c < table_visible_columns(binder->tables[t].table); c++) {
            uint32_t node;
            const struct column *column = &binder->tables[t].table->columns[c];
            struct sql_scope_column value;
            if (!ast->qualifier && !sql_scope_visible(&binder->scope, t, c, &value))
                continue;
            RETURN_IF_ERROR(bind_placed(binder, ast->position, bind_column(binder, t, column, &node)));
            RETURN_IF_ERROR(output_add(binder, column->schema.name, node, false));
        }
    }
    return any ? STATUS_OK
               : bind_refuse(binder, ast->position, "there is no table or alias '%s' in FROM",
                             ast->qualifier);
}

static enum bind_level level_of(const struct binder *binder)
{
    return binder->aggregated ? BIND_ABOVE : BIND_BELOW;
}

/* True if nothing else needs the values of an item: no term of ORDER BY names it. */
static bool stands_alone(const struct binder *binder, uint32_t i)
{
    const struct sql_select *select = binder->select;
    for (uint32_t o = 0; o < select->order_count; o++) {
        const struct sql_expression *const ast = select->orders[o].expression;
        if (ast->operation == SQL_NUMBER && strtoul(ast->text, NULL, 10) == i + 1)
            return false;
        if (ast->operation == SQL_COLUMN && select->items[i].alias &&
            word_compare(select->items[i].alias, ast->name) == 0)
            return false;
    }
    return true;
}

static enum status bind_items(struct binder *binder)
{
    const struct sql_select *select = binder->select;
    for (uint32_t i = 0; i < select->item_count; i++) {
        const struct sql_item *item = &select->items[i];
        uint32_t node;
        if (item->expression->operation == SQL_STAR) {
            RETURN_IF_ERROR(add_star(binder, item->expression));
            continue;
        }
        binder->late_item = stands_alone(binder, i) ? item->expression : NULL;
        const enum status status = bind_expression(binder, item->expression, level_of(binder), &node);
        binder->late_item = NULL;
        binder->list->late = NULL;
        RETURN_IF_ERROR(status);
        const char *name = item->alias                                 ? item->alias
                           : item->expression->operation == SQL_COLUMN ? item->expression->name
                                                                       : item->text;
        RETURN_IF_ERROR(output_add(binder, name, node, false));
        binder->plan->outputs[binder->plan->output_count - 1].late = binder->late;
        binder->late = NULL;
    }
    return STATUS_OK;
}

/* Gives the output of an item of ORDER BY: a number, an alias, or an expression. An expression that is not an
 * output becomes a hidden one. */
static enum status order_output(struct binder *binder, const struct sql_expression *ast, uint32_t *output)
{
    const struct sql_select *select = binder->select;
    const struct sql_item *item = NULL;
    bool stars = false;
    uint32_t node;
    if (ast->operation == SQL_NUMBER) /* of an output: a star is as many as it has columns */
        return place_of_number(binder, ast, "ORDER BY", binder->plan->output_count, output);
    for (uint32_t i = 0; i < select->item_count; i++) {
        stars |= select->items[i].expression->operation == SQL_STAR;
        if (!item && ast->operation == SQL_COLUMN && !ast->qualifier && select->items[i].alias &&
            word_compare(select->items[i].alias, ast->name) == 0)
            item = &select->items[i];
    }
    if (item && !stars) {
        *output = (uint32_t)(item - select->items);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(bind_expression(binder, item ? item->expression : ast, level_of(binder), &node));
    struct plan *plan = binder->plan;
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
        struct plan_order *made = &plan->orders[plan->order_count++];
        *made = (struct plan_order){.descending = order->descending, .nulls_first = order->nulls_first};
        RETURN_IF_ERROR(order_output(binder, order->expression, &made->output));
    }
    return STATUS_OK;
}

static bool is_aggregated(const struct sql_select *select)
{
    bool any = select->group_count > 0 || select->set_count > 0 || select->having;
    for (uint32_t i = 0; i < select->item_count; i++)
        any |= bind_has_aggregate(select->items[i].expression);
    for (uint32_t o = 0; o < select->order_count; o++)
        any |= bind_has_aggregate(select->orders[o].expression);
    return any;
}

static enum status bind_all(struct binder *binder)
{
    struct plan *plan = binder->plan;
    const struct sql_select *select = binder->select;
    plan->limit = UINT64_MAX;
    plan->having = EXPRESSION_NONE;
    binder->aggregated = is_aggregated(select);
    if (select->source_count == 0) {
        RETURN_IF_ERROR(bind_without_tables(binder));
    } else {
        RETURN_IF_ERROR(bind_tables(binder));
        RETURN_IF_ERROR(bind_where(binder));
        if (binder->aggregated)
            RETURN_IF_ERROR(bind_needs_values(binder, &binder->regroups));
        RETURN_IF_ERROR(bind_groups(binder));
    }
    RETURN_IF_ERROR(bind_items(binder));
    if (select->having)
        RETURN_IF_ERROR(bind_condition(binder, select->having, BIND_ABOVE, &plan->having));
    RETURN_IF_ERROR(bind_order(binder));
    if (select->limit)
        RETURN_IF_ERROR(bind_row_count(binder, select->limit, &plan->limit));
    if (select->offset)
        RETURN_IF_ERROR(bind_row_count(binder, select->offset, &plan->offset));
    RETURN_IF_ERROR(bind_check_strings(binder));
    return plan->fact ? planner_complete(&binder->planner, binder->aggregated) : STATUS_OK;
}

enum status sql_bind(struct database *database, const struct sql_select *select,
                     const struct sql_parameter *parameters, uint32_t parameter_count,
                     const struct sql_options *options, struct plan **out, struct error *error)
{
    struct binder *binder = calloc(1, sizeof *binder);
    struct plan *plan = calloc(1, sizeof *plan);
    struct bind_alias *aliases = calloc(select->item_count + 1, sizeof *aliases);
    enum status status;
    if (binder && plan && aliases) {
        plan->database = database;
        plan->expressions.threads = options->threads;
        *binder = (struct binder){.plan = plan,
                                  .list = &plan->expressions,
                                  .select = select,
                                  .parameters = parameters,
                                  .parameter_count = parameter_count,
                                  .planner = {.plan = plan,
                                              .codec = options->codec,
                                              .threads = options->threads,
                                              .on_gpu = options->on_gpu,
                                              .index_use = options->index,
                                              .error = error},
                                  .no_star = options->no_star,
                                  .many_texts = options->many_texts,
                                  .now = options->now,
                                  .like_ignores_case = options->like == SQL_LIKE_SQLITE,
                                  .aliases = aliases,
                                  .error = error};
        struct occurring occurring;
        occurring_open(&occurring, &binder->planner);
        plan->expressions.rows = &occurring.rows;
        status = bind_all(binder);
        if (status == STATUS_OK) /* conditions on dimensions have been evaluated */
            status = expression_check(&plan->expressions, error);
        plan->expressions.rows = NULL;
        occurring_free(&occurring);
        late_text_free(binder->late);
        bind_tables_free(binder);
    } else {
        status = error_out_of_memory(error, sizeof *plan, "a plan");
    }
    free(binder);
    free(aliases);
    if (status == STATUS_OK)
        *out = plan;
    else
        plan_free(plan);
    return status;
}
