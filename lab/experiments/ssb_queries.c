/*
 * ssb_queries.c: `tessera lab ssb-queries`: the 13 queries of the Star Schema Benchmark, by system. SIGMOD 2022, section
 * 9.4, figure 11: scale factor 20; uncompressed columns are 1.35 times faster than GPU-*, and GPU-* is 4, 2.4 and 2.6
 * times faster than Planner, GPU-BP and nvCOMP, which decode each column to memory before the query.
 *
 * "staged" systems do so: the time has both parts. nvCOMP's is a sum: of decompressing the query's columns one by one,
 * each in the smallest of three cascaded schemes, and of the query over plain columns. Every answer of every run is
 * compared with the plain codec's on the same device. All systems of a query run before the next query, so that a change of the machine's speed changes the
 * ratios least.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/nvcomp_query.h"
#include "lab/bench/ssb_database.h"
#include "ssb/benchmark/judge.h"
#include "storage/base/memory.h"
#include "storage/base/text/text_stream.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_BYTES 1024u

enum source { OF_CODEC, OF_CASCADES, OF_NVCOMP };
static const struct system {
    const char *name, *paper; /* paper: its name there, or NULL */
    enum source source;
    const char *codec; /* OF_CODEC: a codec or chooser for all columns */
    bool staged, charted;
} known_systems[] = {
    {"plain", "None", OF_CODEC, "plain", false, true},
    {"gpu-star", "GPU-*", OF_CODEC, "gpu-star", false, true},
    {"gpu-star staged", NULL, OF_CODEC, "gpu-star", true, true},
    {"cascades", NULL, OF_CASCADES, NULL, true, true},
    {"planner", "Planner", OF_CODEC, "planner", true, true},
    {"gpu-bp128 staged", "GPU-BP", OF_CODEC, "gpu-bp128", true, true},
    {"nvCOMP, then plain", "nvCOMP", OF_NVCOMP, NULL, true, true},
    {"auto", NULL, OF_CODEC, "auto", false, true},
    {"lane-for", NULL, OF_CODEC, "lane-for", false, false},
    {"lane-for staged", NULL, OF_CODEC, "lane-for", true, false},
};
#define SYSTEMS_MAX (sizeof known_systems / sizeof *known_systems)
enum { PLAIN, GPU_STAR }; /* their places in the list, which every build has */

/* The codecs with the same bytes as those that gpu-star chooses from, decoded layer by layer. */
static const char *const cascades[][2] = {
    {"gpu-for", "for-bp"}, {"gpu-dfor", "delta-for-bp"}, {"gpu-rfor", "rle-for-bp"}};
#define CASCADES (sizeof cascades / sizeof *cascades)

struct cell {
    struct speed total, stage;
};

struct queries {
    struct lab *lab;
    struct database *database;
    struct benchmark_options options; /* for the judge: all queries, compared with plain */
    struct judge judge;
    FILE *notes; /* why an answer is wrong */
    char *notes_text;
    size_t notes_bytes;
    uint32_t system_count;
    const struct system *systems[SYSTEMS_MAX];
    struct sql_statement *statements[SSB_QUERIES][SYSTEMS_MAX];
    struct cell cells[SSB_QUERIES][SYSTEMS_MAX];
    double *total_ms, *stage_ms; /* of the runs of a cell */
    struct sheet *sheet;         /* of the queries, which grows while they are measured */
    struct nvcomp_query nvcomp;
};

/* ---- Preparing ---- */

