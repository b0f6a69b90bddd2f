/*
 * posting_lists.c: `tessera lab posting-lists`: sizes of d-gaps of lists of distinct integers below 2^29, and the speed of decoding them.
 * Mallia et al., CIKM 2019: table 1 (2^16 and 2^25 integers, uniform and clustered), figure 3 (lengths 2^16 .. 2^25, uniform) and table 3
 * (speed-ups over codecs for processors). The sums of the gaps are not computed, as there; lists are not cut into blocks.
 *
 * All codecs and published methods have their tables and charts (grid.h). Before them the paper's: its four codecs for processors on one
 * thread (lab/lists), its own as published and ours, and its figures. It tells no speeds of figure 3 but in the plot. With --scale below 1
 * both the lists and their range are shorter, so that the gaps are those of the paper.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/grid.h"
#include "lab/lists/list_measure.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPARSE_BITS 16u
#define DENSE_BITS  25u
#define LIMIT_BITS  29u
#define LENGTHS     (DENSE_BITS - SPARSE_BITS + 1)
#define LISTS       4u /* of table 1 */

/* ---- What the paper says ---- */

/* A method of table 1, in its order. */
static const struct method {
    const char *name;
    const char *codec;   /* of a GPU: the name of its row in the grid; NULL: a processor's, */
    uint32_t list_codec; /* which is this */
    double bits[LISTS];  /* table 1: uniform sparse and dense, clustered sparse and dense */
} methods[] = {
    {"BP32", NULL, LIST_BP32, {15.71, 6.67, 13.91, 5.40}},
    {"SIMD-BP", NULL, LIST_SIMD_BP, {16.04, 6.99, 14.26, 5.60}},
    {"GPU-BP128", "gpu-bp128", 0, {16.22, 7.18, 14.45, 5.79}},
    {"GPU-BP256", "gpu-bp256", 0, {16.20, 7.18, 14.58, 5.86}},
    {"VarintGB", NULL, LIST_VARINT_GB, {17.76, 10.00, 16.27, 10.02}},
    {"StreamVByte", NULL, LIST_STREAM_VBYTE, {17.76, 10.00, 16.27, 10.02}},
    {"GPU-VByte128", "gpu-vbyte128", 0, {18.16, 10.50, 16.68, 10.52}},
    {"GPU-VByte1024", "gpu-vbyte1024", 0, {17.78, 10.06, 16.27, 10.08}},
};
#define METHODS (sizeof methods / sizeof *methods)

/* Table 3, on the V100: a codec for processors, and how many times as fast two of the GPU's are, by length. */
#define FASTER 2u
static const struct comparison {
    uint32_t slower, faster[FASTER]; /* rows of `methods` */
    double times[FASTER][LENGTHS];
} comparisons[] = {
    {0,
     {2, 3},
     {{2.94, 7.09, 12.27, 19.57, 26.80, 33.58, 37.02, 48.20, 54.83, 63.29},
      {3.31, 7.82, 13.45, 23.81, 37.39, 37.69, 43.61, 56.52, 67.28, 78.02}}},
    {4,
     {6, 7},
     {{6.26, 11.62, 21.19, 34.33, 49.79, 60.75, 74.76, 36.03, 35.96, 36.19},
      {6.47, 11.94, 20.48, 31.71, 44.29, 52.10, 61.71, 29.85, 29.43, 29.46}}},
    {1,
     {2, 3},
     {{1.58, 2.99, 5.35, 8.70, 11.89, 14.81, 16.68, 37.18, 44.89, 47.95},
      {1.77, 3.30, 5.86, 10.58, 16.59, 16.63, 19.65, 43.60, 55.09, 59.11}}},
    {5,
     {6, 7},
     {{1.53, 2.89, 5.24, 8.41, 11.82, 12.74, 14.39, 29.26, 36.66, 37.05},
      {1.58, 2.97, 5.06, 7.76, 10.52, 10.93, 11.88, 24.24, 30.00, 30.15}}},
};
#define COMPARISONS (sizeof comparisons / sizeof *comparisons)

