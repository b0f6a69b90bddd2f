/*
 * ssb_queries.c: `tessera lab ssb-queries`: the 13 queries of the Star Schema Benchmark, by system. SIGMOD 2022, section
 * 9.4, figure 11: scale factor 20; uncompressed columns are 1.35 times faster than GPU-*, and GPU-* is 4, 2.4 and 2.6
 * times faster than Planner, GPU-BP and nvCOMP, which decode each column to memory before the query.
 *
 * "staged" systems do so: the time has both parts. Those of published methods and of nvCOMP are sums: of decoding the query's columns
 * one by one (lab/ssb/decode_first.h), and of the query over plain columns.
 *
 * Which of its three schemes GPU-* takes for a column is a rule of the paper, the smallest, and rows of the table show what it costs:
 * "gpu-star" is the rule as written, "gpu-star of the paper" has RFOR only for the columns that the paper names, order date and customer
 * key, and "gpu-for" has none. Every system reads columns in the order of the files, as in the paper, but those that say "levels".
 *
 * Every answer of every run is compared with the plain codec's on the same device. All systems of a query run before the next query, so
 * that a change of the machine's speed changes the ratios least.
 */
#include "lab/experiments/experiments.h"

#include "lab/ssb/decode_first.h"
#include "lab/ssb/ssb_judges.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_BYTES 1024u

enum source { OF_CODEC, OF_CASCADES, OF_PUBLISHED, OF_NVCOMP };
static const struct system {
    const char *name, *paper; /* paper: its name there, or NULL */
    enum source source;
    const char *codec; /* OF_CODEC, OF_PUBLISHED: as for benchmark_statement */
    enum ssb_order order;
    bool staged, charted;
    double of_gpu_star; /* its time to that of GPU-* in figure 11; 0: not there */
} systems[] = {
    {"plain", "None", OF_CODEC, "plain", SSB_FILE_ORDER, false, true, 1 / 1.35},
    {"gpu-star", "GPU-*", OF_CODEC, "gpu-star", SSB_FILE_ORDER, false, true, 1},
    {"gpu-star staged", "GPU-*, decoded first", OF_CODEC, "gpu-star", SSB_FILE_ORDER, true, false, 0},
    {"gpu-star published, then plain", "GPU-*, decoded first", OF_PUBLISHED, "gpu-star", SSB_FILE_ORDER,
     false, true, 0},
    {"gpu-star of the paper", "GPU-*, RFOR for 2 columns", OF_CODEC, GPU_STAR_NAMED, SSB_FILE_ORDER, false,
     true, 0},
    {"gpu-star of the paper staged", "GPU-*, RFOR for 2 columns", OF_CODEC, GPU_STAR_NAMED, SSB_FILE_ORDER,
     true, false, 0},
    {"gpu-star of the paper published, then plain", "GPU-*, RFOR for 2 columns", OF_PUBLISHED, GPU_STAR_NAMED,
     SSB_FILE_ORDER, false, false, 0},
    {"gpu-for", "GPU-FOR", OF_CODEC, "gpu-for", SSB_FILE_ORDER, false, true, 0},
    {"gpu-for staged", "GPU-FOR, decoded first", OF_CODEC, "gpu-for", SSB_FILE_ORDER, true, false, 0},
    {"gpu-for published, then plain", "GPU-FOR, decoded first", OF_PUBLISHED, "gpu-for", SSB_FILE_ORDER,
     false, false, 0},
    {"cascades", "GPU-*, layer by layer", OF_CASCADES, NULL, SSB_FILE_ORDER, true, true, 0},
    {"planner", "Planner", OF_CODEC, "planner", SSB_FILE_ORDER, true, true, 4},
    {"gpu-bp128 staged", "GPU-BP, our decoder", OF_CODEC, "gpu-bp128", SSB_FILE_ORDER, true, false, 0},
    {"gpu-bp128 published, then plain", "GPU-BP", OF_PUBLISHED, "gpu-bp128", SSB_FILE_ORDER, false, true,
     2.4},
    {"nvCOMP, then plain", "nvCOMP", OF_NVCOMP, NULL, SSB_FILE_ORDER, false, true, 2.6},
    {"lane-for", NULL, OF_CODEC, "lane-for", SSB_FILE_ORDER, false, false, 0},
    {"lane-for staged", NULL, OF_CODEC, "lane-for", SSB_FILE_ORDER, true, false, 0},
    {"auto", NULL, OF_CODEC, "auto", SSB_FILE_ORDER, false, true, 0},
    {"plain, levels", NULL, OF_CODEC, "plain", SSB_LEVELS, false, false, 0},
    {"auto, levels", NULL, OF_CODEC, "auto", SSB_LEVELS, false, true, 0},
};
#define SYSTEMS (sizeof systems / sizeof *systems)
enum { PLAIN, GPU_STAR }; /* their places in the list */