/* Whether this build has the system's codecs. */
static bool is_known(const struct system *system)
{
    struct codec_choice choice;
    if (system->source == OF_CODEC)
        return codec_choice_parse(system->codec, &choice, NULL) == STATUS_OK;
    for (size_t i = 0; i < CASCADES && system->source == OF_CASCADES; i++)
        if (!codec_by_name(cascades[i][1]))
            return false;
    return true;
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
    const struct system *const system = queries->systems[s];
    struct engine *const engine = queries->lab->engine;
    const struct plan *plan;
    char spec[SPEC_BYTES] = "";
    if (system->source == OF_CASCADES) {
        RETURN_IF_ERROR(sql_plan(queries->statements[q][GPU_STAR], &plan, error));
        write_cascades(plan, spec);
    }
    RETURN_IF_ERROR(benchmark_statement(engine, queries->database, ssb_queries[q],
                                        system->codec ? system->codec : spec, system->staged, PLAN_INDEX_OFF,
                                        &queries->statements[q][s], error));
    return sql_plan(queries->statements[q][s], &plan, error);
}

/* Plans all, which encodes what the database lacks, and compiles all kernels side by side. */
static enum status plan_all(struct queries *queries, struct error *error)
{
    struct sql_statement *list[SSB_QUERIES * SYSTEMS_MAX];
    uint32_t count = 0;
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        for (uint32_t s = 0; s < queries->system_count; s++) {
            RETURN_IF_ERROR(cancel_check(error));
            if (queries->systems[s]->source == OF_NVCOMP)
                continue;
            RETURN_IF_ERROR(plan_one(queries, q, s, error));
            list[count++] = queries->statements[q][s];
            progress_report(queries->lab->progress, "planning", "queries", count,
                            SSB_QUERIES * queries->system_count);
        }
    return sql_compile(list, count, false, queries->lab->progress, error);
}

/* nvCOMP's part of each query, by the plans over plain columns. */
static enum status decompress_all(struct queries *queries, struct error *error)
{
    uint32_t s = 0;
    while (queries->systems[s]->source != OF_NVCOMP)
        s++;
    RETURN_IF_ERROR(nvcomp_query_open(queries->lab, &queries->nvcomp, error));
    for (uint32_t q = 0; q < SSB_QUERIES && !*queries->nvcomp.missing; q++) {
        const struct plan *plan;
        progress_report(queries->lab->progress, "decompressing with nvCOMP", "queries", q, SSB_QUERIES);
        RETURN_IF_ERROR(sql_plan(queries->statements[q][PLAIN], &plan, error));
        RETURN_IF_ERROR(nvcomp_query_measure(&queries->nvcomp, plan, &queries->cells[q][s].stage, error));
    }
    return STATUS_OK;
}

/* ---- Running ---- */

static enum status run_once(struct queries *queries, uint32_t q, uint32_t s, struct run_timing *timing,
                            struct error *error)
{
    struct rowset answer;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(sql_run(queries->statements[q][s], &answer, timing, error));
    const enum answer_check check =
        judge_answer(&queries->judge, ssb_queries[q], q, queries->systems[s]->name, &answer);
    rowset_free(&answer);
    if (check != ANSWER_WRONG)
        return STATUS_OK;
    const bool kept = fclose(queries->notes) == 0;
    const char *const note = kept ? queries->notes_text : "";
    queries->notes = NULL;
    return error_set(error, STATUS_CHECK_FAILED, "a wrong answer: %.*s", (int)strcspn(note, "\n"), note);
}

static bool is_missing(const struct queries *queries, uint32_t s)
{
    return queries->systems[s]->source == OF_NVCOMP && *queries->nvcomp.missing;
}

static double time_of(const struct queries *queries, uint32_t q, uint32_t s)
{
    return is_missing(queries, s) ? NAN : queries->cells[q][s].total.median;
}

/* nvCOMP's time, after plain's. */
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
    if (queries->systems[s]->source == OF_NVCOMP) {
        add_up(&queries->cells[q][PLAIN].total, cell);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(run_once(queries, q, s, &timing, error));
    for (uint32_t i = 0; i < repeat; i++) {
        RETURN_IF_ERROR(run_once(queries, q, s, &timing, error));
        queries->total_ms[i] = timing.total_ms;
        queries->stage_ms[i] = timing.stage_ms;
    }
    cell->total = speed_of(queries->total_ms, repeat);
    cell->stage = speed_of(queries->stage_ms, repeat);
    sql_statement_free(queries->statements[q][s]);
    queries->statements[q][s] = NULL;
    return STATUS_OK;
}

