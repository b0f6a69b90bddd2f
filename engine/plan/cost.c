/* cost.c: the costs and selectivities of steps, from which their order follows (planner.h). */
#include "engine/plan/planner.h"

/* CPU cycles for each row of a tile (docs/performance.md, "On a CPU"): for decoding, and for testing all rows
 * at once or, if few survive, one by one. */
#define DECODE_CYCLES     0.4
#define DECODE_BIT_CYCLES 0.02
#define COMPARE_CYCLES    0.1
#define CUBE_CYCLES       0.15 /* a cube, on decoded keys */
#define PLANES_CYCLES     0.1  /* for the order of rows, after planes of which each takes SLICE_BIT_CYCLES */
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

/* Of a plane, a lane of a GPU reads 32 rows, and a sector has 8 lanes. A CPU reads whole planes, unless a tile has no
 * survivors. */
#define PLANE_SECTOR_ROWS 256u

static double column_bits(const struct plan *plan, const struct plan_column *column)
{
    const double rows = plan->fact->rows ? (double)plan->fact->rows : 1;
    return (double)column->data->bytes * 8 / rows;
}

double plan_touched(double share, uint32_t rows)
{
    double none = 1, power = 1 - share;
    for (; rows; rows /= 2, power *= power)
        none *= rows & 1 ? power : 1;
    return 1 - none;
}

static double decoding_cost(const struct plan *plan, const struct plan_column *column)
{
    const double bits =
        column_bits(plan, column) * plan_bits_share(plan, (uint32_t)(column - plan->columns), column->needed);
    return DECODE_CYCLES + DECODE_BIT_CYCLES * bits + column->data->codec->decode_cycles;
}

static const struct plan_column *column_of(const struct plan *plan, const struct plan_step *step)
{
    return &plan->columns[step->kind == STEP_SEMI_JOIN ? plan->joins[step->join].column : step->column];
}

/* Of the bitmap that the step probes. */
static uint64_t positions_of(const struct plan *plan, const struct plan_step *step)
{
    if (step->kind == STEP_SEMI_JOIN)
        return table_positions(plan->joins[step->join].table);
    const struct value_table *const set = plan_probe_of(plan, step).set;
    return (uint64_t)set->values[set->count - 1] - (uint64_t)set->values[0] + 1;
}

/* A tile of a column is decoded if a single row of it survives, so a step saves work for the later ones only
 * if very few rows survive it. */
double plan_step_cost(const struct plan *plan, const struct plan_step *step, double share)
{
    const struct plan_join *join = step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join] : NULL;
    const struct plan_column *column = column_of(plan, step);
    const struct position_test *test = join && join->test.cube_count ? &join->test : NULL;
    const bool compares = join ? join->contiguous : step->kind == STEP_RANGE;
    if (test && test->used) /* survivors of a test that is not exact are probed */
        return plan_touched(share, PLANE_SECTOR_ROWS) *
                   (SLICE_BIT_CYCLES * __builtin_popcount(test->care) + PLANES_CYCLES) +
               (test->exact ? 0
                            : plan_fetch_cost(plan, (uint32_t)(column - plan->columns), share * test->share) +
                                  PROBE_CYCLES * share * test->share);
    if (test && test->exact && !compares)
        return plan_fetch_cost(plan, (uint32_t)(column - plan->columns), share) +
               CUBE_CYCLES * test->cube_count;
    if (compares && column->data->codec->in_range)
        return SLICE_BIT_CYCLES * column_bits(plan, column);
    const double asking = compares               ? COMPARE_CYCLES
                          : share >= GATHER_FROM ? GATHER_CYCLES
                                                 : PROBE_CYCLES * share;
    const double far = !compares && positions_of(plan, step) > NEAR_BITMAP_POSITIONS ? FAR_CYCLES * share : 0;
    return plan_fetch_cost(plan, (uint32_t)(column - plan->columns), share) + asking + far;
}

double plan_step_bytes(const struct plan *plan, const struct plan_step *step, double share)
{
    const uint32_t column = (uint32_t)(column_of(plan, step) - plan->columns);
    const struct position_test *test = step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join].test : NULL;
    if (!test || !test->used)
        return plan_fetch_bytes(plan, column, share);
    const double planes =
        column_bits(plan, &plan->columns[column]) * plan_bits_share(plan, column, test->care);
    return plan_touched(share, PLANE_SECTOR_ROWS) * planes / 8 +
           (test->exact ? 0 : plan_fetch_bytes(plan, column, share * test->share));
}

double plan_fetch_cost(const struct plan *plan, uint32_t column, double share)
{
    return plan_touched(share, TILE_ROWS) * decoding_cost(plan, &plan->columns[column]);
}

/* Where any value of a tile can be read alone, a GPU reads the sectors of 32 bytes that have one; else all of the
 * tile. */
double plan_fetch_bytes(const struct plan *plan, uint32_t column, double share)
{
    const double bits = column_bits(plan, &plan->columns[column]) *
                        plan_bits_share(plan, column, plan->columns[column].needed);
    const bool alone = plan->columns[column].data->codec->gpu.random_access;
    return plan_touched(share, alone ? 1 + (uint32_t)(256 / (bits + 1)) : TILE_ROWS) * bits / 8;
}

/* Few rows are deleted: compaction removes them. */
#define LIVE_SHARE 0.98

double plan_range_share(const struct plan *plan, const struct plan_step *step)
{
    const struct column *const column = plan->columns[step->column].column;
    const struct column_statistics *statistics = &column->statistics;
    if (column->schema.live)
        return LIVE_SHARE;
    return ((double)step->high - step->low + 1) / ((double)statistics->max - (double)statistics->min + 1);
}
