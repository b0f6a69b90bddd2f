/*
 * random_access.c: `tessera lab random-access`: the time to sum the rows that a random bit vector selects, by
 * selectivity. SIGMOD 2022, section 8: 250 million random entries; tiles without a selected row are skipped, so GPU-FOR
 * and GPU-DFOR take a constant time above a selectivity of 1 in a tile (2.1 ms on a V100, uncompressed values 2.5).
 *
 * The first table decodes whole tiles, as the paper does. The second one, for codecs with random access, reads the
 * selected rows one by one.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/access.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define ROWS   UINT64_C(250000000)
#define WIDTH  16u
#define POINTS (sizeof selectivities / sizeof *selectivities)

static const double selectivities[] = {0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0 / 32, 0.1, 0.5, 1};

/* The paper's time, constant above the selectivity at which all is read: by whole tiles for its schemes, by rows for plain values.
 * NaN: it has none. */
static double paper_ms(const struct codec *codec, bool fetch)
{
    if (fetch)
        return strcmp(codec->name, "plain") == 0 ? 2.5 : NAN;
    return strcmp(codec->name, "gpu-for") == 0 || strcmp(codec->name, "gpu-dfor") == 0 ? 2.1 : NAN;
}

/* The paper's schemes and ours; a chart of all has too many lines to tell apart. */
static bool is_charted(const struct codec *codec)
{
    static const char *const charted[] = {"plain", "gpu-for", "gpu-dfor", "gpu-rfor", "lane-for", "rank-rle"};
    for (size_t c = 0; c < sizeof charted / sizeof *charted; c++)
        if (strcmp(codec->name, charted[c]) == 0)
            return true;
    return false;
}

static enum status measure_points(struct access *access, const struct encoded *encoded, bool fetch,
                                  struct sheet *sheet, struct chart *chart, struct error *error)
{
    RETURN_IF_ERROR(access_open(access, encoded, fetch, error));
    sheet_text(sheet, encoded->codec->name);
    if (is_charted(encoded->codec))
        chart_series(chart, encoded->codec->name);
    for (size_t p = 0; p < POINTS; p++) {
        struct speed speed;
        RETURN_IF_ERROR(access_measure(access, selectivities[p], &speed, error));
        sheet_number(sheet, speed.median);
        if (is_charted(encoded->codec))
            chart_point(
                chart, (struct chart_point){
                           .x = selectivities[p], .y = speed.median, .low = speed.least, .high = speed.most});
    }
    sheet_number(sheet, paper_ms(encoded->codec, fetch));
    return lab_row_done(access->lab, sheet, error);
}

static enum status measure_codec(struct access *access, const struct codec *codec, bool fetch,
                                 struct sheet *sheet, struct chart *chart, struct error *error)
{
    struct encoded encoded;
    enum status status = encoded_make(access->lab, codec, access->dataset, &encoded, error);
    if (status == STATUS_OK && encoded.chunk_count) {
        status = measure_points(access, &encoded, fetch, sheet, chart, error);
        access_close(access);
    }
    encoded_free(&encoded);
    return status;
}

static enum status measure_codecs(struct access *access, bool fetch, struct sheet *sheet, struct chart *chart,
                                  struct error *error)
{
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *const codec = codec_by_id(id);
        progress_report(access->lab->progress, "reading rows", "codecs", id, CODEC_COUNT - 1);
        if (!access->lab->left_out[id] && access_possible(access, codec, fetch))
            RETURN_IF_ERROR(measure_codec(access, codec, fetch, sheet, chart, error));
    }
    return STATUS_OK;
}

static enum status show(struct access *access, bool fetch, struct error *error)
{
    struct sheet_column columns[POINTS + 2] = {{.key = "codec", .name = "codec", .text = true}};
    char names[POINTS][24], keys[POINTS][48], caption[128];
    snprintf(caption, sizeof caption, "%s, ms by selectivity of %" PRIu64 " values of %u bits",
             fetch ? "selected rows are read one by one" : "whole tiles are decoded", access->dataset->rows,
             WIDTH);
    const struct chart_form form = {.kind = CHART_LINES,
                                    .title = caption,
                                    .x = {.title = "selectivity", .scale = CHART_LOG10},
                                    .y = {.title = "time", .unit = "ms"}};
    struct sheet *sheet;
    struct chart *chart;
    for (size_t p = 0; p < POINTS; p++) {
        snprintf(names[p], sizeof names[p], "%.4g", selectivities[p]);
        snprintf(keys[p], sizeof keys[p], "ms_%.23s", names[p]);
        columns[p + 1] =
            (struct sheet_column){.key = keys[p], .name = names[p], .group = "selectivity", .digits = 4};
    }
    columns[POINTS + 1] = (struct sheet_column){
        .key = "paper_ms", .name = fetch ? "paper, from 1/32" : "paper, from 1/TILE", .digits = 1};
    RETURN_IF_ERROR(sheet_create(columns, POINTS + 2, &sheet, error));
    enum status status = chart_create(&form, &chart, error);
    if (status == STATUS_OK)
        status = lab_begin(access->lab, caption, sheet, error);
    if (status == STATUS_OK)
        status = measure_codecs(access, fetch, sheet, chart, error);
    if (status != STATUS_OK) {
        sheet_destroy(sheet);
        chart_destroy(chart);
        return status;
    }
    status = lab_sheet(access->lab, caption, sheet, error);
    if (status == STATUS_OK)
        return lab_chart(access->lab, chart, error);
    chart_destroy(chart);
    return status;
}

enum status lab_random_access(struct lab *lab, struct error *error)
{
    const uint32_t width = WIDTH;
    struct dataset dataset = {0};
    struct access access = {.lab = lab, .dataset = &dataset};
    enum status status = dataset_make(lab, "making uniform values", lab_rows(lab, ROWS), fill_uniform, &width,
                                      &dataset, error);
    for (int fetch = 0; status == STATUS_OK && fetch < 2; fetch++)
        status = show(&access, fetch, error);
    access_destroy(&access);
    dataset_free(lab, &dataset);
    return status;
}
