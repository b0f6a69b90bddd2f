/* report_table.c: the report as tables for people; see report.h. */
#include "ssb/benchmark/report.h"

#include <errno.h>
#include <string.h>

static void write_fact(void *file, const char *name, const char *value)
{
    fprintf(file, "%s:%*s%s\n", name, (int)(9 - strlen(name)), "", value);
}

static enum status write_sheet(const struct report *report, report_sheet_maker *make, FILE *file,
                               struct error *error)
{
    struct sheet *sheet;
    RETURN_IF_ERROR(make(report, &sheet, error));
    fputc('\n', file);
    const enum status status = sheet_print_table(sheet, file, error);
    sheet_destroy(sheet);
    return status;
}

enum status report_table(const struct report *report, FILE *file, struct error *error)
{
    report_facts(report, write_fact, file);
    RETURN_IF_ERROR(
        write_sheet(report, report->compared ? report_sheet_comparison : report_sheet_queries, file, error));
    if (report->compared)
        RETURN_IF_ERROR(write_sheet(report, report_sheet_column_sizes, file, error));
    RETURN_IF_ERROR(write_sheet(report, report_sheet_totals, file, error));
    if (report->compared)
        fprintf(file, REPORT_SPEED_NOTE "\n", report->choices[0]);
    if (report->profile)
        RETURN_IF_ERROR(write_sheet(report, report_sheet_steps, file, error));
    if (!report->on_gpu)
        fputs(REPORT_CPU_NOTE "\n", file);
    if (ferror(file))
        return error_set_errno(error, errno, "cannot write the report");
    return STATUS_OK;
}
