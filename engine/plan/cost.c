/* cost.c: the costs and selectivities of steps, from which their order follows (planner.h). */
#include "engine/plan/planner.h"

/* CPU cycles for each row of a tile (docs/performance.md, "On a CPU"): for decoding, and for testing all rows
 * at once or, if few survive, one by one. */
#define DECODE_CYCLES     0.4
#define DECODE_BIT_CYCLES 0.02
#define COMPARE_CYCLES    0.1
#define SLICE_BIT_CYCLES  0.02
#define GATHER_CYCLES     1.0
#define PROBE_CYCLES      2.7
#define GATHER_FROM       0.375 /* fraction of a tile: TILE_GATHER_ROWS */

/* A bitmap of more positions than this does not fit the shared memory of a GPU's block (227 KB), so its probes go
 * to the second-level cache. They cost little more than probes of a bitmap that does fit, because that one
 * takes the memory from the first-level cache: with 4 cycles Q4.1 and Q4.2 at scale factor 100 probed parts
 * before customers and took 1.25 and 1.14 times as long (docs/experiments.md). */
#define NEAR_BITMAP_POSITIONS 1800000u
#define FAR_CYCLES            0.8

/* A tile of a column is decoded if a single row of it survives, so a step saves work for the later ones only
 * if very few rows survive it. */
double plan_step_cost(const struct plan *plan, const struct plan_step *step, double share)
{
    const struct plan_join *join = step->kind == STEP_RANGE ? NULL : &plan->joins[step->join];
    const struct plan_column *column = &plan->columns[join ? join->column : step->column];
    const double rows = plan->fact->rows ? (double)plan->fact->rows : 1;
    const double bits = (double)column->data->bytes * 8 / rows;
    const bool compares = !join || join->contiguous;
    if (compares && column->data->codec->in_range)
        return SLICE_BIT_CYCLES * bits;
    double none = 1 - share; /* to the power of 1024: the probability that no row of the tile survives */
    for (int i = 0; i < 10; i++)
        none *= none;
    const double decoding = DECODE_CYCLES + DECODE_BIT_CYCLES * bits + column->data->codec->decode_cycles;
    const double asking = compares               ? COMPARE_CYCLES
                          : share >= GATHER_FROM ? GATHER_CYCLES
                                                 : PROBE_CYCLES * share;
    const double far =
        !compares && table_positions(join->table) > NEAR_BITMAP_POSITIONS ? FAR_CYCLES * share : 0;
    return (1 - none) * decoding + asking + far;
}

double plan_range_share(const struct plan *plan, const struct plan_step *step)
{
    const struct column_statistics *statistics = &plan->columns[step->column].column->statistics;
    return ((double)step->high - step->low + 1) / ((double)statistics->max - (double)statistics->min + 1);
}