/* The codecs with the same bytes as those that gpu-star chooses from, decoded layer by layer. */
static const char *const cascades[][2] = {
    {"gpu-for", "for-bp"}, {"gpu-dfor", "delta-for-bp"}, {"gpu-rfor", "rle-for-bp"}};
#define CASCADES (sizeof cascades / sizeof *cascades)

struct cell {
    struct speed total, stage;
};

struct queries {
    struct lab *lab;
    struct ssb_judges judges;
    struct sql_statement *statements[SSB_QUERIES][SYSTEMS];
    struct cell cells[SSB_QUERIES][SYSTEMS];
    double *total_ms, *stage_ms; /* of the runs of a cell */
    struct sheet *log;           /* the lines that people see meanwhile, or NULL */
    struct decode_first first;
};

/* ---- Preparing ---- */

/* Whether the system's time is that of decoding, which is measured apart, and that of plain. */
static bool is_sum(const struct system *system)
{
    return system->source == OF_NVCOMP || system->source == OF_PUBLISHED;
}

/* Writes COLUMN=CASCADE,... for the columns of the plan, which have gpu-star's codecs. */
static void write_cascades(const struct plan *plan, char spec[SPEC_BYTES])
{
    size_t used = 0;
    for (uint32_t c = 0; c < plan->column_count; c++)
        for (size_t i = 0; i < CASCADES && used < SPEC_BYTES; i++)
            if (strcmp(plan->columns[c].data->codec->name, cascades[i][0]) == 0)
                used += (size_t)snprintf(spec + used, SPEC_BYTES - used, "%s%s=%s", used ? "," : "",
                                         plan->columns[c].column->schema.name, cascades[i][1]);
}

static enum status plan_one(struct queries *queries, uint32_t q, uint32_t s, struct error *error)
{
    const struct system *const system = &systems[s];
    struct lab *const lab = queries->lab;
    const struct plan *plan;
    char spec[SPEC_BYTES] = "";
    if (system->source == OF_CASCADES) {
        RETURN_IF_ERROR(sql_plan(queries->statements[q][GPU_STAR], &plan, error));
        write_cascades(plan, spec);
    }
    RETURN_IF_ERROR(benchmark_statement(lab->engine, lab->ssb->database[system->order], ssb_queries[q],
                                        system->codec ? system->codec : spec, system->staged, PLAN_INDEX_OFF,
                                        &queries->statements[q][s], error));
    return sql_plan(queries->statements[q][s], &plan, error);
}

/* Plans all, which encodes what the databases lack, and compiles all kernels side by side. */
static enum status plan_all(struct queries *queries, struct error *error)
{
    struct sql_statement *list[SSB_QUERIES * SYSTEMS];
    uint32_t count = 0;
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        for (uint32_t s = 0; s < SYSTEMS; s++) {
            RETURN_IF_ERROR(cancel_check(error));
            if (systems[s].source == OF_NVCOMP)
                continue;
            RETURN_IF_ERROR(plan_one(queries, q, s, error));
            if (!is_sum(&systems[s]))
                list[count++] = queries->statements[q][s];
            progress_report(queries->lab->progress, "planning", "queries", q * SYSTEMS + s + 1,
                            SSB_QUERIES * SYSTEMS);
        }
    return sql_compile(list, count, false, queries->lab->progress, error);
}

