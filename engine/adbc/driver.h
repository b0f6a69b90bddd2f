/*
 * driver.h: what the files of the ADBC driver share: the objects behind the interface's handles, errors, and the
 * functions that driver.c puts into the table of functions.
 *
 *     database      the options: the directory, the device ...      database.c
 *     connection    a directory that is open, in one state          connection.c, catalogue.c
 *     statement     SQL with parameters, or an ingest               statement.c, bind.c, ingest.c
 *
 * Everything that reads and writes rows is tessera.h's. A connection keeps the state of the database of the moment when
 * it was opened; after an ingest of its own it opens the new state. Objects may be used by any thread, one at a time, as
 * the interface says; a mutex serialises the statements of one connection nevertheless, because managers differ there.
 */
#ifndef TESSERA_ENGINE_ADBC_DRIVER_H
#define TESSERA_ENGINE_ADBC_DRIVER_H

#include "engine/adbc/adbc.h"
#include "engine/library/tessera.h"
#include "storage/base/execution/execution.h"
#include "storage/database/database.h"

#include <pthread.h>
#include <stdbool.h>

#define DRIVER_NAME "ADBC Tessera driver"

/* Options of a statement: the script of the tables that an ingest creates, with keys and references. */
#define OPTION_INGEST_SCHEMA "tessera.ingest.schema"

#define NAME_OF_CATALOGUE "" /* databases here have no catalogues and no schemas */

/* Options of a database beside "uri", which have these names. */
struct driver_options {
    char *path, *device, *gpu_memory, *memory, *spill, *plan_cache;
    unsigned threads;
};

/* AdbcDatabase's private_data. Connections copy the options. */
struct driver_database {
    struct driver_options options;
};

/* One state of a database. Connections and statements count as its users. */
struct driver_state {
    _Atomic unsigned users;
    struct tessera_database *database;
};

/* Calls that ConnectionCancel or StatementCancel stops: those that run now, not later ones. */
struct driver_calls {
    unsigned running;
    struct execution execution; /* those of a statement are a part of its connection's */
};

struct driver_connection {
    struct driver_options options;
    pthread_mutex_t mutex;
    struct driver_state *state; /* NULL until it is needed, and after an ingest */
    bool initialised, manual_commit;
    bool changed; /* tables, since the last commit */
    struct driver_calls calls;
};

enum ingest_mode { INGEST_CREATE, INGEST_APPEND, INGEST_REPLACE, INGEST_CREATE_APPEND };

struct driver_statement {
    struct driver_connection *connection;
    char *sql;
    struct driver_state *state; /* that `prepared` belongs to */
    struct tessera_statement *prepared;
    struct ArrowArrayStream bound; /* released: nothing is bound */
    char *target, *script;         /* of an ingest; NULL */
    enum ingest_mode mode;
    struct driver_calls calls;
};

/* ---- Errors (driver.c) ---- */

