/* bitmap_crossover.c: see bitmap_crossover.h. */
#include "lab/bitmaps/bitmap_crossover.h"

#include "lab/bitmaps/bitmap_scan.h"

#include <math.h>
#include <stdio.h>

#define ROWS UINT64_C(250000000)

/* Bits of a value; the ranges have 1 .. 2^(bits - 1) values. */
static const uint32_t widths[] = {3, 5, 7, 9, 11};
#define WIDTHS        ((uint32_t)(sizeof widths / sizeof *widths))
#define RANGES_MAX    11u
#define CAPTION_BYTES 96u

struct point {
    uint64_t index_bytes;
    struct speed index[2], scan[2]; /* on the processor and on the GPU */
};

struct crossover {
    const struct codec *codec;
    struct lab *lab;
    const struct bitmap_kernels *kernels;
    uint64_t rows, scan_bytes[WIDTHS];
    struct point points[WIDTHS][RANGES_MAX]; /* the range has 2^i vectors */
    struct sheet *sheet; /* the processor's table, which grows while ranges are measured */
};

static const char *const devices[2] = {"one thread of the processor", "the GPU"};

/* A range begins above a quarter of the values, so that the scan has two bounds to test. */
static int32_t first_value(uint32_t width)
{
    return (1 << width) / 4 + 1;
}

/* ---- Tables ---- */

static enum status create_table(struct sheet **sheet, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "values", .name = "values", .whole = true},
        {.key = "vectors", .name = "vectors", .whole = true},
        {.key = "rows", .name = "rows", .unit = "M", .scale = 1e-6, .significant = 3},
        {.key = "index_bytes",
         .name = "size",
         .unit = "MB",
         .group = "index",
         .scale = 1e-6,
         .significant = 4},
        {.key = "index_ms", .name = "ms", .group = "index", .significant = 3},
        {.key = "scan_bytes", .name = "size", .unit = "MB", .group = "scan", .scale = 1e-6, .significant = 4},
        {.key = "scan_ms", .name = "ms", .group = "scan", .significant = 3},
        {.key = "speedup", .name = "speed-up", .suffix = "x", .digits = 2},
    };
    return sheet_create(columns, sizeof columns / sizeof *columns, sheet, error);
}

static void add_point(const struct crossover *crossover, uint32_t w, uint32_t r, uint32_t device,
                      struct sheet *sheet)
{
    const struct point *const point = &crossover->points[w][r];
    sheet_number(sheet, 1u << widths[w]);
    sheet_number(sheet, 1u << r);
    sheet_number(sheet, (double)crossover->rows);
    sheet_number(sheet, (double)point->index_bytes);
    sheet_number(sheet, point->index[device].median);
    sheet_number(sheet, (double)crossover->scan_bytes[w]);
    sheet_number(sheet, point->scan[device].median);
    sheet_number(sheet, point->scan[device].median / point->index[device].median);
}

static void write_caption(uint32_t device, char caption[CAPTION_BYTES])
{
    snprintf(caption, CAPTION_BYTES, "index against scan on %s", devices[device]);
}

/* ---- Measuring ---- */

static enum status measure_ranges(struct crossover *crossover, uint32_t w, struct bitmap_scan *scan,
                                  struct error *error)
{
    const int32_t low = first_value(widths[w]);
    for (uint32_t r = 0; r < widths[w]; r++) {
        struct point *const point = &crossover->points[w][r];
        const uint32_t count = 1u << r;
        for (uint32_t v = 0; v < count; v++)
            point->index_bytes += scan->set->vectors[v].count * sizeof(uint64_t);
        RETURN_IF_ERROR(bitmap_scan_cpu(scan, low, count, &point->index[0], &point->scan[0], error));
        if (crossover->lab->cuda)
            RETURN_IF_ERROR(bitmap_scan_cuda(scan, low, count, &point->index[1], &point->scan[1], error));
        add_point(crossover, w, r, 0, crossover->sheet);
        RETURN_IF_ERROR(lab_row_done(crossover->lab, crossover->sheet, error));
    }
    return STATUS_OK;
}

static enum status measure_index(struct crossover *crossover, uint32_t w, const struct dataset *dataset,
                                 const struct encoded *encoded, struct error *error)
{
    static const struct bitmap_kind kind = {.name = "a range of a uniform column"};
    struct lab *const lab = crossover->lab;
    struct bitmap_set set;
    struct bitmap_scan scan = {.lab = lab, .kernels = crossover->kernels, .set = &set, .encoded = encoded};
    enum status status = bitmap_set_of_values(lab, &kind, dataset->values, dataset->rows,
                                              first_value(widths[w]), 1u << (widths[w] - 1), &set, error);
    if (status == STATUS_OK)
        status = bitmap_scan_open(&scan, error);
    if (status == STATUS_OK)
        status = measure_ranges(crossover, w, &scan, error);
    bitmap_scan_close(&scan);
    bitmap_set_free(&set);
    return status;
}

