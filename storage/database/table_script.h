/* table_script.h: a table as CREATE TABLE, as `tessera load --schema` reads it. */
#ifndef TESSERA_STORAGE_DATABASE_TABLE_SCRIPT_H
#define TESSERA_STORAGE_DATABASE_TABLE_SCRIPT_H

#include "storage/database/database.h"

#include <stdio.h>

/* Writes the table with its keys and references, a line a column; and UNIQUE of what other tables of the database
 * reference. */
void table_script_write(FILE *script, const struct database *database, const struct table *table);

/* Writes all tables of the database but `without`, or NULL, in their order, in which each comes after those that it
 * references. */
void database_script_write(FILE *script, const struct database *database, const struct table *without);

#endif
