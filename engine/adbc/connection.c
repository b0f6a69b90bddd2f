/* connection.c: an ADBC connection: a database that is open, in the state of the moment when it was opened. */
#define _GNU_SOURCE
#include "engine/adbc/driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- States ---- */

void driver_state_leave(struct driver_state *state)
{
    if (!state || --state->users)
        return;
    tessera_close(state->database);
    free(state);
}

static AdbcStatusCode open_state(const struct driver_options *options, struct driver_state **state,
                                 struct AdbcError *error)
{
    const struct tessera_options with = {.size = sizeof with,
                                         .device = options->device,
                                         .threads = options->threads,
                                         .gpu_memory = options->gpu_memory,
                                         .memory = options->memory,
                                         .spill = options->spill,
                                         .plan_cache = options->plan_cache};
    struct tessera_error inner;
    struct driver_state *const made = calloc(1, sizeof *made);
    if (!made)
        return driver_out_of_memory(error);
    if (tessera_open_with(options->path, &with, &made->database, &inner) != TESSERA_OK) {
        free(made);
        return driver_failed(error, &inner);
    }
    made->users = 1;
    *state = made;
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_state_enter(struct driver_connection *connection, struct driver_state **state,
                                  struct AdbcError *error)
{
    if (!connection->state)
        RETURN_IF_FAILED(open_state(&connection->options, &connection->state, error));
    connection->state->users++;
    *state = connection->state;
    return ADBC_STATUS_OK;
}

void driver_state_renew(struct driver_connection *connection)
{
    driver_state_leave(connection->state);
    connection->state = NULL;
}

/* ---- The functions of the table ---- */

AdbcStatusCode driver_connection_new(struct AdbcConnection *connection, struct AdbcError *error)
{
    struct driver_connection *const made = calloc(1, sizeof *made);
    if (!made)
        return driver_out_of_memory(error);
    pthread_mutex_init(&made->mutex, NULL);
    connection->private_data = made;
    return ADBC_STATUS_OK;
}

static AdbcStatusCode made_of(const struct AdbcConnection *connection, struct driver_connection **of,
                              struct AdbcError *error)
{
    *of = connection->private_data;
    return *of ? ADBC_STATUS_OK
               : driver_error(error, ADBC_STATUS_INVALID_STATE,
                              "the connection is not made, or was released");
}

AdbcStatusCode driver_connection_of(const struct AdbcConnection *handle,
                                    struct driver_connection **connection, struct AdbcError *error)
{
    RETURN_IF_FAILED(made_of(handle, connection, error));
    return (*connection)->initialised
               ? ADBC_STATUS_OK
               : driver_error(error, ADBC_STATUS_INVALID_STATE, "the connection is not initialised");
}

AdbcStatusCode driver_connection_set(struct AdbcConnection *connection, const char *key, const char *value,
                                     struct AdbcError *error)
{
    struct driver_connection *of;
    RETURN_IF_FAILED(made_of(connection, &of, error));
    const bool on = value && strcmp(value, ADBC_OPTION_VALUE_ENABLED) == 0;
    const bool off = value && strcmp(value, ADBC_OPTION_VALUE_DISABLED) == 0;
    if (strcmp(key, ADBC_CONNECTION_OPTION_AUTOCOMMIT) == 0 && (on || off)) {
        of->manual_commit = off;
        of->changed = false;
        return ADBC_STATUS_OK;
    }
    if (strcmp(key, ADBC_CONNECTION_OPTION_READ_ONLY) == 0 && off)
        return ADBC_STATUS_OK;
    return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                        "a connection has no option '%s' that can be '%s'", key, value ? value : "NULL");
}

AdbcStatusCode driver_connection_get(struct AdbcConnection *connection, const char *key, char *value,
                                     size_t *length, struct AdbcError *error)
{
    struct driver_connection *of;
    RETURN_IF_FAILED(made_of(connection, &of, error));
    const char *text = NULL;
    if (strcmp(key, ADBC_CONNECTION_OPTION_AUTOCOMMIT) == 0)
        text = of->manual_commit ? ADBC_OPTION_VALUE_DISABLED : ADBC_OPTION_VALUE_ENABLED;
    else if (strcmp(key, ADBC_CONNECTION_OPTION_READ_ONLY) == 0)
        text = ADBC_OPTION_VALUE_DISABLED;
    return driver_give_option(key, text, value, length, error);
}

/* Where there is no database yet, an ingest or CREATE TABLE makes it. */
AdbcStatusCode driver_connection_init(struct AdbcConnection *connection, struct AdbcDatabase *database,
                                      struct AdbcError *error)
{
    struct driver_connection *of;
    const struct driver_database *const from = database->private_data;
    RETURN_IF_FAILED(made_of(connection, &of, error));
    if (!from || !from->options.path)
        return driver_error(error, ADBC_STATUS_INVALID_STATE, "the connection's database is not initialised");
    RETURN_IF_FAILED(driver_options_copy(&from->options, &of->options, error));
    of->initialised = true;
    return open_state(&of->options, &of->state, error);
}

AdbcStatusCode driver_connection_release(struct AdbcConnection *connection, struct AdbcError *error)
{
    struct driver_connection *of;
    RETURN_IF_FAILED(made_of(connection, &of, error));
    driver_state_leave(of->state);
    driver_options_free(&of->options);
    pthread_mutex_destroy(&of->mutex);
    free(of);
    connection->private_data = NULL;
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_connection_commit(struct AdbcConnection *connection, struct AdbcError *error)
{
    struct driver_connection *of;
    RETURN_IF_FAILED(made_of(connection, &of, error));
    if (!of->manual_commit)
        return driver_error(error, ADBC_STATUS_INVALID_STATE,
                            "autocommit is on, so nothing waits to be committed");
    of->changed = false;
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_connection_rollback(struct AdbcConnection *connection, struct AdbcError *error)
{
    struct driver_connection *of;
    RETURN_IF_FAILED(made_of(connection, &of, error));
    if (!of->manual_commit)
        return driver_error(error, ADBC_STATUS_INVALID_STATE,
                            "autocommit is on, so nothing waits to be rolled back");
    if (of->changed)
        return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                            "a change of tables is committed when it ends and cannot be rolled back; one "
                            "that fails changes nothing");
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_connection_cancel(struct AdbcConnection *connection, struct AdbcError *error)
{
    struct driver_connection *of;
    RETURN_IF_FAILED(made_of(connection, &of, error));
    driver_cancel(&of->calls);
    return ADBC_STATUS_OK;
}
