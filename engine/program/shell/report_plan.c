/* report_plan.c: the charts and tables of one analysed plan (report.h). A plan has at most some tens of steps. */
#include "engine/program/shell/report.h"
#include "storage/base/text/text_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The name of a step in charts and tables: "semi-join supplier", "range lo_quantity", "condition 2", "groups". */
#define STEP_NAME_BYTES 96u

static const char *step_name(const struct plan *plan, uint32_t s, char name[STEP_NAME_BYTES])
{
    const struct plan_step *const step = s < plan->step_count ? &plan->steps[s] : NULL;
    uint32_t number = 1;
    if (!step)
        return plan->shape == PLAN_ROWS ? "rows" : "groups";
    for (uint32_t before = 0; before < s; before++)
        number += plan->steps[before].kind == step->kind;
    const char *const kind = explain_step_kind(step);
    if (step->kind == STEP_RANGE)
        snprintf(name, STEP_NAME_BYTES, "%s %s", kind, plan->columns[step->column].column->schema.name);
    else if (step->kind == STEP_SEMI_JOIN)
        snprintf(name, STEP_NAME_BYTES, "%s %s", kind, plan->joins[step->join].name);
    else
        snprintf(name, STEP_NAME_BYTES, "%s %u", kind, number);
    return name;
}

static bool is_index(const struct plan *plan, uint32_t s)
{
    return s < plan->step_count && plan->steps[s].kind == STEP_INDEX;
}

/* The rows that reach the grouping are those that pass the last step, or all. */
static uint64_t rows_before(const struct explained *run, uint32_t s)
{
    if (s < run->plan->step_count)
        return run->counts->reached[s];
    return s ? run->counts->left[s - 1] : explain_fact_rows(run);
}

static double rate_of(uint64_t bytes, double ms) /* bytes a second */
{
    return ms > 0 ? (double)bytes / ms * 1e3 : 0;
}

static struct sheet_column figure(const char *name, const char *unit, double scale)
{
    return (struct sheet_column){.name = name, .unit = unit, .significant = 4, .scale = scale};
}

static struct sheet_column words(const char *name)
{
    return (struct sheet_column){.name = name, .text = true};
}

static struct sheet_column number(const char *name)
{
    return (struct sheet_column){.name = name, .whole = true};
}

static struct sheet_column percent(const char *name)
{
    return (struct sheet_column){.name = name, .unit = "%", .digits = 1};
}

/* A number that is 0 if it is not known. */
static void add_known(struct sheet *sheet, double value)
{
    if (value > 0)
        sheet_number(sheet, value);
    else
        sheet_missing(sheet, NULL);
}

/* The figures of a scan or of a step, which takes a share of its time. */
static void add_figures(const struct explained *run, uint64_t bytes, double ms, double share,
                        struct sheet *sheet)
{
    const double rate = rate_of(bytes, ms);
    sheet_number(sheet, (double)bytes);
    sheet_number(sheet, ms);
    sheet_number(sheet, 100 * share);
    add_known(sheet, rate);
    add_known(sheet, run->read_ceiling > 0 ? 100 * rate / run->read_ceiling : 0);
}

static void add_missing(struct sheet *sheet, uint32_t count)
{
    while (count--)
        sheet_missing(sheet, NULL);
}

/* ---- Steps ---- */

static enum status add_words(const struct plan *plan, uint32_t s, struct sheet *sheet, struct error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = s < plan->step_count ? text_stream(&text, &bytes) : NULL;
    if (s == plan->step_count) {
        sheet_text(sheet, "");
        return STATUS_OK;
    }
    if (out)
        explain_step_words(plan, s, out);
    if (!out || fclose(out) != 0) {
        free(text);
        return error_out_of_memory(error, BUFSIZ, "the report");
    }
    sheet_text(sheet, text);
    free(text);
    return STATUS_OK;
}

static enum status add_step(const struct explained *run, uint32_t s, struct sheet *sheet, struct error *error)
{
    const struct plan *const plan = run->plan;
    const uint64_t before = rows_before(run, s);
    char name[STEP_NAME_BYTES];
    sheet_text(sheet, step_name(plan, s, name));
    sheet_number(sheet, (double)before);
    if (s < plan->step_count) {
        sheet_number(sheet, (double)run->counts->left[s]);
        sheet_number(sheet, before ? 100.0 * (double)run->counts->left[s] / (double)before : 0);
        sheet_number(sheet, 100 * plan->steps[s].share);
    } else {
        add_missing(sheet, 3);
    }
    if (is_index(plan, s))
        add_missing(sheet, 5); /* its mask is made before the scan */
    else
        add_figures(run, explain_step_bytes(run, s), explain_step_ms(run, s), run->counts->share[s], sheet);
    return add_words(plan, s, sheet, error);
}

