/*
 * create.c: CREATE TABLE: of a query's rows, or without rows; see change.h.
 *
 * A column of a query's answer whose values are those of a stored column (logical_origin) has its type. It references
 * what that column references; where the answer's rows are rows of one table, each at most once, they have its NOT NULL,
 * and its primary key if all columns of the key are there.
 */
#include "engine/library/change/change_internal.h"

#include "engine/library/arrow_export.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"
#include "storage/base/words/word.h"
#include "storage/database/table_script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_DIGITS_MAX 18

/* ---- The script ---- */

/* The answer that becomes a table. */
struct creation {
    const struct rowset *rows;
    const struct sql_statement *statement;
    const struct table *rows_of; /* or NULL */
    const struct table *replaced;
};

static void write_type(FILE *script, const struct column *origin, struct value_type type)
{
    char text[64];
    const struct column *const typed = origin && origin->references ? origin->references : origin;
    if (typed) {
        fputs(column_type_text(&typed->schema, text), script);
        return;
    }
    switch (type.kind) {
    case VALUE_INTEGER:
        if (value_is_decimal(type))
            fprintf(script, "DECIMAL(%d,%u)", DECIMAL_DIGITS_MAX, type.scale);
        else
            fputs("BIGINT", script);
        break;
    case VALUE_DATE:
        fputs("DATE", script);
        break;
    case VALUE_TIMESTAMP:
        fputs(type.zoned ? "TIMESTAMP WITH TIME ZONE" : "TIMESTAMP", script);
        break;
    case VALUE_BOOLEAN:
        fputs("BOOLEAN", script);
        break;
    case VALUE_STRING:
        fputs("TEXT", script);
        break;
    case VALUE_DOUBLE:
        fputs("DOUBLE", script);
        break;
    }
}

/* A reference to the table that is replaced, or a key of it, would go with it. */
static const struct column *reference_of(const struct creation *creation, const struct column *origin)
{
    const struct column *const key = origin ? origin->references : NULL;
    return key && key->table != creation->replaced ? key : NULL;
}

static void write_column(FILE *script, const struct creation *creation, uint32_t c)
{
    const struct column *const origin = sql_origin(creation->statement, c);
    const struct column *const key = reference_of(creation, origin);
    const bool own = origin && origin->table == creation->rows_of;
    sql_name_write(script, creation->rows->columns[c].name, true);
    putc(' ', script);
    write_type(script, origin, creation->rows->columns[c].type);
    if (own && !origin->schema.nullable && !creation->rows->columns[c].nulls)
        fputs(" NOT NULL", script);
    if (!key)
        return;
    fputs(" REFERENCES ", script);
    sql_name_write(script, key->table->name, true);
    putc('(', script);
    sql_name_write(script, key->schema.name, true);
    putc(')', script);
}

/* The first column of the answer that has this column's values; UINT32_MAX: none. */
static uint32_t find_place(const struct creation *creation, const struct column *column)
{
    for (uint32_t c = 0; c < creation->rows->column_count; c++)
        if (sql_origin(creation->statement, c) == column)
            return c;
    return UINT32_MAX;
}

/* Writes "word (a, b)" of columns of a table that are all in the answer; false: some are not. */
static bool write_key(FILE *script, const struct creation *creation, const struct table *table,
                      const struct key_columns *key, const char *word)
{
    for (uint32_t k = 0; k < key->count; k++)
        if (find_place(creation, &table->columns[key->columns[k]]) == UINT32_MAX)
            return false;
    fprintf(script, ", %s (", word);
    for (uint32_t k = 0; k < key->count; k++) {
        fputs(k ? ", " : "", script);
        sql_name_write(script,
                       creation->rows->columns[find_place(creation, &table->columns[key->columns[k]])].name,
                       true);
    }
    putc(')', script);
    return true;
}

