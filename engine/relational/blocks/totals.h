/*
 * totals.h: an aggregation without groups over the groups of a scan, which may be many, and are on a GPU, or in
 * the caches of threads that complete them (engine/answer/groups/group_totals.h):
 *
 *     select count(*), max(n) from (select a, count(*) n from t group by a having count(*) > 1)
 *
 * The SELECT above is planned over a table of which no row is read, whose columns are the outputs of the plan below. What it aggregates becomes a
 * part of that plan (struct plan_total). If the device then gives totals, the SELECT above is answered from them; else
 * it is answered from the rows of the plan below, as any other.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_BLOCKS_TOTALS_H
#define TESSERA_ENGINE_RELATIONAL_BLOCKS_TOTALS_H

#include "engine/relational/relational.h"

struct totals {
    const struct logical_node *node; /* the operator below, whose block takes them */
    struct sql_select *select;       /* the SELECT above, and the numbers of its items */
    const uint32_t *numbers;
    uint32_t below_count; /* the items of the plan below, and their numbers */
    const uint32_t *below_numbers;
    struct table *table; /* or NULL */
    struct plan *plan;   /* of the SELECT above; NULL: what it asks of groups are no totals */
    bool done;           /* it is answered: */
    struct result result;
};

/* Whether the engine may give totals: it is one device. */
bool totals_are_possible(const struct relational *run);

/* Adds the SELECT above to the key of the plan below, whose items have these numbers. */
NODISCARD enum status totals_key(struct relational *run, struct totals *totals, uint32_t count,
                                 const uint32_t *numbers, char **key, size_t *length);
/* Plans the SELECT above. `add`: the plan below gets the totals; else it has them already. */
NODISCARD enum status totals_plan(struct relational *run, struct totals *totals, struct plan *below,
                                  const uint32_t *numbers, bool add);
/* Answers the SELECT above from what a device has given. */
NODISCARD enum status totals_answer(const struct totals *totals, const struct partial *below,
                                    unsigned threads, struct rowset *rows, struct error *error);
/* Frees all but the result. */
void totals_free(struct totals *totals);

#endif
