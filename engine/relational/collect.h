/* collect.h: the rows of a statement without aggregates whose fact table is in parts: each process computes the
 * outputs of its part's rows, and process 0 collects them. */
#ifndef TESSERA_ENGINE_RELATIONAL_COLLECT_H
#define TESSERA_ENGINE_RELATIONAL_COLLECT_H

#include "engine/answer/output.h"
#include "engine/run/engine.h"

/* Makes the rows of a run's result. Of several processes the first has the answer, as one process would have it from the
 * whole table, and the others get no rows. */
NODISCARD enum status collect_rows(const struct engine *engine, const struct plan *plan,
                                   struct partial *partial, struct rowset *rows, struct error *error);

#endif
