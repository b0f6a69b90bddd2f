/* engine/answer/output.h: the host's part of a statement: from a device's result to the rows of the answer. */
#ifndef TESSERA_ENGINE_ANSWER_OUTPUT_H
#define TESSERA_ENGINE_ANSWER_OUTPUT_H

#include "engine/answer/rowset.h"
#include "engine/plan/partial.h"

/* Output expressions, HAVING, order and limit over a result of all segments. `rows` is freed with rowset_free; a sum that
 * leaves 64 bits is STATUS_BAD_INPUT. */
NODISCARD enum status answer_rows(const struct plan *plan, const struct partial *groups, unsigned threads,
                                  struct rowset *rows, struct error *error);

#endif
