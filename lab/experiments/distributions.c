/*
 * distributions.c: `tessera lab distributions`: decode time and bits a value of three distributions. SIGMOD 2022,
 * section 9.3, figure 8: 250 million values each.
 *
 *     D1    sorted, 4 .. 2^28 distinct values; 2^28 are more than the rows, so all values differ there
 *     D2    normal, standard deviation 20, mean 2^6 .. 2^30
 *     D3    Zipf, exponent 1 .. 5; the paper does not say of how many ranks: here 2^20
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/grid.h"
#include "storage/base/memory.h"

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

static const char *const charted_sorted[] = {"plain",    "nsf",      "rle",        "gpu-for",  "gpu-dfor",
                                             "gpu-rfor", "lane-for", "lane-delta", "rank-rle", NULL};
static const char *const charted_others[] = {"plain",    "nsf",      "nsv",       "gpu-for",
                                             "gpu-dfor", "lane-for", "lane-pfor", NULL};

static const struct distribution {
    const char *title;
    dataset_fill *fill;
    make_parameters *parameters;
    struct chart_axis x;
    double first, last, factor, step; /* x goes on by x * factor + step */
    const char *const *charted;
} distributions[] = {
    {"D1, sorted",
     fill_sorted,
     make_sorted,
     {.title = "distinct values", .scale = CHART_LOG2},
     4,
     1 << 28,
     4,
     0,
     charted_sorted},
    {"D2, normal",
     fill_normal,
     make_normal,
     {.title = "mean", .scale = CHART_LOG2},
     64,
     1 << 30,
     16,
     0,
     charted_others},
    {"D3, Zipf", fill_zipf, make_zipf, {.title = "exponent"}, 1, 5, 1, 1, charted_others},
};

static enum status measure(struct lab *lab, const struct distribution *distribution, struct grid *grid,
                           struct error *error)
{
    const uint64_t rows = lab_rows(lab, ROWS);
    for (double x = distribution->first; x <= distribution->last;
         x = x * distribution->factor + distribution->step) {
        _Alignas(16) char parameters[64];
        struct dataset dataset;
        distribution->parameters(x, rows, parameters);
        enum status status =
            dataset_make(lab, "making values", rows, distribution->fill, parameters, &dataset, error);
        if (status == STATUS_OK)
            status = grid_measure(lab, grid, x, &dataset, error);
        dataset_free(lab, &dataset);
        RETURN_IF_ERROR(status);
    }
    return grid_report(lab, grid, error);
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
        status = measure(lab, &distributions[d], grid, error);
    }
    free(grid);
    return status;
}
