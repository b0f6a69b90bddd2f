/* schema_statement.c: the statements of a schema script (schema_parser.h): CREATE TABLE, ALTER TABLE, CREATE TYPE and
 * unique indexes are read; those that change no rows that a load reads are skipped. An error in one clause is kept, and
 * the rest of the script is read, so that all errors are told at once. */
#define _GNU_SOURCE /* memmem */
#include "loader/schema/schema_parser.h"

#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_any(const struct schema_parser *parser, const char *const *words)
{
    while (*words && !schema_is(parser, *words))
        words++;
    return *words != NULL;
}

/* ---- CREATE TABLE ---- */

static enum status take_column(struct schema_parser *parser, struct schema_table *table)
{
    struct column_schema column = {.type = TYPE_STRING, .nullable = true};
    if (table->column_count == SCHEMA_COLUMNS_MAX)
        return schema_complain(parser, "the table has more than 1024 columns");
    const struct schema_place place = schema_here(parser);
    RETURN_IF_ERROR(schema_take_name(parser, "a column's name", column.name));
    if (schema_column_named(table, column.name))
        return schema_complain_at(parser, &place, "the table has two columns '%s'");
    const enum status status = schema_take_type(parser, &column);
    table->columns[table->column_count++] = column; /* also without a type, so that constraints find it */
    RETURN_IF_ERROR(status);
    return schema_take_column_constraints(parser, table, &table->columns[table->column_count - 1]);
}

static enum status take_item(struct schema_parser *parser, struct schema_table *table)
{
    bool constraint;
    RETURN_IF_ERROR(schema_at_table_constraint(parser, &constraint));
    return constraint ? schema_take_table_constraint(parser, table) : take_column(parser, table);
}

/* Takes the columns and constraints after the table's "(". After an error it goes on with the next one. */
static enum status take_items(struct schema_parser *parser, struct schema_table *table)
{
    for (bool more = true; more;) {
        const struct sql_tokens begin = parser->before;
        const enum status status = take_item(parser, table);
        if (status != STATUS_OK) {
            RETURN_IF_ERROR(schema_error_keep(parser, status));
            parser->tokens = begin;
            RETURN_IF_ERROR(schema_skip_to(parser, ",);", NULL));
            if (parser->token.kind == TOKEN_END)
                return STATUS_OK; /* the error may be that a quote does not end */
        }
        RETURN_IF_ERROR(schema_take(parser, ",", &more));
    }
    return schema_expect(parser, ")");
}

/* Skips what follows a table's columns: WITHOUT ROWID, ENGINE=InnoDB, PARTITION BY RANGE (...). */
static enum status skip_options(struct schema_parser *parser)
{
    static const char *const create[] = {"CREATE", NULL};
    if (schema_is(parser, "CREATE"))
        return schema_expect(parser, ";");
    if (schema_is(parser, "AS") || schema_is(parser, "INHERITS"))
        return schema_complain_of(parser, "'%s' takes columns from elsewhere; list them here");
    if (!schema_is(parser, ";") && parser->token.kind != TOKEN_END)
        RETURN_IF_ERROR(schema_skip_to(parser, ";", create));
    return schema_is(parser, "CREATE") ? schema_expect(parser, ";") : STATUS_OK;
}

static enum status create_table(struct schema_parser *parser)
{
    bool taken;
    struct schema_script *const schema = parser->schema;
    RETURN_IF_ERROR(schema_take(parser, "IF", &taken));
    if (taken) {
        RETURN_IF_ERROR(schema_expect(parser, "NOT"));
        RETURN_IF_ERROR(schema_expect(parser, "EXISTS"));
    }
    if (schema->table_count == SCHEMA_TABLES_MAX)
        return schema_complain(parser, "the script has more than 256 tables");
    struct schema_table *const table = &schema->tables[schema->table_count];
    *table = (struct schema_table){.line = parser->token.line};
    const struct schema_place place = schema_here(parser);
    RETURN_IF_ERROR(schema_take_qualified(parser, "a table's name", table->name));
    if (schema_table(schema, table->name))
        return schema_complain_at(parser, &place, "the script has two tables '%s'");
    if (!schema_is(parser, "("))
        return schema_is(parser, "AS") || schema_is(parser, "PARTITION")
                   ? schema_complain_of(parser, "'%s' takes the columns from elsewhere; list them: CREATE "
                                                "TABLE name (column type, ...)")
                   : schema_expect(parser, "(");
    table->columns = calloc(SCHEMA_COLUMNS_MAX, sizeof *table->columns);
    table->unique = calloc(SCHEMA_COLUMNS_MAX, sizeof *table->unique);
    table->tuples = calloc(SCHEMA_TUPLES_MAX, sizeof *table->tuples);
    if (!table->columns || !table->unique || !table->tuples)
        return error_out_of_memory(&parser->error, SCHEMA_COLUMNS_MAX * sizeof *table->columns, "a schema");
    schema->table_count++;
    RETURN_IF_ERROR(schema_advance(parser));
    RETURN_IF_ERROR(take_items(parser, table));
    if (table->column_count == 0)
        return schema_complain(parser, "the table has no column");
    return skip_options(parser);
}

