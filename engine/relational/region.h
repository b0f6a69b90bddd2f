/*
 * region.h: the joins of a block without their order. A region has sources, of which those that are INNER make all
 * combinations of their rows; each other one is joined to them by its own condition (enum logical_join). Conditions then
 * say which rows remain:
 *
 *     filter @1 < @5                          sources    a inner, b inner, c left on @2 = @4
 *       join left @2 = @4                     conjuncts  @1 = @3, @1 < @5
 *         join inner @1 = @3
 *           scan a
 *           scan b
 *         scan c
 *
 * This is the same, because such joins and filters may change places as long as each finds the columns that it names.
 * What a projection computes is put where it is named.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_REGION_H
#define TESSERA_ENGINE_RELATIONAL_REGION_H

#include "engine/relational/relational.h"

#define REGION_SOURCES_MAX 64u /* a bit each */

struct conjunct {
    struct sql_expression *tree;
    uint64_t sources; /* that it reads, a bit each */
    bool done;        /* a plan or a join has asked it */
    uint32_t by;      /* the source that asks it, from 1; or 0 */
};

struct conjuncts {
    uint32_t count;
    struct conjunct *list;
};

struct source {
    const struct logical_node *node; /* LOGICAL_SCAN: a stored table; else it is answered alone */
    enum logical_join join;
    struct conjuncts on;           /* unless INNER */
    struct conjuncts test;         /* of a MARK join */
    struct sql_expression *filter; /* conditions on it alone, which are asked when it is answered; or NULL */
    uint32_t mark;                 /* the column of a MARK join */
    uint32_t unit;                 /* sources with equal numbers are answered by one plan */
    struct sql_position position;
    bool joined;
    struct result answered; /* before the region was (source_is_answered) */
    double reduced;    /* EXPLAIN: the share of its rows that keys of other sides are expected to leave */
    const char *after; /* EXPLAIN: what has to be known before it is answered; or NULL */
};

static inline bool source_is_answered(const struct source *source)
{
    return source->answered.part_count || source->answered.explained;
}

/* A subquery that was answered before its region was planned (fold.c, dimension.c). */
struct folded {
    const struct logical_node *node;
    struct sql_expression *
        *definitions; /* of a dimension: what its columns are in the region; NULL: it is none */
    struct sql_expression
        *in; /* ... and the condition on its key; NULL: another one asks it, or it is joined by LEFT */
    bool left;
    struct conjuncts asked; /* of a dimension: the conditions on its columns alone, which its rows pass */
    struct explain_node *explained; /* or NULL */
    struct result result;
    struct key_set keys; /* of a list: if they are done, the result has a number of rows alone */
    struct folded *next;
};

/* What a column is in a region. */
struct column_use {
    struct sql_expression *definition; /* or NULL: it is a source's */
    uint32_t size;                     /* of the definition, in nodes */
    uint32_t stored;                   /* of a stored table its number there */
    uint8_t maker;                     /* the source that has it, from 1; or 0 */
};
struct column_use_before {
    uint32_t column;
    struct column_use use;
};

struct region {
    struct relational *run;
    bool opaque;   /* projections that compute are sources */
    bool computes; /* such a projection was put where it is named */
    bool large;    /* and it was refused, because it is too large */
    bool full;     /* the join of its two sources is FULL: nothing changes places */
    uint32_t source_count;
    struct source sources[REGION_SOURCES_MAX];
    struct conjuncts conjuncts;
    bool has_dimensions;   /* sides that are none of its sources (dimension.c) */
    struct conjuncts keys; /* conditions on theirs, which become conjuncts when all sources are known */
    uint32_t use_count;
    struct column_use_before *before; /* of columns that it uses, for the region around it */
    struct folded **folded;           /* kept for another try */
};

/* Begins an empty region. */
NODISCARD enum status region_open(struct relational *run, bool opaque, struct folded **folded,
                                  struct region *region);
