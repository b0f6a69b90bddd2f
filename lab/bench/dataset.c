/* dataset.c: see dataset.h. */
#include "lab/bench/dataset.h"

#include "storage/base/memory.h"

#include <math.h>
#include <stdlib.h>

#define SEED UINT64_C(20260)

struct making {
    dataset_fill *fill; /* NULL: the values are there */
    const void *parameters;
    struct dataset *dataset;
    _Atomic uint64_t done;
    _Atomic uint32_t sum;
    const char *what;
    struct progress *progress;
};

static enum status make_block(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct making *const making = context;
    struct dataset *const dataset = making->dataset;
    const uint64_t first = item * DATASET_BLOCK_ROWS, left = dataset->rows - first;
    const uint32_t rows = left < DATASET_BLOCK_ROWS ? (uint32_t)left : DATASET_BLOCK_ROWS;
    uint64_t random = SEED + (item << 40);
    uint32_t sum = 0;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (making->fill)
        making->fill(making->parameters, first, rows, &random, dataset->values + first);
    for (uint32_t i = 0; i < rows; i++)
        sum += (uint32_t)dataset->values[first + i];
    making->sum += sum;
    progress_report(making->progress, making->what, "rows", making->done += rows, dataset->rows);
    return STATUS_OK;
}

static enum status make(struct lab *lab, struct making *making, struct error *error)
{
    struct dataset *const dataset = making->dataset;
    const uint64_t blocks = (dataset->rows + DATASET_BLOCK_ROWS - 1) / DATASET_BLOCK_ROWS;
    const uint64_t bytes = dataset->rows * sizeof *dataset->values;
    RETURN_IF_ERROR(parallel_for(lab->threads, blocks, make_block, making, error));
    dataset->sum = making->sum;
    if (!lab->cuda)
        return STATUS_OK;
    RETURN_IF_ERROR(
        cuda_allocate(lab->cuda, bytes, "the values to compare with", &dataset->on_device, error));
    return cuda_upload(lab->cuda, dataset->on_device, dataset->values, bytes, error);
}

enum status dataset_make(struct lab *lab, const char *what, uint64_t rows, dataset_fill *fill,
                         const void *parameters, struct dataset *dataset, struct error *error)
{
    struct making making = {
        .fill = fill, .parameters = parameters, .dataset = dataset, .what = what, .progress = lab->progress};
    *dataset = (struct dataset){.rows = rows};
    RETURN_IF_ERROR(memory_take(&dataset->values, rows * sizeof *dataset->values, what, error));
    return make(lab, &making, error);
}

enum status dataset_adopt(struct lab *lab, int32_t *values, uint64_t rows, struct dataset *dataset,
                          struct error *error)
{
    struct making making = {.dataset = dataset};
    *dataset = (struct dataset){.values = values, .rows = rows};
    return make(lab, &making, error);
}

void dataset_free(struct lab *lab, struct dataset *dataset)
{
    if (lab->cuda)
        cuda_free(lab->cuda, dataset->on_device);
    free(dataset->values);
    *dataset = (struct dataset){0};
}

/* ---- Distributions ---- */