/* Gives the caller the sentence, and returns `code`. `error` may be NULL. */
AdbcStatusCode driver_error(struct AdbcError *error, AdbcStatusCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Gives the caller what tessera.h said, with its status as the vendor's code. */
AdbcStatusCode driver_failed(struct AdbcError *error, const struct tessera_error *from);
AdbcStatusCode driver_out_of_memory(struct AdbcError *error);

#define RETURN_IF_FAILED(expression)                       \
    do {                                                   \
        AdbcStatusCode code_of_expression_ = (expression); \
        if (code_of_expression_ != ADBC_STATUS_OK)         \
            return code_of_expression_;                    \
    } while (0)

/* Replaces *text by a copy of `value`, which may be NULL. */
AdbcStatusCode driver_copy(const char *value, char **text, struct AdbcError *error);

/* A text option's value as the interface gives it: *length is its length with the zero, and `value` is written if it
 * has room. NULL: NOT_FOUND. */
AdbcStatusCode driver_give_option(const char *key, const char *text, char *value, size_t *length,
                                  struct AdbcError *error);

/* A call that runs the statement: the only one of its connection at a time. Between these two, ConnectionCancel and
 * StatementCancel stop it, also while it waits for its turn. */
void driver_begin(struct driver_statement *statement);
void driver_end(struct driver_statement *statement);
void driver_cancel(struct driver_calls *calls);

/* ---- Options (database.c) ---- */

AdbcStatusCode driver_options_copy(const struct driver_options *from, struct driver_options *to,
                                   struct AdbcError *error);
void driver_options_free(struct driver_options *options);

/* ---- States (connection.c) ---- */

/* The connection's state, opened if it is not. The caller is a user of it until driver_state_leave. */
AdbcStatusCode driver_state_enter(struct driver_connection *connection, struct driver_state **state,
                                  struct AdbcError *error);
void driver_state_leave(struct driver_state *state);
/* After a load: the next to enter opens the new state. */
void driver_state_renew(struct driver_connection *connection);
/* The connection behind a handle; refuses one that is not initialised. */
AdbcStatusCode driver_connection_of(const struct AdbcConnection *handle,
                                    struct driver_connection **connection, struct AdbcError *error);

/* ---- Binding (bind.c) ---- */

/* The columns of bound rows: checked against the number of parameters. */
AdbcStatusCode bind_check(const struct ArrowSchema *schema, uint32_t parameters, struct AdbcError *error);
/* Sets the statement's parameters to row `row` of a batch. */
AdbcStatusCode bind_row(struct tessera_statement *statement, const struct ArrowSchema *schema,
                        const struct ArrowArray *batch, int64_t row, struct AdbcError *error);

/* ---- Ingest (ingest.c) ---- */

AdbcStatusCode ingest_run(struct driver_statement *statement, int64_t *rows, struct AdbcError *error);

/* ---- The functions of the table ---- */

AdbcStatusCode driver_database_new(struct AdbcDatabase *, struct AdbcError *);
AdbcStatusCode driver_database_set(struct AdbcDatabase *, const char *key, const char *value,
                                   struct AdbcError *);
AdbcStatusCode driver_database_set_int(struct AdbcDatabase *, const char *key, int64_t value,
                                       struct AdbcError *);
AdbcStatusCode driver_database_get(struct AdbcDatabase *, const char *key, char *value, size_t *length,
                                   struct AdbcError *);
AdbcStatusCode driver_database_init(struct AdbcDatabase *, struct AdbcError *);
AdbcStatusCode driver_database_release(struct AdbcDatabase *, struct AdbcError *);

AdbcStatusCode driver_connection_new(struct AdbcConnection *, struct AdbcError *);
AdbcStatusCode driver_connection_set(struct AdbcConnection *, const char *key, const char *value,
                                     struct AdbcError *);
AdbcStatusCode driver_connection_get(struct AdbcConnection *, const char *key, char *value, size_t *length,
                                     struct AdbcError *);
AdbcStatusCode driver_connection_init(struct AdbcConnection *, struct AdbcDatabase *, struct AdbcError *);
AdbcStatusCode driver_connection_release(struct AdbcConnection *, struct AdbcError *);
AdbcStatusCode driver_connection_commit(struct AdbcConnection *, struct AdbcError *);
AdbcStatusCode driver_connection_rollback(struct AdbcConnection *, struct AdbcError *);
AdbcStatusCode driver_connection_cancel(struct AdbcConnection *, struct AdbcError *);
AdbcStatusCode driver_connection_info(struct AdbcConnection *, const uint32_t *codes, size_t count,
                                      struct ArrowArrayStream *, struct AdbcError *);
AdbcStatusCode driver_connection_objects(struct AdbcConnection *, int depth, const char *catalogue,
                                         const char *schema, const char *table, const char **types,
                                         const char *column, struct ArrowArrayStream *, struct AdbcError *);
AdbcStatusCode driver_connection_table_schema(struct AdbcConnection *, const char *catalogue,
                                              const char *schema, const char *table, struct ArrowSchema *,
                                              struct AdbcError *);
AdbcStatusCode driver_connection_table_types(struct AdbcConnection *, struct ArrowArrayStream *,
                                             struct AdbcError *);

AdbcStatusCode driver_statement_new(struct AdbcConnection *, struct AdbcStatement *, struct AdbcError *);
AdbcStatusCode driver_statement_release(struct AdbcStatement *, struct AdbcError *);
AdbcStatusCode driver_statement_set_sql(struct AdbcStatement *, const char *sql, struct AdbcError *);
AdbcStatusCode driver_statement_prepare(struct AdbcStatement *, struct AdbcError *);
AdbcStatusCode driver_statement_set(struct AdbcStatement *, const char *key, const char *value,
                                    struct AdbcError *);
AdbcStatusCode driver_statement_bind(struct AdbcStatement *, struct ArrowArray *, struct ArrowSchema *,
                                     struct AdbcError *);
AdbcStatusCode driver_statement_bind_stream(struct AdbcStatement *, struct ArrowArrayStream *,
                                            struct AdbcError *);
AdbcStatusCode driver_statement_execute(struct AdbcStatement *, struct ArrowArrayStream *, int64_t *rows,
                                        struct AdbcError *);
AdbcStatusCode driver_statement_schema(struct AdbcStatement *, struct ArrowSchema *, struct AdbcError *);
AdbcStatusCode driver_statement_parameter_schema(struct AdbcStatement *, struct ArrowSchema *,
                                                 struct AdbcError *);
AdbcStatusCode driver_statement_cancel(struct AdbcStatement *, struct AdbcError *);

#endif
