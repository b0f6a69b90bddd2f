/* delete.h: finds, and deletes, the rows of a table that pass a condition of SQL. */
#ifndef TESSERA_ENGINE_LIBRARY_DELETE_H
#define TESSERA_ENGINE_LIBRARY_DELETE_H

#include "engine/library/statement.h"
#include "engine/run/engine.h"
#include "engine/sql/sql.h"
#include "storage/database/database.h"

/* A condition as WHERE has it. */
struct row_condition {
    const char *text;
    struct sql_position
        place; /* of its first byte in a statement, or line 1, column 1: errors tell places by it */
    const struct sql_parameter *parameters; /* the values of its `parameter_count` ?s */
    uint32_t parameter_count;
    struct sql_settings settings; /* of the statement: its zone, how LIKE compares */
};

/* Finds the numbers of the rows, ascending; free() them. Errors as of rows_delete. */
NODISCARD enum status rows_find(struct engine *engine, struct database *database, const char *table,
                                const struct row_condition *condition, uint64_t **rows, uint64_t *count,
                                struct error *error);

/* Marks the rows as deleted and commits; *count is their number. Readers that have the database open, this one, too, go on
 * reading the state that they opened. The condition is one of WHERE over the table's columns, in which subqueries see the state
 * of `database`. STATUS_BAD_INPUT for another one, and as of database_delete. */
NODISCARD enum status rows_delete(struct engine *engine, struct database *database, const char *table,
                                  const struct row_condition *condition, uint64_t *count,
                                  struct error *error);

#endif
