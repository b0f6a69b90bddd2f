/* values.c: measures of all values of a group (measure.h), and the table of measures. */
#include "engine/aggregate/measure.h"

#include "storage/base/decimal.h"
#include "storage/base/double_key.h"

#define OF_VALUES(name)                                                                                     \
    static enum status name(const struct measure *measure, const struct measure_list *list, int64_t *value, \
                            bool *null, struct error *error)

#define UNUSED(x) (void)(x)

/* ---- Distinct values ---- */

OF_VALUES(count_values)
{
    UNUSED(measure);
    UNUSED(null);
    UNUSED(error);
    *value = (int64_t)list->count;
    return STATUS_OK;
}

static __int128 sum_of(const struct measure_list *list)
{
    __int128 sum = 0;
    if (list->sum)
        return *list->sum;
    for (uint64_t e = 0; e < list->count; e++)
        sum += list->entries[e].value;
    return sum;
}

OF_VALUES(sum_values)
{
    const __int128 sum = sum_of(list);
    UNUSED(measure);
    UNUSED(null);
    *value = (int64_t)sum;
    return sum == (int64_t)sum
               ? STATUS_OK
               : error_set(error, STATUS_BAD_INPUT,
                           "a sum leaves 64 bits (it is about %.6g); sum smaller values or fewer rows",
                           (double)sum);
}

OF_VALUES(average_values)
{
    UNUSED(measure);
    UNUSED(null);
    UNUSED(error);
    *value = double_key_of((double)sum_of(list) / (double)power_of_ten(list->scale) / (double)list->count);
    return STATUS_OK;
}

/* ---- Single values ---- */

OF_VALUES(most_frequent)
{
    const struct measure_entry *const entries = list->entries;
    uint64_t most = 0;
    UNUSED(measure);
    UNUSED(null);
    UNUSED(error);
    for (uint64_t e = 1; e < list->count; e++)
        if (entries[e].rows > entries[most].rows)
            most = e;
    *value = entries[most].value;
    return STATUS_OK;
}

/* The least value of the least order or, if `greatest`, of the greatest one. */
OF_VALUES(value_of_order)
{
    const struct measure_entry *const entries = list->entries;
    uint64_t best = 0;
    UNUSED(null);
    UNUSED(error);
    for (uint64_t e = 1; e < list->count; e++) {
        const int64_t order = entries[e].order, known = entries[best].order;
        if (order == known ? entries[e].value < entries[best].value : (order > known) == measure->greatest)
            best = e;
    }
    *value = entries[best].value;
    return STATUS_OK;
}

/* The value of row `place` of the sorted rows. */
static int64_t value_at(const struct measure_list *list, uint64_t place)
{
    const struct measure_entry *entry = list->entries;
    place -= list->skipped;
    while (place >= entry->rows)
        place -= entry++->rows;
    return entry->value;
}

static uint64_t discrete_place(const struct measure_list *list)
{
    const unsigned __int128 product = (unsigned __int128)list->rows * (uint64_t)list->fraction;
    const uint64_t place = (uint64_t)((product + (uint64_t)list->whole - 1) / (uint64_t)list->whole);
    return place ? place - 1 : 0;
}

/* The first value that at least this fraction of the rows reaches. */
OF_VALUES(discrete)
{
    UNUSED(measure);
    UNUSED(null);
    UNUSED(error);
    *value = value_at(list, discrete_place(list));
    return STATUS_OK;
}

/* Between the values of two rows, linearly. The numerator is exact, unless values are floating-point numbers. */
static double between(const struct measure_list *list, int64_t low, int64_t high, int64_t part)
{
    const int64_t whole = list->whole;
    const double unit = (double)power_of_ten(list->scale);
    if (low == high)
        return list->real ? double_of_key(low) : (double)low / unit;
    if (list->real) {
        const double a = double_of_key(low), b = double_of_key(high), share = (double)part / (double)whole;
        return a * (1 - share) + b * share;
    }
    const __int128 numerator = (__int128)low * (whole - part) + (__int128)high * part;
    return (double)numerator / ((double)whole * unit);
}

