/*
 * decode_threads.c: `tessera lab decode-threads`: does it cost throughput that all lanes of a warp decode alike, where one would
 * do? CODAG (Park et al., 2023), section IV-D: from 1 to 100,000 operations an access of memory, the throughput of one lane and
 * of all never differs by more than 0.1 %, on an A100.
 *
 * An operation is counted once a warp, whichever lanes do it. Warps fill the device; every lane's state is compared with the
 * host's. On a processor there is nothing to measure.
 */
#include "lab/experiments/experiments.h"

#include "lab/bytes/byte_threads.h"

#include <math.h>

#define LINES    (UINT64_C(1) << 22) /* 512 MiB, ten times an H200's L2 */
#define ACCESSES (UINT64_C(1) << 26) /* of all warps, at most */
#define OPERATIONS \
    (UINT64_C(1) << 32) /* of all warps, at most; the host does them again in half a second on 16 threads */
#define PAPER_MOST 0.1  /* percent */

static const uint32_t points[] = {1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000};
#define POINTS (sizeof points / sizeof *points)

/* Of each warp, at least one. */
static uint32_t accesses_of(const struct byte_threads *threads, uint32_t operations)
{
    const uint64_t most = lab_rows(threads->lab, ACCESSES),
                   afford = lab_rows(threads->lab, OPERATIONS) / operations;
    const uint64_t each = (most < afford ? most : afford) / threads->warps;
    return each ? (uint32_t)each : 1;
}

/* A point of the chart, for each way. */
struct point {
    double rates[BYTE_THREADS_WAYS]; /* G operations/s */
};

static enum status measure_point(struct byte_threads *threads, uint32_t operations, struct point *point,
                                 struct sheet *sheet, struct error *error)
{
    const uint32_t accesses = accesses_of(threads, operations);
    const double total = (double)threads->warps * accesses;
    struct speed speeds[BYTE_THREADS_WAYS];
    RETURN_IF_ERROR(byte_threads_measure(threads, accesses, operations, speeds, error));
    sheet_number(sheet, operations);
    sheet_number(sheet, total);
    for (int way = 0; way < BYTE_THREADS_WAYS; way++) {
        point->rates[way] = total * operations / speeds[way].median * 1e-6;
        sheet_number(sheet, speeds[way].median);
        sheet_number(sheet, point->rates[way]);
    }
    sheet_number(sheet, 100 * (point->rates[BYTE_THREADS_ALL] / point->rates[BYTE_THREADS_ONE] - 1));
    sheet_number(sheet, PAPER_MOST);
    return lab_row_done(threads->lab, sheet, error);
}

static enum status measure_points(struct byte_threads *threads, struct sheet *sheet,
                                  struct point results[POINTS], struct error *error)
{
    for (size_t p = 0; p < POINTS; p++) {
        progress_report(threads->lab->progress, "decoding", "points", p, POINTS);
        RETURN_IF_ERROR(measure_point(threads, points[p], &results[p], sheet, error));
    }
    return STATUS_OK;
}

static enum status show_chart(struct lab *lab, const struct point results[POINTS], struct error *error)
{
    static const char *const names[BYTE_THREADS_WAYS] = {"one lane", "all lanes"};
    const struct chart_form form = {.kind = CHART_LINES,
                                    .title = "operations a second, by the operations of an access",
                                    .x = {.title = "operations an access", .scale = CHART_LOG10},
                                    .y = {.title = "throughput", .unit = "G/s", .scale = CHART_LOG10}};
    struct chart *chart;
    RETURN_IF_ERROR(chart_create(&form, &chart, error));
    for (int way = 0; way < BYTE_THREADS_WAYS; way++) {
        chart_series(chart, names[way]);
        for (size_t p = 0; p < POINTS; p++)
            chart_point(chart, (struct chart_point){.x = points[p], .y = results[p].rates[way]});
    }
    return lab_chart(lab, chart, error);
}

static enum status measure(struct lab *lab, const char *caption, struct sheet *sheet, struct error *error)
{
    struct byte_threads threads = {0};
    struct point results[POINTS];
    enum status status = lab_begin(lab, caption, sheet, error);
    if (status == STATUS_OK)
        status = byte_threads_open(lab, (uint32_t)lab_rows(lab, LINES), &threads, error);
    if (status == STATUS_OK)
        status = measure_points(&threads, sheet, results, error);
    byte_threads_close(&threads);
    return status == STATUS_OK ? show_chart(lab, results, error) : status;
}

enum status lab_decode_threads(struct lab *lab, struct error *error)
{
    static const struct sheet_column columns[] = {
        {.key = "operations", .name = "operations an access", .whole = true},
        {.key = "accesses", .name = "accesses", .whole = true},
        {.key = "one_ms", .name = "ms", .group = "one lane", .digits = 3},
        {.key = "one_goperations_per_second", .name = "G operations/s", .group = "one lane", .digits = 1},
        {.key = "all_ms", .name = "ms", .group = "all lanes", .digits = 3},
        {.key = "all_goperations_per_second", .name = "G operations/s", .group = "all lanes", .digits = 1},
        {.key = "difference_percent", .name = "here", .unit = "%", .group = "all to one", .digits = 2},
        {.key = "paper_percent", .name = "paper, at most", .unit = "%", .group = "all to one", .digits = 1},
    };
    static const char caption[] = "decoding by one lane and by all";
    struct sheet *sheet;
    enum status status = STATUS_OK;
    RETURN_IF_ERROR(sheet_create(columns, sizeof columns / sizeof *columns, &sheet, error));
    if (lab->cuda)
        status = measure(lab, caption, sheet, error);
    else
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            sheet_missing(sheet, c ? NULL : "no GPU");
    if (status == STATUS_OK)
        return lab_sheet(lab, caption, sheet, error);
    sheet_destroy(sheet);
    return status;
}
