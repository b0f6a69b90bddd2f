/*
 * distributions.c: `tessera lab distributions`: decode time and bits a value of three distributions. SIGMOD 2022,
 * section 9.3, figure 8: 250 million values each.
 *
 *     D1    sorted, 4 .. 2^28 distinct values; 2^28 are more than the rows, so all values differ there. They are scaled with the rows, so
 *           that runs are as long as the paper's, and those below 4 left out; the tables have the numbers that were measured
 *     D2    normal, standard deviation 20, mean 2^6 .. 2^30
 *     D3    Zipf, exponent 1 .. 5; the paper does not say of how many ranks: here 2^20
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/grid_claims.h"
#include "storage/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS       UINT64_C(250000000)
#define ZIPF_RANKS (1u << 20)

/* The value of x from which the parameters of a point follow. */
typedef void make_parameters(double x, uint64_t rows, void *parameters);

static void make_sorted(double x, uint64_t rows, void *parameters)
{
    *(struct sorted_parameters *)parameters =
        (struct sorted_parameters){.rows = rows, .distinct = (uint64_t)x};
}

static void make_normal(double x, uint64_t rows, void *parameters)
{
    (void)rows;
    *(struct normal_parameters *)parameters = (struct normal_parameters){.mean = x, .deviation = 20};
}

static void make_zipf(double x, uint64_t rows, void *parameters)
{
    (void)rows;
    *(struct zipf_parameters *)parameters = (struct zipf_parameters){.exponent = x, .ranks = ZIPF_RANKS};
}

static const char *const charted_sorted[] = {
    "plain",   "nsf",      "rle",      "gpu-for, published", "gpu-dfor, published", "gpu-rfor, published",
    "gpu-for", "gpu-dfor", "gpu-rfor", "lane-for",           "lane-delta",          "rank-rle",
    NULL};
static const char *const charted_others[] = {
    "plain",   "nsf",      "nsv",      "gpu-for, published", "gpu-dfor, published",
    "gpu-for", "gpu-dfor", "lane-for", "lane-pfor",          NULL};

/* What the text says of figure 8. */
#define BITS(TEXT, OF, PAPER)                                      \
    {                                                              \
        .text = TEXT, .of = OF, .last_point = true, .paper = PAPER \
    }
#define TIME(TEXT, OF, TO) .text = TEXT, .figure = CLAIM_MEMORY, .of = OF, .to = TO
#define SIZE(TEXT, OF, TO) .text = TEXT, .of = OF, .to = TO
#define ABOVE_2_16         .first = 65537, .last = 2e9
static const struct grid_claim claims_sorted[] = {
    BITS("GPU-FOR, bits a value where all differ", "gpu-for", 7.8),
    BITS("GPU-DFOR, bits a value where all differ", "gpu-dfor", 1.8),
    BITS("GPU-RFOR, bits a value where all differ", "gpu-rfor", 8),
    {TIME("RLE / GPU-RFOR, time", "rle", "gpu-rfor, published"), .paper = 2.5},
    {TIME("RLE / GPU-RFOR, our decoder, time", "rle", "gpu-rfor"), .paper = 2.5},
};
static const struct grid_claim claims_normal[] = {
    {SIZE("NSF / GPU-FOR, size, mean above 2^16", "nsf", "gpu-for"), ABOVE_2_16, .paper = 3},
    {SIZE("NSF / GPU-DFOR, size, mean above 2^16", "nsf", "gpu-dfor"), ABOVE_2_16, .paper = 3},
};
static const struct grid_claim claims_zipf[] = {
    {SIZE("NSF / GPU-FOR, size", "nsf", "gpu-for"), .paper_says = "above 1"},
    {SIZE("NSV / GPU-FOR, size", "nsv", "gpu-for"), .paper_says = "above 1"},
    {TIME("NSF / GPU-FOR, time", "nsf", "gpu-for, published"), .paper_says = "above 1"},
    {TIME("NSV / GPU-FOR, time", "nsv", "gpu-for, published"), .paper_says = "far above 1"},
    {TIME("NSV / GPU-FOR, our decoder, time", "nsv", "gpu-for"), .paper_says = "far above 1"},
};

static const struct distribution {
    const char *title;
    dataset_fill *fill;
    make_parameters *parameters;
    struct chart_axis x;
    double first, last, factor, step; /* x goes on by x * factor + step */
    bool scaled;                      /* x is a number of values, which --scale makes smaller, too */
    const char *const *charted;
    const struct grid_claim *claims;
    uint32_t claim_count;
} distributions[] = {
    {"D1, sorted",
     fill_sorted,
     make_sorted,
     {.title = "distinct values", .scale = CHART_LOG2},
     4,
     1 << 28,
     4,
     0,
     true,
     charted_sorted,
     claims_sorted,
     sizeof claims_sorted / sizeof *claims_sorted},
    {"D2, normal",
     fill_normal,
     make_normal,
     {.title = "mean, deviation 20", .scale = CHART_LOG2},
     64,
     1 << 30,
     16,
     0,
     false,
     charted_others,
     claims_normal,
     sizeof claims_normal / sizeof *claims_normal},
    {"D3, Zipf",
     fill_zipf,
     make_zipf,
     {.title = "exponent, 2^20 ranks"},
     1,
     5,
     1,
     1,
     false,
     charted_others,
     claims_zipf,
     sizeof claims_zipf / sizeof *claims_zipf},
};

/* Measures the values that x of the distribution makes. */
static enum status measure_point(struct lab *lab, const struct distribution *distribution, double x,
                                 struct grid *grid, struct error *error)
{
    const uint64_t rows = lab_rows(lab, ROWS);
    _Alignas(16) char parameters[64];
    struct dataset dataset;
    distribution->parameters(x, rows, parameters);
    enum status status =
        dataset_make(lab, "making values", rows, distribution->fill, parameters, &dataset, error);
    if (status == STATUS_OK)
        status = grid_measure(lab, grid, x, &dataset, error);
    dataset_free(lab, &dataset);
    return status;
}

/* A number of values of the paper at this scale: at most as many as there are. */
static double scaled(const struct lab *lab, double values)
{
    const uint64_t rows = lab_rows(lab, ROWS), wanted = lab_rows(lab, (uint64_t)values);
    return (double)(wanted < rows ? wanted : rows);
}

static enum status measure(struct lab *lab, const struct distribution *distribution, struct grid *grid,
                           struct error *error)
{
    char caption[96];
    for (double x = distribution->first; x <= distribution->last;
         x = x * distribution->factor + distribution->step) {
        const double measured = distribution->scaled ? scaled(lab, x) : x;
        if (measured >= distribution->first || x >= distribution->last)
            RETURN_IF_ERROR(measure_point(lab, distribution, measured, grid, error));
    }
    RETURN_IF_ERROR(grid_report(lab, grid, error));
    snprintf(caption, sizeof caption, "what the paper says of figure 8, %s", distribution->title);
    return grid_claims(lab, grid, caption, distribution->claims, distribution->claim_count, error);
}

enum status lab_distributions(struct lab *lab, struct error *error)
{
    struct grid *grid = NULL;
    enum status status = memory_zeros(&grid, sizeof *grid, "figures", error);
    for (size_t d = 0; status == STATUS_OK && d < sizeof distributions / sizeof *distributions; d++) {
        memset(grid, 0, sizeof *grid);
        grid->title = distributions[d].title;
        grid->x = distributions[d].x;
        grid->charted = distributions[d].charted;
        grid->paper = grid_tile_based;
        status = measure(lab, &distributions[d], grid, error);
    }
    free(grid);
    return status;
}