static enum status fill_steps(const struct explained *run, struct sheet *sheet, struct error *error)
{
    for (uint32_t s = 0; s <= run->plan->step_count; s++)
        RETURN_IF_ERROR(add_step(run, s, sheet, error));
    sheet_text(sheet, "whole scan");
    sheet_number(sheet, (double)explain_fact_rows(run));
    add_missing(sheet, 3);
    add_figures(run, explain_scan_bytes(run), run->timing->scan_ms, 1, sheet);
    sheet_text(sheet, "");
    return STATUS_OK;
}

static enum status add_steps(struct page *page, const struct explained *run, struct error *error)
{
    const struct sheet_column columns[] = {
        words("step"),           number("rows before"), number("rows after"),
        percent("kept"),         percent("expected"),   figure("read", "MB", 1e-6),
        figure("time", "ms", 1), percent("of scan"),    figure("rate", "GB/s", 1e-9),
        percent("of max"),       words("condition")};
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    const enum status status = fill_steps(run, sheet, error);
    page_text(page, "The steps in their order. A step reads the columns that no step before it has read. Max "
                    "is the highest "
                    "rate at which the device reads, measured in this run.");
    page_sheet(page, NULL, sheet);
    return status;
}

/* ---- Charts ---- */

/* Makes a chart of bars: one for each step, and one for the grouping. */
static enum status create_bars(const struct explained *run, struct chart_form form, struct chart **chart,
                               struct error *error)
{
    const uint32_t count = run->plan->step_count + 1;
    char(*const names)[STEP_NAME_BYTES] = calloc(count, sizeof *names);
    const char **const categories = calloc(count, sizeof *categories);
    enum status status = names && categories ? STATUS_OK : error_out_of_memory(error, count, "a chart");
    for (uint32_t s = 0; status == STATUS_OK && s < count; s++)
        categories[s] = step_name(run->plan, s, names[s]);
    if (status == STATUS_OK) {
        form.kind = CHART_BARS;
        form.categories = categories;
        form.category_count = count;
        status = chart_create(&form, chart, error);
    }
    free(categories);
    free(names);
    return status;
}

static enum status add_times_chart(struct page *page, const struct explained *run, struct error *error)
{
    struct chart *chart;
    RETURN_IF_ERROR(create_bars(
        run, (struct chart_form){.title = "Time of each step", .y = {.title = "time", .unit = "ms"}}, &chart,
        error));
    chart_series(chart, "time");
    for (uint32_t s = 0; s <= run->plan->step_count; s++)
        if (!is_index(run->plan, s))
            chart_point(chart, (struct chart_point){.x = s, .y = explain_step_ms(run, s)});
    page_chart(page, chart);
    return STATUS_OK;
}