/* The primary key of the table whose rows the answer has, and its references of several columns. */
static void write_keys(FILE *script, const struct creation *creation)
{
    const struct table *const table = creation->rows_of;
    struct key_columns primary = {0};
    if (!table)
        return;
    primary = table->key;
    for (uint32_t c = 0; c < table_visible_columns(table); c++)
        if (table->columns[c].schema.primary_key)
            primary = (struct key_columns){.count = 1, .columns = {c}};
    if (primary.count)
        (void)write_key(script, creation, table, &primary, "PRIMARY KEY");
    for (uint32_t c = table_visible_columns(table); c < table->column_count; c++) {
        const struct column *const reference = &table->columns[c], *const to = reference->references;
        if (!to || to->table == table || !reference_of(creation, reference) ||
            !write_key(script, creation, table, &reference->schema.of, "FOREIGN KEY"))
            continue;
        fputs(" REFERENCES ", script);
        sql_name_write(script, to->table->name, true);
        for (uint32_t k = 0; k < reference->schema.key.count; k++) {
            fputs(k ? ", " : " (", script);
            sql_name_write(script, to->table->columns[reference->schema.key.columns[k]].schema.name, true);
        }
        putc(')', script);
    }
}

static const char *table_name(const struct sql_change *change, const struct creation *creation)
{
    return creation->replaced ? creation->replaced->name : change->table;
}

/* The script of the new table, and all others. */
static enum status write_script(const struct change_task *task, const struct sql_change *change,
                                const struct creation *creation, char **text, struct error *error)
{
    size_t bytes;
    FILE *const script = text_stream(text, &bytes);
    if (!script)
        return error_out_of_memory(error, BUFSIZ, "a statement");
    if (creation->rows) {
        fputs("CREATE TABLE ", script);
        sql_name_write(script, table_name(change, creation), true);
        for (uint32_t c = 0; c < creation->rows->column_count; c++) {
            fputs(c ? ", " : " (", script);
            write_column(script, creation, c);
        }
        write_keys(script, creation);
        putc(')', script);
    } else {
        fputs(change->text, script);
    }
    fputs(";\n", script);
    database_script_write(script, task->database, creation->replaced);
    return fclose(script) == 0 ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "a statement");
}

/* ---- Names ---- */

/* The names of the statement, if it has any; all must differ. */
static enum status name_columns(const struct sql_change *change, struct rowset *rows, struct error *error)
{
    if (change->column_count && change->column_count != rows->column_count)
        return sql_change_refuse(error, change->columns[0].position,
                                 "%u columns are named, and the query has %u", change->column_count,
                                 rows->column_count);
    for (uint32_t c = 0; c < rows->column_count; c++) {
        if (change->column_count)
            RETURN_IF_ERROR(change_rename(rows, c, change->columns[c].name, error));
        for (uint32_t before = 0; before < c; before++)
            if (word_compare(rows->columns[before].name, rows->columns[c].name) == 0)
                return sql_change_refuse(error, change->part_position,
                                         "two columns of the query are called %.200s; give one an alias",
                                         rows->columns[c].name);
        if (strlen(rows->columns[c].name) >= NAME_BYTES)
            return sql_change_refuse(error, change->part_position,
                                     "the name of column %u is longer than %u bytes; give it an alias", c + 1,
                                     NAME_BYTES - 1);
    }
    return STATUS_OK;
}

/* A table that others reference cannot be replaced by one without its keys. */
static enum status check_replaced(const struct change_task *task, const struct sql_change *change,
                                  const struct table *replaced, struct error *error)
{
    for (uint32_t t = 0; replaced && t < database_table_count(task->database); t++) {
        const struct table *const table = database_table_at(task->database, t);
        for (uint32_t c = 0; table != replaced && c < table->column_count; c++)
            if (table->columns[c].references && table->columns[c].references->table == replaced)
                return sql_change_refuse(error, change->table_position,
                                         "table %s cannot be replaced, because table %s references it",
                                         replaced->name, table->name);
    }
    return STATUS_OK;
}

/* ---- The load ---- */

static enum status load(const struct change_task *task, const char *script, const char *name, bool replaces,
                        struct ArrowArrayStream *stream, struct error *error)
{
    const struct change_load how = {.mode = replaces ? CHANGE_LOAD_REPLACE : CHANGE_LOAD_NEW};
    struct load_report report;
    return change_load(task, script, name, stream, &how, &report, error);
}

