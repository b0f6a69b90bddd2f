/* constants.h: the answer of a plan that reads no table (plan->fact is NULL): one row, or none. */
#ifndef TESSERA_ENGINE_ANSWER_CONSTANTS_H
#define TESSERA_ENGINE_ANSWER_CONSTANTS_H

#include "engine/answer/rowset.h"
#include "engine/plan/plan.h"

/* Free `rows` with rowset_free. */
NODISCARD enum status constants_answer(const struct plan *plan, struct rowset *rows, struct error *error);

#endif