static enum status add_rows_chart(struct page *page, const struct explained *run, struct error *error)
{
    struct chart *chart;
    if (run->plan->step_count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(
        create_bars(run, (struct chart_form){.title = "Rows that reach each step", .y = {.title = "rows"}},
                    &chart, error));
    chart_series(chart, "rows");
    for (uint32_t s = 0; s <= run->plan->step_count; s++)
        chart_point(chart, (struct chart_point){.x = s, .y = (double)rows_before(run, s)});
    page_chart(page, chart);
    return STATUS_OK;
}

/* Bytes against time, with the line of the read ceiling, as in the benchmark's report. */
static enum status add_roofline(struct page *page, const struct explained *run, struct error *error)
{
    struct chart *chart;
    char text[64], name[STEP_NAME_BYTES];
    RETURN_IF_ERROR(
        chart_create(&(struct chart_form){.kind = CHART_POINTS,
                                          .title = "Time against bytes read",
                                          .x = {.title = "read", .unit = "bytes", .scale = CHART_LOG10},
                                          .y = {.title = "time", .unit = "ms", .scale = CHART_LOG10}},
                     &chart, error));
    chart_series(chart, "steps");
    for (uint32_t s = 0; s <= run->plan->step_count; s++)
        chart_point(chart, (struct chart_point){.x = (double)explain_step_bytes(run, s),
                                                .y = explain_step_ms(run, s),
                                                .label = step_name(run->plan, s, name)});
    chart_series(chart, "whole scan");
    chart_point(chart, (struct chart_point){
                           .x = (double)explain_scan_bytes(run), .y = run->timing->scan_ms, .label = "scan"});
    if (run->read_ceiling > 0) {
        snprintf(text, sizeof text, "read ceiling: %.1f GB/s", run->read_ceiling / 1e9);
        chart_reference(chart, text, 0, 1e3 / run->read_ceiling);
    }
    page_chart(page, chart);
    return STATUS_OK;
}

/* ---- Columns ---- */

static void add_column(const struct explained *run, uint32_t c, struct sheet *sheet)
{
    const struct plan *const plan = run->plan;
    const struct plan_column *const column = &plan->columns[c];
    const uint64_t rows = plan->fact->rows;
    const uint32_t first = plan_first_use(plan, c);
    char name[STEP_NAME_BYTES], codec[64];
    snprintf(codec, sizeof codec, "%s%s", column->data->codec->name,
             plan_stages(plan, c, engine_is_cuda(run->engine)) ? ", decoded first" : "");
    sheet_text(sheet, column->column->schema.name);
    sheet_text(sheet, codec);
    sheet_number(sheet, rows ? 8.0 * (double)column->data->bytes / (double)rows : 0);
    sheet_number(sheet, (double)column->data->bytes);
    sheet_number(sheet, (double)run->counts->bytes[c]);
    if (first <= plan->step_count)
        sheet_text(sheet, step_name(plan, first, name));
    else
        sheet_missing(sheet, NULL);
}

static enum status add_columns(struct page *page, const struct explained *run, struct error *error)
{
    const struct sheet_column columns[] = {words("column"),
                                           words("codec"),
                                           {.name = "bits a value", .digits = 1},
                                           figure("size", "MB", 1e-6),
                                           figure("read", "MB", 1e-6),
                                           words("first read by")};
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t c = 0; c < run->plan->column_count; c++)
        if (!run->plan->columns[c].decided)
            add_column(run, c, sheet);
    page_sheet(page, "The columns of the scanned table that were read.", sheet);
    return STATUS_OK;
}

/* ---- Times ---- */

static void add_time(struct sheet *sheet, const char *part, double ms, const char *what)
{
    sheet_text(sheet, part);
    sheet_number(sheet, ms);
    sheet_text(sheet, what);
}

static enum status add_times(struct page *page, const struct explained *run, struct error *error)
{
    const struct sheet_column columns[] = {
        words("part"), {.name = "time", .unit = "ms", .digits = 3}, words("what is done")};
    const struct run_timing *const timing = run->timing;
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    add_time(sheet, "plan", timing->plan_ms,
             "names are bound, conditions of dimensions are answered, steps put in order");
    if (engine_is_cuda(run->engine)) {
        add_time(sheet, "compile", timing->compile_ms, "the kernel, unless it is in the cache");
        add_time(sheet, "load", timing->load_ms, "kernel and columns to the GPU");
    }
    if (plan_stages_any(run->plan, engine_is_cuda(run->engine)))
        add_time(sheet, "decode", timing->stage_ms, "columns into scratch memory");
    add_time(sheet, "dimensions", timing->filter_ms, "bitmaps of dimensions, indexes, cleared groups");
    add_time(sheet, "scan", timing->scan_ms, "the steps above");
    if (timing->merge_ms > 0)
        add_time(sheet, "merge", timing->merge_ms, "the results of threads and devices");
    if (timing->exchange_ms > 0)
        add_time(sheet, "exchange", timing->exchange_ms, "the results of the processes");
    add_time(sheet, "total", timing->total_ms, "from the first operation until the result is complete");
    add_time(sheet, "output", timing->output_ms, "expressions over groups, HAVING, order, texts");
    page_sheet(page, "Where the time goes. The total has what lies between dimensions and exchange.", sheet);
    return STATUS_OK;
}

/* ---- Devices ---- */

static const struct sheet_column *share_columns(const char *name, struct sheet_column columns[7])
{
    const struct sheet_column made[] = {words(name),
                                        number("segments"),
                                        number("tiles"),
                                        figure("read", "MB", 1e-6),
                                        percent("of all"),
                                        {.name = "scan", .unit = "ms", .digits = 3},
                                        {.name = "total", .unit = "ms", .digits = 3}};
    memcpy(columns, made, sizeof made);
    return columns;
}

static void add_share(struct sheet *sheet, const char *name, const struct engine_process *share, uint64_t all)
{
    sheet_text(sheet, name);
    sheet_number(sheet, share->segments);
    sheet_number(sheet, (double)share->tiles);
    sheet_number(sheet, (double)share->bytes);
    sheet_number(sheet, all ? 100.0 * (double)share->bytes / (double)all : 0);
    sheet_number(sheet, share->scan_ms);
    sheet_number(sheet, share->total_ms);
}

