/*
 * double_spread.c: variances of floating-point numbers (measure.h). The values come sorted, and are summed with a
 * compensation of each rounding (Neumaier, 1974), in two passes: so the result does not depend on the order of rows, and
 * is accurate to some units of its last place. Values are divided by a power of two first, so that no square leaves the
 * doubles; that is exact, but for values that are too small beside the greatest one to matter.
 */
#include "engine/aggregate/measure.h"
#include "storage/base/double_key.h"

#include <math.h>

/* A sum and what its roundings lost. */
struct compensated {
    double sum, lost;
};

static void add(struct compensated *to, double value)
{
    const double sum = to->sum + value;
    to->lost += fabs(to->sum) >= fabs(value) ? (to->sum - sum) + value : (value - sum) + to->sum;
    to->sum = sum;
}

/* The exponent of the greatest magnitude of the values, which are sorted; 0 if one is infinite or NaN. It is not so low
 * that 2^-exponent would be no double. */
static int exponent_of(const struct measure_entry *entries, uint64_t count)
{
    const double low = fabs(double_of_key(entries[0].value)),
                 high = fabs(double_of_key(entries[count - 1].value));
    int exponent = 0;
    if (isfinite(low) && isfinite(high))
        (void)frexp(low > high ? low : high, &exponent);
    return exponent > -1000 ? exponent : -1000;
}

enum status measure_double_spread(const struct measure *measure, const struct measure_list *list,
                                  int64_t *value, bool *null, struct error *error)
{
    const struct measure_entry *const entries = list->entries;
    const uint64_t count = list->count, rows = list->rows;
    struct compensated all = {0}, distances = {0}, squares = {0};
    (void)error;
    *null = rows <= (uint64_t)measure->sample;
    if (*null)
        return STATUS_OK;
    const int exponent = exponent_of(entries, count);
    const double unit = ldexp(1, -exponent);
    for (uint64_t e = 0; e < count; e++)
        add(&all, double_of_key(entries[e].value) * unit * (double)entries[e].rows);
    const double mean = (all.sum + all.lost) / (double)rows;
    for (uint64_t e = 0; e < count; e++) {
        const double distance = double_of_key(entries[e].value) * unit - mean;
        add(&distances, distance * (double)entries[e].rows);
        add(&squares, distance * distance * (double)entries[e].rows);
    }
    const double off = distances.sum + distances.lost, /* 0, but for the mean's rounding */
        variance = (squares.sum + squares.lost - off * off / (double)rows) / (double)(rows - measure->sample);
    *value = double_key_of(variance < 0    ? 0
                           : measure->root ? ldexp(sqrt(variance), exponent)
                                           : ldexp(variance, 2 * exponent));
    return STATUS_OK;
}
