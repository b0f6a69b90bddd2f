/* change.c: see change.h. */
#include "engine/library/change/change_internal.h"

#include "engine/library/delete.h"
#include "engine/sql/sql_error.h"
#include "storage/base/words/near_word.h"
#include "storage/base/words/word.h"
#include "storage/base/zone/zone.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status change_table(const struct change_task *task, const struct sql_change *change,
                         const struct table **table, struct error *error)
{
    *table = database_find(task->database, change->table);
    return *table ? STATUS_OK
                  : sql_placed(error, change->table_position,
                               database_table(task->database, change->table, table, error));
}

enum status change_column(const struct table *table, const struct sql_shared *named,
                          const struct column **column, struct error *error)
{
    *column = NULL;
    for (uint32_t c = 0; c < table_visible_columns(table); c++) {
        const struct column *const at = &table->columns[c];
        if (strcmp(at->schema.name, named->name) == 0 ||
            (!*column && word_compare(at->schema.name, named->name) == 0))
            *column = at;
    }
    if (*column)
        return STATUS_OK;
    struct near_word near = near_word_begin(named->name);
    for (uint32_t c = 0; c < table_visible_columns(table); c++)
        near_word_try(&near, table->columns[c].schema.name);
    return sql_change_refuse(error, named->position, "table %s has no column %s%s%s%s", table->name,
                             named->name, near.nearest ? "; did you mean " : "",
                             near.nearest ? near.nearest : "", near.nearest ? "?" : "");
}

/* ---- Queries ---- */

struct sql_settings change_settings(const struct change_task *task)
{
    struct sql_settings settings = task->settings;
    settings.explain = SQL_EXPLAIN_NONE;
    settings.observer = NULL;
    return settings;
}

static enum status run(const struct change_task *task, struct sql_statement *statement, uint32_t first,
                       struct rowset *rows, struct error *error)
{
    for (uint32_t p = 0; p < sql_parameter_count(statement); p++)
        RETURN_IF_ERROR(sql_parameter_set(statement, p, &task->parameters[first + p], error));
    sql_statement_set(statement, change_settings(task));
    return sql_run(statement, rows, NULL, error);
}

enum status change_query(const struct change_task *task, const char *text, uint32_t first,
                         struct rowset *rows, struct sql_statement **out, struct error *error)
{
    struct sql_statement *statement;
    size_t used;
    *rows = (struct rowset){0};
    RETURN_IF_ERROR(
        sql_prepare(task->engine, task->database, text, strlen(text), task->codec, &statement, &used, error));
    if (!statement)
        return error_set(error, STATUS_BAD_INPUT, "the statement has no query");
    const enum status status = run(task, statement, first, rows, error);
    if (out && status == STATUS_OK)
        *out = statement;
    else
        sql_statement_free(statement);
    return status;
}

enum status change_rename(struct rowset *rows, uint32_t column, const char *name, struct error *error)
{
    char *const copy = strdup(name);
    if (!copy)
        return error_out_of_memory(error, strlen(name), "the name of a column");
    free(rows->columns[column].name);
    rows->columns[column].name = copy;
    return STATUS_OK;
}

const char *change_type_text(struct value_type type)
{
    switch (type.kind) {
    case VALUE_INTEGER:
        return value_is_decimal(type) ? "a decimal" : "a whole number";
    case VALUE_DATE:
        return "a date";
    case VALUE_TIMESTAMP:
        return type.zoned ? "a timestamp with time zone" : "a timestamp";
    case VALUE_BOOLEAN:
        return "a truth value";
    case VALUE_STRING:
        return "a text";
    case VALUE_DOUBLE:
        return "a double";
    }
    return "";
}

/* ---- Loads ---- */

enum status change_script_parse(const char *script, struct schema_script *parsed, struct error *error)
{
    struct sql_position place = {.column = 1};
    char text[ERROR_TEXT_BYTES];
    int after = 0;
    struct error why = {0};
    const enum status status = schema_script_parse("", script, strlen(script), parsed, &why);
    if (status == STATUS_OK)
        return STATUS_OK;
    if (sscanf(why.text, ":%u:%u: %n", &place.line, &place.column, &after) != 2 || !after)
        (void)sscanf(why.text, ":%u: %n", &place.line, &after);
    memcpy(text, why.text + after, sizeof text - (size_t)after);
    text[strcspn(text, "\n")] = '\0'; /* the first fault */
    return after ? sql_change_refuse(error, place, "%s", text) : error_set(error, status, "%s", text);
}

