/* report_csv.c: the report as lines of comma-separated fields; see report.h. */
#include "ssb/benchmark/report.h"

#include <errno.h>

static enum status write_sheet(const struct report *report, report_sheet_maker *make, const char *before,
                               FILE *file, struct error *error)
{
    struct sheet *sheet;
    RETURN_IF_ERROR(make(report, &sheet, error));
    fputs(before, file);
    const enum status status = sheet_print_csv(sheet, file, error);
    sheet_destroy(sheet);
    return status;
}

enum status report_csv(const struct report *report, FILE *file, struct error *error)
{
    RETURN_IF_ERROR(write_sheet(report, report_sheet_queries, "", file, error));
    if (report->compared)
        RETURN_IF_ERROR(write_sheet(report, report_sheet_columns, "\n", file, error));
    if (report->profile)
        RETURN_IF_ERROR(write_sheet(report, report_sheet_steps, "\n", file, error));
    if (ferror(file))
        return error_set_errno(error, errno, "cannot write the report");
    return STATUS_OK;
}