void region_close(struct region *region);
/* The use of a column, to be changed. */
NODISCARD enum status region_use(struct region *region, uint32_t column, struct column_use **use);
/* The source of a column, from 1; or 0. */
static inline uint32_t region_maker(const struct region *region, uint32_t column)
{
    return column < region->run->tree->column_count ? region->run->uses[column].maker : 0;
}
/* Adds what a node and its inputs are. `root`: it is the first. */
NODISCARD enum status region_collect(struct region *region, const struct logical_node *node, bool root);
/* Adds a node as a source, even if it could be a part of the region. */
NODISCARD enum status region_collect_alone(struct region *region, const struct logical_node *node);
/* Puts definitions where columns are named. */
NODISCARD enum status region_rewrite(struct region *region, const struct sql_expression *from,
                                     struct sql_expression **to);
NODISCARD enum status region_define(struct region *region, uint32_t column,
                                    const struct sql_expression *expression);
/* Defines the columns of a projection; refuses what gets too large, unless projections are sources. */
NODISCARD enum status region_project(struct region *region, const struct logical_node *node);
/* Adds the conditions that AND joins. */
NODISCARD enum status region_split(struct region *region, struct sql_expression *condition,
                                   struct conjuncts *conjuncts);
/* EXPLAIN: adds a column's name to a list of what has to be known before. */
NODISCARD enum status region_after(struct region *region, const char **after, uint32_t column);
/* The sources that an expression reads. */
uint64_t region_reads(const struct region *region, const struct sql_expression *expression);

/* ---- fold.c ---- */

/* Answers a side of an inner join, or the right side of a LEFT JOIN without a condition, if it has one row. */
NODISCARD enum status region_fold_side(struct region *region, const struct logical_node *side, bool left,
                                       bool *folded);
/* Answers the right side of a join if it is a value, or a list of keys: then there is no join any more. *answered gets a list
 * that is too long, each value once and all conditions on the right side alone asked. */
NODISCARD enum status region_fold(struct region *region, const struct logical_node *join, bool *folded,
                                  struct result *answered);

/* Answers the right side as `node`, once; `join` names it. */
NODISCARD enum status region_answer(struct region *region, const struct logical_node *join,
                                    const struct logical_node *node, const char *what, struct folded **out);
/* What was answered for the node; or NULL. */
struct folded *region_find_folded(const struct region *region, const struct logical_node *join);
/* A column whose values nobody knows yet: what names it waits for them. */
NODISCARD enum status region_make_unknown(struct region *region, uint32_t column);
/* Adds the values of a list that nobody knows yet. */
NODISCARD enum status region_add_unknown(struct region *region, uint32_t value, uint64_t rows,
                                         struct sql_expression *in);

/* ---- dimension.c ---- */

/* Answers sides that become dimensions of the scan of all others. If it finds any, the region must be collected again. */
NODISCARD enum status region_find_dimensions(struct region *region, bool *any);
/* Defines the columns of a side that is a dimension. *answered gets one whose values are not fit for it. */
NODISCARD enum status region_take_dimension(struct region *region, const struct logical_node *side,
                                            bool *taken, struct result *answered);
/* Adds the conditions on the keys of dimensions, when all sources are known. */
NODISCARD enum status region_ask_dimensions(struct region *region);

/* ---- stars.c ---- */

/* True if all sources are stored tables, which one plan may answer, and none is too large to be one's dimension. */
bool region_is_stored(const struct region *region);
/* The sources of a unit, a bit each. */
uint64_t region_unit(const struct region *region, uint32_t unit);
/* Finds the stored tables that one plan answers. */
void region_find_units(struct region *region);
/* Answers a SELECT over sources that are stored tables, whose expressions name their columns as SQL_INPUT. */
NODISCARD enum status region_plan(struct region *region, uint64_t sources, struct sql_select *select,
                                  const uint32_t *numbers, struct result *result);

/* Counts the rows of a unit of stored tables that pass its conditions, once (scan.counted of its first table). A failure
 * that is no missing memory leaves them unknown. */
NODISCARD enum status region_count(struct region *region, uint64_t sources);

/* ---- reduce.c ---- */

/* Adds to a source, which is not answered yet, the condition that its keys are those of an answered side, if that has
 * few; of the equalities among the conditions. */
NODISCARD enum status region_reduce(struct region *region, const struct conjuncts *conjuncts,
                                    const struct result *side, uint64_t sources, uint32_t s);

/* ---- joins.c ---- */

/* Answers all sources and joins them. `needed`: the columns that are asked of the rows. Conditions that are not done
 * are left to the caller. */
NODISCARD enum status region_join(struct region *region, const struct logical_set *needed,
                                  struct result *result);

#endif
