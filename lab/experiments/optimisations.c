/*
 * optimisations.c: `tessera lab optimisations`: GPU-FOR's optimisations one by one, on 500 million values of U(0, 2^16). SIGMOD 2022,
 * sections 4.2 and 4.3, figure 5: 18 ms for the base algorithm, 7 with shared memory, 2.39 with D = 4 blocks, 2.1 with precomputed
 * offsets, 2 without miniblocks, on a V100; reading the values uncompressed takes 2.4.
 *
 * The paper's times stand beside those of decoding to a sum: writing the values back as well would move 3 GB, which take a V100 3.5 ms.
 *
 * The steps are in lab/published/steps.h. Beside them the same bytes decoded by our own decoders, and the same values by lane-for and
 * plain. On a processor only these are measured.
 */
#include "lab/experiments/experiments.h"

#include "lab/published/steps.h"

#include <math.h>
#include <string.h>

#define ROWS  UINT64_C(500000000)
#define WIDTH 16u

/* Codecs that are decoded by our decoders, and the paper's time, or 0. */
static const struct peer {
    const char *name;
    double paper_ms;
    bool charted;
} peers[] = {{"gpu-for", 0, true},        {"gpu-for-block", 0, false}, {"gpu-bp128", 0, false},
             {"gpu-simdbp128", 0, false}, {"lane-for", 0, true},       {"plain", 2.4, true}};
#define PEERS (sizeof peers / sizeof *peers)

struct steps {
    struct lab *lab;
    struct dataset dataset;
    struct sheet *sheet;
    struct chart *chart;
    struct decode_result base; /* of the base algorithm; 0: not measured */
};

static double ratio(double of, double to)
{
    return of > 0 && to > 0 ? of / to : NAN;
}

/* The cells after the name: figures of decoding `bytes`, beside the paper's. */
static void add_figures(struct steps *steps, uint64_t bytes, const struct decode_result *result,
                        double paper_ms, const char *paper_why)
{
    const double moved = (double)bytes + 4 * (double)steps->dataset.rows;
    struct sheet *const sheet = steps->sheet;
    sheet_number(sheet, result->sum.median);
    if (paper_why)
        sheet_missing(sheet, paper_why);
    else
        sheet_number(sheet, paper_ms > 0 ? paper_ms : NAN);
    sheet_number(sheet, ratio(steps->base.sum.median, result->sum.median));
    sheet_number(sheet, ratio(published_steps[PUBLISHED_STEP_BASE].paper_ms, paper_ms));
    sheet_number(sheet, result->memory.median);
    sheet_number(sheet, result->memory.least);
    sheet_number(sheet, result->memory.most);
    sheet_number(sheet, ratio(steps->base.memory.median, result->memory.median));
    sheet_number(sheet, moved / result->memory.median * 1e-6);
    sheet_number(sheet, 100 * moved / (result->memory.median * 1e-3) / steps->lab->read_ceiling);
}

static void add_point(struct chart *chart, const struct published_step *step, const struct speed *speed)
{
    if (step->depth == 1)
        chart_series(chart, step->series);
    chart_point(chart, (struct chart_point){
                           .x = step->depth, .y = speed->median, .low = speed->least, .high = speed->most});
}

/* Measures the step on the chunks of its codec, which *encoded has or gets. */
static enum status measure_step(struct steps *steps, const struct published_step *step,
                                struct encoded *encoded, struct error *error)
{
    const struct codec *const codec = codec_by_name(step->method.codec);
    struct decode_result result = {0};
    if (encoded->codec != codec) {
        encoded_free(encoded);
        RETURN_IF_ERROR(encoded_make(steps->lab, codec, &steps->dataset, encoded, error));
    }
    if (step->one_width && !published_one_width(encoded))
        return error_set(error, STATUS_CHECK_FAILED, "%s: the blocks of %s have more than one width",
                         step->method.name, codec->name);
    RETURN_IF_ERROR(published_measure(steps->lab, &step->method, &steps->dataset, encoded, &result, error));
    if (step == &published_steps[PUBLISHED_STEP_BASE])
        steps->base = result;
    sheet_text(steps->sheet, step->method.name);
    add_figures(steps, encoded->bytes, &result, step->paper_ms, step->paper_why);
    if (step->series)
        add_point(steps->chart, step, &result.sum);
    return lab_row_done(steps->lab, steps->sheet, error);
}

/* The row of a step where there is no GPU: the paper's figures alone. */
static enum status show_missing(struct steps *steps, const struct published_step *step, struct error *error)
{
    struct sheet *const sheet = steps->sheet;
    sheet_text(sheet, step->method.name);
    sheet_missing(sheet, "no GPU");
    if (step->paper_why)
        sheet_missing(sheet, step->paper_why);
    else
        sheet_number(sheet, step->paper_ms > 0 ? step->paper_ms : NAN);
    sheet_number(sheet, NAN);
    sheet_number(sheet, ratio(published_steps[PUBLISHED_STEP_BASE].paper_ms, step->paper_ms));
    for (uint32_t c = 5; c < sheet->column_count; c++)
        sheet_number(sheet, NAN);
    return lab_row_done(steps->lab, sheet, error);
}