static enum status measure_width(struct crossover *crossover, uint32_t w, struct error *error)
{
    struct lab *const lab = crossover->lab;
    struct lab host = *lab; /* the values are for the host alone */
    struct dataset dataset;
    struct encoded encoded = {0};
    host.cuda = NULL;
    enum status status =
        dataset_make(&host, "a uniform column", crossover->rows, fill_uniform, &widths[w], &dataset, error);
    if (status == STATUS_OK)
        status = encoded_make(lab, crossover->codec, &dataset, &encoded, error);
    crossover->scan_bytes[w] = encoded.bytes;
    if (status == STATUS_OK)
        status = measure_index(crossover, w, &dataset, &encoded, error);
    encoded_free(&encoded);
    dataset_free(&host, &dataset);
    return status;
}

static enum status measure_widths(struct crossover *crossover, const char *caption, struct error *error)
{
    struct lab *const lab = crossover->lab;
    RETURN_IF_ERROR(lab_begin(lab, caption, crossover->sheet, error));
    for (uint32_t w = 0; w < WIDTHS; w++) {
        progress_report(lab->progress, "comparing with scans", "columns", w, WIDTHS);
        RETURN_IF_ERROR(measure_width(crossover, w, error));
    }
    return STATUS_OK;
}

/* Measures all; a row of the processor's table each. */
static enum status measure_all(struct crossover *crossover, struct error *error)
{
    char caption[CAPTION_BYTES];
    write_caption(0, caption);
    RETURN_IF_ERROR(create_table(&crossover->sheet, error));
    const enum status status = measure_widths(crossover, caption, error);
    if (status == STATUS_OK)
        return lab_sheet(crossover->lab, caption, crossover->sheet, error);
    sheet_destroy(crossover->sheet);
    return status;
}

/* ---- What follows from all ---- */

static enum status show_gpu(const struct crossover *crossover, struct error *error)
{
    char caption[CAPTION_BYTES];
    struct sheet *sheet;
    write_caption(1, caption);
    RETURN_IF_ERROR(create_table(&sheet, error));
    for (uint32_t w = 0; w < WIDTHS; w++)
        for (uint32_t r = 0; r < widths[w]; r++)
            add_point(crossover, w, r, 1, sheet);
    return lab_sheet(crossover->lab, caption, sheet, error);
}

/* The most vectors of a range up to which every range is at least as fast by the index; 0: none. */
static uint32_t most_vectors(const struct crossover *crossover, uint32_t w, uint32_t device)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < widths[w]; r++) {
        const struct point *const point = &crossover->points[w][r];
        if (point->index[device].median > point->scan[device].median)
            break;
        most = 1u << r;
    }
    return most;
}

static enum status show_crossover(const struct crossover *crossover, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "values", .name = "values", .whole = true},
        {.key = "cpu_vectors", .name = "processor", .group = "faster up to vectors", .whole = true},
        {.key = "gpu_vectors", .name = "GPU", .group = "faster up to vectors", .whole = true},
    };
    struct sheet *sheet;
    RETURN_IF_ERROR(sheet_create(columns, crossover->lab->cuda ? 3 : 2, &sheet, error));
    for (uint32_t w = 0; w < WIDTHS; w++) {
        sheet_number(sheet, 1u << widths[w]);
        for (uint32_t device = 0; device <= (crossover->lab->cuda != NULL); device++)
            sheet_number(sheet, most_vectors(crossover, w, device));
    }
    return lab_sheet(crossover->lab, "the ranges for which the index is faster than the scan", sheet, error);
}

static enum status show_chart(const struct crossover *crossover, uint32_t device, struct error *error)
{
    char title[96], name[32];
    snprintf(title, sizeof title, "OR of vectors and scan of bit planes, %.3g M rows, on %s",
             (double)crossover->rows * 1e-6, devices[device]);
    const struct chart_form form = {.kind = CHART_LINES,
                                    .title = title,
                                    .x = {.title = "vectors of the range", .scale = CHART_LOG2},
                                    .y = {.title = "index faster than scan: times", .scale = CHART_LOG10}};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    chart_reference(chart, "as fast", 1, 0);
    for (uint32_t w = 0; w < WIDTHS; w++) {
        snprintf(name, sizeof name, "%u values", 1u << widths[w]);
        chart_series(chart, name);
        for (uint32_t r = 0; r < widths[w]; r++) {
            const struct point *const point = &crossover->points[w][r];
            const struct chart_point at = {.x = 1u << r,
                                           .y = point->scan[device].median / point->index[device].median};
            chart_point(chart, at);
        }
    }
    return lab_chart(crossover->lab, chart, error);
}

enum status bitmap_crossover(struct lab *lab, const struct bitmap_kernels *kernels, const struct codec *codec,
                             struct error *error)
{
    struct crossover crossover = {
        .codec = codec, .lab = lab, .kernels = kernels, .rows = lab_rows(lab, ROWS)};
    RETURN_IF_ERROR(measure_all(&crossover, error));
    RETURN_IF_ERROR(show_chart(&crossover, 0, error));
    if (lab->cuda) {
        RETURN_IF_ERROR(show_chart(&crossover, 1, error));
        RETURN_IF_ERROR(show_gpu(&crossover, error));
    }
    return show_crossover(&crossover, error);
}
