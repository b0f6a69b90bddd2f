/*
 * pattern.c: `tessera lab pattern`: whole-pattern matching over compressed time series by Hamming distance, from a file
 * to the answer. Przymus and Kaczmarski, OTM 2012 Workshops, table 1, figures 2 and 3: 1 GB of data with 5 % outliers at
 * compression levels 2, 4 and 6; on a Tesla C2070, PFOR-DIFF decoded in shared memory computes in 85, 83 and 82 ms,
 * decoded to global memory first in 426 to 428, uncompressed in 10; a thread of the processor in 6961 to 7690 and 2410.
 *
 * A time series is 1024 values, as long as the pattern. The level says how many times the paper's codec, pfor-diff,
 * compresses the series; other codecs compress them as well as they can. The paper says of its data only the levels and
 * the outliers. IO is the time to read the bytes from a file, Mem to copy them to the device, Computation to decode and
 * compare (lab/bench/transfer.h, lab/bench/pattern.h). The processor has all its threads here.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/pattern.h"
#include "lab/bench/transfer.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    (UINT64_C(1) << 28) /* 1 GB */
#define LEVELS  3u
#define SCHEMES 6u
#define RECORDS (LEVELS * SCHEMES)
#define GOAL    1.5 /* times the read ceiling that fused decoding has to reach */

/* The bits of successive differences and of outliers by which pfor-diff compresses so many times. */
static const struct {
    double factor;
    uint32_t step_bits, outlier_bits;
} levels[LEVELS] = {{2, 14, 21}, {4, 6, 12}, {6, 3, 13}};

/* The first one is not compressed. */
static const struct scheme {
    const char *name;
    bool in_shared; /* a GPU decodes a tile into shared memory, not into registers */
} schemes[SCHEMES] = {{"plain", false},    {"pfor-diff", true},   {"pfor", true},
                      {"lane-for", false}, {"lane-delta", false}, {"lane-pfor", false}};

/* A codec at a level. */
struct record {
    const struct scheme *scheme;
    double level; /* 1: not compressed */
    double ratio;
    struct transfer transfer;
    struct speed ways[PATTERN_WAYS]; /* median 0: not measured */
};

struct experiment {
    struct lab *lab;
    struct sheet *sheet; /* grows while the records are measured */
    char caption[512];
    uint32_t count;
    struct record records[RECORDS];
};

static uint64_t series_rows(const struct lab *lab, uint64_t rows)
{
    const uint64_t scaled = lab_rows(lab, rows) / SERIES_ROWS * SERIES_ROWS;
    return scaled ? scaled : SERIES_ROWS;
}

/* ---- Measuring ---- */

static enum status measure_ways(struct lab *lab, struct pattern *pattern, const struct encoded *encoded,
                                struct record *record, struct error *error)
{
    record->ratio = 32 / encoded_bits(encoded);
    RETURN_IF_ERROR(transfer_measure(lab, encoded, &record->transfer, error));
    RETURN_IF_ERROR(pattern_measure(pattern, encoded, PATTERN_CPU, &record->ways[PATTERN_CPU], error));
    if (!lab->cuda)
        return STATUS_OK;
    RETURN_IF_ERROR(pattern_measure(pattern, encoded, PATTERN_FUSED, &record->ways[PATTERN_FUSED], error));
    return record->level > 1
               ? pattern_measure(pattern, encoded, PATTERN_STAGED, &record->ways[PATTERN_STAGED], error)
               : STATUS_OK;
}

/* Measures a scheme; *record is unchanged if its codec is not in the registry. */
static enum status measure_scheme(struct lab *lab, struct pattern *pattern, const struct scheme *scheme,
                                  double level, struct record *record, struct error *error)
{
    const struct codec *const codec = codec_by_name(scheme->name);
    struct encoded encoded;
    if (!codec)
        return STATUS_OK;
    *record = (struct record){.scheme = scheme, .level = scheme == schemes ? 1 : level};
    enum status status = encoded_make(lab, codec, pattern->dataset, &encoded, error);
    if (status == STATUS_OK)
        status = measure_ways(lab, pattern, &encoded, record, error);
    encoded_free(&encoded);
    return status;
}

/* The data of a level and what to do with them. */
typedef enum status level_work(void *context, struct pattern *pattern, uint32_t level, struct error *error);

