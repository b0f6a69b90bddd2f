/* names.c: see names.h. */
#include "engine/aggregate/names.h"
#include "engine/aggregate/aggregate.h"
#include "storage/base/isa.h"

#include <string.h>

const struct aggregate *aggregate_of(enum aggregate_kind kind)
{
    return &ISA_CHOICE(aggregate_table)[kind];
}

enum aggregate_kind aggregate_of_rows(void)
{
    return AGGREGATE_COUNT;
}

enum aggregate_kind aggregate_of_any_range(enum aggregate_kind kind)
{
    return kind == AGGREGATE_SUM ? AGGREGATE_SUM_WIDE : kind;
}

enum aggregate_kind aggregate_sum_of(int64_t *low, int64_t *high, uint64_t rows)
{
    const __int128 least = *low < 0 ? *low * (__int128)rows : 0,
                   most = *high > 0 ? *high * (__int128)rows : 0;
    const enum aggregate_kind kind =
        least > INT64_MIN && most <= INT64_MAX ? AGGREGATE_SUM : AGGREGATE_SUM_WIDE;
    aggregate_of(kind)->range(low, high, rows);
    return kind;
}

static const struct aggregate_name aggregate_names[] = {
    {.name = "count",
     .family = FAMILY_BASIC,
     .aggregate = AGGREGATE_COUNT,
     .distinct = MEASURE_COUNT_DISTINCT,
     .counts = true},
    {.name = "sum", .family = FAMILY_BASIC, .aggregate = AGGREGATE_SUM, .distinct = MEASURE_SUM_DISTINCT},
    {.name = "avg",
     .family = FAMILY_BASIC,
     .aggregate = AGGREGATE_SUM,
     .distinct = MEASURE_AVG_DISTINCT,
     .average = true},
    {.name = "min", .family = FAMILY_BASIC, .aggregate = AGGREGATE_MIN},
    {.name = "max", .family = FAMILY_BASIC, .aggregate = AGGREGATE_MAX},
    {.name = "bit_and", .family = FAMILY_BASIC, .aggregate = AGGREGATE_BIT_AND},
    {.name = "bit_or", .family = FAMILY_BASIC, .aggregate = AGGREGATE_BIT_OR},
    {.name = "bit_xor", .family = FAMILY_BASIC, .aggregate = AGGREGATE_BIT_XOR},
    {.name = "total", .family = FAMILY_FOREIGN, .as = "sum"},
    {.name = "mean", .family = FAMILY_SELECT, .as = "avg"},
    {.name = "any_value", .family = FAMILY_SELECT, .as = "min"},
    {.name = "bool_and", .family = FAMILY_TRUTH, .as = "min"},
    {.name = "every", .family = FAMILY_TRUTH, .as = "min"},
    {.name = "bool_or", .family = FAMILY_TRUTH, .as = "max"},
    {.name = "count_if", .family = FAMILY_COUNT_IF, .as = "count", .counts = true},
    {.name = "countif", .family = FAMILY_COUNT_IF, .as = "count", .counts = true},
    {.name = "stddev", .family = FAMILY_SPREAD, .measure = MEASURE_STDDEV_SAMP},
    {.name = "stddev_samp", .family = FAMILY_SPREAD, .measure = MEASURE_STDDEV_SAMP},
    {.name = "stddev_pop", .family = FAMILY_SPREAD, .measure = MEASURE_STDDEV_POP},
    {.name = "variance", .family = FAMILY_SPREAD, .measure = MEASURE_VAR_SAMP},
    {.name = "var_samp", .family = FAMILY_SPREAD, .measure = MEASURE_VAR_SAMP},
    {.name = "var_pop", .family = FAMILY_SPREAD, .measure = MEASURE_VAR_POP},
    {.name = "covar_pop", .family = FAMILY_PAIR, .measure = MEASURE_COVAR_POP},
    {.name = "covar_samp", .family = FAMILY_PAIR, .measure = MEASURE_COVAR_SAMP},
    {.name = "corr", .family = FAMILY_PAIR, .measure = MEASURE_CORR},
    {.name = "arg_min", .family = FAMILY_ARGUMENT, .measure = MEASURE_ARG_MIN},
    {.name = "min_by", .family = FAMILY_ARGUMENT, .measure = MEASURE_ARG_MIN},
    {.name = "arg_max", .family = FAMILY_ARGUMENT, .measure = MEASURE_ARG_MAX},
    {.name = "max_by", .family = FAMILY_ARGUMENT, .measure = MEASURE_ARG_MAX},
    {.name = "mode", .family = FAMILY_VALUES, .measure = MEASURE_MODE},
    {.name = "median", .family = FAMILY_QUANTILE, .measure = MEASURE_QUANTILE_CONT},
    {.name = "quantile_cont", .family = FAMILY_QUANTILE, .measure = MEASURE_QUANTILE_CONT},
    {.name = "percentile_cont", .family = FAMILY_QUANTILE, .measure = MEASURE_QUANTILE_CONT},
    {.name = "quantile", .family = FAMILY_QUANTILE, .measure = MEASURE_QUANTILE_DISC},
    {.name = "quantile_disc", .family = FAMILY_QUANTILE, .measure = MEASURE_QUANTILE_DISC},
    {.name = "percentile_disc", .family = FAMILY_QUANTILE, .measure = MEASURE_QUANTILE_DISC},
    {.name = "approx_count_distinct",
     .family = FAMILY_SKETCH,
     .measure = MEASURE_APPROX_COUNT_DISTINCT,
     .counts = true},
    {.name = "approx_quantile", .family = FAMILY_SKETCH, .measure = MEASURE_APPROX_QUANTILE},
    {.name = "string_agg", .family = FAMILY_STRINGS, .measure = MEASURE_STRINGS},
    {.name = "group_concat", .family = FAMILY_STRINGS, .measure = MEASURE_STRINGS},
    {.name = "listagg", .family = FAMILY_STRINGS, .measure = MEASURE_STRINGS},
    {.name = "grouping", .family = FAMILY_GROUPING, .measure = MEASURE_GROUPING},
};

#define AGGREGATE_NAMES (sizeof aggregate_names / sizeof *aggregate_names)

const char *aggregate_name(size_t index)
{
    return index < AGGREGATE_NAMES ? aggregate_names[index].name : NULL;
}

const struct aggregate_name *aggregate_name_find(const char *name)
{
    for (size_t i = 0; i < AGGREGATE_NAMES; i++)
        if (strcmp(name, aggregate_names[i].name) == 0)
            return &aggregate_names[i];
    return NULL;
}
