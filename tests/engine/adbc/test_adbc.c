/* test_adbc.c: the ADBC driver through its C interface alone, as a driver manager uses it: the library is opened, and
 * AdbcDriverInit gives its functions. test_adbc_peers.py does the same through Python's programs. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/adbc_rows.h"
#include "tests/support/one_directory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct AdbcDriver driver;
static struct AdbcDatabase database;
static struct AdbcConnection connection;
static struct AdbcError error;

typedef AdbcStatusCode init_function(int version, void *driver, struct AdbcError *error);
static init_function *init;

static void ok(AdbcStatusCode code)
{
    if (code != ADBC_STATUS_OK)
        print_message("%s\n", error.message);
    assert_int_equal(code, ADBC_STATUS_OK);
}

/* The call failed with this code, and the sentence has `text`. */
static void fails(AdbcStatusCode code, AdbcStatusCode expected, const char *text)
{
    assert_int_equal(code, expected);
    assert_non_null(error.message);
    if (!strstr(error.message, text))
        fail_msg("'%s' lacks '%s'", error.message, text);
    error.release(&error);
    assert_null(error.message);
}

/* ---- Rows to bind ---- */

static void bind_rows(struct AdbcStatement *statement, int64_t rows, int64_t columns)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    static const char *const names[] = {"a", "b"};
    static const int64_t numbers[] = {1, 2, 3};
    make_rows(names, numbers, rows, columns, &schema, &batch);
    ok(driver.StatementBind(statement, &batch, &schema, &error));
    assert_null(batch.release);
    assert_null(schema.release);
}

/* ---- Answers ---- */

/* All int64 of the answer's first column, one after the other: "1 2 3"; NULL is "-". */
static const char *first_column(struct ArrowArrayStream *stream)
{
    static char text[256];
    struct ArrowArray batch;
    text[0] = '\0';
    for (;;) {
        assert_int_equal(stream->get_next(stream, &batch), 0);
        if (!batch.release)
            break;
        const struct ArrowArray *const column = batch.children[0];
        for (int64_t row = 0; row < column->length; row++) {
            const uint8_t *const valid = column->buffers[0];
            char *const end = text + strlen(text);
            if (valid && !(valid[row / 8] >> row % 8 & 1))
                snprintf(end, (size_t)(text + sizeof text - end), "%s-", *text ? " " : "");
            else
                snprintf(end, (size_t)(text + sizeof text - end), "%s%lld", *text ? " " : "",
                         (long long)((const int64_t *)column->buffers[1])[row]);
        }
        batch.release(&batch);
    }
    stream->release(stream);
    return text;
}

static void asks(const char *sql, const char *expected)
{
    struct AdbcStatement statement = {0};
    struct ArrowArrayStream stream;
    int64_t rows = -2;
    ok(driver.StatementNew(&connection, &statement, &error));
    ok(driver.StatementSetSqlQuery(&statement, sql, &error));
    ok(driver.StatementExecuteQuery(&statement, &stream, &rows, &error));
    ok(driver.StatementRelease(&statement, &error)); /* an answer outlives its statement */
    assert_string_equal(first_column(&stream), expected);
    assert_true(rows >= 0);
}

static void ingests(const char *table, const char *mode, int64_t rows)
{
    struct AdbcStatement statement = {0};
    int64_t loaded = 0;
    ok(driver.StatementNew(&connection, &statement, &error));
    ok(driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_TARGET_TABLE, table, &error));
    ok(driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_MODE, mode, &error));
    bind_rows(&statement, rows, 2);
    ok(driver.StatementExecuteQuery(&statement, NULL, &loaded, &error));
    assert_int_equal(loaded, rows);
    ok(driver.StatementRelease(&statement, &error));
}

/* ---- Opening ---- */

static void open_database(const char *uri)
{
    ok(driver.DatabaseNew(&database, &error));
    ok(driver.DatabaseSetOption(&database, "uri", uri, &error));
    ok(driver.DatabaseSetOption(&database, "device", "cpu", &error));
    ok(driver.DatabaseInit(&database, &error));
    ok(driver.ConnectionNew(&connection, &error));
    ok(driver.ConnectionInit(&connection, &database, &error));
}

