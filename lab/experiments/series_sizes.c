/*
 * series_sizes.c: `tessera lab series-sizes`: eight kinds of time series in PFOR, PFOR-DIFF, gzip and bzip2. Przymus and
 * Kaczmarski, OTM 2012 Workshops, figure 1: lightweight methods compress 2 to 7 times, gzip as well or better, bzip2 always
 * best and much more slowly. The figure's bars have no numbers.
 *
 * The series are made here (lab/series/series_kinds.h), and beside the paper's four methods stand two codecs of ours. The
 * paper does not say whether gzip and bzip2 compressed integers of 4 bytes or files of text, so they do both; the ratio of
 * text is to the text's own bytes. All on one thread of the processor, also where there is a GPU. Every method's output is
 * decompressed and compared.
 */
#include "lab/experiments/experiments.h"

#include "lab/series/series_kinds.h"
#include "lab/series/series_tools.h"

#include <math.h>
#include <stdlib.h>

#define ROWS       (UINT64_C(1) << 20) /* of a series: 4 MB */
#define ROWS_LEAST (UINT64_C(1) << 16) /* at any scale, so that headers do not count */
#define ROWS_MOST  (SERIES_TOOL_BYTES_MAX / 16)

/* Codecs, then the tools on integers, then on text. */
enum method { PFOR, PFOR_DIFF, LANE_DELTA, LANE_PFOR, GZIP, BZIP2, GZIP_TEXT, BZIP2_TEXT, METHODS };
static const char *const names[METHODS] = {"pfor", "pfor-diff", "lane-delta",    "lane-pfor",
                                           "gzip", "bzip2",     "gzip, of text", "bzip2, of text"};

/* What a method made of its input, of one series or of all so far. */
struct total {
    double in_bytes, bytes, compress_ms, restore_ms;
};

struct experiment {
    struct lab *lab;
    struct lab one; /* the same on one thread of the processor */
    uint64_t rows;  /* of each series */
    struct sheet *sheet;
    double ratios[SERIES_KINDS][METHODS]; /* NaN: the codec is not in the registry */
    struct total totals[METHODS];
};

/* A series in both forms. */
struct input {
    struct dataset dataset;
    char *text;
    uint64_t text_bytes;
};

/* ---- Measuring ---- */

static enum status measure_codec(struct lab *lab, const struct dataset *dataset, enum method method,
                                 struct total *result, struct error *error)
{
    const struct codec *const codec = codec_by_name(names[method]);
    struct encoded encoded;
    struct decode_result decoded;
    *result = (struct total){NAN, NAN, NAN, NAN};
    if (!codec)
        return STATUS_OK;
    enum status status = encoded_make(lab, codec, dataset, &encoded, error);
    if (status == STATUS_OK)
        status = decode_measure(lab, dataset, &encoded, &decoded, error);
    if (status == STATUS_OK)
        *result = (struct total){4 * (double)dataset->rows, (double)encoded.bytes, encoded.seconds * 1e3,
                                 decoded.memory.median};
    encoded_free(&encoded);
    return status;
}

static enum status measure_tool(struct lab *lab, const struct input *input, enum method method,
                                struct total *result, struct error *error)
{
    const bool text = method >= GZIP_TEXT;
    const enum series_tool tool = method == GZIP || method == GZIP_TEXT ? SERIES_GZIP : SERIES_BZIP2;
    const uint64_t bytes = text ? input->text_bytes : input->dataset.rows * sizeof *input->dataset.values;
    const void *const data = text ? (const void *)input->text : input->dataset.values;
    struct series_tool_result measured;
    RETURN_IF_ERROR(series_tool_measure(lab, tool, data, bytes, &measured, error));
    *result =
        (struct total){(double)bytes, (double)measured.bytes, measured.compress_ms, measured.restore.median};
    return STATUS_OK;
}

