/*
 * test_adbc_faults.c: the ADBC driver with every call of the C library failing in turn that it makes
 * (tests/support/own_faults.h). A failing call must give an error with a sentence and a code that blames the machine.
 *
 *     TESSERA_FAULTS=all test_adbc_faults 'ingest*'
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/adbc/adbc.h"
#include "engine/library/tessera.h"
#include "tests/support/adbc_rows.h"
#include "tests/faults/shop_files.h"
#include "tests/support/own_faults.h"

#include <errno.h>

static struct AdbcDriver driver;

typedef AdbcStatusCode init_function(int version, void *driver, struct AdbcError *error);
static init_function *init;

/* What an operation uses; all of it is released by shop_close, whatever was made of it. */
struct shop {
    struct AdbcDatabase database;
    struct AdbcConnection connection;
    struct AdbcStatement statement;
    struct AdbcError error;
    struct own_outcome *outcome;
    bool not_durable; /* a change was made, and only a power cut may undo it: no failure here */
};

/* Notes how a call ended, as a code of tessera.h; returns whether it succeeded. */
static bool went(struct shop *shop, AdbcStatusCode code)
{
    const bool machine = code == ADBC_STATUS_IO || code == ADBC_STATUS_INTERNAL;
    const bool made = machine && shop->error.vendor_code == TESSERA_NOT_DURABLE;
    shop->not_durable |= made;
    if (!made)
        (void)own_ended(shop->outcome, code == ADBC_STATUS_OK ? 0 : machine ? 3 : 2, shop->error.message);
    if (shop->error.release)
        shop->error.release(&shop->error);
    return code == ADBC_STATUS_OK;
}

#define GOES(call) went(shop, driver.call)

/* ---- Streams ---- */

static bool moved(struct shop *shop, struct ArrowArrayStream *stream, int code)
{
    return own_ended(shop->outcome,
                     code == ENOMEM || code == EIO ? 3
                     : code                        ? 2
                                                   : 0,
                     code ? stream->get_last_error(stream) : NULL);
}

static void note_schema(const struct ArrowSchema *schema, struct own_outcome *outcome)
{
    own_note(outcome, schema->format, strlen(schema->format));
    if (schema->name)
        own_note(outcome, schema->name, strlen(schema->name));
    for (int64_t c = 0; c < schema->n_children; c++)
        note_schema(schema->children[c], outcome);
}

static void note_array(const struct ArrowArray *array, struct own_outcome *outcome)
{
    own_note(outcome, &array->length, sizeof array->length);
    own_note(outcome, &array->null_count, sizeof array->null_count);
    if (array->n_buffers >= 2 && array->buffers[1])
        own_note(outcome, array->buffers[1], (size_t)array->length / 8);
    for (int64_t c = 0; c < array->n_children; c++)
        note_array(array->children[c], outcome);
}

/* Reads the stream to its end, and releases it. */
static void read_stream(struct shop *shop, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray batch = {.release = NULL};
    if (moved(shop, stream, stream->get_schema(stream, &schema))) {
        note_schema(&schema, shop->outcome);
        schema.release(&schema);
    }
    while (moved(shop, stream, stream->get_next(stream, &batch)) && batch.release) {
        note_array(&batch, shop->outcome);
        batch.release(&batch);
    }
    stream->release(stream);
}

/* ---- Rows to bind ---- */

/* After a failure the rows are still the caller's. */
static bool bind(struct shop *shop, int64_t rows, int64_t columns)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    static const char *const names[] = {"shop", "note"};
    static const int64_t numbers[] = {1, 4, 7};
    make_rows(names, numbers, rows, columns, &schema, &batch);
    const bool bound = GOES(StatementBind(&shop->statement, &batch, &schema, &shop->error));
    if (schema.release)
        schema.release(&schema);
    if (batch.release)
        batch.release(&batch);
    return bound;
}

/* ---- Operations ---- */

static bool shop_open(struct shop *shop)
{
    return GOES(DatabaseNew(&shop->database, &shop->error)) &&
           GOES(DatabaseSetOption(&shop->database, "uri", "tessera:" COPY_PATH "?device=cpu&threads=2",
                                  &shop->error)) &&
           GOES(DatabaseInit(&shop->database, &shop->error)) &&
           GOES(ConnectionNew(&shop->connection, &shop->error)) &&
           GOES(ConnectionInit(&shop->connection, &shop->database, &shop->error));
}

