/*
 * adbc.h: the C interface of ADBC, Arrow database connectivity, revisions 1.0 and 1.1, as far as a driver needs it
 * (https://arrow.apache.org/adbc/current/cpp/index.html). A driver manager opens the driver's library, calls
 * AdbcDriverInit, and then calls the functions of the table that this fills.
 *
 * The interface is stable: names, order and types of members are those of the specification, and a manager of revision
 * 1.0 has the members before ErrorGetDetailCount only. docs/decisions.md says why they are declared here.
 */
#ifndef TESSERA_ENGINE_ADBC_ADBC_H
#define TESSERA_ENGINE_ADBC_ADBC_H

#include "loader/arrow/arrow.h"

#include <stddef.h>
#include <stdint.h>

/* A program that has the interface's own header includes it first. */
#ifndef ADBC
#define ADBC

typedef uint8_t AdbcStatusCode;

#define ADBC_STATUS_OK               0
#define ADBC_STATUS_UNKNOWN          1
#define ADBC_STATUS_NOT_IMPLEMENTED  2
#define ADBC_STATUS_NOT_FOUND        3
#define ADBC_STATUS_ALREADY_EXISTS   4
#define ADBC_STATUS_INVALID_ARGUMENT 5
#define ADBC_STATUS_INVALID_STATE    6
#define ADBC_STATUS_INVALID_DATA     7
#define ADBC_STATUS_INTEGRITY        8
#define ADBC_STATUS_INTERNAL         9
#define ADBC_STATUS_IO               10
#define ADBC_STATUS_CANCELLED        11

#define ADBC_VERSION_1_0_0 1000000
#define ADBC_VERSION_1_1_0 1001000

#define ADBC_OPTION_VALUE_ENABLED         "true"
#define ADBC_OPTION_VALUE_DISABLED        "false"
#define ADBC_OPTION_URI                   "uri"
#define ADBC_CONNECTION_OPTION_AUTOCOMMIT "adbc.connection.autocommit"
#define ADBC_CONNECTION_OPTION_READ_ONLY  "adbc.connection.readonly"

#define ADBC_INGEST_OPTION_TARGET_TABLE       "adbc.ingest.target_table"
#define ADBC_INGEST_OPTION_TARGET_CATALOG     "adbc.ingest.target_catalog"
#define ADBC_INGEST_OPTION_TARGET_DB_SCHEMA   "adbc.ingest.target_db_schema"
#define ADBC_INGEST_OPTION_TEMPORARY          "adbc.ingest.temporary"
#define ADBC_INGEST_OPTION_MODE               "adbc.ingest.mode"
#define ADBC_INGEST_OPTION_MODE_CREATE        "adbc.ingest.mode.create"
#define ADBC_INGEST_OPTION_MODE_APPEND        "adbc.ingest.mode.append"
#define ADBC_INGEST_OPTION_MODE_REPLACE       "adbc.ingest.mode.replace"
#define ADBC_INGEST_OPTION_MODE_CREATE_APPEND "adbc.ingest.mode.create_append"

#define ADBC_INFO_VENDOR_NAME          0
#define ADBC_INFO_VENDOR_VERSION       1
#define ADBC_INFO_VENDOR_ARROW_VERSION 2
#define ADBC_INFO_VENDOR_SQL           3
#define ADBC_INFO_VENDOR_SUBSTRAIT     4
#define ADBC_INFO_DRIVER_NAME          100
#define ADBC_INFO_DRIVER_VERSION       101
#define ADBC_INFO_DRIVER_ARROW_VERSION 102
#define ADBC_INFO_DRIVER_ADBC_VERSION  103

#define ADBC_OBJECT_DEPTH_ALL        0
#define ADBC_OBJECT_DEPTH_CATALOGS   1
#define ADBC_OBJECT_DEPTH_DB_SCHEMAS 2
#define ADBC_OBJECT_DEPTH_TABLES     3
#define ADBC_OBJECT_DEPTH_COLUMNS    ADBC_OBJECT_DEPTH_ALL

