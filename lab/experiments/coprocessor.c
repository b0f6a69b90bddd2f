/*
 * coprocessor.c: `tessera lab coprocessor`: queries whose columns are in the host's memory and are moved to the GPU in every run. SIGMOD 2022,
 * section 9.5, figure 12: Q1.1, Q2.1, Q3.1 and Q4.1 at scale factor 20, over PCIe of 12 GB/s: compressed by GPU-* 2.3 times faster than None.
 *
 * "copied" moves every column that the query reads, whole, as the paper does; "late" is ours: columns that few survivors need are read from the
 * host's memory by the kernel, where that moves fewer bytes (docs/scaling.md). Every answer is compared with the plain codec's. On a
 * processor there is nothing to measure.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/decode.h"
#include "lab/ssb/ssb_judges.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUERIES 4u
static const char *const query_names[QUERIES] = {"q1.1", "q2.1", "q3.1", "q4.1"};

static const struct system {
    const char *name, *codec;
    enum ssb_order order;
    enum late_transfer late;
    double paper; /* None's time to this one's; 0: not there */
} systems[] = {
    {"plain, copied", "plain", SSB_FILE_ORDER, LATE_OFF, 1},
    {"gpu-star, copied", "gpu-star", SSB_FILE_ORDER, LATE_OFF, 2.3},
    {"gpu-star of the paper, copied", GPU_STAR_NAMED, SSB_FILE_ORDER, LATE_OFF, 0},
    {"gpu-for, copied", "gpu-for", SSB_FILE_ORDER, LATE_OFF, 0},
    {"auto, copied", "auto", SSB_FILE_ORDER, LATE_OFF, 0},
    {"auto, levels, copied", "auto", SSB_LEVELS, LATE_OFF, 0},
    {"plain, late", "plain", SSB_FILE_ORDER, LATE_AUTO, 0},
    {"auto, late", "auto", SSB_FILE_ORDER, LATE_AUTO, 0},
    {"auto, levels, late", "auto", SSB_LEVELS, LATE_AUTO, 0},
};
#define SYSTEMS (sizeof systems / sizeof *systems)
enum { PAPER = 7 }; /* the table's column of the paper's figures */

struct coprocessor {
    struct lab *lab;
    struct ssb_judges judges;
    struct engine
        *engine; /* keeps no column on the GPU; one at a time, because each pins the columns' memory */
    enum late_transfer late; /* of the engine */
    double *ms;
    double none_mean; /* of plain, copied */
};

static uint32_t query_number(const char *name)
{
    uint32_t q = 0;
    while (strcmp(ssb_queries[q]->name, name) != 0)
        q++;
    return q;
}

/* Once unmeasured, then timed. *moved gets the bytes of the last run. */
static enum status measure(struct coprocessor *own, const struct system *system, uint32_t q,
                           struct speed *speed, uint64_t *moved, struct error *error)
{
    struct lab *const lab = own->lab;
    struct sql_statement *statement;
    struct run_timing timing = {0};
    RETURN_IF_ERROR(benchmark_statement(own->engine, lab->ssb->database[system->order], ssb_queries[q],
                                        system->codec, false, PLAN_INDEX_OFF, &statement, error));
    enum status status =
        ssb_judged_run(&own->judges, statement, q, system->order, system->name, &timing, error);
    for (uint32_t i = 0; status == STATUS_OK && i < lab->repeat; i++) {
        status = ssb_judged_run(&own->judges, statement, q, system->order, system->name, &timing, error);
        own->ms[i] = timing.total_ms;
    }
    sql_statement_free(statement);
    *speed = speed_of(own->ms, lab->repeat);
    *moved = timing.moved_bytes;
    return status;
}