/* The part of each query that is measured apart, by the plans over plain columns. */
static enum status decode_all(struct queries *queries, struct error *error)
{
    RETURN_IF_ERROR(decode_first_open(queries->lab, &queries->first, error));
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        for (uint32_t s = 0; s < SYSTEMS; s++) {
            struct speed *const stage = &queries->cells[q][s].stage;
            const struct plan *plain, *plan;
            progress_report(queries->lab->progress, "decoding columns", "queries", q, SSB_QUERIES);
            RETURN_IF_ERROR(sql_plan(queries->statements[q][PLAIN], &plain, error));
            if (systems[s].source == OF_NVCOMP)
                RETURN_IF_ERROR(decode_first_nvcomp(&queries->first, plain, stage, error));
            if (systems[s].source != OF_PUBLISHED)
                continue;
            RETURN_IF_ERROR(sql_plan(queries->statements[q][s], &plan, error));
            RETURN_IF_ERROR(decode_first_published(&queries->first, plain, plan, stage, error));
        }
    return STATUS_OK;
}

/* ---- Running ---- */

/* Why the system has no times, or "". */
static const char *missing_of(const struct queries *queries, uint32_t s)
{
    switch (systems[s].source) {
    case OF_NVCOMP:
        return queries->first.nvcomp_missing;
    case OF_PUBLISHED:
        return queries->first.published_missing;
    case OF_CODEC:
    case OF_CASCADES:
        break;
    }
    return "";
}

static bool is_missing(const struct queries *queries, uint32_t s)
{
    return *missing_of(queries, s);
}

static double time_of(const struct queries *queries, uint32_t q, uint32_t s)
{
    return is_missing(queries, s) ? NAN : queries->cells[q][s].total.median;
}

/* The time of decoding first, after plain's. */
static void add_up(const struct speed *plain, struct cell *cell)
{
    cell->total = (struct speed){.median = plain->median + cell->stage.median,
                                 .least = plain->least + cell->stage.least,
                                 .most = plain->most + cell->stage.most};
}

/* Once unmeasured, then timed. */
static enum status measure(struct queries *queries, uint32_t q, uint32_t s, struct error *error)
{
    const uint32_t repeat = queries->lab->repeat;
    struct cell *const cell = &queries->cells[q][s];
    struct run_timing timing;
    if (is_sum(&systems[s])) {
        add_up(&queries->cells[q][PLAIN].total, cell);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(ssb_judged_run(&queries->judges, queries->statements[q][s], q, systems[s].order,
                                   systems[s].name, &timing, error));
    for (uint32_t i = 0; i < repeat; i++) {
        RETURN_IF_ERROR(ssb_judged_run(&queries->judges, queries->statements[q][s], q, systems[s].order,
                                       systems[s].name, &timing, error));
        queries->total_ms[i] = timing.total_ms;
        queries->stage_ms[i] = timing.stage_ms;
    }
    cell->total = speed_of(queries->total_ms, repeat);
    cell->stage = speed_of(queries->stage_ms, repeat);
    sql_statement_free(queries->statements[q][s]);
    queries->statements[q][s] = NULL;
    return STATUS_OK;
}

/* A line of what was measured. */
static enum status log_cell(struct queries *queries, uint32_t q, uint32_t s, struct error *error)
{
    if (!queries->log)
        return STATUS_OK;
    sheet_text(queries->log, ssb_queries[q]->name);
    sheet_text(queries->log, systems[s].name);
    if (is_missing(queries, s))
        sheet_missing(queries->log, missing_of(queries, s));
    else
        sheet_number(queries->log, time_of(queries, q, s));
    return lab_row_done(queries->lab, queries->log, error);
}

static enum status measure_query(struct queries *queries, uint32_t q, struct error *error)
{
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        RETURN_IF_ERROR(measure(queries, q, s, error));
        RETURN_IF_ERROR(log_cell(queries, q, s, error));
        progress_report(queries->lab->progress, "running", "queries", q * SYSTEMS + s + 1,
                        SSB_QUERIES * SYSTEMS);
    }
    return STATUS_OK;
}

