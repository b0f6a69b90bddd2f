/*
 * schema_script.c: parses CREATE TABLE scripts (schema_script.h) by recursive descent over the tokens of
 * sql_token.h. Clauses that could change stored values or answers (DEFAULT, CHECK, UNIQUE, keys of several
 * columns) are refused by name.
 */
#include "loader/table/schema_script.h"

#include "loader/text/text_file.h"
#include "storage/base/sql_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The longest script: a thousand tables of a thousand columns. */
#define SCRIPT_BYTES_MAX (64u << 20)

struct schema_parser {
    const char *path;
    struct sql_tokens tokens;
    struct sql_token token;
    struct schema_script *schema;
    struct error *error;
};

/* ---- Tokens ---- */

static enum status complain(const struct schema_parser *parser, const char *what)
{
    return error_set(parser->error, STATUS_BAD_INPUT, "%s:%u:%u: %s", parser->path, parser->token.line,
                     parser->token.column, what);
}

static enum status complain_of(const struct schema_parser *parser, const char *format)
{
    char text[256], word[64];
    snprintf(word, sizeof word, "%.*s", (int)parser->token.length, parser->token.text);
    snprintf(text, sizeof text, format, parser->token.kind == TOKEN_END ? "the end of the script" : word);
    return complain(parser, text);
}

static enum status advance(struct schema_parser *parser)
{
    struct error inner = {0};
    const enum status status = sql_token_next(&parser->tokens, &parser->token, &inner);
    return status == STATUS_OK ? status
                               : error_set(parser->error, status, "%s: %s", parser->path, inner.text);
}

static bool is(const struct schema_parser *parser, const char *word)
{
    return sql_token_is(&parser->token, word);
}

static enum status take(struct schema_parser *parser, const char *word, bool *taken)
{
    *taken = is(parser, word);
    return *taken ? advance(parser) : STATUS_OK;
}

static enum status expect(struct schema_parser *parser, const char *word)
{
    char format[96];
    if (is(parser, word))
        return advance(parser);
    snprintf(format, sizeof format, "'%%s' stands where %s should", word);
    return complain_of(parser, format);
}

static enum status take_name(struct schema_parser *parser, const char *what, char name[NAME_BYTES])
{
    char format[96];
    char text[4 * NAME_BYTES];
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_NAME) {
        snprintf(format, sizeof format, "'%%s' stands where %s should", what);
        return complain_of(parser, format);
    }
    if (parser->token.length >= sizeof text)
        return complain(parser, "the name is longer than 63 bytes");
    const size_t length = sql_token_text(&parser->token, text);
    if (length >= NAME_BYTES || !name_valid(text))
        return complain_of(
            parser,
            "'%s' is no name that a table or column may have: up to 63 letters, digits, _, #, $ and - "
            "of ASCII, first a letter or _");
    memcpy(name, text, length + 1);
    return advance(parser);
}

/* ---- Types ---- */

static enum status take_number(struct schema_parser *parser, unsigned long *number)
{
    if (parser->token.kind != TOKEN_NUMBER || parser->token.length > 9 ||
        memchr(parser->token.text, '.', parser->token.length))
        return complain_of(parser, "'%s' stands where a whole number should");
    *number = strtoul(parser->token.text, NULL, 10);
    return advance(parser);
}

/* Parses (n) or (n, m) after a type; *count gets the number of numbers. */
static enum status take_sizes(struct schema_parser *parser, unsigned long sizes[2], unsigned *count)
{
    bool more;
    *count = 0;
    RETURN_IF_ERROR(take(parser, "(", &more));
    while (more) {
        if (*count == 2)
            return complain(parser, "a type has at most two numbers");
        RETURN_IF_ERROR(take_number(parser, &sizes[(*count)++]));
        RETURN_IF_ERROR(take(parser, ",", &more));
        if (!more)
            RETURN_IF_ERROR(expect(parser, ")"));
    }
    return STATUS_OK;
}

