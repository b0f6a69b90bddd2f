/* test_library_tables.c: tessera.h makes databases, loads tables from several files, and exports tables that were changed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/one_directory.h"
#include "tests/support/library_number.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A database that does not exist is made by CREATE TABLE, and nothing is left of one that fails. */
static void create_table_makes_a_database(void **state)
{
    struct tessera_database *database, *other;
    struct tessera_statement *statement;
    char made[PATH_BYTES + 32];
    (void)state;
    snprintf(made, sizeof made, "%.*s/made.db", (int)(strlen(path) - 3), path);
    assert_int_equal(tessera_open(made, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(tessera_open(made, "cpu", 1, &other, &error), TESSERA_OK);
    assert_int_equal(tessera_prepare(database, "select 1", &statement, &error), TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "made.db yet; CREATE TABLE, or a load, makes it"));
    number_of(database, "insert into t values (1)", TESSERA_BAD_INPUT);
    number_of(database, "create view v as select 1", TESSERA_BAD_INPUT);
    number_of(database, "create table t as select x", TESSERA_BAD_INPUT);
    assert_int_not_equal(access(made, F_OK), 0);
    number_of(database, "set timezone = 'UTC'", TESSERA_OK);
    assert_int_equal(number_of(database, "create table t as select 7 n union all select 8", TESSERA_OK), 2);
    assert_int_equal(number_of(database, "select sum(n) from t", TESSERA_OK), 15);
    assert_int_equal(number_of(other, "select max(n) from t", TESSERA_OK), 8);
    number_of(other, "create table t (a int)", TESSERA_BAD_INPUT);
    assert_int_equal(number_of(other, "insert into t values (9)", TESSERA_OK), 1);
    tessera_close(database);
    tessera_close(other);
    memcpy(strrchr(made, '/'), "/void", 6);
    mkdir(made, 0777);
    assert_int_equal(tessera_open(made, "cpu", 1, &database, &error), TESSERA_OK);
    number_of(database, "create table t (n int)", TESSERA_OK);
    assert_int_equal(number_of(database, "select count(*) from t", TESSERA_OK), 0);
    tessera_close(database);
}

static const char *text_of(const char *sql, struct tessera_database *database, uint64_t row, uint32_t column)
{
    static char text[64];
    struct tessera_statement *statement;
    struct tessera_result *result;
    uint32_t length;
    assert_int_equal(tessera_prepare(database, sql, &statement, &error), TESSERA_OK);
    assert_false(tessera_changes(statement));
    assert_int_equal(tessera_parameters(statement), 0);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_OK);
    assert_true(row < tessera_rows(result));
    const char *const value = tessera_text(result, column, row, &length);
    snprintf(text, sizeof text, "%.*s", (int)length, value);
    tessera_result_free(result);
    tessera_finalize(statement);
    return text;
}

/* SHOW and DESCRIBE give rows, as in the program. */
static void what_there_is_is_shown(void **state)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    struct tessera_result *result;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 1, &database, &error), TESSERA_OK);
    number_of(database, "create table t (n bigint primary key, at timestamptz)", TESSERA_OK);
    number_of(database, "create view v as select at, n * 1.5 as more from t", TESSERA_OK);
    assert_string_equal(text_of("show tables", database, 0, 0), "t");
    assert_string_equal(text_of("SHOW VIEWS;", database, 0, 0), "v");
    assert_string_equal(text_of("describe t", database, 0, 3), "primary");
    assert_string_equal(text_of("DESC TABLE t", database, 1, 1), "timestamptz");
    assert_string_equal(text_of("describe V", database, 1, 1), "decimal(18,1)");
    assert_string_equal(text_of("describe select max(at) as last from v where more > 1", database, 0, 0),
                        "last");
    assert_int_equal(tessera_prepare(database, "describe t t", &statement, &error), TESSERA_BAD_INPUT);
    assert_int_equal(tessera_prepare(database, "describe t; select 1", &statement, &error),
                     TESSERA_BAD_INPUT);
    assert_int_equal(tessera_prepare(database, "describe nothing", &statement, &error), TESSERA_OK);
    assert_int_equal(tessera_run(statement, &result, &error), TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "line 1, column 10: database "));
    tessera_finalize(statement);
    tessera_close(database);
}