static enum status measure_query(struct queries *queries, uint32_t q, struct error *error)
{
    sheet_text(queries->sheet, ssb_queries[q]->name);
    for (uint32_t s = 0; s < queries->system_count; s++) {
        RETURN_IF_ERROR(measure(queries, q, s, error));
        sheet_number(queries->sheet, time_of(queries, q, s));
        progress_report(queries->lab->progress, "running", "queries", q * queries->system_count + s + 1,
                        SSB_QUERIES * queries->system_count);
    }
    return lab_row(queries->lab, queries->sheet, error);
}

static enum status prepare_all(struct queries *queries, struct error *error)
{
    struct lab *const lab = queries->lab;
    RETURN_IF_ERROR(memory_take(&queries->total_ms, lab->repeat * sizeof(double), "a list of times", error));
    RETURN_IF_ERROR(memory_take(&queries->stage_ms, lab->repeat * sizeof(double), "a list of times", error));
    RETURN_IF_ERROR(judge_create(&queries->judge, &queries->options, queries->database, lab->engine,
                                 queries->notes, lab->progress, error));
    RETURN_IF_ERROR(plan_all(queries, error));
    return decompress_all(queries, error);
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

/* Measures all queries; each has a row. */
static enum status measure_all(struct queries *queries, const char *caption, struct error *error)
{
    RETURN_IF_ERROR(lab_begin(queries->lab, caption, queries->sheet, error));
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        RETURN_IF_ERROR(measure_query(queries, q, error));
    sheet_text(queries->sheet, "geometric mean");
    for (uint32_t s = 0; s < queries->system_count; s++)
        sheet_number(queries->sheet, mean_of(queries, s));
    sheet_text(queries->sheet, "of plain's");
    for (uint32_t s = 0; s < queries->system_count; s++)
        sheet_number(queries->sheet, mean_of(queries, s) / mean_of(queries, PLAIN));
    return STATUS_OK;
}

static enum status show_queries(struct queries *queries, uint64_t rows, struct error *error)
{
    struct sheet_column head[SYSTEMS_MAX + 1] = {{.key = "query", .name = "query", .text = true}};
    char keys[SYSTEMS_MAX][64], caption[160];
    for (uint32_t s = 0; s < queries->system_count; s++) {
        snprintf(keys[s], sizeof keys[s], "ms_%s", queries->systems[s]->name);
        lab_key(keys[s]);
        head[s + 1] = (struct sheet_column){
            .key = keys[s], .name = queries->systems[s]->name, .group = "time, ms", .digits = 3};
    }
    RETURN_IF_ERROR(sheet_create(head, queries->system_count + 1, &queries->sheet, error));
    snprintf(caption, sizeof caption,
             "queries over %" PRIu64 " rows of lineorder: medians of %u runs, with decoding", rows,
             queries->lab->repeat);
    const enum status status = measure_all(queries, caption, error);
    if (status == STATUS_OK)
        return lab_sheet(queries->lab, caption, queries->sheet, error);
    sheet_destroy(queries->sheet);
    return status;
}

static enum status show_systems(struct queries *queries, struct error *error)
{
    static const struct sheet_column head[] = {
        {.key = "system", .name = "system", .text = true},
        {.key = "paper", .name = "in the paper", .text = true},
        {.key = "mean_ms", .name = "geometric mean", .unit = "ms", .digits = 3},
        {.key = "to_plain", .name = "of plain's", .suffix = "x", .digits = 2},
        {.key = "to_gpu_star", .name = "of gpu-star's", .suffix = "x", .digits = 2},
        {.key = "sum_ms", .name = "all 13", .unit = "ms", .digits = 3},
        {.key = "stage_ms", .name = "decoding first", .unit = "ms", .digits = 3},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(head, sizeof head / sizeof *head, &sheet, error));
    for (uint32_t s = 0; s < queries->system_count; s++) {
        double total = 0, stage = 0;
        for (uint32_t q = 0; q < SSB_QUERIES; q++) {
            total += time_of(queries, q, s);
            stage += queries->cells[q][s].stage.median;
        }
        sheet_text(sheet, queries->systems[s]->name);
        sheet_text(sheet, queries->systems[s]->paper);
        if (is_missing(queries, s))
            sheet_missing(sheet, queries->nvcomp.missing);
        else
            sheet_number(sheet, mean_of(queries, s));
        sheet_number(sheet, mean_of(queries, s) / mean_of(queries, PLAIN));
        sheet_number(sheet, mean_of(queries, s) / mean_of(queries, GPU_STAR));
        sheet_number(sheet, total);
        sheet_number(sheet, queries->systems[s]->staged && !is_missing(queries, s) ? stage : NAN);
    }
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
    for (uint32_t s = 0; s < queries->system_count; s++) {
        if (!queries->systems[s]->charted || is_missing(queries, s))
            continue;
        chart_series(chart, queries->systems[s]->name);
        for (uint32_t q = 0; q < SSB_QUERIES; q++) {
            const struct speed *const total = &queries->cells[q][s].total;
            chart_point(chart, (struct chart_point){
                                   .x = q, .y = total->median, .low = total->least, .high = total->most});
        }
    }
    lab_chart(queries->lab, chart);
    return STATUS_OK;
}

static enum status chart_means(struct queries *queries, struct error *error)
{
    const char *names[SYSTEMS_MAX];
    double means[SYSTEMS_MAX];
    uint32_t count = 0;
    for (uint32_t s = 0; s < queries->system_count; s++)
        if (!is_missing(queries, s)) {
            names[count] = queries->systems[s]->name;
            means[count++] = mean_of(queries, s);
        }
    return lab_bars(queries->lab, "geometric mean of the 13 queries", names, means, count, error);
}

static enum status run(struct queries *queries, struct error *error)
{
    const struct table *lineorder;
    RETURN_IF_ERROR(database_table(queries->database, "lineorder", &lineorder, error));
    RETURN_IF_ERROR(prepare_all(queries, error));
    RETURN_IF_ERROR(show_queries(queries, lineorder->rows, error));
    RETURN_IF_ERROR(chart_queries(queries, error));
    RETURN_IF_ERROR(chart_means(queries, error));
    return show_systems(queries, error);
}

static void queries_free(struct queries *queries)
{
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        for (uint32_t s = 0; s < queries->system_count; s++)
            sql_statement_free(queries->statements[q][s]);
    nvcomp_query_close(&queries->nvcomp);
    judge_destroy(&queries->judge);
    if (queries->notes)
        fclose(queries->notes);
    free(queries->notes_text);
    free(queries->total_ms);
    free(queries->stage_ms);
    free(queries);
}

enum status lab_ssb_queries(struct lab *lab, struct error *error)
{
    struct queries *queries;
    RETURN_IF_ERROR(memory_zeros(&queries, sizeof *queries, "figures", error));
    queries->lab = lab;
    queries->options = benchmark_options_default();
    queries->options.verify = VERIFY_PLAIN;
    for (size_t s = 0; s < SYSTEMS_MAX; s++)
        if (is_known(&known_systems[s]))
            queries->systems[queries->system_count++] = &known_systems[s];
    queries->notes = text_stream(&queries->notes_text, &queries->notes_bytes);
    enum status status = queries->notes ? STATUS_OK : error_out_of_memory(error, BUFSIZ, "notes");
    if (status == STATUS_OK)
        status = ssb_database_open(lab, error);
    if (status == STATUS_OK) {
        queries->database = lab->ssb->database;
        status = run(queries, error);
    }
    queries_free(queries);
    return status;
}
