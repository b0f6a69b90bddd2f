/*
 * rows.h: rows as plain columns in a GPU's memory (engine/plan/device/device_rows.h). A scan makes them of the rows that pass
 * (cuda_take, run_internal.h), operators add columns, and the host gets the columns that it asks for.
 */
#ifndef TESSERA_ENGINE_GPU_ROWS_ROWS_H
#define TESSERA_ENGINE_GPU_ROWS_ROWS_H

#include "engine/cuda/cuda.h"
#include "engine/plan/device/device_rows.h"

#include <stdbool.h>

struct device;

/* Rows without columns. */
NODISCARD enum status cuda_rows_make(struct device *device, uint64_t count, struct device_rows **rows,
                                     struct error *error);

/* Adds a column, whose memory has no values yet; if it is nullable, all its rows are NULL. STATUS_MACHINE if the GPU has no
 * memory for it; nothing is waited for, so that runs that hold columns may call it. */
NODISCARD enum status cuda_rows_add(struct cuda *cuda, struct device_rows *rows, struct value_type type,
                                    int64_t low, int64_t high, bool nullable, struct error *error);

/* Makes memory for a column as another one is, which is none of the rows' yet; likewise. */
NODISCARD enum status cuda_rows_make_alike(struct cuda *cuda, const struct device_rows *rows,
                                           const struct device_column *like, struct device_column *column,
                                           struct error *error);

/* Frees those of the first `count` columns that are not kept; the others move up. */
void cuda_rows_keep(struct cuda *cuda, struct device_rows *rows, const bool *kept, uint32_t count);

/* As in struct device_operations. */
NODISCARD enum status cuda_rows_fetch(const struct device_rows *rows, uint32_t column, int64_t *values,
                                      uint8_t *nulls, struct error *error);

#endif
