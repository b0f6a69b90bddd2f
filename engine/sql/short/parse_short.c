/*
 * parse_short.c: what is written instead of a longer statement (ast.h), and what the binder writes out where it needs the
 * columns of FROM: EXCLUDE, REPLACE and RENAME after a star, a query that begins with FROM, ORDER BY ALL and SUMMARIZE.
 */
#include "engine/sql/parse_internal.h"

/* What the parser sees after its current token; that token itself, if the next one cannot be read. */
static struct parser ahead(const struct parser *parser, struct error *error)
{
    struct parser next = *parser;
    next.error = error; /* of a token, which is told when it is reached */
    if (parse_advance(&next) != STATUS_OK)
        next = *parser;
    return next;
}

/* ---- Stars ---- */

/* [table.]column */
static enum status parse_column(struct parser *parser, struct sql_star_change *change)
{
    bool dot;
    RETURN_IF_ERROR(parse_name(parser, "a column's name", &change->name));
    RETURN_IF_ERROR(parse_take(parser, ".", &dot));
    if (!dot)
        return STATUS_OK;
    change->qualifier = change->name;
    return parse_name(parser, "a column's name", &change->name);
}

static enum status parse_change(struct parser *parser, const char *word, struct sql_item *item)
{
    struct sql_star_change change = {.position = parse_position(parser)};
    if (word[2] == 'P') { /* REPLACE */
        RETURN_IF_ERROR(parse_expression(parser, &change.expression));
        RETURN_IF_ERROR(parse_expect(parser, "AS", "between REPLACE's value and its column"));
        change.position = parse_position(parser);
        RETURN_IF_ERROR(parse_name(parser, "a column's name", &change.name));
    } else {
        RETURN_IF_ERROR(parse_column(parser, &change));
    }
    if (word[2] == 'N') { /* RENAME */
        RETURN_IF_ERROR(parse_expect(parser, "AS", "between the two names of RENAME"));
        RETURN_IF_ERROR(parse_name(parser, "a name", &change.alias));
    }
    return parse_append(parser, &item->changes, &item->change_count, sizeof change, &change);
}

/* Changes in parentheses, or one without them. */
static enum status parse_changes(struct parser *parser, const char *word, struct sql_item *item)
{
    bool open, more = true;
    RETURN_IF_ERROR(parse_advance(parser)); /* the word */
    RETURN_IF_ERROR(parse_take(parser, "(", &open));
    while (more) {
        RETURN_IF_ERROR(parse_change(parser, word, item));
        more = false;
        if (open)
            RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return open ? parse_expect(parser, ")", "after the columns of a star") : STATUS_OK;
}

enum status parse_star_changes(struct parser *parser, struct sql_item *item)
{
    static const char *const words[] = {"EXCLUDE", "REPLACE", "RENAME"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        struct error error;
        const struct parser next = ahead(parser, &error);
        if (parse_is(parser, words[w]) && (parse_is(&next, "(") || parse_is_name(&next)))
            RETURN_IF_ERROR(parse_changes(parser, words[w], item));
    }
    return STATUS_OK;
}

/* ---- FROM first ---- */

/* SELECT *, where nothing is selected. */
static enum status add_star(struct parser *parser)
{
    struct sql_item item = {.text = "*"};
    struct sql_select *const select = parser->select;
    RETURN_IF_ERROR(parse_node(parser, SQL_STAR, select->position, NULL, NULL, &item.expression));
    return parse_append(parser, &select->items, &select->item_count, sizeof item, &item);
}

enum status parse_from_first(struct parser *parser)
{
    bool taken;
    RETURN_IF_ERROR(parse_advance(parser)); /* FROM */
    RETURN_IF_ERROR(parse_from(parser));
    RETURN_IF_ERROR(parse_take(parser, "SELECT", &taken));
    return taken ? parse_items(parser) : add_star(parser);
}

/* ---- ORDER BY ALL ---- */

bool parse_is_order_all(const struct parser *parser)
{
    static const char *const ends[] = {";", ")", "ASC", "DESC", "NULLS", "LIMIT", "OFFSET", "FETCH"};
    struct error error;
    const struct parser all = ahead(parser, &error), next = ahead(&all, &error);
    bool ended = next.token.kind == TOKEN_END;
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
        ended |= parse_is(&next, ends[e]);
    return parse_is(&all, "ALL") && ended;
}

/* ---- SUMMARIZE ---- */

bool parse_is_summary(const struct parser *parser)
{
    struct error error;
    const struct parser next = ahead(parser, &error), end = ahead(&next, &error);
    if (!parse_is(parser, "SUMMARIZE"))
        return false;
    return parse_is(&next, "SELECT") || parse_is(&next, "FROM") || parse_is(&next, "VALUES") ||
           ((parse_is_name(&next) || next.token.kind == TOKEN_STRING) && parse_is(&end, ")"));
}

enum status parse_summary(struct parser *parser)
{
    struct sql_select *const select = parser->select;
    struct error error;
    const struct parser next = ahead(parser, &error);
    select->position = parse_position(parser);
    select->summary = true;
    RETURN_IF_ERROR(parse_advance(parser)); /* SUMMARIZE */
    if (!parse_is_query(&next) && !parse_is(&next, "(")) {
        RETURN_IF_ERROR(parse_from(parser));
        return select->source_count == 1
                   ? STATUS_OK
                   : parse_refuse(parser, "SUMMARIZE takes one table, or a query: SUMMARIZE SELECT ...");
    }
    struct sql_source source = {.position = parse_position(parser)};
    source.query = parse_memory(parser, sizeof *source.query);
    if (!source.query)
        return error_out_of_memory(parser->error, sizeof *source.query, "a statement");
    RETURN_IF_ERROR(parse_query(parser, source.query));
    return parse_append(parser, &select->sources, &select->source_count, sizeof source, &source);
}
