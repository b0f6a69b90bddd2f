/* rows_collect.h: the rows of a statement without aggregates whose fact table is in parts: each process computes the
 * outputs of its part's rows, and process 0 collects them. */
#ifndef TESSERA_ENGINE_LIBRARY_ROWS_COLLECT_H
#define TESSERA_ENGINE_LIBRARY_ROWS_COLLECT_H

#include "engine/answer/output.h"
#include "engine/run/cluster.h"

/* Gives process 0 the answer, as one process would have it from the whole table; the others get no rows. */
NODISCARD enum status rows_collect(struct cluster *cluster, const struct plan *plan,
                                   const struct partial *partial, unsigned threads, struct rowset *rows,
                                   struct error *error);

#endif
