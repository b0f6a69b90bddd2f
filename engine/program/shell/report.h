/*
 * report.h: the page of `tessera sql --report`: each statement with EXPLAIN ANALYZE, its plan, and what it measured.
 *
 *     sql_report_open -> (sql_report_observer while a statement runs, sql_report_add after it)... -> sql_report_write
 */
#ifndef TESSERA_ENGINE_PROGRAM_SHELL_REPORT_H
#define TESSERA_ENGINE_PROGRAM_SHELL_REPORT_H

#include "engine/explain/explain.h"
#include "engine/report/page.h"

struct sql_report;

/* Begins a report without statements. Free with sql_report_close. */
NODISCARD enum status sql_report_open(struct sql_report **report, struct error *error);
void sql_report_close(struct sql_report *report); /* NULL is legal */

/* What a statement that is run must tell its plan to; NULL for NULL. */
const struct explain_observer *sql_report_observer(struct sql_report *report);

/* Adds a statement that EXPLAIN ANALYZE has run; the observer was told its plan. */
NODISCARD enum status sql_report_add(struct sql_report *report, const char *statement, size_t length,
                                     struct error *error);

/* Writes the page (page_write), once. STATUS_BAD_INPUT if there was no statement to show. `argc` and `argv` are the command
 * line; `database` and `device` are texts for the page's head. */
NODISCARD enum status sql_report_write(struct sql_report *report, const char *path, const char *database,
                                       const char *device, int argc, char *const *argv, struct error *error);

/* Adds the plan of an analysed statement to the page: its lines, charts and tables (report_plan.c). */
NODISCARD enum status sql_report_plan(struct page *page, const struct explain_node *root,
                                      struct error *error);

#endif
