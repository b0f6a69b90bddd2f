/* grid.c: see grid.h. */
#include "lab/bench/grid.h"

#include "lab/bench/kernel.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINT_NAME_BYTES 32u
#define LOG_NAME         16 /* characters of a point's name in the lines that people see meanwhile */

/* ---- Rows ---- */

const char *grid_row_name(uint32_t row)
{
    if (row < GRID_PUBLISHED)
        return codec_by_id(row)->name;
    return row < GRID_NVCOMP ? published_methods[row - GRID_PUBLISHED].name
                             : nvcomp_schemes[row - GRID_NVCOMP];
}

uint32_t grid_row(const char *name)
{
    for (uint32_t row = 1; row < GRID_ROWS; row++)
        if (strcmp(grid_row_name(row), name) == 0)
            return row;
    return 0;
}

static uint32_t row_count(const struct grid *grid)
{
    return grid->nvcomp ? GRID_ROWS : GRID_NVCOMP;
}

/* The number of the codec whose chunks a published method decodes. */
static uint32_t method_codec(uint32_t method)
{
    return codec_by_name(published_methods[method].codec)->id;
}

static bool is_left_out(const struct lab *lab, uint32_t row)
{
    if (row >= GRID_PUBLISHED && row < GRID_NVCOMP)
        return !lab->cuda || lab->left_out[method_codec(row - GRID_PUBLISHED)];
    return row < CODEC_COUNT && lab->left_out[row];
}

bool grid_shows(const struct lab *lab, const struct grid *grid, uint32_t row)
{
    return row > 0 && row < row_count(grid) && !is_left_out(lab, row);
}

static const char *paper_name(const struct grid *grid, uint32_t row)
{
    for (const struct grid_paper *paper = grid->paper; paper->row; paper++)
        if (strcmp(paper->row, grid_row_name(row)) == 0)
            return paper->name;
    return NULL;
}

/* ---- Figures ---- */

/* A figure of a cell; NaN: missing. */
typedef struct chart_point grid_figure(const struct grid *grid, uint32_t point, uint32_t row);

static struct chart_point time_point(double x, const struct speed *speed)
{
    if (speed->median <= 0)
        return (struct chart_point){.x = x, .y = NAN};
    return (struct chart_point){.x = x, .y = speed->median, .low = speed->least, .high = speed->most};
}

static struct chart_point figure_bits(const struct grid *grid, uint32_t point, uint32_t row)
{
    const double bits = grid->cells[point][row].bits;
    return (struct chart_point){.x = grid->points[point], .y = bits > 0 ? bits : NAN};
}

static struct chart_point figure_memory(const struct grid *grid, uint32_t point, uint32_t row)
{
    return time_point(grid->points[point], &grid->cells[point][row].speed.memory);
}

static struct chart_point figure_sum(const struct grid *grid, uint32_t point, uint32_t row)
{
    return time_point(grid->points[point], &grid->cells[point][row].speed.sum);
}

/* Thousand million values a second. */
static struct chart_point rate_point(const struct grid *grid, uint32_t point, struct chart_point time)
{
    const double rows = (double)grid->rows[point] * 1e-6;
    return (struct chart_point){
        .x = time.x, .y = rows / time.y, .low = rows / time.high, .high = rows / time.low};
}

static struct chart_point rate_memory(const struct grid *grid, uint32_t point, uint32_t row)
{
    return rate_point(grid, point, figure_memory(grid, point, row));
}

static struct chart_point rate_sum(const struct grid *grid, uint32_t point, uint32_t row)
{
    return rate_point(grid, point, figure_sum(grid, point, row));
}

#define METRICS 3u
static const struct grid_metric {
    const char *key, *name, *unit;
    uint32_t digits;
    grid_figure *figure;
} metrics_of[2][METRICS] = {
    {{"bits", "size", "bits a value", 2, figure_bits},
     {"memory_ms", "decode to memory", "ms", 4, figure_memory},
     {"sum_ms", "decode and sum", "ms", 4, figure_sum}},
    {{"bits", "size", "bits a value", 2, figure_bits},
     {"memory_gvalues_per_second", "decode to memory", "G values/s", 1, rate_memory},
     {"sum_gvalues_per_second", "decode and sum", "G values/s", 1, rate_sum}},
};