/* In `vendor_code`: private_data and private_driver are there, too; a caller of revision 1.0 has not made them. */
#define ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA INT32_MIN

struct AdbcDriver;

struct AdbcError {
    char *message;
    int32_t vendor_code;
    char sqlstate[5];
    void (*release)(struct AdbcError *error);
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcErrorDetail {
    const char *key;
    const uint8_t *value;
    size_t value_length;
};

struct AdbcDatabase {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcConnection {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcStatement {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcPartitions {
    size_t num_partitions;
    const uint8_t **partitions;
    const size_t *partition_lengths;
    void *private_data;
    void (*release)(struct AdbcPartitions *partitions);
};

struct AdbcDriver {
    void *private_data, *private_manager;
    AdbcStatusCode (*release)(struct AdbcDriver *, struct AdbcError *);

    AdbcStatusCode (*DatabaseInit)(struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*DatabaseNew)(struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOption)(struct AdbcDatabase *, const char *, const char *,
                                        struct AdbcError *);
    AdbcStatusCode (*DatabaseRelease)(struct AdbcDatabase *, struct AdbcError *);

    AdbcStatusCode (*ConnectionCommit)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetInfo)(struct AdbcConnection *, const uint32_t *, size_t,
                                        struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetObjects)(struct AdbcConnection *, int, const char *, const char *,
                                           const char *, const char **, const char *,
                                           struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetTableSchema)(struct AdbcConnection *, const char *, const char *,
                                               const char *, struct ArrowSchema *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetTableTypes)(struct AdbcConnection *, struct ArrowArrayStream *,
                                              struct AdbcError *);
    AdbcStatusCode (*ConnectionInit)(struct AdbcConnection *, struct AdbcDatabase *, struct AdbcError *);
    AdbcStatusCode (*ConnectionNew)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOption)(struct AdbcConnection *, const char *, const char *,
                                          struct AdbcError *);
    AdbcStatusCode (*ConnectionReadPartition)(struct AdbcConnection *, const uint8_t *, size_t,
                                              struct ArrowArrayStream *, struct AdbcError *);
    AdbcStatusCode (*ConnectionRelease)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionRollback)(struct AdbcConnection *, struct AdbcError *);

