/*
 * parse_pivot.c: PIVOT, which becomes the SELECT that is meant (ast.h): each aggregate once for each value, of the rows that
 * have that value.
 *
 *     PIVOT sales ON status IN ('open', 'paid') USING sum(paid) GROUP BY shop
 *     SELECT shop, sum(paid) FILTER (WHERE status = 'open') AS open, sum(paid) FILTER (WHERE status = 'paid') AS paid
 *     FROM sales GROUP BY shop
 *
 * Without IN a query for the values runs while the statement is parsed (struct sql_asker). Without GROUP BY the groups are
 * all columns that ON and USING do not name, which are not known here: then the items begin with * EXCLUDE (these), and the
 * statement ends with GROUP BY ALL. Columns are named as DuckDB names them: by the value, and by the aggregate after it if
 * it has an alias or there are several.
 */
#include "engine/sql/aggregates/aggregate_names.h"
#include "engine/sql/functions/parse_words.h"
#include "engine/sql/sql_error.h"
#include "engine/sql/tree/tree.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value of ON or an aggregate of USING, with the name of its columns. */
struct term {
    struct sql_expression *expression;
    const char *name;
    bool named; /* by an alias */
};

struct terms {
    uint32_t count;
    struct term *list;
};

/* The text from `begin` up to the current token. */
static enum status text_since(struct parser *parser, const char *begin, const char **out)
{
    const size_t length = (size_t)(parser->before_end - begin);
    char *const text = parse_memory(parser, length + 1);
    if (!text)
        return error_out_of_memory(parser->error, length, "a statement");
    memcpy(text, begin, length);
    *out = text;
    return STATUS_OK;
}

static enum status parse_term(struct parser *parser, struct terms *terms)
{
    const char *const begin = parser->token.text;
    struct term term = {0};
    RETURN_IF_ERROR(parse_expression(parser, &term.expression));
    RETURN_IF_ERROR(text_since(parser, begin, &term.name));
    if (term.expression->operation == SQL_STRING)
        term.name = term.expression->text;
    RETURN_IF_ERROR(parse_take(parser, "AS", &term.named));
    term.named |= parse_is_name(parser);
    if (term.named)
        RETURN_IF_ERROR(parse_name(parser, "an alias", &term.name));
    return parse_append(parser, &terms->list, &terms->count, sizeof term, &term);
}

static enum status parse_terms(struct parser *parser, struct terms *terms)
{
    bool more = true;
    while (more) {
        RETURN_IF_ERROR(parse_term(parser, terms));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}

/* Begins what sees a WITH and those around it: WITH ... SELECT * FROM (WITH ... SELECT * FROM (... */
static void write_withs(FILE *out, const struct parser_with *with)
{
    if (!with)
        return;
    write_withs(out, with->outer);
    fprintf(out, "%.*s SELECT * FROM (", (int)(with->end - with->begin), with->begin);
}

/* Writes the query whose answer is the values of ON, and their texts, which name columns; false: no memory. */
static bool write_values_query(const struct parser *parser, const char *source, const char *on, char **query)
{
    size_t bytes;
    FILE *const out = text_stream(query, &bytes);
    if (!out)
        return false;
    write_withs(out, parser->withs);
    fprintf(out, "SELECT %s, CAST(%s AS VARCHAR) FROM %s WHERE (%s) IS NOT NULL GROUP BY 1, 2", on, on,
            source, on);
    for (const struct parser_with *with = parser->withs; with; with = with->outer)
        putc(')', out);
    fprintf(out, " ORDER BY 1 LIMIT %u", SQL_PIVOT_MAX + 1);
    return fclose(out) == 0;
}

/* Parses the values of a text as terms, whose place is that of ON. */
static enum status parse_values_of(const struct parser *parser, const char *text, struct sql_position place,
                                   struct terms *values)
{
    struct parser made = *parser;
    made.all = place;
    sql_tokens_begin(&made.tokens, text, strlen(text));
    RETURN_IF_ERROR(parse_advance(&made));
    return parse_terms(&made, values);
}

static enum status ask_values(const struct parser *parser, const char *source, const char *on,
                              struct sql_position place, struct terms *values)
{
    char *query, *text = NULL;
    if (!write_values_query(parser, source, on, &query))
        return error_out_of_memory(parser->error, strlen(source), "a statement");
    enum status status = parser->asker->ask(parser->asker->context, query, &text, parser->error);
    free(query);
    if (status == STATUS_OK)
        status = parse_values_of(parser, text, place, values);
    free(text);
    return sql_placed_anew(parser->error, place, NULL, status);
}

/* ON value [IN (a, b AS name, ...)] */
static enum status parse_on(struct parser *parser, const char *source, struct sql_expression **on,
                            struct terms *values)
{
    const struct sql_position place = parse_position(parser);
    const char *const begin = parser->token.text;
    const char *text = "";
    bool in;
    RETURN_IF_ERROR(parse_operand(parser, on));
    RETURN_IF_ERROR(text_since(parser, begin, &text));
    if (parse_is(parser, ","))
        return parse_refuse(parser, "PIVOT takes one value behind ON; join several by ||");
    RETURN_IF_ERROR(parse_take(parser, "IN", &in));
    if (!in && parser->asker)
        return ask_values(parser, source, text, place, values);
    if (!in)
        return parse_refuse(
            parser,
            "PIVOT needs the values that become columns: ON %.100s IN ('a', 'b'); SELECT DISTINCT "
            "%.100s FROM ... gives them",
            text, text);
    RETURN_IF_ERROR(parse_expect(parser, "(", "behind IN"));
    RETURN_IF_ERROR(parse_terms(parser, values));
    return parse_expect(parser, ")", "behind the values of PIVOT");
}

/* USING aggregates; without it count(*). */
static enum status parse_using_aggregates(struct parser *parser, struct terms *aggregates)
{
    struct term count = {.name = "count(*)"};
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "USING", &taken));
    if (taken)
        return parse_terms(parser, aggregates);
    RETURN_IF_ERROR(parse_node(parser, SQL_FUNCTION, parse_position(parser), NULL, NULL, &count.expression));
    count.expression->name = "count";
    return parse_append(parser, &aggregates->list, &aggregates->count, sizeof count, &count);
}