static enum status take_type(struct schema_parser *parser, struct column_schema *column)
{
    static const struct {
        const char *word;
        enum column_type type;
        unsigned sizes; /* the numbers that may follow the type */
    } types[] = {
        {"INT", TYPE_INT32, 1},          {"INTEGER", TYPE_INT32, 1},    {"SMALLINT", TYPE_INT32, 1},
        {"TINYINT", TYPE_INT32, 1},      {"INT4", TYPE_INT32, 0},       {"INT2", TYPE_INT32, 0},
        {"BIGINT", TYPE_INT64, 1},       {"INT8", TYPE_INT64, 0},       {"DECIMAL", TYPE_DECIMAL, 2},
        {"NUMERIC", TYPE_DECIMAL, 2},    {"DATE", TYPE_DATE, 0},        {"TIMESTAMP", TYPE_TIMESTAMP, 1},
        {"DATETIME", TYPE_TIMESTAMP, 1}, {"BOOLEAN", TYPE_BOOL, 0},     {"BOOL", TYPE_BOOL, 0},
        {"CHAR", TYPE_STRING, 1},        {"CHARACTER", TYPE_STRING, 1}, {"VARCHAR", TYPE_STRING, 1},
        {"TEXT", TYPE_STRING, 0},        {"STRING", TYPE_STRING, 0}};
    unsigned long sizes[2] = {18, 0};
    unsigned count;
    size_t t = 0;
    while (t < sizeof types / sizeof *types && !is(parser, types[t].word))
        t++;
    if (t == sizeof types / sizeof *types)
        return complain_of(parser,
                           "there is no type '%s' here; use INT, BIGINT, DECIMAL(p,s), DATE, TIMESTAMP, "
                           "BOOLEAN, CHAR(n), VARCHAR(n) or TEXT");
    column->type = types[t].type;
    RETURN_IF_ERROR(advance(parser));
    RETURN_IF_ERROR(take_sizes(parser, sizes, &count));
    if (count > types[t].sizes)
        return complain(parser, "the type before takes fewer numbers");
    if (column->type != TYPE_DECIMAL)
        return STATUS_OK;
    if (sizes[0] < 1 || sizes[0] > 18 || (count > 1 && sizes[1] > sizes[0]))
        return complain(parser, "DECIMAL(p, s) takes 1 to 18 digits, 0 to p of them behind the point");
    column->precision = (uint8_t)sizes[0];
    column->scale = count > 1 ? (uint8_t)sizes[1] : 0;
    return STATUS_OK;
}

/* ---- Constraints ---- */

static struct column_schema *column_named(const struct schema_table *table, const char *name)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (strcasecmp(table->columns[c].name, name) == 0)
            return &table->columns[c];
    return NULL;
}

/* Parses REFERENCES table [(column)]. A missing column is the table's primary key, which is found at the
 * end. */
static enum status take_references(struct schema_parser *parser, struct column_schema *column)
{
    bool list;
    if (column->references_table[0])
        return complain(parser, "the column references two tables");
    RETURN_IF_ERROR(advance(parser));
    RETURN_IF_ERROR(take_name(parser, "a table's name", column->references_table));
    RETURN_IF_ERROR(take(parser, "(", &list));
    if (!list)
        return STATUS_OK;
    RETURN_IF_ERROR(take_name(parser, "a column's name", column->references_column));
    if (is(parser, ","))
        return complain(parser, "keys of more than one column are not supported");
    return expect(parser, ")");
}

static enum status set_primary_key(const struct schema_parser *parser, const struct schema_table *table,
                                   struct column_schema *column)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].primary_key && &table->columns[c] != column)
            return complain(parser, "the table has two primary keys");
    column->primary_key = true;
    column->nullable = false;
    return STATUS_OK;
}

