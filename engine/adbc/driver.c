/* driver.c: errors, cancelling, and AdbcDriverInit, which fills the table of functions. */
#define _POSIX_C_SOURCE 200809L
#include "engine/adbc/driver.h"

#include "storage/base/number/number_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

static void release_error(struct AdbcError *error)
{
    free(error->message);
    error->message = NULL;
    error->release = NULL;
}

static void release_constant(struct AdbcError *error)
{
    error->message = NULL;
    error->release = NULL;
}

/* Without memory for the sentence, that is the error. */
static AdbcStatusCode fill_error(struct AdbcError *error, AdbcStatusCode code, int32_t vendor,
                                 const char *text)
{
    static char no_memory[] = "out of memory";
    /* The SQLSTATE class of each code: what programs test that know no code of ours. */
    static const char states[][6] = {
        [ADBC_STATUS_UNKNOWN] = "HY000",          [ADBC_STATUS_NOT_IMPLEMENTED] = "0A000",
        [ADBC_STATUS_NOT_FOUND] = "42P01",        [ADBC_STATUS_ALREADY_EXISTS] = "42P07",
        [ADBC_STATUS_INVALID_ARGUMENT] = "42000", [ADBC_STATUS_INVALID_STATE] = "HY010",
        [ADBC_STATUS_INVALID_DATA] = "22000",     [ADBC_STATUS_INTEGRITY] = "23000",
        [ADBC_STATUS_INTERNAL] = "XX000",         [ADBC_STATUS_IO] = "58000",
        [ADBC_STATUS_CANCELLED] = "57014"};
    if (!error)
        return code;
    if (error->release)
        error->release(error);
    char *const copy = strdup(text);
    error->message = copy ? copy : no_memory;
    error->vendor_code = copy ? vendor : TESSERA_MACHINE;
    error->release = copy ? release_error : release_constant;
    code = copy ? code : ADBC_STATUS_IO;
    memcpy(error->sqlstate, states[code], sizeof error->sqlstate);
    return code;
}

AdbcStatusCode driver_error(struct AdbcError *error, AdbcStatusCode code, const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list values;
    va_start(values, format);
    number_print_list(text, sizeof text, format, values);
    va_end(values);
    return fill_error(error, code, 0, text);
}

AdbcStatusCode driver_failed(struct AdbcError *error, const struct tessera_error *from)
{
    const AdbcStatusCode code = from->status == TESSERA_BAD_INPUT      ? ADBC_STATUS_INVALID_ARGUMENT
                                : from->status == TESSERA_CHECK_FAILED ? ADBC_STATUS_INVALID_DATA
                                : from->status == TESSERA_INTERRUPTED  ? ADBC_STATUS_CANCELLED
                                                                       : ADBC_STATUS_IO;
    return fill_error(error, code, (int32_t)from->status, from->text);
}

AdbcStatusCode driver_out_of_memory(struct AdbcError *error)
{
    return driver_error(error, ADBC_STATUS_IO, "out of memory");
}

AdbcStatusCode driver_copy(const char *value, char **text, struct AdbcError *error)
{
    char *const copy = value ? strdup(value) : NULL;
    if (value && !copy)
        return driver_out_of_memory(error);
    free(*text);
    *text = copy;
    return ADBC_STATUS_OK;
}

AdbcStatusCode driver_give_option(const char *key, const char *text, char *value, size_t *length,
                                  struct AdbcError *error)
{
    if (!text)
        return driver_error(error, ADBC_STATUS_NOT_FOUND, "the option '%s' is not set or does not exist",
                            key);
    const size_t needed = strlen(text) + 1;
    if (*length >= needed)
        memcpy(value, text, needed);
    *length = needed;
    return ADBC_STATUS_OK;
}

/* ---- Cancelling ---- A request that comes while nothing runs is for nothing; the last call that ends takes it back. */

static pthread_mutex_t running_mutex = PTHREAD_MUTEX_INITIALIZER; /* of all counts */

static void end_one(struct driver_calls *calls)
{
    if (--calls->running == 0)
        execution_resume(&calls->execution);
}

void driver_begin(struct driver_statement *statement)
{
    pthread_mutex_lock(&running_mutex);
    statement->connection->calls.running++;
    statement->calls.running++;
    statement->calls.execution.outer = &statement->connection->calls.execution;
    pthread_mutex_unlock(&running_mutex);
    pthread_mutex_lock(&statement->connection->mutex);
    execution_enter(&statement->calls.execution);
}

