/* widths.c: `tessera lab widths`: decode time and bits a value of uniform values, by their width. SIGMOD 2022, section
 * 9.2, figure 7: 250 million unsorted values of [0, 2^w) for w = 2, 4, ... 30. The figure has no numbers, its text those of `claims`. */
#include "lab/experiments/experiments.h"

#include "lab/bench/grid_claims.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define ROWS UINT64_C(250000000)

#define TIME(TEXT, OF, TO, PAPER)                                                \
    {                                                                            \
        .text = TEXT, .figure = CLAIM_MEMORY, .of = OF, .to = TO, .paper = PAPER \
    }
static const struct grid_claim claims[] = {
    TIME("FOR+BitPack / GPU-FOR, time", "for-bp", "gpu-for, published", 2.6),
    TIME("FOR+BitPack / GPU-FOR, our decoder, time", "for-bp", "gpu-for", 2.6),
    TIME("Delta+FOR+BitPack / GPU-DFOR, time", "delta-for-bp", "gpu-dfor, published", 4),
    TIME("Delta+FOR+BitPack / GPU-DFOR, our decoder, time", "delta-for-bp", "gpu-dfor", 4),
    TIME("RLE+FOR+BitPack / GPU-RFOR, time", "rle-for-bp", "gpu-rfor, published", 8),
    TIME("RLE+FOR+BitPack / GPU-RFOR, our decoder, time", "rle-for-bp", "gpu-rfor", 8),
    TIME("GPU-FOR / NSF, time (paper: at most)", "gpu-for, published", "nsf", 1.15),
    TIME("GPU-FOR, our decoder / NSF, time (paper: at most)", "gpu-for", "nsf", 1.15),
    {.text = "GPU-FOR, bits above the width", .of = "gpu-for", .less_x = 1, .paper = 0.75},
    {.text = "GPU-DFOR, bits above the width and 1", .of = "gpu-dfor", .less = 1, .less_x = 1, .paper = 0.81},
    {.text = "GPU-RFOR, bits above the width", .of = "gpu-rfor", .less_x = 1, .paper_says = "below 0.75"},
};

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
    RETURN_IF_ERROR(grid_report(lab, grid, error));
    return grid_claims(lab, grid, "what the paper says of figure 7, over the widths", claims,
                       sizeof claims / sizeof *claims, error);
}

enum status lab_widths(struct lab *lab, struct error *error)
{
    static const char *const charted[] = {"plain",
                                          "nsf",
                                          "gpu-for, published",
                                          "gpu-dfor, published",
                                          "gpu-rfor, published",
                                          "gpu-for",
                                          "gpu-dfor",
                                          "gpu-rfor",
                                          "for-bp",
                                          "delta-for-bp",
                                          "rle-for-bp",
                                          "lane-for",
                                          "nvCOMP FOR+BP",
                                          NULL};
    struct grid *grid = NULL;
    RETURN_IF_ERROR(memory_zeros(&grid, sizeof *grid, "figures", error));
    grid->title = "uniform values";
    grid->x = (struct chart_axis){.title = "width", .unit = "bits"};
    grid->charted = charted;
    grid->paper = grid_tile_based;
    enum status status = nvcomp_open(lab, &grid->nvcomp, error);
    if (status == STATUS_OK)
        status = measure(lab, grid, error);
    nvcomp_close(grid->nvcomp);
    free(grid);
    return status;
}