static enum status take_column_constraints(struct schema_parser *parser, struct schema_table *table,
                                           struct column_schema *column)
{
    for (;;) {
        bool taken;
        RETURN_IF_ERROR(take(parser, "NOT", &taken));
        if (taken) {
            RETURN_IF_ERROR(expect(parser, "NULL"));
            column->nullable = false;
            continue;
        }
        RETURN_IF_ERROR(take(parser, "NULL", &taken));
        if (taken)
            continue;
        RETURN_IF_ERROR(take(parser, "PRIMARY", &taken));
        if (taken) {
            RETURN_IF_ERROR(expect(parser, "KEY"));
            RETURN_IF_ERROR(set_primary_key(parser, table, column));
            continue;
        }
        if (is(parser, "REFERENCES")) {
            RETURN_IF_ERROR(take_references(parser, column));
            continue;
        }
        return is(parser, ",") || is(parser, ")")
                   ? STATUS_OK
                   : complain_of(parser,
                                 "'%s' is not supported in a column; there are NOT NULL, PRIMARY KEY and "
                                 "REFERENCES table(column)");
    }
}

/* Parses (column). */
static enum status take_column_list(struct schema_parser *parser, const struct schema_table *table,
                                    struct column_schema **column)
{
    char name[NAME_BYTES];
    RETURN_IF_ERROR(expect(parser, "("));
    const struct schema_parser before = *parser;
    RETURN_IF_ERROR(take_name(parser, "a column's name", name));
    *column = column_named(table, name);
    if (!*column)
        return complain_of(&before, "the table has no column '%s'");
    if (is(parser, ","))
        return complain(parser, "keys of more than one column are not supported");
    return expect(parser, ")");
}

static enum status take_table_constraint(struct schema_parser *parser, struct schema_table *table)
{
    struct column_schema *column;
    char name[NAME_BYTES];
    bool taken;
    RETURN_IF_ERROR(take(parser, "CONSTRAINT", &taken));
    if (taken)
        RETURN_IF_ERROR(take_name(parser, "a constraint's name", name));
    RETURN_IF_ERROR(take(parser, "PRIMARY", &taken));
    if (taken) {
        RETURN_IF_ERROR(expect(parser, "KEY"));
        RETURN_IF_ERROR(take_column_list(parser, table, &column));
        return set_primary_key(parser, table, column);
    }
    RETURN_IF_ERROR(take(parser, "FOREIGN", &taken));
    if (!taken)
        return complain_of(parser,
                           "'%s' is not supported in a table; there are PRIMARY KEY (column) and FOREIGN KEY "
                           "(column) REFERENCES table(column)");
    RETURN_IF_ERROR(expect(parser, "KEY"));
    RETURN_IF_ERROR(take_column_list(parser, table, &column));
    if (!is(parser, "REFERENCES"))
        return expect(parser, "REFERENCES");
    return take_references(parser, column);
}

/* ---- Tables ---- */

static enum status take_column(struct schema_parser *parser, struct schema_table *table)
{
    struct column_schema column = {.nullable = true};
    if (table->column_count == SCHEMA_COLUMNS_MAX)
        return complain(parser, "the table has more than 1024 columns");
    const struct schema_parser before = *parser;
    RETURN_IF_ERROR(take_name(parser, "a column's name", column.name));
    if (column_named(table, column.name))
        return complain_of(&before, "the table has two columns '%s'");
    RETURN_IF_ERROR(take_type(parser, &column));
    table->columns[table->column_count++] = column;
    return take_column_constraints(parser, table, &table->columns[table->column_count - 1]);
}