static enum status with_level(struct lab *lab, uint32_t level, uint64_t rows, level_work *work, void *context,
                              struct error *error)
{
    struct series_parameters series = {.step_bits = levels[level].step_bits,
                                       .outlier_bits = levels[level].outlier_bits};
    struct dataset dataset;
    struct pattern pattern = {0};
    series_pattern(&series);
    enum status status = dataset_make(lab, "making time series", rows, fill_series, &series, &dataset, error);
    if (status == STATUS_OK)
        status = pattern_open(lab, &dataset, series.pattern, &pattern, error);
    if (status == STATUS_OK)
        status = work(context, &pattern, level, error);
    pattern_close(&pattern);
    dataset_free(lab, &dataset);
    return status;
}

/* ---- Table 1 ---- */

static const char *way_name(const struct record *record, enum pattern_way way)
{
    if (way == PATTERN_CPU)
        return "CPU";
    if (record->level == 1)
        return "GPU";
    return way == PATTERN_STAGED       ? "GPU, to global memory"
           : record->scheme->in_shared ? "GPU, in shared memory"
                                       : "GPU, in registers";
}

/* Gigabytes a second of uncompressed values. */
static double rate_of(const struct lab *lab, const struct speed *speed)
{
    return (double)series_rows(lab, ROWS) * sizeof(int32_t) / speed->median * 1e-6;
}

static double times_ceiling(const struct lab *lab, const struct speed *speed)
{
    return rate_of(lab, speed) * 1e9 / lab->read_ceiling;
}

static void add_row(const struct lab *lab, struct sheet *sheet, const struct record *record,
                    enum pattern_way way)
{
    const struct speed *const speed = &record->ways[way];
    const double memory = way == PATTERN_CPU ? 0 : record->transfer.device.median;
    sheet_text(sheet, record->level == 1 ? "none" : record->scheme->name);
    sheet_text(sheet, way_name(record, way));
    sheet_number(sheet, record->level);
    sheet_number(sheet, record->ratio);
    sheet_number(sheet, record->transfer.file.median);
    if (speed->median <= 0) {
        for (int i = 0; i < 7; i++)
            sheet_missing(sheet, i == 0 ? "needs a GPU" : NULL);
        return;
    }
    sheet_number(sheet, memory);
    sheet_number(sheet, speed->median);
    sheet_number(sheet, speed->least);
    sheet_number(sheet, speed->most);
    sheet_number(sheet, record->transfer.file.median + memory + speed->median);
    sheet_number(sheet, rate_of(lab, speed));
    sheet_number(sheet, way == PATTERN_CPU && lab->cuda ? NAN : times_ceiling(lab, speed));
}

static enum status add_record(struct experiment *experiment, const struct record *record, struct error *error)
{
    struct lab *const lab = experiment->lab;
    if (experiment->count++ == 0) { /* now it is known where files are read from */
        snprintf(experiment->caption, sizeof experiment->caption,
                 "a pattern of %u values and %.0f time series of as many, %.2f MB; IO from %.300s%s",
                 SERIES_ROWS, (double)series_rows(lab, ROWS) / SERIES_ROWS,
                 (double)series_rows(lab, ROWS) * 4e-6, transfer_folder(),
                 record->transfer.in_memory ? ", which is in memory" : "");
        RETURN_IF_ERROR(lab_begin(lab, experiment->caption, experiment->sheet, error));
    }
    add_row(lab, experiment->sheet, record, PATTERN_FUSED);
    if (record->level > 1)
        add_row(lab, experiment->sheet, record, PATTERN_STAGED);
    add_row(lab, experiment->sheet, record, PATTERN_CPU);
    return lab_row_done(lab, experiment->sheet, error);
}

/* The data of the first level are also those that are not compressed. */
static enum status measure_level(void *context, struct pattern *pattern, uint32_t level, struct error *error)
{
    struct experiment *const experiment = context;
    for (uint32_t s = level ? 1 : 0; s < SCHEMES; s++) {
        struct record *const record = &experiment->records[experiment->count];
        progress_report(experiment->lab->progress, "matching a pattern", "codecs", level * SCHEMES + s,
                        LEVELS * SCHEMES);
        RETURN_IF_ERROR(
            measure_scheme(experiment->lab, pattern, &schemes[s], levels[level].factor, record, error));
        if (record->scheme)
            RETURN_IF_ERROR(add_record(experiment, record, error));
    }
    return STATUS_OK;
}

