/* parse_change.c: see change.h. */
#include "engine/sql/change/change.h"

#include "engine/sql/parse_internal.h"
#include "engine/sql/sql_error.h"

#include <stdlib.h>
#include <string.h>

/* The statement that is being parsed. */
struct change_parser {
    struct parser parser;
    struct sql_change *change;
    const char *begin; /* of the text */
    struct sql_token first;
};

/* ---- Statements that there are not ---- */

#define ROWS_STAY                                                                                            \
    "rows are not changed where they are: DELETE them and INSERT the new ones, or do both by INSERT INTO a " \
    "table REPLACE WHERE condition SELECT ..."

static const struct {
    const char *word, *instead;
} refused[] = {{"UPDATE", ROWS_STAY},
               {"MERGE", ROWS_STAY},
               {"REPLACE", ROWS_STAY},
               {"TRUNCATE", "DELETE FROM a table without WHERE deletes all of its rows"},
               {"ALTER", "a table keeps its columns; CREATE TABLE ... AS SELECT makes another one"},
               {"BEGIN", "there are no transactions: each statement is one commit, all or nothing"},
               {"START", "there are no transactions: each statement is one commit, all or nothing"},
               {"COMMIT", "there are no transactions: each statement is one commit, all or nothing"},
               {"ROLLBACK", "there are no transactions: each statement is one commit, all or nothing"}};
#define REFUSED (sizeof refused / sizeof *refused)

