/*
 * bitmaps.c: `tessera lab bitmaps`: range queries on bitmap indexes: the OR of 2 to 4096 compressed vectors of 10 M to 1000 M
 * rows. The GPU strategies of Nelson, Sorenson, Myre, Sawin and Chiu (Parallel acceleration of CPU and GPU range queries over large
 * data sets, Journal of Cloud Computing 9:44, 2020: COA, ROA, hybrid, ideal hybrid on decompressed vectors) and their way with
 * compressed ones on the processor, beside `inline`, which reads compressed words once, and flat bitsets.
 *
 * The column has 8 to 16384 bins, four times as many as the range has vectors (lab/bitmaps/bitmap_set.h); or it is one of
 * lineorder's, and the range one of flight 1's (bitmap_ssb.h). Every result is compared with the host's word by word. The
 * processor's methods are measured on up to 120 M rows; on a processor alone these are all.
 *
 * Then, up to which range `inline` and the processor's OR are faster than a scan of bit planes (bitmap_crossover.h).
 */
#include "lab/experiments/experiments.h"

#include "lab/bitmaps/bitmap_crossover.h"
#include "lab/bitmaps/bitmap_ssb.h"
#include "lab/bitmaps/bitmap_tables.h"
#include "lab/bitmaps/roaring.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MILLION UINT64_C(1000000)

#define CPU_CHART_ROWS 100u /* in millions; so are these: */
#define SSB_ROWS       120u
#define HOST_ROWS_MOST 120u
#define COUNTED_ROWS   10u /* strategies also count what they read and write */
#define SCALE_FACTOR   20  /* of the Star Schema Benchmark, for SSB_ROWS */
#define CAPTION_BYTES  96u

/* On 1000 M rows the GPU's memory binds; on 10 M most of the work is in its cache, and launches cost. */
#define SSB(range)                                            \
    {                                                         \
        BITMAP_KINDS + BITMAP_SSB_##range, 0, SSB_ROWS, false \
    }
static const struct test {
    uint32_t kind;    /* of drawn vectors; from BITMAP_KINDS on: a range of lineorder's column */
    uint32_t vectors; /* 0: what the range has */
    uint64_t rows;    /* in millions */
    bool layouts;     /* of a hybrid's tiles are measured, too */
} tests[] = {
    {BITMAP_UNIFORM, 2, 1000, false},
    {BITMAP_UNIFORM, 8, 1000, false},
    {BITMAP_UNIFORM, 32, 1000, false},
    {BITMAP_UNIFORM, 128, 1000, false},
    {BITMAP_ZIPF_ONE, 128, 1000, false},
    {BITMAP_SORTED, 128, 1000, false},
    {BITMAP_CLUSTERED, 8, 1000, false},
    {BITMAP_CLUSTERED, 128, 1000, false},
    {BITMAP_UNIFORM, 8, 100, true},
    {BITMAP_UNIFORM, 128, 100, true},
    {BITMAP_ZIPF_HALF, 128, 100, false},
    {BITMAP_ZIPF_ONE, 128, 100, false},
    {BITMAP_ZIPF_TWO, 128, 100, false},
    {BITMAP_SORTED, 128, 100, false},
    {BITMAP_CLUSTERED, 128, 100, false},
    {BITMAP_UNIFORM, 2, 10, false},
    {BITMAP_UNIFORM, 512, 10, false},
    {BITMAP_UNIFORM, 1024, 10, true},
    {BITMAP_UNIFORM, 4096, 10, true},
    {BITMAP_ZIPF_ONE, 512, 10, false},
    {BITMAP_CLUSTERED, 512, 10, false},
    SSB(DISCOUNT),
    SSB(QUANTITY_LOW),
    SSB(QUANTITY_MIDDLE),
    SSB(YEAR),
    SSB(MONTH),
    SSB(WEEK),
};
#define TESTS ((uint32_t)(sizeof tests / sizeof *tests))

struct experiment {
    struct lab *lab;
    struct bitmap_kernels kernels;
    struct roaring roaring;
    struct ssb_generator *generator;
    struct bitmap_record records[TESTS];
    struct sheet *sheet; /* of the GPU, or of the processor alone: it grows while the sets are measured */
};

static const char *name_of(const struct test *test)
{
    return test->kind < BITMAP_KINDS ? bitmap_kinds[test->kind].name
                                     : bitmap_ssb_kinds[test->kind - BITMAP_KINDS].name;
}

static bool is_of_host(const struct test *test)
{
    return test->rows <= HOST_ROWS_MOST;
}

