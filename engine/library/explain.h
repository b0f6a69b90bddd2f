/* explain.h: EXPLAIN, which describes a plan in words. */
#ifndef TESSERA_ENGINE_LIBRARY_EXPLAIN_H
#define TESSERA_ENGINE_LIBRARY_EXPLAIN_H

#include "engine/answer/rowset.h"
#include "engine/run/engine.h"

/* Gives the plan as rows of text, in one column "plan". For an analysed run `counts` is not NULL; then each
 * step has its rows, bytes, time, GB/s and percentage of read_ceiling (bytes a second), and each of several devices
 * that `prepared` ran on has its share. */
NODISCARD enum status sql_explain(const struct plan *plan, const struct engine *engine,
                                  const struct prepared_plan *prepared, const struct scan_counts *counts,
                                  const struct run_timing *timing, double read_ceiling, struct rowset *rows,
                                  struct error *error);

#endif
