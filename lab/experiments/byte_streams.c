/*
 * byte_streams.c: `tessera lab byte-streams`: decoding ORC's RLE v1 and v2 and Deflate, a block of --block bytes (128 KiB) at
 * a time. CODAG (Park et al., 2023), tables IV and V, figures 7 and 8: seven sets of 0.7 to 7.4 GB on an A100.
 *
 * The sets are made here (lab/bytes/byte_set.h), 512 MiB each at --scale 1. Every decoder decodes the same streams in one
 * run, and every byte is compared. On a GPU there are half as many blocks as it has warps, and twice as many. The table
 * "as the paper compares" has the geometric means over the seven sets beside those that the paper prints.
 */
#include "lab/experiments/experiments.h"

#include "lab/bytes/byte_host.h"
#include "lab/bytes/byte_kernel.h"
#include "lab/bytes/byte_symbols.h"
#include "lab/bytes/nvcomp_deflate.h"
#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the blocks are decoded, and how many there are on the GPU. */
enum place { HOST, HALF, TWICE, PLACES };

/* The decoders at a place: on the processor enum byte_host, on a GPU enum byte_decoder and nvCOMP. */
#define NVCOMP      ((uint32_t)BYTE_DECODERS)
#define DECODERS    ((uint32_t)BYTE_DECODERS + 1)
#define COLUMNS_MAX (DECODERS + 5)
#define SMALL_SCALE \
    0.01              /* below it a GPU gets the set's blocks, and four times as many, to be checked soon */
#define NOT_OF_SIX 1u /* MC3, of which no figure of RLE v2 is known to compare with */

/* A set in a format. */
struct record {
    double ratio;
    struct byte_symbols symbols;
    double rates[PLACES][DECODERS]; /* GB/s of output; 0: not measured */
};

struct experiment {
    struct lab *lab;
    struct nvcomp *nvcomp;
    char why[NVCOMP_WHY_BYTES]; /* nvCOMP was not measured */
    uint32_t block_counts[PLACES];
    struct record records[BYTE_SETS][BYTE_FORMATS];
    struct byte_kernel_needs needs[BYTE_FORMATS][BYTE_SETS][BYTE_DECODERS];
    struct sheet *log; /* the lines that people see meanwhile, or NULL */
};

/* ---- Which decoders a table has ---- */

static bool is_measured(enum place place, enum byte_format format, uint32_t decoder)
{
    if (place == HOST)
        return decoder == BYTE_HOST_OURS || (decoder == BYTE_HOST_ZLIB && format == BYTES_DEFLATE);
    return decoder != NVCOMP || format == BYTES_DEFLATE;
}

static const char *decoder_name(enum place place, enum byte_format format, uint32_t decoder)
{
    if (place != HOST)
        return decoder == NVCOMP ? "nvCOMP" : byte_decoder_names[decoder];
    return decoder == BYTE_HOST_ZLIB ? "zlib" : format == BYTES_DEFLATE ? "libdeflate" : "ours";
}

static const char *decoder_key(enum place place, enum byte_format format, uint32_t decoder)
{
    if (place != HOST)
        return decoder == NVCOMP ? "nvcomp" : byte_decoder_keys[decoder];
    return decoder_name(place, format, decoder);
}

/* ---- Measuring ---- */

static double rate_of(uint64_t bytes, const struct speed *speed)
{
    return speed->median > 0 ? (double)bytes / speed->median * 1e-6 : 0;
}

static enum status begin_log(struct experiment *experiment, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "set", .name = "set", .text = true},
        {.key = "format", .name = "format", .text = true},
        {.key = "decoder", .name = "decoder", .text = true, .width = 22},
        {.key = "blocks", .name = "blocks of the GPU", .whole = true},
        {.key = "gb_per_second", .name = "output", .unit = "GB/s", .significant = 3},
    };
    return lab_log(experiment->lab, "speeds, as measured", columns, sizeof columns / sizeof *columns,
                   &experiment->log, error);
}

