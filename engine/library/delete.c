/* delete.c: deletes the rows that pass a condition; see delete.h. */
#define _GNU_SOURCE
#include "engine/library/delete.h"

#include "engine/library/statement.h"
#include "storage/base/memory.h"
#include "storage/base/words/sql_name.h"
#include "storage/database/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Any column is as good: only the rows' numbers are asked for. */
static enum status write_query(const struct table *table, const char *condition, char **text,
                               struct error *error)
{
    size_t bytes;
    FILE *const out = open_memstream(text, &bytes);
    if (!out)
        return error_out_of_memory(error, strlen(condition), "a condition");
    fputs("SELECT ", out);
    sql_name_write(out, table->columns[0].schema.name, true);
    fputs(" FROM ", out);
    sql_name_write(out, table->name, true);
    fprintf(out, " WHERE (%s\n)", condition);
    const bool written = !ferror(out);
    return fclose(out) == 0 && written && *text ? STATUS_OK
                                                : error_out_of_memory(error, bytes, "a condition");
}

static enum status find_rows(struct engine *engine, struct database *database, const struct table *table,
                             const char *text, uint64_t **rows, uint64_t *count, struct error *error)
{
    struct sql_statement *statement;
    size_t used;
    RETURN_IF_ERROR(sql_prepare(engine, database, text, strlen(text), NULL, &statement, &used, error));
    enum status status = used == strlen(text) && sql_parameter_count(statement) == 0
                             ? STATUS_OK
                             : error_set(error, STATUS_BAD_INPUT,
                                         "the condition is more than one, or has parameters; give one "
                                         "condition of WHERE");
    status = AND_THEN(status, sql_rows(statement, table, rows, count, error));
    sql_statement_free(statement);
    return status;
}

enum status rows_delete(struct engine *engine, struct database *database, const char *name,
                        const char *condition, uint64_t *count, struct error *error)
{
    const struct table *table;
    uint64_t *rows = NULL;
    char *text = NULL;
    *count = 0;
    RETURN_IF_ERROR(database_table(database, name, &table, error));
    enum status status = write_query(table, condition, &text, error);
    status = AND_THEN(status, find_rows(engine, database, table, text, &rows, count, error));
    status = AND_THEN(status, database_delete(database_path(database), table, rows, *count, error));
    free(rows);
    free(text);
    return status;
}
