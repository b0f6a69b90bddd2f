/*
 * engine/gpu/columns.h: encoded columns in a GPU's memory, uploaded once and shared by the queries that use them.
 *
 * What no prepared query uses any more stays until memory is needed. Keys are the columns' addresses: a
 * database must stay open as long as the engine that reads it.
 */
#ifndef TESSERA_ENGINE_GPU_COLUMNS_H
#define TESSERA_ENGINE_GPU_COLUMNS_H

#include "engine/cuda/cuda.h"
#include "engine/plan/plan.h"

struct cuda_columns;

struct cuda_column {
    cuda_address address; /* of struct bound_chunk, one a segment, with the chunks behind; or of the
                             array's values */
    uint64_t bytes;       /* all of it */
};

NODISCARD enum status cuda_columns_create(struct cuda *cuda, struct cuda_columns **columns,
                                          struct error *error);
void cuda_columns_destroy(struct cuda_columns *columns);

/* cuda_allocate of anything on that GPU: where its memory is full, columns that nobody uses make room. */
NODISCARD enum status cuda_columns_allocate(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                            cuda_address *address, struct error *error);

/* All chunks and validity words of a column in one encoding. Release with cuda_columns_release. */
NODISCARD enum status cuda_columns_chunks(struct cuda_columns *columns, const struct column_data *data,
                                          const struct cuda_column **column, struct error *error);

/* A dimension column's array, which must not be composed. */
NODISCARD enum status cuda_columns_array(struct cuda_columns *columns, const struct plan_array *array,
                                         const struct cuda_column **column, struct error *error);

/* One use less; NULL is legal. */
void cuda_columns_release(const struct cuda_column *column);

#endif
