/*
 * parse_aggregate.c: parses what follows an aggregate's arguments. FILTER (WHERE c) becomes a CASE in the argument, because
 * aggregates leave out NULLs: sum(x) FILTER (WHERE c) is sum(CASE WHEN c THEN x END). ORDER BY becomes a further argument.
 */
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/parse_internal.h"

static enum status node_make(struct parser *parser, enum sql_operation operation,
                             struct sql_position position, struct sql_expression **out)
{
    *out = parse_memory(parser, sizeof **out);
    if (!*out)
        return error_out_of_memory(parser->error, sizeof **out, "a statement");
    (*out)->operation = operation;
    (*out)->position = position;
    (*out)->depth = 1;
    return STATUS_OK;
}

static enum status add_child(struct parser *parser, struct sql_expression *node, struct sql_expression *child)
{
    if (child->depth == SQL_TREE_DEPTH_MAX)
        return parse_refuse(parser, "an expression is more than %u operators deep; use fewer, or split it",
                            SQL_TREE_DEPTH_MAX);
    node->depth = child->depth < node->depth ? node->depth : child->depth + 1;
    return parse_append(parser, &node->children, &node->child_count, sizeof child, &child);
}

/* Puts the aggregate's first argument, or 1 for *, into CASE WHEN condition THEN argument END. */
static enum status filter_argument(struct parser *parser, struct sql_expression *aggregate,
                                   struct sql_expression *condition)
{
    struct sql_expression *choice, *value;
    RETURN_IF_ERROR(node_make(parser, SQL_CASE, condition->position, &choice));
    if (aggregate->child_count == 0 || aggregate->children[0]->operation == SQL_STAR) {
        RETURN_IF_ERROR(node_make(parser, SQL_NUMBER, aggregate->position, &value));
        value->text = "1";
    } else {
        value = aggregate->children[0];
    }
    RETURN_IF_ERROR(add_child(parser, choice, condition));
    RETURN_IF_ERROR(add_child(parser, choice, value));
    if (aggregate->child_count == 0)
        return add_child(parser, aggregate, choice);
    aggregate->children[0] = choice;
    aggregate->depth = choice->depth < aggregate->depth ? aggregate->depth : choice->depth + 1;
    return STATUS_OK;
}

static enum status parse_filter(struct parser *parser, struct sql_expression *aggregate)
{
    struct sql_expression *condition;
    if (!sql_is_aggregate(aggregate))
        return parse_refuse(parser, "FILTER stands after aggregates only, and %s is none", aggregate->name);
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expect(parser, "(", "in FILTER (WHERE condition)"));
    RETURN_IF_ERROR(parse_expect(parser, "WHERE", "in FILTER (WHERE condition)"));
    RETURN_IF_ERROR(parse_expression(parser, &condition));
    RETURN_IF_ERROR(parse_expect(parser, ")", "behind FILTER's condition"));
    return filter_argument(parser, aggregate, condition);
}

/* ---- Order ---- */

enum status parse_aggregate_order(struct parser *parser, struct sql_expression *function)
{
    struct sql_expression *order;
    bool taken;
    if (!sql_is_aggregate(function))
        return parse_refuse(parser, "ORDER BY stands in aggregates and in WITHIN GROUP only");
    RETURN_IF_ERROR(parse_expect(parser, "ORDER", "in WITHIN GROUP (ORDER BY value)"));
    RETURN_IF_ERROR(parse_expect(parser, "BY", "behind ORDER"));
    RETURN_IF_ERROR(parse_expression(parser, &order));
    RETURN_IF_ERROR(parse_take(parser, "DESC", &function->descending));
    if (!function->descending)
        RETURN_IF_ERROR(parse_take(parser, "ASC", &taken));
    function->nulls_last = function->descending;
    RETURN_IF_ERROR(parse_take(parser, "NULLS", &taken));
    if (taken) {
        RETURN_IF_ERROR(parse_take(parser, "FIRST", &taken));
        function->nulls_last = !taken;
        if (!taken)
            RETURN_IF_ERROR(parse_expect(parser, "LAST", "behind NULLS"));
    }
    if (parse_is(parser, ","))
        return parse_refuse(parser, "ORDER BY in an aggregate takes one value");
    function->ordered = true;
    return add_child(parser, function, order);
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
