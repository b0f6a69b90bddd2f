/* show.c: SHOW TABLES, SHOW VIEWS and DESCRIBE, whose answers are rows like any others (sql_shell.h). */
#include "engine/library/files/files.h"
#include "engine/program/sql_shell.h"
#include "storage/base/sql_token.h"
#include "storage/database/database.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 256u

static struct rowset_cell text_cell(const char *text)
{
    return (struct rowset_cell){.string = text, .length = (uint32_t)strlen(text)};
}

/* The tables that a table references, "shops, products". */
static void list_references(const struct table *table, char list[1024])
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t c = 0; c < table->column_count && used < 900; c++)
        if (table->columns[c].references)
            used += (size_t)snprintf(list + used, 1024 - used, "%s%.100s", used ? ", " : "",
                                     table->columns[c].references->table->name);
}

static enum status show_tables(const struct database *database, struct rowset *rows, struct error *error)
{
    static const char *const names[] = {"table", "rows", "columns", "references"};
    const struct value_type types[] = {
        {.kind = VALUE_STRING}, {.kind = VALUE_INTEGER}, {.kind = VALUE_INTEGER}, {.kind = VALUE_STRING}};
    struct rowset_builder *builder;
    char list[1024];
    RETURN_IF_ERROR(rowset_builder_create(4, names, types, &builder, error));
    enum status status = STATUS_OK;
    for (uint32_t t = 0; status == STATUS_OK && t < database_table_count(database); t++) {
        const struct table *const table = database_table_at(database, t);
        list_references(table, list);
        const struct rowset_cell cells[] = {text_cell(table->name),
                                            {.number = (int64_t)table->rows},
                                            {.number = table_visible_columns(table)},
                                            text_cell(list)};
        status = rowset_builder_add(builder, cells, error);
    }
    if (status == STATUS_OK)
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    return status;
}

static enum status show_views(const struct database *database, struct rowset *rows, struct error *error)
{
    static const char *const names[] = {"view", "query"};
    const struct value_type types[] = {{.kind = VALUE_STRING}, {.kind = VALUE_STRING}};
    struct rowset_builder *builder;
    RETURN_IF_ERROR(rowset_builder_create(2, names, types, &builder, error));
    enum status status = STATUS_OK;
    for (uint32_t v = 0; status == STATUS_OK && v < database_view_count(database); v++) {
        const char *const name = database_view_at(database, v);
        const struct rowset_cell cells[] = {text_cell(name), text_cell(database_view(database, name))};
        status = rowset_builder_add(builder, cells, error);
    }
    if (status == STATUS_OK)
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    return status;
}

static bool has_column(const struct key_columns *key, const struct column *column)
{
    for (uint32_t k = 0; k < key->count; k++)
        if (column == &column->table->columns[key->columns[k]])
            return true;
    return false;
}

/* "t(a, b)": what a key with the column references, if the column alone references nothing. */
static void write_reference(const struct column *column, char *text, size_t bytes)
{
    const struct table *const table = column->table;
    for (uint32_t c = table_visible_columns(table); c < table->column_count; c++) {
        const struct column *const reference = &table->columns[c];
        size_t used = 0;
        if (!has_column(&reference->schema.of, column))
            continue;
        for (uint32_t k = 0; k < reference->schema.key.count && used < bytes - 2 * NAME_BYTES; k++)
            used += (size_t)snprintf(
                text + used, bytes - used, "%s%s%s", k ? ", " : reference->references->table->name,
                k ? "" : "(",
                reference->references->table->columns[reference->schema.key.columns[k]].schema.name);
        snprintf(text + used, bytes - used, ")");
        return;
    }
}

static enum status add_column(struct rowset_builder *builder, const struct column *column,
                              struct error *error)
{
    char type[32], references[KEY_COLUMNS_MAX * NAME_BYTES] = "";
    const struct column *const typed = column->references ? column->references : column;
    if (column->references)
        snprintf(references, sizeof references, "%.200s(%.200s)", column->references->table->name,
                 column->references->schema.name);
    else
        write_reference(column, references, sizeof references);
    const struct rowset_cell cells[] = {
        text_cell(column->schema.name), text_cell(column_type_text(&typed->schema, type)),
        text_cell(column->schema.nullable ? "yes" : "no"),
        text_cell(column->schema.primary_key || has_column(&column->table->key, column) ? "primary"
                  : references[0]                                                       ? "foreign"
                                                                                        : ""),
        text_cell(references)};
    return rowset_builder_add(builder, cells, error);
}

