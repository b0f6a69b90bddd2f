/* output.h: makes the rows of the answer from a device's result. */
#ifndef TESSERA_ENGINE_ANSWER_OUTPUT_H
#define TESSERA_ENGINE_ANSWER_OUTPUT_H

#include "engine/answer/rowset.h"
#include "engine/plan/partial.h"

/* Computes the output expressions, HAVING, order and limit over a result of all segments. Free `rows` with
 * rowset_free. STATUS_BAD_INPUT if a sum exceeds 64 bits. */
NODISCARD enum status answer_rows(const struct plan *plan, const struct partial *groups, unsigned threads,
                                  struct rowset *rows, struct error *error);

#endif