/* The place between whose value and the next one it is; *part of `whole` of the way. */
static uint64_t continuous_between(const struct measure_list *list, int64_t *part)
{
    const unsigned __int128 product = (unsigned __int128)(list->rows - 1) * (uint64_t)list->fraction;
    *part = (int64_t)(product % (uint64_t)list->whole);
    return (uint64_t)(product / (uint64_t)list->whole);
}

static uint64_t continuous_place(const struct measure_list *list)
{
    int64_t part;
    return continuous_between(list, &part);
}

OF_VALUES(continuous)
{
    int64_t part;
    const uint64_t place = continuous_between(list, &part);
    const int64_t low = value_at(list, place), high = part ? value_at(list, place + 1) : low;
    UNUSED(measure);
    UNUSED(null);
    UNUSED(error);
    *value = double_key_of(between(list, low, high, part));
    return STATUS_OK;
}

/* ---- The table ---- */

const struct measure measure_table[MEASURE_KINDS] = {
    [MEASURE_VAR_POP] = {.name = "var_pop", .of_sums = measure_spread, .of_values = measure_double_spread},
    [MEASURE_VAR_SAMP] = {.name = "var_samp",
                          .sample = true,
                          .of_sums = measure_spread,
                          .of_values = measure_double_spread},
    [MEASURE_STDDEV_POP] = {.name = "stddev_pop",
                            .root = true,
                            .of_sums = measure_spread,
                            .of_values = measure_double_spread},
    [MEASURE_STDDEV_SAMP] = {.name = "stddev_samp",
                             .sample = true,
                             .root = true,
                             .of_sums = measure_spread,
                             .of_values = measure_double_spread},
    [MEASURE_COVAR_POP] = {.name = "covar_pop", .of_sums = measure_covariance},
    [MEASURE_COVAR_SAMP] = {.name = "covar_samp", .sample = true, .of_sums = measure_covariance},
    [MEASURE_CORR] = {.name = "corr", .scaled = true, .of_sums = measure_covariance},
    [MEASURE_GROUPING] = {.name = "grouping", .result = RESULT_COUNT},
    [MEASURE_COUNT_DISTINCT] = {.name = "count distinct",
                                .result = RESULT_COUNT,
                                .of_set = true,
                                .of_values = count_values},
    [MEASURE_SUM_DISTINCT] =
        {.name = "sum distinct", .result = RESULT_SUM, .sums = true, .of_set = true, .of_values = sum_values},
    [MEASURE_AVG_DISTINCT] = {.name = "avg distinct",
                              .sums = true,
                              .of_set = true,
                              .of_values = average_values},
    [MEASURE_MODE] = {.name = "mode", .result = RESULT_ARGUMENT, .of_values = most_frequent},
    [MEASURE_QUANTILE_CONT] = {.name = "quantile_cont", .of_values = continuous, .first = continuous_place},
    [MEASURE_QUANTILE_DISC] = {.name = "quantile_disc",
                               .result = RESULT_ARGUMENT,
                               .of_values = discrete,
                               .first = discrete_place},
    [MEASURE_ARG_MIN] = {.name = "arg_min",
                         .result = RESULT_ARGUMENT,
                         .by_other = true,
                         .of_values = value_of_order},
    [MEASURE_ARG_MAX] = {.name = "arg_max",
                         .result = RESULT_ARGUMENT,
                         .by_other = true,
                         .greatest = true,
                         .of_values = value_of_order},
    [MEASURE_STRINGS] = {.name = "string_agg", .result = RESULT_TEXT},
    [MEASURE_APPROX_COUNT_DISTINCT] = {.name = "approx_count_distinct",
                                       .result = RESULT_COUNT,
                                       .sketch = &measure_registers,
                                       .of_values = measure_distinct_estimate},
    [MEASURE_APPROX_QUANTILE] = {.name = "approx_quantile",
                                 .result = RESULT_ARGUMENT,
                                 .fraction = true,
                                 .dates = MEASURE_QUANTILE_DISC,
                                 .sketch = &measure_buckets,
                                 .of_values = measure_quantile_estimate},
};
