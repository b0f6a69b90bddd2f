/* change.c: COPY, DELETE, INSERT and CREATE TABLE in scripts and prompts (sql_shell.h). */
#include "engine/library/change/change.h"
#include "engine/program/sql_shell.h"
#include "storage/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The newest state takes the place of the one that is open; the devices keep what both have. After a failure this is tried
 * again before the next statement. */
enum status sql_shell_refresh(struct sql_shell *shell, struct error *error)
{
    if (!shell->stale)
        return STATUS_OK;
    struct database *now;
    RETURN_IF_ERROR(database_open(database_path(shell->database), &now, error));
    sql_cache_close(shell->cache);
    shell->cache = NULL;
    engine_follow(shell->engine, shell->database, now);
    database_close(shell->database);
    shell->database = now;
    RETURN_IF_ERROR(sql_cache_open(shell->engine, shell->database, shell->plan_cache, &shell->cache, error));
    shell->stale = shell->is_new = false;
    return STATUS_OK;
}

/* A change of tables begins with the newest state: others may have changed it since it was opened. */
static enum status prepare(struct sql_shell *shell, const struct sql_change *change, struct error *error)
{
    if (shell->explain != SQL_EXPLAIN_NONE && change->kind != SQL_CHANGE_ZONE)
        return sql_change_refuse(error, change->position,
                                 "only queries are explained; .explain off lets this statement run");
    if (shell->is_new && change->kind == SQL_CHANGE_CREATE && sql_shell_refresh(shell, NULL) != STATUS_OK)
        return STATUS_OK; /* it makes the database; nobody else has made one meanwhile */
    shell->stale = change->kind != SQL_CHANGE_COPY && change->kind != SQL_CHANGE_ZONE &&
                   !engine_cluster(shell->engine) && !database_is_current(shell->database);
    return sql_shell_refresh(shell, error);
}

static enum status try(struct sql_shell *shell, const struct sql_change *change, struct change_report *report,
                       struct error *error)
{
    *report = (struct change_report){0};
    RETURN_IF_ERROR(prepare(shell, change, error));
    const struct change_task task = {.engine = shell->engine,
                                     .database = shell->database,
                                     .codec = shell->codec,
                                     .settings = {.staged = shell->staged,
                                                  .index = shell->index,
                                                  .like = shell->like,
                                                  .zone = shell->zone},
                                     .zone = &shell->zone,
                                     .spill = shell->options.spill};
    const enum status status = change_run(&task, change, report, error);
    shell->stale = report->changed || shell->is_new;
    return status;
}

static enum status run(struct sql_shell *shell, const struct sql_change *change, struct error *error)
{
    const double begin = clock_ms();
    struct change_report report;
    enum status status = try(shell, change, &report, error);
    for (uint32_t i = 1; report.superseded && i < CHANGE_TRIES; i++)
        status = try(shell, change, &report, error);
    const double took = clock_ms() - begin;
    if (status != STATUS_OK || cluster_rank(shell->options.cluster) > 0)
        return status;
    fprintf(stderr, "%s\n", report.text);
    if (shell->timer)
        fprintf(stderr, "total %.3f ms\n", took);
    return STATUS_OK;
}

enum status sql_shell_change(struct sql_shell *shell, const char *text, size_t length, size_t *used,
                             struct error *error)
{
    struct sql_change change;
    RETURN_IF_ERROR(sql_change_parse(text, length, &change, used, error));
    const enum status status = run(shell, &change, error);
    sql_change_free(&change);
    return status;
}
