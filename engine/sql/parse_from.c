/*
 * parse_from.c: parses FROM (ast.h): tables and subqueries, the joins between them, and joins in parentheses.
 *
 * Parentheses that begin an item of FROM, or stand around one table, say nothing that the order of the tables does not
 * say; they are left out. Others become a source of their own, a group, before those that it holds:
 *
 *     a LEFT JOIN (b JOIN c ON b.k = c.k) ON a.k = b.k        a, left group on a.k = b.k, (b, c on b.k = c.k)
 */
#include "engine/sql/functions/parse_words.h"
#include "engine/sql/parse_internal.h"
#include "storage/base/words/word.h"

#include <string.h>

/* How a source is joined to those before it, and in how many groups it stands. */
struct place {
    enum sql_join join;
    bool natural, nearest;
    uint32_t depth;
};

enum status parse_table_name(struct parser *parser, struct sql_position *position, const char **name)
{
    static const char *const schemas[] = {"main", "public"};
    *position = parse_position(parser);
    RETURN_IF_ERROR(parse_name(parser, "a table's name", name));
    for (size_t s = 0; s < sizeof schemas / sizeof *schemas; s++)
        if (parse_is(parser, ".") && word_compare(*name, schemas[s]) == 0) {
            RETURN_IF_ERROR(parse_advance(parser));
            *position = parse_position(parser);
            return parse_name(parser, "a table's name", name);
        }
    if (parse_is(parser, "."))
        return parse_refuse(
            parser, "schemas are main and public alone; a file is named in single quotes, FROM '%s.csv'",
            *name);
    return STATUS_OK;
}

/* LATERAL, unless a table has that name. */
static enum status parse_lateral(struct parser *parser, struct sql_source *source)
{
    struct parser next = *parser;
    struct error error; /* of the next token, which is told when it is reached */
    next.error = &error;
    if (!parse_is(parser, "LATERAL") || parse_advance(&next) != STATUS_OK || !parse_is(&next, "("))
        return STATUS_OK;
    source->lateral = true;
    return parse_advance(parser);
}

/* Whether ASOF begins a join here; it is a name elsewhere. */
static bool is_asof(const struct parser *parser)
{
    static const char *const words[] = {"JOIN", "LEFT", "INNER", "RIGHT", "FULL", "CROSS", "NATURAL"};
    struct parser next = *parser;
    struct error error; /* of the next token, which is told when it is reached */
    bool joins = false;
    next.error = &error;
    if (!parse_is(parser, "ASOF") || parse_advance(&next) != STATUS_OK)
        return false;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        joins |= parse_is(&next, words[w]);
    return joins;
}

/* [AS] alias [(columns)], of a subquery or a table. */
static enum status parse_alias(struct parser *parser, struct sql_source *source)
{
    bool as;
    RETURN_IF_ERROR(parse_take(parser, "AS", &as));
    if (as || (parse_is_name(parser) && !is_asof(parser)))
        RETURN_IF_ERROR(parse_name(parser, "an alias", &source->alias));
    if (source->alias && !as && parse_is(parser, "JOIN") &&
        (word_compare(source->alias, "semi") == 0 || word_compare(source->alias, "anti") == 0))
        return parse_refuse(parser, "%s JOIN is not supported; write WHERE [NOT] EXISTS (SELECT ...)",
                            source->alias);
    return source->alias ? parse_column_names(parser, &source->column_count, &source->columns) : STATUS_OK;
}

static enum status parse_condition(struct parser *parser, struct sql_source *source)
{
    if (source->natural && (parse_is(parser, "USING") || parse_is(parser, "ON")))
        return parse_refuse(parser,
                            "NATURAL JOIN has no ON and no USING: it takes the columns that both sides have");
    if (source->join > SQL_JOIN_CROSS && parse_is(parser, "USING"))
        return parse_using(parser, source);
    if (source->join <= SQL_JOIN_CROSS || !parse_is(parser, "ON"))
        return STATUS_OK;
    RETURN_IF_ERROR(parse_advance(parser));
    return parse_expression(parser, &source->on);
}

static enum status add_source(struct parser *parser, const struct sql_source *source)
{
    struct sql_select *const select = parser->select;
    return parse_append(parser, &select->sources, &select->source_count, sizeof *source, source);
}

/* True if a query that ends in a parenthesis may go on with this token. */
static bool goes_on(const struct parser *parser)
{
    static const char *const words[] = {")",     "UNION", "EXCEPT", "INTERSECT",
                                        "ORDER", "LIMIT", "OFFSET", "FETCH"};
    bool any = parser->token.kind == TOKEN_END;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        any |= parse_is(parser, words[w]);
    return any;
}

/* True if the parenthesis at the current token holds a query: ((SELECT 1) UNION SELECT 2); false if it holds tables:
 * ((SELECT 1) t JOIN u). Each parenthesis that begins it must itself be a query, which goes on after it. */
