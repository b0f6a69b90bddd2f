/*
 * database_memory.h: a database whose tables are in memory: answers of statements, which the next level of a statement
 * asks like any table. All tables have the same number of rows, and row r of one stands beside row r of the others.
 *
 * Values are copied once, as plain chunks with minima, maxima and validity: about 2 ns a value. So a statement over
 * answers is planned and run by the code for stored tables.
 */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_MEMORY_H
#define TESSERA_STORAGE_DATABASE_DATABASE_MEMORY_H

#include "storage/database/database.h"

/* `type` is TYPE_INT64 or another type of a value, TYPE_DECIMAL with its scale. Values of a TYPE_STRING are codes of
 * `dictionary`. If `is_double`, values are keys of doubles (double_key.h), and
 * `type` is not read. */
struct memory_column {
    const char *name;
    enum column_type type;
    uint8_t scale;
    bool is_double;
    bool untyped;                        /* of NULLs that no statement gave a type */
    const struct dictionary *dictionary; /* sorted; must outlive the database */
    const int64_t *values;
    const uint8_t *nulls; /* 1: NULL; or no value is NULL */
};

struct memory_table {
    const char *name;
    uint32_t column_count;
    const struct memory_column *columns;
};

/* Makes the database; close it with database_close. Names are cut to NAME_BYTES. STATUS_BAD_INPUT for more than
 * TABLE_ROWS_MAX rows. */
NODISCARD enum status database_of_memory(const struct memory_table *tables, uint32_t count, uint64_t rows,
                                         struct database **database, struct error *error);

#endif
