/*
 * late.h: outputs that are computed row by row, when the rows of the answer, their order and the limit are known: strings
 * of many possible values become views (engine/function/string_view.h), on all threads.
 */
#ifndef TESSERA_ENGINE_ANSWER_LATE_H
#define TESSERA_ENGINE_ANSWER_LATE_H

#include "engine/answer/rowset.h"
#include "engine/plan/plan.h"

/* True if the plan has such outputs: they need the hidden ones. */
bool late_is_needed(const struct plan *plan);

/* Computes them in `rows`, which has a column for each output of the plan, hidden ones too. */
NODISCARD enum status late_compute(const struct plan *plan, unsigned threads, struct rowset *rows,
                                   struct error *error);

#endif
