/* check_levels.h: compares a table's rows with its levels (storage/column/levels.h), for database_check. */
#ifndef TESSERA_STORAGE_DATABASE_LEVELS_CHECK_LEVELS_H
#define TESSERA_STORAGE_DATABASE_LEVELS_CHECK_LEVELS_H

#include "storage/column/column.h"

/* Reads all columns of a table with levels, whose leaves were read, in their own encodings: rows are in the order of the
 * levels, codes are the ranks of values among their parent's, and each column's depth holds. STATUS_CHECK_FAILED with
 * the first fault. It takes about 3 ns a value. */
NODISCARD enum status levels_check(const char *directory, const struct table *table, struct error *error);

#endif
