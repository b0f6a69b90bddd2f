/* test_sql_no_order.c: groups, windows and joins by keys of a few rows each, which stand in no order: the answers are
 * SQLite's, with memory for all rows and with too little. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "engine/run/engine.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/sql/as_sqlite.h"
#include "tests/support/gpu/query_compile.h"

#define ROWS    41001u
#define COLUMNS 6u

enum { K, G, V, W, FAR, LINE };

static char path[PATH_BYTES];
static struct database *database;
static struct engine *engine, *little;
static sqlite3 *sqlite;
static int64_t numbers[COLUMNS][ROWS];
static uint8_t nulls[COLUMNS][ROWS];

static void make(void)
{
    random_state = 20261129;
    for (uint32_t row = 0; row < ROWS; row++) {
        numbers[K][row] = below(36000);
        numbers[G][row] = 1000 + below(34000);
        numbers[V][row] = (int64_t)below(20000) - 500;
        numbers[W][row] = below(300);
        numbers[FAR][row] = below(50) * 40000000;
        numbers[LINE][row] = row;
        nulls[G][row] = chance(5);
        nulls[W][row] = chance(30);
    }
}

static void fill(void)
{
    static const char *const table = "create table t (k int, g int, v int, w int, far int, line int)";
    static const char *const names[COLUMNS] = {"k", "g", "v", "w", "far", "line"};
    struct tessera_values columns[COLUMNS];
    struct tessera_error told;
    sqlite3_stmt *insert;
    assert_int_equal(sqlite3_exec(sqlite, table, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, "begin", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, "insert into t values (?, ?, ?, ?, ?, ?)", -1, &insert, NULL),
                     SQLITE_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t c = 0; c < COLUMNS; c++)
            if (nulls[c][row])
                sqlite3_bind_null(insert, (int)c + 1);
            else
                sqlite3_bind_int64(insert, (int)c + 1, numbers[c][row]);
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    assert_int_equal(sqlite3_exec(sqlite, "commit", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, "create index i on t (k)", NULL, NULL, NULL), SQLITE_OK);
    for (uint32_t c = 0; c < COLUMNS; c++)
        columns[c] = (struct tessera_values){.name = names[c], .numbers = numbers[c], .nulls = nulls[c]};
    if (tessera_load_rows(path, table, "t", columns, COLUMNS, ROWS, TESSERA_LOAD_NEW, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
}

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    make();
    fill();
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    must(
        engine_open(&(struct engine_options){.device = "cpu", .threads = 2, .memory = "1M"}, &little, error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    engine_close(engine);
    engine_close(little);
    database_close(database);
    sqlite3_close(sqlite);
    directory_remove(path);
    return 0;
}

static void check_all(const char *const *statements, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        answers_as_sqlite(engine, database, sqlite, statements[s]);
        answers_as_sqlite(little, database, sqlite, statements[s]);
    }
}

static void groups(void **state)
{
    static const char *const statements[] = {
        "select k, count(*), sum(v), min(w), max(v), count(w) from t group by k",
        "select g, sum(v), count(*) from t group by g order by 2 desc, 1 limit 10 offset 5",
        "select k, max(w) from t where v > 7000 group by k having count(*) = 2",
        "select count(*), max(n), sum(s), sum(m) from (select k, count(*) n, sum(v) s, min(w) m from t group "
        "by k "
        "having count(*) > 1) x",
        "select count(*), sum(s * far) from (select g, far, sum(w) s from t group by g, far) x",
        "select k, far, count(*) c from t group by k, far order by c desc, k, far limit 20",
        "select count(*) from (select distinct k, g from t) x",
        "select count(*), sum(t.v) from t join (select k, max(line) m from t group by k having count(*) = 3) "
        "x "
        "on t.k = x.k where t.line = x.m",
    };
    (void)state;
    check_all(statements, sizeof statements / sizeof *statements);
}

static void windows(void **state)
{
    static const char *const statements[] = {
        "select count(*), sum(v), sum(line) from (select v, line, row_number() over (partition by k order by "
        "v desc, "
        "line) n from t) x where n = 1",
        "select count(*), sum(line) from (select line, row_number() over (partition by g, far order by w "
        "nulls last, "
        "line desc) n from t) x where n = 1",
        "select line from (select line, row_number() over (partition by far order by v, line) n from t) x "
        "where n = 1",
        "select count(*), sum(v) from (select v, sum(v) over (partition by k) s from t) x where v * 2 > s",
        "select count(*), sum(w), max(c) from (select w, sum(w) over (partition by g) s, count(w) over "
        "(partition by g) "
        "c from t) x where w * 2 > s",
        "select line, w, m from (select line, w, max(w) over (partition by far order by line rows between 2 "
        "preceding "
        "and 1 following) m from t) x where line % 500 = 3",
        "select sum(v * a), sum(w * b) from (select v, w, min(v) over (partition by k) a, max(w) over "
        "(partition by g "
        "order by line) b from t) x",
    };
    (void)state;
    check_all(statements, sizeof statements / sizeof *statements);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups), cmocka_unit_test(windows)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
