/* grouping.c: see grouping.h. */
#include "engine/plan/grouping/grouping.h"

const char *measure_name(enum measure_kind kind)
{
    static const char *const names[] = {
        [MEASURE_VAR_POP] = "var_pop",
        [MEASURE_VAR_SAMP] = "var_samp",
        [MEASURE_STDDEV_POP] = "stddev_pop",
        [MEASURE_STDDEV_SAMP] = "stddev_samp",
        [MEASURE_COVAR_POP] = "covar_pop",
        [MEASURE_COVAR_SAMP] = "covar_samp",
        [MEASURE_CORR] = "corr",
        [MEASURE_GROUPING] = "grouping",
        [MEASURE_VALUES] = "values",
        [MEASURE_COUNT_DISTINCT] = "count distinct",
        [MEASURE_SUM_DISTINCT] = "sum distinct",
        [MEASURE_AVG_DISTINCT] = "avg distinct",
        [MEASURE_MODE] = "mode",
        [MEASURE_QUANTILE_CONT] = "quantile_cont",
        [MEASURE_QUANTILE_DISC] = "quantile_disc",
        [MEASURE_ARG_MIN] = "arg_min",
        [MEASURE_ARG_MAX] = "arg_max",
        [MEASURE_DOUBLE_SPREAD] = "variance",
        [MEASURE_STRINGS] = "string_agg",
    };
    return names[kind];
}
