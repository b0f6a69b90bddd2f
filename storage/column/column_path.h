/* column_path.h: the names of a column's files, and what their headers must say. */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_PATH_H
#define TESSERA_STORAGE_COLUMN_COLUMN_PATH_H

#include "storage/base/file.h"
#include "storage/column/column.h"
#include "storage/column/column_file.h"

#define TABLES_NAME "tables" /* the directory that contains the tables' directories */
#define SIDE_WORD   "side"
#define INDEX_WORD  "index"

/* The path of a table's directory. */
NODISCARD enum status table_path(const char *directory, const char *table, char **path, struct error *error);

/* The path of the column's file in one encoding, or of its side file (CODEC_NONE). */
NODISCARD enum status column_path(const char *directory, const struct column *column, enum codec_id codec,
                                  uint64_t generation, char **path, struct error *error);

/* What the header of that file must say, which has the segments of `span`. The result points at the column's names. */
struct column_file_identity column_identity(const struct column *column, enum codec_id codec,
                                            const struct column_span *span);

/* The same of an index file. */
NODISCARD enum status column_index_path(const char *directory, const struct column *column,
                                        uint64_t generation, char **path, struct error *error);
struct column_file_identity column_index_identity(const struct column *column, enum index_format format,
                                                  const struct column_span *span);

#endif
