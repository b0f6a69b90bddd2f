/* pattern_growth.c: see pattern_growth.h. */
#include "lab/experiments/pattern_growth.h"

#include "lab/experiments/pattern_record.h"

#include <math.h>
#include <string.h>

/* The paper's sizes; a MB of it is 2^20 bytes here. */
static const uint32_t megabytes[] = {2, 4, 10, 50, 100, 250, 500, 750, 1024};
#define SIZES         (sizeof megabytes / sizeof *megabytes)
#define MEGABYTE_ROWS (UINT64_C(1) << 18)

/* What is compared with values that are not compressed: the paper's codec, and the lane codec that compresses these data
 * best. */
static const char *const scalers[] = {"pfor-diff", "lane-pfor"};
#define SCALERS (sizeof scalers / sizeof *scalers)
#define LINES   (1 + SCALERS * PATTERN_LEVELS) /* of a chart; the first: not compressed */

/* How many times faster than a processor without compression. */
struct gains {
    double io;
    double computation, computation_all; /* Mem and Computation: than one thread, than all */
    double sum, sum_all;                 /* with IO */
};

struct growth {
    struct lab *lab;
    struct sheet *sheet;
    uint32_t size;
    struct pattern_record none;        /* of the size */
    struct gains points[LINES][SIZES]; /* of the first way; io 0: not measured */
};

/* ---- The table ---- */

static struct gains gains_of(const struct pattern_record *none, const struct pattern_record *record,
                             enum pattern_way way)
{
    const double io = record->transfer.file.median, none_io = none->transfer.file.median;
    const double computation = pattern_memory_ms(record, way) + record->ways[way].median;
    const double thread = none->ways[PATTERN_CPU_THREAD].median, all = none->ways[PATTERN_CPU].median;
    return (struct gains){.io = none_io / io,
                          .computation = thread / computation,
                          .computation_all = all / computation,
                          .sum = (none_io + thread) / (io + computation),
                          .sum_all = (none_io + all) / (io + computation)};
}

/* The paper's, at its greatest size; NaN at others and for what it does not have. */
static struct gains paper_gains(const struct growth *growth, const struct pattern_record *record,
                                enum pattern_way way)
{
    const struct pattern_paper *const none = pattern_paper(&growth->none, PATTERN_CPU_THREAD);
    const struct pattern_paper *const paper = pattern_paper(record, way);
    if (!none || !paper || growth->size != SIZES - 1)
        return (struct gains){.io = NAN, .computation = NAN, .sum = NAN};
    const double computation = paper->memory + paper->computation;
    return (struct gains){.io = none->io / paper->io,
                          .computation = none->computation / computation,
                          .sum = (none->io + none->computation) / (paper->io + computation)};
}

static enum status add_row(struct growth *growth, const struct pattern_record *record, uint64_t rows,
                           enum pattern_way way, struct gains *gains, struct error *error)
{
    struct sheet *const sheet = growth->sheet;
    const struct gains paper = paper_gains(growth, record, way);
    *gains = gains_of(&growth->none, record, way);
    sheet_number(sheet, megabytes[growth->size]);
    sheet_number(sheet, (double)rows * 4e-6);
    sheet_text(sheet, record->level == 1 ? "none" : record->scheme->name);
    sheet_text(sheet, pattern_way_name(record, way));
    sheet_number(sheet, record->level);
    sheet_number(sheet, gains->io);
    sheet_number(sheet, paper.io);
    sheet_number(sheet, gains->computation);
    sheet_number(sheet, gains->computation_all);
    sheet_number(sheet, paper.computation);
    sheet_number(sheet, gains->sum);
    sheet_number(sheet, gains->sum_all);
    sheet_number(sheet, paper.sum);
    return lab_row_done(growth->lab, sheet, error);
}

/* A row for each way of the device; the first one is also a point of the line. */
static enum status add_rows(struct growth *growth, const struct pattern_record *record, uint64_t rows,
                            uint32_t line, struct error *error)
{
    static const enum pattern_way gpu[] = {PATTERN_FUSED}, cpu[] = {PATTERN_CPU, PATTERN_CPU_THREAD};
    const enum pattern_way *const ways = growth->lab->cuda ? gpu : cpu;
    const uint32_t count = growth->lab->cuda ? 1 : 2;
    for (uint32_t w = 0; w < count; w++) {
        struct gains gains;
        RETURN_IF_ERROR(add_row(growth, record, rows, ways[w], &gains, error));
        if (w == 0)
            growth->points[line][growth->size] = gains;
    }
    return STATUS_OK;
}

static const struct pattern_scheme *scheme_named(const char *name)
{
    const struct pattern_scheme *scheme = pattern_schemes;
    while (strcmp(scheme->name, name) != 0)
        scheme++;
    return scheme;
}

