/* live_rows.h: which rows of a table were not deleted, and who references rows that were. */
#ifndef TESSERA_STORAGE_DATABASE_LIVE_ROWS_H
#define TESSERA_STORAGE_DATABASE_LIVE_ROWS_H

#include "storage/column/column.h"

#include <stdlib.h>

struct live_rows {
    uint64_t *bits; /* a bit a row; NULL: all are live */
    uint64_t rows;  /* that are live */
    uint32_t first; /* the first segment with a deleted row */
};

/* Reads them from the table's files. Free live->bits, also after an error. */
NODISCARD enum status live_rows_read(const char *directory, const struct table *table, struct live_rows *live,
                                     struct error *error);

/* Counts them. */
NODISCARD enum status live_rows_count(const char *directory, const struct table *table, uint64_t *rows,
                                      struct error *error);

/* Lets the bits say of all rows that they are live, if there are none yet. */
NODISCARD enum status live_rows_make(const struct table *table, struct live_rows *live, struct error *error);

/* Counts the live rows whose key references a row that is not. `own` are the rows of the key's table, `referenced` those of
 * the table that it references, whose levels have been read. */
NODISCARD enum status live_rows_dangling(const char *directory, const struct column *key,
                                         const struct live_rows *own, const struct live_rows *referenced,
                                         uint64_t *count, struct error *error);

#endif
