/* delete.h: deletes the rows of a table that pass a condition of SQL. */
#ifndef TESSERA_ENGINE_LIBRARY_DELETE_H
#define TESSERA_ENGINE_LIBRARY_DELETE_H

#include "engine/run/engine.h"
#include "engine/sql/ast.h"
#include "storage/database/database.h"

/* Marks the rows as deleted and commits; *count is their number. `place` is that of the condition's first byte in a
 * statement, or line 1, column 1, by which errors tell places in it. Readers that have the database open, this one, too, go on
 * reading the state that they opened. The condition is one of WHERE over the table's columns, in which subqueries see the state
 * of `database`. STATUS_BAD_INPUT for another one, and as of database_delete. */
NODISCARD enum status rows_delete(struct engine *engine, struct database *database, const char *table,
                                  const char *condition, struct sql_position place, uint64_t *count,
                                  struct error *error);

#endif