static enum status measure_system(struct coprocessor *own, const struct system *system, struct sheet *sheet,
                                  struct error *error)
{
    double logarithms = 0, sum = 0;
    uint64_t moved = 0, bytes;
    sheet_text(sheet, system->name);
    for (uint32_t i = 0; i < QUERIES; i++) {
        struct speed speed;
        RETURN_IF_ERROR(measure(own, system, query_number(query_names[i]), &speed, &bytes, error));
        sheet_number(sheet, speed.median);
        logarithms += log(fmax(speed.median, 1e-6));
        sum += speed.median;
        moved += bytes;
    }
    const double mean = exp(logarithms / QUERIES);
    if (system == systems)
        own->none_mean = mean;
    sheet_number(sheet, mean);
    sheet_number(sheet, own->none_mean / mean);
    sheet_number(sheet, system->paper > 0 ? system->paper : NAN);
    sheet_number(sheet, (double)moved);
    sheet_number(sheet, (double)moved / sum * 1e-6);
    return lab_row_done(own->lab, sheet, error);
}

static enum status prepare(struct coprocessor *own, struct error *error)
{
    RETURN_IF_ERROR(memory_take(&own->ms, own->lab->repeat * sizeof *own->ms, "a list of times", error));
    RETURN_IF_ERROR(ssb_databases_open(own->lab, error));
    return ssb_judges_open(own->lab, &own->judges, error);
}

/* Opens the engine for a way of moving columns. */
static enum status engine_for(struct coprocessor *own, enum late_transfer late, struct error *error)
{
    struct lab *const lab = own->lab;
    if (own->engine && own->late == late)
        return STATUS_OK;
    engine_close(own->engine);
    own->engine = NULL;
    own->late = late;
    return engine_open(&(struct engine_options){.device = lab->device,
                                                .threads = lab->threads,
                                                .one_device = true,
                                                .gpu_memory = "0",
                                                .late = late,
                                                .kernel = KERNEL_SPECIALISED},
                       &own->engine, error);
}

static enum status measure_all(struct coprocessor *own, struct sheet *sheet, struct error *error)
{
    RETURN_IF_ERROR(prepare(own, error));
    for (size_t s = 0; s < SYSTEMS; s++) {
        progress_report(own->lab->progress, "running", "systems", s, SYSTEMS);
        RETURN_IF_ERROR(engine_for(own, systems[s].late, error));
        RETURN_IF_ERROR(measure_system(own, &systems[s], sheet, error));
    }
    return STATUS_OK;
}

static void coprocessor_free(struct coprocessor *own)
{
    engine_close(own->engine);
    ssb_judges_close(&own->judges);
    free(own->ms);
}

/* The rows where there is no GPU: the paper's figures alone. */
static void show_missing(struct sheet *sheet)
{
    for (size_t s = 0; s < SYSTEMS; s++) {
        sheet_text(sheet, systems[s].name);
        sheet_missing(sheet, "no GPU");
        for (uint32_t c = 2; c < sheet->column_count; c++)
            sheet_number(sheet, c == PAPER && systems[s].paper > 0 ? systems[s].paper : NAN);
    }
}

enum status lab_coprocessor(struct lab *lab, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "system", .name = "system", .text = true, .width = 29},
        {.key = "q1.1_ms", .name = "q1.1", .group = "time, ms", .digits = 3},
        {.key = "q2.1_ms", .name = "q2.1", .group = "time, ms", .digits = 3},
        {.key = "q3.1_ms", .name = "q3.1", .group = "time, ms", .digits = 3},
        {.key = "q4.1_ms", .name = "q4.1", .group = "time, ms", .digits = 3},
        {.key = "mean_ms", .name = "geometric mean", .group = "time, ms", .digits = 3},
        {.key = "times_none", .name = "here", .group = "times as fast as None", .digits = 2},
        {.key = "paper_times_none", .name = "paper", .group = "times as fast as None", .digits = 1},
        {.key = "moved_bytes", .name = "moved", .unit = "MB", .scale = 1e-6, .digits = 1},
        {.key = "gb_per_second", .name = "rate", .unit = "GB/s", .digits = 1},
    };
    static const char caption[] = "columns on the host, moved in every run";
    struct coprocessor own = {.lab = lab};
    struct sheet *sheet;
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    if (lab->cuda) {
        status = lab_begin(lab, caption, sheet, error);
        if (status == STATUS_OK)
            status = measure_all(&own, sheet, error);
    } else {
        show_missing(sheet);
    }
    coprocessor_free(&own);
    if (status == STATUS_OK)
        return lab_sheet(lab, caption, sheet, error);
    sheet_destroy(sheet);
    return status;
}