/* ---- Groups ---- */

/* GROUP BY's terms are the first items. */
static enum status parse_groups(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    struct terms groups = {0};
    RETURN_IF_ERROR(parse_expect(parser, "BY", "behind GROUP"));
    RETURN_IF_ERROR(parse_terms(parser, &groups));
    for (uint32_t g = 0; g < groups.count; g++) {
        const struct term *const term = &groups.list[g];
        const struct sql_item item = {
            .expression = term->expression, .alias = term->named ? term->name : NULL, .text = term->name};
        RETURN_IF_ERROR(parse_append(parser, &select->items, &select->item_count, sizeof item, &item));
        RETURN_IF_ERROR(parse_append(parser, &select->groups, &select->group_count, sizeof term->expression,
                                     &term->expression));
    }
    return STATUS_OK;
}

/* Leaves the columns that an expression names out of the star. */
static enum status exclude_names(struct parser *parser, const struct sql_expression *expression,
                                 struct sql_item *star)
{
    bool known = expression->operation != SQL_COLUMN;
    for (uint32_t c = 0; c < expression->child_count; c++)
        RETURN_IF_ERROR(exclude_names(parser, expression->children[c], star));
    for (uint32_t i = 0; i < star->change_count && !known; i++)
        known = word_compare(star->changes[i].name, expression->name) == 0;
    const struct sql_star_change change = {.name = expression->name, .position = expression->position};
    return known ? STATUS_OK
                 : parse_append(parser, &star->changes, &star->change_count, sizeof change, &change);
}

/* * EXCLUDE (what is named) ... GROUP BY ALL */
static enum status group_by_others(struct parser *parser, const struct sql_expression *on,
                                   const struct terms *aggregates)
{
    struct sql_select *const select = parser->select;
    struct sql_item star = {.text = "*", .of_pivot = true};
    RETURN_IF_ERROR(parse_node(parser, SQL_STAR, on->position, NULL, NULL, &star.expression));
    RETURN_IF_ERROR(exclude_names(parser, on, &star));
    for (uint32_t a = 0; a < aggregates->count; a++)
        RETURN_IF_ERROR(exclude_names(parser, aggregates->list[a].expression, &star));
    select->group_all = true;
    return parse_append(parser, &select->items, &select->item_count, sizeof star, &star);
}

/* ---- Columns ---- */

struct filtering {
    struct parser *parser;
    struct sql_expression *condition;
    bool any;
};