static enum status prepare_all(struct queries *queries, struct error *error)
{
    struct lab *const lab = queries->lab;
    RETURN_IF_ERROR(memory_take(&queries->total_ms, lab->repeat * sizeof(double), "a list of times", error));
    RETURN_IF_ERROR(memory_take(&queries->stage_ms, lab->repeat * sizeof(double), "a list of times", error));
    RETURN_IF_ERROR(ssb_judges_open(lab, &queries->judges, error));
    RETURN_IF_ERROR(plan_all(queries, error));
    return decode_all(queries, error);
}

/* ---- Figures ---- */

/* Geometric mean of the queries' medians. Times below the clock's step count as that. */
static double mean_of(const struct queries *queries, uint32_t s)
{
    double sum = is_missing(queries, s) ? NAN : 0;
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        sum += log(fmax(queries->cells[q][s].total.median, 1e-6));
    return exp(sum / SSB_QUERIES);
}

static enum status measure_all(struct queries *queries, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "query", .name = "query", .text = true, .width = 5},
        {.key = "system", .name = "system", .text = true, .width = 44},
        {.key = "ms", .name = "time", .unit = "ms", .digits = 3},
    };
    RETURN_IF_ERROR(lab_log(queries->lab, "queries by system, as measured", columns,
                            sizeof columns / sizeof *columns, &queries->log, error));
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        RETURN_IF_ERROR(measure_query(queries, q, error));
    return STATUS_OK;
}

/* A row for each system, a column for each query. */
static enum status show_queries(struct queries *queries, uint64_t rows, struct error *error)
{
    struct sheet_column head[SSB_QUERIES + 3] = {{.key = "system", .name = "system", .text = true}};
    char keys[SSB_QUERIES][16], caption[160];
    struct sheet *sheet;
    for (uint32_t q = 0; q < SSB_QUERIES; q++) {
        snprintf(keys[q], sizeof keys[q], "ms_%s", ssb_queries[q]->name);
        head[q + 1] = (struct sheet_column){
            .key = keys[q], .name = ssb_queries[q]->name, .group = "time, ms", .digits = 3};
    }
    head[SSB_QUERIES + 1] =
        (struct sheet_column){.key = "mean_ms", .name = "mean", .group = "time, ms", .digits = 3};
    head[SSB_QUERIES + 2] =
        (struct sheet_column){.key = "to_plain", .name = "of plain's", .suffix = "x", .digits = 2};
    RETURN_IF_ERROR(sheet_create(head, SSB_QUERIES + 3, &sheet, error));
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        sheet_text(sheet, systems[s].name);
        for (uint32_t q = 0; q < SSB_QUERIES; q++)
            sheet_number(sheet, time_of(queries, q, s));
        sheet_number(sheet, mean_of(queries, s));
        sheet_number(sheet, mean_of(queries, s) / mean_of(queries, PLAIN));
    }
    snprintf(caption, sizeof caption,
             "queries over %" PRIu64 " rows of lineorder: medians of %u runs, with decoding; geometric means",
             rows, queries->lab->repeat);
    return lab_sheet(queries->lab, caption, sheet, error);
}

#define OMNISCI_OF_GPU_STAR 12 /* a commercial system, in figure 11 alone */
enum { PAPER = 5 };            /* the table's column of the paper's figures */