static bool holds_query(const struct parser *parser)
{
    struct parser next = *parser;
    struct error error; /* of a later token, which is told when it is reached */
    uint32_t depth = 0, leading;
    next.error = &error;
    while (parse_is(&next, "(")) {
        depth++;
        if (parse_advance(&next) != STATUS_OK)
            return true;
    }
    if (!parse_is_query(&next))
        return false;
    for (leading = depth; leading > 1 && next.token.kind != TOKEN_END;) {
        const bool opens = parse_is(&next, "("), closes = parse_is(&next, ")");
        depth = depth + opens - closes;
        if (parse_advance(&next) != STATUS_OK)
            return true;
        if (depth >= leading)
            continue;
        if (!goes_on(&next))
            return false;
        leading--;
    }
    return true;
}

/* Files are called as the last part of their name is, up to its first point: trips of 'data/trips.csv.gz'. */
static enum status name_file(struct parser *parser, struct sql_source *source)
{
    const char *const slash = strrchr(source->file, '/'), *const last = slash ? slash + 1 : source->file;
    const size_t length = strcspn(last, ".");
    char *const name = parse_memory(parser, strlen(source->file) + 1);
    if (!name)
        return error_out_of_memory(parser->error, strlen(source->file), "a statement");
    memcpy(name, length ? last : source->file, length ? length : strlen(source->file));
    source->alias = name;
    return STATUS_OK;
}

static enum status parse_file(struct parser *parser, struct sql_source *source)
{
    RETURN_IF_ERROR(parse_text(parser, false, &source->file));
    return parse_advance(parser);
}

/* read_parquet('file') and the like, as DuckDB has them, are the file: its kind is found by its bytes. */
static enum status parse_reader(struct parser *parser, struct sql_source *source)
{
    static const char *const readers[] = {"read_parquet",  "parquet_scan",     "read_csv",
                                          "read_csv_auto", "read_json",        "read_json_auto",
                                          "read_ndjson",   "read_ndjson_auto", "read_json_objects"};
    bool reads = false;
    if (!parse_is(parser, "("))
        return STATUS_OK;
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++)
        reads |= word_compare(source->table, readers[r]) == 0;
    if (!reads)
        return parse_refuse(
            parser,
            "FROM has tables, files and subqueries, and of functions read_parquet, read_csv and "
            "read_json alone, not %s(...); rows of numbers are made by WITH RECURSIVE or VALUES",
            source->table);
    RETURN_IF_ERROR(parse_advance(parser));
    if (parser->token.kind != TOKEN_STRING)
        return parse_refuse(
            parser, "%s takes the name of a file, of files by a pattern, or of a folder: FROM 'sales-*.csv'",
            source->table);
    RETURN_IF_ERROR(parse_file(parser, source));
    if (parse_is(parser, ","))
        return parse_refuse(
            parser,
            "%s has no options here: how a file is written is found in it; `tessera load` has "
            "options for those where it is not",
            source->table);
    source->table = NULL;
    return parse_expect(parser, ")", "behind a file's name");
}

static enum status parse_table(struct parser *parser, struct place place)
{
    struct sql_source source = {.join = place.join,
                                .natural = place.natural,
                                .nearest = place.nearest,
                                .depth = place.depth,
                                .position = parse_position(parser)};
    bool query;
    RETURN_IF_ERROR(parse_lateral(parser, &source));
    if (source.lateral && !holds_query(parser))
        return parse_refuse(parser, "LATERAL stands before a subquery in parentheses");
    RETURN_IF_ERROR(parse_take(parser, "(", &query));
    if (query)
        RETURN_IF_ERROR(parse_subquery(parser, &source.query));
    else if (parser->token.kind == TOKEN_STRING)
        RETURN_IF_ERROR(parse_file(parser, &source));
    else
        RETURN_IF_ERROR(parse_table_name(parser, &source.position, &source.table));
    if (source.table)
        RETURN_IF_ERROR(parse_reader(parser, &source));
    RETURN_IF_ERROR(parse_alias(parser, &source));
    if (source.file && !source.alias)
        RETURN_IF_ERROR(name_file(parser, &source));
    RETURN_IF_ERROR(parse_condition(parser, &source));
    return add_source(parser, &source);
}

/* [NATURAL] [INNER | LEFT | RIGHT | FULL | CROSS] JOIN; *taken: it is there. */
static enum status parse_kind(struct parser *parser, enum sql_join *join, bool *natural, bool *taken)
{
    static const struct {
        const char *word;
        enum sql_join join;
    } words[] = {{"CROSS", SQL_JOIN_CROSS},
                 {"LEFT", SQL_JOIN_LEFT},
                 {"RIGHT", SQL_JOIN_RIGHT},
                 {"FULL", SQL_JOIN_FULL},
                 {"INNER", SQL_JOIN_INNER}};
    bool outer;
    RETURN_IF_ERROR(parse_take(parser, "NATURAL", natural));
    *join = SQL_JOIN_INNER;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (!parse_is(parser, words[w].word))
            continue;
        *join = words[w].join;
        RETURN_IF_ERROR(parse_advance(parser));
        if (*join >= SQL_JOIN_LEFT)
            RETURN_IF_ERROR(parse_take(parser, "OUTER", &outer));
        *taken = true;
        return parse_expect(parser, "JOIN", "behind CROSS, INNER, LEFT, RIGHT or FULL");
    }
    if (!*natural)
        return parse_take(parser, "JOIN", taken);
    *taken = true;
    return parse_expect(parser, "JOIN", "behind NATURAL");
}