enum status sql_change_refuse(struct error *error, struct sql_position position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(error, position, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- The text inside ---- */

/* Keeps the text from the current token to `end`, after blanks for all that is before it. */
static enum status keep_text(struct change_parser *at, const char *end)
{
    const size_t before = (size_t)(at->parser.token.text - at->begin),
                 bytes = (size_t)(end - at->parser.token.text);
    char *const copy = parse_memory(&at->parser, before + bytes + 1);
    if (!copy)
        return error_out_of_memory(at->parser.error, before + bytes, "a statement");
    for (size_t i = 0; i < before; i++)
        copy[i] = at->begin[i] == '\n' ? '\n' : ' ';
    memcpy(copy + before, at->parser.token.text, bytes);
    if (memchr(copy, '\0', before + bytes))
        return parse_refuse(&at->parser, "there is a zero byte in the text");
    at->change->text = copy;
    at->change->part = copy + before;
    at->change->part_position = parse_position(&at->parser);
    return STATUS_OK;
}

/* Moves on in the text inside, and counts its parameters. */
static enum status pass(struct change_parser *at, struct parser *ahead)
{
    at->change->parameter_count += parse_is(ahead, "?");
    return parse_advance(ahead);
}

/* Takes all tokens up to the statement's end as text; `what` is for the error that there are none. */
static enum status take_rest(struct change_parser *at, const char *what)
{
    struct parser ahead = at->parser;
    if (parse_is(&ahead, ";") || ahead.token.kind == TOKEN_END)
        return parse_refuse(&ahead, "the statement ends where %s should stand", what);
    while (!parse_is(&ahead, ";") && ahead.token.kind != TOKEN_END)
        RETURN_IF_ERROR(pass(at, &ahead));
    RETURN_IF_ERROR(keep_text(at, ahead.before_end));
    at->parser.token = ahead.token;
    at->parser.tokens = ahead.tokens;
    return STATUS_OK;
}

/* Takes the text up to the parenthesis that closes the one before the current token, and that one. */
static enum status take_parentheses(struct change_parser *at)
{
    struct parser ahead = at->parser;
    for (uint32_t depth = 0; depth || !parse_is(&ahead, ")");) {
        if (ahead.token.kind == TOKEN_END)
            return parse_refuse(&ahead, "the statement ends where ) should stand behind the query");
        depth += parse_is(&ahead, "(");
        depth -= parse_is(&ahead, ")");
        RETURN_IF_ERROR(pass(at, &ahead));
    }
    if (!parse_begins_query(&at->parser))
        return parse_refuse(&at->parser, "a query should stand here: SELECT, WITH or VALUES");
    RETURN_IF_ERROR(keep_text(at, ahead.token.text));
    at->parser.token = ahead.token;
    at->parser.tokens = ahead.tokens;
    return parse_advance(&at->parser);
}

/* ---- Names ---- */

static enum status parse_table(struct change_parser *at)
{
    return parse_table_name(&at->parser, &at->change->table_position, &at->change->table);
}

/* (a, b): names alone, of INSERT and CREATE ... AS. */
static enum status parse_columns(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    bool more;
    RETURN_IF_ERROR(parse_take(parser, "(", &more));
    if (!more)
        return STATUS_OK;
    while (more) {
        struct sql_shared column = {.position = parse_position(parser)};
        RETURN_IF_ERROR(parse_name(parser, "a column's name", &column.name));
        RETURN_IF_ERROR(
            parse_append(parser, &at->change->columns, &at->change->column_count, sizeof column, &column));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, ")", "behind the names of columns");
}

/* ---- COPY ---- */

/* What stands for an option's value: a word, a number or a string; nothing before a comma or the end. */
static enum status parse_option(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    struct sql_copy_option option = {.position = parse_position(parser)};
    bool taken;
    if (parser->token.kind != TOKEN_WORD)
        return parse_refuse(parser, "an option of COPY should stand here, as in (FORMAT csv, HEADER)");
    RETURN_IF_ERROR(parse_text(parser, true, &option.name));
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_take(parser, "=", &taken));
    if (parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_NUMBER ||
        parser->token.kind == TOKEN_STRING) {
        RETURN_IF_ERROR(parse_text(parser, false, &option.value));
        RETURN_IF_ERROR(parse_advance(parser));
    }
    return parse_append(parser, &at->change->options, &at->change->option_count, sizeof option, &option);
}

static enum status parse_options(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    bool more;
    RETURN_IF_ERROR(parse_take(parser, "WITH", &more));
    RETURN_IF_ERROR(parse_take(parser, "(", &more));
    if (!more)
        return STATUS_OK;
    while (more) {
        RETURN_IF_ERROR(parse_option(at));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, ")", "behind the options of COPY");
}

static enum status parse_copy(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    bool query;
    at->change->kind = SQL_CHANGE_COPY;
    RETURN_IF_ERROR(parse_take(parser, "(", &query));
    if (query) {
        RETURN_IF_ERROR(take_parentheses(at));
    } else {
        RETURN_IF_ERROR(parse_table(at));
        RETURN_IF_ERROR(parse_columns(at));
    }
    if (parse_is(parser, "FROM"))
        return parse_refuse(parser, "COPY writes files; `tessera load --append` adds a file's rows to a "
                                    "table, and so does INSERT INTO a table SELECT * FROM 'file'");
    RETURN_IF_ERROR(parse_expect(parser, "TO", "in COPY, before the file's name"));
    if (parser->token.kind != TOKEN_STRING)
        return parse_refuse(parser, "the file's name should stand here, in single quotes: TO 'answer.csv'");
    at->change->file_position = parse_position(parser);
    RETURN_IF_ERROR(parse_text(parser, false, &at->change->file));
    RETURN_IF_ERROR(parse_advance(parser));
    return parse_options(at);
}

/* ---- DELETE, INSERT, CREATE ---- */

static enum status parse_delete(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    bool where;
    at->change->kind = SQL_CHANGE_DELETE;
    RETURN_IF_ERROR(parse_expect(parser, "FROM", "behind DELETE"));
    RETURN_IF_ERROR(parse_table(at));
    RETURN_IF_ERROR(parse_take(parser, "WHERE", &where));
    if (!where && !parse_is(parser, ";") && parser->token.kind != TOKEN_END)
        return parse_refuse(parser,
                            "WHERE or the statement's end should stand here; the table has no other name "
                            "in DELETE, and subqueries in WHERE may ask other tables");
    return where ? take_rest(at, "a condition") : STATUS_OK;
}

static enum status take_query(struct change_parser *at)
{
    if (parse_begins_query(&at->parser))
        return take_rest(at, "a query");
    return parse_refuse(&at->parser, "a query should stand here: SELECT, WITH or VALUES");
}

/* REPLACE WHERE condition, which ends where the query begins. */
static enum status parse_replaced(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    struct sql_change_part *const part = &at->change->replaced;
    struct sql_select select = {0};
    struct sql_expression *condition;
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "REPLACE", &taken));
    if (!taken)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_expect(parser, "WHERE", "behind REPLACE: REPLACE WHERE day = DATE '2024-05-01'"));
    struct parser ahead = *parser;
    ahead.select = &select;
    RETURN_IF_ERROR(parse_expression(&ahead, &condition));
    const size_t bytes = (size_t)(ahead.before_end - parser->token.text);
    char *const copy = parse_memory(parser, bytes + 1);
    if (!copy)
        return error_out_of_memory(parser->error, bytes, "a statement");
    memcpy(copy, parser->token.text, bytes);
    *part = (struct sql_change_part){.text = copy, .position = parse_position(parser)};
    const uint32_t before = at->change->parameter_count;
    while (parser->tokens.at < ahead.tokens.at)
        RETURN_IF_ERROR(pass(at, parser));
    part->parameter_count = at->change->parameter_count - before;
    return STATUS_OK;
}

