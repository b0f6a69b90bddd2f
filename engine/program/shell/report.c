/* report.c: see report.h. A statement's plan is told while it runs, so it waits in a page of its own. */
#include "engine/program/shell/report.h"

#include <stdlib.h>
#include <string.h>

struct sql_report {
    struct page *statements; /* all that have been added */
    struct page *plans;      /* of the statement that runs; NULL: it was not told yet */
    uint32_t count;          /* of statements */
    struct explain_observer observer;
};

static enum status add_plan(void *context, const struct explain_node *root, struct error *error)
{
    struct sql_report *const report = context;
    RETURN_IF_ERROR(page_create("", &report->plans, error));
    return sql_report_plan(report->plans, root, error);
}

enum status sql_report_open(struct sql_report **report, struct error *error)
{
    struct sql_report *const made = calloc(1, sizeof *made);
    *report = made;
    if (!made)
        return error_out_of_memory(error, sizeof *made, "the report");
    made->observer = (struct explain_observer){.analysed = add_plan, .context = made};
    return page_create("", &made->statements, error);
}

void sql_report_close(struct sql_report *report)
{
    if (!report)
        return;
    page_destroy(report->statements);
    page_destroy(report->plans);
    free(report);
}

const struct explain_observer *sql_report_observer(struct sql_report *report)
{
    return report ? &report->observer : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static enum status add_statement(struct page *page, const char *statement, size_t length, struct error *error)
{
    while (length && is_blank(*statement)) {
        statement++;
        length--;
    }
    while (length && is_blank(statement[length - 1]))
        length--;
    char *const text = strndup(statement, length);
    if (!text)
        return error_out_of_memory(error, length, "the report");
    page_code(page, text);
    free(text);
    return STATUS_OK;
}

enum status sql_report_add(struct sql_report *report, const char *statement, size_t length,
                           struct error *error)
{
    char heading[32] = "Statement";
    if (report->count++)
        snprintf(heading, sizeof heading, "Statement %u", report->count);
    page_section(report->statements, heading);
    RETURN_IF_ERROR(add_statement(report->statements, statement, length, error));
    page_append(report->statements, report->plans);
    report->plans = NULL;
    return STATUS_OK;
}

enum status sql_report_write(struct sql_report *report, const char *path, const char *database,
                             const char *device, int argc, char *const *argv, struct error *error)
{
    struct page *page;
    if (report->count == 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "--report shows what EXPLAIN ANALYZE measures, and no statement had it; write "
                         "EXPLAIN ANALYZE before SELECT");
    RETURN_IF_ERROR(page_create("EXPLAIN ANALYZE", &page, error));
    page_fact(page, "Device", device);
    page_fact(page, "Database", database);
    page_fact(page, "Times", "medians of up to five runs after a first one, in milliseconds");
    page_command(page, argc, argv);
    page_date(page);
    page_append(page, report->statements);
    report->statements = NULL;
    const enum status status = page_write(path, page, error);
    page_destroy(page);
    return status;
}
