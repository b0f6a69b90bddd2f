/* joining.h: a level that asks answers, while its sources are joined; for names.c, units.c, tables.c, pairs.c and
 * joins.c. */
#ifndef TESSERA_ENGINE_LIBRARY_QUERY_JOINING_H
#define TESSERA_ENGINE_LIBRARY_QUERY_JOINING_H

#include "engine/library/query/query_internal.h"

#define ALL_SOURCES UINT64_MAX /* of an expression with a name that is no column */

struct conjunct {
    const struct sql_expression *tree;
    uint64_t sources; /* that it reads, a bit each */
    bool done;        /* a join or a stored unit has asked it */
};

struct unit {
    struct rowset own; /* of stored tables */
    const struct rowset *rows;
    uint64_t sources;
    uint64_t *places; /* the unit's row of each row of its side; NULL: they are the unit's rows */
};

/* Units that are joined, or one that is not yet: each of its rows is a row of each unit. */
struct side {
    uint64_t sources; /* a bit each */
    uint64_t rows;
};

struct joining {
    struct query *query;
    struct sql_select *select;
    struct query_sources *sources;
    struct conjunct *conjuncts; /* of WHERE and of inner joins' ON */
    uint32_t conjunct_count, unit_count;
    bool strict
        [SQL_SOURCES_MAX]; /* the source's item of FROM has a RIGHT or FULL JOIN: each of its joins goes by
                                      * its own ON alone, in order */
    uint32_t item[SQL_SOURCES_MAX];  /* the first source of the source's item */
    uint32_t group[SQL_SOURCES_MAX]; /* sources with equal numbers are one side before sides are joined */
    struct unit units[SQL_SOURCES_MAX];
};

/* True for the right table of an outer join. */
static inline bool is_left(const struct joining *joining, uint32_t source)
{
    return joining->sources->list[source].from->join >= SQL_JOIN_LEFT;
}

/* ---- names.c ---- */

/* Names of columns become those by which tables in memory are asked; marks the columns that the level names. */
NODISCARD enum status joining_rename(struct joining *joining);
/* The sources that an expression reads; ALL_SOURCES if a name is no column. */
uint64_t joining_reads(const struct joining *joining, const struct sql_expression *tree);
/* The same without names that are no columns. */
uint64_t joining_columns(const struct joining *joining, const struct sql_expression *tree);
/* Adds the conditions that AND joins to a list. */
NODISCARD enum status joining_split(struct joining *joining, const struct sql_expression *tree,
                                    struct conjunct **list, uint32_t *count);

/* ---- units.c ---- */

void joining_find_units(struct joining *joining);
/* Answers a unit of stored tables. `own`: it asks those of the conditions `on` that are on its
 * table alone, and not those of WHERE. */
NODISCARD enum status joining_answer_unit(struct joining *joining, struct unit *unit, struct conjunct *on,
                                          uint32_t on_count, bool own);

/* ---- tables.c ---- */

/* Makes tables of these sources, whose units are of one side of so many rows. The select's sources become these tables. */
NODISCARD enum status joining_database(struct joining *joining, uint64_t mask, uint64_t rows,
                                       struct sql_select *select, struct database **database);
/* Computes an expression over rows of these sources. */
NODISCARD enum status joining_compute(struct joining *joining, uint64_t mask, uint64_t rows,
                                      struct sql_expression *tree, struct rowset *made);

/* ---- pairs.c ---- */

/* How two sides are joined. Equalities of the list are keys, and then done; if `whole`, it is ON, and all of it is
 * asked. */
struct join_by {
    enum sql_join join;
    bool whole;
    struct conjunct *list;
    uint32_t count;
};

/* Joins the right side to the left one. */
NODISCARD enum status joining_join(struct joining *joining, struct side *left, const struct side *right,
                                   const struct join_by *by);
/* True if an equality of WHERE, or of an inner join, is between the sides; their rows are not asked. */
bool joining_has_keys(const struct joining *joining, const struct side *left, const struct side *right);

#endif