static void close_database(void)
{
    ok(driver.ConnectionRelease(&connection, &error));
    ok(driver.DatabaseRelease(&database, &error));
}

/* These tests begin with table t of three rows. */
static int open_shop(void **state)
{
    (void)state;
    char uri[PATH_BYTES + 64];
    setup(NULL);
    snprintf(uri, sizeof uri, "tessera://%s?threads=2", path);
    open_database(uri);
    ingests("t", ADBC_INGEST_OPTION_MODE_REPLACE, 3);
    return 0;
}

static int close_shop(void **state)
{
    (void)state;
    close_database();
    return teardown(NULL);
}

static void revisions(void **state)
{
    (void)state;
    struct AdbcDriver old;
    memset(&old, 7, sizeof old);
    ok(init(ADBC_VERSION_1_0_0, &old, &error));
    assert_non_null(old.StatementExecuteQuery);
    assert_int_equal(((unsigned char *)&old)[ADBC_DRIVER_1_0_0_SIZE],
                     7); /* members that a manager of 1.0 does not have */
    fails(init(999, &old, &error), ADBC_STATUS_NOT_IMPLEMENTED, "revisions 1.0 and 1.1");
    assert_int_equal(sizeof(struct AdbcDriver), ADBC_DRIVER_1_1_0_SIZE);
}

static void options(void **state)
{
    (void)state;
    struct AdbcDatabase other = {0};
    char text[64];
    size_t length = sizeof text;
    ok(driver.DatabaseNew(&other, &error));
    fails(driver.DatabaseInit(&other, &error), ADBC_STATUS_INVALID_ARGUMENT, "no database is named");
    ok(driver.DatabaseSetOption(&other, "uri", "tessera:shop%20one.db?device=cuda:1&gpu_memory=4G&threads=3",
                                &error));
    ok(driver.DatabaseGetOption(&other, "path", text, &length, &error));
    assert_string_equal(text, "shop one.db");
    assert_int_equal(length, sizeof "shop one.db");
    length = 2;
    ok(driver.DatabaseGetOption(&other, "device", text, &length, &error));
    assert_int_equal(length, sizeof "cuda:1"); /* what it needs; nothing is written */
    assert_string_equal(text, "shop one.db");
    ok(driver.DatabaseSetOption(&other, "memory", "1G", &error));
    ok(driver.DatabaseSetOption(&other, "spill", "/var/tmp", &error));
    length = sizeof text;
    ok(driver.DatabaseGetOption(&other, "memory", text, &length, &error));
    assert_string_equal(text, "1G");
    length = sizeof text;
    ok(driver.DatabaseGetOption(&other, "spill", text, &length, &error));
    assert_string_equal(text, "/var/tmp");
    ok(driver.DatabaseSetOption(&other, "plan_cache", "0", &error));
    length = sizeof text;
    ok(driver.DatabaseGetOption(&other, "plan_cache", text, &length, &error));
    assert_string_equal(text, "0");
    length = sizeof text;
    ok(driver.DatabaseGetOption(&other, "threads", text, &length, &error));
    assert_string_equal(text, "3");
    fails(driver.DatabaseSetOption(&other, "threads", "many", &error), ADBC_STATUS_INVALID_ARGUMENT,
          "not 'many'");
    fails(driver.DatabaseSetOption(&other, "uri", "tessera:a?device", &error), ADBC_STATUS_INVALID_ARGUMENT,
          "has no value");
    fails(driver.DatabaseSetOption(&other, "colour", "red", &error), ADBC_STATUS_NOT_IMPLEMENTED,
          "no option 'colour'");
    fails(driver.DatabaseGetOption(&other, "colour", text, &length, &error), ADBC_STATUS_NOT_FOUND,
          "'colour'");
    ok(driver.DatabaseRelease(&other, &error));
}

static void answers(void **state)
{
    (void)state;
    asks("select a from t order by a", "1 2 3");
    asks("select count(*) from t where b is null", "1");
    asks("select nullif(a, 2) from t order by a", "1 - 3");
    asks("select a from t where a > 5", "");
}

