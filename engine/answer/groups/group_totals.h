/*
 * group_totals.h: adds up the totals of a plan (struct plan_total) from groups as a device completes them, some at a
 * time, so that they are in its caches and the result never has them. Each thread has states of its own, which are
 * merged at the end.
 */
#ifndef TESSERA_ENGINE_ANSWER_GROUP_TOTALS_H
#define TESSERA_ENGINE_ANSWER_GROUP_TOTALS_H

#include "engine/plan/partial.h"

struct group_totals;

/* Makes totals of no groups, for up to `threads` threads; NULL if the plan has none that may be added up so: of
 * hashed groups, which are the answer's. Free with group_totals_free, also after an error. */
NODISCARD enum status group_totals_make(const struct plan *plan, unsigned threads,
                                        struct group_totals **totals, struct error *error);
void group_totals_free(struct group_totals *totals); /* NULL is legal */

/* What a device gives its groups to (struct device_request); NULL of NULL. */
struct group_sink *group_totals_sink(struct group_totals *totals);

/* Puts the totals into the result of the device, if it has given its groups. NULL is legal. */
NODISCARD enum status group_totals_finish(const struct group_totals *totals, struct partial *partial,
                                          struct error *error);

#endif