static enum status take_table(struct schema_parser *parser)
{
    bool taken, more = true;
    struct schema_script *schema = parser->schema;
    RETURN_IF_ERROR(expect(parser, "CREATE"));
    RETURN_IF_ERROR(expect(parser, "TABLE"));
    RETURN_IF_ERROR(take(parser, "IF", &taken));
    if (taken) {
        RETURN_IF_ERROR(expect(parser, "NOT"));
        RETURN_IF_ERROR(expect(parser, "EXISTS"));
    }
    if (schema->table_count == SCHEMA_TABLES_MAX)
        return complain(parser, "the script has more than 256 tables");
    struct schema_table *table = &schema->tables[schema->table_count];
    *table = (struct schema_table){.line = parser->token.line};
    const struct schema_parser before = *parser;
    RETURN_IF_ERROR(take_name(parser, "a table's name", table->name));
    if (schema_table(schema, table->name))
        return complain_of(&before, "the script has two tables '%s'");
    table->columns = calloc(SCHEMA_COLUMNS_MAX, sizeof *table->columns);
    if (!table->columns)
        return error_out_of_memory(parser->error, SCHEMA_COLUMNS_MAX * sizeof *table->columns, "a schema");
    schema->table_count++;
    RETURN_IF_ERROR(expect(parser, "("));
    while (more) {
        const bool constraint = is(parser, "PRIMARY") || is(parser, "FOREIGN") || is(parser, "CONSTRAINT") ||
                                is(parser, "UNIQUE") || is(parser, "CHECK");
        RETURN_IF_ERROR(constraint ? take_table_constraint(parser, table) : take_column(parser, table));
        RETURN_IF_ERROR(take(parser, ",", &more));
    }
    RETURN_IF_ERROR(expect(parser, ")"));
    if (table->column_count == 0)
        return complain(parser, "the table has no column");
    return parser->token.kind == TOKEN_END ? STATUS_OK : expect(parser, ";");
}

/* ---- References ---- */

static enum status check_reference(const struct schema_parser *parser, const struct schema_table *table,
                                   struct column_schema *column)
{
    const struct schema_table *target = schema_table(parser->schema, column->references_table);
    if (!target)
        return error_set(parser->error, STATUS_BAD_INPUT,
                         "%s:%u: column %s.%s references table %s, which the script does not create",
                         parser->path, table->line, table->name, column->name, column->references_table);
    const struct column_schema *const key = schema_key(target);
    if (!key || (column->references_column[0] && strcasecmp(key->name, column->references_column) != 0))
        return error_set(
            parser->error, STATUS_BAD_INPUT,
            "%s:%u: column %s.%s references %s.%s, which is no primary key; say PRIMARY KEY there",
            parser->path, table->line, table->name, column->name, target->name,
            column->references_column[0] ? column->references_column : "(its key)");
    if (key->references_table[0])
        return error_set(
            parser->error, STATUS_BAD_INPUT,
            "%s:%u: column %s.%s references %s.%s, which references %s itself; let both reference %s",
            parser->path, table->line, table->name, column->name, target->name, key->name,
            key->references_table, key->references_table);
    if ((key->type == TYPE_STRING) != (column->type == TYPE_STRING))
        return error_set(parser->error, STATUS_BAD_INPUT,
                         "%s:%u: column %s.%s and the key %s.%s that it references are of different types",
                         parser->path, table->line, table->name, column->name, target->name, key->name);
    snprintf(column->references_table, NAME_BYTES, "%s", target->name);
    snprintf(column->references_column, NAME_BYTES, "%s", key->name);
    return STATUS_OK;
}

static bool ready(const struct schema_script *schema, const struct schema_table *table, const bool *placed)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct schema_table *target = table->columns[c].references_table[0]
                                                ? schema_table(schema, table->columns[c].references_table)
                                                : NULL;
        if (target && !placed[target - schema->tables])
            return false;
    }
    return true;
}

/* Orders the tables so that each comes after those that it references. Tables that remain reference each
 * other in a circle. */