/* The paper's remarks on figure 3, as ratios of two speeds; its own follow from table 3, where that has them (0: it has not). */
enum { SHORTEST, LONGEST = LENGTHS - 1 };
static const struct remark {
    const char *text;
    uint32_t method, length, to_method, to_length;
    double paper;
} remarks[] = {
    {"SIMD-BP to BP32, shortest list", 1, SHORTEST, 0, SHORTEST, 2.94 / 1.58},
    {"SIMD-BP to BP32, longest list", 1, LONGEST, 0, LONGEST, 63.29 / 47.95},
    {"StreamVByte to VarintGB, shortest list", 5, SHORTEST, 4, SHORTEST, 6.26 / 1.53},
    {"StreamVByte to VarintGB, longest list", 5, LONGEST, 4, LONGEST, 36.19 / 37.05},
    {"BP32, longest list to shortest", 0, LONGEST, 0, SHORTEST, 0},
    {"GPU-BP128, longest list to shortest", 2, LONGEST, 2, SHORTEST, 0},
    {"GPU-BP256, longest list to shortest", 3, LONGEST, 3, SHORTEST, 0},
    {"GPU-BP256 to GPU-BP128, longest list", 3, LONGEST, 2, LONGEST, 78.02 / 63.29},
    {"GPU-VByte1024 to GPU-VByte128, longest list", 7, LONGEST, 6, LONGEST, 29.46 / 36.19},
    {"GPU-BP128 to GPU-VByte128, longest list", 2, LONGEST, 6, LONGEST, 0},
};

/* ---- Lists ---- */

static uint32_t rows_of(const struct lab *lab, uint32_t bits)
{
    return (uint32_t)lab_rows(lab, UINT64_C(1) << bits);
}

/* The d-gaps of a clustered list; the first one is the first integer and 1, as if the list began at -1. */
static void fill_clustered(uint32_t bits, uint32_t rows, uint64_t random, uint32_t *gaps)
{
    const double limit = (double)rows * (1u << (LIMIT_BITS - bits));
    list_clustered(gaps, rows, (uint32_t)limit, &random);
    for (uint32_t i = rows; i-- > 1;)
        gaps[i] -= gaps[i - 1];
    gaps[0]++;
}

static enum status clustered(struct lab *lab, uint32_t bits, struct dataset *dataset, struct error *error)
{
    const uint32_t rows = rows_of(lab, bits);
    uint32_t *list = NULL;
    RETURN_IF_ERROR(memory_take(&list, rows * sizeof *list, "a list", error));
    fill_clustered(bits, rows, bits, list);
    return dataset_adopt(lab, (int32_t *)list, rows, dataset, error);
}

static enum status uniform(struct lab *lab, uint32_t bits, struct dataset *dataset, struct error *error)
{
    const double mean = (double)(1u << (LIMIT_BITS - bits));
    return dataset_make(lab, "making a list", rows_of(lab, bits), fill_gaps, &mean, dataset, error);
}

typedef enum status make_list(struct lab *lab, uint32_t bits, struct dataset *dataset, struct error *error);

/* ---- Measuring ---- */

static const char *const charted[] = {"gpu-bp128",     "gpu-bp256", "gpu-vbyte128",
                                      "gpu-vbyte1024", "gpu-for",   "lane-for",
                                      "lane-pfor",     "plain",     NULL};

/* Lists measured by all: the points of the grid, and the codecs for processors at each. */
struct measured {
    struct grid grid;
    char title[64];
    struct list_codec codecs[LIST_CODECS];
    struct list_result results[GRID_POINTS_MAX][LIST_CODECS];
};

/* Thousand million integers a second; NaN: not measured. */
static double rate_of(uint64_t rows, const struct speed *speed)
{
    return speed->median > 0 ? (double)rows / speed->median * 1e-6 : NAN;
}

