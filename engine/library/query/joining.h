/* joining.h: a level that asks answers, while its sources are joined; for names.c, units.c and joins.c. */
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
    bool joined;
    uint64_t *places; /* the unit's row of each joined row; NULL: they are the unit's rows */
};

struct joining {
    struct query *query;
    struct sql_select *select;
    struct query_sources *sources;
    struct conjunct *conjuncts; /* of WHERE and of inner joins' ON */
    uint32_t conjunct_count, unit_count;
    bool in_on; /* names of ON are those of its two sides */
    struct unit units[QUERY_SOURCES_MAX];
    uint64_t joined; /* sources */
    uint64_t rows;   /* joined rows */
};

static inline bool is_left(const struct joining *joining, uint32_t source)
{
    return joining->sources->list[source].from->join >= SQL_JOIN_LEFT;
}

/* ---- names.c ---- */

/* Names of columns become those by which tables in memory are asked; marks the columns that the level names. */
NODISCARD enum status joining_rename(struct joining *joining);
/* The sources that an expression reads; ALL_SOURCES if a name is no column. */
uint64_t joining_reads(const struct joining *joining, const struct sql_expression *tree);
/* Adds the conditions that AND joins to a list. */
NODISCARD enum status joining_split(struct joining *joining, const struct sql_expression *tree,
                                    struct conjunct **list, uint32_t *count);

/* ---- units.c ---- */

void joining_find_units(struct joining *joining);
/* Answers a unit of stored tables. `own`: it asks those of the conditions `on` that are on its
 * table alone, and not those of WHERE. */
NODISCARD enum status joining_answer_unit(struct joining *joining, struct unit *unit, struct conjunct *on,
                                          uint32_t on_count, bool own);

#endif