/* ---- Measuring ---- */

/* The table of single measurements. */
static enum status begin_log(struct lab *lab, struct grid *grid, struct error *error)
{
    const struct grid_metric *const metrics = metrics_of[grid->rates];
    struct sheet_column columns[METRICS + 2] = {
        {.key = "x", .name = grid->x.title ? grid->x.title : "data", .text = true, .width = LOG_NAME},
        {.key = "codec", .name = "codec", .text = true}};
    char caption[160];
    for (uint32_t m = 0; m < METRICS; m++)
        columns[m + 2] = (struct sheet_column){.key = metrics[m].key,
                                               .name = metrics[m].name,
                                               .unit = metrics[m].unit,
                                               .digits = metrics[m].digits};
    snprintf(caption, sizeof caption, "%s, as measured", grid->title);
    return lab_log(lab, caption, columns, METRICS + 2, &grid->log, error);
}

static void point_name(const struct grid *grid, uint32_t point, char name[POINT_NAME_BYTES])
{
    if (grid->names[0])
        snprintf(name, POINT_NAME_BYTES, "%s", grid->names[point]);
    else
        snprintf(name, POINT_NAME_BYTES, "%.10g", grid->points[point]);
}

/* A line of what was measured of the point that is not counted yet. */
static enum status log_row(struct lab *lab, const struct grid *grid, uint32_t row, struct error *error)
{
    const struct grid_cell *const cell = &grid->cells[grid->point_count][row];
    char name[POINT_NAME_BYTES];
    if (!grid->log)
        return STATUS_OK;
    point_name(grid, grid->point_count, name);
    sheet_text(grid->log, name);
    sheet_text(grid->log, grid_row_name(row));
    for (uint32_t m = 0; m < METRICS; m++)
        if (m == 0 && !(cell->bits > 0))
            sheet_missing(grid->log, "cannot hold them");
        else
            sheet_number(grid->log, metrics_of[grid->rates][m].figure(grid, grid->point_count, row).y);
    return lab_row_done(lab, grid->log, error);
}

/* All codecs' chunks of one dataset. Their kernels are compiled side by side, because that takes most of the time. */
struct round {
    struct lab *lab;
    struct encoded encoded[CODEC_COUNT];
    _Atomic uint64_t compiled;
};

static enum status compile_codec(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct round *const round = context;
    const struct encoded *const encoded = &round->encoded[item + 1];
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (encoded->chunk_count)
        RETURN_IF_ERROR(decode_compile(round->lab, encoded, error));
    progress_report(round->lab->progress, "compiling kernels", "codecs", ++round->compiled, CODEC_COUNT - 1);
    return STATUS_OK;
}

static enum status compile_method(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct round *const round = context;
    char why[NVCOMP_WHY_BYTES];
    (void)thread;
    if (is_left_out(round->lab, GRID_PUBLISHED + (uint32_t)item) ||
        !published_is_here(&published_methods[item], why, sizeof why))
        return STATUS_OK;
    return published_compile(round->lab, &published_methods[item], error);
}

static enum status measure_published(struct lab *lab, struct round *round, const struct dataset *dataset,
                                     struct grid *grid, struct error *error)
{
    RETURN_IF_ERROR(parallel_for(lab->threads, PUBLISHED_METHODS, compile_method, round, error));
    for (uint32_t m = 0; m < PUBLISHED_METHODS; m++) {
        const uint32_t row = GRID_PUBLISHED + m;
        struct grid_cell *const cell = &grid->cells[grid->point_count][row];
        const struct encoded *const encoded = &round->encoded[method_codec(m)];
        progress_report(lab->progress, "decoding", "published methods", m, PUBLISHED_METHODS);
        if (is_left_out(lab, row) || !encoded->chunk_count ||
            !published_is_here(&published_methods[m], cell->why, sizeof cell->why))
            continue;
        cell->bits = encoded_bits(encoded);
        RETURN_IF_ERROR(published_measure(lab, &published_methods[m], dataset, encoded, &cell->speed, error));
        RETURN_IF_ERROR(log_row(lab, grid, row, error));
    }
    return STATUS_OK;
}