static void parameters(void **state)
{
    (void)state;
    struct AdbcStatement statement = {0};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    ok(driver.StatementNew(&connection, &statement, &error));
    fails(driver.StatementPrepare(&statement, &error), ADBC_STATUS_INVALID_STATE, "no SQL");
    ok(driver.StatementSetSqlQuery(&statement, "select a from t where a >= ? order by a", &error));
    ok(driver.StatementPrepare(&statement, &error));
    ok(driver.StatementGetParameterSchema(&statement, &schema, &error));
    assert_int_equal(schema.n_children, 1);
    schema.release(&schema);
    released = 0;
    bind_rows(&statement, 3, 1);
    ok(driver.StatementExecuteQuery(&statement, &stream, NULL, &error));
    assert_int_equal(released, 2); /* the batch and its schema; their children are theirs */
    assert_string_equal(first_column(&stream), "1 2 3 2 3 3");
    bind_rows(&statement, 1, 2);
    fails(driver.StatementExecuteQuery(&statement, &stream, NULL, &error), ADBC_STATUS_INVALID_ARGUMENT,
          "1 parameters; 2 columns are bound");
    ok(driver.StatementSetSqlQuery(&statement, "select a from t where b = 'yyy' and a > ?", &error));
    bind_rows(&statement, 1, 1);
    ok(driver.StatementExecuteSchema(&statement, &schema, &error));
    assert_string_equal(schema.children[0]->format, "l");
    schema.release(&schema);
    ok(driver.StatementExecuteQuery(&statement, &stream, NULL, &error)); /* what was bound is still there */
    assert_string_equal(first_column(&stream), "3");
    ok(driver.StatementRelease(&statement, &error));
    fails(driver.StatementPrepare(&statement, &error), ADBC_STATUS_INVALID_STATE, "was released");
}

static void errors(void **state)
{
    (void)state;
    struct AdbcStatement statement = {0};
    struct ArrowArrayStream stream;
    ok(driver.StatementNew(&connection, &statement, &error));
    ok(driver.StatementSetSqlQuery(&statement, "select nothing from t", &error));
    assert_int_equal(driver.StatementExecuteQuery(&statement, &stream, NULL, &error),
                     ADBC_STATUS_INVALID_ARGUMENT);
    assert_null(stream.release);
    assert_int_equal(error.vendor_code, 2);
    assert_memory_equal(error.sqlstate, "42000", 5);
    fails(ADBC_STATUS_INVALID_ARGUMENT, ADBC_STATUS_INVALID_ARGUMENT, "there is no column nothing");
    ok(driver.StatementCancel(&statement, &error)); /* nothing runs, so nothing is stopped */
    ok(driver.StatementSetSqlQuery(&statement, "select count(*) from t", &error));
    ok(driver.StatementExecuteQuery(&statement, NULL, NULL, &error));
    assert_int_equal(driver.StatementSetOption(&statement, "colour", "red", NULL),
                     ADBC_STATUS_NOT_IMPLEMENTED);
    ok(driver.StatementRelease(&statement, &error));
}

struct asker {
    struct AdbcConnection connection;
    struct AdbcStatement statement;
    atomic_bool stop; /* tell it to end */
    atomic_uint runs;
    AdbcStatusCode code; /* of its last run */
};

static void *ask_often(void *context)
{
    struct asker *const asker = context;
    do {
        asker->code = driver.StatementExecuteQuery(&asker->statement, NULL, NULL, NULL);
        atomic_fetch_add(&asker->runs, 1);
    } while (asker->code == ADBC_STATUS_OK && !atomic_load(&asker->stop));
    atomic_store(&asker->stop, true);
    return NULL;
}

