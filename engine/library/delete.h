/* delete.h: deletes the rows of a table that pass a condition of SQL. */
#ifndef TESSERA_ENGINE_LIBRARY_DELETE_H
#define TESSERA_ENGINE_LIBRARY_DELETE_H

#include "engine/run/engine.h"
#include "storage/database/database.h"

/* Marks the rows as deleted and commits; *count is their number. Readers that have the database open, this one, too, go on
 * reading the state that they opened. The condition is one of WHERE over the table's columns, in which subqueries see the state
 * of `database`. STATUS_BAD_INPUT for another one, and as of database_delete. */
NODISCARD enum status rows_delete(struct engine *engine, struct database *database, const char *table,
                                  const char *condition, uint64_t *count, struct error *error);

#endif
