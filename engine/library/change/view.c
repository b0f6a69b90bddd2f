/*
 * view.c: CREATE VIEW and DROP VIEW; see change.h. A view is its query's text, which each statement that names it binds again
 * (engine/logical/bind/from.c); it is explained once here, so that a view is no surprise. With names for its columns it is
 *
 *     SELECT * FROM (query) AS view (a, b)
 */
#include "engine/library/change/change_internal.h"

#include "engine/logical/logical.h"
#include "storage/base/text/text_stream.h"
#include "storage/base/words/sql_name.h"
#include "storage/database/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Views that are named one in another (engine/logical/bind/from.c). */
#define DEPTH_MOST 16u

/* What a query of WITH may have, but a view cannot: it is kept as a text, and asked at any time. */
static enum status check_query(const struct sql_change *change, struct error *error)
{
    struct sql_statement_tree *tree;
    size_t used;
    if (change->parameter_count)
        return sql_change_refuse(error, change->part_position, "a view cannot have parameters (?)");
    RETURN_IF_ERROR(sql_parse(change->text, strlen(change->text), &tree, &used, error));
    const bool timed = sql_tree_select(tree)->timed;
    sql_tree_free(tree);
    return timed ? sql_change_refuse(error, change->part_position,
                                     "a view cannot name the current time; the query that asks it can")
                 : STATUS_OK;
}

/* The text that is kept. */
static enum status write_query(const struct sql_change *change, char **text, struct error *error)
{
    size_t bytes;
    FILE *const out = text_stream(text, &bytes);
    if (!out)
        return error_out_of_memory(error, BUFSIZ, "a view");
    if (change->column_count)
        fputs("SELECT * FROM (", out);
    fputs(change->part, out);
    if (change->column_count) {
        fputs(") AS ", out);
        sql_name_write(out, change->table, true);
        for (uint32_t c = 0; c < change->column_count; c++) {
            fputs(c ? ", " : " (", out);
            sql_name_write(out, change->columns[c].name, true);
        }
        putc(')', out);
    }
    return fclose(out) == 0 ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "a view");
}

/* Whether the query names the view, itself or through other views. */
static enum status names_view(const struct database *database, const char *query, const char *view,
                              unsigned depth, bool *names, struct error *error)
{
    struct sql_statement_tree *tree;
    size_t used;
    RETURN_IF_ERROR(sql_parse(query, strlen(query), &tree, &used, error));
    const struct sql_select *const select = sql_tree_select(tree);
    enum status status = STATUS_OK;
    *names |= logical_query_names(select, view);
    for (uint32_t v = 0; status == STATUS_OK && depth && !*names && v < database_view_count(database); v++) {
        const char *const other = database_view_at(database, v);
        if (logical_query_names(select, other))
            status = names_view(database, database_view(database, other), view, depth - 1, names, error);
    }
    sql_tree_free(tree);
    return status;
}

static enum status check_circle(const struct change_task *task, const struct sql_change *change,
                                struct error *error)
{
    bool names = false;
    if (!database_view(task->database, change->table))
        return STATUS_OK;
    RETURN_IF_ERROR(names_view(task->database, change->part, change->table, DEPTH_MOST, &names, error));
    return names
               ? sql_change_refuse(error, change->table_position,
                                   "view %s would name itself; give the new view another name", change->table)
               : STATUS_OK;
}

/* Binds and plans it, and answers nothing. */
static enum status explain_query(const struct change_task *task, const char *query, struct error *error)
{
    struct sql_settings settings = task->settings;
    struct sql_statement *statement;
    struct rowset rows = {0};
    size_t used;
    settings.explain = SQL_EXPLAIN;
    settings.observer = NULL;
    RETURN_IF_ERROR(sql_prepare(task->engine, task->database, query, strlen(query), task->codec, &statement,
                                &used, error));
    sql_statement_set(statement, settings);
    const enum status status = sql_run(statement, &rows, NULL, error);
    rowset_free(&rows);
    sql_statement_free(statement);
    return status;
}

static enum status create_view(const struct change_task *task, const struct sql_change *change,
                               struct error *error)
{
    char *query = NULL;
    RETURN_IF_ERROR(check_query(change, error));
    RETURN_IF_ERROR(check_circle(task, change, error));
    enum status status =
        explain_query(task, change->text, error); /* whose places are those of the statement */
    status = AND_THEN(status, write_query(change, &query, error));
    if (status == STATUS_OK && change->column_count)
        status = explain_query(task, query, error);
    status = AND_THEN(status, database_view_create(database_path(task->database), change->table, query,
                                                   change->replaces, error));
    free(query);
    return status;
}

enum status view_run(const struct change_task *task, const struct sql_change *change,
                     struct change_report *report, struct error *error)
{
    const bool there = database_view(task->database, change->table) != NULL;
    const bool creates = change->kind == SQL_CHANGE_VIEW;
    if ((creates && change->if_missing && there) || (change->if_there && !there)) {
        snprintf(report->text, sizeof report->text, "view %s is %s", change->table,
                 there ? "there already" : "not there");
        return STATUS_OK;
    }
    const enum status status = creates
                                   ? create_view(task, change, error)
                                   : database_view_drop(database_path(task->database), change->table, error);
    snprintf(report->text, sizeof report->text, "view %s %s", change->table, creates ? "created" : "dropped");
    report->changed = status == STATUS_OK || status == STATUS_NOT_DURABLE;
    return status;
}