static enum status compile_step(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct steps *const steps = context;
    (void)thread;
    return published_compile(steps->lab, &published_steps[item].method, error);
}

static enum status measure_steps(struct steps *steps, struct error *error)
{
    struct encoded encoded = {0};
    enum status status = STATUS_OK;
    if (steps->lab->cuda) /* side by side, because compiling takes longer than all the rest */
        status = parallel_for(steps->lab->threads, PUBLISHED_STEPS, compile_step, steps, error);
    for (size_t s = 0; status == STATUS_OK && s < PUBLISHED_STEPS; s++) {
        progress_report(steps->lab->progress, "decoding", "kernels", s, PUBLISHED_STEPS);
        status = steps->lab->cuda ? measure_step(steps, &published_steps[s], &encoded, error)
                                  : show_missing(steps, &published_steps[s], error);
    }
    encoded_free(&encoded);
    return status;
}

static enum status measure_peers(struct steps *steps, struct error *error)
{
    struct lab *const lab = steps->lab;
    for (size_t p = 0; p < PEERS; p++) {
        const struct codec *const codec = codec_by_name(peers[p].name);
        struct encoded encoded;
        struct decode_result result = {0};
        char name[64];
        if (!codec)
            continue;
        enum status status = encoded_make(lab, codec, &steps->dataset, &encoded, error);
        if (status == STATUS_OK)
            status = decode_measure(lab, &steps->dataset, &encoded, &result, error);
        const uint64_t bytes = encoded.bytes;
        encoded_free(&encoded);
        RETURN_IF_ERROR(status);
        snprintf(name, sizeof name, "%s%s", peers[p].name, lab->cuda ? ", ours: a warp a tile" : ", ours");
        sheet_text(steps->sheet, name);
        add_figures(steps, bytes, &result, peers[p].paper_ms, NULL);
        RETURN_IF_ERROR(lab_row_done(lab, steps->sheet, error));
        if (peers[p].charted)
            chart_reference(steps->chart, name, result.sum.median, 0);
    }
    return STATUS_OK;
}

static enum status measure(struct steps *steps, struct error *error)
{
    const uint32_t width = WIDTH;
    struct lab *const lab = steps->lab;
    enum status status = dataset_make(lab, "making uniform values", lab_rows(lab, ROWS), fill_uniform, &width,
                                      &steps->dataset, error);
    if (status == STATUS_OK)
        status = measure_steps(steps, error);
    if (status == STATUS_OK)
        status = measure_peers(steps, error);
    dataset_free(lab, &steps->dataset);
    return status;
}

enum status lab_optimisations(struct lab *lab, struct error *error)
{
    static const char to_sum[] = "to a sum, ms", times[] = "base / this", memory[] = "to memory";
    static const struct sheet_column columns[] = {
        {.key = "kernel", .name = "decoded by", .text = true, .width = 34},
        {.key = "sum_ms", .name = "here", .group = to_sum, .digits = 3},
        {.key = "paper_ms", .name = "paper", .group = to_sum, .digits = 2},
        {.key = "times_base", .name = "here", .group = times, .digits = 2},
        {.key = "paper_times_base", .name = "paper", .group = times, .digits = 2},
        {.key = "memory_ms", .name = "time", .group = memory, .unit = "ms", .digits = 3},
        {.key = "memory_least_ms", .name = "least", .group = memory, .unit = "ms", .digits = 3},
        {.key = "memory_most_ms", .name = "most", .group = memory, .unit = "ms", .digits = 3},
        {.key = "memory_times_base", .name = "base / this", .group = memory, .digits = 2},
        {.key = "gb_per_second", .name = "read and written", .group = memory, .unit = "GB/s", .digits = 0},
        {.key = "percent_of_read", .name = "of reading", .group = memory, .unit = "%", .digits = 1},
    };
    static const struct chart_form form = {.kind = CHART_LINES,
                                           .title =
                                               "GPU-FOR as published, 16-bit values: time to decode to a sum",
                                           .x = {.title = "D, blocks of a thread block", .scale = CHART_LOG2},
                                           .y = {.title = "time", .unit = "ms"}};
    struct steps steps = {.lab = lab};
    char caption[128];
    snprintf(caption, sizeof caption, "decoding %.0f values of U(0, 2^16)", (double)lab_rows(lab, ROWS));
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &steps.sheet, error));
    enum status status = chart_create(&form, &steps.chart, error);
    if (status == STATUS_OK)
        status = lab_begin(lab, caption, steps.sheet, error);
    if (status == STATUS_OK)
        status = measure(&steps, error);
    if (status != STATUS_OK) {
        sheet_destroy(steps.sheet);
        chart_destroy(steps.chart);
        return status;
    }
    status = lab_sheet(lab, caption, steps.sheet, error);
    if (status == STATUS_OK)
        return lab_chart(lab, steps.chart, error);
    chart_destroy(steps.chart);
    return status;
}
