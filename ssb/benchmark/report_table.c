/* report_table.c: the report as tables for people; see report.h. */
#include "ssb/benchmark/report.h"

#include <errno.h>
#include <inttypes.h>

#define MEGABYTE 1e6
#define GIGABYTE 1e9

static void write_head(const struct report *report, FILE *file)
{
    fprintf(file, "Device:   %s", report->device);
    if (report->why_cpu)
        fprintf(file, " (%s)", report->why_cpu);
    fprintf(file, "\nDatabase: %s", report->database);
    if (report->scale_factor > 0)
        fprintf(file, ", scale factor %g", report->scale_factor);
    fprintf(file, ", %" PRIu64 " rows of lineorder\n", report->fact_rows);
    fprintf(file, "Checked:  by %s\n", report->judge);
    fprintf(file, "Memory:   read at %.1f GB/s at most, measured in this run\n",
            report->read_ceiling / GIGABYTE);
    if (report->staged)
        fprintf(file,
                "Staged:   %s are decoded into scratch memory, then queried there; the total has both\n",
                report->staged_all ? "columns" : "columns in codecs that take several passes on a GPU");
    fprintf(file, "Times:    median of %" PRIu32 " runs after %" PRIu32 " untimed, in milliseconds\n\n",
            report->repeat, report->warmup);
}

static void write_sqlite_ratio(FILE *file, double ratio)
{
    if (ratio > 0)
        fprintf(file, " %9.1fx", ratio);
    else
        fprintf(file, " %10s", "-");
}

/* ---- One choice: everything about each query ---- */

static void write_details(const struct report *report, FILE *file)
{
    fprintf(file, "%-6s %-10s %10s %10s", "query", "codec", "total ms", "min ms");
    if (report->staged)
        fprintf(file, " %10s", "decode ms");
    fprintf(file, " %10s %9s %8s %8s %10s %6s  %-16s  %s\n", "kernel ms", "MB read", "GB/s", "% of max",
            "vs SQLite", "rows", "result hash", "check");
    for (uint32_t q = 0; q < report->query_count; q++) {
        const struct report_query *query = &report->queries[q];
        const struct report_cell *cell = query->cells;
        fprintf(file, "%-6s %-10s %10.3f %10.3f", query->name, report->choices[0], cell->total.median,
                cell->total.min);
        if (report->staged)
            fprintf(file, " %10.3f", cell->stage.median);
        fprintf(file, " %10.3f %9.2f %8.2f %8.1f", cell->kernel.median, (double)cell->bytes_read / MEGABYTE,
                report_rate(cell) / GIGABYTE, report_share(report, cell));
        write_sqlite_ratio(file, query->sqlite_ms / cell->total.median);
        fprintf(file, " %6" PRIu64 "  %-16s  %s\n", cell->answer_rows, cell->hash,
                answer_check_text(cell->check));
    }
    struct report_totals totals;
    report_totals(report, 0, &totals);
    fprintf(file, "\nsum of medians %.3f ms, geometric mean %.3f ms", totals.total_ms, totals.mean_ms);
    if (totals.mean_sqlite > 0)
        fprintf(file, "; faster than SQLite %.1f times in the geometric mean, %.1f times at least",
                totals.mean_sqlite, totals.least_sqlite);
    fputc('\n', file);
}

/* Writes the time of each query's steps. */
static void write_steps(const struct report *report, FILE *file)
{
    fprintf(file, "\n%-6s %-10s %-7s %11s %9s %10s %8s %8s %10s  %s\n", "query", "codec", "step", "rows",
            "MB", "ms", "GB/s", "% of max", "% of total", "tiles skipped");
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++)
            for (uint32_t s = 0; s < report_step_count(report); s++) {
                const struct report_cell *cell = &report->queries[q].cells[c];
                struct report_step step;
                report_step_get(report, cell, s, &step);
                fprintf(file, "%-6s %-10s %-7s %11" PRIu64 " %9.3f %10.4f %8.2f %8.1f %10.1f",
                        s ? "" : report->queries[q].name, s ? "" : report->choices[c], step.name, step.rows,
                        (double)step.bytes / MEGABYTE, step.ms, step.rate / GIGABYTE, step.share,
                        cell->total.median > 0 ? 100 * step.ms / cell->total.median : 0);
                if (step.tiles)
                    fprintf(file, "  %" PRIu64 " of %" PRIu64, step.tiles_skipped, step.tiles);
                fputc('\n', file);
            }
}

/* ---- Several choices side by side ---- */

