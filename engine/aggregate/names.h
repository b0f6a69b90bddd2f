/*
 * names.h: the names of aggregates in SQL, and what they become: for the parser, which takes FILTER and WITHIN GROUP after
 * them, and for the binder (engine/sql/aggregates/).
 */
#ifndef TESSERA_ENGINE_AGGREGATE_NAMES_H
#define TESSERA_ENGINE_AGGREGATE_NAMES_H

#include "engine/aggregate/kinds.h"

#include <stdbool.h>
#include <stddef.h>

enum aggregate_family {
    FAMILY_BASIC,    /* what a scan adds up: engine/sql/bind_function.c */
    FAMILY_SELECT,   /* any_value: another aggregate of the same argument */
    FAMILY_TRUTH,    /* bool_and, bool_or: min and max of a condition */
    FAMILY_COUNT_IF, /* count of the rows in which a condition is true */
    FAMILY_SPREAD,   /* variance, and its root */
    FAMILY_PAIR,     /* covariances and the correlation of two values */
    FAMILY_ARGUMENT, /* arg_max(x, y) */
    FAMILY_VALUES,   /* mode: needs all values of its argument */
    FAMILY_QUANTILE, /* so do quantiles, whose last argument is the fraction, and the median */
    FAMILY_SKETCH,   /* approximations: a sketch of the values (operators/group/sketch.h) */
    FAMILY_STRINGS,  /* string_agg */
    FAMILY_GROUPING, /* grouping(a): above the groups, as aggregates are */
    FAMILY_FOREIGN   /* SQLite's own, refused; another one is near */
};

struct aggregate_name {
    const char *name;
    enum aggregate_family family;
    const char *as;                /* the aggregate that it becomes, or NULL */
    enum aggregate_kind aggregate; /* FAMILY_BASIC; of a sum that of 64 bits */
    enum measure_kind measure;     /* other families */
    enum measure_kind distinct;    /* FAMILY_BASIC: what it becomes of distinct values */
    bool average;                  /* it is divided by the number of values */
    bool counts;                   /* of no rows it is 0; the others are NULL */
};

/* The names one after the other; NULL at the end. */
const char *aggregate_name(size_t index);

/* NULL if the name is not an aggregate's. */
const struct aggregate_name *aggregate_name_find(const char *name);

#endif
