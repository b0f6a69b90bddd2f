/* report_csv.c: the report as lines of comma-separated fields; see report.h. */
#include "ssb/benchmark/report.h"

#include <errno.h>
#include <inttypes.h>

/* Writes a text that may contain commas (a device's name, a path) in quotes, as in RFC 4180. */
static void write_quoted(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void write_cell(const struct report *report, const struct report_query *query, uint32_t choice,
                       FILE *file)
{
    const struct report_cell *cell = &query->cells[choice];
    fprintf(file, "%s,%s,", query->name, report->choices[choice]);
    write_quoted(file, report->device);
    fprintf(file,
            ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%.6f,%.6f,%.6f,%.6f,%.2f,%.3f,%.3f,%.6f,",
            cell->fact_rows, cell->answer_rows, cell->tiles, cell->tiles_skipped, cell->bytes_read,
            cell->total.median, cell->total.min, cell->kernel.median, cell->kernel.min,
            report_share(report, cell), cell->compile_ms, cell->skip_ms,
            query->cells[0].total.median / cell->total.median);
    if (query->sqlite_ms > 0)
        fprintf(file, "%.3f", query->sqlite_ms);
    fprintf(file, ",%s,%s", cell->hash, answer_check_text(cell->check));
    if (report->staged)
        fprintf(file, ",%.6f,%" PRIu64, cell->stage.median, cell->stage_bytes);
    fputc('\n', file);
}

static void write_steps(const struct report *report, FILE *file)
{
    fputs("\nquery,codec,step,rows,bytes,median_ms,gb_per_second,percent_of_ceiling\n", file);
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++)
            for (uint32_t s = 0; s < report_step_count(report); s++) {
                struct report_step step;
                report_step_get(report, &report->queries[q].cells[c], s, &step);
                fprintf(file, "%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%.6f,%.4f,%.2f\n", report->queries[q].name,
                        report->choices[c], step.name, step.rows, step.bytes, step.ms, step.rate / 1e9,
                        step.share);
            }
}

enum status report_csv(const struct report *report, FILE *file, struct error *error)
{
    fputs("query,codec,device,rows,answer_rows,tiles,tiles_skipped,bytes_read,total_median_ms,total_min_ms,"
          "kernel_median_ms,"
          "kernel_min_ms,percent_of_ceiling,compile_ms,skip_ms,speed,sqlite_ms,result_hash,check",
          file);
    fputs(report->staged ? ",decode_median_ms,decode_bytes_read\n" : "\n", file);
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++)
            write_cell(report, &report->queries[q], c, file);
    if (report->column_count)
        fputs("\ncolumn,choice,codec,bytes,bits_per_value,ratio\n", file);
    for (uint32_t i = 0; i < report->column_count; i++)
        for (uint32_t c = 0; c < report->choice_count; c++) {
            const struct report_column *column = &report->columns[i];
            const struct report_encoding *encoding = &column->encodings[c];
            fprintf(file, "%s,%s,%s,%" PRIu64 ",%.4f,%.4f\n", column->name, report->choices[c],
                    encoding->codec, encoding->bytes, report_bits(report, encoding),
                    report_ratio(report, column, encoding));
        }
    if (report->profile)
        write_steps(report, file);
    if (ferror(file))
        return error_set_errno(error, errno, "cannot write the report");
    return STATUS_OK;
}
