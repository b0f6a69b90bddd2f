/* ingest.c: loads what is bound into a table, by tessera_load_arrow. A table that exists keeps its columns, keys and
 * references; a new one has the columns of the stream, or those of the script that the statement was given. */
#define _POSIX_C_SOURCE 200809L
#include "engine/adbc/driver.h"
#include "engine/library/library.h"
#include "loader/arrow/arrow_value.h"
#include "storage/base/words/sql_name.h"
#include "storage/database/table_script.h"
#include "storage/base/text/text_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_DIGITS_MAX 18
#define LOADED_TABLES      1u

/* ---- The script of tables that exist ---- */

/* All tables of the database but `without`: those that others reference must be in the script. */
static void write_tables(FILE *script, const struct database *database, const char *without)
{
    const struct table *left_out = NULL;
    for (uint32_t t = 0; without && t < database_table_count(database); t++)
        if (strcmp(database_table_at(database, t)->name, without) == 0)
            left_out = database_table_at(database, t);
    database_script_write(script, database, left_out);
}

/* ---- The script of a new table ---- */

/* SQL's type for Arrow's, or NULL. */
static const char *type_of(const struct ArrowSchema *schema, char *text, size_t bytes)
{
    const struct arrow_type type = arrow_type_of(schema->format);
    if (schema->dictionary)
        return "TEXT";
    switch (type.kind) {
    case ARROW_SIGNED:
        return type.bytes < 8 ? "INT" : "BIGINT";
    case ARROW_UNSIGNED:
        return type.bytes < 4 ? "INT" : "BIGINT";
    case ARROW_BIT:
        return "BOOLEAN";
    case ARROW_FLOAT:
        return "DOUBLE";
    case ARROW_DATE:
        return "DATE";
    case ARROW_TIMESTAMP:
        return type.zoned ? "TIMESTAMP WITH TIME ZONE" : "TIMESTAMP";
    case ARROW_TEXT:
    case ARROW_TEXT_VIEW:
        return "TEXT";
    case ARROW_DECIMAL:
        snprintf(text, bytes, "DECIMAL(%d,%d)",
                 type.precision > DECIMAL_DIGITS_MAX ? DECIMAL_DIGITS_MAX : type.precision, type.scale);
        return type.scale < 0 || type.scale > DECIMAL_DIGITS_MAX ? NULL : text;
    default:
        return NULL;
    }
}

static AdbcStatusCode write_new_table(FILE *script, const char *name, const struct ArrowSchema *schema,
                                      struct AdbcError *error)
{
    char text[32];
    if (strcmp(schema->format, "+s") != 0 || schema->n_children == 0)
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT, "what is bound for table %s has no columns",
                            name);
    fputs("CREATE TABLE ", script);
    sql_name_write(script, name, false);
    for (int64_t c = 0; c < schema->n_children; c++) {
        const struct ArrowSchema *const child = schema->children[c];
        const char *const type = type_of(child, text, sizeof text);
        if (!type)
            return driver_error(
                error, ADBC_STATUS_NOT_IMPLEMENTED,
                "column %s of table %s is of Arrow's type \"%s\", which no column can store; cast it",
                child->name ? child->name : "without a name", name, child->format);
        fputs(c ? ", " : " (", script);
        sql_name_write(script, child->name ? child->name : "", false);
        fprintf(script, " %s", type);
    }
    fputs(");\n", script);
    return ADBC_STATUS_OK;
}

static AdbcStatusCode write_script(FILE *script, const struct driver_statement *statement,
                                   const struct database *database, bool append, struct AdbcError *error)
{
    struct ArrowArrayStream *const bound = (struct ArrowArrayStream *)&statement->bound;
    struct ArrowSchema schema;
    if (statement->script && !append) {
        fputs(statement->script, script);
        return ADBC_STATUS_OK;
    }
    write_tables(script, database, append ? NULL : statement->target);
    if (append)
        return ADBC_STATUS_OK;
    if (bound->get_schema(bound, &schema)) {
        const char *const text = bound->get_last_error(bound);
        return driver_error(error, ADBC_STATUS_IO, "the stream of table %s does not tell its schema: %s",
                            statement->target, text ? text : "it does not say why");
    }
    const AdbcStatusCode code = write_new_table(script, statement->target, &schema, error);
    schema.release(&schema);
    return code;
}

/* ---- The load ---- */

static AdbcStatusCode load(struct driver_statement *statement, const char *script,
                           enum tessera_load_mode mode, int64_t *rows, struct AdbcError *error)
{
    struct tessera_error inner;
    uint64_t loaded = 0;
    const char *const table = statement->target;
    struct ArrowArrayStream *const stream = &statement->bound;
    const enum tessera_status status = tessera_load_arrow(statement->connection->options.path, script, &table,
                                                          &stream, LOADED_TABLES, mode, &loaded, &inner);
    statement->connection->changed |= status == TESSERA_OK || status == TESSERA_NOT_DURABLE;
    if (status != TESSERA_OK)
        return driver_failed(error, &inner);
    if (rows)
        *rows = (int64_t)loaded;
    return ADBC_STATUS_OK;
}

static bool has_table(const struct database *database, const char *name)
{
    bool found = false;
    for (uint32_t t = 0; t < database_table_count(database); t++)
        found = found || strcmp(database_table_at(database, t)->name, name) == 0;
    return found;
}

static AdbcStatusCode ingest(struct driver_statement *statement, const struct database *database,
                             int64_t *rows, struct AdbcError *error)
{
    const bool there = has_table(database, statement->target);
    const bool append =
        statement->mode == INGEST_APPEND || (statement->mode == INGEST_CREATE_APPEND && there);
    if (there && statement->mode == INGEST_CREATE)
        return driver_error(error, ADBC_STATUS_ALREADY_EXISTS, "table %s exists; append to it or replace it",
                            statement->target);
    if (append && !there)
        return driver_error(error, ADBC_STATUS_NOT_FOUND, "there is no table %s to append to",
                            statement->target);
    char *text = NULL;
    size_t bytes;
    FILE *const script = text_stream(&text, &bytes);
    if (!script)
        return driver_out_of_memory(error);
    AdbcStatusCode code = write_script(script, statement, database, append, error);
    const bool written = fclose(script) == 0;
    if (code == ADBC_STATUS_OK)
        code = written ? load(statement, text,
                              append                              ? TESSERA_LOAD_APPEND
                              : statement->mode == INGEST_REPLACE ? TESSERA_LOAD_REPLACE
                                                                  : TESSERA_LOAD_NEW,
                              rows, error)
                       : driver_out_of_memory(error);
    free(text);
    return code;
}

AdbcStatusCode ingest_run(struct driver_statement *statement, int64_t *rows, struct AdbcError *error)
{
    struct driver_connection *const connection = statement->connection;
    struct driver_state *state;
    if (!statement->bound.release)
        return driver_error(error, ADBC_STATUS_INVALID_STATE, "nothing is bound to load into table %s",
                            statement->target);
    driver_state_renew(connection); /* the database as it is now */
    RETURN_IF_FAILED(driver_state_enter(connection, &state, error));
    const AdbcStatusCode code = ingest(statement, library_database(state->database), rows, error);
    driver_state_leave(state);
    driver_state_renew(connection);
    return code;
}