static bool is_measured(const struct experiment *experiment, const struct test *test)
{
    return experiment->lab->cuda || is_of_host(test);
}

/* ---- Measuring ---- */

/* CRoaring's result is compared with ours, which was compared before. */
static enum status measure_roaring(const struct roaring *roaring, const struct bitmap_set *set,
                                   unsigned threads, struct bitmap_record *record, struct error *error)
{
    struct wah_builder expected = {0};
    struct roaring_set bitmaps = {0};
    enum status status =
        wah_or_many(set->vectors, set->directories, set->count, set->rows, threads, &expected, error);
    if (status == STATUS_OK)
        status = roaring_make(roaring, set->vectors, set->count, set->rows, &bitmaps, error);
    if (status == STATUS_OK)
        status = roaring_time(roaring, &bitmaps, wah_of(&expected), set->rows, &record->roaring_ms, error);
    record->roaring_bytes = bitmaps.bytes;
    roaring_free(roaring, &bitmaps);
    wah_builder_free(&expected);
    return status;
}

static enum status measure_host(const struct experiment *experiment, const struct bitmap_set *set,
                                struct bitmap_record *record, struct error *error)
{
    struct lab *const lab = experiment->lab;
    for (uint32_t host = 0; host < BITMAP_HOSTS; host++)
        if (bitmap_host_available((enum bitmap_host)host))
            RETURN_IF_ERROR(
                bitmap_host_measure(lab, set, (enum bitmap_host)host, &record->host[host], error));
    return experiment->roaring.library
               ? measure_roaring(&experiment->roaring, set, lab->threads, record, error)
               : STATUS_OK;
}

static enum status measure_set(struct experiment *experiment, const struct test *test,
                               const struct bitmap_set *set, struct bitmap_record *record,
                               struct error *error)
{
    struct lab *const lab = experiment->lab;
    record->name = name_of(test);
    record->options = (struct bitmap_options){.counts = test->rows <= COUNTED_ROWS, .layouts = test->layouts};
    record->rows = set->rows;
    record->vectors = set->count;
    record->compressed_bytes = set->compressed_bytes;
    if (lab->cuda)
        RETURN_IF_ERROR(
            bitmap_device_measure(&experiment->kernels, set, &record->options, &record->gpu, error));
    return is_of_host(test) ? measure_host(experiment, set, record, error) : STATUS_OK;
}

static enum status make_set(struct experiment *experiment, const struct test *test, struct bitmap_set *set,
                            struct error *error)
{
    struct lab *const lab = experiment->lab;
    const uint64_t rows = lab_rows(lab, test->rows * MILLION);
    if (test->kind < BITMAP_KINDS)
        return bitmap_set_make(lab, &bitmap_kinds[test->kind], rows, test->vectors, set, error);
    const uint64_t all = ssb_rows(experiment->generator, SSB_LINEORDER);
    return bitmap_ssb_make(lab, experiment->generator, (enum bitmap_ssb)(test->kind - BITMAP_KINDS),
                           rows < all ? rows : all, set, error);
}

static enum status open_generator(struct experiment *experiment, struct error *error)
{
    const double scale = experiment->lab->scale;
    const struct ssb_options options = {.scale_factor = SCALE_FACTOR * (scale > 1 ? scale : 1)};
    return ssb_generator_create(&options, experiment->lab->threads, &experiment->generator, error);
}

/* ---- Tables ---- */

static enum status create_gpu(struct experiment *experiment, struct error *error)
{
    static const struct sheet_column columns[] = {
        BITMAP_SET_COLUMNS,
        {.key = "transfer_ms", .name = "transfer", .significant = 3},
        {.key = "decompression_ms", .name = "decompression", .significant = 3},
        {.key = "coa_ms", .name = "COA", .significant = 3},
        {.key = "roa_ms", .name = "ROA", .significant = 3},
        {.key = "hybrid_ms", .name = "hybrid", .significant = 3},
        {.key = "ideal_ms", .name = "ideal", .significant = 3},
        {.key = "flat_ms", .name = "ms", .group = "flat", .significant = 3},
        {.key = "flat_bound_ms", .name = "bound", .group = "flat", .significant = 3},
        {.key = "inline_ms", .name = "ms", .group = "inline", .significant = 3},
        {.key = "inline_bound_ms", .name = "bound", .group = "inline", .significant = 3},
        {.key = "count_ms", .name = "count", .group = "inline", .significant = 3},
    };
    return sheet_create(columns, sizeof columns / sizeof *columns, &experiment->sheet, error);
}

