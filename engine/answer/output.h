/* output.h: makes the rows of the answer from a device's result. */
#ifndef TESSERA_ENGINE_ANSWER_OUTPUT_H
#define TESSERA_ENGINE_ANSWER_OUTPUT_H

#include "engine/answer/rowset.h"
#include "engine/plan/partial.h"

/* Computes the output expressions, HAVING, order and limit over a result of all segments. Free `rows` with
 * rowset_free. STATUS_BAD_INPUT if a sum exceeds 64 bits. */
NODISCARD enum status answer_rows(const struct plan *plan, const struct partial *groups, unsigned threads,
                                  struct rowset *rows, struct error *error);

/* ---- Rows of several databases (PLAN_ROWS) ---- */

/* Computes the outputs, also the hidden ones, of the rows of this database that can be in the answer: with a limit its
 * first ones. */
NODISCARD enum status answer_part(const struct plan *plan, const struct partial *rows, unsigned threads,
                                  struct rowset *part, struct error *error);

/* Makes the answer from the rows of all parts, which follow each other; takes `all` over, and frees it. */
NODISCARD enum status answer_whole(const struct plan *plan, struct rowset *all, struct rowset *rows,
                                   struct error *error);

#endif
