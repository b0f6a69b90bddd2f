/*
 * aggregate_names.h: the names of aggregates, for the parser, which takes FILTER and WITHIN GROUP after them, and for the
 * binder. Those that engine/sql/bind_function.c binds itself are count, sum, avg, min and max.
 */
#ifndef TESSERA_ENGINE_SQL_AGGREGATES_AGGREGATE_NAMES_H
#define TESSERA_ENGINE_SQL_AGGREGATES_AGGREGATE_NAMES_H

#include "engine/sql/ast.h"

#include <stddef.h>

/* What the aggregates of this folder become. */
enum aggregate_family {
    FAMILY_BASIC,    /* bind_function.c */
    FAMILY_SELECT,   /* any_value: another aggregate of the same argument */
    FAMILY_TRUTH,    /* bool_and, bool_or: min and max of a condition */
    FAMILY_COUNT_IF, /* count of the rows in which a condition is true */
    FAMILY_SPREAD,   /* variance, and its root */
    FAMILY_PAIR,     /* covariances and the correlation of two values */
    FAMILY_ARGUMENT, /* arg_max(x, y) */
    FAMILY_VALUES,   /* mode: needs all values of its argument */
    FAMILY_QUANTILE, /* so do quantiles, whose last argument is the fraction, and the median */
    FAMILY_STRINGS,  /* string_agg */
    FAMILY_GROUPING  /* grouping(a): above the groups, as aggregates are */
};

struct aggregate_name {
    const char *name;
    enum aggregate_family family;
    const char *as; /* the aggregate that it becomes, or NULL */
    int variant;    /* enum measure_kind */
    bool counts;    /* of no rows it is 0; the others are NULL */
};

/* The names one after the other; NULL at the end. */
const char *aggregate_name(size_t index);

/* NULL if the name is not an aggregate's. */
const struct aggregate_name *aggregate_name_find(const char *name);

/* True for an aggregate; min and max of several values are functions. Looks at the node only. */
bool sql_is_aggregate(const struct sql_expression *ast);
/* Looks at the expressions below it, too. */
bool sql_has_aggregate(const struct sql_expression *ast);

#endif