/* ---- ALTER TABLE ---- */

/* Takes one action of ALTER TABLE, or skips it. */
static enum status alter_action(struct schema_parser *parser, struct schema_table *table)
{
    static const char *const changes[] = {"DROP", "RENAME", "MODIFY", "CHANGE", NULL};
    bool taken, constraint;
    if (is_any(parser, changes))
        return schema_complain_of(parser,
                                  "'%s' changes a table that the script created; create it as it shall be");
    RETURN_IF_ERROR(schema_take(parser, "ADD", &taken));
    if (taken) {
        RETURN_IF_ERROR(schema_take(parser, "COLUMN", &taken));
        RETURN_IF_ERROR(schema_at_table_constraint(parser, &constraint));
        return constraint && !taken ? schema_take_table_constraint(parser, table)
                                    : take_column(parser, table);
    }
    RETURN_IF_ERROR(schema_take(parser, "ALTER", &taken));
    if (taken) { /* ALTER COLUMN c SET NOT NULL; SET DEFAULT and the like are skipped */
        char name[NAME_BYTES];
        bool set = false, not = false;
        RETURN_IF_ERROR(schema_take(parser, "COLUMN", &taken));
        const struct schema_place place = schema_here(parser);
        RETURN_IF_ERROR(schema_take_name(parser, "a column's name", name));
        struct column_schema *const column = schema_column_named(table, name);
        if (!column)
            return schema_complain_at(parser, &place, "the table has no column '%s'");
        RETURN_IF_ERROR(schema_take(parser, "SET", &set));
        if (set)
            RETURN_IF_ERROR(schema_take(parser, "NOT", &not ));
        if (not )
            column->nullable = false;
    }
    return schema_is(parser, ",") || schema_is(parser, ";") || parser->token.kind == TOKEN_END
               ? STATUS_OK
               : schema_skip_to(parser, ",;", NULL);
}

/* ALTER TABLE [ONLY] [IF EXISTS] name action, ... Owners are also set for sequences and views, of which there are no
 * tables. */
static enum status alter_table(struct schema_parser *parser)
{
    static const char *const skipped[] = {"OWNER",   "ENABLE", "DISABLE", "ATTACH", "CLUSTER",
                                          "REPLICA", "SET",    "FORCE",   NULL};
    char name[NAME_BYTES];
    bool taken;
    RETURN_IF_ERROR(schema_take(parser, "ONLY", &taken));
    RETURN_IF_ERROR(schema_take(parser, "IF", &taken));
    if (taken)
        RETURN_IF_ERROR(schema_expect(parser, "EXISTS"));
    RETURN_IF_ERROR(schema_take(parser, "ONLY", &taken));
    const struct schema_place place = schema_here(parser);
    RETURN_IF_ERROR(schema_take_qualified(parser, "a table's name", name));
    if (is_any(parser, skipped))
        return schema_skip_to(parser, ";", NULL);
    struct schema_table *const table = schema_own_table(parser, name);
    if (!table)
        return schema_complain_at(parser, &place, "no table '%s' was created before");
    for (bool more = true; more;) {
        RETURN_IF_ERROR(alter_action(parser, table));
        RETURN_IF_ERROR(schema_take(parser, ",", &more));
    }
    return STATUS_OK;
}

/* ---- Other statements ---- */