enum status change_load(const struct change_task *task, const char *script, const char *table,
                        struct ArrowArrayStream *stream, const struct change_load *how,
                        struct load_report *report, struct error *error)
{
    struct schema_script parsed;
    const struct load_input input = {.table = table, .stream = stream};
    const struct load_options options = {.directory = database_path(task->database),
                                         .inputs = &input,
                                         .input_count = 1,
                                         .append = how->mode == CHANGE_LOAD_APPEND,
                                         .replace = how->mode == CHANGE_LOAD_REPLACE,
                                         .replacement = how->replaces,
                                         .threads = engine_threads(task->engine),
                                         .memory = engine_memory(task->engine)->limit,
                                         .spill = task->spill,
                                         .text = {.reading = {.round = true, .zone = task->settings.zone}},
                                         .of_statement = true};
    engine_choose_by_device();
    enum status status = change_script_parse(script, &parsed, error);
    if (status == STATUS_OK) {
        status = tables_load(&parsed, &options, report, NULL, error);
        schema_script_free(&parsed);
    }
    if (stream->release)
        stream->release(stream);
    return status;
}

/* ---- DELETE ---- */

static enum status delete_run(const struct change_task *task, const struct sql_change *change,
                              struct change_report *report, struct error *error)
{
    const struct table *table;
    RETURN_IF_ERROR(change_table(task, change, &table, error));
    const struct row_condition condition = {.text = change->text ? change->part : "true",
                                            .place = change->part_position,
                                            .parameters = task->parameters,
                                            .parameter_count = change->parameter_count,
                                            .settings = change_settings(task)};
    const enum status status =
        rows_delete(task->engine, task->database, table->name, &condition, &report->rows, error);
    snprintf(report->text, sizeof report->text, "%s: %" PRIu64 " row%s deleted", table->name, report->rows,
             report->rows == 1 ? "" : "s");
    report->changed = report->rows > 0;
    return status;
}

/* ---- All ---- */

static enum status set_zone(const struct change_task *task, const struct sql_change *change,
                            struct change_report *report, struct error *error)
{
    struct error why = {0};
    const enum status status = zone_find(change->zone, task->zone, &why);
    if (status == STATUS_BAD_INPUT)
        return sql_change_refuse(error, change->part_position, "%s", why.text);
    if (status != STATUS_OK)
        return error_set(error, status, "%s", why.text);
    snprintf(report->text, sizeof report->text, "time zone %s", zone_name(*task->zone));
    return STATUS_OK;
}

enum status change_run(const struct change_task *task, const struct sql_change *change,
                       struct change_report *report, struct error *error)
{
    static enum status (*const kinds[])(const struct change_task *, const struct sql_change *,
                                        struct change_report *, struct error *) = {
        [SQL_CHANGE_COPY] = copy_run,     [SQL_CHANGE_DELETE] = delete_run,
        [SQL_CHANGE_INSERT] = insert_run, [SQL_CHANGE_CREATE] = create_run,
        [SQL_CHANGE_VIEW] = view_run,     [SQL_CHANGE_DROP_VIEW] = view_run};
    *report = (struct change_report){0};
    if (change->kind == SQL_CHANGE_ZONE)
        return set_zone(task, change, report, error);
    if (change->parameter_count && !task->parameters && change->kind != SQL_CHANGE_VIEW)
        return error_set(error, STATUS_BAD_INPUT,
                         "the statement has parameters (?), which only programs can set; write the values");
    if (change->kind != SQL_CHANGE_COPY && !*database_path(task->database))
        return sql_change_refuse(error, change->position,
                                 "there is no database to change; open one (--db DIR)");
    if (change->kind != SQL_CHANGE_COPY && engine_cluster(task->engine))
        return error_set(error, STATUS_BAD_INPUT,
                         "tables are changed by one process; run this statement without --cluster");
    const enum status status = kinds[change->kind](task, change, report, error);
    report->superseded =
        status == STATUS_BAD_INPUT && change->kind != SQL_CHANGE_COPY && !database_is_current(task->database);
    return status;
}