static enum status parse_insert(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    at->change->kind = SQL_CHANGE_INSERT;
    if (parse_is(parser, "OR"))
        return parse_refuse(parser, "a row whose key exists is an error; INSERT INTO a table REPLACE WHERE "
                                    "condition deletes the old rows");
    RETURN_IF_ERROR(parse_expect(parser, "INTO", "behind INSERT"));
    RETURN_IF_ERROR(parse_table(at));
    RETURN_IF_ERROR(parse_take(parser, "BY", &at->change->by_name));
    if (at->change->by_name)
        RETURN_IF_ERROR(parse_expect(parser, "NAME", "behind BY"));
    else
        RETURN_IF_ERROR(parse_columns(at));
    RETURN_IF_ERROR(parse_replaced(at));
    return take_query(at);
}

/* True if names alone stand in these parentheses, so that AS may follow: CREATE TABLE t (a, b) AS ... */
static enum status has_names_alone(const struct parser *parser, bool *alone)
{
    struct parser ahead = *parser;
    do {
        RETURN_IF_ERROR(parse_advance(&ahead));
        if (!parse_is_name(&ahead))
            break;
        RETURN_IF_ERROR(parse_advance(&ahead));
    } while (parse_is(&ahead, ","));
    *alone = parse_is(&ahead, ")");
    return STATUS_OK;
}

/* Takes the statement from its first token on. */
static enum status take_whole(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    while (!parse_is(parser, ";") && parser->token.kind != TOKEN_END)
        RETURN_IF_ERROR(parse_advance(parser));
    const struct sql_token end = parser->token;
    const char *const text_end = parser->before_end;
    parser->token = at->first;
    const enum status status = keep_text(at, text_end);
    parser->token = end;
    return status;
}

/* IF NOT EXISTS */
static enum status parse_if_missing(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    if (parse_is(parser, "IF") && at->change->replaces)
        return parse_refuse(parser, "OR REPLACE and IF NOT EXISTS exclude each other; write one of them");
    RETURN_IF_ERROR(parse_take(parser, "IF", &at->change->if_missing));
    if (!at->change->if_missing)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_expect(parser, "NOT", "behind IF"));
    return parse_expect(parser, "EXISTS", "behind NOT");
}

static enum status parse_view(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    at->change->kind = SQL_CHANGE_VIEW;
    RETURN_IF_ERROR(parse_if_missing(at));
    RETURN_IF_ERROR(parse_table(at));
    RETURN_IF_ERROR(parse_columns(at));
    RETURN_IF_ERROR(parse_expect(parser, "AS", "behind the name of a view"));
    return take_query(at);
}

static enum status parse_drop(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    at->change->kind = SQL_CHANGE_DROP_VIEW;
    if (!parse_is(parser, "VIEW"))
        return parse_refuse(parser, "there is DROP VIEW alone; no statement removes a table, and CREATE OR "
                                    "REPLACE TABLE replaces one");
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_take(parser, "IF", &at->change->if_there));
    if (at->change->if_there)
        RETURN_IF_ERROR(parse_expect(parser, "EXISTS", "behind IF"));
    return parse_table(at);
}

static enum status parse_create(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    struct sql_change *const change = at->change;
    bool taken, alone = true;
    change->kind = SQL_CHANGE_CREATE;
    RETURN_IF_ERROR(parse_take(parser, "OR", &change->replaces));
    if (change->replaces)
        RETURN_IF_ERROR(parse_expect(parser, "REPLACE", "behind OR"));
    RETURN_IF_ERROR(parse_take(parser, "VIEW", &taken));
    if (taken)
        return parse_view(at);
    if (parse_is(parser, "INDEX"))
        return parse_refuse(parser, "there are CREATE TABLE and CREATE VIEW; `tessera index create` makes "
                                    "bitmap indexes");
    RETURN_IF_ERROR(parse_expect(parser, "TABLE", "behind CREATE"));
    RETURN_IF_ERROR(parse_if_missing(at));
    RETURN_IF_ERROR(parse_table(at));
    if (parse_is(parser, "("))
        RETURN_IF_ERROR(has_names_alone(parser, &alone));
    change->defines = !alone;
    if (change->defines)
        return take_whole(at);
    RETURN_IF_ERROR(parse_columns(at));
    RETURN_IF_ERROR(parse_take(parser, "AS", &taken));
    if (!taken)
        return parse_refuse(parser,
                            "AS and a query should stand here, or columns with their types before it");
    return take_query(at);
}