/* CREATE UNIQUE INDEX name ON [ONLY] table [USING method] (columns). One on expressions or with WHERE is skipped. */
static enum status create_unique_index(struct schema_parser *parser)
{
    static const char *const on[] = {"ON", NULL};
    char name[NAME_BYTES];
    bool taken;
    if (!schema_is(parser, "ON"))
        RETURN_IF_ERROR(schema_skip_to(parser, ";", on));
    RETURN_IF_ERROR(schema_take(parser, "ON", &taken));
    if (!taken)
        return schema_skip_to(parser, ";", NULL);
    RETURN_IF_ERROR(schema_take(parser, "ONLY", &taken));
    RETURN_IF_ERROR(schema_take_qualified(parser, "a table's name", name));
    RETURN_IF_ERROR(schema_take(parser, "USING", &taken));
    if (taken)
        RETURN_IF_ERROR(schema_advance(parser));
    struct schema_table *const table = schema_own_table(parser, name);
    const struct schema_place list = schema_here(parser);
    RETURN_IF_ERROR(schema_is(parser, "(") ? schema_skip_brackets(parser)
                                           : schema_skip_to(parser, ";", NULL));
    const bool whole = schema_is(parser, ";") || parser->token.kind == TOKEN_END;
    const struct schema_place end = schema_here(parser);
    if (table && whole) {
        const struct error before = parser->error;
        schema_go_back(parser, &list);
        const enum status status = schema_take_unique(parser, table);
        schema_go_back(parser, &end);
        parser->error = status == STATUS_BAD_INPUT ? before : parser->error; /* an expression */
        return status == STATUS_BAD_INPUT ? STATUS_OK : status;
    }
    return whole ? STATUS_OK : schema_skip_to(parser, ";", NULL);
}

/* Skips CREATE TRIGGER, which in SQLite has statements of its own up to END. */
static enum status skip_trigger(struct schema_parser *parser)
{
    static const char *const begin[] = {"BEGIN", NULL};
    RETURN_IF_ERROR(schema_skip_to(parser, ";", begin));
    while (!schema_is(parser, ";") && !schema_is(parser, "END") && parser->token.kind != TOKEN_END) {
        RETURN_IF_ERROR(schema_skip_to(parser, ";", NULL));
        RETURN_IF_ERROR(schema_advance(parser)); /* the next statement's first word, or END */
    }
    return schema_is(parser, "END") ? schema_advance(parser) : STATUS_OK;
}

static enum status take_create(struct schema_parser *parser)
{
    static const char *const modifiers[] = {"OR",      "REPLACE",      "TEMP",   "TEMPORARY",
                                            "GLOBAL",  "LOCAL",        "COLUMN", "UNLOGGED",
                                            "FOREIGN", "MATERIALIZED", NULL};
    static const char *const without_rows[] = {
        "INDEX",  "SEQUENCE",   "SCHEMA",      "EXTENSION", "FUNCTION",  "AGGREGATE", "PROCEDURE", "DATABASE",
        "RULE",   "POLICY",     "OPERATOR",    "CAST",      "COLLATION", "MACRO",     "ROLE",      "USER",
        "SERVER", "STATISTICS", "PUBLICATION", "LANGUAGE",  "EVENT",     "SECRET",    NULL};
    bool taken;
    RETURN_IF_ERROR(schema_advance(parser));
    while (is_any(parser, modifiers))
        RETURN_IF_ERROR(schema_advance(parser));
    RETURN_IF_ERROR(schema_take(parser, "TABLE", &taken));
    if (taken)
        return create_table(parser);
    if (schema_is(parser, "TYPE") || schema_is(parser, "DOMAIN")) {
        const bool domain = schema_is(parser, "DOMAIN");
        RETURN_IF_ERROR(schema_advance(parser));
        RETURN_IF_ERROR(schema_create_type(parser, domain));
        if (schema_is(parser, ";") || parser->token.kind == TOKEN_END)
            return STATUS_OK;
        if (domain)
            RETURN_IF_ERROR(schema_note(parser, parser->token.line,
                                        "what domain %s says after its type (NOT NULL, CHECK) is not tested",
                                        parser->own_types[parser->own_type_count - 1].name));
        return schema_skip_to(parser, ";", NULL);
    }
    RETURN_IF_ERROR(schema_take(parser, "UNIQUE", &taken));
    if (taken)
        return create_unique_index(parser);
    if (schema_is(parser, "TRIGGER"))
        return skip_trigger(parser);
    if (schema_is(parser, "VIEW")) {
        RETURN_IF_ERROR(schema_note(parser, parser->token.line, "CREATE VIEW has no effect"));
        return schema_skip_to(parser, ";", NULL);
    }
    if (is_any(parser, without_rows))
        return schema_skip_to(parser, ";", NULL);
    return schema_complain_of(parser, "'%s' cannot be created here; a schema script has CREATE TABLE");
}

static size_t line_bytes(const struct sql_tokens *tokens)
{
    const char *const at = tokens->text + tokens->at;
    const char *const newline = memchr(at, '\n', tokens->length - tokens->at);
    return newline ? (size_t)(newline - at) + 1 : tokens->length - tokens->at;
}