static enum status measure_serial(struct lab *lab, struct measured *measured, const struct dataset *dataset,
                                  struct error *error)
{
    const uint32_t point = measured->grid.point_count - 1;
    struct sheet *const log = measured->grid.log;
    char name[32];
    snprintf(name, sizeof name, "%" PRIu64, dataset->rows);
    for (uint32_t c = 0; c < LIST_CODECS; c++) {
        struct list_result *const result = &measured->results[point][c];
        progress_report(lab->progress, "decoding", "codecs for processors", c, LIST_CODECS);
        RETURN_IF_ERROR(list_measure(lab, &measured->codecs[c], (const uint32_t *)dataset->values,
                                     (uint32_t)dataset->rows, result, error));
        if (!log)
            continue;
        sheet_text(log, measured->grid.names[0] ? measured->grid.names[point] : name);
        sheet_text(log, measured->codecs[c].name);
        sheet_number(log, result->bits);
        sheet_number(log, rate_of(dataset->rows, &result->speed));
        sheet_missing(log, NULL);
        RETURN_IF_ERROR(lab_row_done(lab, log, error));
    }
    return STATUS_OK;
}

static enum status measure(struct lab *lab, struct measured *measured, make_list *make, uint32_t bits,
                           struct error *error)
{
    struct dataset dataset = {0};
    enum status status = make(lab, bits, &dataset, error);
    if (status == STATUS_OK)
        status = grid_measure(lab, &measured->grid, (double)dataset.rows, &dataset, error);
    if (status == STATUS_OK)
        status = measure_serial(lab, measured, &dataset, error);
    dataset_free(lab, &dataset);
    return status;
}

/* ---- Figures of a method ---- */

static double bits_of(const struct measured *measured, uint32_t point, const struct method *method)
{
    if (!method->codec)
        return measured->results[point][method->list_codec].bits;
    const double bits = measured->grid.cells[point][grid_row(method->codec)].bits;
    return bits > 0 ? bits : NAN;
}

enum whose { AS_PUBLISHED, OURS };
static const char *const whose_names[] = {"as published", "ours"};

/* Of a processor's method on one thread; of a GPU's NaN without one. */
static double rate(const struct lab *lab, const struct measured *measured, uint32_t point,
                   const struct method *method, enum whose whose)
{
    const struct grid *const grid = &measured->grid;
    char name[64];
    if (!method->codec)
        return rate_of(grid->rows[point], &measured->results[point][method->list_codec].speed);
    snprintf(name, sizeof name, "%s%s", method->codec, whose == OURS ? "" : ", published");
    return lab->cuda ? rate_of(grid->rows[point], &grid->cells[point][grid_row(name)].speed.memory) : NAN;
}

/* ---- The draws of clustered lists ---- */

#define SPARSE_DRAWS 100u
#define DENSE_DRAWS  8u

/* Sizes of a method over several clustered lists, which differ much: the model is drawn anew for each half of a list, and the first
 * halves decide. */
struct draws {
    double least, sum, most;
};

/* `gaps` and `stream` have room for a list. */
static void draw(const struct list_codec codecs[LIST_CODECS], uint32_t bits, uint32_t rows, uint32_t draw,
                 uint32_t *gaps, uint8_t *stream, struct draws draws[LIST_CODECS])
{
    fill_clustered(bits, rows, bits + ((uint64_t)draw << 32), gaps);
    for (uint32_t c = 0; c < LIST_CODECS; c++) {
        const double size = 8.0 * (double)codecs[c].encode(gaps, rows, stream) / rows;
        draws[c].least = draw == 0 || size < draws[c].least ? size : draws[c].least;
        draws[c].most = draw == 0 || size > draws[c].most ? size : draws[c].most;
        draws[c].sum += size;
    }
}

static enum status draw_all(struct lab *lab, const struct measured *measured, uint32_t bits, uint32_t count,
                            struct draws draws[LIST_CODECS], struct error *error)
{
    const uint32_t rows = rows_of(lab, bits);
    uint32_t *gaps = NULL;
    uint8_t *stream = NULL;
    enum status status = memory_take(&gaps, rows * sizeof *gaps, "a list", error);
    if (status == STATUS_OK)
        status = memory_take(&stream, LIST_BYTES_MAX(rows), "an encoded list", error);
    for (uint32_t d = 0; d < count && status == STATUS_OK; d++) {
        progress_report(lab->progress, "drawing", "clustered lists", d, count);
        draw(measured->codecs, bits, rows, d, gaps, stream, draws);
        status = cancel_check(error);
    }
    free(stream);
    free(gaps);
    return status;
}

