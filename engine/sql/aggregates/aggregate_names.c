/* aggregate_names.c: see aggregate_names.h. */
#include "engine/sql/aggregates/aggregate_names.h"

#include "engine/plan/grouping/grouping.h"

#include <string.h>

static const struct aggregate_name aggregate_names[] = {
    {"count", FAMILY_BASIC, NULL, 0, true},
    {"sum", FAMILY_BASIC, NULL, 0, false},
    {"avg", FAMILY_BASIC, NULL, 0, false},
    {"min", FAMILY_BASIC, NULL, 0, false},
    {"max", FAMILY_BASIC, NULL, 0, false},
    {"total", FAMILY_BASIC, NULL, 0, false},
    {"mean", FAMILY_SELECT, "avg", 0, false},
    {"any_value", FAMILY_SELECT, "min", 0, false},
    {"bool_and", FAMILY_TRUTH, "min", 0, false},
    {"every", FAMILY_TRUTH, "min", 0, false},
    {"bool_or", FAMILY_TRUTH, "max", 0, false},
    {"count_if", FAMILY_COUNT_IF, NULL, 0, true},
    {"countif", FAMILY_COUNT_IF, NULL, 0, true},
    {"stddev", FAMILY_SPREAD, NULL, MEASURE_STDDEV_SAMP, false},
    {"stddev_samp", FAMILY_SPREAD, NULL, MEASURE_STDDEV_SAMP, false},
    {"stddev_pop", FAMILY_SPREAD, NULL, MEASURE_STDDEV_POP, false},
    {"variance", FAMILY_SPREAD, NULL, MEASURE_VAR_SAMP, false},
    {"var_samp", FAMILY_SPREAD, NULL, MEASURE_VAR_SAMP, false},
    {"var_pop", FAMILY_SPREAD, NULL, MEASURE_VAR_POP, false},
    {"covar_pop", FAMILY_PAIR, NULL, MEASURE_COVAR_POP, false},
    {"covar_samp", FAMILY_PAIR, NULL, MEASURE_COVAR_SAMP, false},
    {"corr", FAMILY_PAIR, NULL, MEASURE_CORR, false},
    {"arg_min", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MIN, false},
    {"min_by", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MIN, false},
    {"arg_max", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MAX, false},
    {"max_by", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MAX, false},
    {"mode", FAMILY_VALUES, NULL, MEASURE_MODE, false},
    {"median", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_CONT, false},
    {"quantile_cont", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_CONT, false},
    {"percentile_cont", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_CONT, false},
    {"quantile", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_DISC, false},
    {"quantile_disc", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_DISC, false},
    {"percentile_disc", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_DISC, false},
    {"string_agg", FAMILY_STRINGS, NULL, MEASURE_STRINGS, false},
    {"group_concat", FAMILY_STRINGS, NULL, MEASURE_STRINGS, false},
    {"listagg", FAMILY_STRINGS, NULL, MEASURE_STRINGS, false},
    {"grouping", FAMILY_GROUPING, NULL, MEASURE_GROUPING, false},
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

bool sql_is_aggregate(const struct sql_expression *ast)
{
    const struct aggregate_name *const name =
        ast->operation == SQL_FUNCTION ? aggregate_name_find(ast->name) : NULL;
    return name && (name->family != FAMILY_BASIC || ast->child_count <= 1);
}

bool sql_has_aggregate(const struct sql_expression *ast)
{
    if (sql_is_aggregate(ast))
        return true;
    for (uint32_t c = 0; c < ast->child_count; c++)
        if (sql_has_aggregate(ast->children[c]))
            return true;
    return false;
}