static void shop_close(struct shop *shop)
{
    if (shop->statement.private_data)
        (void)GOES(StatementRelease(&shop->statement, &shop->error));
    if (shop->connection.private_data)
        (void)GOES(ConnectionRelease(&shop->connection, &shop->error));
    if (shop->database.private_data)
        (void)GOES(DatabaseRelease(&shop->database, &shop->error));
}

static void initialise(struct shop *shop)
{
    struct AdbcDriver made;
    if (went(shop, init(ADBC_VERSION_1_1_0, &made, &shop->error)))
        (void)went(shop, made.release(&made, &shop->error));
}

static void refuse(struct shop *shop)
{
    (void)went(shop, init(7, &driver, &shop->error));
}

static void options(struct shop *shop)
{
    char text[64] = "";
    size_t length = sizeof text;
    if (GOES(DatabaseSetOption(&shop->database, "memory", "64M", &shop->error)) &&
        GOES(DatabaseSetOption(&shop->database, "spill", "/var/tmp", &shop->error)) &&
        GOES(DatabaseSetOptionInt(&shop->database, "threads", 1, &shop->error)) &&
        GOES(DatabaseGetOption(&shop->database, "memory", text, &length, &shop->error)) &&
        GOES(ConnectionSetOption(&shop->connection, ADBC_CONNECTION_OPTION_AUTOCOMMIT,
                                 ADBC_OPTION_VALUE_DISABLED, &shop->error)))
        own_note(shop->outcome, text, length);
}

static void wrong_option(struct shop *shop)
{
    (void)GOES(DatabaseSetOption(&shop->database, "colour", "red", &shop->error));
}

static bool query(struct shop *shop, const char *sql)
{
    struct ArrowArrayStream stream = {.release = NULL};
    int64_t rows = 0;
    if (!GOES(StatementSetSqlQuery(&shop->statement, sql, &shop->error)) ||
        !GOES(StatementExecuteQuery(&shop->statement, &stream, &rows, &shop->error)))
        return false;
    own_note(shop->outcome, &rows, sizeof rows);
    read_stream(shop, &stream);
    return true;
}

static void ask(struct shop *shop)
{
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)))
        (void)query(shop, "SELECT id, note, paid, weight, day, at, seen, online FROM sales WHERE shop = 4");
}

static void ask_wrongly(struct shop *shop)
{
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)))
        (void)query(shop, "SELECT nothing FROM sales");
}

static void parameters(struct shop *shop)
{
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArrayStream stream = {.release = NULL};
    int64_t rows = 0;
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)) &&
        GOES(StatementSetSqlQuery(&shop->statement,
                                  "SELECT id, note || ? FROM sales WHERE shop = ? ORDER BY id LIMIT 3",
                                  &shop->error)) &&
        GOES(StatementPrepare(&shop->statement, &shop->error)) &&
        GOES(StatementGetParameterSchema(&shop->statement, &schema, &shop->error))) {
        note_schema(&schema, shop->outcome);
        schema.release(&schema);
        if (bind(shop, 3, 2) && GOES(StatementExecuteSchema(&shop->statement, &schema, &shop->error))) {
            note_schema(&schema, shop->outcome);
            schema.release(&schema);
            if (GOES(StatementExecuteQuery(&shop->statement, &stream, &rows, &shop->error))) {
                own_note(shop->outcome, &rows, sizeof rows);
                read_stream(shop, &stream);
            }
        }
    }
}

/* The answers' types differ from row to row. */
static void differ(struct shop *shop)
{
    struct ArrowArrayStream stream = {.release = NULL};
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)) &&
        GOES(StatementSetSqlQuery(&shop->statement, "SELECT ?, ?", &shop->error)) && bind(shop, 2, 2) &&
        GOES(StatementExecuteQuery(&shop->statement, &stream, NULL, &shop->error)))
        read_stream(shop, &stream);
}

/* The rows of an answer are bound, as a stream. */
static void bind_stream(struct shop *shop)
{
    struct ArrowArrayStream rows = {.release = NULL}, stream = {.release = NULL};
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)) &&
        GOES(StatementSetSqlQuery(&shop->statement, "SELECT k, opened, area, name FROM shops WHERE k < 10",
                                  &shop->error)) &&
        GOES(StatementExecuteQuery(&shop->statement, &rows, NULL, &shop->error)) &&
        GOES(StatementSetSqlQuery(
            &shop->statement,
            "SELECT count(*) FROM sales WHERE shop = ? AND day > ? AND paid > ? AND note <> ?",
            &shop->error)) &&
        GOES(StatementBindStream(&shop->statement, &rows, &shop->error)) &&
        GOES(StatementExecuteQuery(&shop->statement, &stream, NULL, &shop->error)))
        read_stream(shop, &stream);
    if (rows.release)
        rows.release(&rows);
}

