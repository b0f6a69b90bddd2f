/*
 * sketch.c: what is made of sketches (measure.h, operators/group/sketch.h). Sums of doubles are made in the order of ranks,
 * so estimates have the same bits wherever the same cells do.
 */
#include "operators/group/sketch.h"

#include "engine/aggregate/measure.h"
#include "storage/base/double_key.h"
#include "storage/column/statistics.h"

#include <math.h>

/* ---- Distinct values ---- */

const struct measure_sketch measure_registers = {.cell = "sketch_register",
                                                 .double_cell = "sketch_register",
                                                 .weight = "sketch_rank",
                                                 .cell_of = sketch_register,
                                                 .double_cell_of = sketch_register,
                                                 .weight_of = sketch_rank};

static double estimate(const uint32_t ranks[SKETCH_RANKS + 1])
{
    const double registers = SKETCH_REGISTERS;
    double z = registers * distinct_tau(1 - ranks[SKETCH_RANKS] / registers);
    for (uint32_t rank = SKETCH_RANKS - 1; rank > 0; rank--)
        z = 0.5 * (z + ranks[rank]);
    z += registers * distinct_sigma(ranks[0] / registers);
    return registers * registers / (2 * log(2.0) * z);
}

enum status measure_distinct_estimate(const struct measure *measure, const struct measure_list *list,
                                      int64_t *value, bool *null, struct error *error)
{
    uint32_t ranks[SKETCH_RANKS + 1] = {SKETCH_REGISTERS - (uint32_t)list->count};
    (void)measure;
    (void)null;
    (void)error;
    for (uint64_t e = 0; e < list->count; e++)
        ranks[list->entries[e].rows <= SKETCH_RANKS ? list->entries[e].rows : SKETCH_RANKS]++;
    const double distinct = round(estimate(ranks));
    *value = distinct < (double)list->most ? (int64_t)distinct : list->most;
    return STATUS_OK;
}

/* ---- Quantiles ---- */

const struct measure_sketch measure_buckets = {.cell = "sketch_bucket",
                                               .double_cell = "sketch_double_bucket",
                                               .cell_of = sketch_bucket,
                                               .double_cell_of = sketch_double_bucket,
                                               .extremes = true};

/* The key in the middle of a bucket of doubles. The two around 0 are below 2^-1029, and become 0; infinities and NaN have
 * buckets of their own. */
static int64_t double_middle(int64_t bucket)
{
    if (bucket == 0 || bucket == -1)
        return 0;
    if (bucket >= sketch_double_bucket(DOUBLE_KEY_INFINITY))
        return bucket == sketch_double_bucket(DOUBLE_KEY_INFINITY) ? DOUBLE_KEY_INFINITY : DOUBLE_KEY_NAN;
    if (bucket <= sketch_double_bucket(DOUBLE_KEY_MINUS_INFINITY))
        return DOUBLE_KEY_MINUS_INFINITY;
    return bucket * (INT64_C(1) << SKETCH_KEY_BITS) + (INT64_C(1) << (SKETCH_KEY_BITS - 1));
}

/* The middle of the bucket that has the row which quantile_disc takes; of the first and the last row their values. */
enum status measure_quantile_estimate(const struct measure *measure, const struct measure_list *list,
                                      int64_t *value, bool *null, struct error *error)
{
    const unsigned __int128 product = (unsigned __int128)list->rows * (uint64_t)list->fraction;
    const uint64_t reached = (uint64_t)((product + (uint64_t)list->whole - 1) / (uint64_t)list->whole),
                   place = reached ? reached - 1 : 0;
    const struct measure_entry *entry = list->entries;
    (void)measure;
    (void)null;
    (void)error;
    for (uint64_t rest = place; rest >= entry->rows; entry++)
        rest -= entry->rows;
    const int64_t middle = list->real ? double_middle(entry->value) : sketch_middle(entry->value);
    *value = place == 0                ? list->least
             : place == list->rows - 1 ? list->greatest
             : middle < list->least    ? list->least
             : middle > list->greatest ? list->greatest
                                       : middle;
    return STATUS_OK;
}