/* Keeps a rate, of which people see a line at once. */
static enum status add_rate(struct experiment *experiment, const struct byte_streams *streams,
                            enum place place, uint32_t decoder, double rate, struct record *record,
                            struct error *error)
{
    record->rates[place][decoder] = rate;
    if (!experiment->log)
        return STATUS_OK;
    sheet_text(experiment->log, streams->set->kind->name);
    sheet_text(experiment->log, byte_format_names[streams->format]);
    sheet_text(experiment->log, decoder_name(place, streams->format, decoder));
    sheet_number(experiment->log, place == HOST ? NAN : experiment->block_counts[place]);
    if (rate > 0)
        sheet_number(experiment->log, rate);
    else
        sheet_missing(experiment->log, experiment->why);
    return lab_row_done(experiment->lab, experiment->log, error);
}

static enum status measure_host(struct experiment *experiment, const struct byte_streams *streams,
                                struct record *record, struct error *error)
{
    for (uint32_t host = 0; host < BYTE_HOSTS; host++) {
        struct speed speed;
        if (!is_measured(HOST, streams->format, host))
            continue;
        RETURN_IF_ERROR(byte_host_measure(experiment->lab, streams, (enum byte_host)host, &speed, error));
        RETURN_IF_ERROR(add_rate(experiment, streams, HOST, host, rate_of(streams->set->byte_count, &speed),
                                 record, error));
    }
    return STATUS_OK;
}

/* Ablations are measured on the paper's sets only. */
static enum status measure_batch(struct experiment *experiment, struct byte_batch *batch, enum place place,
                                 struct record *record, struct byte_kernel_needs *needs, struct error *error)
{
    const enum byte_format format = batch->streams->format;
    struct speed speed;
    for (uint32_t d = 0; d < BYTE_DECODERS; d++) {
        const bool is_ablation = d != BYTE_OURS && d != BYTE_PUBLISHED;
        if (!is_measured(place, format, d) || (is_ablation && !batch->streams->set->kind->of_paper))
            continue;
        RETURN_IF_ERROR(byte_kernel_measure(batch, (enum byte_decoder)d, &speed, &needs[d], error));
        RETURN_IF_ERROR(
            add_rate(experiment, batch->streams, place, d, rate_of(batch->out_bytes, &speed), record, error));
    }
    if (!is_measured(place, format, NVCOMP))
        return STATUS_OK;
    RETURN_IF_ERROR(nvcomp_deflate_measure(experiment->nvcomp, batch, &speed, experiment->why, error));
    return add_rate(experiment, batch->streams, place, NVCOMP, rate_of(batch->out_bytes, &speed), record,
                    error);
}