/* Values that are not compressed are measured once for a size: they take as many bytes at each level. */
static enum status measure_level(void *context, struct pattern *pattern, uint32_t level, struct error *error)
{
    const unsigned processor = 1u << PATTERN_CPU | 1u << PATTERN_CPU_THREAD, fused = 1u << PATTERN_FUSED;
    struct growth *const growth = context;
    const uint64_t rows = pattern->dataset->rows;
    if (level == 0) {
        RETURN_IF_ERROR(pattern_record_measure(pattern, pattern_schemes, pattern_levels, processor | fused,
                                               &growth->none, error));
        RETURN_IF_ERROR(add_rows(growth, &growth->none, rows, 0, error));
    }
    for (uint32_t s = 0; s < SCALERS; s++) {
        struct pattern_record record;
        RETURN_IF_ERROR(pattern_record_measure(pattern, scheme_named(scalers[s]), &pattern_levels[level],
                                               growth->lab->cuda ? fused : processor, &record, error));
        if (record.scheme)
            RETURN_IF_ERROR(add_rows(growth, &record, rows, 1 + s * PATTERN_LEVELS + level, error));
    }
    return STATUS_OK;
}

/* ---- The charts ---- */

static void line_name(uint32_t line, char name[64])
{
    if (line == 0)
        snprintf(name, 64, "none");
    else
        snprintf(name, 64, "%s, level %.0f", scalers[(line - 1) / PATTERN_LEVELS],
                 pattern_levels[(line - 1) % PATTERN_LEVELS].factor);
}

static enum status show_chart(const struct growth *growth, bool only_io, struct error *error)
{
    const struct chart_form form = {
        .kind = CHART_LINES,
        .title =
            only_io
                ? "speed-up of IO, against reading values that are not compressed"
                : "speed-up from a file to the answer, against a thread of the processor without compression",
        .x = {.title = "uncompressed data", .unit = "MB", .scale = CHART_LOG10},
        .y = {.title = "speed-up", .unit = "times"}};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (uint32_t line = 0; line < LINES; line++) {
        char name[64];
        line_name(line, name);
        chart_series(chart, name);
        for (uint32_t i = 0; i < SIZES; i++) {
            const struct gains *const gains = &growth->points[line][i];
            const double rows = (double)pattern_rows(growth->lab, megabytes[i] * MEGABYTE_ROWS);
            if (gains->io > 0)
                chart_point(chart,
                            (struct chart_point){.x = rows * 4e-6, .y = only_io ? gains->io : gains->sum});
        }
    }
    return lab_chart(growth->lab, chart, error);
}

enum status pattern_growth_show(struct lab *lab, struct error *error)
{
#define GAIN(KEY, NAME, GROUP)                                               \
    {                                                                        \
        .key = KEY, .name = NAME, .group = GROUP, .suffix = "x", .digits = 2 \
    }
    static const struct sheet_column columns[] = {
        {.key = "paper_megabytes", .name = "paper's size", .unit = "MB", .whole = true},
        {.key = "megabytes", .name = "data", .unit = "MB", .significant = 3},
        {.key = "codec", .name = "compression", .text = true},
        {.key = "way", .name = "decoded by", .text = true, .width = 21},
        {.key = "level", .name = "level", .digits = 0},
        GAIN("io_speedup", "ours", "IO"),
        GAIN("paper_io_speedup", "paper", "IO"),
        GAIN("computation_speedup", "to 1 thread", "Mem and Computation"),
        GAIN("computation_speedup_all", "to all", "Mem and Computation"),
        GAIN("paper_computation_speedup", "paper", "Mem and Computation"),
        GAIN("speedup", "to 1 thread", "with IO"),
        GAIN("speedup_all", "to all", "with IO"),
        GAIN("paper_speedup", "paper", "with IO"),
    };
#undef GAIN
    static const char caption[] =
        "speed-up against the processor without compression, one thread and all, by the size of the data";
    struct growth growth = {.lab = lab};
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &growth.sheet, error));
    enum status status = lab_begin(lab, caption, growth.sheet, error);
    for (growth.size = 0; status == STATUS_OK && growth.size < SIZES; growth.size++)
        for (uint32_t level = 0; status == STATUS_OK && level < PATTERN_LEVELS; level++)
            status = pattern_with_level(lab, level, pattern_rows(lab, megabytes[growth.size] * MEGABYTE_ROWS),
                                        measure_level, &growth, error);
    if (status != STATUS_OK) {
        sheet_destroy(growth.sheet);
        return status;
    }
    RETURN_IF_ERROR(lab_sheet(lab, caption, growth.sheet, error));
    RETURN_IF_ERROR(show_chart(&growth, true, error));
    return show_chart(&growth, false, error);
}
