/* aggregate_names.c: see aggregate_names.h. */
#include "engine/sql/aggregates/aggregate_names.h"

#include "engine/plan/grouping/grouping.h"

#include <string.h>

static const struct aggregate_name aggregate_names[] = {
    {"count", FAMILY_BASIC, NULL, 0},
    {"sum", FAMILY_BASIC, NULL, 0},
    {"avg", FAMILY_BASIC, NULL, 0},
    {"min", FAMILY_BASIC, NULL, 0},
    {"max", FAMILY_BASIC, NULL, 0},
    {"total", FAMILY_BASIC, NULL, 0},
    {"mean", FAMILY_SELECT, "avg", 0},
    {"any_value", FAMILY_SELECT, "min", 0},
    {"bool_and", FAMILY_TRUTH, "min", 0},
    {"every", FAMILY_TRUTH, "min", 0},
    {"bool_or", FAMILY_TRUTH, "max", 0},
    {"count_if", FAMILY_COUNT_IF, NULL, 0},
    {"countif", FAMILY_COUNT_IF, NULL, 0},
    {"stddev", FAMILY_SPREAD, NULL, MEASURE_STDDEV_SAMP},
    {"stddev_samp", FAMILY_SPREAD, NULL, MEASURE_STDDEV_SAMP},
    {"stddev_pop", FAMILY_SPREAD, NULL, MEASURE_STDDEV_POP},
    {"variance", FAMILY_SPREAD, NULL, MEASURE_VAR_SAMP},
    {"var_samp", FAMILY_SPREAD, NULL, MEASURE_VAR_SAMP},
    {"var_pop", FAMILY_SPREAD, NULL, MEASURE_VAR_POP},
    {"covar_pop", FAMILY_PAIR, NULL, MEASURE_COVAR_POP},
    {"covar_samp", FAMILY_PAIR, NULL, MEASURE_COVAR_SAMP},
    {"corr", FAMILY_PAIR, NULL, MEASURE_CORR},
    {"arg_min", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MIN},
    {"min_by", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MIN},
    {"arg_max", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MAX},
    {"max_by", FAMILY_ARGUMENT, NULL, MEASURE_ARG_MAX},
    {"mode", FAMILY_VALUES, NULL, MEASURE_MODE},
    {"median", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_CONT},
    {"quantile_cont", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_CONT},
    {"percentile_cont", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_CONT},
    {"quantile", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_DISC},
    {"quantile_disc", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_DISC},
    {"percentile_disc", FAMILY_QUANTILE, NULL, MEASURE_QUANTILE_DISC},
    {"string_agg", FAMILY_STRINGS, NULL, MEASURE_STRINGS},
    {"group_concat", FAMILY_STRINGS, NULL, MEASURE_STRINGS},
    {"listagg", FAMILY_STRINGS, NULL, MEASURE_STRINGS},
    {"grouping", FAMILY_GROUPING, NULL, MEASURE_GROUPING},
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
