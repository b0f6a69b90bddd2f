/* widths.c: `tessera lab widths`: decode time and bits a value of uniform values, by their width. SIGMOD 2022, section
 * 9.2, figure 7: 250 million unsorted values of [0, 2^w) for w = 2, 4, ... 30. */
#include "lab/experiments/experiments.h"

#include "lab/bench/grid.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define ROWS UINT64_C(250000000)

static enum status measure(struct lab *lab, struct grid *grid, struct error *error)
{
    for (uint32_t width = 2; width <= 30; width += 2) {
        struct dataset dataset;
        enum status status = dataset_make(lab, "making uniform values", lab_rows(lab, ROWS), fill_uniform,
                                          &width, &dataset, error);
        if (status == STATUS_OK)
            status = grid_measure(lab, grid, width, &dataset, error);
        dataset_free(lab, &dataset);
        RETURN_IF_ERROR(status);
    }
    return grid_report(lab, grid, error);
}

enum status lab_widths(struct lab *lab, struct error *error)
{
    static const char *const charted[] = {"plain",  "nsf",          "gpu-for",    "gpu-dfor", "gpu-rfor",
                                          "for-bp", "delta-for-bp", "rle-for-bp", "lane-for", "nvCOMP FOR+BP",
                                          NULL};
    struct grid *grid = NULL;
    RETURN_IF_ERROR(memory_zeros(&grid, sizeof *grid, "figures", error));
    grid->title = "uniform values";
    grid->x = (struct chart_axis){.title = "width", .unit = "bits"};
    grid->charted = charted;
    enum status status = nvcomp_open(lab, &grid->nvcomp, error);
    if (status == STATUS_OK)
        status = measure(lab, grid, error);
    nvcomp_close(grid->nvcomp);
    free(grid);
    return status;
}