static enum status measure_format(struct experiment *experiment, const struct byte_streams *streams,
                                  struct record *record, struct byte_kernel_needs *needs, struct error *error)
{
    struct lab *const lab = experiment->lab;
    record->ratio = byte_streams_ratio(streams);
    RETURN_IF_ERROR(byte_symbols_count(lab, streams, &record->symbols, error));
    RETURN_IF_ERROR(measure_host(experiment, streams, record, error));
    for (uint32_t place = HALF; lab->cuda && place < PLACES; place++) {
        struct byte_batch batch;
        enum status status = byte_batch_open(lab, streams, experiment->block_counts[place], &batch, error);
        if (status == STATUS_OK)
            status = measure_batch(experiment, &batch, (enum place)place, record, needs, error);
        byte_batch_close(&batch);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

static enum status measure_set(struct experiment *experiment, uint32_t s, const struct byte_set *set,
                               struct error *error)
{
    for (uint32_t f = 0; f < BYTE_FORMATS; f++) {
        struct byte_streams streams;
        enum status status = byte_streams_make(experiment->lab, set, (enum byte_format)f,
                                               experiment->lab->block_bytes, &streams, error);
        if (status == STATUS_OK)
            status = measure_format(experiment, &streams, &experiment->records[s][f], experiment->needs[f][s],
                                    error);
        byte_streams_free(&streams);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

static enum status measure_all(struct experiment *experiment, struct error *error)
{
    struct lab *const lab = experiment->lab;
    const uint64_t bytes = lab_rows(lab, BYTE_SET_FULL / 8) * 8;
    if (lab->cuda) {
        const struct cuda_properties *const gpu = cuda_properties(lab->cuda);
        const uint32_t half = gpu->multiprocessors * gpu->threads_per_multiprocessor / 32 / 2;
        const uint32_t of_set = (uint32_t)((bytes + lab->block_bytes - 1) / lab->block_bytes);
        experiment->block_counts[HALF] = lab->scale < SMALL_SCALE ? of_set : half;
        experiment->block_counts[TWICE] = 4 * experiment->block_counts[HALF];
        RETURN_IF_ERROR(byte_kernel_compile(lab, error));
    }
    RETURN_IF_ERROR(nvcomp_open(lab, &experiment->nvcomp, error));
    RETURN_IF_ERROR(begin_log(experiment, error));
    for (uint32_t s = 0; s < BYTE_SETS; s++) {
        struct byte_set set;
        if (!byte_set_is_chosen(lab, s))
            continue;
        enum status status = byte_set_make(lab, &byte_set_kinds[s], bytes, &set, error);
        if (status == STATUS_OK)
            status = measure_set(experiment, s, &set, error);
        byte_set_free(&set);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

/* ---- The table of the data ---- */

static void number_or_missing(struct sheet *sheet, double number)
{
    sheet_number(sheet, number > 0 ? number : NAN);
}

static enum status show_data(const struct experiment *experiment, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "set", .name = "set", .text = true},
        {.key = "about", .name = "stands for", .text = true},
        {.key = "item_bytes", .name = "item", .unit = "bytes", .whole = true},
        {.key = "rle1_ratio", .name = "here", .group = "RLE v1, ratio", .digits = 3},
        {.key = "rle1_ratio_paper", .name = "paper", .group = "RLE v1, ratio", .digits = 3},
        {.key = "rle2_ratio", .name = "here", .group = "RLE v2, ratio", .digits = 3},
        {.key = "rle2_ratio_paper", .name = "paper", .group = "RLE v2, ratio", .digits = 3},
        {.key = "deflate_ratio", .name = "here", .group = "Deflate, ratio", .digits = 3},
        {.key = "deflate_ratio_paper", .name = "paper", .group = "Deflate, ratio", .digits = 3},
        {.key = "rle1_symbol", .name = "symbol", .group = "RLE v1, values of a", .digits = 2},
        {.key = "rle1_run", .name = "run", .group = "RLE v1, values of a", .digits = 1},
        {.key = "rle1_symbol_paper", .name = "paper", .group = "RLE v1, values of a", .digits = 1},
        {.key = "deflate_symbol", .name = "symbol", .group = "Deflate, bytes of a", .digits = 2},
        {.key = "deflate_copy", .name = "copy", .group = "Deflate, bytes of a", .digits = 1},
        {.key = "deflate_symbol_paper", .name = "paper", .group = "Deflate, bytes of a", .digits = 1},
    };
    struct lab *const lab = experiment->lab;
    struct sheet *sheet;
    char caption[128];
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t s = 0; s < BYTE_SETS; s++) {
        const struct byte_set_kind *const kind = &byte_set_kinds[s];
        const struct record *const records = experiment->records[s];
        if (!byte_set_is_chosen(lab, s))
            continue;
        sheet_text(sheet, kind->name);
        sheet_text(sheet, kind->about);
        sheet_number(sheet, kind->item_bytes);
        for (uint32_t f = 0; f < BYTE_FORMATS; f++) {
            sheet_number(sheet, records[f].ratio);
            number_or_missing(sheet, kind->ratios[f]);
        }
        for (uint32_t f = BYTES_RLE1; f < BYTE_FORMATS; f += BYTES_DEFLATE - BYTES_RLE1) {
            sheet_number(sheet, byte_symbols_length(&records[f].symbols));
            sheet_number(sheet, byte_symbols_run(&records[f].symbols));
            number_or_missing(sheet, kind->symbols[f]);
        }
    }
    snprintf(caption, sizeof caption, "data: sets of %.2f MB in blocks of %u KiB",
             (double)lab_rows(lab, BYTE_SET_FULL / 8) * 8e-6, lab->block_bytes >> 10);
    return lab_sheet(lab, caption, sheet, error);
}

/* ---- The tables of speeds ---- */

/* A table: a format at a place. */
struct view {
    const struct experiment *experiment;
    enum place place;
    enum byte_format format;
};

/* Quotients of a GPU's table, after the rates. The first is the one that the paper's figure 8 draws. */
static const struct quotient {
    const char *key, *group, *name;
    uint32_t of, by;
} quotients[] = {{"published_to_baseline", "as published", "to thread block", BYTE_PUBLISHED, BYTE_BASELINE},
                 {"ours_to_published", "ours", "to published", BYTE_OURS, BYTE_PUBLISHED},
                 {"ours_to_nvcomp", "ours", "to nvCOMP", BYTE_OURS, NVCOMP}};
#define QUOTIENTS (sizeof quotients / sizeof *quotients)

static bool has_quotient(const struct view *view, const struct quotient *quotient)
{
    return view->place != HOST && is_measured(view->place, view->format, quotient->by);
}

static double set_rate(const struct view *view, uint32_t set, uint32_t decoder)
{
    const double rate = view->experiment->records[set][view->format].rates[view->place][decoder];
    return rate > 0 ? rate : NAN;
}

/* The geometric mean over the paper's sets but `without`; NaN if one is missing. */
static double mean_rate(const struct view *view, uint32_t without, uint32_t decoder)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t s = 0; s < BYTE_PAPER_SETS; s++)
        if (s != without) {
            sum += log(set_rate(view, s, decoder));
            count++;
        }
    return exp(sum / count);
}

static void add_rate_cell(const struct view *view, struct sheet *sheet, uint32_t decoder, double rate)
{
    if (isnan(rate) && decoder == NVCOMP)
        sheet_missing(sheet, view->experiment->why);
    else
        sheet_number(sheet, rate);
}

/* A row: a set's, or with `mean` that of the paper's sets but `set`. */
static void add_row(const struct view *view, struct sheet *sheet, const char *name, bool mean, uint32_t set)
{
    double rates[DECODERS];
    sheet_text(sheet, name);
    for (uint32_t d = 0; d < DECODERS; d++)
        if (is_measured(view->place, view->format, d)) {
            rates[d] = mean ? mean_rate(view, set, d) : set_rate(view, set, d);
            add_rate_cell(view, sheet, d, rates[d]);
        }
    for (const struct quotient *q = quotients; q < quotients + QUOTIENTS; q++)
        if (has_quotient(view, q))
            sheet_number(sheet, rates[q->of] / rates[q->by]);
}

static void add_rows(const struct view *view, struct sheet *sheet)
{
    for (uint32_t s = 0; s < BYTE_SETS; s++) {
        if (byte_set_is_chosen(view->experiment->lab, s))
            add_row(view, sheet, byte_set_kinds[s].name, false, s);
        if (s == BYTE_PAPER_SETS - 1)
            add_row(view, sheet, "geometric mean", true, BYTE_SETS);
        if (s == BYTE_PAPER_SETS - 1 && view->format == BYTES_RLE2)
            add_row(view, sheet, "without MC3", true, NOT_OF_SIX);
    }
}

/* The columns have their keys in `keys`. */
static uint32_t list_columns(const struct view *view, char keys[DECODERS][64], struct sheet_column *columns)
{
    uint32_t count = 0;
    columns[count++] = (struct sheet_column){.key = "set", .name = "set", .text = true};
    for (uint32_t d = 0; d < DECODERS; d++)
        if (is_measured(view->place, view->format, d)) {
            snprintf(keys[d], sizeof *keys, "%s_gb_per_second", decoder_key(view->place, view->format, d));
            columns[count++] = (struct sheet_column){
                .key = keys[d], .name = decoder_name(view->place, view->format, d), .significant = 3};
        }
    for (const struct quotient *q = quotients; q < quotients + QUOTIENTS; q++)
        if (has_quotient(view, q))
            columns[count++] = (struct sheet_column){
                .key = q->key, .name = q->name, .group = q->group, .suffix = "x", .digits = 2};
    return count;
}

static enum status show_chart(const struct view *view, const char *title, struct error *error)
{
    const char *categories[BYTE_SETS];
    uint32_t sets[BYTE_SETS], count = 0;
    for (uint32_t s = 0; s < BYTE_SETS; s++)
        if (byte_set_is_chosen(view->experiment->lab, s)) {
            categories[count] = byte_set_kinds[s].name;
            sets[count++] = s;
        }
    const struct chart_form form = {
        .kind = CHART_BARS,
        .title = title,
        .x = {.title = "set"},
        .y = {.title = "output", .unit = "GB/s", .scale = view->place == HOST ? CHART_LINEAR : CHART_LOG10},
        .categories = categories,
        .category_count = count};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (uint32_t d = 0; d < DECODERS; d++) {
        if (!is_measured(view->place, view->format, d))
            continue;
        chart_series(chart, decoder_name(view->place, view->format, d));
        for (uint32_t i = 0; i < count; i++)
            chart_point(chart, (struct chart_point){.x = i, .y = set_rate(view, sets[i], d)});
    }
    return lab_chart(view->experiment->lab, chart, error);
}

static enum status show_speeds(const struct view *view, struct error *error)
{
    static const char *const words[PLACES] = {
        [HALF] = ", half as many as it has warps", [TWICE] = ", twice as many as it has warps"};
    const struct experiment *const experiment = view->experiment;
    const char *const format = byte_format_names[view->format];
    struct sheet_column columns[COLUMNS_MAX];
    struct sheet *sheet;
    char keys[DECODERS][64], caption[128];
    if (view->place == HOST)
        snprintf(caption, sizeof caption, "%s on the processor, %u threads: GB/s of output", format,
                 experiment->lab->threads);
    else
        snprintf(caption, sizeof caption, "%s on the GPU, %u blocks%s: GB/s of output", format,
                 experiment->block_counts[view->place],
                 experiment->lab->scale < SMALL_SCALE ? "" : words[view->place]);
    RETURN_IF_ERROR(show_chart(view, caption, error));
    RETURN_IF_ERROR(sheet_create(columns, list_columns(view, keys, columns), &sheet, error));
    add_rows(view, sheet);
    return lab_sheet(experiment->lab, caption, sheet, error);
}

/* ---- The table of the paper's comparisons ---- */

/* What the paper prints of a decoder in a format: geometric means over its seven sets, on an A100. 0: nothing. */
struct claim {
    double rate;               /* GB/s of output: section V-D */
    double to_baseline;        /* its speed by that of RAPIDS: figure 8 */
    double of_published_to_it; /* the published decoder's speed by its own: section V-E */
};
static const struct claim claims[BYTE_FORMATS][DECODERS] = {
    [BYTES_RLE1] = {[BYTE_PUBLISHED] = {38.07, 13.46, 0},
                    [BYTE_ONE_LANE] = {0, 0, 1.17},
                    [BYTE_PREFETCHED] = {0, 7.10, 0},
                    [BYTE_BASELINE] = {2.83, 0, 13.46}},
    [BYTES_RLE2] = {[BYTE_PUBLISHED] = {26.87, 5.69, 0},
                    [BYTE_PREFETCHED] = {0, 4.33, 0},
                    [BYTE_BASELINE] = {4.72, 0, 5.69}},
    [BYTES_DEFLATE] = {[BYTE_PUBLISHED] = {51.96, 1.18, 0},
                       [BYTE_ONE_LANE] = {0, 0, 1.19},
                       [BYTE_PREFETCHED] = {0, 1.02, 0},
                       [BYTE_BASELINE] = {44.18, 0, 1.18}},
};

static void add_comparisons(const struct view *view, struct sheet *sheet)
{
    const double published = mean_rate(view, BYTE_SETS, BYTE_PUBLISHED),
                 baseline = mean_rate(view, BYTE_SETS, BYTE_BASELINE);
    for (uint32_t d = 0; d < DECODERS; d++) {
        const struct claim *const claim = &claims[view->format][d];
        const double rate = mean_rate(view, BYTE_SETS, d);
        if (!is_measured(view->place, view->format, d))
            continue;
        sheet_text(sheet, byte_format_names[view->format]);
        sheet_text(sheet, decoder_name(view->place, view->format, d));
        sheet_number(sheet, view->experiment->block_counts[view->place]);
        add_rate_cell(view, sheet, d, rate);
        number_or_missing(sheet, claim->rate);
        sheet_number(sheet, rate / baseline);
        number_or_missing(sheet, claim->to_baseline);
        sheet_number(sheet, published / rate);
        number_or_missing(sheet, claim->of_published_to_it);
    }
}

static enum status show_comparisons(const struct experiment *experiment, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "format", .name = "format", .text = true},
        {.key = "decoder", .name = "decoder", .text = true},
        {.key = "blocks", .name = "blocks", .whole = true},
        {.key = "gb_per_second", .name = "here", .group = "output, GB/s", .significant = 3},
        {.key = "paper_gb_per_second", .name = "paper", .group = "output, GB/s", .digits = 2},
        {.key = "to_baseline", .name = "here", .group = "by thread block", .suffix = "x", .digits = 2},
        {.key = "paper_to_baseline", .name = "paper", .group = "by thread block", .suffix = "x", .digits = 2},
        {.key = "published_to_it", .name = "here", .group = "as published by it", .suffix = "x", .digits = 2},
        {.key = "paper_published_to_it",
         .name = "paper",
         .group = "as published by it",
         .suffix = "x",
         .digits = 2},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t f = 0; f < BYTE_FORMATS; f++)
        for (uint32_t place = HALF; place < PLACES; place++) {
            const struct view view = {experiment, (enum place)place, (enum byte_format)f};
            add_comparisons(&view, sheet);
        }
    return lab_sheet(experiment->lab,
                     "as the paper compares: geometric means over its seven sets, quotients of speeds", sheet,
                     error);
}