/* Reads the token that begins a statement. Lines of psql's own commands (\connect, \restrict), which begin with a
 * backslash, are skipped, and the blank lines and comments before them. */
static enum status begin_statement(struct schema_parser *parser)
{
    struct sql_tokens *const tokens = &parser->tokens;
    while (tokens->at < tokens->length) {
        const char *const at = tokens->text + tokens->at;
        const bool comment = tokens->length - tokens->at > 1 && at[0] == '-' && at[1] == '-';
        const bool blank = *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n';
        if (!comment && !blank && *at != '\\')
            break;
        const bool whole = comment || *at == '\\';
        const size_t bytes = whole ? line_bytes(tokens) : 1;
        const bool newline = tokens->text[tokens->at + bytes - 1] == '\n';
        tokens->at += bytes;
        tokens->line += newline;
        tokens->column = newline ? 1 : tokens->column + (uint32_t)bytes;
    }
    return schema_advance(parser);
}

/* Skips COPY, and the rows that follow COPY ... FROM stdin up to the line "\.". */
static enum status skip_copy(struct schema_parser *parser)
{
    const uint32_t line = parser->token.line;
    const char *const text = parser->tokens.text, *const begin = text + parser->tokens.at;
    schema_text_skip(&parser->tokens, ";", NULL);
    const char *const end = text + parser->tokens.at;
    bool from_input = false;
    for (const char *at = begin; at + 5 <= end && !from_input; at++)
        from_input = word_compare_bytes(at, "stdin", 5) == 0;
    if (from_input) {
        const char *stop = memmem(end, (size_t)(text + parser->tokens.length - end), "\n\\.", 3);
        const char *const to = stop ? stop + 3 : text + parser->tokens.length;
        for (const char *at = end; at < to; at++) {
            parser->tokens.line += *at == '\n';
            parser->tokens.column = *at == '\n' ? 1 : parser->tokens.column + 1;
        }
        parser->tokens.at = (size_t)(to - text);
        RETURN_IF_ERROR(schema_note(parser, line, "the rows of COPY are not loaded; give them as a file"));
    }
    return begin_statement(parser);
}

/* A dump has an INSERT for each row: one note tells of all. */
static enum status skip_insert(struct schema_parser *parser)
{
    if (!parser->has_rows)
        RETURN_IF_ERROR(schema_note(parser, parser->token.line,
                                    "INSERT is not executed; give the rows as files: TABLE=FILE"));
    parser->has_rows = true;
    return schema_skip_to(parser, ";", NULL);
}

static enum status take_statement(struct schema_parser *parser)
{
    static const char *const skipped[] = {
        "SET",    "SELECT",  "PRAGMA",  "BEGIN", "COMMIT",   "START",   "COMMENT", "GRANT",
        "REVOKE", "ANALYZE", "VACUUM",  "LOCK",  "UNLOCK",   "USE",     "DROP",    "RESET",
        "DELETE", "END",     "REINDEX", "CALL",  "LOAD",     "INSTALL", "ATTACH",  "CHECKPOINT",
        "GO",     "UPDATE",  "REFRESH", "DO",    "SECURITY", "CONNECT", NULL};
    bool taken;
    if (schema_is(parser, "CREATE"))
        return take_create(parser);
    if (schema_is(parser, "COPY"))
        return skip_copy(parser);
    if (schema_is(parser, "INSERT") || schema_is(parser, "REPLACE"))
        return skip_insert(parser);
    if (is_any(parser, skipped))
        return schema_skip_to(parser, ";", NULL);
    RETURN_IF_ERROR(schema_take(parser, "ALTER", &taken));
    if (!taken)
        return schema_complain_of(parser, "'%s' stands where CREATE TABLE should");
    RETURN_IF_ERROR(schema_take(parser, "TABLE", &taken));
    return taken ? alter_table(parser) : schema_skip_to(parser, ";", NULL);
}

enum status schema_take_script(struct schema_parser *parser)
{
    enum status status = begin_statement(parser);
    while (status == STATUS_OK && parser->token.kind != TOKEN_END) {
        const struct sql_tokens begin = parser->before;
        status = schema_is(parser, ";") ? STATUS_OK : take_statement(parser);
        if (status != STATUS_OK) {
            RETURN_IF_ERROR(schema_error_keep(parser, status));
            parser->tokens = begin;
            status = schema_skip_to(parser, ";", NULL);
        }
        if (schema_is(parser, ";"))
            status = begin_statement(parser);
    }
    RETURN_IF_ERROR(status);
    return parser->schema->table_count || parser->complaint_count
               ? STATUS_OK
               : schema_complain(parser, "the script creates no table");
}
