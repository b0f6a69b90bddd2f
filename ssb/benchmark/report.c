/* report.c: medians, means, totals, and what was measured; see report.h. */
#include "ssb/benchmark/report.h"
#include "storage/base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The clock's step. Shorter times, as of empty tables, count as this, so that their logarithm exists. */
#define CLOCK_MS 1e-6

enum status report_times_finish(struct report_times *times, uint32_t count, struct error *error)
{
    double *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return error_out_of_memory(error, count * sizeof *sorted, "the median");
    memcpy(sorted, times->runs, count * sizeof *sorted);
    times->median = clock_median(sorted, count);
    times->min = sorted[0];
    free(sorted);
    return STATUS_OK;
}

void report_totals(const struct report *report, uint32_t choice, struct report_totals *totals)
{
    *totals = (struct report_totals){0};
    double log_ms = 0, log_text = 0, log_speed = 0, log_sqlite = 0;
    bool asked = true; /* all by their texts */
    uint32_t judged = 0;
    for (uint32_t q = 0; q < report->query_count; q++) {
        const struct report_query *query = &report->queries[q];
        double ms = fmax(query->cells[choice].total.median, CLOCK_MS);
        totals->total_ms += ms;
        log_ms += log(ms);
        log_text += log(fmax(query->cells[choice].text.median, CLOCK_MS));
        asked &= query->cells[choice].text.median > 0;
        log_speed += log(fmax(query->cells[0].total.median, CLOCK_MS) / ms);
        if (query->sqlite_ms > 0) {
            double ratio = query->sqlite_ms / ms;
            if (judged++ == 0 || ratio < totals->least_sqlite)
                totals->least_sqlite = ratio;
            log_sqlite += log(ratio);
        }
    }
    if (report->query_count) {
        totals->mean_ms = exp(log_ms / report->query_count);
        totals->mean_text_ms = asked ? exp(log_text / report->query_count) : 0;
        totals->speed = exp(log_speed / report->query_count);
    }
    if (judged)
        totals->mean_sqlite = exp(log_sqlite / judged);
    for (uint32_t c = 0; c < report->column_count; c++) {
        totals->plain_bytes += report->columns[c].value_bytes * report->fact_rows;
        totals->bytes += report->columns[c].encodings[choice].bytes;
    }
}

static double rate_of(uint64_t bytes, const struct report_times *times)
{
    return (double)bytes / (fmax(times->median, CLOCK_MS) * 1e-3);
}

static double share_of(const struct report *report, double rate)
{
    return report->read_ceiling > 0 ? 100 * rate / report->read_ceiling : 0;
}

double report_rate(const struct report_cell *cell)
{
    return rate_of(cell->bytes_read, &cell->kernel);
}

double report_link_share(const struct report *report, const struct report_cell *cell)
{
    return cell->total.median > 0 ? 1e5 * (double)cell->moved_bytes / cell->total.median / report->link_rate
                                  : 0;
}

double report_share(const struct report *report, const struct report_cell *cell)
{
    return share_of(report, report_rate(cell));
}

uint32_t report_step_count(const struct report *report)
{
    return (report->on_gpu && report->devices < 2 ? 2 : 3) + report->staged;
}

void report_step_get(const struct report *report, const struct report_cell *cell, uint32_t index,
                     struct report_step *step)
{
    enum { DECODE, FILTER, SCAN, MERGE };
    static const char *const names[] = {
        [DECODE] = "decode", [FILTER] = "filter", [SCAN] = "scan", [MERGE] = "merge"};
    const struct report_times *const times[] = {&cell->stage, &cell->filter, &cell->kernel, &cell->merge};
    const uint64_t scanned = cell->fact_rows - cell->rows_skipped;
    const uint64_t rows[] = {scanned, cell->filter_rows, scanned, cell->merge_rows};
    const uint64_t bytes[] = {cell->stage_bytes, cell->filter_bytes, cell->bytes_read, cell->merge_bytes};
    index += report->staged ? DECODE : FILTER;
    const double rate = rate_of(bytes[index], times[index]);
    *step = (struct report_step){.name = names[index],
                                 .rows = rows[index],
                                 .bytes = bytes[index],
                                 .tiles = index == SCAN ? cell->tiles : 0,
                                 .tiles_skipped = index == SCAN ? cell->tiles_skipped : 0,
                                 .ms = times[index]->median,
                                 .rate = rate,
                                 .share = share_of(report, rate)};
}

double report_bits(const struct report *report, const struct report_encoding *encoding)
{
    return 8.0 * (double)encoding->bytes / (double)report->fact_rows;
}

double report_ratio(const struct report *report, const struct report_column *column,
                    const struct report_encoding *encoding)
{
    return (double)column->value_bytes * (double)report->fact_rows / (double)encoding->bytes;
}

void report_facts(const struct report *report, report_fact *tell, void *context)
{
    char text[ERROR_TEXT_BYTES + 256], scale_factor[64] = "";
    const bool why = report->why_cpu != NULL;
    snprintf(text, sizeof text, "%s%s%s%s", report->device, why ? " (" : "", why ? report->why_cpu : "",
             why ? ")" : "");
    tell(context, "Device", text);
    if (report->scale_factor > 0)
        snprintf(scale_factor, sizeof scale_factor, ", scale factor %g", report->scale_factor);
    snprintf(text, sizeof text, "%s%s, %" PRIu64 " rows of lineorder", report->database, scale_factor,
             report->fact_rows);
    tell(context, "Database", text);
    snprintf(text, sizeof text, "by %s", report->judge);
    tell(context, "Checked", text);
    snprintf(text, sizeof text, "read at %.1f GB/s at most, measured in this run",
             report->read_ceiling / 1e9);
    tell(context, "Memory", text);
    if (report->link_rate > 0) {
        snprintf(text, sizeof text,
                 "columns that the GPU does not keep are moved in every run (--gpu-memory); pinned copies "
                 "reach %.1f GB/s, measured in this run",
                 report->link_rate / 1e9);
        tell(context, "Link", text);
    }
    if (report->plan_reads.bytes || report->run_reads.bytes) {
        char plan[DISK_READS_TEXT], runs[DISK_READS_TEXT];
        snprintf(text, sizeof text, "cold; while columns were opened: %s; in all runs: %s",
                 disk_reads_text(&report->plan_reads, plan), disk_reads_text(&report->run_reads, runs));
        tell(context, "Disk", text);
    }
    if (report->launch_floor_ms > 0) {
        snprintf(text, sizeof text, "%.4f ms for a graph of two empty kernels, measured in this run",
                 report->launch_floor_ms);
        tell(context, "Launches", text);
    }
    if (report->staged)
        tell(context, "Staged",
             report->staged_all
                 ? "columns are decoded into scratch memory, then queried there; the total has both"
                 : "columns in codecs that no query decodes (`tessera codecs`) are decoded into scratch "
                   "memory, then queried there; the total has both");
    if (report->indexed)
        tell(context, "Indexes",
             "bitmap indexes decide conditions (--index); theirs are bytes of the step \"filter\", which "
             "makes a mask of rows before the scan");
    snprintf(text, sizeof text, "median of %" PRIu32 " runs after %" PRIu32 " untimed, in milliseconds",
             report->repeat, report->warmup);
    tell(context, "Times", text);
}
