/*
 * test_load_files.c: `tessera load` with schemas and files as databases and people write them: rules that rows must
 * fulfil, names in any script.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

static char path[PATH_BYTES];
static struct program_run run;

static int setup(void **state)
{
    (void)state;
    directory_make(path);
    setenv("D", path, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

/* Writes a file beside the database. */
static void file_is(const char *name, const char *text)
{
    char file[PATH_BYTES + 64];
    snprintf(file, sizeof file, "%s", path);
    snprintf(strrchr(file, '/') + 1, 64, "%s", name);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* `tessera load --db $D --force --schema star.sql ARGUMENTS` ends so. */
static void load(const char *arguments, int exit_code, const char *said)
{
    char shell[PATH_BYTES];
    snprintf(shell, sizeof shell, "cd $D/.. && $T load --db $D --force --schema star.sql %s", arguments);
    run_shell(shell, &run);
    if (run.exit_code != exit_code || !strstr(run.errors, said))
        fail_msg("%s: exit code %d\n%s%s", arguments, run.exit_code, run.output, run.errors);
}

static void answer_is(const char *question, const char *rows)
{
    setenv("Q", question, 1);
    run_shell("$T sql --device cpu --db $D --format csv \"$Q\"", &run);
    if (strcmp(run.output, rows) != 0)
        fail_msg("%s\n%s%s", question, run.output, run.errors);
}

static void rows_fulfil_check_and_unique(void **state)
{
    (void)state;
    file_is("star.sql",
            "CREATE TABLE shops (id INT PRIMARY KEY, size INT UNIQUE CHECK (size > 0), name TEXT UNIQUE);\n"
            "CREATE TABLE sales (shop INT REFERENCES shops ON DELETE CASCADE CHECK (shop < 100), paid "
            "DECIMAL(9,2) "
            "CHECK (paid >= 0), kind TEXT CHECK (kind IN ('a', 'b')));\n");
    file_is("shops.csv", "1,10,x\n2,,y\n3,,\n4,11,\n100,7,z\n");
    file_is("sales.csv", "1,1.50,a\n2,3,\n4,0,b\n");
    load("shops=shops.csv sales=sales.csv", 0, "8 rows");
    answer_is("select size, sum(paid) as paid from sales join shops on id = shop group by size order by paid",
              "size,paid\n11,0.00\n10,1.50\n,3.00\n");
    file_is("sales.csv", "1,1.50,a\n2,-3,\n4,0,c\n100,1,a\n");
    load("shops=shops.csv sales=sales.csv", 2,
         "sales.csv:2: the row fails CHECK (paid >= 0); nothing was loaded");
    load("shops=shops.csv sales=sales.csv --max-errors 3 --reject bad.csv", 0, "3 rows were left out");
    run_shell("cat $D/../bad.csv", &run);
    assert_string_equal(run.output, "2,-3,\n4,0,c\n100,1,a\n");
    file_is("shops.csv", "1,10,x\n2,,y\n3,10,\n");
    load("shops=shops.csv", 2,
         "shops.csv:3: table shops, column size: the value '10' is that of shops.csv:1 already");
    file_is("shops.csv", "1,10,x\n2,,y\n3,,y\n");
    load("shops=shops.csv", 2,
         "shops.csv:3: table shops, column name: the value is that of shops.csv:2 already");
}

static void names_are_in_any_script(void **state)
{
    (void)state;
    file_is("star.sql", "CREATE TABLE \"../\xd0\xbc\xd0\xb0\xd0\xb3.\" (\"Gr\xc3\xb6\xc3\x9f"
                        "e %\" INT PRIMARY KEY);"
                        "CREATE TABLE \xe5\xa3\xb2\xe4\xb8\x8a (\"a.b/c\" INT REFERENCES "
                        "\"../\xd0\xbc\xd0\xb0\xd0\xb3.\", \"select\" INT)");
    file_is("keys.csv", "5\n6\n");
    file_is("sales.csv", "select,a.b/c\n1,6\n2,6\n3,5\n");
    load("'../\xd0\xbc\xd0\xb0\xd0\xb3.=keys.csv' \xe5\xa3\xb2\xe4\xb8\x8a=sales.csv", 0, "5 rows");
    answer_is("select \"a.b/c\" as k, sum(\"select\") as s from \xe5\xa3\xb2\xe4\xb8\x8a group by \"a.b/c\" "
              "order by s desc, k",
              "k,s\n5,3\n6,3\n");
    load("\xe5\xa3\xb2\xe4\xb8\x8a=sales.csv", 0, "3 rows"); /* again, so that old files are removed */
    run_shell("$T check --db $D >$D/../said && ls $D/tables", &run);
    assert_string_equal(run.output, "%2E%2E%2F\xd0\xbc\xd0\xb0\xd0\xb3%2E\n\xe5\xa3\xb2\xe4\xb8\x8a\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_fulfil_check_and_unique, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_in_any_script, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