static void add_gpu(const struct experiment *experiment, struct sheet *sheet, uint32_t t)
{
    const struct bitmap_record *const record = &experiment->records[t];
    bitmap_add_set(sheet, record);
    for (uint32_t step = 0; step < BITMAP_STEPS; step++) {
        bitmap_number_or_missing(sheet, record->gpu.steps[step].median);
        if (step == BITMAP_BY_FLAT)
            sheet_number(sheet, bitmap_bound_ms(experiment->lab, record->gpu.flat_bytes));
        if (step == BITMAP_BY_INLINE)
            sheet_number(sheet, bitmap_bound_ms(experiment->lab, record->gpu.inline_bytes));
    }
}

static enum status create_host(struct sheet **sheet, struct error *error)
{
    static const struct sheet_column set_columns[] = {BITMAP_SET_COLUMNS};
    struct sheet_column columns[sizeof set_columns / sizeof *set_columns + BITMAP_HOSTS + 2];
    uint32_t count = sizeof set_columns / sizeof *set_columns;
    memcpy(columns, set_columns, sizeof set_columns);
    for (uint32_t host = 0; host < BITMAP_HOSTS; host++)
        columns[count++] = (struct sheet_column){
            .key = bitmap_host_keys[host], .name = bitmap_host_names[host], .significant = 3};
    columns[count++] = (struct sheet_column){
        .key = "croaring_ms", .name = "ms", .group = "CRoaring, one thread", .significant = 3};
    columns[count++] = (struct sheet_column){.key = "croaring_bytes",
                                             .name = "size",
                                             .unit = "MB",
                                             .group = "CRoaring, one thread",
                                             .scale = 1e-6,
                                             .significant = 4};
    return sheet_create(columns, count, sheet, error);
}

static void add_host(const struct experiment *experiment, struct sheet *sheet, uint32_t t)
{
    if (!is_of_host(&tests[t]))
        return;
    bitmap_add_set(sheet, &experiment->records[t]);
    for (uint32_t host = 0; host < BITMAP_HOSTS; host++)
        bitmap_number_or_missing(sheet, experiment->records[t].host[host].median);
    if (experiment->roaring.library) {
        bitmap_number_or_missing(sheet, experiment->records[t].roaring_ms);
        bitmap_number_or_missing(sheet, (double)experiment->records[t].roaring_bytes);
    } else {
        sheet_missing(sheet, "not installed");
        sheet_missing(sheet, NULL);
    }
}

static const char *host_caption(const struct experiment *experiment, char caption[CAPTION_BYTES])
{
    snprintf(caption, CAPTION_BYTES, "on the processor, %u threads: milliseconds", experiment->lab->threads);
    return caption;
}

/* ---- The first table, and the measurements that it grows by ---- */

static enum status measure_test(struct experiment *experiment, uint32_t t, struct error *error)
{
    struct lab *const lab = experiment->lab;
    struct bitmap_set set;
    progress_report(lab->progress, "combining bitmaps", "sets", t, TESTS);
    enum status status = make_set(experiment, &tests[t], &set, error);
    if (status == STATUS_OK)
        status = measure_set(experiment, &tests[t], &set, &experiment->records[t], error);
    bitmap_set_free(&set);
    RETURN_IF_ERROR(status);
    if (lab->cuda)
        add_gpu(experiment, experiment->sheet, t);
    else
        add_host(experiment, experiment->sheet, t);
    return lab_row_done(lab, experiment->sheet, error);
}

static enum status measure_tests(struct experiment *experiment, const char *caption, struct error *error)
{
    RETURN_IF_ERROR(lab_begin(experiment->lab, caption, experiment->sheet, error));
    for (uint32_t t = 0; t < TESTS; t++)
        if (is_measured(experiment, &tests[t]))
            RETURN_IF_ERROR(measure_test(experiment, t, error));
    return STATUS_OK;
}

static enum status measure_all(struct experiment *experiment, struct error *error)
{
    struct lab *const lab = experiment->lab;
    char text[CAPTION_BYTES];
    const char *const caption = lab->cuda ? "on the GPU: milliseconds, and bounds by the ceiling of reading"
                                          : host_caption(experiment, text);
    RETURN_IF_ERROR(open_generator(experiment, error));
    if (lab->cuda)
        RETURN_IF_ERROR(bitmap_kernels_open(lab, &experiment->kernels, error));
    RETURN_IF_ERROR(lab->cuda ? create_gpu(experiment, error) : create_host(&experiment->sheet, error));
    const enum status status = measure_tests(experiment, caption, error);
    if (status == STATUS_OK)
        return lab_sheet(lab, caption, experiment->sheet, error);
    sheet_destroy(experiment->sheet);
    return status;
}