/* ---- SET ---- */

/* SET [SESSION] TimeZone = | TO 'zone', SET TIME ZONE 'zone'; DEFAULT is UTC. */
static enum status parse_set(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    bool taken, time;
    at->change->kind = SQL_CHANGE_ZONE;
    at->change->zone = "";
    RETURN_IF_ERROR(parse_take(parser, "SESSION", &taken));
    RETURN_IF_ERROR(parse_take(parser, "TIME", &time));
    if (time)
        RETURN_IF_ERROR(parse_expect(parser, "ZONE", "behind SET TIME"));
    if (!time && !parse_is(parser, "TIMEZONE"))
        return parse_refuse(parser, "SET knows TimeZone alone, as in SET TimeZone = 'Europe/Berlin'; other "
                                    "settings are options of the program and the library");
    if (!time)
        RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_take(parser, "=", &taken));
    if (!taken && !time)
        RETURN_IF_ERROR(parse_expect(parser, "TO", "behind SET TimeZone"));
    RETURN_IF_ERROR(parse_take(parser, "DEFAULT", &taken));
    if (taken)
        return STATUS_OK;
    if (parser->token.kind != TOKEN_STRING)
        return parse_refuse(parser, "a zone in quotes should stand here, such as 'Europe/Berlin'");
    at->change->part_position = parse_position(parser);
    RETURN_IF_ERROR(parse_text(parser, false, &at->change->zone));
    return parse_advance(parser);
}

/* ---- The statement ---- */

static const struct {
    const char *word;
    enum status (*parse)(struct change_parser *at);
} kinds[] = {{"COPY", parse_copy},     {"DELETE", parse_delete}, {"INSERT", parse_insert},
             {"CREATE", parse_create}, {"DROP", parse_drop},     {"SET", parse_set}};
#define KINDS (sizeof kinds / sizeof *kinds)

bool sql_change_begins(const struct sql_token *first)
{
    for (size_t i = 0; i < KINDS; i++)
        if (sql_token_is(first, kinds[i].word))
            return true;
    for (size_t i = 0; i < REFUSED; i++)
        if (sql_token_is(first, refused[i].word))
            return true;
    return false;
}

static enum status parse_kind(struct change_parser *at)
{
    struct parser *const parser = &at->parser;
    at->first = parser->token;
    at->change->position = parse_position(parser);
    for (size_t i = 0; i < REFUSED; i++)
        if (parse_is(parser, refused[i].word))
            return parse_refuse(parser, "%s", refused[i].instead);
    for (size_t i = 0; i < KINDS; i++) {
        bool taken;
        RETURN_IF_ERROR(parse_take(parser, kinds[i].word, &taken));
        if (taken)
            return kinds[i].parse(at);
    }
    return parse_refuse(parser, "a statement that writes should begin here: COPY, INSERT, DELETE or CREATE");
}

static enum status parse_all(struct change_parser *at, size_t *used)
{
    struct parser *const parser = &at->parser;
    RETURN_IF_ERROR(parse_advance(parser));
    while (parse_is(parser, ";"))
        RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_kind(at));
    if (!parse_is(parser, ";") && parser->token.kind != TOKEN_END)
        return parse_refuse(parser, "'%.*s' is not expected here", (int)parser->token.length,
                            parser->token.text);
    *used = parser->tokens.at;
    return STATUS_OK;
}

enum status sql_change_parse(const char *text, size_t length, struct sql_change *change, size_t *used,
                             struct error *error)
{
    *change = (struct sql_change){.arena = sql_tree_new()};
    struct change_parser at = {
        .parser = {.tree = change->arena, .error = error}, .change = change, .begin = text};
    if (!change->arena)
        return error_out_of_memory(error, 0, "a statement");
    sql_tokens_begin(&at.parser.tokens, text, length);
    const enum status status = parse_all(&at, used);
    if (status != STATUS_OK)
        sql_change_free(change);
    return status;
}

void sql_change_free(struct sql_change *change)
{
    sql_tree_free(change->arena);
    *change = (struct sql_change){.arena = NULL};
}
