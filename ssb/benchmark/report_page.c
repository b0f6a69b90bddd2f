/*
 * report_page.c: the report as a page: runtimes, sizes and the roofline as charts with their tables, and what
 * one must know to repeat the measurement. See report.h.
 */
#include "ssb/benchmark/report.h"

#include <inttypes.h>
#include <stdlib.h>

static enum status add_sheet(const struct report *report, struct page *page, report_sheet_maker *make,
                             const char *caption, struct error *error)
{
    struct sheet *sheet;
    RETURN_IF_ERROR(make(report, &sheet, error));
    page_sheet(page, caption, sheet);
    return STATUS_OK;
}

/* Makes a chart whose categories are the queries, or the columns. */
static enum status create_bars(const struct report *report, bool columns, struct chart_form form,
                               struct chart **chart, struct error *error)
{
    form.kind = CHART_BARS;
    form.category_count = columns ? report->column_count : report->query_count;
    const char **const names = calloc(form.category_count + 1, sizeof *names);
    if (!names)
        return error_out_of_memory(error, form.category_count * sizeof *names, "a chart");
    for (uint32_t i = 0; i < form.category_count; i++)
        names[i] = columns ? report->columns[i].name : report->queries[i].name;
    form.categories = names;
    const enum status status = chart_create(&form, chart, error);
    free(names);
    return status;
}

/* ---- Runtimes ---- */

static enum status add_runtimes_chart(const struct report *report, struct page *page, struct error *error)
{
    struct chart *chart;
    RETURN_IF_ERROR(create_bars(
        report, false,
        (struct chart_form){.title = "Runtime of each query", .y = {.title = "total", .unit = "ms"}}, &chart,
        error));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        chart_series(chart, report->choices[c]);
        for (uint32_t q = 0; q < report->query_count; q++)
            chart_runs(chart, q, report->queries[q].cells[c].total.runs, report->repeat, NULL);
    }
    page_chart(page, chart);
    return STATUS_OK;
}

/* Every choice is shown, the first one too, so that a codec has one colour in all charts. */
static enum status add_speeds_chart(const struct report *report, struct page *page, struct error *error)
{
    struct chart *chart;
    char title[128];
    snprintf(title, sizeof title, "Speed of each query against %.64s", report->choices[0]);
    RETURN_IF_ERROR(create_bars(
        report, false, (struct chart_form){.title = title, .y = {.title = "times as fast"}}, &chart, error));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        chart_series(chart, report->choices[c]);
        for (uint32_t q = 0; q < report->query_count; q++) {
            const struct report_cell *const cells = report->queries[q].cells;
            chart_point(chart,
                        (struct chart_point){.x = q, .y = cells[0].total.median / cells[c].total.median});
        }
    }
    chart_reference(chart, "", 1, 0);
    page_chart(page, chart);
    return STATUS_OK;
}

static enum status add_runtimes(const struct report *report, struct page *page, struct error *error)
{
    char text[512];
    page_section(page, "Runtimes");
    snprintf(
        text, sizeof text,
        "From a query's first operation until its result is complete on the device: the median of %" PRIu32
        " runs. Error bars hold the middle half of them.",
        report->repeat);
    page_text(page, text);
    if (!report->on_gpu)
        page_text(page, REPORT_CPU_NOTE);
    RETURN_IF_ERROR(add_runtimes_chart(report, page, error));
    if (report->choice_count > 1)
        RETURN_IF_ERROR(add_speeds_chart(report, page, error));
    if (report->compared) {
        snprintf(text, sizeof text, REPORT_SPEED_NOTE, report->choices[0]);
        page_text(page, text);
    }
    RETURN_IF_ERROR(add_sheet(report, page, report_sheet_totals, "All queries together.", error));
    if (!report->compared)
        return STATUS_OK;
    return add_sheet(report, page, report_sheet_comparison, "Medians, query by query.", error);
}

/* ---- Sizes ---- */

