/* show.c: see show.h. */
#include "engine/library/show.h"

#include "engine/library/files/files.h"
#include "engine/sql/sql_error.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"
#include "storage/database/changes/live_rows.h"

#include <stdlib.h>
#include <string.h>

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
        uint64_t live;
        list_references(table, list);
        status = live_rows_count(database_path(database), table, &live, error);
        const struct rowset_cell cells[] = {text_cell(table->name),
                                            {.number = (int64_t)live},
                                            {.number = table_visible_columns(table)},
                                            text_cell(list)};
        status = AND_THEN(status, rowset_builder_add(builder, cells, error));
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

static enum status describe_begin(struct rowset_builder **builder, struct error *error)
{
    static const char *const names[] = {"column", "type", "null", "key", "references"};
    const struct value_type text = {.kind = VALUE_STRING}, types[] = {text, text, text, text, text};
    return rowset_builder_create(5, names, types, builder, error);
}

static enum status describe_table(const struct table *table, struct rowset *rows, struct error *error)
{
    struct rowset_builder *builder;
    RETURN_IF_ERROR(describe_begin(&builder, error));
    enum status status = STATUS_OK;
    for (uint32_t c = 0; status == STATUS_OK && c < table_visible_columns(table); c++)
        status = add_column(builder, &table->columns[c], error);
    if (status == STATUS_OK)
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    return status;
}

/* The type of a column of a table that has these values. */
static struct column_schema schema_of(struct value_type type)
{
    static const enum column_type types[] = {
        [VALUE_INTEGER] = TYPE_INT64, [VALUE_DATE] = TYPE_DATE,     [VALUE_TIMESTAMP] = TYPE_TIMESTAMP,
        [VALUE_BOOLEAN] = TYPE_BOOL,  [VALUE_STRING] = TYPE_STRING, [VALUE_DOUBLE] = TYPE_DOUBLE};
    return (struct column_schema){.type = value_is_decimal(type) ? TYPE_DECIMAL : types[type.kind],
                                  .precision = 18, /* as CREATE TABLE ... AS has it */
                                  .scale = type.scale,
                                  .zoned = type.zoned};
}

static enum status add_answer(struct rowset_builder *builder, const struct sql_answer_column *column,
                              struct error *error)
{
    char text[64];
    const struct column_schema schema = schema_of(column->type);
    const struct rowset_cell cells[] = {text_cell(column->name), text_cell(column_type_text(&schema, text)),
                                        text_cell(column->nullable ? "yes" : "no"), text_cell(""),
                                        text_cell("")};
    return rowset_builder_add(builder, cells, error);
}

/* The columns of a query's answer, which is bound and not run. */
static enum status describe_query(const struct show_task *task, const char *query, struct rowset *rows,
                                  struct error *error)
{
    struct sql_statement *statement;
    struct rowset_builder *builder = NULL;
    size_t used;
    RETURN_IF_ERROR(
        sql_prepare(task->engine, task->database, query, strlen(query), NULL, &statement, &used, error));
    sql_statement_set(statement, task->settings);
    uint32_t count = 0;
    enum status status = sql_answer_bind(statement, &count, error);
    status = AND_THEN(status, describe_begin(&builder, error));
    for (uint32_t c = 0; status == STATUS_OK && c < count; c++) {
        const struct sql_answer_column column = sql_answer_column(statement, c);
        status = add_answer(builder, &column, error);
    }
    if (status == STATUS_OK)
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    sql_statement_free(statement);
    return status;
}

/* ---- Statements ---- */

bool show_begins(const struct sql_token *first)
{
    return sql_token_is(first, "SHOW") || sql_token_is(first, "DESCRIBE") || sql_token_is(first, "DESC");
}

static enum status refuse(struct error *error, struct sql_position position, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const enum status status = sql_refuse(error, position, format, arguments);
    va_end(arguments);
    return status;
}

static struct sql_position place(const struct sql_token *token)
{
    return (struct sql_position){token->line, token->column};
}