static enum status show_draws(struct lab *lab, const struct measured *measured, struct error *error)
{
    static const struct {
        uint32_t bits, draws, list; /* list: of table 1 */
    } kinds[] = {{SPARSE_BITS, SPARSE_DRAWS, 2}, {DENSE_BITS, DENSE_DRAWS, 3}};
    static const struct sheet_column columns[] = {
        {.key = "integers", .name = "integers", .whole = true},
        {.key = "draws", .name = "draws", .whole = true},
        {.key = "method", .name = "method", .text = true},
        {.key = "least_bits", .name = "least", .group = "bits an integer", .digits = 2},
        {.key = "mean_bits", .name = "mean", .group = "bits an integer", .digits = 2},
        {.key = "most_bits", .name = "most", .group = "bits an integer", .digits = 2},
        {.key = "paper_bits", .name = "paper", .group = "bits an integer", .digits = 2},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct draws draws[LIST_CODECS] = {{0}};
        const enum status status = draw_all(lab, measured, kinds[k].bits, kinds[k].draws, draws, error);
        if (status != STATUS_OK) {
            sheet_destroy(sheet);
            return status;
        }
        for (size_t m = 0; m < METHODS; m++) {
            if (methods[m].codec)
                continue;
            const struct draws *const of = &draws[methods[m].list_codec];
            sheet_number(sheet, rows_of(lab, kinds[k].bits));
            sheet_number(sheet, kinds[k].draws);
            sheet_text(sheet, methods[m].name);
            sheet_number(sheet, of->least);
            sheet_number(sheet, of->sum / kinds[k].draws);
            sheet_number(sheet, of->most);
            sheet_number(sheet, methods[m].bits[kinds[k].list]);
        }
    }
    return lab_sheet(lab, "clustered lists: the paper's is one draw of many (table 1)", sheet, error);
}

/* ---- Table 1 ---- */

static enum status show_sizes(struct lab *lab, const struct measured *measured, struct error *error)
{
    struct sheet_column columns[1 + 2 * LISTS] = {{.key = "method", .name = "method", .text = true}};
    char keys[2 * LISTS][32], caption[128];
    struct sheet *sheet;
    for (uint32_t l = 0; l < LISTS; l++) {
        const char *const name = measured->grid.names[l];
        snprintf(keys[2 * l], sizeof *keys, "bits %s", name);
        snprintf(keys[2 * l + 1], sizeof *keys, "paper bits %s", name);
        for (uint32_t k = 2 * l; k < 2 * l + 2; k++) {
            lab_key(keys[k]);
            columns[1 + k] = (struct sheet_column){
                .key = keys[k], .name = k % 2 ? "paper" : "here", .group = name, .digits = 2};
        }
    }
    snprintf(caption, sizeof caption, "bits an integer: %s; the paper's have 2^%u and 2^%u (table 1)",
             measured->title, SPARSE_BITS, DENSE_BITS);
    RETURN_IF_ERROR(sheet_create(columns, 1 + 2 * LISTS, &sheet, error));
    for (size_t m = 0; m < METHODS; m++) {
        sheet_text(sheet, methods[m].name);
        for (uint32_t l = 0; l < LISTS; l++) {
            sheet_number(sheet, bits_of(measured, l, &methods[m]));
            sheet_number(sheet, methods[m].bits[l]);
        }
    }
    return lab_sheet(lab, caption, sheet, error);
}

static enum status sizes(struct lab *lab, struct measured *measured, struct error *error)
{
    static const struct {
        const char *name;
        make_list *make;
        uint32_t bits;
    } lists[LISTS] = {
        {"uniform sparse", uniform, SPARSE_BITS},
        {"uniform dense", uniform, DENSE_BITS},
        {"clustered sparse", clustered, SPARSE_BITS},
        {"clustered dense", clustered, DENSE_BITS},
    };
    snprintf(measured->title, sizeof measured->title, "lists of %u and %u integers",
             rows_of(lab, SPARSE_BITS), rows_of(lab, DENSE_BITS));
    measured->grid =
        (struct grid){.title = measured->title, .x.title = "list", .charted = charted, .rates = true};
    for (uint32_t l = 0; l < LISTS; l++) {
        measured->grid.names[l] = lists[l].name;
        RETURN_IF_ERROR(measure(lab, measured, lists[l].make, lists[l].bits, error));
    }
    RETURN_IF_ERROR(show_sizes(lab, measured, error));
    RETURN_IF_ERROR(show_draws(lab, measured, error));
    return grid_report(lab, &measured->grid, error);
}