/* On two connections. ConnectionCancel stops the statements of its connection. */
static void one_of_two_statements_is_cancelled(void **state)
{
    (void)state;
    struct asker askers[2] = {0};
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++) {
        ok(driver.ConnectionNew(&askers[i].connection, &error));
        ok(driver.ConnectionInit(&askers[i].connection, &database, &error));
        ok(driver.StatementNew(&askers[i].connection, &askers[i].statement, &error));
        ok(driver.StatementSetSqlQuery(&askers[i].statement, "select b, sum(a) from t group by b order by 1",
                                       &error));
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    while (!atomic_load(&askers[0].stop))
        ok(driver.StatementCancel(&askers[0].statement, &error));
    const unsigned before = atomic_load(&askers[1].runs);
    while (!atomic_load(&askers[1].stop) && atomic_load(&askers[1].runs) < before + 3)
        sched_yield();
    assert_false(atomic_load(&askers[1].stop));
    while (!atomic_load(&askers[1].stop))
        ok(driver.ConnectionCancel(&askers[1].connection, &error));
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(askers[i].code, ADBC_STATUS_CANCELLED);
        ok(driver.StatementExecuteQuery(&askers[i].statement, NULL, NULL, &error));
        ok(driver.StatementRelease(&askers[i].statement, &error));
        ok(driver.ConnectionRelease(&askers[i].connection, &error));
    }
}

static void ingest(void **state)
{
    (void)state;
    struct AdbcStatement statement = {0};
    ingests("t", ADBC_INGEST_OPTION_MODE_APPEND, 2);
    asks("select count(*) from t", "5");
    ingests("u", ADBC_INGEST_OPTION_MODE_CREATE_APPEND, 1);
    ingests("u", ADBC_INGEST_OPTION_MODE_CREATE_APPEND, 1);
    asks("select count(*) from u", "2");
    ok(driver.StatementNew(&connection, &statement, &error));
    ok(driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_TARGET_TABLE, "t", &error));
    fails(driver.StatementExecuteQuery(&statement, NULL, NULL, &error), ADBC_STATUS_INVALID_STATE,
          "nothing is bound");
    bind_rows(&statement, 3, 2);
    fails(driver.StatementExecuteQuery(&statement, NULL, NULL, &error), ADBC_STATUS_ALREADY_EXISTS,
          "table t exists");
    ok(driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_TARGET_TABLE, "v", &error));
    ok(driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_MODE, ADBC_INGEST_OPTION_MODE_APPEND,
                                 &error));
    bind_rows(&statement, 3, 2);
    fails(driver.StatementExecuteQuery(&statement, NULL, NULL, &error), ADBC_STATUS_NOT_FOUND, "no table v");
    ok(driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_MODE, ADBC_INGEST_OPTION_MODE_CREATE,
                                 &error));
    ok(driver.StatementSetOption(&statement, "tessera.ingest.schema",
                                 "CREATE TABLE v (a INT PRIMARY KEY, b TEXT)", &error));
    bind_rows(&statement, 3, 2);
    ok(driver.StatementExecuteQuery(&statement, NULL, NULL, &error));
    asks("select a from v where b is null", "2");
    ok(driver.StatementRelease(&statement, &error));
}

static void transactions(void **state)
{
    (void)state;
    fails(driver.ConnectionCommit(&connection, &error), ADBC_STATUS_INVALID_STATE, "autocommit is on");
    ok(driver.ConnectionSetOption(&connection, ADBC_CONNECTION_OPTION_AUTOCOMMIT, ADBC_OPTION_VALUE_DISABLED,
                                  &error));
    ok(driver.ConnectionRollback(&connection, &error));
    ingests("t", ADBC_INGEST_OPTION_MODE_APPEND, 1);
    fails(driver.ConnectionRollback(&connection, &error), ADBC_STATUS_NOT_IMPLEMENTED,
          "cannot be rolled back");
    ok(driver.ConnectionCommit(&connection, &error));
    ok(driver.ConnectionRollback(&connection, &error));
    struct AdbcStatement statement = {0};
    int64_t changed = 0;
    ok(driver.StatementNew(&connection, &statement, &error));
    ok(driver.StatementSetSqlQuery(&statement, "insert into t (a) values (70), (71), (72)", &error));
    ok(driver.StatementExecuteQuery(&statement, NULL, &changed, &error));
    assert_int_equal(changed, 3);
    asks("select a from t where a >= 70 order by a", "70 71 72");
    fails(driver.ConnectionRollback(&connection, &error), ADBC_STATUS_NOT_IMPLEMENTED,
          "cannot be rolled back");
    ok(driver.StatementSetSqlQuery(&statement, "delete from t where a > 70", &error));
    ok(driver.StatementExecuteQuery(&statement, NULL, &changed, &error));
    assert_int_equal(changed, 2);
    asks("select a from t where a >= 70", "70");
    ok(driver.StatementRelease(&statement, &error));
}