static enum status measure_methods(struct experiment *experiment, const struct input *input, uint32_t kind,
                                   struct error *error)
{
    for (enum method m = 0; m < METHODS; m++) {
        struct total *const total = &experiment->totals[m], result;
        progress_report(experiment->lab->progress, "compressing time series", "methods", kind * METHODS + m,
                        SERIES_KINDS * METHODS);
        RETURN_IF_ERROR(m < GZIP ? measure_codec(&experiment->one, &input->dataset, m, &result, error)
                                 : measure_tool(&experiment->one, input, m, &result, error));
        experiment->ratios[kind][m] = result.in_bytes / result.bytes;
        total->in_bytes += result.in_bytes;
        total->bytes += result.bytes;
        total->compress_ms += result.compress_ms;
        total->restore_ms += result.restore_ms;
    }
    return STATUS_OK;
}

static enum status measure_kind(struct experiment *experiment, uint32_t kind, struct error *error)
{
    const struct series_kind *const series = &series_kinds[kind];
    struct input input = {0};
    enum status status = dataset_make(&experiment->one, "making time series", experiment->rows, series->fill,
                                      series->parameters, &input.dataset, error);
    if (status == STATUS_OK)
        status = series_text(&input.dataset, series->decimals, &input.text, &input.text_bytes, error);
    if (status == STATUS_OK)
        status = measure_methods(experiment, &input, kind, error);
    free(input.text);
    dataset_free(&experiment->one, &input.dataset);
    return status;
}

/* ---- Figure 1 ---- */

static enum status add_kind(struct experiment *experiment, uint32_t kind, struct error *error)
{
    const double *const ratios = experiment->ratios[kind];
    const double best = fmax(ratios[PFOR], ratios[PFOR_DIFF]);
    struct sheet *const sheet = experiment->sheet;
    sheet_text(sheet, series_kinds[kind].name);
    sheet_text(sheet, series_kinds[kind].about);
    for (enum method m = 0; m < METHODS; m++)
        sheet_number(sheet, ratios[m]);
    sheet_number(sheet, best);
    sheet_text(sheet, "2 .. 7");
    sheet_number(sheet, best / ratios[GZIP]);
    sheet_number(sheet, best / ratios[GZIP_TEXT]);
    sheet_text(sheet, "about 1 or less");
    sheet_number(sheet, ratios[BZIP2] / ratios[GZIP]);
    sheet_number(sheet, ratios[BZIP2_TEXT] / ratios[GZIP_TEXT]);
    sheet_text(sheet, "above 1");
    return lab_row_done(experiment->lab, sheet, error);
}

#define RATIO(KEY, NAME, GROUP)                                              \
    {                                                                        \
        .key = KEY, .name = NAME, .group = GROUP, .suffix = "x", .digits = 2 \
    }
static const struct sheet_column ratio_columns[] = {
    {.key = "series", .name = "series", .text = true},
    {.key = "about", .name = "generated", .text = true, .width = 36},
    RATIO("pfor_ratio", "PFOR", NULL),
    RATIO("pfor_diff_ratio", "PFOR-DIFF", NULL),
    RATIO("lane_delta_ratio", "lane-delta", NULL),
    RATIO("lane_pfor_ratio", "lane-pfor", NULL),
    RATIO("gzip_ratio", "gzip", "of 4 bytes"),
    RATIO("bzip2_ratio", "bzip2", "of 4 bytes"),
    RATIO("gzip_text_ratio", "gzip", "of text"),
    RATIO("bzip2_text_ratio", "bzip2", "of text"),
    RATIO("light_ratio", "ours", "the better PFOR"),
    {.key = "paper_light_ratio", .name = "paper", .group = "the better PFOR", .text = true},
    RATIO("light_to_gzip", "4 bytes", "the same to gzip"),
    RATIO("light_to_gzip_text", "text", "the same to gzip"),
    {.key = "paper_light_to_gzip", .name = "paper", .group = "the same to gzip", .text = true, .width = 15},
    RATIO("bzip2_to_gzip", "4 bytes", "bzip2 to gzip"),
    RATIO("bzip2_to_gzip_text", "text", "bzip2 to gzip"),
    {.key = "paper_bzip2_to_gzip", .name = "paper", .group = "bzip2 to gzip", .text = true},
};

