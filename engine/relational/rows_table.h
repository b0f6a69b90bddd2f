/*
 * rows_table.h: rows of operators as a table, which a block asks like a stored one.
 *
 * Values are copied once, as plain chunks with minima, maxima and validity, on all threads: about 2 ns of one a value. So a block over rows is
 * planned and run by the code for stored tables.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_ROWS_TABLE_H
#define TESSERA_ENGINE_RELATIONAL_ROWS_TABLE_H

#include "engine/answer/rowset.h"
#include "storage/column/column.h"

/* A column: its name, cut to NAME_BYTES, and its values. Their dictionary must outlive the table. */
struct rows_table_column {
    const char *name;
    const struct rowset_column *values;
};

/* Makes the table; free it with rows_table_free. STATUS_BAD_INPUT for more than TABLE_ROWS_MAX rows. */
NODISCARD enum status rows_table_make(const char *name, const struct rows_table_column *columns,
                                      uint32_t count, uint64_t rows, unsigned threads, struct table **table,
                                      struct error *error);
/* Sets the type of a column; `narrow`: all values are between -1,000,000,000 and 1,000,000,000. */
void rows_table_type(struct value_type type, bool narrow, struct column_schema *schema);
void rows_table_free(struct table *table); /* NULL is legal */

#endif
