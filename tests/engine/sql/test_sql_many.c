/* test_sql_many.c: statements with very many groups' columns, aggregates and conditions, at limits that earlier were lower
 * and at those of today: the answers are SQLite's, which has the same rows. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/tessera.h"
#include "engine/run/engine.h"
#include "tests/support/sql/as_sqlite.h"
#include "tests/support/gpu/query_compile.h"

#define COLUMNS 80
#define ROWS    3000
#define TEXT    ((size_t)1 << 19)

static char path[PATH_BYTES], *sql, *end;
static struct database *database;
static struct engine *engine;
static sqlite3 *sqlite;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end += vsnprintf(end, TEXT - (size_t)(end - sql), format, arguments);
    va_end(arguments);
    assert_true((size_t)(end - sql) < TEXT - 1);
}

static void begin(const char *text)
{
    end = sql;
    add("%s", text);
}

/* Small numbers, wide ones in every seventh column, and NULLs in every fifth. */
static bool is_null(uint32_t c, uint32_t row)
{
    return c % 5 == 0 && (row * 7 + c) % 11 == 0;
}

static int64_t value_of(uint32_t c, uint32_t row)
{
    const uint64_t mixed = (row / 3 * 2654435761u + c * 40503u) >> 7;
    return c % 7 == 0 ? (int64_t)(mixed % 400) * 1000000007 - 5 : (int64_t)(mixed % (3 + c));
}