static enum status add_devices(struct page *page, const struct explained *run, struct error *error)
{
    const uint32_t members = engine_members(run->engine);
    const struct engine_exchange *const exchange = engine_exchange_of(run->prepared);
    struct sheet_column columns[7];
    struct sheet *sheet;
    uint64_t all = 0;
    char text[256];
    if (members < 2)
        return STATUS_OK;
    RETURN_IF_ERROR(sheet_create(share_columns("device", columns), 7, &sheet, error));
    for (uint32_t m = 0; m < members; m++)
        all += engine_part(run->prepared, m).bytes;
    for (uint32_t m = 0; m < members; m++) {
        const struct engine_part part = engine_part(run->prepared, m);
        snprintf(text, sizeof text, "%" PRIu32 ": %s", m + 1, part.device);
        add_share(sheet, text,
                  &(struct engine_process){.segments = part.segments,
                                           .tiles = part.tiles,
                                           .bytes = part.bytes,
                                           .scan_ms = part.scan_ms,
                                           .total_ms = part.total_ms},
                  all);
    }
    page_sheet(page, "The share of each device, in the last run.", sheet);
    if (exchange->how) {
        snprintf(text, sizeof text, "The devices' results are %s: %" PRIu64 " bytes in %.1f \xc2\xb5s.",
                 exchange->how, exchange->bytes, 1e3 * exchange->ms);
        page_text(page, text);
    }
    return STATUS_OK;
}

static enum status add_processes(struct page *page, const struct explained *run, struct error *error)
{
    struct cluster *const cluster = engine_cluster(run->engine);
    struct sheet_column columns[7];
    struct sheet *sheet;
    uint64_t all = 0;
    char text[32];
    if (!cluster)
        return STATUS_OK;
    RETURN_IF_ERROR(sheet_create(share_columns("process", columns), 7, &sheet, error));
    for (uint32_t p = 0; p < cluster_size(cluster); p++)
        all += engine_process(run->prepared, p)->bytes;
    for (uint32_t p = 0; p < cluster_size(cluster); p++) {
        snprintf(text, sizeof text, "%" PRIu32, p);
        add_share(sheet, text, engine_process(run->prepared, p), all);
    }
    page_sheet(page, "The share of each process, in the last run.", sheet);
    return STATUS_OK;
}

/* ---- The plan ---- */

static void add_facts(struct page *page, const struct explained *run)
{
    const struct scan_counts *const counts = run->counts;
    char text[512], plan[DISK_READS_TEXT], first[DISK_READS_TEXT];
    snprintf(text, sizeof text,
             "%" PRIu64 " tiles of 1024 rows; %" PRIu64 " of them were skipped by their minima and maxima.",
             counts->tiles, counts->tiles_skipped);
    page_text(page, text);
    if (counts->moves.copied || counts->moves.read) {
        snprintf(text, sizeof text,
                 "%.4g MB of columns are kept on the GPU, %.4g MB are copied to it in every run, and its "
                 "kernel reads "
                 "%.4g MB from the host's memory.",
                 (double)counts->moves.kept / 1e6, (double)counts->moves.copied / 1e6,
                 (double)counts->moves.read / 1e6);
        page_text(page, text);
    }
    if (run->timing->plan_reads.bytes || run->timing->run_reads.bytes) {
        snprintf(text, sizeof text, "From the disk: plan %s; first run %s.",
                 disk_reads_text(&run->timing->plan_reads, plan),
                 disk_reads_text(&run->timing->run_reads, first));
        page_text(page, text);
    }
}

enum status sql_report_plan(struct page *page, const struct explained *run, struct error *error)
{
    char heading[256];
    snprintf(heading, sizeof heading, "Scan of %s", run->plan->fact->name);
    page_section(page, heading);
    if (!explain_has_steps(run)) {
        page_text(page, "No row can be in the answer: nothing is read.");
        return add_times(page, run, error);
    }
    add_facts(page, run);
    RETURN_IF_ERROR(add_times_chart(page, run, error));
    RETURN_IF_ERROR(add_rows_chart(page, run, error));
    RETURN_IF_ERROR(add_steps(page, run, error));
    RETURN_IF_ERROR(add_roofline(page, run, error));
    RETURN_IF_ERROR(add_columns(page, run, error));
    RETURN_IF_ERROR(add_times(page, run, error));
    RETURN_IF_ERROR(add_devices(page, run, error));
    return add_processes(page, run, error);
}