static enum status measure_codecs(struct lab *lab, struct round *round, const struct dataset *dataset,
                                  struct grid *grid, struct error *error)
{
    struct grid_cell *const cells = grid->cells[grid->point_count];
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        struct encoded *const encoded = &round->encoded[id];
        if (lab->left_out[id])
            continue;
        RETURN_IF_ERROR(encoded_make(lab, codec_by_id(id), dataset, encoded, error));
        if (!encoded->chunk_count)
            continue;
        cells[id].bits = encoded_bits(encoded);
        cells[id].encode_seconds = encoded->seconds;
    }
    if (lab->cuda)
        RETURN_IF_ERROR(parallel_for(lab->threads, CODEC_COUNT - 1, compile_codec, round, error));
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        progress_report(lab->progress, "decoding", "codecs", id, CODEC_COUNT - 1);
        if (cells[id].bits > 0)
            RETURN_IF_ERROR(decode_measure(lab, dataset, &round->encoded[id], &cells[id].speed, error));
        if (!lab->left_out[id])
            RETURN_IF_ERROR(log_row(lab, grid, id, error));
    }
    return lab->cuda ? measure_published(lab, round, dataset, grid, error) : STATUS_OK;
}

static enum status measure_nvcomp(struct lab *lab, const struct dataset *dataset, struct grid *grid,
                                  struct error *error)
{
    for (uint32_t s = 0; s < NVCOMP_SCHEMES; s++) {
        struct grid_cell *const cell = &grid->cells[grid->point_count][GRID_NVCOMP + s];
        struct nvcomp_result result;
        progress_report(lab->progress, "decoding", "schemes of nvCOMP", s, NVCOMP_SCHEMES);
        RETURN_IF_ERROR(nvcomp_measure(grid->nvcomp, s, dataset, &result, error));
        cell->bits = result.bits;
        cell->speed.memory = result.memory;
        memcpy(cell->why, result.why, sizeof cell->why);
        if (!*cell->why)
            RETURN_IF_ERROR(log_row(lab, grid, GRID_NVCOMP + s, error));
    }
    return STATUS_OK;
}

enum status grid_measure(struct lab *lab, struct grid *grid, double x, const struct dataset *dataset,
                         struct error *error)
{
    struct round *round = NULL;
    RETURN_IF_ERROR(memory_zeros(&round, sizeof *round, "encoded columns", error));
    round->lab = lab;
    grid->rows[grid->point_count] = dataset->rows;
    grid->points[grid->point_count] = x;
    enum status status = grid->point_count == 0 ? begin_log(lab, grid, error) : STATUS_OK;
    if (status == STATUS_OK)
        status = measure_codecs(lab, round, dataset, grid, error);
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        encoded_free(&round->encoded[id]);
    free(round);
    if (status == STATUS_OK && grid->nvcomp)
        status = measure_nvcomp(lab, dataset, grid, error);
    grid->point_count++;
    return status;
}

/* ---- Reporting ---- */

/* Why a row has missing figures, or "". */
static const char *note_of(const struct grid *grid, uint32_t row)
{
    for (uint32_t p = 0; p < grid->point_count; p++)
        if (*grid->cells[p][row].why)
            return grid->cells[p][row].why;
    return "";
}

/* The tables' first columns, and those of the points. `names` and `keys` are room for texts. Gives the number. */
static uint32_t make_columns(const struct grid *grid, const struct grid_metric *metric, const char *group,
                             char names[][POINT_NAME_BYTES], char keys[][64], struct sheet_column *columns)
{
    uint32_t count = 0;
    columns[count++] = (struct sheet_column){.key = "codec", .name = "codec", .text = true};
    if (grid->paper)
        columns[count++] =
            (struct sheet_column){.key = "paper", .name = "in the paper", .text = true, .label = true};
    for (uint32_t p = 0; p < grid->point_count; p++) {
        point_name(grid, p, names[p]);
        snprintf(keys[p], sizeof keys[p], "%s_%s", metric->key, names[p]);
        lab_key(keys[p]);
        columns[count++] =
            (struct sheet_column){.key = keys[p], .name = names[p], .group = group, .digits = metric->digits};
    }
    return count;
}