/* ---- Figure 3 ---- */

#define SPEEDS (METHODS + 4) /* a processor's method has one, a GPU's two */

static enum status chart_speeds(struct lab *lab, const struct measured *measured, struct error *error)
{
    const struct chart_form form = {
        .kind = CHART_LINES,
        .title = "uniform lists: speed of decoding (figure 3)",
        .x = {.title = "length of the list", .scale = CHART_LOG2},
        .y = {.title = "decode to memory", .unit = "G integers/s", .scale = CHART_LOG10}};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (size_t m = 0; m < METHODS; m++)
        for (int whose = AS_PUBLISHED; whose <= (methods[m].codec ? OURS : AS_PUBLISHED); whose++) {
            char name[64];
            if (isnan(rate(lab, measured, 0, &methods[m], (enum whose)whose)))
                continue;
            snprintf(name, sizeof name, "%s%s%s", methods[m].name, methods[m].codec ? ", " : "",
                     methods[m].codec ? whose_names[whose] : "");
            chart_series(chart, name);
            for (uint32_t p = 0; p < LENGTHS; p++)
                chart_point(
                    chart, (struct chart_point){.x = measured->grid.points[p],
                                                .y = rate(lab, measured, p, &methods[m], (enum whose)whose)});
        }
    return lab_chart(lab, chart, error);
}

static void speed_cell(const struct lab *lab, struct sheet *sheet, const struct method *method, double number)
{
    if (method->codec && !lab->cuda)
        sheet_missing(sheet, "no GPU");
    else
        sheet_number(sheet, number);
}

static enum status show_speeds(struct lab *lab, const struct measured *measured, struct error *error)
{
    struct sheet_column columns[1 + SPEEDS] = {{.key = "integers", .name = "integers", .whole = true}};
    char keys[SPEEDS][64];
    struct sheet *sheet;
    uint32_t c = 0;
    for (size_t m = 0; m < METHODS; m++)
        for (int whose = AS_PUBLISHED; whose <= (methods[m].codec ? OURS : AS_PUBLISHED); whose++, c++) {
            snprintf(keys[c], sizeof *keys, "%s%s%s gintegers_per_second", methods[m].name,
                     methods[m].codec ? " " : "", methods[m].codec ? whose_names[whose] : "");
            lab_key(keys[c]);
            columns[1 + c] =
                (struct sheet_column){.key = keys[c],
                                      .name = methods[m].codec ? whose_names[whose] : "one thread",
                                      .group = methods[m].name,
                                      .digits = methods[m].codec ? 1 : 2};
        }
    RETURN_IF_ERROR(sheet_create(columns, 1 + SPEEDS, &sheet, error));
    for (uint32_t p = 0; p < LENGTHS; p++) {
        sheet_number(sheet, (double)measured->grid.rows[p]);
        for (size_t m = 0; m < METHODS; m++)
            for (int whose = AS_PUBLISHED; whose <= (methods[m].codec ? OURS : AS_PUBLISHED); whose++)
                speed_cell(lab, sheet, &methods[m], rate(lab, measured, p, &methods[m], (enum whose)whose));
    }
    return lab_sheet(lab, "uniform lists: G integers/s decoded to memory (figure 3)", sheet, error);
}