static enum status show_ratios(struct experiment *experiment, struct error *error)
{
    struct lab *const lab = experiment->lab;
    char caption[256];
    snprintf(caption, sizeof caption,
             "ratio of %.0f values of 4 bytes (%.2f MB), or their text, to the compressed bytes; generated "
             "series, because "
             "the paper's recorded ones are not to be had",
             (double)experiment->rows, (double)experiment->rows * 4e-6);
    RETURN_IF_ERROR(
        sheet_create(ratio_columns, sizeof ratio_columns / sizeof *ratio_columns, &experiment->sheet, error));
    enum status status = lab_begin(lab, caption, experiment->sheet, error);
    for (uint32_t kind = 0; status == STATUS_OK && kind < SERIES_KINDS; kind++) {
        status = measure_kind(experiment, kind, error);
        if (status == STATUS_OK)
            status = add_kind(experiment, kind, error);
    }
    if (status == STATUS_OK)
        return lab_sheet(lab, caption, experiment->sheet, error);
    sheet_destroy(experiment->sheet);
    return status;
}

static enum status show_bars(const struct experiment *experiment, struct error *error)
{
    const char *categories[SERIES_KINDS];
    const struct chart_form form = {.kind = CHART_BARS,
                                    .title = "compression of generated time series",
                                    .x = {.title = "series"},
                                    .y = {.title = "compression ratio", .unit = "times"},
                                    .categories = categories,
                                    .category_count = SERIES_KINDS};
    struct chart *chart;
    for (uint32_t kind = 0; kind < SERIES_KINDS; kind++)
        categories[kind] = series_kinds[kind].name;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (enum method m = 0; m < METHODS; m++) {
        chart_series(chart, names[m]);
        for (uint32_t kind = 0; kind < SERIES_KINDS; kind++)
            chart_point(chart, (struct chart_point){.x = kind, .y = experiment->ratios[kind][m]});
    }
    return lab_chart(experiment->lab, chart, error);
}

/* ---- Speed ---- */

/* MB of input a second. */
static double restore_speed(const struct total *total)
{
    return total->in_bytes / total->restore_ms * 1e-3;
}

static enum status show_speeds(const struct experiment *experiment, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "method", .name = "method", .text = true},
        {.key = "ratio", .name = "ratio", .suffix = "x", .digits = 2},
        {.key = "compress_mb_per_second", .name = "compress", .unit = "MB/s", .significant = 3},
        {.key = "restore_mb_per_second", .name = "decompress", .unit = "MB/s", .significant = 3},
        {.key = "restore_to_gzip", .name = "decompress, to gzip", .suffix = "x", .significant = 3},
        {.key = "paper_restore_to_gzip", .name = "paper", .text = true},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (enum method m = 0; m < METHODS; m++) {
        const struct total *const total = &experiment->totals[m];
        const struct total *const gzip = &experiment->totals[m < GZIP_TEXT ? GZIP : GZIP_TEXT];
        sheet_text(sheet, names[m]);
        sheet_number(sheet, total->in_bytes / total->bytes);
        sheet_number(sheet, total->in_bytes / total->compress_ms * 1e-3);
        sheet_number(sheet, restore_speed(total));
        sheet_number(sheet, restore_speed(total) / restore_speed(gzip));
        sheet_text(sheet, m == BZIP2 || m == BZIP2_TEXT ? "much slower" : NULL);
    }
    return lab_sheet(experiment->lab,
                     "all eight series together on one thread of the processor; bytes before compression",
                     sheet, error);
}

enum status lab_series_sizes(struct lab *lab, struct error *error)
{
    const uint64_t scaled = lab_rows(lab, ROWS);
    struct experiment experiment = {.lab = lab, .one = *lab};
    experiment.one.threads = 1;
    experiment.one.cuda = NULL;
    experiment.rows = scaled < ROWS_LEAST ? ROWS_LEAST : scaled > ROWS_MOST ? ROWS_MOST : scaled;
    RETURN_IF_ERROR(show_ratios(&experiment, error));
    RETURN_IF_ERROR(show_bars(&experiment, error));
    return show_speeds(&experiment, error);
}