static void fill_sqlite(void)
{
    sqlite3_stmt *insert;
    begin("create table w (c1 int");
    for (int c = 2; c <= COLUMNS; c++)
        add(", c%d int", c);
    add(");");
    assert_int_equal(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
    begin("insert into w values (?");
    for (int c = 2; c <= COLUMNS; c++)
        add(", ?");
    add(")");
    assert_int_equal(sqlite3_exec(sqlite, "begin", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(sqlite, sql, -1, &insert, NULL), SQLITE_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t c = 1; c <= COLUMNS; c++)
            if (is_null(c, row))
                sqlite3_bind_null(insert, (int)c);
            else
                sqlite3_bind_int64(insert, (int)c, value_of(c, row));
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    assert_int_equal(sqlite3_exec(sqlite, "commit", NULL, NULL, NULL), SQLITE_OK);
}

static void load(void)
{
    static int64_t numbers[COLUMNS][ROWS];
    static uint8_t nulls[COLUMNS][ROWS];
    static char names[COLUMNS][8];
    struct tessera_values columns[COLUMNS];
    struct tessera_error told;
    begin("CREATE TABLE w (");
    for (uint32_t c = 1; c <= COLUMNS; c++) {
        sprintf(names[c - 1], "c%u", c);
        add("%sc%u %s", c > 1 ? ", " : "", c, c % 7 == 0 ? "BIGINT" : "INT");
        for (uint32_t row = 0; row < ROWS; row++) {
            numbers[c - 1][row] = value_of(c, row);
            nulls[c - 1][row] = is_null(c, row);
        }
        columns[c - 1] =
            (struct tessera_values){.name = names[c - 1], .numbers = numbers[c - 1], .nulls = nulls[c - 1]};
    }
    add(")");
    if (tessera_load_rows(path, sql, "w", columns, COLUMNS, ROWS, TESSERA_LOAD_NEW, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
}

static int setup(void **state)
{
    (void)state;
    sql = malloc(TEXT);
    assert_non_null(sql);
    directory_make(path);
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    load();
    fill_sqlite();
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    engine_close(engine);
    database_close(database);
    sqlite3_close(sqlite);
    directory_remove(path);
    free(sql);
    return 0;
}

static void is_as_sqlite(void)
{
    answers_as_sqlite(engine, database, sqlite, sql);
}

static void add_columns(int count)
{
    for (int c = 1; c <= count; c++)
        add("%sc%d", c > 1 ? ", " : "", c);
}

/* The ranges of 64 columns are numbers of seven words. */
static void terms_of_group_by(void **state)
{
    static const int counts[] = {16, 17, 33, 64};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        begin("select ");
        add_columns(counts[i]);
        add(", count(*), sum(c70), count(distinct c71), max(c79) from w group by ");
        add_columns(counts[i]);
        is_as_sqlite();
        begin("select distinct ");
        add_columns(counts[i]);
        add(" from w where c80 > 20");
        is_as_sqlite();
    }
}

/* `grouped`: by few slots, by many numbers, or not at all. */
static void add_aggregates(int count, const char *grouped)
{
    begin("select 0");
    for (int a = 0; a < count; a++) {
        add(a % 2 ? " + coalesce(" : ", coalesce(");
        if (a % 4 == 0)
            add("max(c%d - %d), 7)", 1 + a % COLUMNS, a);
        else if (a % 4 == 1)
            add("min(c%d * %d), 7)", 1 + a % 6, a);
        else if (a % 4 == 2)
            add("count(c%d), 7)", 5 * (1 + a % 16));
        else
            add("max(c%d + %d), 7)", 1 + a % COLUMNS, a);
    }
    add(" from w%s", grouped);
}

static void aggregates(void **state)
{
    static const int counts[] = {128, 129, 257, 1000};
    static const char *const grouped[] = {"", " where c1 > 1", " group by c3", " group by c7, c14, c21",
                                          " where c1 > 100"};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t g = 0; g < sizeof grouped / sizeof *grouped; g++) {
            add_aggregates(counts[i], grouped[g]);
            is_as_sqlite();
        }
}

static void counts_of_distinct_values(void **state)
{
    (void)state;
    for (int grouped = 0; grouped < 2; grouped++) {
        begin("select count(distinct c1)");
        for (int c = 2; c <= COLUMNS; c++)
            add(", count(distinct c%d), count(distinct c%d + c1)", c, c);
        add(grouped ? " from w group by c2" : " from w");
        is_as_sqlite();
    }
}

/* Ranges of different columns, of more than there are steps, and conditions that no range is. */
static void conditions(void **state)
{
    static const int counts[] = {46, 47, 48, 63, 64, 65, 257, 900};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int kind = 0; kind < 3; kind++) {
            begin("select c1, c2, count(*) from w where c2 < 99");
            for (int n = 1; n <= counts[i]; n++)
                if (kind == 0 || (kind == 2 && n % 2))
                    add(" and c%d * %d < %lld", 1 + n % COLUMNS, n, 390 * 1000000007LL * n);
                else
                    add(" and c%d >= %d", n % 5 ? 1 + n % COLUMNS : 1, -10 - n % 3);
            add(" group by c1, c2");
            is_as_sqlite();
        }
    begin("select count(*) from w where c1 = 1");
    for (int n = 1; n <= 500; n++)
        add(" and (c3 <> %d or c2 > %d)", n, n);
    is_as_sqlite();
}

static void compiles(void)
{
    static size_t turn;
    need_compile_targets();
    struct error why = {0};
    if (compile_statement(database, sql, NULL, 0, NULL, compile_targets[turn++ % compile_target_count],
                          &why) != STATUS_OK)
        fail_msg("%.200s: %s", sql, why.text);
}

/* Kernels at the limits: states in registers, shared and global memory; addresses of all columns as arguments; as many
 * sets as constant memory has room for. */
static void kernels_compile(void **state)
{
    (void)state;
    begin("explain analyze select ");
    add_columns(64);
    add(", count(*), count(distinct c71), sum(c70) from w where c80 > 20 group by ");
    add_columns(64);
    compiles();
    add_aggregates(129, "");
    compiles();
    add_aggregates(129, " group by c3");
    compiles();
    add_aggregates(400, "");
    compiles();
    add_aggregates(400, " group by c7, c14, c21");
    compiles();
    begin("select count(*) from w where c1 < 99");
    for (int n = 1; n <= 200; n++)
        add(" and c%d * %d < %lld", 1 + n % COLUMNS, n, 390 * 1000000007LL * n);
    compiles();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_of_group_by),         cmocka_unit_test(aggregates),
        cmocka_unit_test(counts_of_distinct_values), cmocka_unit_test(conditions),
        cmocka_unit_test(kernels_compile),
    };
    return cmocka_run_group_tests_name("sql with many parts", tests, setup, teardown);
}