static bool begins_query(const struct sql_token *token)
{
    static const char *const words[] = {"SELECT", "WITH", "FROM", "VALUES", "(", "SUMMARIZE", "PIVOT"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (sql_token_is(token, words[w]))
            return true;
    return false;
}

/* Takes the rest of the statement for a query. Blanks and lines before it keep the places of errors. */
static enum status read_query(struct sql_tokens *tokens, const char *begin, const struct sql_token *first,
                              struct show *show, struct error *error)
{
    struct sql_token token = *first;
    const char *end = first->text + first->length;
    while (token.kind != TOKEN_END && !sql_token_is(&token, ";")) {
        end = token.text + token.length;
        RETURN_IF_ERROR(sql_token_next(tokens, &token, error));
    }
    show->kind = SHOW_QUERY;
    RETURN_IF_ERROR(memory_zeros(&show->name, (size_t)(end - begin) + 1, "a query", error));
    memcpy(show->name, begin, (size_t)(end - begin));
    for (char *at = show->name; at < show->name + (first->text - begin); at++)
        *at = *at == '\n' ? '\n' : ' ';
    return STATUS_OK;
}

/* Reads what follows DESCRIBE: [TABLE] name, 'file', or a query. */
static enum status read_described(struct sql_tokens *tokens, const char *begin, struct show *show,
                                  struct error *error)
{
    struct sql_token token;
    RETURN_IF_ERROR(sql_token_next(tokens, &token, error));
    if (begins_query(&token))
        return read_query(tokens, begin, &token, show, error);
    if (sql_token_is(&token, "TABLE"))
        RETURN_IF_ERROR(sql_token_next(tokens, &token, error));
    show->position = place(&token);
    show->kind = token.kind == TOKEN_STRING ? SHOW_FILE : SHOW_TABLE;
    if (token.kind != TOKEN_STRING && token.kind != TOKEN_WORD && token.kind != TOKEN_NAME)
        return refuse(error, show->position,
                      "DESCRIBE needs the name of a table or a query; SHOW TABLES lists tables");
    RETURN_IF_ERROR(memory_zeros(&show->name, token.length + 1, "a name", error));
    sql_token_text(&token, show->name);
    return STATUS_OK;
}

static enum status parse(const char *text, size_t length, struct show *show, size_t *used,
                         struct error *error)
{
    struct sql_tokens tokens;
    struct sql_token token;
    sql_tokens_begin(&tokens, text, length);
    RETURN_IF_ERROR(sql_token_next(&tokens, &token, error));
    if (sql_token_is(&token, "SHOW")) {
        RETURN_IF_ERROR(sql_token_next(&tokens, &token, error));
        show->kind = sql_token_is(&token, "VIEWS") ? SHOW_VIEWS : SHOW_TABLES;
        if (show->kind == SHOW_TABLES && !sql_token_is(&token, "TABLES"))
            return refuse(error, place(&token),
                          "there are SHOW TABLES and SHOW VIEWS; DESCRIBE NAME shows a table's columns");
    } else {
        RETURN_IF_ERROR(read_described(&tokens, text, show, error));
    }
    if (show->kind != SHOW_QUERY) {
        RETURN_IF_ERROR(sql_token_next(&tokens, &token, error));
        if (token.kind != TOKEN_END && !sql_token_is(&token, ";"))
            return refuse(error, place(&token), "nothing more is expected here, only a semicolon");
    }
    *used = tokens.at;
    return STATUS_OK;
}

enum status show_parse(const char *text, size_t length, struct show *show, size_t *used, struct error *error)
{
    *show = (struct show){.name = NULL};
    const enum status status = parse(text, length, show, used, error);
    if (status != STATUS_OK)
        show_free(show);
    return status;
}

void show_free(struct show *show)
{
    free(show->name);
    show->name = NULL;
}

/* The table of files, of which the schema alone is read. */
static enum status describe_files(const struct show *show, const struct show_task *task, struct rowset *rows,
                                  struct error *error)
{
    struct statement_files files = {.count = 0};
    const struct table *table;
    const struct logical_files find = statement_files_begin(&files, task->database, task->engine);
    enum status status =
        sql_placed(error, show->position, find.find(find.context, show->name, &table, error));
    status = AND_THEN(status, describe_table(table, rows, error));
    statement_files_end(&files);
    return status;
}

static enum status describe_view(const struct show *show, const struct show_task *task, struct rowset *rows,
                                 struct error *error)
{
    char *query = NULL;
    size_t bytes;
    FILE *const out = text_stream(&query, &bytes);
    if (!out)
        return error_out_of_memory(error, BUFSIZ, "a query");
    fputs("FROM ", out);
    sql_name_write(out, show->name, false);
    enum status status = fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, bytes, "a query");
    status = AND_THEN(status, describe_query(task, query, rows, error));
    free(query);
    return status;
}

enum status show_table(const struct database *database, const char *name, const struct table **table,
                       struct error *error)
{
    *table = database_find(database, name);
    return *table ? STATUS_OK : database_table(database, name, table, error);
}

enum status show_run(const struct show *show, const struct show_task *task, struct rowset *rows,
                     struct error *error)
{
    const struct table *table;
    switch (show->kind) {
    case SHOW_TABLES:
        return show_tables(task->database, rows, error);
    case SHOW_VIEWS:
        return show_views(task->database, rows, error);
    case SHOW_FILE:
        return describe_files(show, task, rows, error);
    case SHOW_QUERY:
        return describe_query(task, show->name, rows, error);
    case SHOW_TABLE:
        break;
    }
    if (database_view(task->database, show->name) && !database_find(task->database, show->name))
        return describe_view(show, task, rows, error);
    RETURN_IF_ERROR(sql_placed(error, show->position, show_table(task->database, show->name, &table, error)));
    return describe_table(table, rows, error);
}