static enum status make_sheet(const struct lab *lab, const struct grid *grid,
                              const struct grid_metric *metric, struct sheet **sheet, struct error *error)
{
    struct sheet_column columns[GRID_POINTS_MAX + 3];
    const bool has_notes = grid->nvcomp || lab->cuda; /* peers and published methods may be missing */
    char names[GRID_POINTS_MAX][POINT_NAME_BYTES], keys[GRID_POINTS_MAX][64], group[96];
    snprintf(group, sizeof group, "%s%s%s", metric->name, grid->x.title ? ", by " : "",
             grid->x.title ? grid->x.title : "");
    uint32_t count = make_columns(grid, metric, group, names, keys, columns);
    if (has_notes)
        columns[count++] = (struct sheet_column){.key = "note", .name = "", .text = true};
    RETURN_IF_ERROR(sheet_create(columns, count, sheet, error));
    for (uint32_t row = 1; row < row_count(grid); row++) {
        if (is_left_out(lab, row))
            continue;
        sheet_text(*sheet, grid_row_name(row));
        if (grid->paper)
            sheet_text(*sheet, paper_name(grid, row));
        for (uint32_t p = 0; p < grid->point_count; p++)
            sheet_number(*sheet, metric->figure(grid, p, row).y);
        if (has_notes)
            sheet_text(*sheet, note_of(grid, row));
    }
    return STATUS_OK;
}

static bool is_charted(const struct grid *grid, const char *name)
{
    for (const char *const *charted = grid->charted; charted && *charted; charted++)
        if (strcmp(*charted, name) == 0)
            return true;
    return !grid->charted;
}

static enum status make_chart(const struct lab *lab, const struct grid *grid,
                              const struct grid_metric *metric, struct chart **chart, struct error *error)
{
    char title[160];
    snprintf(title, sizeof title, "%s: %s", grid->title, metric->name);
    const struct chart_form form = {
        .kind = grid->names[0] ? CHART_BARS : CHART_LINES,
        .title = title,
        .x = grid->x,
        .y = {.title = metric->name,
              .unit = metric->unit,
              .scale = metric->figure == figure_bits || grid->names[0] ? CHART_LINEAR : CHART_LOG10},
        .categories = grid->names[0] ? grid->names : NULL,
        .category_count = grid->point_count};
    RETURN_IF_ERROR(chart_create(&form, chart, error));
    for (uint32_t row = 1; row < row_count(grid); row++) {
        if (is_left_out(lab, row) || !is_charted(grid, grid_row_name(row)) || *note_of(grid, row))
            continue;
        chart_series(*chart, grid_row_name(row));
        for (uint32_t p = 0; p < grid->point_count; p++) {
            struct chart_point point = metric->figure(grid, p, row);
            point.x = grid->names[0] ? p : point.x; /* of the categories */
            chart_point(*chart, point);
        }
    }
    return STATUS_OK;
}

/* ": size, bits a value; 2500000 values each", or without the number where the datasets differ in it. */
static void make_caption(const struct grid *grid, const struct grid_metric *metric, char caption[200])
{
    bool alike = grid->point_count > 0;
    for (uint32_t p = 1; p < grid->point_count; p++)
        alike = alike && grid->rows[p] == grid->rows[0];
    const int length = snprintf(caption, 200, "%s: %s, %s", grid->title, metric->name, metric->unit);
    if (alike)
        snprintf(caption + length, 200 - (size_t)length, "; %" PRIu64 " values each", grid->rows[0]);
}

enum status grid_report(struct lab *lab, const struct grid *grid, struct error *error)
{
    const struct grid_metric *const metrics = metrics_of[grid->rates];
    for (uint32_t m = 0; m < METRICS; m++) {
        struct chart *chart;
        struct sheet *sheet;
        char caption[200];
        make_caption(grid, &metrics[m], caption);
        if (!grid->charted || grid->charted[0]) {
            RETURN_IF_ERROR(make_chart(lab, grid, &metrics[m], &chart, error));
            RETURN_IF_ERROR(lab_chart(lab, chart, error));
        }
        RETURN_IF_ERROR(make_sheet(lab, grid, &metrics[m], &sheet, error));
        RETURN_IF_ERROR(lab_sheet(lab, caption, sheet, error));
    }
    return STATUS_OK;
}