/* ---- The table of kernels ---- */

/* A chosen set of items of this size; BYTE_SETS: there is none. Deflate has one kernel for all. */
static uint32_t set_of_items(const struct lab *lab, enum byte_format format, uint32_t bytes)
{
    uint32_t s = 0;
    while (s < BYTE_SETS && !(byte_set_is_chosen(lab, s) &&
                              (format == BYTES_DEFLATE || byte_set_kinds[s].item_bytes == bytes)))
        s++;
    return s;
}

static enum status show_kernels(const struct experiment *experiment, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "format", .name = "format", .text = true},
        {.key = "decoder", .name = "decoder", .text = true},
        {.key = "item_bytes", .name = "item", .unit = "bytes", .whole = true},
        {.key = "registers", .name = "registers", .whole = true},
        {.key = "local_bytes", .name = "spilled", .unit = "bytes", .whole = true},
        {.key = "shared_bytes", .name = "shared", .unit = "bytes a block", .whole = true},
        {.key = "blocks", .name = "at once", .unit = "blocks", .whole = true},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (uint32_t f = 0; f < BYTE_FORMATS; f++)
        for (uint32_t d = 0; d < BYTE_DECODERS; d++)
            for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
                const uint32_t s = set_of_items(experiment->lab, (enum byte_format)f, bytes);
                if (s == BYTE_SETS || (f == BYTES_DEFLATE && bytes > 1))
                    continue;
                const struct byte_kernel_needs *const needs = &experiment->needs[f][s][d];
                sheet_text(sheet, byte_format_names[f]);
                sheet_text(sheet, byte_decoder_names[d]);
                sheet_number(sheet, bytes);
                sheet_number(sheet, needs->registers);
                sheet_number(sheet, needs->local_bytes);
                sheet_number(sheet, needs->shared_bytes);
                sheet_number(sheet, needs->blocks);
            }
    return lab_sheet(experiment->lab, "kernels: what they need, and the blocks of a multiprocessor", sheet,
                     error);
}

/* ---- All ---- */

static enum status show_all(const struct experiment *experiment, struct error *error)
{
    RETURN_IF_ERROR(show_data(experiment, error));
    for (uint32_t f = 0; f < BYTE_FORMATS; f++)
        for (uint32_t place = HOST; place < (experiment->lab->cuda ? PLACES : HALF); place++) {
            const struct view view = {experiment, (enum place)place, (enum byte_format)f};
            RETURN_IF_ERROR(show_speeds(&view, error));
        }
    if (!experiment->lab->cuda)
        return STATUS_OK;
    RETURN_IF_ERROR(show_comparisons(experiment, error));
    return show_kernels(experiment, error);
}

enum status lab_byte_streams(struct lab *lab, struct error *error)
{
    struct experiment *experiment = NULL;
    RETURN_IF_ERROR(memory_zeros(&experiment, sizeof *experiment, "figures", error));
    experiment->lab = lab;
    enum status status = measure_all(experiment, error);
    if (status == STATUS_OK)
        status = show_all(experiment, error);
    nvcomp_close(experiment->nvcomp);
    free(experiment);
    return status;
}