/* The table grows while all levels are measured. */
static enum status show_table(struct experiment *experiment, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "codec", .name = "compression", .text = true},
        {.key = "way", .name = "decoded by", .text = true, .width = 21},
        {.key = "level", .name = "level", .digits = 0},
        {.key = "ratio", .name = "ratio", .digits = 2},
        {.key = "io_ms", .name = "IO", .unit = "ms", .digits = 2},
        {.key = "memory_ms", .name = "Mem", .unit = "ms", .digits = 2},
        {.key = "computation_ms", .name = "Computation", .unit = "ms", .digits = 3},
        {.key = "computation_least_ms", .name = "least", .unit = "ms", .digits = 3},
        {.key = "computation_most_ms", .name = "most", .unit = "ms", .digits = 3},
        {.key = "sum_ms", .name = "sum", .unit = "ms", .digits = 2},
        {.key = "gb_per_second", .name = "Computation", .unit = "GB/s uncompressed", .digits = 1},
        {.key = "times_read_ceiling", .name = "of reading", .suffix = "x", .digits = 2},
    };
    struct lab *const lab = experiment->lab;
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &experiment->sheet, error));
    for (uint32_t level = 0; status == STATUS_OK && level < LEVELS; level++)
        status = with_level(lab, level, series_rows(lab, ROWS), measure_level, experiment, error);
    if (status == STATUS_OK)
        return lab_sheet(lab, experiment->caption, experiment->sheet, error);
    sheet_destroy(experiment->sheet);
    return status;
}

/* ---- Figure 2: bars by level ---- */

/* A figure of a way; NaN: it was not measured. */
typedef struct chart_point bar_figure(const struct lab *lab, const struct record *record,
                                      enum pattern_way way);

/* Without IO, as in the paper. */
static struct chart_point bar_time(const struct lab *lab, const struct record *record, enum pattern_way way)
{
    const struct speed *const speed = &record->ways[way];
    const double memory = way == PATTERN_CPU ? 0 : record->transfer.device.median;
    (void)lab;
    return (struct chart_point){
        .y = memory + speed->median, .low = memory + speed->least, .high = memory + speed->most};
}

static struct chart_point bar_rate(const struct lab *lab, const struct record *record, enum pattern_way way)
{
    const struct speed *const speed = &record->ways[way];
    const double most = times_ceiling(lab, speed) * speed->median;
    return (struct chart_point){
        .y = most / speed->median, .low = most / speed->most, .high = most / speed->least};
}