static enum status show_remarks(struct lab *lab, const struct measured *measured, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "remark", .name = "speed", .text = true},
        {.key = "as_published", .name = "as published", .suffix = "x", .digits = 2},
        {.key = "ours", .name = "ours", .suffix = "x", .digits = 2},
        {.key = "paper", .name = "paper", .suffix = "x", .digits = 2},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    for (size_t r = 0; r < sizeof remarks / sizeof *remarks; r++) {
        const struct remark *const remark = &remarks[r];
        const struct method *const method = &methods[remark->method];
        const struct method *const to = &methods[remark->to_method];
        sheet_text(sheet, remark->text);
        for (int whose = AS_PUBLISHED; whose <= OURS; whose++)
            if (method->codec || whose == AS_PUBLISHED)
                speed_cell(lab, sheet, method,
                           rate(lab, measured, remark->length, method, (enum whose)whose) /
                               rate(lab, measured, remark->to_length, to, (enum whose)whose));
            else
                sheet_missing(sheet, NULL);
        sheet_number(sheet, remark->paper > 0 ? remark->paper : NAN);
    }
    return lab_sheet(lab, "uniform lists: the paper's remarks on speeds (section 4; paper: from table 3)",
                     sheet, error);
}

/* ---- Table 3 ---- */

static enum status show_speedups(struct lab *lab, const struct measured *measured,
                                 const struct comparison *comparison, struct error *error)
{
    static const char *const names[] = {"as published", "ours", "paper"};
    const struct method *const slower = &methods[comparison->slower];
    struct sheet_column columns[2 + 3 * FASTER] = {
        {.key = "integers", .name = "integers", .whole = true},
        {.key = "paper_integers", .name = "the paper's", .whole = true}};
    char keys[3 * FASTER][64], caption[128];
    struct sheet *sheet;
    for (uint32_t k = 0; k < 3 * FASTER; k++) {
        const char *const name = methods[comparison->faster[k / 3]].name;
        snprintf(keys[k], sizeof *keys, "%s %s", name, names[k % 3]);
        lab_key(keys[k]);
        columns[2 + k] = (struct sheet_column){
            .key = keys[k], .name = names[k % 3], .group = name, .suffix = "x", .digits = 2};
    }
    snprintf(caption, sizeof caption, "uniform lists: speed-up over %s on one thread (table 3; paper: V100)",
             slower->name);
    RETURN_IF_ERROR(sheet_create(columns, 2 + 3 * FASTER, &sheet, error));
    for (uint32_t p = 0; p < LENGTHS; p++) {
        const double base = rate(lab, measured, p, slower, OURS);
        sheet_number(sheet, (double)measured->grid.rows[p]);
        sheet_number(sheet, (double)(UINT64_C(1) << (SPARSE_BITS + p)));
        for (uint32_t f = 0; f < FASTER; f++) {
            const struct method *const faster = &methods[comparison->faster[f]];
            speed_cell(lab, sheet, faster, rate(lab, measured, p, faster, AS_PUBLISHED) / base);
            speed_cell(lab, sheet, faster, rate(lab, measured, p, faster, OURS) / base);
            sheet_number(sheet, comparison->times[f][p]);
        }
    }
    return lab_sheet(lab, caption, sheet, error);
}

static enum status lengths(struct lab *lab, struct measured *measured, struct error *error)
{
    measured->grid = (struct grid){.title = "uniform lists",
                                   .x = {.title = "length of the list", .scale = CHART_LOG2},
                                   .charted = charted,
                                   .rates = true};
    for (uint32_t bits = SPARSE_BITS; bits <= DENSE_BITS; bits++)
        RETURN_IF_ERROR(measure(lab, measured, uniform, bits, error));
    RETURN_IF_ERROR(chart_speeds(lab, measured, error));
    RETURN_IF_ERROR(show_speeds(lab, measured, error));
    RETURN_IF_ERROR(show_remarks(lab, measured, error));
    for (size_t c = 0; c < COMPARISONS; c++)
        RETURN_IF_ERROR(show_speedups(lab, measured, &comparisons[c], error));
    return grid_report(lab, &measured->grid, error);
}

enum status lab_posting_lists(struct lab *lab, struct error *error)
{
    struct measured *measured = NULL;
    RETURN_IF_ERROR(memory_zeros(&measured, sizeof *measured, "figures", error));
    list_codecs_get(isa_level(), measured->codecs);
    enum status status = sizes(lab, measured, error);
    if (status == STATUS_OK)
        status = lengths(lab, measured, error);
    free(measured);
    return status;
}