static enum status show_systems(struct queries *queries, struct error *error)
{
    static const struct sheet_column head[] = {
        {.key = "system", .name = "system", .text = true},
        {.key = "paper", .name = "in the paper", .text = true},
        {.key = "mean_ms", .name = "geometric mean", .unit = "ms", .digits = 3},
        {.key = "to_plain", .name = "of plain's", .suffix = "x", .digits = 2},
        {.key = "to_gpu_star", .name = "here", .group = "of gpu-star's", .suffix = "x", .digits = 2},
        {.key = "paper_to_gpu_star", .name = "paper", .group = "of gpu-star's", .suffix = "x", .digits = 2},
        {.key = "sum_ms", .name = "all 13", .unit = "ms", .digits = 3},
        {.key = "stage_ms", .name = "decoding first", .unit = "ms", .digits = 3},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(head, sizeof head / sizeof *head, &sheet, error));
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        double total = 0, stage = 0;
        for (uint32_t q = 0; q < SSB_QUERIES; q++) {
            total += time_of(queries, q, s);
            stage += queries->cells[q][s].stage.median;
        }
        sheet_text(sheet, systems[s].name);
        sheet_text(sheet, systems[s].paper);
        if (is_missing(queries, s))
            sheet_missing(sheet, missing_of(queries, s));
        else
            sheet_number(sheet, mean_of(queries, s));
        sheet_number(sheet, mean_of(queries, s) / mean_of(queries, PLAIN));
        sheet_number(sheet, mean_of(queries, s) / mean_of(queries, GPU_STAR));
        sheet_number(sheet, systems[s].of_gpu_star > 0 ? systems[s].of_gpu_star : NAN);
        sheet_number(sheet, total);
        sheet_number(sheet,
                     (systems[s].staged || is_sum(&systems[s])) && !is_missing(queries, s) ? stage : NAN);
    }
    sheet_text(sheet, "OmniSci");
    sheet_text(sheet, "OmniSci");
    sheet_missing(sheet, "not measured here");
    for (size_t c = 3; c < sizeof head / sizeof *head; c++)
        sheet_number(sheet, c == PAPER ? OMNISCI_OF_GPU_STAR : NAN);
    return lab_sheet(queries->lab, "systems", sheet, error);
}

static enum status chart_queries(struct queries *queries, struct error *error)
{
    const char *names[SSB_QUERIES];
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        names[q] = ssb_queries[q]->name;
    const struct chart_form form = {.kind = CHART_BARS,
                                    .title = "time of the queries, with decoding",
                                    .x.title = "query",
                                    .y = {.title = "time", .unit = "ms"},
                                    .categories = names,
                                    .category_count = SSB_QUERIES};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (uint32_t s = 0; s < SYSTEMS; s++) {
        if (!systems[s].charted || is_missing(queries, s))
            continue;
        chart_series(chart, systems[s].name);
        for (uint32_t q = 0; q < SSB_QUERIES; q++) {
            const struct speed *const total = &queries->cells[q][s].total;
            chart_point(chart, (struct chart_point){
                                   .x = q, .y = total->median, .low = total->least, .high = total->most});
        }
    }
    return lab_chart(queries->lab, chart, error);
}

static enum status chart_means(struct queries *queries, struct error *error)
{
    const char *names[SYSTEMS];
    double means[SYSTEMS];
    uint32_t count = 0;
    for (uint32_t s = 0; s < SYSTEMS; s++)
        if (!is_missing(queries, s)) {
            names[count] = systems[s].name;
            means[count++] = mean_of(queries, s);
        }
    return lab_bars(queries->lab, "geometric mean of the 13 queries", names, means, count, error);
}

static enum status run(struct queries *queries, struct error *error)
{
    const struct table *lineorder;
    RETURN_IF_ERROR(
        database_table(queries->lab->ssb->database[SSB_FILE_ORDER], "lineorder", &lineorder, error));
    RETURN_IF_ERROR(prepare_all(queries, error));
    RETURN_IF_ERROR(measure_all(queries, error));
    RETURN_IF_ERROR(show_queries(queries, lineorder->rows, error));
    RETURN_IF_ERROR(chart_queries(queries, error));
    RETURN_IF_ERROR(chart_means(queries, error));
    return show_systems(queries, error);
}

static void queries_free(struct queries *queries)
{
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        for (uint32_t s = 0; s < SYSTEMS; s++)
            sql_statement_free(queries->statements[q][s]);
    decode_first_close(&queries->first);
    ssb_judges_close(&queries->judges);
    free(queries->total_ms);
    free(queries->stage_ms);
    free(queries);
}

enum status lab_ssb_queries(struct lab *lab, struct error *error)
{
    struct queries *queries;
    RETURN_IF_ERROR(memory_zeros(&queries, sizeof *queries, "figures", error));
    queries->lab = lab;
    enum status status = ssb_databases_open(lab, error);
    if (status == STATUS_OK)
        status = run(queries, error);
    queries_free(queries);
    return status;
}