static void objects(struct shop *shop)
{
    struct ArrowArrayStream stream = {.release = NULL};
    for (int depth = 0; depth < 4; depth++)
        if (GOES(ConnectionGetObjects(&shop->connection, depth, NULL, "", "%s%", NULL, "%", &stream,
                                      &shop->error)))
            read_stream(shop, &stream);
}

static void information(struct shop *shop)
{
    struct ArrowArrayStream stream = {.release = NULL};
    struct ArrowSchema schema = {.release = NULL};
    if (GOES(ConnectionGetInfo(&shop->connection, NULL, 0, &stream, &shop->error)))
        read_stream(shop, &stream);
    if (GOES(ConnectionGetTableTypes(&shop->connection, &stream, &shop->error)))
        read_stream(shop, &stream);
    if (GOES(ConnectionGetTableSchema(&shop->connection, NULL, NULL, "sales", &schema, &shop->error))) {
        note_schema(&schema, shop->outcome);
        schema.release(&schema);
    }
}

static void no_table(struct shop *shop)
{
    struct ArrowSchema schema = {.release = NULL};
    if (GOES(ConnectionGetTableSchema(&shop->connection, NULL, NULL, "nowhere", &schema, &shop->error)))
        schema.release(&schema);
}

static void ingest(struct shop *shop, const char *table, const char *mode)
{
    int64_t rows = 0;
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)) &&
        GOES(StatementSetOption(&shop->statement, ADBC_INGEST_OPTION_TARGET_TABLE, table, &shop->error)) &&
        GOES(StatementSetOption(&shop->statement, ADBC_INGEST_OPTION_MODE, mode, &shop->error)) &&
        bind(shop, 3, 2) && GOES(StatementExecuteQuery(&shop->statement, NULL, &rows, &shop->error)))
        own_note(shop->outcome, &rows, sizeof rows);
}

static void ingest_new(struct shop *shop)
{
    ingest(shop, "fresh", ADBC_INGEST_OPTION_MODE_CREATE);
}

static void ingest_append(struct shop *shop)
{
    ingest(shop, "sales", ADBC_INGEST_OPTION_MODE_APPEND);
}

static void ingest_replace(struct shop *shop)
{
    ingest(shop, "visits", ADBC_INGEST_OPTION_MODE_REPLACE);
}

static void ingest_existing(struct shop *shop)
{
    ingest(shop, "sales", ADBC_INGEST_OPTION_MODE_CREATE);
}

static void ingest_nowhere(struct shop *shop)
{
    ingest(shop, "nowhere", ADBC_INGEST_OPTION_MODE_APPEND);
}

static void insert(struct shop *shop)
{
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)))
        (void)query(shop,
                    "INSERT INTO sales (id, shop, note) VALUES (77000, 4, 'by ADBC'), (77001, 7, NULL)");
}

static void insert_bound(struct shop *shop)
{
    int64_t rows = 0;
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)) &&
        GOES(StatementSetSqlQuery(&shop->statement, "INSERT INTO sales (shop, note) VALUES (?, ?)",
                                  &shop->error)) &&
        bind(shop, 1, 2) && GOES(StatementExecuteQuery(&shop->statement, NULL, &rows, &shop->error)))
        own_note(shop->outcome, &rows, sizeof rows);
}

static void delete (struct shop *shop)
{
    int64_t rows = 0;
    if (GOES(StatementNew(&shop->connection, &shop->statement, &shop->error)) &&
        GOES(StatementSetSqlQuery(&shop->statement, "DELETE FROM sales WHERE paid > 500", &shop->error)) &&
        GOES(StatementExecuteQuery(&shop->statement, NULL, &rows, &shop->error)))
        own_note(shop->outcome, &rows, sizeof rows);
}

/* ---- One try ---- */

struct use {
    const char *name;
    void (*calls)(struct shop *);
    bool opens;   /* opening belongs to what is tried */
    bool changes; /* tables: it is all done, or nothing */
};

