/* schema_constraint.c: constraints of columns and of tables (schema_parser.h). Keys and references become part of the
 * columns, UNIQUE and CHECK are tested while rows are loaded; DEFAULT, COLLATE, ON DELETE and the like have no meaning
 * for rows that are loaded, and are skipped. */
#include "loader/schema/schema_parser.h"
#include "storage/base/words/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words that may begin a constraint of a column; they end an expression of DEFAULT. */
static const char *const constraint_words[] = {
    "NOT",     "NULL",      "PRIMARY",        "UNIQUE",  "CHECK",      "REFERENCES", "CONSTRAINT",
    "COLLATE", "GENERATED", "AUTO_INCREMENT", "COMMENT", "ON",         "DEFAULT",    "KEY",
    "STORED",  "VIRTUAL",   "AUTOINCREMENT",  "USING",   "DEFERRABLE", NULL};

struct column_schema *schema_column_named(const struct schema_table *table, const char *name)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (word_compare(table->columns[c].name, name) == 0)
            return &table->columns[c];
    return NULL;
}

/* Whether a column or a constraint ends here. */
static bool at_end(const struct schema_parser *parser)
{
    return schema_is(parser, ",") || schema_is(parser, ")") || schema_is(parser, ";") ||
           parser->token.kind == TOKEN_END;
}

/* ---- Keys and references ---- */

static enum status set_primary_key(struct schema_parser *parser, struct schema_table *table,
                                   struct column_schema *column)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (table->columns[c].primary_key && &table->columns[c] != column)
            return schema_complain(parser, "the table has two primary keys");
    column->primary_key = true;
    column->nullable = false;
    return STATUS_OK;
}

/* ON DELETE CASCADE, MATCH FULL, NOT VALID and the like say what happens to rows that change. */
enum status schema_skip_actions(struct schema_parser *parser)
{
    static const char *const actions[] = {"ON",     "MATCH",     "DEFERRABLE", "INITIALLY", "DEFERRED",
                                          "DELETE", "UPDATE",    "CASCADE",    "RESTRICT",  "ACTION",
                                          "SET",    "FULL",      "PARTIAL",    "SIMPLE",    "NO",
                                          "VALID",  "IMMEDIATE", "ENFORCED"};
    for (bool found = true; found;) {
        found = false;
        for (size_t a = 0; a < sizeof actions / sizeof *actions && !found; a++) {
            const bool set = schema_is(parser, "SET");
            RETURN_IF_ERROR(schema_take(parser, actions[a], &found));
            if (found && set) /* SET NULL, SET DEFAULT */
                RETURN_IF_ERROR(schema_advance(parser));
        }
        if (!found &&
            schema_is(parser, "NOT")) { /* NOT DEFERRABLE, NOT VALID; NOT NULL is another constraint */
            const struct schema_place not = schema_here(parser);
            RETURN_IF_ERROR(schema_advance(parser));
            found = !schema_is(parser, "NULL");
            if (!found)
                schema_go_back(parser, &not );
        }
    }
    return STATUS_OK;
}

/* Parses REFERENCES table [(column)]. A missing column is the table's primary key, which is found at the
 * end. */
static enum status take_references(struct schema_parser *parser, struct column_schema *column)
{
    bool list;
    if (column->references_table[0])
        return schema_complain(parser, "the column references two tables");
    RETURN_IF_ERROR(schema_advance(parser));
    RETURN_IF_ERROR(schema_take_qualified(parser, "a table's name", column->references_table));
    RETURN_IF_ERROR(schema_take(parser, "(", &list));
    if (list) {
        RETURN_IF_ERROR(schema_take_name(parser, "a column's name", column->references_column));
        RETURN_IF_ERROR(schema_expect(parser, ")"));
    }
    return schema_skip_actions(parser);
}

/* ---- CHECK and UNIQUE ---- */

/* Keeps the text of a condition, which is read when all columns of its table are known (schema_references.c). */
static enum status take_check(struct schema_parser *parser, struct schema_table *table)
{
    bool taken;
    table->unkept = "CHECK";
    RETURN_IF_ERROR(schema_advance(parser));
    if (!schema_is(parser, "("))
        return schema_expect(parser, "(");
    const uint32_t line = parser->tokens.line, column = parser->tokens.column;
    const char *const text = parser->tokens.text + parser->tokens.at;
    schema_text_skip(&parser->tokens, ")", NULL);
    const size_t length = (size_t)(parser->tokens.text + parser->tokens.at - text);
    RETURN_IF_ERROR(schema_advance(parser));
    RETURN_IF_ERROR(schema_expect(parser, ")"));
    if (parser->condition_count < SCHEMA_CONDITIONS_MAX)
        parser->conditions[parser->condition_count++] =
            (struct schema_condition){(uint32_t)(table - parser->schema->tables), line, column, text, length};
    else
        RETURN_IF_ERROR(schema_note(parser, line, "CHECK (%.*s) is not tested: the script has more than %u",
                                    (int)(length < 100 ? length : 100), text, SCHEMA_CONDITIONS_MAX));
    RETURN_IF_ERROR(schema_take(parser, "NO", &taken));
    return taken ? schema_expect(parser, "INHERIT") : schema_skip_actions(parser);
}

