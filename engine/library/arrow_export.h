/*
 * arrow_export.h: exports answers and tables as Arrow streams (loader/arrow/arrow.h), in batches of 65,536
 * rows.
 *
 *     whole numbers      int64                     Booleans                 bool
 *     decimals           decimal128(19, scale)     strings                  large_utf8
 *     dates              date32                    floating-point numbers   float64
 *     timestamps         timestamp[us]             NULLs                    validity bitmaps
 */
#ifndef TESSERA_ENGINE_LIBRARY_ARROW_EXPORT_H
#define TESSERA_ENGINE_LIBRARY_ARROW_EXPORT_H

#include "engine/answer/rowset.h"
#include "engine/library/tessera.h"
#include "loader/arrow/arrow.h"
#include "storage/database/database.h"

#define ARROW_BATCH_ROWS 65536u

/* Exports the rowset's rows. The stream takes the rows over, leaves the rowset empty, and copies their
 * dictionaries, so that it needs no database. */
NODISCARD enum status arrow_export_rows(struct rowset *rows, struct ArrowArrayStream *stream,
                                        struct error *error);

/* Exports rows first .. first + count - 1, at most ARROW_BATCH_ROWS, as the array of such a stream, on any thread. The
 * rowset keeps them. */
NODISCARD enum status arrow_export_batch(const struct rowset *rows, uint64_t first, uint32_t count,
                                         struct ArrowArray *batch, struct error *error);

/* Exports a table's rows, decoded batch by batch. A foreign key is the key that it references. The database
 * must stay open until the stream is released. */
NODISCARD enum status arrow_export_table(struct database *database, const struct table *table,
                                         unsigned threads, struct ArrowArrayStream *stream,
                                         struct error *error);

/* Exports rows in memory, which must stay valid until the stream is released: numbers as int64, texts as
 * large_utf8. */
NODISCARD enum status arrow_export_values(const struct tessera_values *columns, uint32_t column_count,
                                          uint64_t rows, struct ArrowArrayStream *stream,
                                          struct error *error);

/* A schema's `release`, for schemas whose children and private_data are from malloc and have nothing else. */
void arrow_schema_release(struct ArrowSchema *schema);

/* The schema that such streams have for columns of these names and types; false if memory is out. The caller releases
 * it. */
NODISCARD bool arrow_export_schema(const char *const *names, const struct value_type *types, uint32_t count,
                                   struct ArrowSchema *schema);

#endif
