/*
 * arrow_export.h: answers and tables as Arrow streams (loader/arrow/arrow.h), batches of 65,536 rows.
 *
 *     whole numbers int64, decimals decimal128(19, scale), dates date32, timestamps timestamp[us], truth values bool,
 *     strings large_utf8, floating-point numbers float64; NULLs as validity bitmaps
 */
#ifndef TESSERA_ENGINE_LIBRARY_ARROW_EXPORT_H
#define TESSERA_ENGINE_LIBRARY_ARROW_EXPORT_H

#include "engine/answer/rowset.h"
#include "engine/library/tessera.h"
#include "loader/arrow/arrow.h"
#include "storage/database/database.h"

#define ARROW_BATCH_ROWS 65536u

/* The rowset's rows. It is taken over (and left empty), with dictionaries of its own, so that the stream needs no
 * database. */
NODISCARD enum status arrow_export_rows(struct rowset *rows, struct ArrowArrayStream *stream,
                                        struct error *error);

/* A table's rows, decoded batch by batch; foreign keys as the keys that they reference. The database must stay open
 * until the stream is released. */
NODISCARD enum status arrow_export_table(struct database *database, const struct table *table,
                                         unsigned threads, struct ArrowArrayStream *stream,
                                         struct error *error);

/* Rows in memory, which must stay there until the stream is released: numbers as int64, texts as large_utf8. */
NODISCARD enum status arrow_export_values(const struct tessera_values *columns, uint32_t column_count,
                                          uint64_t rows, struct ArrowArrayStream *stream,
                                          struct error *error);

#endif
