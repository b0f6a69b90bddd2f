/*
 * pattern.c: `tessera lab pattern`: whole-pattern matching over compressed time series by Hamming distance, from a file
 * to the answer. Przymus and Kaczmarski, OTM 2012 Workshops, table 1, figures 2 and 3: 1 GB of data with 5 % outliers at
 * compression levels 2, 4 and 6; on a Tesla C2070, PFOR-DIFF decoded in shared memory computes in 85, 83 and 82 ms,
 * decoded to global memory first in 426 to 428, uncompressed in 10; a thread of the processor in 6961 to 7690 and 2410.
 *
 * IO is the time to read the bytes from a file, Mem to copy them to the device, Computation to decode and compare
 * (lab/bench/transfer.h, lab/bench/pattern.h, lab/experiments/pattern_record.h). Figure 3 is in lab/experiments/pattern_growth.c.
 */
#include "lab/experiments/experiments.h"

#include "lab/experiments/pattern_growth.h"
#include "lab/experiments/pattern_record.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>

#define RECORDS (1 + PATTERN_LEVELS * (PATTERN_SCHEMES - 1))
#define GOAL    1.5 /* times the read ceiling that fused decoding has to reach */

struct experiment {
    struct lab *lab;
    struct sheet *sheet; /* grows while the records are measured */
    char caption[512];
    uint32_t count;
    struct pattern_record records[RECORDS]; /* the first one is not compressed */
};

/* ---- Table 1 ---- */

/* Gigabytes a second of uncompressed values. */
static double rate_of(const struct lab *lab, const struct speed *speed)
{
    return (double)pattern_rows(lab, PATTERN_ROWS) * sizeof(int32_t) / speed->median * 1e-6;
}

static double times_ceiling(const struct lab *lab, const struct speed *speed)
{
    return rate_of(lab, speed) * 1e9 / lab->read_ceiling;
}

static double or_missing(double number)
{
    return number > 0 ? number : NAN;
}

/* The way in which values that are not compressed are matched on the same device. */
static enum pattern_way way_of_none(enum pattern_way way)
{
    return way == PATTERN_STAGED ? PATTERN_FUSED : way;
}

static double paper_to_none(const struct experiment *experiment, const struct pattern_record *record,
                            enum pattern_way way)
{
    const struct pattern_paper *const paper = pattern_paper(record, way);
    const struct pattern_paper *const none = pattern_paper(experiment->records, way_of_none(way));
    return paper && none ? paper->computation / none->computation : NAN;
}

/* Times in ms, ours and the paper's side by side. */
static void add_times(struct sheet *sheet, const struct pattern_record *record, enum pattern_way way)
{
    const struct speed *const speed = &record->ways[way];
    const struct pattern_paper *const paper = pattern_paper(record, way);
    const double io = record->transfer.file.median, memory = pattern_memory_ms(record, way);
    const bool measured = speed->median > 0;
    sheet_number(sheet, io);
    sheet_number(sheet, paper ? paper->io : NAN);
    sheet_number(sheet, measured ? memory : NAN);
    sheet_number(sheet, paper ? paper->memory : NAN);
    if (measured)
        sheet_number(sheet, speed->median);
    else
        sheet_missing(sheet, "needs a GPU");
    sheet_number(sheet, or_missing(speed->least));
    sheet_number(sheet, or_missing(speed->most));
    sheet_number(sheet, paper ? paper->computation : NAN);
    sheet_number(sheet, measured ? io + memory + speed->median : NAN);
    sheet_number(sheet, paper ? paper->io + paper->memory + paper->computation : NAN);
}

static void add_row(const struct experiment *experiment, const struct pattern_record *record,
                    enum pattern_way way)
{
    const struct lab *const lab = experiment->lab;
    const struct speed *const speed = &record->ways[way];
    const bool measured = speed->median > 0,
               of_device = lab->cuda ? way <= PATTERN_STAGED : way == PATTERN_CPU;
    struct sheet *const sheet = experiment->sheet;
    sheet_text(sheet, record->level == 1 ? "none" : record->scheme->name);
    sheet_text(sheet, pattern_way_name(record, way));
    sheet_number(sheet, record->level);
    sheet_number(sheet, record->ratio);
    add_times(sheet, record, way);
    sheet_number(sheet, measured ? speed->median / experiment->records->ways[way_of_none(way)].median : NAN);
    sheet_number(sheet, paper_to_none(experiment, record, way));
    sheet_number(sheet, measured ? rate_of(lab, speed) : NAN);
    sheet_number(sheet, measured && of_device ? times_ceiling(lab, speed) : NAN);
}