/* A table's files are one word, or several, of which each may be a pattern or a folder. */
static void a_table_is_loaded_from_several_files(void **state)
{
    static const char *const tables[] = {"a", "b", "A"};
    char names[3][PATH_BYTES + 32], folder[PATH_BYTES + 32], made[PATH_BYTES + 32];
    const char *const files[] = {names[0], folder, names[2]};
    struct tessera_database *database;
    uint64_t rows;
    (void)state;
    const int length = (int)(strlen(path) - 3);
    snprintf(made, sizeof made, "%.*s/several.db", length, path);
    snprintf(folder, sizeof folder, "%.*s/parts", length, path);
    mkdir(folder, 0777);
    for (int f = 0; f < 3; f++) {
        snprintf(names[f], sizeof names[f], f == 1 ? "%.*s/parts/1.csv" : "%.*s/x%d.csv", length, path, f);
        FILE *const out = fopen(names[f], "w");
        assert_non_null(out);
        fprintf(out, "%d\n%d\n", 10 * f, 10 * f + 1);
        fclose(out);
    }
    snprintf(names[0], sizeof names[0], "%.*s/x0*.csv", length, path);
    assert_int_equal(tessera_load(made, "CREATE TABLE a (n INT); CREATE TABLE b (n INT)", tables, files, 3,
                                  TESSERA_LOAD_NEW, &rows, &error),
                     TESSERA_OK);
    assert_int_equal(rows, 6);
    assert_int_equal(tessera_open(made, "cpu", 1, &database, &error), TESSERA_OK);
    assert_int_equal(number_of(database, "select sum(n) from a", TESSERA_OK), 42);
    assert_int_equal(number_of(database, "select sum(n) from b", TESSERA_OK), 21);
    tessera_close(database);
    snprintf(names[0], sizeof names[0], "%.*s/y*.csv", length, path);
    assert_int_equal(tessera_load(made, NULL, tables, files, 1, TESSERA_LOAD_APPEND, &rows, &error),
                     TESSERA_BAD_INPUT);
    assert_non_null(strstr(error.text, "no file is called like '"));
}

/* Segments of an odd number of rows, as changes leave them, and deleted rows: the stream has the live rows in their order. */
static void a_changed_table_is_exported(void **state)
{
    static const char *const changes[] = {
        "create table changed (n int, tag text, twice double)", "insert into changed values (0, 'x', null)",
        "insert into changed with d (i) as (values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) select "
        "1 + a.i + 10 * "
        "b.i + 100 * c.i + 1000 * e.i + 10000 * f.i as n, 'y' || a.i, 0.5 from d a, d b, d c, d e, d f order "
        "by n",
        "insert into changed select 100001, 'z', 1e3", "delete from changed where n % 3 = 1"};
    struct tessera_database *database;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t next = 0, rows = 0;
    (void)state;
    assert_int_equal(tessera_open(path, "cpu", 2, &database, &error), TESSERA_OK);
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        number_of(database, changes[c], TESSERA_OK);
        assert_int_equal(tessera_table_arrow(database, "changed", &stream, &error), TESSERA_OK);
        stream.release(&stream);
    }
    assert_int_equal(tessera_table_arrow(database, "changed", &stream, &error), TESSERA_OK);
    for (assert_int_equal(stream.get_next(&stream, &batch), 0); batch.release;
         assert_int_equal(stream.get_next(&stream, &batch), 0)) {
        const int64_t *const numbers = batch.children[0]->buffers[1];
        for (int64_t row = 0; row < batch.length; row++, next++) {
            next += next % 3 == 1;
            assert_int_equal(numbers[row], next);
        }
        assert_int_equal(batch.length, rows ? 66668 - 65536 : 65536);
        rows += batch.length;
        batch.release(&batch);
    }
    assert_int_equal(rows, number_of(database, "select count(*) from changed", TESSERA_OK));
    assert_string_equal(text_of("show tables", database, 0, 1), "66668");
    stream.release(&stream);
    tessera_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(create_table_makes_a_database, setup, teardown),
        cmocka_unit_test_setup_teardown(what_there_is_is_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(a_table_is_loaded_from_several_files, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_table_is_exported, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