/* Parses (column, ...); columns after the first KEY_COLUMNS_MAX are not kept, but counted. */
static enum status take_column_list(struct schema_parser *parser, const struct schema_table *table,
                                    struct column_schema *columns[KEY_COLUMNS_MAX], uint32_t *count)
{
    bool more = true, sorted;
    *count = 0;
    RETURN_IF_ERROR(schema_expect(parser, "("));
    while (more) {
        char name[NAME_BYTES];
        const struct schema_place place = schema_here(parser);
        RETURN_IF_ERROR(schema_take_name(parser, "a column's name", name));
        struct column_schema *const column = schema_column_named(table, name);
        if (!column)
            return schema_complain_at(parser, &place, "the table has no column '%s'");
        if (*count < KEY_COLUMNS_MAX)
            columns[*count] = column;
        ++*count;
        if (schema_is(parser, "(")) /* MySQL: the first bytes of a text, name(10) */
            RETURN_IF_ERROR(schema_skip_brackets(parser));
        RETURN_IF_ERROR(schema_take(parser, "ASC", &sorted));
        RETURN_IF_ERROR(schema_take(parser, "DESC", &sorted));
        RETURN_IF_ERROR(schema_take(parser, ",", &more));
    }
    return schema_expect(parser, ")");
}

enum status schema_take_unique(struct schema_parser *parser, struct schema_table *table)
{
    struct column_schema *columns[KEY_COLUMNS_MAX];
    uint32_t count;
    table->unkept = "UNIQUE";
    RETURN_IF_ERROR(take_column_list(parser, table, columns, &count));
    if (count == 1) {
        table->unique[columns[0] - table->columns] = true;
        return STATUS_OK;
    }
    return schema_add_tuple(parser, table, columns, count, false);
}

static enum status take_primary_key(struct schema_parser *parser, struct schema_table *table)
{
    struct column_schema *columns[KEY_COLUMNS_MAX];
    uint32_t count;
    RETURN_IF_ERROR(take_column_list(parser, table, columns, &count));
    if (count == 1)
        return set_primary_key(parser, table, columns[0]);
    for (uint32_t c = 0; c < count && c < KEY_COLUMNS_MAX; c++)
        columns[c]->nullable = false;
    return schema_add_tuple(parser, table, columns, count, true);
}

static enum status take_foreign_key(struct schema_parser *parser, struct schema_table *table)
{
    struct column_schema *columns[KEY_COLUMNS_MAX];
    uint32_t count;
    RETURN_IF_ERROR(take_column_list(parser, table, columns, &count));
    if (!schema_is(parser, "REFERENCES"))
        return schema_expect(parser, "REFERENCES");
    return count > 1 ? schema_take_wide_reference(parser, table, columns, count)
                     : take_references(parser, columns[0]);
}

/* ---- Columns ---- */

