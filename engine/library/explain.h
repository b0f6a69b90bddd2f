/* engine/library/explain.h: EXPLAIN: a plan in words. */
#ifndef TESSERA_ENGINE_LIBRARY_EXPLAIN_H
#define TESSERA_ENGINE_LIBRARY_EXPLAIN_H

#include "engine/answer/rowset.h"
#include "engine/run/engine.h"

/* The plan as rows of text (one column, "plan"), and of a run that was analysed (`counts` not NULL) with rows, bytes,
 * time, GB/s and share of the ceiling (bytes a second) a step. */
NODISCARD enum status sql_explain(const struct plan *plan, const struct engine *engine,
                                  const struct scan_counts *counts, const struct run_timing *timing,
                                  double read_ceiling, struct rowset *rows, struct error *error);

#endif
