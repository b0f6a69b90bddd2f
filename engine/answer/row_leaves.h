/*
 * row_leaves.h: columns of a plan in the rows that a scan has found, for its output expressions. Rows that follow each
 * other, as most do, take less than a nanosecond each.
 */
#ifndef TESSERA_ENGINE_ANSWER_ROW_LEAVES_H
#define TESSERA_ENGINE_ANSWER_ROW_LEAVES_H

#include "engine/plan/expression_vector.h"
#include "engine/plan/plan.h"
#include "storage/codec/chunk_reader.h"

struct row_leaves {
    const struct plan *plan;
    struct chunk_reader *readers; /* the thread's own, one for each fact column */
};

/* Gives a column's values in up to VECTOR_ROWS rows, which ascend. */
NODISCARD enum status row_leaves_fill(const struct row_leaves *leaves, const struct plan_source *source,
                                      const uint64_t *rows, uint32_t count, struct vector leaf,
                                      struct error *error);

#endif
