/*
 * query.h: a star query as data: what is joined, filtered, grouped and summed, beside the kernel that does
 * it.
 *
 * Literals are text, looked up in dictionaries when the query is bound to a database: kernels never hold one.
 */
#ifndef TESSERA_ENGINE_PLAN_QUERY_H
#define TESSERA_ENGINE_PLAN_QUERY_H

#include "operators/dialect/tile_cpu.h"

#define STAR_FILTERS_MAX 3 /* predicates on fact columns */
#define STAR_FETCHES_MAX 5 /* fact columns read for survivors */
#define STAR_OUTPUTS_MAX (TILE_GROUPS_MAX + 1)
#define STAR_NAMES_MAX   24 /* fact columns and dimensions of a schema that queries may use */

/* `column` lies in one of the ranges, ends included; an end that is NULL is open. EQUALS and BETWEEN write
 * one. */
struct star_range {
    const char *low, *high;
};
struct star_predicate {
    const char *column;
    struct star_range any_of[TILE_RANGES_MAX]; /* the first with both ends NULL ends the list */
};
#define EQUALS(text)   \
    {                  \
        (text), (text) \
    }
#define BETWEEN(low, high) \
    {                      \
        (low), (high)      \
    }
#define LESS_OR_EQUAL(text) \
    {                       \
        NULL, (text)        \
    }

struct star_join {
    const char *dimension;                            /* its name in the tile parameters */
    const char *key;                                  /* fact column that references a table */
    struct star_predicate where[TILE_PREDICATES_MAX]; /* on that table */
    const char *code;                                 /* its attribute that groups, or NULL */
};

/* What is summed, so that the sum can be proven to fit 64 bits: left, or left * right, or left - right. */
struct star_measure {
    const char *left;
    char operation; /* '*' or '-'; 0: left alone */
    const char *right;
};

struct star_output {
    const char *label;
    const char *attribute; /* one of the groups' attributes; NULL: the sum */
};

struct star_order {
    const char *label;
    int descending;
};

/* The names in struct tile_parameters, in order (operators/dialect/parameters.h). */
struct tile_layout {
    const char *column_names[STAR_NAMES_MAX];
    const char *dimension_names[STAR_NAMES_MAX];
};

struct star_query {
    const char *name;                              /* "q2.1" */
    const char *sql;                               /* the same question in SQL, for the judge */
    const char *source;                            /* the kernel's file, "ssb/queries/q21.c" */
    const char *fact;                              /* table */
    struct star_predicate where[STAR_FILTERS_MAX]; /* one range each: tile_filter on that column */
    struct star_join join[TILE_DIMENSIONS_MAX];
    const char *fetch[STAR_FETCHES_MAX]; /* fact columns that tile_fetch names */
    const char *group[TILE_GROUPS_MAX];  /* attributes, in the order of tile_group2 and tile_group3 */
    struct star_measure measure;
    struct star_output output[STAR_OUTPUTS_MAX];
    struct star_order order[STAR_OUTPUTS_MAX];
    const struct tile_layout *layout;
    tile_query *kernel[ISA_LEVELS];
};

#endif