static enum status order_tables(const struct schema_parser *parser)
{
    struct schema_script *schema = parser->schema;
    bool placed[SCHEMA_TABLES_MAX] = {false};
    struct schema_table *ordered = calloc(SCHEMA_TABLES_MAX, sizeof *ordered);
    uint32_t count = 0;
    if (!ordered)
        return error_out_of_memory(parser->error, SCHEMA_TABLES_MAX * sizeof *ordered, "a schema");
    for (bool found = true; found;) {
        found = false;
        for (uint32_t t = 0; t < schema->table_count; t++)
            if (!placed[t] && ready(schema, &schema->tables[t], placed)) {
                ordered[count++] = schema->tables[t];
                placed[t] = found = true;
            }
    }
    for (uint32_t t = 0; t < schema->table_count; t++)
        if (!placed[t]) {
            free(ordered);
            return error_set(
                parser->error, STATUS_BAD_INPUT,
                "%s:%u: table %s references itself, directly or through others; a star has no circles",
                parser->path, schema->tables[t].line, schema->tables[t].name);
        }
    free(schema->tables);
    schema->tables = ordered;
    return STATUS_OK;
}

static enum status parse_all(struct schema_parser *parser)
{
    RETURN_IF_ERROR(advance(parser));
    for (;;) {
        bool taken = true;
        while (taken)
            RETURN_IF_ERROR(take(parser, ";", &taken));
        if (parser->token.kind == TOKEN_END)
            break;
        RETURN_IF_ERROR(take_table(parser));
    }
    if (parser->schema->table_count == 0)
        return complain(parser, "the script creates no table");
    for (uint32_t t = 0; t < parser->schema->table_count; t++) {
        struct schema_table *table = &parser->schema->tables[t];
        for (uint32_t c = 0; c < table->column_count; c++)
            if (table->columns[c].references_table[0])
                RETURN_IF_ERROR(check_reference(parser, table, &table->columns[c]));
    }
    return order_tables(parser);
}

enum status schema_script_parse(const char *path, const char *text, size_t length,
                                struct schema_script *schema, struct error *error)
{
    struct schema_parser parser = {.path = path, .schema = schema, .error = error};
    *schema = (struct schema_script){.tables = calloc(SCHEMA_TABLES_MAX, sizeof *schema->tables)};
    if (!schema->tables)
        return error_out_of_memory(error, SCHEMA_TABLES_MAX * sizeof *schema->tables, "a schema");
    sql_tokens_begin(&parser.tokens, text, length);
    const enum status status = parse_all(&parser);
    if (status != STATUS_OK)
        schema_script_free(schema);
    return status;
}

enum status schema_script_read(const char *path, struct schema_script *schema, struct error *error)
{
    struct text_file *file;
    size_t length = 0, room = 1 << 16, got = 1;
    RETURN_IF_ERROR(text_file_open(path, &file, error));
    char *text = malloc(room);
    enum status status = text ? STATUS_OK : error_out_of_memory(error, room, "a schema");
    while (status == STATUS_OK && got && length < SCRIPT_BYTES_MAX) {
        status = text_file_read(file, text + length, room - length, &got, error);
        length += got;
        char *const grown = length == room ? realloc(text, room *= 2) : text;
        if (!grown)
            status = error_out_of_memory(error, room, "a schema");
        text = grown ? grown : text;
    }
    text_file_close(file);
    if (status == STATUS_OK)
        status = length < SCRIPT_BYTES_MAX
                     ? schema_script_parse(path, text, length, schema, error)
                     : error_set(error, STATUS_BAD_INPUT, "%s: a script of over 64 MiB is no schema", path);
    free(text);
    return status;
}

void schema_script_free(struct schema_script *schema)
{
    for (uint32_t t = 0; schema->tables && t < SCHEMA_TABLES_MAX; t++)
        free(schema->tables[t].columns);
    free(schema->tables);
    *schema = (struct schema_script){0};
}

const struct column_schema *schema_key(const struct schema_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].primary_key)
            return &table->columns[c];
    return NULL;
}

const struct schema_table *schema_table(const struct schema_script *schema, const char *name)
{
    for (uint32_t t = 0; t < schema->table_count; t++)
        if (strcasecmp(schema->tables[t].name, name) == 0)
            return &schema->tables[t];
    return NULL;
}