static enum status add_record(struct experiment *experiment, const struct pattern_record *record,
                              struct error *error)
{
    struct lab *const lab = experiment->lab;
    if (experiment->count++ == 0) { /* now it is known where files are read from */
        snprintf(
            experiment->caption, sizeof experiment->caption,
            "a pattern of %u values and %.0f time series of as many, %.2f MB; %u threads; IO from %.300s%s",
            SERIES_ROWS, (double)pattern_rows(lab, PATTERN_ROWS) / SERIES_ROWS,
            (double)pattern_rows(lab, PATTERN_ROWS) * 4e-6, lab->threads, transfer_folder(),
            record->transfer.in_memory ? ", which is in memory" : "");
        RETURN_IF_ERROR(lab_begin(lab, experiment->caption, experiment->sheet, error));
    }
    for (enum pattern_way way = 0; way < PATTERN_WAYS; way++)
        if (way != PATTERN_STAGED || record->level > 1)
            add_row(experiment, record, way);
    return lab_row_done(lab, experiment->sheet, error);
}

/* The data of the first level are also those that are not compressed. */
static enum status measure_level(void *context, struct pattern *pattern, uint32_t level, struct error *error)
{
    struct experiment *const experiment = context;
    for (uint32_t s = level ? 1 : 0; s < PATTERN_SCHEMES; s++) {
        struct pattern_record *const record = &experiment->records[experiment->count];
        progress_report(experiment->lab->progress, "matching a pattern", "codecs", experiment->count,
                        RECORDS);
        RETURN_IF_ERROR(pattern_record_measure(pattern, &pattern_schemes[s], &pattern_levels[level],
                                               (1u << PATTERN_WAYS) - 1, record, error));
        if (record->scheme)
            RETURN_IF_ERROR(add_record(experiment, record, error));
    }
    return STATUS_OK;
}

/* The table grows while all levels are measured. */
static enum status show_table(struct experiment *experiment, struct error *error)
{
#define TIME(KEY, NAME, GROUP, DIGITS)                                           \
    {                                                                            \
        .key = KEY, .name = NAME, .group = GROUP, .unit = "ms", .digits = DIGITS \
    }
    static const struct sheet_column columns[] = {
        {.key = "codec", .name = "compression", .text = true},
        {.key = "way", .name = "decoded by", .text = true, .width = 21},
        {.key = "level", .name = "level", .digits = 0},
        {.key = "ratio", .name = "ratio", .digits = 2},
        TIME("io_ms", "ours", "IO", 2),
        TIME("paper_io_ms", "paper", "IO", 0),
        TIME("memory_ms", "ours", "Mem", 2),
        TIME("paper_memory_ms", "paper", "Mem", 0),
        TIME("computation_ms", "ours", "Computation", 3),
        TIME("computation_least_ms", NULL, "Computation", 3),
        TIME("computation_most_ms", NULL, "Computation", 3),
        TIME("paper_computation_ms", "paper", "Computation", 0),
        TIME("sum_ms", "ours", "sum", 2),
        TIME("paper_sum_ms", "paper", "sum", 0),
        {.key = "computation_to_none", .name = "ours", .group = "to none", .suffix = "x", .digits = 2},
        {.key = "paper_computation_to_none", .name = "paper", .group = "to none", .suffix = "x", .digits = 2},
        {.key = "gb_per_second", .name = "uncompressed", .unit = "GB/s", .digits = 1},
        {.key = "times_read_ceiling", .name = "of reading", .suffix = "x", .digits = 2},
    };
#undef TIME
    struct lab *const lab = experiment->lab;
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &experiment->sheet, error));
    for (uint32_t level = 0; status == STATUS_OK && level < PATTERN_LEVELS; level++)
        status =
            pattern_with_level(lab, level, pattern_rows(lab, PATTERN_ROWS), measure_level, experiment, error);
    if (status == STATUS_OK)
        return lab_sheet(lab, experiment->caption, experiment->sheet, error);
    sheet_destroy(experiment->sheet);
    return status;
}

/* ---- Figure 2: bars by level ---- */