static enum status add_sizes(const struct report *report, struct page *page, struct error *error)
{
    struct chart *chart;
    if (report->column_count == 0)
        return STATUS_OK;
    page_section(page, "Sizes");
    page_text(page, report->compared
                        ? "Every column of lineorder, with all that is stored for it: headers, directories, "
                          "padding. The ratio is to an array of the values."
                        : "The columns of lineorder that the queries read, with all that is stored for them: "
                          "headers, directories, padding. The ratio is to an array of the values.");
    RETURN_IF_ERROR(create_bars(
        report, true,
        (struct chart_form){.title = "Size of each column", .y = {.title = "size", .unit = "bits a value"}},
        &chart, error));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        chart_series(chart, report->choices[c]);
        for (uint32_t i = 0; i < report->column_count; i++)
            chart_point(chart, (struct chart_point){
                                   .x = i, .y = report_bits(report, &report->columns[i].encodings[c])});
    }
    page_chart(page, chart);
    return add_sheet(report, page, report_sheet_column_sizes, NULL, error);
}

/* ---- Roofline ---- */

static enum status add_roofline(const struct report *report, struct page *page, struct error *error)
{
    const struct chart_form form = {.kind = CHART_POINTS,
                                    .title = "Scan time against bytes read",
                                    .x = {.title = "read by the scan", .unit = "bytes", .scale = CHART_LOG10},
                                    .y = {.title = "scan", .unit = "ms", .scale = CHART_LOG10}};
    struct chart *chart;
    char text[64];
    page_section(page, "Roofline");
    page_text(page, "The scan of lineorder alone, without the dimension filters. The dashed line is the time "
                    "in which the device reads so many bytes at the highest rate, measured in the same run "
                    "with a kernel that does nothing else. What lies near the line is bound by memory; what "
                    "lies above, by something else. Data in a cache may be read faster.");
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (uint32_t c = 0; c < report->choice_count; c++) {
        chart_series(chart, report->choices[c]);
        for (uint32_t q = 0; q < report->query_count; q++) {
            const struct report_cell *const cell = &report->queries[q].cells[c];
            chart_runs(chart, (double)cell->bytes_read, cell->kernel.runs, report->repeat,
                       report->queries[q].name);
        }
    }
    if (report->read_ceiling > 0) {
        snprintf(text, sizeof text, "read ceiling: %.1f GB/s", report->read_ceiling / 1e9);
        chart_reference(chart, text, 0, 1e3 / report->read_ceiling);
    }
    page_chart(page, chart);
    return add_sheet(report, page, report_sheet_queries, NULL, error);
}

/* ---- The page ---- */

static void add_fact(void *page, const char *name, const char *value)
{
    page_fact(page, name, value);
}

static void add_answers(const struct report *report, struct page *page)
{
    uint32_t counts[] = {[ANSWER_SKIPPED] = 0, [ANSWER_OK] = 0, [ANSWER_WRONG] = 0};
    char text[128];
    for (uint32_t q = 0; q < report->query_count; q++)
        for (uint32_t c = 0; c < report->choice_count; c++)
            counts[report->queries[q].cells[c].check]++;
    snprintf(text, sizeof text, "%" PRIu32 " right, %" PRIu32 " wrong, %" PRIu32 " not checked",
             counts[ANSWER_OK], counts[ANSWER_WRONG], counts[ANSWER_SKIPPED]);
    page_fact(page, "Answers", text);
}

enum status report_page(const struct report *report, int argc, char *const *argv, struct page **page,
                        struct error *error)
{
    RETURN_IF_ERROR(page_create(
        report->compared ? "Star Schema Benchmark: codecs compared" : "Star Schema Benchmark", page, error));
    report_facts(report, add_fact, *page);
    add_answers(report, *page);
    page_command(*page, argc, argv);
    page_date(*page);
    enum status status = add_runtimes(report, *page, error);
    status = AND_THEN(status, add_sizes(report, *page, error));
    status = AND_THEN(status, add_roofline(report, *page, error));
    if (status == STATUS_OK && report->profile) {
        page_section(*page, "Steps");
        status = add_sheet(report, *page, report_sheet_steps, NULL, error);
    }
    if (status != STATUS_OK)
        page_destroy(*page);
    return status;
}