/* A connection keeps the state that it opened; a new one sees what was loaded meanwhile. */
static void states(void **state)
{
    (void)state;
    struct AdbcConnection reader = {0};
    const struct AdbcConnection writer = connection;
    ok(driver.ConnectionNew(&reader, &error));
    ok(driver.ConnectionInit(&reader, &database, &error));
    ingests("t", ADBC_INGEST_OPTION_MODE_APPEND, 3);
    asks("select count(*) from t", "6");
    connection = reader;
    asks("select count(*) from t", "3");
    ok(driver.ConnectionRelease(&connection, &error));
    connection = writer;
}

/* The texts of a column of the first batch, with blanks between them. */
static const char *texts(const struct ArrowArray *column)
{
    static char text[256];
    const int32_t *const ends = column->buffers[1];
    text[0] = '\0';
    for (int64_t row = 0; row < column->length; row++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", row ? " " : "",
                 (int)(ends[row + 1] - ends[row]), (const char *)column->buffers[2] + ends[row]);
    return text;
}

static void catalogue(void **state)
{
    (void)state;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    struct ArrowSchema schema;
    ok(driver.ConnectionGetObjects(&connection, ADBC_OBJECT_DEPTH_ALL, NULL, NULL, "_", NULL, "%", &stream,
                                   &error));
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.children[1]->format, "+l");
    schema.release(&schema);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    const struct ArrowArray *const tables = batch.children[1]->children[0]->children[1]->children[0];
    assert_string_equal(texts(tables->children[1]), tables->length == 1 ? "table" : "table table table");
    const struct ArrowArray *const columns = tables->children[2]->children[0];
    assert_int_equal(columns->n_children, 19);
    assert_non_null(strstr(texts(columns->children[0]), "a b"));
    batch.release(&batch);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_null(batch.release);
    stream.release(&stream);
    ok(driver.ConnectionGetTableTypes(&connection, &stream, &error));
    stream.release(&stream);
    ok(driver.ConnectionGetInfo(&connection, (const uint32_t[]){ADBC_INFO_DRIVER_NAME, 77}, 2, &stream,
                                &error));
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 1); /* codes that it does not know are left out */
    assert_string_equal(texts(batch.children[1]->children[0]), "ADBC Tessera driver");
    batch.release(&batch);
    stream.release(&stream);
    ok(driver.ConnectionGetTableSchema(&connection, NULL, NULL, "t", &schema, &error));
    assert_int_equal(schema.n_children, 2);
    assert_string_equal(schema.children[1]->format, "U");
    schema.release(&schema);
    fails(driver.ConnectionGetTableSchema(&connection, NULL, NULL, "w", &schema, &error),
          ADBC_STATUS_NOT_FOUND, "no table \"w\"");
    fails(driver.ConnectionGetObjects(&connection, 9, NULL, NULL, NULL, NULL, NULL, &stream, &error),
          ADBC_STATUS_INVALID_ARGUMENT, "0 to 3");
}

/* Programs ask for a table before they make it. */
static void a_new_database_has_no_tables(void **state)
{
    (void)state;
    struct AdbcDatabase fresh = {0};
    struct AdbcConnection empty = {0};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    struct ArrowSchema schema;
    char at[PATH_BYTES + 8];
    snprintf(at, sizeof at, "%s.new", path);
    ok(driver.DatabaseNew(&fresh, &error));
    ok(driver.DatabaseSetOption(&fresh, "path", at, &error));
    ok(driver.ConnectionNew(&empty, &error));
    fails(driver.ConnectionGetObjects(&empty, 0, NULL, NULL, NULL, NULL, NULL, &stream, &error),
          ADBC_STATUS_INVALID_STATE, "the connection is not initialised");
    ok(driver.ConnectionInit(&empty, &fresh, &error));
    ok(driver.ConnectionGetObjects(&empty, ADBC_OBJECT_DEPTH_ALL, NULL, NULL, NULL, NULL, NULL, &stream,
                                   &error));
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.children[1]->children[0]->children[1]->children[0]->length, 0);
    batch.release(&batch);
    stream.release(&stream);
    fails(driver.ConnectionGetTableSchema(&empty, NULL, NULL, "t", &schema, &error), ADBC_STATUS_NOT_FOUND,
          "has no table \"t\"; it has: none");
    ok(driver.ConnectionRelease(&empty, &error));
    ok(driver.DatabaseRelease(&fresh, &error));
}

