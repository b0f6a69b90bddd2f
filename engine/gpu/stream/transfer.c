/* transfer.c: see transfer.h. */
#include "engine/gpu/stream/transfer.h"

#include "engine/plan/planner.h"

/* On an H200 (PCIe 5): a copy moves 32 bytes in 0.58 ns. A kernel reads a sector of a line that is read whole in 0.62 ns,
 * of a line of which half is read in 1.10, and a single one of a line in 1.42. */
#define COPY_NS       0.58
#define SECTOR_NS     1.42
#define NEIGHBOURS_NS 0.80 /* saved by a sector if all others of its line are read, too */

/* The rows of a sector of a plane. */
#define PLANE_SECTOR_ROWS 256u

/* A range is tested from the first plane on, until no row of a sector is undecided: each plane halves them. */
#define RANGE_PLANES 8.0

struct reads {
    double share, ns;
};

/* Adds reads of the fraction `lines` of the column's lines, in which the fraction `density` of the sectors is read. */
static void add(struct reads *reads, double lines, double density)
{
    reads->share += lines * density;
    reads->ns += lines * density * (SECTOR_NS - NEIGHBOURS_NS * density);
}

/* The fraction of the column's sectors of values that have one of the rows, of which the fraction `rows` is left. */
static double density_of(const struct plan *plan, uint32_t column, double bits, double rows)
{
    const bool alone = plan->columns[column].data->codec->gpu.random_access;
    return plan_touched(rows, alone ? 1 + (uint32_t)(256 / (bits + 1)) : TILE_ROWS);
}

static double bits_of(const struct plan *plan, uint32_t column, uint32_t mask)
{
    const double rows = plan->fact->rows ? (double)plan->fact->rows : 1;
    return (double)plan->columns[column].data->bytes * 8 / rows * plan_bits_share(plan, column, mask);
}

static void add_values(const struct plan *plan, uint32_t column, uint32_t mask, double rows,
                       struct reads *reads)
{
    add(reads, plan_bits_share(plan, column, mask),
        density_of(plan, column, bits_of(plan, column, mask), rows));
}

static void add_step(const struct plan *plan, const struct kernel *kernel, uint32_t c,
                     const struct plan_step *step, double rows, struct reads *reads)
{
    const uint32_t column = kernel->columns[c], first = kernel->layout.first[c];
    const struct position_test *test = step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join].test : NULL;
    if (!test || !test->used) {
        const double bits = bits_of(plan, column, UINT32_MAX);
        const bool by_planes =
            test && plan->joins[step->join].contiguous && plan->columns[column].data->codec->planes;
        if (by_planes && bits > RANGE_PLANES)
            add(reads, RANGE_PLANES / bits, plan_touched(rows, PLANE_SECTOR_ROWS));
        else
            add_values(plan, column, UINT32_MAX, rows, reads);
        return;
    }
    add(reads, plan_bits_share(plan, column, first), 1); /* loaded with every tile */
    add(reads, plan_bits_share(plan, column, test->care & ~first), plan_touched(rows, PLANE_SECTOR_ROWS));
    if (!test->exact)
        add_values(plan, column, ~test->care, rows * test->share, reads);
}

struct transfer transfer_estimate(const struct plan *plan, const struct kernel *kernel, uint32_t c)
{
    const uint32_t column = kernel->columns[c];
    struct reads reads = {0};
    double rows = 1;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        const bool reads_it = plan_step_is_expression(step)
                                  ? plan_expression_reads(plan, step->expression, column)
                                  : plan_step_column(plan, step) == (int32_t)column;
        if (reads_it && plan_step_is_expression(step))
            add_values(plan, column, UINT32_MAX, rows, &reads);
        else if (reads_it)
            add_step(plan, kernel, c, step, rows, &reads);
        rows *= step->share;
    }
    if (plan->columns[column].fetched)
        add_values(plan, column, plan->columns[column].needed, rows, &reads);
    if (kernel->layout.preload[c]) { /* with every tile, whole */
        reads = (struct reads){0};
        add(&reads, 1, 1);
    }
    return (struct transfer){.share = reads.share < 1 ? reads.share : 1, .lasts = reads.ns / COPY_NS};
}