uint64_t random_next(uint64_t *random)
{
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

double random_unit(uint64_t *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

void fill_uniform(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random, int32_t *values)
{
    const uint32_t width = *(const uint32_t *)parameters;
    (void)first;
    for (uint32_t i = 0; i < rows; i++)
        values[i] = width ? (int32_t)(random_next(random) >> (64 - width)) : 0;
}

void fill_sorted(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random, int32_t *values)
{
    const struct sorted_parameters *const sorted = parameters;
    (void)random;
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t row = first + i;
        values[i] = (int32_t)(sorted->distinct >= sorted->rows
                                  ? row
                                  : (uint64_t)((__uint128_t)row * sorted->distinct / sorted->rows));
    }
}

/* Box and Muller, 1958. */
double random_normal(uint64_t *random)
{
    const double radius = sqrt(-2 * log(1 - random_unit(random)));
    const double turn = 2 * 3.14159265358979323846 * random_unit(random);
    return radius * cos(turn);
}

void fill_normal(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random, int32_t *values)
{
    const struct normal_parameters *const normal = parameters;
    (void)first;
    for (uint32_t i = 0; i < rows; i++)
        values[i] = (int32_t)lround(normal->mean + normal->deviation * random_normal(random));
}

/* The integral of x^-exponent, and its inverse. */
static double zipf_area(double exponent, double x)
{
    return exponent == 1 ? log(x) : (pow(x, 1 - exponent) - 1) / (1 - exponent);
}

static double zipf_place(double exponent, double area)
{
    return exponent == 1 ? exp(area) : pow(1 + area * (1 - exponent), 1 / (1 - exponent));
}

void fill_zipf(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random, int32_t *values)
{
    const struct zipf_parameters *const zipf = parameters;
    const double e = zipf->exponent, low = zipf_area(e, 1.5) - 1, high = zipf_area(e, zipf->ranks + 0.5);
    (void)first;
    for (uint32_t i = 0; i < rows;) {
        const double area = low + random_unit(random) * (high - low);
        double rank = floor(zipf_place(e, area) + 0.5);
        rank = rank < 1 ? 1 : rank > zipf->ranks ? zipf->ranks : rank;
        if (area >= zipf_area(e, rank + 0.5) - pow(rank, -e))
            values[i++] = (int32_t)rank;
    }
}

void fill_gaps(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random, int32_t *values)
{
    const double mean = *(const double *)parameters, scale = mean > 1 ? 1 / log(1 - 1 / mean) : 0;
    (void)first;
    for (uint32_t i = 0; i < rows; i++)
        values[i] = 1 + (int32_t)(log(1 - random_unit(random)) * scale);
}

/* ---- Time series ---- */

#define SERIES_BAND_BITS 3u   /* the band's width is this many bits more than a step's */
#define SERIES_ALIKE     16u  /* one series of so many begins as the pattern does */
#define SERIES_OUTLIERS  0.05 /* of the values */

/* The ordinary value after `at`; `random` is below 2^32. */
static int32_t series_step(const struct series_parameters *series, int32_t at, uint64_t random)
{
    const uint32_t steps = (1u << series->step_bits) - 1; /* different ones, as many up as down */
    const int32_t step = (int32_t)(random * steps >> 32) - (int32_t)(steps / 2);
    const int32_t next = at + step;
    return next < 0 || next >> (series->step_bits + SERIES_BAND_BITS) ? at - step : next;
}

static int32_t series_first(const struct series_parameters *series, uint64_t *random)
{
    return (int32_t)(random_next(random) >> (64 - series->step_bits - SERIES_BAND_BITS));
}

static void fill_one(const struct series_parameters *series, uint64_t *random, int32_t *values)
{
    const bool alike = random_next(random) % SERIES_ALIKE == 0;
    const uint64_t shared = alike ? random_next(random) % (SERIES_ROWS + 1) : 0;
    int32_t at = series_first(series, random);
    for (uint32_t row = 0; row < SERIES_ROWS; row++) {
        const uint64_t bits = random_next(random);
        at = row < shared ? series->pattern[row] : series_step(series, at, bits >> 32);
        values[row] = at;
        if ((uint32_t)bits < SERIES_OUTLIERS * 0x1p32) {
            const uint64_t outlier = random_next(random);
            const int32_t height = (int32_t)(outlier >> (64 - series->outlier_bits));
            values[row] += outlier & 1 ? height : -height;
        }
    }
}

void fill_series(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random, int32_t *values)
{
    (void)first;
    for (uint32_t row = 0; row + SERIES_ROWS <= rows; row += SERIES_ROWS)
        fill_one(parameters, random, values + row);
}

void series_pattern(struct series_parameters *series)
{
    uint64_t random = SEED;
    int32_t at = series_first(series, &random);
    for (uint32_t row = 0; row < SERIES_ROWS; row++)
        series->pattern[row] = at = series_step(series, at, random_next(&random) >> 32);
}

/* ---- Lists ---- */

/* Distinct uniform integers in [low, low + range): sorted uniform numbers, which are sums of exponential ones, with one
 * more place between neighbours for each. */
static void list_uniform(uint32_t *list, uint32_t rows, uint32_t low, uint32_t range, uint64_t *random)
{
    double total = -log(1 - random_unit(random));
    uint64_t state = *random;
    for (uint32_t i = 0; i < rows; i++)
        total += -log(1 - random_unit(&state));
    double at = 0;
    for (uint32_t i = 0; i < rows; i++) {
        at += -log(1 - random_unit(random));
        list[i] = low + i + (uint32_t)(at / total * (range - rows + 1));
    }
}

static void list_cluster(uint32_t *list, uint32_t rows, uint32_t low, uint32_t range, uint64_t *random)
{
    if (rows <= 10 || range == rows) {
        list_uniform(list, rows, low, range, random);
        return;
    }
    const uint32_t half = rows / 2, other = rows - half;
    const uint32_t cut = half + (uint32_t)(random_unit(random) * (range - rows + 1));
    const double choice = random_unit(random);
    if (choice < 0.25)
        list_uniform(list, half, low, cut, random);
    else
        list_cluster(list, half, low, cut, random);
    if (choice >= 0.25 && choice < 0.5)
        list_uniform(list + half, other, low + cut, range - cut, random);
    else
        list_cluster(list + half, other, low + cut, range - cut, random);
}

void list_clustered(uint32_t *list, uint32_t rows, uint32_t limit, uint64_t *random)
{
    list_cluster(list, rows, 0, limit, random);
}