    AdbcStatusCode (*StatementBind)(struct AdbcStatement *, struct ArrowArray *, struct ArrowSchema *,
                                    struct AdbcError *);
    AdbcStatusCode (*StatementBindStream)(struct AdbcStatement *, struct ArrowArrayStream *,
                                          struct AdbcError *);
    AdbcStatusCode (*StatementExecuteQuery)(struct AdbcStatement *, struct ArrowArrayStream *, int64_t *,
                                            struct AdbcError *);
    AdbcStatusCode (*StatementExecutePartitions)(struct AdbcStatement *, struct ArrowSchema *,
                                                 struct AdbcPartitions *, int64_t *, struct AdbcError *);
    AdbcStatusCode (*StatementGetParameterSchema)(struct AdbcStatement *, struct ArrowSchema *,
                                                  struct AdbcError *);
    AdbcStatusCode (*StatementNew)(struct AdbcConnection *, struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementPrepare)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementRelease)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementSetOption)(struct AdbcStatement *, const char *, const char *,
                                         struct AdbcError *);
    AdbcStatusCode (*StatementSetSqlQuery)(struct AdbcStatement *, const char *, struct AdbcError *);
    AdbcStatusCode (*StatementSetSubstraitPlan)(struct AdbcStatement *, const uint8_t *, size_t,
                                                struct AdbcError *);

    /* ---- Revision 1.1 ---- */
    int (*ErrorGetDetailCount)(const struct AdbcError *);
    struct AdbcErrorDetail (*ErrorGetDetail)(const struct AdbcError *, int);
    const struct AdbcError *(*ErrorFromArrayStream)(struct ArrowArrayStream *, AdbcStatusCode *);

    AdbcStatusCode (*DatabaseGetOption)(struct AdbcDatabase *, const char *, char *, size_t *,
                                        struct AdbcError *);
    AdbcStatusCode (*DatabaseGetOptionBytes)(struct AdbcDatabase *, const char *, uint8_t *, size_t *,
                                             struct AdbcError *);
    AdbcStatusCode (*DatabaseGetOptionDouble)(struct AdbcDatabase *, const char *, double *,
                                              struct AdbcError *);
    AdbcStatusCode (*DatabaseGetOptionInt)(struct AdbcDatabase *, const char *, int64_t *,
                                           struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOptionBytes)(struct AdbcDatabase *, const char *, const uint8_t *, size_t,
                                             struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOptionDouble)(struct AdbcDatabase *, const char *, double,
                                              struct AdbcError *);
    AdbcStatusCode (*DatabaseSetOptionInt)(struct AdbcDatabase *, const char *, int64_t, struct AdbcError *);

    AdbcStatusCode (*ConnectionCancel)(struct AdbcConnection *, struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOption)(struct AdbcConnection *, const char *, char *, size_t *,
                                          struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOptionBytes)(struct AdbcConnection *, const char *, uint8_t *, size_t *,
                                               struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOptionDouble)(struct AdbcConnection *, const char *, double *,
                                                struct AdbcError *);
    AdbcStatusCode (*ConnectionGetOptionInt)(struct AdbcConnection *, const char *, int64_t *,
                                             struct AdbcError *);
    AdbcStatusCode (*ConnectionGetStatistics)(struct AdbcConnection *, const char *, const char *,
                                              const char *, char, struct ArrowArrayStream *,
                                              struct AdbcError *);
    AdbcStatusCode (*ConnectionGetStatisticNames)(struct AdbcConnection *, struct ArrowArrayStream *,
                                                  struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOptionBytes)(struct AdbcConnection *, const char *, const uint8_t *, size_t,
                                               struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOptionDouble)(struct AdbcConnection *, const char *, double,
                                                struct AdbcError *);
    AdbcStatusCode (*ConnectionSetOptionInt)(struct AdbcConnection *, const char *, int64_t,
                                             struct AdbcError *);

    AdbcStatusCode (*StatementCancel)(struct AdbcStatement *, struct AdbcError *);
    AdbcStatusCode (*StatementExecuteSchema)(struct AdbcStatement *, struct ArrowSchema *,
                                             struct AdbcError *);
    AdbcStatusCode (*StatementGetOption)(struct AdbcStatement *, const char *, char *, size_t *,
                                         struct AdbcError *);
    AdbcStatusCode (*StatementGetOptionBytes)(struct AdbcStatement *, const char *, uint8_t *, size_t *,
                                              struct AdbcError *);
    AdbcStatusCode (*StatementGetOptionDouble)(struct AdbcStatement *, const char *, double *,
                                               struct AdbcError *);
    AdbcStatusCode (*StatementGetOptionInt)(struct AdbcStatement *, const char *, int64_t *,
                                            struct AdbcError *);
    AdbcStatusCode (*StatementSetOptionBytes)(struct AdbcStatement *, const char *, const uint8_t *, size_t,
                                              struct AdbcError *);
    AdbcStatusCode (*StatementSetOptionDouble)(struct AdbcStatement *, const char *, double,
                                               struct AdbcError *);
    AdbcStatusCode (*StatementSetOptionInt)(struct AdbcStatement *, const char *, int64_t,
                                            struct AdbcError *);
};

#define ADBC_DRIVER_1_0_0_SIZE (offsetof(struct AdbcDriver, ErrorGetDetailCount))
#define ADBC_DRIVER_1_1_0_SIZE (sizeof(struct AdbcDriver))

#endif

/* The library's one exported symbol. */
AdbcStatusCode AdbcDriverInit(int version, void *driver, struct AdbcError *error);

#endif
