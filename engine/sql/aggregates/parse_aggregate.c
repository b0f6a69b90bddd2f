/*
 * parse_aggregate.c: parses what follows an aggregate's arguments. FILTER (WHERE c) becomes a CASE in the argument, because
 * aggregates leave out NULLs: sum(x) FILTER (WHERE c) is sum(CASE WHEN c THEN x END). ORDER BY becomes a further argument.
 */
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/parse_internal.h"

enum status parse_filter_argument(struct parser *parser, struct sql_expression *aggregate,
                                  struct sql_expression *condition)
{
    struct sql_expression *choice, *value;
    RETURN_IF_ERROR(parse_node(parser, SQL_CASE, condition->position, NULL, NULL, &choice));
    if (aggregate->child_count == 0 || aggregate->children[0]->operation == SQL_STAR) {
        RETURN_IF_ERROR(parse_node(parser, SQL_NUMBER, aggregate->position, NULL, NULL, &value));
        value->text = "1";
    } else {
        value = aggregate->children[0];
    }
    RETURN_IF_ERROR(parse_child(parser, choice, condition));
    RETURN_IF_ERROR(parse_child(parser, choice, value));
    if (aggregate->child_count == 0)
        return parse_child(parser, aggregate, choice);
    struct sql_expression **const order = &aggregate->children[aggregate->child_count - 1];
    if (aggregate->ordered &&
        sql_is_same_column(*order, value)) /* DISTINCT is ordered by the strings that it keeps */
        *order = choice;
    aggregate->children[0] = choice;
    aggregate->depth = choice->depth < aggregate->depth ? aggregate->depth : choice->depth + 1;
    return STATUS_OK;
}

static enum status parse_filter(struct parser *parser, struct sql_expression *aggregate)
{
    struct sql_expression *condition;
    bool where;
    if (!sql_is_aggregate(aggregate))
        return parse_refuse(parser, "FILTER stands after aggregates only, and %s is none", aggregate->name);
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expect(parser, "(", "in FILTER (WHERE condition)"));
    RETURN_IF_ERROR(parse_take(parser, "WHERE", &where)); /* DuckDB lets it be left out */
    RETURN_IF_ERROR(parse_expression(parser, &condition));
    RETURN_IF_ERROR(parse_expect(parser, ")", "behind FILTER's condition"));
    return parse_filter_argument(parser, aggregate, condition);
}

/* ---- Order ---- */

/* Terms after the first one: the order is that of rank() OVER (ORDER BY all of them). */
static enum status parse_other_orders(struct parser *parser, struct sql_order *first)
{
    struct sql_window *const window = parse_memory(parser, sizeof *window);
    bool more;
    if (!window)
        return error_out_of_memory(parser->error, sizeof *window, "a statement");
    window->position = first->expression->position;
    RETURN_IF_ERROR(parse_append(parser, &window->orders, &window->order_count, sizeof *first, first));
    RETURN_IF_ERROR(parse_take(parser, ",", &more));
    while (more) {
        struct sql_order order;
        RETURN_IF_ERROR(parse_order(parser, &order));
        RETURN_IF_ERROR(parse_append(parser, &window->orders, &window->order_count, sizeof order, &order));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    *first = (struct sql_order){.nulls_first = true};
    RETURN_IF_ERROR(parse_node(parser, SQL_FUNCTION, window->position, NULL, NULL, &first->expression));
    first->expression->name = "rank";
    first->expression->window = window;
    return STATUS_OK;
}

enum status parse_aggregate_order(struct parser *parser, struct sql_expression *function)
{
    struct sql_order order;
    if (!sql_is_aggregate(function))
        return parse_refuse(parser, "ORDER BY stands in aggregates and in WITHIN GROUP only");
    RETURN_IF_ERROR(parse_expect(parser, "ORDER", "in WITHIN GROUP (ORDER BY value)"));
    RETURN_IF_ERROR(parse_expect(parser, "BY", "behind ORDER"));
    RETURN_IF_ERROR(parse_order(parser, &order));
    if (parse_is(parser, ","))
        RETURN_IF_ERROR(parse_other_orders(parser, &order));
    function->descending = order.descending;
    function->nulls_last = !order.nulls_first;
    function->ordered = true;
    return parse_child(parser, function, order.expression);
}

/* percentile_cont(0.5) WITHIN GROUP (ORDER BY x) is percentile_cont(x, 0.5): the value comes first. */
static enum status parse_within_group(struct parser *parser, struct sql_expression *function)
{
    const struct aggregate_name *const name = aggregate_name_find(function->name);
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expect(parser, "GROUP", "behind WITHIN"));
    RETURN_IF_ERROR(parse_expect(parser, "(", "in WITHIN GROUP (ORDER BY value)"));
    if (function->ordered)
        return parse_refuse(parser, "%s has an ORDER BY twice", function->name);
    RETURN_IF_ERROR(parse_aggregate_order(parser, function));
    if (name->family == FAMILY_QUANTILE || name->family == FAMILY_VALUES) {
        struct sql_expression *const value = function->children[function->child_count - 1];
        if (value->window)
            return parse_refuse(parser, "ORDER BY of %s takes one value", function->name);
        for (uint32_t c = function->child_count - 1; c > 0; c--)
            function->children[c] = function->children[c - 1];
        function->children[0] = value;
        function->ordered = false;
    }
    return parse_expect(parser, ")", "behind WITHIN GROUP's order");
}

enum status parse_aggregate_clauses(struct parser *parser, struct sql_expression *function)
{
    if (parse_is(parser, "WITHIN"))
        RETURN_IF_ERROR(parse_within_group(parser, function));
    return parse_is(parser, "FILTER") ? parse_filter(parser, function) : STATUS_OK;
}