/* A figure of a way; NaN: it was not measured. */
typedef struct chart_point bar_figure(const struct lab *lab, const struct pattern_record *record,
                                      enum pattern_way way);

/* Without IO, as in the paper. */
static struct chart_point bar_time(const struct lab *lab, const struct pattern_record *record,
                                   enum pattern_way way)
{
    const struct speed *const speed = &record->ways[way];
    const double memory = pattern_memory_ms(record, way);
    (void)lab;
    return (struct chart_point){
        .y = memory + speed->median, .low = memory + speed->least, .high = memory + speed->most};
}

static struct chart_point bar_rate(const struct lab *lab, const struct pattern_record *record,
                                   enum pattern_way way)
{
    const struct speed *const speed = &record->ways[way];
    const double most = times_ceiling(lab, speed) * speed->median;
    return (struct chart_point){
        .y = most / speed->median, .low = most / speed->most, .high = most / speed->least};
}

/* The bars of one way over all levels; none if it was not measured at any. */
static void add_series(const struct experiment *experiment, const struct pattern_scheme *scheme,
                       enum pattern_way way, bar_figure *figure, struct chart *chart)
{
    bool begun = false;
    for (uint32_t r = 0; r < experiment->count; r++) {
        const struct pattern_record *const record = &experiment->records[r];
        char name[64];
        if (record->scheme != scheme || record->ways[way].median <= 0)
            continue;
        snprintf(name, sizeof name, "%s, %s", record->level == 1 ? "none" : scheme->name,
                 pattern_way_name(record, way));
        if (!begun)
            chart_series(chart, name);
        begun = true;
        struct chart_point point = figure(experiment->lab, record, way);
        point.x = record->level == 1 ? 0 : record->level / 2; /* of the categories */
        chart_point(chart, point);
    }
}

static enum status show_bars(const struct experiment *experiment, const char *title, struct chart_axis y,
                             const enum pattern_way *ways, uint32_t way_count, bar_figure *figure,
                             struct error *error)
{
    static const char *const categories[] = {"none", "level 2", "level 4", "level 6"};
    const struct chart_form form = {.kind = CHART_BARS,
                                    .title = title,
                                    .x = {.title = "compression"},
                                    .y = y,
                                    .categories = categories,
                                    .category_count = sizeof categories / sizeof *categories};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (uint32_t s = 0; s < PATTERN_SCHEMES; s++)
        for (uint32_t w = 0; w < way_count; w++)
            add_series(experiment, &pattern_schemes[s], ways[w], figure, chart);
    if (figure == bar_rate)
        chart_reference(chart, "the goal, 1.5", GOAL, 0);
    return lab_chart(experiment->lab, chart, error);
}

static enum status show_all_bars(const struct experiment *experiment, struct error *error)
{
    static const enum pattern_way gpu[] = {PATTERN_FUSED, PATTERN_STAGED}, cpu[] = {PATTERN_CPU},
                                  thread[] = {PATTERN_CPU_THREAD};
    const struct chart_axis ms = {.title = "Mem and Computation", .unit = "ms"};
    const struct chart_axis times = {.title = "uncompressed bytes", .unit = "times the read ceiling"};
    if (experiment->lab->cuda) {
        RETURN_IF_ERROR(show_bars(experiment, "matching a pattern on the GPU, time without IO", ms, gpu, 2,
                                  bar_time, error));
        RETURN_IF_ERROR(show_bars(experiment, "matching a pattern on the GPU, speed of Computation", times,
                                  gpu, 2, bar_rate, error));
    }
    RETURN_IF_ERROR(show_bars(experiment,
                              "matching a pattern on all threads of the processor, time without IO", ms, cpu,
                              1, bar_time, error));
    return show_bars(experiment, "matching a pattern on one thread of the processor, time without IO", ms,
                     thread, 1, bar_time, error);
}

enum status lab_pattern(struct lab *lab, struct error *error)
{
    struct experiment *experiment = NULL;
    RETURN_IF_ERROR(memory_zeros(&experiment, sizeof *experiment, "figures", error));
    experiment->lab = lab;
    enum status status = show_table(experiment, error);
    if (status == STATUS_OK)
        status = show_all_bars(experiment, error);
    free(experiment);
    return status == STATUS_OK ? pattern_growth_show(lab, error) : status;
}
