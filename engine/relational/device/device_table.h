/*
 * device_table.h: rows in the memory of a GPU (engine/plan/device/device_rows.h) as a table, which a SELECT is planned over for that
 * GPU, as rows_table.h has those of the host. No value is read or copied: plans know the columns' types and ranges.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_DEVICE_DEVICE_TABLE_H
#define TESSERA_ENGINE_RELATIONAL_DEVICE_DEVICE_TABLE_H

#include "engine/plan/device/device_rows.h"
#include "storage/column/column.h"

/* Makes a table of columns[0 .. count - 1] of the rows, at least one, which must outlive it. Free it with rows_table_free.
 * STATUS_BAD_INPUT for more than TABLE_ROWS_MAX rows. */
NODISCARD enum status device_table_make(const char *name, const struct device_rows *rows,
                                        const char *const *names, const uint32_t *columns, uint32_t count,
                                        struct table **table, struct error *error);

#endif