static const struct use uses[] = {
    {.name = "initialise", .calls = initialise},
    {.name = "refuse", .calls = refuse},
    {.name = "open_and_ask", .calls = ask, .opens = true},
    {.name = "options", .calls = options},
    {.name = "wrong_option", .calls = wrong_option},
    {.name = "ask", .calls = ask},
    {.name = "ask_wrongly", .calls = ask_wrongly},
    {.name = "parameters", .calls = parameters},
    {.name = "differ", .calls = differ},
    {.name = "bind_stream", .calls = bind_stream},
    {.name = "objects", .calls = objects},
    {.name = "information", .calls = information},
    {.name = "no_table", .calls = no_table},
    {.name = "ingest_new", .calls = ingest_new, .changes = true},
    {.name = "ingest_append", .calls = ingest_append, .changes = true},
    {.name = "ingest_replace", .calls = ingest_replace, .changes = true},
    {.name = "ingest_existing", .calls = ingest_existing, .changes = true},
    {.name = "ingest_nowhere", .calls = ingest_nowhere, .changes = true},
    {.name = "insert", .calls = insert, .changes = true},
    {.name = "insert_bound", .calls = insert_bound, .changes = true},
    {.name = "delete", .calls = delete, .changes = true},
};

#define USES (sizeof uses / sizeof *uses)

/* Numbers of the tables, by a connection of its own. */
static uint64_t state_of_copy(void)
{
    struct own_outcome seen = {.code = 0};
    struct shop shop = {.outcome = &seen};
    if (shop_open(&shop) &&
        went(&shop, driver.StatementNew(&shop.connection, &shop.statement, &shop.error))) {
        (void)query(&shop, "SHOW TABLES");
        (void)query(&shop, "SELECT count(*), sum(paid), count(note), max(id) FROM sales");
        (void)query(&shop, "SELECT count(*), sum(people) FROM visits");
    }
    shop_close(&shop);
    own_note(&seen, &seen.code, sizeof seen.code);
    return seen.answer;
}

/* Makes what is called before own_arm, and does it once. */
static void use_once(const struct use *use, bool armed, struct own_outcome *outcome)
{
    struct own_outcome opening = {.code = 0};
    struct shop shop = {.outcome = use->opens ? outcome : &opening};
    if (armed && use->opens)
        own_arm();
    const bool open = shop_open(&shop);
    if (armed && !use->opens)
        own_arm();
    shop.outcome = outcome;
    if (open)
        use->calls(&shop);
    else if (!use->opens)
        outcome->afterwards = "the database cannot be opened";
    shop_close(&shop);
    own_disarm();
    if (shop.not_durable && !outcome->code)
        outcome->answer = own_shared->right.answer;
}

static bool is_right(const struct own_outcome *outcome)
{
    const struct own_outcome *const right = &own_shared->right;
    return outcome->code == right->code && strcmp(outcome->text, right->text) == 0 &&
           outcome->answer == right->answer;
}

static void try_use(const void *argument, struct own_outcome *outcome)
{
    const struct use *const use = argument;
    struct own_outcome again = {.code = 0};
    if (use->changes) {
        copy_forget();
        copy_make();
    }
    const uint64_t before = use->changes ? state_of_copy() : 0;
    use_once(use, true, outcome);
    const uint64_t after = use->changes ? state_of_copy() : 0;
    if (own_shared->number == 0)
        own_shared->kept = after;
    if (outcome->afterwards || !own_failed())
        return;
    if (!outcome->code && after != own_shared->kept)
        outcome->afterwards = "the change was not made, or differs";
    else if (outcome->code && after != before)
        outcome->afterwards = "it failed, but the state is not the old one";
    if (outcome->afterwards || (use->changes && !outcome->code))
        return;
    use_once(use, false, &again);
    if (!is_right(&again) || (use->changes && state_of_copy() != own_shared->kept)) {
        fprintf(stderr, "%s\n", again.text);
        outcome->afterwards = "done again, it does not give the right answer";
    }
}

/* ---- All ---- */

static void runs(void **state)
{
    own_campaigns(*state);
}

static int make_shop_and_copy(void **state)
{
    (void)shop_make(state);
    copy_make();
    return 0;
}

int main(int count, char **arguments)
{
    static struct CMUnitTest tests[USES];
    static struct own_operation operations[USES];
    own_begin(arguments, true);
    void *const library = own_open(TESSERA_ADBC);
    if (library)
        *(void **)&init = dlsym(library, "AdbcDriverInit");
    if (!init || init(ADBC_VERSION_1_1_0, &driver, NULL) != ADBC_STATUS_OK) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (size_t u = 0; u < USES; u++) {
        operations[u] = (struct own_operation){.name = uses[u].name, .run = try_use, .argument = &uses[u]};
        tests[u] =
            (struct CMUnitTest){.name = uses[u].name, .test_func = runs, .initial_state = &operations[u]};
    }
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return _cmocka_run_group_tests("ADBC faults", tests, USES, make_shop_and_copy, teardown);
}