/* ---- Threads ---- */

#define GUESTS 4u
#define ROUNDS 2u /* of each; TESSERA_THREADS_ROUNDS says another number */

/* A thread with a connection of its own, which also uses the one that all share. */
struct guest {
    unsigned number, rounds;
    struct AdbcConnection own;
    struct AdbcError error;
    char wrong[1200]; /* empty: all was right */
};

/* On a slow machine a change may wait longer for those of other threads than it does; it is then made again. */
static bool waited_long(struct guest *guest)
{
    const bool too_long = guest->error.message && strstr(guest->error.message, "by another writer");
    if (too_long)
        guest->error.release(&guest->error);
    return too_long;
}

/* Threads may not use cmocka: the first thing that is wrong is kept. */
static bool went_well(struct guest *guest, bool fine, const char *what)
{
    if (!fine && !guest->wrong[0])
        snprintf(guest->wrong, sizeof guest->wrong, "%s: %.1000s", what,
                 guest->error.message ? guest->error.message : "another answer");
    if (guest->error.release)
        guest->error.release(&guest->error);
    return fine;
}

/* The answer's stream; the statement has gone. */
static bool begin_answer(struct guest *guest, struct AdbcConnection *of, const char *sql,
                         struct ArrowArrayStream *stream)
{
    struct AdbcStatement statement = {0};
    struct AdbcError *const why = &guest->error;
    bool fine = driver.StatementNew(of, &statement, why) == ADBC_STATUS_OK;
    fine = fine && driver.StatementSetSqlQuery(&statement, sql, why) == ADBC_STATUS_OK;
    fine = fine && driver.StatementExecuteQuery(&statement, stream, NULL, why) == ADBC_STATUS_OK;
    return driver.StatementRelease(&statement, fine ? why : NULL) == ADBC_STATUS_OK && fine;
}

/* The sum of the first column is `expected`. */
static bool sums_up(struct guest *guest, struct AdbcConnection *of, const char *sql, int64_t expected)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t sum = 0;
    if (!begin_answer(guest, of, sql, &stream))
        return false;
    while (stream.get_next(&stream, &batch) == 0 && batch.release) {
        for (int64_t row = 0; row < batch.children[0]->length; row++)
            sum += ((const int64_t *)batch.children[0]->buffers[1])[row];
        batch.release(&batch);
    }
    stream.release(&stream);
    return sum == expected;
}

/* Rows of the table that all ask go into one of this thread. */
static bool ingests_an_answer(struct guest *guest, const char *table)
{
    struct AdbcStatement statement = {0};
    struct AdbcError *const why = &guest->error;
    struct ArrowArrayStream stream;
    if (!begin_answer(guest, &connection, "select a, b from t", &stream))
        return false;
    bool fine = driver.StatementNew(&guest->own, &statement, why) == ADBC_STATUS_OK;
    fine = fine && driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_TARGET_TABLE, table, why) ==
                       ADBC_STATUS_OK;
    fine = fine && driver.StatementSetOption(&statement, ADBC_INGEST_OPTION_MODE,
                                             ADBC_INGEST_OPTION_MODE_CREATE_APPEND, why) == ADBC_STATUS_OK;
    fine = fine && driver.StatementBindStream(&statement, &stream, why) == ADBC_STATUS_OK;
    fine = fine && driver.StatementExecuteQuery(&statement, NULL, NULL, why) == ADBC_STATUS_OK;
    return driver.StatementRelease(&statement, fine ? why : NULL) == ADBC_STATUS_OK && fine;
}

