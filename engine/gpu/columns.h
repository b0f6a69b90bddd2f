/*
 * columns.h: encoded columns, and vectors of their bitmap indexes, in a GPU's memory, which are uploaded once and shared by
 * all queries.
 *
 * A column that no prepared query uses stays until its memory is needed. Columns are identified by their
 * addresses, so a database must stay open as long as the engine that reads it.
 */
#ifndef TESSERA_ENGINE_GPU_COLUMNS_H
#define TESSERA_ENGINE_GPU_COLUMNS_H

#include "engine/cuda/cuda.h"
#include "engine/plan/plan.h"
#include "operators/index/index_arguments.h"

struct cuda_columns;

struct cuda_column {
    cuda_address address; /* one struct bound_chunk for each segment, then chunks; or the array's values */
    cuda_address valid;   /* of an array: plan_array.valid, or 0 */
    uint64_t bytes;

    /* Of vectors: which ones of the index, and each segment's offset from `address`. */
    uint32_t first, count;
    const uint64_t *segments;
};

NODISCARD enum status cuda_columns_create(struct cuda *cuda, struct cuda_columns **columns,
                                          struct error *error);
void cuda_columns_destroy(struct cuda_columns *columns);

/* As cuda_allocate; but if the GPU's memory is full, columns that no query uses are freed. All memory of the
 * GPU is allocated by this function. */
NODISCARD enum status cuda_columns_allocate(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                            cuda_address *address, struct error *error);

/* Gives all chunks and validity words of a column in one encoding. Release with cuda_columns_release. */
NODISCARD enum status cuda_columns_chunks(struct cuda_columns *columns, const struct column_data *data,
                                          const struct cuda_column **column, struct error *error);

/* The bytes of memory for all chunks and validity words, and their upload to such memory; its list of chunks
 * comes first, as in struct cuda_column. For callers that own the memory. */
uint64_t cuda_chunks_bytes(const struct column_data *data);
NODISCARD enum status cuda_chunks_upload(struct cuda *cuda, const struct column_data *data,
                                         cuda_address address, struct error *error);

/* Gives the array of a dimension's column, which must not be composed, with its bits of NULLs. Release with
 * cuda_columns_release. */
NODISCARD enum status cuda_columns_array(struct cuda_columns *columns, const struct plan_array *array,
                                         const struct cuda_column **column, struct error *error);

/* Gives vectors first .. first + count - 1 of an index, perhaps with vectors around them. Release with
 * cuda_columns_release. */
NODISCARD enum status cuda_columns_vectors(struct cuda_columns *columns, const struct index_data *index,
                                           uint32_t first, uint32_t count, const struct cuda_column **column,
                                           struct error *error);

/* Writes those of the vectors first .. first + count - 1 that have rows in the segment, and returns their number. */
uint32_t cuda_vectors_bind(const struct cuda_column *column, const struct index_data *index, uint32_t segment,
                           uint32_t first, uint32_t count, struct bound_vector *vectors);

/* Ends a use of a column; NULL is legal. */
void cuda_columns_release(const struct cuda_column *column);

#endif