/* "ok", "skipped", "ok, skipped: plain", "wrong: gpu-star auto". */
static void write_check(const struct report *report, const struct report_query *query, FILE *file)
{
    uint32_t counts[] = {[ANSWER_SKIPPED] = 0, [ANSWER_OK] = 0, [ANSWER_WRONG] = 0};
    for (uint32_t c = 0; c < report->choice_count; c++)
        counts[query->cells[c].check]++;
    enum answer_check all = counts[ANSWER_WRONG] ? ANSWER_WRONG
                            : counts[ANSWER_OK]  ? ANSWER_OK
                                                 : ANSWER_SKIPPED;
    enum answer_check named = all == ANSWER_WRONG ? ANSWER_WRONG : ANSWER_SKIPPED;
    fprintf(file, "  %s", answer_check_text(all));
    if (all == ANSWER_OK && counts[ANSWER_SKIPPED])
        fputs(", skipped", file);
    for (uint32_t c = 0; c < report->choice_count; c++)
        if (all != ANSWER_SKIPPED && query->cells[c].check == named)
            fprintf(file, " %s", report->choices[c]);
    fputc('\n', file);
}

static void write_comparison(const struct report *report, FILE *file)
{
    fprintf(file, "%-7s", "");
    for (uint32_t c = 0; c < report->choice_count; c++)
        fprintf(file, "%-*s", c ? 33 : 23, report->choices[c]);
    fprintf(file, "\n%-6s", "query");
    for (uint32_t c = 0; c < report->choice_count; c++) {
        fprintf(file, " %10s", "ms");
        if (c)
            fprintf(file, " %9s", "speed");
        fprintf(file, " %10s ", "vs SQLite");
    }
    fprintf(file, " %9s  check\n", "SQLite ms");
    for (uint32_t q = 0; q < report->query_count; q++) {
        const struct report_query *query = &report->queries[q];
        fprintf(file, "%-6s", query->name);
        for (uint32_t c = 0; c < report->choice_count; c++) {
            double ms = query->cells[c].total.median;
            fprintf(file, " %10.3f", ms);
            if (c)
                fprintf(file, " %8.2fx", query->cells[0].total.median / ms);
            write_sqlite_ratio(file, query->sqlite_ms / ms);
            fputc(' ', file);
        }
        if (query->sqlite_ms > 0)
            fprintf(file, " %9.1f", query->sqlite_ms);
        else
            fprintf(file, " %9s", "-");
        write_check(report, query, file);
    }
}

static void write_totals(const struct report *report, FILE *file)
{
    fprintf(file, "\n%-12s %12s %14s %14s %16s %16s", "codec", "sum ms", "geo. mean ms", "mean speed",
            "mean vs SQLite", "least vs SQLite");
    fputs(report->column_count ? "  lineorder\n" : "\n", file);
    for (uint32_t c = 0; c < report->choice_count; c++) {
        struct report_totals totals;
        report_totals(report, c, &totals);
        fprintf(file, "%-12s %12.3f %14.3f %13.2fx", report->choices[c], totals.total_ms, totals.mean_ms,
                totals.speed);
        if (totals.mean_sqlite > 0)
            fprintf(file, " %15.1fx %15.1fx", totals.mean_sqlite, totals.least_sqlite);
        else
            fprintf(file, " %16s %16s", "-", "-");
        if (report->column_count)
            fprintf(file, "  %.2f bits a row, %.2f MB, %.2f times smaller",
                    8.0 * (double)totals.bytes / (double)report->fact_rows, (double)totals.bytes / MEGABYTE,
                    (double)totals.plain_bytes / (double)totals.bytes);
        fputc('\n', file);
    }
    fprintf(file, "Speed: times faster than %s. Means are geometric, over the queries.\n",
            report->choices[0]);
}

static void write_columns(const struct report *report, FILE *file)
{
    fprintf(file, "\n%-17s", "");
    for (uint32_t c = 0; c < report->choice_count; c++)
        fprintf(file, " %-28s", report->choices[c]);
    fprintf(file, "\n%-17s", "column");
    for (uint32_t c = 0; c < report->choice_count; c++)
        fprintf(file, " %-10s %8s %7s ", "codec", "bits", "ratio");
    fputc('\n', file);
    for (uint32_t i = 0; i < report->column_count; i++) {
        const struct report_column *column = &report->columns[i];
        fprintf(file, "%-17s", column->name);
        for (uint32_t c = 0; c < report->choice_count; c++) {
            const struct report_encoding *encoding = &column->encodings[c];
            fprintf(file, " %-10s %8.2f %6.2fx ", encoding->codec, report_bits(report, encoding),
                    report_ratio(report, column, encoding));
        }
        fputc('\n', file);
    }
}

enum status report_table(const struct report *report, FILE *file, struct error *error)
{
    write_head(report, file);
    if (report->choice_count == 1 && report->column_count == 0) {
        write_details(report, file);
    } else {
        write_comparison(report, file);
        if (report->column_count)
            write_columns(report, file);
        write_totals(report, file);
    }
    if (report->profile)
        write_steps(report, file);
    if (!report->on_gpu)
        fputs("On a CPU the ratios count; the times depend on the machine and what else it does.\n", file);
    if (ferror(file))
        return error_set_errno(error, errno, "cannot write the report");
    return STATUS_OK;
}
