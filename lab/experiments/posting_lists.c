/*
 * posting_lists.c: `tessera lab posting-lists`: sizes of d-gaps of lists of distinct integers below 2^29, and the speed
 * of decoding them. Mallia et al., CIKM 2019: table 1 (2^16 and 2^25 integers, uniform and clustered) and figure 3
 * (lengths 2^16 .. 2^25, uniform). The sums of the gaps are not computed, as there.
 *
 * Beside them StreamVByte, the fastest of the paper's codecs for processors, on one thread, by its authors' library.
 */
#include "lab/experiments/experiments.h"

#include "lab/bench/grid.h"
#include "lab/bench/streamvbyte.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define SPARSE_BITS 16u
#define DENSE_BITS  25u
#define LIMIT_BITS  29u

/* The d-gaps of a clustered list; the first one is the first integer and 1, as if the list began at -1. */
static enum status clustered(struct lab *lab, uint32_t bits, struct dataset *dataset, struct error *error)
{
    const uint32_t rows = (uint32_t)lab_rows(lab, UINT64_C(1) << bits);
    const double limit = (double)rows * (1u << (LIMIT_BITS - bits));
    uint64_t random = bits;
    uint32_t *list = NULL;
    RETURN_IF_ERROR(memory_take(&list, rows * sizeof *list, "a list", error));
    list_clustered(list, rows, (uint32_t)limit, &random);
    for (uint32_t i = rows; i-- > 1;)
        list[i] -= list[i - 1];
    list[0]++;
    return dataset_adopt(lab, (int32_t *)list, rows, dataset, error);
}

static enum status uniform(struct lab *lab, uint32_t bits, struct dataset *dataset, struct error *error)
{
    const double mean = (double)(1u << (LIMIT_BITS - bits));
    return dataset_make(lab, "making a list", lab_rows(lab, UINT64_C(1) << bits), fill_gaps, &mean, dataset,
                        error);
}

static const char *const charted[] = {"gpu-bp128",     "gpu-bp256", "gpu-vbyte128",
                                      "gpu-vbyte1024", "gpu-for",   "lane-for",
                                      "lane-pfor",     "plain",     NULL};

typedef enum status make_list(struct lab *lab, uint32_t bits, struct dataset *dataset, struct error *error);

static enum status measure(struct lab *lab, struct grid *grid, make_list *make, uint32_t bits, double x,
                           struct streamvbyte *peer, struct error *error)
{
    struct dataset dataset = {0};
    enum status status = make(lab, bits, &dataset, error);
    if (status == STATUS_OK)
        status = grid_measure(lab, grid, x, &dataset, error);
    if (status == STATUS_OK)
        status = streamvbyte_measure(lab, &dataset, x, peer, error);
    dataset_free(lab, &dataset);
    return status;
}

static enum status sizes(struct lab *lab, struct grid *grid, struct streamvbyte *peer, struct error *error)
{
    static const struct {
        const char *name;
        make_list *make;
        uint32_t bits;
    } lists[] = {
        {"uniform sparse", uniform, SPARSE_BITS},
        {"uniform dense", uniform, DENSE_BITS},
        {"clustered sparse", clustered, SPARSE_BITS},
        {"clustered dense", clustered, DENSE_BITS},
    };
    *grid = (struct grid){
        .title = "lists of 2^16 and 2^25 integers", .x.title = "list", .charted = charted, .rates = true};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        grid->names[l] = lists[l].name;
        RETURN_IF_ERROR(measure(lab, grid, lists[l].make, lists[l].bits, (double)l, peer, error));
    }
    return grid_report(lab, grid, error);
}

static enum status lengths(struct lab *lab, struct grid *grid, struct streamvbyte *peer, struct error *error)
{
    *grid = (struct grid){.title = "uniform lists",
                          .x = {.title = "length of the list", .scale = CHART_LOG2},
                          .charted = charted,
                          .rates = true};
    for (uint32_t bits = SPARSE_BITS; bits <= DENSE_BITS; bits++)
        RETURN_IF_ERROR(measure(lab, grid, uniform, bits, (double)(UINT64_C(1) << bits), peer, error));
    return grid_report(lab, grid, error);
}

enum status lab_posting_lists(struct lab *lab, struct error *error)
{
    struct grid *grid = NULL;
    struct streamvbyte peer;
    RETURN_IF_ERROR(memory_zeros(&grid, sizeof *grid, "figures", error));
    streamvbyte_open(&peer);
    enum status status = sizes(lab, grid, &peer, error);
    if (status == STATUS_OK)
        status = lengths(lab, grid, &peer, error);
    if (status == STATUS_OK)
        status = streamvbyte_report(lab, &peer, error);
    streamvbyte_close(&peer);
    free(grid);
    return status;
}
