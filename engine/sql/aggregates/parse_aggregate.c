/*
 * parse_aggregate.c: parses what follows an aggregate's arguments. FILTER (WHERE c) becomes a CASE in the argument, because
 * aggregates leave out NULLs: sum(x) FILTER (WHERE c) is sum(CASE WHEN c THEN x END).
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

enum status parse_aggregate_clauses(struct parser *parser, struct sql_expression *function)
{
    return parse_is(parser, "FILTER") ? parse_filter(parser, function) : STATUS_OK;
}