/* A copy of an aggregate over the rows that pass the condition. */
static enum status filter_aggregate(void *context, const struct sql_expression *node,
                                    struct sql_expression **out)
{
    struct filtering *const filtering = context;
    struct parser *const parser = filtering->parser;
    if (!sql_is_aggregate(node) || node->window)
        return STATUS_OK;
    filtering->any = true;
    RETURN_IF_ERROR(parse_node(parser, node->operation, node->position, NULL, NULL, out));
    const uint32_t depth = (*out)->depth;
    **out = *node;
    (*out)->depth = depth;
    (*out)->children = NULL;
    (*out)->child_count = 0;
    for (uint32_t c = 0; c < node->child_count; c++)
        RETURN_IF_ERROR(parse_child(parser, *out, node->children[c]));
    return parse_filter_argument(parser, *out, filtering->condition);
}

/* on = value; IS NULL for NULL. */
static enum status make_condition(struct parser *parser, struct sql_expression *on, const struct term *value,
                                  struct sql_expression **out)
{
    const bool null = value->expression->operation == SQL_NULL;
    return parse_node(parser, null ? SQL_IS_NULL : SQL_EQUAL, on->position, on,
                      null ? NULL : value->expression, out);
}

static enum status name_of(struct parser *parser, const struct term *value, const struct term *aggregate,
                           bool several, const char **name)
{
    const size_t bytes = strlen(value->name) + strlen(aggregate->name) + 2;
    *name = value->name;
    if (!several && !aggregate->named)
        return STATUS_OK;
    char *const text = parse_memory(parser, bytes);
    if (!text)
        return error_out_of_memory(parser->error, bytes, "a statement");
    snprintf(text, bytes, "%s_%s", value->name, aggregate->name);
    *name = text;
    return STATUS_OK;
}

static enum status add_column(struct parser *parser, struct sql_expression *on, const struct term *value,
                              const struct term *aggregate, bool several)
{
    struct sql_select *const select = parser->select;
    struct filtering filtering = {.parser = parser};
    struct sql_item item = {0};
    RETURN_IF_ERROR(make_condition(parser, on, value, &filtering.condition));
    RETURN_IF_ERROR(sql_tree_rewrite(parser->tree, aggregate->expression, filter_aggregate, &filtering,
                                     &item.expression, parser->error));
    if (!filtering.any)
        return parse_refuse(parser, "USING of PIVOT takes aggregates, and %.100s is none", aggregate->name);
    RETURN_IF_ERROR(name_of(parser, value, aggregate, several, &item.alias));
    item.text = item.alias;
    return parse_append(parser, &select->items, &select->item_count, sizeof item, &item);
}

/* ---- The whole ---- */

bool parse_is_pivot(const struct parser *parser)
{
    struct error error; /* of a token, which is told when it is reached */
    struct parser next = *parser;
    next.error = &error;
    if (!parse_is(parser, "PIVOT") || parse_advance(&next) != STATUS_OK)
        return false;
    const bool open = parse_is(&next, "("), named = parse_is_name(&next);
    if (parse_advance(&next) != STATUS_OK)
        return false;
    return (open && parse_is_query(&next)) || (named && parse_is(&next, "ON"));
}

enum status parse_pivot(struct parser *parser)
{
    struct sql_expression *on;
    struct terms values = {0}, aggregates = {0};
    const char *source = "";
    bool group;
    RETURN_IF_ERROR(parse_advance(parser)); /* PIVOT */
    const char *const begin = parser->token.text;
    RETURN_IF_ERROR(parse_from(parser));
    RETURN_IF_ERROR(text_since(parser, begin, &source));
    RETURN_IF_ERROR(parse_expect(parser, "ON", "behind the table of PIVOT"));
    RETURN_IF_ERROR(parse_on(parser, source, &on, &values));
    if (parse_is(parser, ","))
        return parse_refuse(parser, "PIVOT takes one value behind ON; join several by ||");
    RETURN_IF_ERROR(parse_using_aggregates(parser, &aggregates));
    RETURN_IF_ERROR(parse_take(parser, "GROUP", &group));
    RETURN_IF_ERROR(group ? parse_groups(parser) : group_by_others(parser, on, &aggregates));
    for (uint32_t v = 0; v < values.count; v++)
        for (uint32_t a = 0; a < aggregates.count; a++)
            RETURN_IF_ERROR(
                add_column(parser, on, &values.list[v], &aggregates.list[a], aggregates.count > 1));
    return STATUS_OK;
}