/* A join, and ASOF before it. */
static enum status parse_join(struct parser *parser, struct place *place, bool *taken)
{
    place->nearest = is_asof(parser);
    if (!place->nearest)
        return parse_kind(parser, &place->join, &place->natural, taken);
    RETURN_IF_ERROR(parse_advance(parser));
    const struct parser kind = *parser;
    RETURN_IF_ERROR(parse_kind(parser, &place->join, &place->natural, taken));
    return place->natural || (place->join != SQL_JOIN_INNER && place->join != SQL_JOIN_LEFT)
               ? parse_refuse(&kind, "there are ASOF JOIN and ASOF LEFT JOIN")
               : STATUS_OK;
}

/* ---- Parentheses ---- */

static enum status parse_joins(struct parser *parser, struct place first);

/* (a JOIN b) AS t is (SELECT * FROM a JOIN b) AS t: the sources from `first` on go into it. */
static enum status make_query(struct parser *parser, uint32_t first, uint32_t depth,
                              struct sql_source *source)
{
    struct sql_select *const outer = parser->select, *const inner = parse_memory(parser, sizeof *inner);
    struct sql_item item = {.text = "*"};
    if (!inner)
        return error_out_of_memory(parser->error, sizeof *inner, "a statement");
    inner->position = source->position;
    RETURN_IF_ERROR(parse_node(parser, SQL_STAR, source->position, NULL, NULL, &item.expression));
    RETURN_IF_ERROR(parse_append(parser, &inner->items, &inner->item_count, sizeof item, &item));
    for (uint32_t s = first; s < outer->source_count; s++) {
        struct sql_source moved = outer->sources[s];
        moved.depth -= depth;
        RETURN_IF_ERROR(parse_append(parser, &inner->sources, &inner->source_count, sizeof moved, &moved));
    }
    outer->source_count = first;
    source->query = inner;
    return STATUS_OK;
}

/* Tables in parentheses, and what follows these. */
static enum status parse_group(struct parser *parser, struct place place)
{
    struct sql_select *const select = parser->select;
    struct sql_source group = {.join = place.join,
                               .natural = place.natural,
                               .nearest = place.nearest,
                               .depth = place.depth,
                               .position = parse_position(parser),
                               .group = true};
    const uint32_t at = select->source_count, first = at + (place.join != SQL_JOIN_NONE);
    const struct place inside = {.depth = place.depth + (first - at)};
    if (first > at)
        RETURN_IF_ERROR(add_source(parser, &group));
    RETURN_IF_ERROR(parse_advance(parser)); /* the parenthesis */
    RETURN_IF_ERROR(parse_joins(parser, inside));
    if (parse_is(parser, ","))
        return parse_refuse(parser, "parentheses in FROM hold tables that JOIN joins; write CROSS JOIN for "
                                    "the comma");
    RETURN_IF_ERROR(parse_expect(parser, ")", "behind the tables in parentheses"));
    if (parse_is(parser, "AS") || parse_is_name(parser)) {
        RETURN_IF_ERROR(make_query(parser, first, inside.depth, &group));
        RETURN_IF_ERROR(parse_alias(parser, &group));
        group.group = false;
        select->source_count = at;
    } else if (first == at) {
        return STATUS_OK;
    } else if (select->source_count == first + 1) {
        group = select->sources[first];
        group.join = place.join;
        group.natural = place.natural;
        group.nearest = place.nearest;
        group.depth = place.depth;
        select->source_count = at;
    }
    RETURN_IF_ERROR(parse_condition(parser, &group));
    if (!group.group)
        return add_source(parser, &group);
    select->sources[at] = group;
    return STATUS_OK;
}

static enum status parse_source(struct parser *parser, struct place place)
{
    if (!parse_is(parser, "(") || holds_query(parser))
        return parse_table(parser, place);
    if (parser->blocks == SQL_BLOCKS_MAX)
        return parse_refuse(parser, "parentheses in FROM, and queries, are nested more than %u deep",
                            SQL_BLOCKS_MAX);
    parser->blocks++;
    const enum status status = parse_group(parser, place);
    parser->blocks--;
    return status;
}

/* ---- Items ---- */

/* A source, and those that JOIN joins to it. */
static enum status parse_joins(struct parser *parser, struct place place)
{
    bool taken = true;
    while (taken) {
        RETURN_IF_ERROR(parse_source(parser, place));
        RETURN_IF_ERROR(parse_join(parser, &place, &taken));
    }
    return STATUS_OK;
}

enum status parse_from(struct parser *parser)
{
    bool more = true;
    while (more) {
        RETURN_IF_ERROR(parse_joins(parser, (struct place){.join = SQL_JOIN_NONE}));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}