static enum status create_of_query(const struct change_task *task, const struct sql_change *change,
                                   struct creation *creation, struct rowset *rows, struct error *error)
{
    struct ArrowArrayStream stream;
    char *script = NULL;
    RETURN_IF_ERROR(name_columns(change, rows, error));
    creation->rows = rows;
    creation->rows_of = sql_rows_of(creation->statement);
    enum status status = write_script(task, change, creation, &script, error);
    status = AND_THEN(status, arrow_export_rows(rows, &stream, error));
    if (status == STATUS_OK)
        status = load(task, script, table_name(change, creation), creation->replaced != NULL, &stream, error);
    free(script);
    return status;
}

/* A table of a script, as the columns of a stream without rows. The stream has their names, which are the script's. */
struct empty_table {
    struct schema_script script;
    struct tessera_values *columns;
};

static void empty_table_free(struct empty_table *empty)
{
    free(empty->columns);
    schema_script_free(&empty->script);
}

static enum status make_columns(struct empty_table *empty, const char *name, struct ArrowArrayStream *stream,
                                struct error *error)
{
    static const char *const none[] = {NULL};
    const struct schema_table *const table = schema_table(&empty->script, name);
    const uint32_t count = table->column_count;
    RETURN_IF_ERROR(memory_zeros(&empty->columns, (count + 1) * sizeof *empty->columns, "a table", error));
    for (uint32_t c = 0; c < count; c++)
        empty->columns[c] = (struct tessera_values){.name = table->columns[c].name, .texts = none};
    return arrow_export_values(empty->columns, count, 0, stream, error);
}

/* What later statements would not heed is refused here; a load heeds it for its own rows. */
static enum status check_kept(const struct sql_change *change, const struct schema_table *table,
                              struct error *error)
{
    return table->unkept ? sql_change_refuse(
                               error, change->table_position,
                               "%s is not kept with a table, so that INSERT would not heed it; leave it out",
                               table->unkept)
                         : STATUS_OK;
}

static enum status load_empty(const struct change_task *task, const struct sql_change *change,
                              const char *script, const char *name, bool replaces, struct error *error)
{
    struct ArrowArrayStream stream;
    struct empty_table empty = {.columns = NULL};
    RETURN_IF_ERROR(change_script_parse(script, &empty.script, error));
    enum status status = check_kept(change, schema_table(&empty.script, name), error);
    status = AND_THEN(status, make_columns(&empty, name, &stream, error));
    if (status == STATUS_OK)
        status = load(task, script, name, replaces, &stream, error);
    empty_table_free(&empty);
    return status;
}

static enum status create_empty(const struct change_task *task, const struct sql_change *change,
                                const struct creation *creation, struct error *error)
{
    char *script = NULL;
    enum status status = write_script(task, change, creation, &script, error);
    status = AND_THEN(status, load_empty(task, change, script, table_name(change, creation),
                                         creation->replaced != NULL, error));
    free(script);
    return status;
}

enum status create_run(const struct change_task *task, const struct sql_change *change,
                       struct change_report *report, struct error *error)
{
    const struct table *const there = database_find(task->database, change->table);
    struct creation creation = {.replaced = there};
    struct sql_statement *statement = NULL;
    struct rowset rows = {0};
    if (there && change->if_missing) {
        snprintf(report->text, sizeof report->text, "%s: the table is there already", there->name);
        return STATUS_OK;
    }
    if (there && !change->replaces)
        return sql_change_refuse(error, change->table_position,
                                 "there is a table %s already; CREATE OR REPLACE TABLE replaces it",
                                 there->name);
    if (there && change->defines && strcmp(there->name, change->table) != 0)
        return sql_change_refuse(error, change->table_position, "the table's name is written %s",
                                 there->name);
    RETURN_IF_ERROR(check_replaced(task, change, there, error));
    enum status status = STATUS_OK;
    uint64_t count = 0;
    if (change->defines) {
        status = create_empty(task, change, &creation, error);
    } else {
        status = change_query(task, change->text, 0, &rows, &statement, error);
        count = rows.rows;
        creation.statement = statement;
        status = AND_THEN(status, create_of_query(task, change, &creation, &rows, error));
    }
    rowset_free(&rows);
    sql_statement_free(statement);
    report->changed = status == STATUS_OK || status == STATUS_NOT_DURABLE;
    report->rows = report->changed ? count : 0;
    snprintf(report->text, sizeof report->text, "%s: %" PRIu64 " row%s", change->table, report->rows,
             report->rows == 1 ? "" : "s");
    return status;
}