static enum status describe(const struct table *table, struct rowset *rows, struct error *error)
{
    static const char *const names[] = {"column", "type", "null", "key", "references"};
    const struct value_type text = {.kind = VALUE_STRING}, types[] = {text, text, text, text, text};
    struct rowset_builder *builder;
    RETURN_IF_ERROR(rowset_builder_create(5, names, types, &builder, error));
    enum status status = STATUS_OK;
    for (uint32_t c = 0; status == STATUS_OK && c < table_visible_columns(table); c++)
        status = add_column(builder, &table->columns[c], error);
    if (status == STATUS_OK)
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    return status;
}

enum status sql_shell_table(const struct database *database, const char *name, const struct table **table,
                            struct error *error)
{
    *table = database_find(database, name);
    return *table ? STATUS_OK : database_table(database, name, table, error);
}

static enum status refuse(const struct sql_token *token, const char *sentence, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT, "line %u, column %u: %s", token->line, token->column, sentence);
}

/* The table of files, of which the schema alone is read. */
static enum status read_files(const struct sql_shell *shell, const struct sql_token *token,
                              const struct table **table, struct error *error)
{
    struct statement_files files = {.count = 0};
    struct error why = {0};
    char *const name = malloc(token->length + 1);
    if (!name)
        return error_out_of_memory(error, token->length, "a name");
    sql_token_text(token, name);
    const struct logical_files find = statement_files_begin(&files, shell->database, shell->engine);
    const enum status status = find.find(find.context, name, table, &why);
    statement_files_end(&files);
    free(name);
    return status == STATUS_BAD_INPUT ? refuse(token, why.text, error)
           : status == STATUS_OK      ? STATUS_OK
                                      : error_set(error, status, "%s", why.text);
}

/* Reads what follows DESCRIBE: [TABLE] name, or 'file'. */
static enum status read_table(const struct sql_shell *shell, struct sql_tokens *tokens,
                              const struct table **table, struct error *error)
{
    const struct database *const database = shell->database;
    struct sql_token token;
    struct error why = {0};
    char name[NAME_MAX_BYTES];
    RETURN_IF_ERROR(sql_token_next(tokens, &token, error));
    if (sql_token_is(&token, "TABLE"))
        RETURN_IF_ERROR(sql_token_next(tokens, &token, error));
    if (token.kind == TOKEN_STRING)
        return read_files(shell, &token, table, error);
    if ((token.kind != TOKEN_WORD && token.kind != TOKEN_NAME) || token.length >= sizeof name)
        return refuse(&token, "DESCRIBE needs the name of a table; SHOW TABLES lists them", error);
    sql_token_text(&token, name);
    if (database_view(database, name) && !database_find(database, name))
        return refuse(&token, "this is a view, whose columns are those of its query; SHOW VIEWS shows it",
                      error);
    if (sql_shell_table(database, name, table, &why) != STATUS_OK)
        return refuse(&token, why.text, error);
    return STATUS_OK;
}

bool sql_shell_shows(const struct sql_token *first)
{
    return sql_token_is(first, "SHOW") || sql_token_is(first, "DESCRIBE") || sql_token_is(first, "DESC");
}

enum status sql_shell_show(const struct sql_shell *shell, const char *text, size_t length,
                           struct rowset *rows, size_t *used, struct error *error)
{
    struct database *const database = shell->database;
    struct sql_tokens tokens;
    struct sql_token token;
    const struct table *table = NULL;
    bool views = false;
    sql_tokens_begin(&tokens, text, length);
    RETURN_IF_ERROR(sql_token_next(&tokens, &token, error));
    if (sql_token_is(&token, "SHOW")) {
        RETURN_IF_ERROR(sql_token_next(&tokens, &token, error));
        views = sql_token_is(&token, "VIEWS");
        if (!views && !sql_token_is(&token, "TABLES"))
            return refuse(
                &token, "there are SHOW TABLES and SHOW VIEWS; DESCRIBE NAME shows a table's columns", error);
    } else {
        RETURN_IF_ERROR(read_table(shell, &tokens, &table, error));
    }
    RETURN_IF_ERROR(sql_token_next(&tokens, &token, error));
    if (token.kind != TOKEN_END && !sql_token_is(&token, ";"))
        return refuse(&token, "nothing more is expected here, only a semicolon", error);
    *used = tokens.at;
    return table   ? describe(table, rows, error)
           : views ? show_views(database, rows, error)
                   : show_tables(database, rows, error);
}