void driver_end(struct driver_statement *statement)
{
    execution_leave(&statement->calls.execution);
    pthread_mutex_unlock(&statement->connection->mutex);
    pthread_mutex_lock(&running_mutex);
    end_one(&statement->connection->calls);
    end_one(&statement->calls);
    pthread_mutex_unlock(&running_mutex);
}

void driver_cancel(struct driver_calls *calls)
{
    pthread_mutex_lock(&running_mutex);
    if (calls->running)
        execution_stop(&calls->execution);
    pthread_mutex_unlock(&running_mutex);
}

/* ---- The table of functions ---- */

static AdbcStatusCode release_driver(struct AdbcDriver *driver, struct AdbcError *error)
{
    (void)error;
    driver->release = NULL;
    return ADBC_STATUS_OK;
}

static AdbcStatusCode read_partition(struct AdbcConnection *connection, const uint8_t *partition,
                                     size_t length, struct ArrowArrayStream *out, struct AdbcError *error)
{
    (void)connection, (void)partition, (void)length, (void)out;
    return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                        "answers have no partitions here; execute the query");
}

static AdbcStatusCode execute_partitions(struct AdbcStatement *statement, struct ArrowSchema *schema,
                                         struct AdbcPartitions *partitions, int64_t *rows,
                                         struct AdbcError *error)
{
    (void)statement, (void)schema, (void)partitions, (void)rows;
    return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                        "answers have no partitions here; execute the query");
}

static AdbcStatusCode set_substrait(struct AdbcStatement *statement, const uint8_t *plan, size_t length,
                                    struct AdbcError *error)
{
    (void)statement, (void)plan, (void)length;
    return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                        "plans of Substrait are not read here; write the query as SQL");
}

static void fill_first_revision(struct AdbcDriver *driver)
{
    driver->release = release_driver;
    driver->DatabaseNew = driver_database_new;
    driver->DatabaseSetOption = driver_database_set;
    driver->DatabaseInit = driver_database_init;
    driver->DatabaseRelease = driver_database_release;
    driver->ConnectionNew = driver_connection_new;
    driver->ConnectionSetOption = driver_connection_set;
    driver->ConnectionInit = driver_connection_init;
    driver->ConnectionRelease = driver_connection_release;
    driver->ConnectionCommit = driver_connection_commit;
    driver->ConnectionRollback = driver_connection_rollback;
    driver->ConnectionGetInfo = driver_connection_info;
    driver->ConnectionGetObjects = driver_connection_objects;
    driver->ConnectionGetTableSchema = driver_connection_table_schema;
    driver->ConnectionGetTableTypes = driver_connection_table_types;
    driver->ConnectionReadPartition = read_partition;
    driver->StatementNew = driver_statement_new;
    driver->StatementRelease = driver_statement_release;
    driver->StatementSetSqlQuery = driver_statement_set_sql;
    driver->StatementSetSubstraitPlan = set_substrait;
    driver->StatementSetOption = driver_statement_set;
    driver->StatementPrepare = driver_statement_prepare;
    driver->StatementBind = driver_statement_bind;
    driver->StatementBindStream = driver_statement_bind_stream;
    driver->StatementGetParameterSchema = driver_statement_parameter_schema;
    driver->StatementExecuteQuery = driver_statement_execute;
    driver->StatementExecutePartitions = execute_partitions;
}

/* Functions of options of other types, of details of errors and of statistics stay NULL: managers have their own that say
 * so. */
static void fill_second_revision(struct AdbcDriver *driver)
{
    driver->DatabaseGetOption = driver_database_get;
    driver->DatabaseSetOptionInt = driver_database_set_int;
    driver->ConnectionGetOption = driver_connection_get;
    driver->ConnectionCancel = driver_connection_cancel;
    driver->StatementCancel = driver_statement_cancel;
    driver->StatementExecuteSchema = driver_statement_schema;
}

AdbcStatusCode AdbcDriverInit(int version, void *driver, struct AdbcError *error)
{
    if (version != ADBC_VERSION_1_0_0 && version != ADBC_VERSION_1_1_0)
        return driver_error(error, ADBC_STATUS_NOT_IMPLEMENTED,
                            "this driver has revisions 1.0 and 1.1 of ADBC, not %d", version);
    if (!driver)
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT, "AdbcDriverInit needs a driver to fill");
    memset(driver, 0, version == ADBC_VERSION_1_0_0 ? ADBC_DRIVER_1_0_0_SIZE : ADBC_DRIVER_1_1_0_SIZE);
    fill_first_revision(driver);
    if (version == ADBC_VERSION_1_1_0)
        fill_second_revision(driver);
    return ADBC_STATUS_OK;
}