static bool describes(struct guest *guest)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    struct ArrowSchema schema;
    if (driver.ConnectionGetObjects(&connection, ADBC_OBJECT_DEPTH_ALL, NULL, NULL, NULL, NULL, NULL, &stream,
                                    &guest->error) != ADBC_STATUS_OK)
        return false;
    if (stream.get_next(&stream, &batch) == 0 && batch.release)
        batch.release(&batch);
    stream.release(&stream);
    if (driver.ConnectionGetTableSchema(&connection, NULL, NULL, "t", &schema, &guest->error) !=
        ADBC_STATUS_OK)
        return false;
    const bool fine = schema.n_children == 2;
    schema.release(&schema);
    return fine;
}

static void *visit(void *context)
{
    struct guest *const guest = context;
    struct AdbcConnection *const own = &guest->own;
    char table[32], sql[128];
    bool fine;
    snprintf(table, sizeof table, "t%u", guest->number);
    for (unsigned round = 1; round <= guest->rounds && !guest->wrong[0]; round++) {
        if (own->private_data && round % 2)
            went_well(guest, driver.ConnectionRelease(own, &guest->error) == ADBC_STATUS_OK, "release");
        if (!own->private_data)
            went_well(guest,
                      driver.ConnectionNew(own, &guest->error) == ADBC_STATUS_OK &&
                          driver.ConnectionInit(own, &database, &guest->error) == ADBC_STATUS_OK,
                      "a connection");
        went_well(guest, sums_up(guest, &connection, "select a from t where b is not null", 4), "all ask");
        do
            fine = ingests_an_answer(guest, table);
        while (!fine && waited_long(guest));
        went_well(guest, fine, "an ingest");
        snprintf(sql, sizeof sql, "select sum(a) from %s", table);
        went_well(guest, sums_up(guest, own, sql, 6 * (int64_t)round), sql);
        went_well(guest, describes(guest), "a description");
        snprintf(sql, sizeof sql, "insert into w values (%u, 'x')", round);
        do
            fine = sums_up(guest, own, sql, 1);
        while (!fine && waited_long(guest));
        went_well(guest, fine, sql);
    }
    if (own->private_data)
        went_well(guest, driver.ConnectionRelease(own, &guest->error) == ADBC_STATUS_OK, "release");
    return NULL;
}

static void threads_have_connections_and_share_one(void **state)
{
    const char *const rounds = getenv("TESSERA_THREADS_ROUNDS");
    struct guest guests[GUESTS] = {0};
    pthread_t threads[GUESTS];
    char sum[32];
    (void)state;
    asks("create table w (a bigint, b text)", "0");
    for (unsigned g = 0; g < GUESTS; g++) {
        guests[g].number = g;
        guests[g].rounds = rounds ? (unsigned)atoi(rounds) : ROUNDS;
        assert_int_equal(pthread_create(&threads[g], NULL, visit, &guests[g]), 0);
    }
    for (unsigned g = 0; g < GUESTS; g++)
        pthread_join(threads[g], NULL);
    for (unsigned g = 0; g < GUESTS; g++)
        if (guests[g].wrong[0])
            fail_msg("%s", guests[g].wrong);
    ok(driver.ConnectionRelease(&connection, &error));
    ok(driver.ConnectionNew(&connection, &error));
    ok(driver.ConnectionInit(&connection, &database, &error));
    snprintf(sum, sizeof sum, "%u", GUESTS * guests[0].rounds * (guests[0].rounds + 1) / 2);
    asks("select sum(a) from w", sum);
}

int main(void)
{
    void *const library = dlopen(TESSERA_ADBC, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&init = dlsym(library, "AdbcDriverInit");
    if (!init || init(ADBC_VERSION_1_1_0, &driver, &error) != ADBC_STATUS_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revisions),
        cmocka_unit_test(options),
        cmocka_unit_test_setup_teardown(answers, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(parameters, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(errors, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(one_of_two_statements_is_cancelled, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(ingest, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(transactions, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(states, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(catalogue, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(a_new_database_has_no_tables, open_shop, close_shop),
        cmocka_unit_test_setup_teardown(threads_have_connections_and_share_one, open_shop, close_shop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
