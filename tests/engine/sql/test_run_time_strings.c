/* test_run_time_strings.c: strings of a million different values that no table of strings holds: functions of several
 * columns and of numbers, in all clauses, on one thread and on several. The answers are SQLite's, which has the same
 * rows. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/arrow_export.h"
#include "engine/library/tessera.h"
#include "engine/run/engine_internal.h"
#include "tests/support/sql/as_sqlite.h"
#include "tests/support/database_cases.h"

#define ROWS  200003u
#define NAMES 50021u

static char path[PATH_BYTES];
static struct database *database;
static struct engine *engine;
static sqlite3 *sqlite;

/* Short and long strings, the empty one, and NULLs. */
static bool name_of(uint32_t row, char text[64])
{
    const uint32_t number = (uint32_t)((uint64_t)row * 2654435761u % NAMES);
    sprintf(text, number % 3 ? "n%u" : "a name that is longer than a view holds: %u", number);
    if (number % 1000 == 7)
        *text = '\0';
    return number % 100 != 3;
}

static int64_t number_of(uint32_t row)
{
    return (int64_t)((uint64_t)row * 40503u % 1000003u) * (row % 2 ? 1 : -90000000);
}

static void load(void)
{
    static char texts[ROWS][64];
    static const char *names[ROWS];
    static int64_t numbers[ROWS], keys[ROWS];
    struct tessera_error told;
    for (uint32_t row = 0; row < ROWS; row++) {
        names[row] = name_of(row, texts[row]) ? texts[row] : NULL;
        numbers[row] = number_of(row);
        keys[row] = row;
    }
    const struct tessera_values columns[] = {
        {.name = "k", .numbers = keys},
        {.name = "s", .texts = names},
        {.name = "n", .numbers = numbers},
    };
    if (tessera_load_rows(path, "CREATE TABLE w (k INTEGER, s VARCHAR, n BIGINT)", "w", columns, 3, ROWS,
                          TESSERA_LOAD_NEW, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
}

static void fill_sqlite(void)
{
    char text[64];
    sqlite3_stmt *insert;
    assert_int_equal(sqlite3_exec(sqlite, "create table w (k int, s text, n int); begin", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, "insert into w values (?, ?, ?)", -1, &insert, NULL),
                     SQLITE_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        sqlite3_bind_int64(insert, 1, row);
        if (name_of(row, text))
            sqlite3_bind_text(insert, 2, text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_null(insert, 2);
        sqlite3_bind_int64(insert, 3, number_of(row));
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    assert_int_equal(sqlite3_exec(sqlite, "commit", NULL, NULL, NULL), SQLITE_OK);
}

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    load();
    fill_sqlite();
    must(database_open(path, &database, error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    database_close(database);
    sqlite3_close(sqlite);
    directory_remove(path);
    return 0;
}

static const char *const statements[] = {
    "select s || '-' || n from w where k < 50000",
    "select s || '-' || n from w order by s || '-' || n limit 20",
    "select s || '-' || n, k from w order by k desc limit 20",
    "select s || '-' || (n % 20000), count(*), sum(k) from w group by s || '-' || (n % 20000) "
    "having count(*) > 1",
    "select count(*), count(distinct s || n), min(s || n), max(s || n), sum(length(s || n)) from w",
    "select length(s || n), count(*) from w group by length(s || n) order by 1",
    "select substr(s || n, 1, 3), count(*) from w group by substr(s || n, 1, 3) order by 1",
    "select count(*) from w where s || n like '%99%' or s || n = 'n51'",
    "select count(*) from w a join w b on a.s || a.n = b.s || b.n where a.k < 20",
    "select count(*), sum(length(x)) from (select s || n as x from w union select n || s from w)",
    "select k % 3, max(case when k % 2 = 0 then s || n else s end) from w group by k % 3 order by 1",
    "select k, substr(s, 1, n % 5 + 5) from w where k % 1001 = 0",
    "select s || sum(n) from w where k % 7 = 0 group by s",
};

static void are_as_sqlite(unsigned threads)
{
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = threads}, &engine, error));
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++)
        answers_as_sqlite(engine, database, sqlite, statements[s]);
    engine_close(engine);
}

static void on_one_thread(void **state)
{
    (void)state;
    are_as_sqlite(1);
}

static void on_several_threads(void **state)
{
    (void)state;
    are_as_sqlite(3);
}

/* What the strings take is counted: with less than that, some of it is in a file. */
static void strings_are_charged(void **state)
{
    static const char sql[] = "select s || '-' || n || ' and so on' from w";
    struct sql_statement *statement;
    struct run_timing timing;
    struct rowset rows;
    size_t used;
    (void)state;
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_run(statement, &rows, &timing, error));
    uint64_t bytes = 0;
    for (uint64_t row = 0; row < rows.rows; row++) {
        char buffer[ROWSET_TEXT_BYTES];
        uint32_t length;
        (void)rowset_text(&rows.columns[0], row, buffer, &length);
        bytes += length + 16;
    }
    assert_true(timing.memory_bytes > bytes);
    assert_int_equal(timing.spilled_bytes, 0);
    rowset_free(&rows);
    engine->memory.limit = bytes / 2;
    must(sql_run(statement, &rows, &timing, error));
    assert_true(timing.memory_bytes <= bytes / 2);
    assert_true(timing.spilled_bytes >= bytes / 2);
    rowset_free(&rows);
    sql_statement_free(statement);
    assert_int_equal(engine->memory.used, 0);
    engine_close(engine);
}

/* Each batch has the strings of its rows. */
static void strings_are_exported(void **state)
{
    static const char sql[] = "select k, s || '-' || n from w";
    struct sql_statement *statement;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    struct rowset rows;
    uint64_t row = 0;
    char expected[128], name[64];
    size_t used;
    (void)state;
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    must(sql_run(statement, &rows, NULL, error));
    sql_statement_free(statement);
    engine_close(engine);
    must(arrow_export_rows(&rows, &stream, error));
    while (stream.get_next(&stream, &batch) == 0 && batch.release) {
        const struct ArrowArray *const strings = batch.children[1];
        const uint8_t *const valid = strings->buffers[0];
        const int64_t *const offsets = strings->buffers[1];
        for (int64_t r = 0; r < batch.length; r++, row++) {
            const bool exists = name_of((uint32_t)row, name);
            assert_int_equal(exists, !valid || (valid[r / 8] >> r % 8 & 1));
            const int length =
                exists ? sprintf(expected, "%s-%lld", name, (long long)number_of((uint32_t)row)) : 0;
            assert_int_equal(offsets[r + 1] - offsets[r], length);
            assert_memory_equal((const char *)strings->buffers[2] + offsets[r], expected, (size_t)length);
        }
        batch.release(&batch);
    }
    stream.release(&stream);
    assert_int_equal(row, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_one_thread),
        cmocka_unit_test(on_several_threads),
        cmocka_unit_test(strings_are_charged),
        cmocka_unit_test(strings_are_exported),
    };
    return cmocka_run_group_tests_name("run-time strings", tests, setup, teardown);
}