/* The bars of one way over all levels; none if it was not measured at any. */
static void add_series(const struct experiment *experiment, const struct scheme *scheme, enum pattern_way way,
                       bar_figure *figure, struct chart *chart)
{
    bool begun = false;
    for (uint32_t r = 0; r < experiment->count; r++) {
        const struct record *const record = &experiment->records[r];
        char name[64];
        if (record->scheme != scheme || record->ways[way].median <= 0)
            continue;
        snprintf(name, sizeof name, "%s, %s", record->level == 1 ? "none" : scheme->name,
                 way_name(record, way));
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
    for (uint32_t s = 0; s < SCHEMES; s++)
        for (uint32_t w = 0; w < way_count; w++)
            add_series(experiment, &schemes[s], ways[w], figure, chart);
    if (figure == bar_rate)
        chart_reference(chart, "the goal, 1.5", GOAL, 0);
    lab_chart(experiment->lab, chart);
    return STATUS_OK;
}

static enum status show_all_bars(const struct experiment *experiment, struct error *error)
{
    static const enum pattern_way gpu[] = {PATTERN_FUSED, PATTERN_STAGED}, cpu[] = {PATTERN_CPU};
    const struct chart_axis ms = {.title = "Mem and Computation", .unit = "ms"};
    const struct chart_axis times = {.title = "uncompressed bytes", .unit = "times the read ceiling"};
    if (experiment->lab->cuda) {
        RETURN_IF_ERROR(show_bars(experiment, "matching a pattern on the GPU, time without IO", ms, gpu, 2,
                                  bar_time, error));
        RETURN_IF_ERROR(show_bars(experiment, "matching a pattern on the GPU, speed of Computation", times,
                                  gpu, 2, bar_rate, error));
    }
    return show_bars(experiment, "matching a pattern on the processor, time without IO", ms, cpu, 1, bar_time,
                     error);
}

/* ---- Figure 3: speed-up by the size of the data ---- */

/* The sizes of the paper are 2 .. 1000 MB. */
static const uint64_t sizes[] = {UINT64_C(1) << 19, UINT64_C(1) << 21, UINT64_C(1) << 23,
                                 UINT64_C(1) << 25, UINT64_C(1) << 27, ROWS};
#define SIZES   (sizeof sizes / sizeof *sizes)
#define SCALERS 2u

/* The paper's codec, and the lane codec that compresses these data best. */
static const char *const scalers[SCALERS] = {"pfor-diff", "lane-pfor"};

struct growth {
    struct lab *lab;
    struct sheet *sheet;
    uint32_t size;
    double speedups[LEVELS][SCALERS][SIZES]; /* with IO; 0: not measured */
};

static enum status add_growth(struct growth *growth, const struct record *none, const struct record *record,
                              double megabytes, double *speedup, struct error *error)
{
    const enum pattern_way way = growth->lab->cuda ? PATTERN_FUSED : PATTERN_CPU;
    const double computation = record->transfer.device.median + record->ways[way].median;
    *speedup = (none->transfer.file.median + none->ways[PATTERN_CPU].median) /
               (record->transfer.file.median + computation);
    sheet_number(growth->sheet, megabytes);
    sheet_text(growth->sheet, record->scheme->name);
    sheet_text(growth->sheet, way_name(record, way));
    sheet_number(growth->sheet, record->level);
    sheet_number(growth->sheet, none->transfer.file.median / record->transfer.file.median);
    sheet_number(growth->sheet, none->ways[PATTERN_CPU].median / computation);
    sheet_number(growth->sheet, *speedup);
    return lab_row_done(growth->lab, growth->sheet, error);
}

static enum status measure_growth(void *context, struct pattern *pattern, uint32_t level, struct error *error)
{
    struct growth *const growth = context;
    struct record none = {0};
    RETURN_IF_ERROR(measure_scheme(growth->lab, pattern, schemes, 1, &none, error));
    for (uint32_t s = 0; s < SCALERS; s++)
        for (uint32_t c = 1; c < SCHEMES; c++) {
            struct record record = {0};
            if (strcmp(schemes[c].name, scalers[s]) != 0)
                continue;
            RETURN_IF_ERROR(
                measure_scheme(growth->lab, pattern, &schemes[c], levels[level].factor, &record, error));
            if (record.scheme)
                RETURN_IF_ERROR(add_growth(growth, &none, &record, (double)pattern->dataset->rows * 4e-6,
                                           &growth->speedups[level][s][growth->size], error));
        }
    return STATUS_OK;
}

static enum status show_growth_chart(const struct growth *growth, struct error *error)
{
    static const struct chart_form form = {
        .kind = CHART_LINES,
        .title = "speed-up from a file to the answer, against the processor without compression",
        .x = {.title = "uncompressed data", .unit = "MB", .scale = CHART_LOG2},
        .y = {.title = "speed-up", .unit = "times"}};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (uint32_t s = 0; s < SCALERS; s++)
        for (uint32_t level = 0; level < LEVELS; level++) {
            char name[64];
            snprintf(name, sizeof name, "%s, level %.0f", scalers[s], levels[level].factor);
            chart_series(chart, name);
            for (uint32_t i = 0; i < SIZES; i++)
                if (growth->speedups[level][s][i] > 0)
                    chart_point(chart,
                                (struct chart_point){.x = (double)series_rows(growth->lab, sizes[i]) * 4e-6,
                                                     .y = growth->speedups[level][s][i]});
        }
    lab_chart(growth->lab, chart);
    return STATUS_OK;
}

static enum status show_growth(struct lab *lab, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "megabytes", .name = "data", .unit = "MB", .digits = 1},
        {.key = "codec", .name = "compression", .text = true},
        {.key = "way", .name = "decoded by", .text = true, .width = 21},
        {.key = "level", .name = "level", .digits = 0},
        {.key = "io_speedup", .name = "IO", .group = "speed-up", .suffix = "x", .digits = 2},
        {.key = "computation_speedup",
         .name = "Mem and Computation",
         .group = "speed-up",
         .suffix = "x",
         .digits = 2},
        {.key = "speedup", .name = "sum", .group = "speed-up", .suffix = "x", .digits = 2},
    };
    struct growth growth = {.lab = lab};
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &growth.sheet, error));
    static const char caption[] =
        "speed-up against the processor without compression, by the size of the data";
    enum status status = lab_begin(lab, caption, growth.sheet, error);
    for (growth.size = 0; status == STATUS_OK && growth.size < SIZES; growth.size++)
        for (uint32_t level = 0; status == STATUS_OK && level < LEVELS; level++)
            status =
                with_level(lab, level, series_rows(lab, sizes[growth.size]), measure_growth, &growth, error);
    if (status != STATUS_OK) {
        sheet_destroy(growth.sheet);
        return status;
    }
    RETURN_IF_ERROR(lab_sheet(lab, caption, growth.sheet, error));
    return show_growth_chart(&growth, error);
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
    return status == STATUS_OK ? show_growth(lab, error) : status;
}
