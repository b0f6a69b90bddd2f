/*
 * parse_query.c: parses what makes several query blocks of one statement (ast.h): WITH, subqueries, UNION and the like.
 */
#include "engine/sql/parse_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool parse_is_query(const struct parser *parser)
{
    return parse_is(parser, "SELECT") || parse_is(parser, "WITH") || parse_is(parser, "VALUES") ||
           parse_is(parser, "FROM") || parse_is_summary(parser) || parse_is_pivot(parser);
}

bool parse_begins_query(const struct parser *parser)
{
    return parse_is_query(parser) || parse_is(parser, "(") || parse_is(parser, "SUMMARIZE") ||
           parse_is(parser, "PIVOT");
}

enum status parse_column_names(struct parser *parser, uint32_t *count, const char ***names)
{
    bool more;
    RETURN_IF_ERROR(parse_take(parser, "(", &more));
    if (!more)
        return STATUS_OK;
    while (more) {
        const char *name;
        RETURN_IF_ERROR(parse_name(parser, "a column's name", &name));
        RETURN_IF_ERROR(parse_append(parser, names, count, sizeof name, &name));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, ")", "behind the names of columns");
}

/* ---- WITH ---- */

/* The queries of WITH; *text, which begins there, is seen by what comes after the first of them. */
static enum status parse_withs(struct parser *parser, struct parser_with *text)
{
    bool more = true, recursive;
    RETURN_IF_ERROR(parse_take(parser, "RECURSIVE", &recursive));
    while (more) {
        struct sql_with with = {.position = parse_position(parser), .recursive = recursive};
        RETURN_IF_ERROR(parse_name(parser, "a name", &with.name));
        RETURN_IF_ERROR(parse_column_names(parser, &with.column_count, &with.columns));
        RETURN_IF_ERROR(parse_expect(parser, "AS", "behind the name of WITH"));
        RETURN_IF_ERROR(parse_expect(parser, "(", "behind AS"));
        RETURN_IF_ERROR(parse_subquery(parser, &with.query));
        struct sql_select *const select = parser->select;
        RETURN_IF_ERROR(parse_append(parser, &select->withs, &select->with_count, sizeof with, &with));
        text->end = parser->before_end;
        parser->withs = text;
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}

/* ---- UNION, EXCEPT, INTERSECT ---- */

static bool find_set(const struct parser *parser, enum sql_set *set)
{
    static const char *const words[] = {"UNION", "EXCEPT", "INTERSECT"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (parse_is(parser, words[i])) {
            *set = (enum sql_set)i;
            return true;
        }
    return false;
}

/* One row of VALUES is a SELECT without FROM, whose columns are column1, column2, ... */
static enum status parse_row(struct parser *parser, struct sql_part *row)
{
    bool more = true;
    row->position = parse_position(parser);
    row->select = parse_memory(parser, sizeof *row->select);
    if (!row->select)
        return error_out_of_memory(parser->error, sizeof *row->select, "a statement");
    row->select->position = row->position;
    RETURN_IF_ERROR(parse_expect(parser, "(", "before a row of VALUES"));
    while (more) {
        struct sql_item item = {0};
        char *const name = parse_memory(parser, 24);
        if (!name)
            return error_out_of_memory(parser->error, 24, "a statement");
        snprintf(name, 24, "column%u", row->select->item_count + 1);
        item.alias = item.text = name;
        RETURN_IF_ERROR(parse_expression(parser, &item.expression));
        RETURN_IF_ERROR(
            parse_append(parser, &row->select->items, &row->select->item_count, sizeof item, &item));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, ")", "behind a row of VALUES");
}

/* VALUES (...), (...) is the UNION ALL of its rows. */
static enum status parse_values(struct parser *parser, struct sql_part *part)
{
    bool more = true;
    part->select = parse_memory(parser, sizeof *part->select);
    if (!part->select)
        return error_out_of_memory(parser->error, sizeof *part->select, "a statement");
    part->select->position = part->position;
    while (more) {
        struct sql_part row = {.set = SQL_SET_UNION, .all = true};
        RETURN_IF_ERROR(parse_row(parser, &row));
        RETURN_IF_ERROR(
            parse_append(parser, &part->select->parts, &part->select->part_count, sizeof row, &row));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}

/* One part: SELECT ... up to HAVING, or a query in parentheses. */
static enum status parse_part(struct parser *parser, struct sql_part *part)
{
    struct sql_select *const outer = parser->select;
    bool taken;
    part->position = parse_position(parser);
    RETURN_IF_ERROR(parse_take(parser, "(", &taken));
    if (taken)
        return parse_subquery(parser, &part->select);
    RETURN_IF_ERROR(parse_take(parser, "VALUES", &taken));
    if (taken)
        return parse_values(parser, part);
    part->select = parse_memory(parser, sizeof *part->select);
    if (!part->select)
        return error_out_of_memory(parser->error, sizeof *part->select, "a statement");
    part->select->position = parse_position(parser);
    parser->select = part->select;
    const enum status status = parse_select(parser);
    parser->select = outer;
    return status;
}

/* A single part that is no query in parentheses is the statement itself. */
static void take_only_part(struct sql_select *select, const struct sql_select *part)
{
    const struct sql_select whole = *select;
    *select = *part;
    select->explain = whole.explain;
    select->explain_json = whole.explain_json;
    select->timed = whole.timed;
    select->parameter_count = whole.parameter_count;
    select->with_count = whole.with_count;
    select->withs = whole.withs;
}

/* DISTINCT ON of one of several parts, which has no ORDER BY. */
static enum status parse_first_of_part(struct parser *parser, struct sql_select *part)
{
    struct sql_select *const outer = parser->select;
    parser->select = part;
    const enum status status = parse_first_of(parser);
    parser->select = outer;
    return status;
}

static enum status parse_parts(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    struct sql_part part = {0};
    const bool parentheses = parse_is(parser, "(");
    bool distinct;
    RETURN_IF_ERROR(parse_part(parser, &part));
    if (!parentheses && !find_set(parser, &part.set)) {
        take_only_part(select, part.select);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(parse_first_of_part(parser, part.select));
    RETURN_IF_ERROR(parse_append(parser, &select->parts, &select->part_count, sizeof part, &part));
    while (find_set(parser, &part.set)) {
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_take(parser, "ALL", &part.all));
        if (!part.all)
            RETURN_IF_ERROR(parse_take(parser, "DISTINCT", &distinct));
        RETURN_IF_ERROR(parse_part(parser, &part));
        RETURN_IF_ERROR(parse_first_of_part(parser, part.select));
        RETURN_IF_ERROR(parse_append(parser, &select->parts, &select->part_count, sizeof part, &part));
    }
    return STATUS_OK;
}

/* ---- Queries ---- */

static enum status parse_whole(struct parser *parser)
{
    struct parser_with text = {.begin = parser->token.text, .outer = parser->withs};
    bool with;
    parser->select->position = parse_position(parser);
    RETURN_IF_ERROR(parse_take(parser, "WITH", &with));
    if (with)
        RETURN_IF_ERROR(parse_withs(parser, &text));
    if (parse_is(parser, "SUMMARIZE"))
        return parse_summary(parser);
    const bool pivot = parse_is(parser, "PIVOT");
    RETURN_IF_ERROR(pivot ? parse_pivot(parser) : parse_parts(parser));
    return parse_order_and_limit(parser);
}

enum status parse_query(struct parser *parser, struct sql_select *select)
{
    struct sql_select *const outer = parser->select;
    const struct parser_with *const withs = parser->withs;
    if (parser->blocks == SQL_BLOCKS_MAX)
        return parse_refuse(parser, "queries are nested more than %u deep; use WITH, one after the other",
                            SQL_BLOCKS_MAX);
    parser->blocks++;
    parser->select = select;
    const enum status status = parse_whole(parser);
    parser->select = outer;
    parser->withs = withs;
    parser->blocks--;
    return status;
}

enum status parse_subquery(struct parser *parser, struct sql_select **select)
{
    *select = parse_memory(parser, sizeof **select);
    if (!*select)
        return error_out_of_memory(parser->error, sizeof **select, "a statement");
    RETURN_IF_ERROR(parse_query(parser, *select));
    return parse_expect(parser, ")", "behind a query");
}