/* Takes one constraint of a column; *taken is false if the current token begins none. */
static enum status take_column_constraint(struct schema_parser *parser, struct schema_table *table,
                                          struct column_schema *column, bool *taken)
{
    bool more;
    char name[NAME_BYTES];
    *taken = true;
    if (schema_is(parser, "CHECK"))
        return take_check(parser, table);
    if (schema_is(parser, "REFERENCES"))
        return take_references(parser, column);
    if (schema_is(parser, "DEFAULT")) {
        table->unkept = "DEFAULT";
        return schema_skip_to(parser, ",);", constraint_words);
    }
    if (schema_is(parser, "GENERATED") ||
        schema_is(parser, "AS")) { /* ALWAYS AS (...), or AS IDENTITY (...) */
        RETURN_IF_ERROR(
            schema_note(parser, parser->token.line,
                        "column %s.%s is read from the file, not generated; take it out if the file lacks it",
                        table->name, column->name));
        return schema_skip_to(parser, ",);", constraint_words);
    }
    static const char *const skipped[] = {"COLLATE",       "COMMENT", "IDENTITY",  "AUTO_INCREMENT",
                                          "AUTOINCREMENT", "STORED",  "VIRTUAL",   "STORAGE",
                                          "COMPRESSION",   "ON",      "USING",     "CHARSET",
                                          "CHARACTER",     "SPARSE",  "ROWGUIDCOL"};
    for (size_t s = 0; s < sizeof skipped / sizeof *skipped; s++)
        if (schema_is(parser, skipped[s]))
            return schema_skip_to(parser, ",);", constraint_words);
    RETURN_IF_ERROR(schema_take(parser, "CONSTRAINT", &more));
    if (more)
        return schema_take_name(parser, "a constraint's name", name);
    RETURN_IF_ERROR(schema_take(parser, "NOT", &more));
    if (more) {
        RETURN_IF_ERROR(schema_expect(parser, "NULL"));
        column->nullable = false;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(schema_take(parser, "NULL", &more));
    if (more)
        return STATUS_OK;
    RETURN_IF_ERROR(schema_take(parser, "UNIQUE", &more));
    if (more) {
        table->unique[column - table->columns] = true;
        table->unkept = "UNIQUE";
        return schema_take(parser, "KEY", &more);
    }
    RETURN_IF_ERROR(schema_take(parser, "PRIMARY", taken));
    if (!*taken)
        return STATUS_OK;
    RETURN_IF_ERROR(schema_expect(parser, "KEY"));
    RETURN_IF_ERROR(schema_take(parser, "ASC", &more));
    RETURN_IF_ERROR(schema_take(parser, "DESC", &more));
    return set_primary_key(parser, table, column);
}

enum status schema_take_column_constraints(struct schema_parser *parser, struct schema_table *table,
                                           struct column_schema *column)
{
    for (bool taken = true; taken;)
        RETURN_IF_ERROR(take_column_constraint(parser, table, column, &taken));
    return at_end(parser)
               ? STATUS_OK
               : schema_complain_of(parser, "'%s' is not understood in a column; there are NOT NULL, PRIMARY "
                                            "KEY, UNIQUE, CHECK, DEFAULT and REFERENCES table(column)");
}

/* ---- Tables ---- */

enum status schema_at_table_constraint(struct schema_parser *parser, bool *constraint)
{
    static const struct {
        const char *first,
            *second; /* second: NULL, any; else one of these characters or this word comes next */
    } begins[] = {{"CONSTRAINT", NULL}, {"PRIMARY", "KEY"},  {"FOREIGN", "KEY"},   {"CHECK", "("},
                  {"UNIQUE", NULL},     {"EXCLUDE", "("},    {"EXCLUDE", "USING"}, {"LIKE", NULL},
                  {"KEY", "`"},         {"INDEX", "`"},      {"FULLTEXT", "KEY"},  {"FULLTEXT", "INDEX"},
                  {"SPATIAL", "KEY"},   {"SPATIAL", "INDEX"}};
    struct sql_tokens ahead = parser->tokens;
    struct sql_token next;
    struct error unused;
    *constraint = false;
    if (sql_token_next(&ahead, &next, &unused) != STATUS_OK)
        return STATUS_OK; /* the column's own parser will say so */
    for (size_t b = 0; b < sizeof begins / sizeof *begins && !*constraint; b++)
        *constraint = schema_is(parser, begins[b].first) &&
                      (!begins[b].second || sql_token_is(&next, begins[b].second) ||
                       (begins[b].second[0] == '`' && next.kind == TOKEN_NAME));
    return STATUS_OK;
}

enum status schema_take_table_constraint(struct schema_parser *parser, struct schema_table *table)
{
    char name[NAME_BYTES];
    bool taken;
    RETURN_IF_ERROR(schema_take(parser, "CONSTRAINT", &taken));
    if (taken)
        RETURN_IF_ERROR(schema_take_name(parser, "a constraint's name", name));
    if (schema_is(parser, "CHECK"))
        return take_check(parser, table);
    if (schema_is(parser, "EXCLUDE") || schema_is(parser, "KEY") || schema_is(parser, "INDEX") ||
        schema_is(parser, "FULLTEXT") || schema_is(parser, "SPATIAL"))
        return schema_skip_to(parser, ",);", NULL);
    if (schema_is(parser, "PRIMARY") || schema_is(parser, "FOREIGN")) {
        const bool primary = schema_is(parser, "PRIMARY");
        RETURN_IF_ERROR(schema_advance(parser));
        RETURN_IF_ERROR(schema_expect(parser, "KEY"));
        RETURN_IF_ERROR(schema_take(parser, "CLUSTERED", &taken));
        if (!primary && !schema_is(parser, "(")) /* MySQL: FOREIGN KEY name (column) */
            RETURN_IF_ERROR(schema_take_name(parser, "a key's name", name));
        if (!primary)
            return take_foreign_key(parser, table);
        RETURN_IF_ERROR(take_primary_key(parser, table));
        return at_end(parser) ? STATUS_OK : schema_skip_to(parser, ",);", NULL);
    }
    RETURN_IF_ERROR(schema_take(parser, "UNIQUE", &taken));
    if (!taken)
        return schema_complain_of(
            parser, "'%s' is not understood in a table; there are PRIMARY KEY (column), UNIQUE (column), "
                    "CHECK (condition) and FOREIGN KEY (column) REFERENCES table(column)");
    RETURN_IF_ERROR(schema_take(parser, "KEY", &taken));
    RETURN_IF_ERROR(schema_take(parser, "INDEX", &taken));
    if (!schema_is(parser, "("))
        RETURN_IF_ERROR(schema_take_name(parser, "a key's name", name));
    RETURN_IF_ERROR(schema_take_unique(parser, table));
    return at_end(parser) ? STATUS_OK : schema_skip_to(parser, ",);", NULL);
}