/* The processor's table beside a GPU. */
static enum status show_host(const struct experiment *experiment, struct error *error)
{
    char caption[CAPTION_BYTES];
    struct sheet *sheet;
    RETURN_IF_ERROR(create_host(&sheet, error));
    for (uint32_t t = 0; t < TESTS; t++)
        add_host(experiment, sheet, t);
    return lab_sheet(experiment->lab, host_caption(experiment, caption), sheet, error);
}

/* ---- Charts ---- */

static void add_bars(struct chart *chart, const char *name, const struct experiment *experiment,
                     const uint32_t *shown, uint32_t count, int32_t step, int32_t host)
{
    chart_series(chart, name);
    for (uint32_t i = 0; i < count; i++) {
        const struct bitmap_record *const record = &experiment->records[shown[i]];
        const struct speed *const steps = record->gpu.steps;
        const double of_step = step < 0 ? 0
                               : step >= BITMAP_BY_COA && step <= BITMAP_BY_IDEAL
                                   ? steps[step].median + steps[BITMAP_DECOMPRESS].median
                                   : steps[step].median;
        const double ms = host < 0 ? of_step : record->host[host].median;
        chart_point(chart, (struct chart_point){.x = i, .y = ms > 0 ? ms : NAN});
    }
}

/* The sets of so many million rows: a bar for each way, decompression included. */
static enum status show_chart(const struct experiment *experiment, uint64_t rows, bool gpu,
                              struct error *error)
{
    char names[TESTS][48], title[96];
    const char *categories[TESTS];
    uint32_t shown[TESTS], count = 0;
    for (uint32_t t = 0; t < TESTS; t++)
        if (tests[t].rows == rows) {
            snprintf(names[count], sizeof *names, "%s, %u", name_of(&tests[t]),
                     experiment->records[t].vectors);
            categories[count] = names[count];
            shown[count++] = t;
        }
    snprintf(title, sizeof title, "OR of vectors of %.3g M rows, %s",
             (double)lab_rows(experiment->lab, rows * MILLION) * 1e-6,
             gpu ? "on the GPU, decompressed first or inline" : "on the processor");
    const struct chart_form form = {.kind = CHART_BARS,
                                    .title = title,
                                    .x = {.title = "column and vectors"},
                                    .y = {.title = "time", .unit = "ms", .scale = CHART_LOG10},
                                    .categories = categories,
                                    .category_count = count};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (int32_t step = BITMAP_BY_COA; gpu && step < BITMAP_BY_COUNT; step++)
        add_bars(chart, bitmap_step_names[step], experiment, shown, count, step, -1);
    for (int32_t host = 0; !gpu && host < BITMAP_HOSTS; host++)
        add_bars(chart, bitmap_host_names[host], experiment, shown, count, -1, host);
    return lab_chart(experiment->lab, chart, error);
}

static enum status show_all(const struct experiment *experiment, struct error *error)
{
    if (experiment->lab->cuda) {
        RETURN_IF_ERROR(show_chart(experiment, 1000, true, error));
        RETURN_IF_ERROR(show_chart(experiment, SSB_ROWS, true, error));
        RETURN_IF_ERROR(bitmap_tables(
            &(struct bitmap_records){experiment->lab, &experiment->kernels, experiment->records, TESTS},
            error));
    }
    RETURN_IF_ERROR(show_chart(experiment, CPU_CHART_ROWS, false, error));
    RETURN_IF_ERROR(show_chart(experiment, SSB_ROWS, false, error));
    return experiment->lab->cuda ? show_host(experiment, error) : STATUS_OK;
}

enum status lab_bitmaps(struct lab *lab, struct error *error)
{
    struct experiment experiment = {.lab = lab};
    roaring_open(&experiment.roaring);
    enum status status = measure_all(&experiment, error);
    if (status == STATUS_OK)
        status = show_all(&experiment, error);
    if (status == STATUS_OK)
        status = bitmap_crossover(lab, &experiment.kernels, codec_by_name("lane-slice"), error);
    ssb_generator_destroy(experiment.generator);
    bitmap_kernels_close(&experiment.kernels);
    roaring_close(&experiment.roaring);
    return status;
}
