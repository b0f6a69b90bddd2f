/* test_index_command.c: `tessera index create` and `drop`, `load --index`: their words, exit codes, and what inspect and
 * check say afterwards. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

#include <jansson.h>

static struct program_run run; /* large, so not on the stack */
static char path[PATH_BYTES];

static int begin(void **state)
{
    (void)state;
    directory_make(path);
    setenv("D", path, 1);
    char *const slash = strrchr(path, '/');
    *slash = '\0';
    setenv("F", path, 1);
    *slash = '/';
    run_shell("cd $F && echo 'CREATE TABLE day (d INT PRIMARY KEY, name TEXT);"
              "CREATE TABLE sale (day INT NOT NULL REFERENCES day, pieces INT, note TEXT);' > star.sql &&"
              "seq 1 5 | sed 's/.*/&,day &/' > day.csv &&"
              "seq 1 2000 | awk '{ print $1 % 5 + 1 \",\" ($1 % 7 ? $1 % 90 : \"\") \",note \" $1 % 3 }' > "
              "sale.csv &&"
              "$T load --db $D --schema star.sql --index Pieces,name day=day.csv sale=sale.csv",
              &run);
    assert_int_equal(run.exit_code, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    directory_remove(path);
    return 0;
}

static void must_run(const char *shell)
{
    run_shell(shell, &run);
    if (run.exit_code != 0)
        fail_msg("%s: exit code %d: %s", shell, run.exit_code, run.errors);
}

static void must_say(const char *shell, int exit_code, const char *text)
{
    run_shell(shell, &run);
    if (run.exit_code != exit_code || (!strstr(run.errors, text) && !strstr(run.output, text)))
        fail_msg("%s: exit code %d: %s%s", shell, run.exit_code, run.output, run.errors);
}

/* The number of a field of an index, by `inspect --format json`; -1: the column has none. */
static int64_t index_number(const char *table, const char *column, const char *field)
{
    int64_t number = -1;
    size_t t, c;
    json_t *each, *one;
    must_run("$T inspect --db $D --format json");
    json_t *const root = json_loads(run.output, 0, NULL);
    assert_non_null(root);
    json_array_foreach(json_object_get(root, "tables"), t, each)
    {
        if (strcmp(json_string_value(json_object_get(each, "name")), table) != 0)
            continue;
        json_array_foreach(json_object_get(each, "columns"), c, one)
        {
            const json_t *const index = json_object_get(one, "index");
            if (index && strcmp(json_string_value(json_object_get(one, "name")), column) == 0)
                number = json_integer_value(json_object_get(index, field));
        }
    }
    json_decref(root);
    return number;
}

static void indexes_come_with_a_load(void **state)
{
    (void)state;
    assert_int_equal(index_number("sale", "pieces", "vectors"), 91); /* 0 to 89, and NULLs */
    assert_int_equal(index_number("day", "name", "vectors"), 5);
    assert_int_equal(index_number("sale", "note", "vectors"), -1);
    must_say("$T inspect --db $D sale.pieces", 0, "index wah64 of 91 vectors (auto: values, and NULLs)");
    must_say("cd $F && $T load --db $D --schema star.sql --force --index piece day=day.csv sale=sale.csv", 2,
             "--index piece: no table that is loaded has that column");
}

static void indexes_are_created_and_dropped(void **state)
{
    (void)state;
    must_run("$T index create --db $D --format flat sale.day");
    must_run("$T index create --db $D --bins 2:width --format wah32 sale.note");
    assert_string_equal(run.output, "");
    assert_int_equal(index_number("sale", "day", "vectors"), 5);
    assert_int_equal(index_number("sale", "day", "fills"), 0);
    assert_int_equal(index_number("sale", "note", "vectors"), 2);
    must_say("$T check --db $D", 0, "no fault");
    must_say("$T index create --db $D sale.day", 2, "sale.day has an index already; drop it first");
    must_run("$T index drop --db $D sale.day");
    must_say("$T index drop --db $D sale.day", 2, "sale.day has no index");
    must_run("$T index create --db $D --bins values sale.day");
    must_run("$T index drop --db $D sale.day");
    must_say("ls $D/tables/sale", 0, "note.index.");
    assert_null(strstr(run.output, "day.index."));
}

static void slips_are_explained(void **state)
{
    (void)state;
    static const char *const slips[][2] = {
        {"$T index create --db $D sale", "'sale' is not TABLE.COLUMN"},
        {"$T index create --db $D sale.", "'sale.' is not TABLE.COLUMN"},
        {"$T index create --db $D sale.day sale.note", "one column at a time"},
        {"$T index create --db $D", "which column?"},
        {"$T index create sale.day", "which database?"},
        {"$T index create --db $D sale.nothing", "table sale has no column \"nothing\""},
        {"$T index create --db $D nothing.day", "no table \"nothing\""},
        {"$T index create --db $D --bins 0 sale.day", "--bins '0' is not"},
        {"$T index create --db $D --bins 4097 sale.day", "--bins '4097' is not"},
        {"$T index create --db $D --bins 3:deep sale.day", "--bins '3:deep' is not"},
        {"$T index create --db $D --bins -3 sale.day", "--bins '-3' is not"},
        {"$T index create --db $D --format wah16 sale.day", "--format 'wah16' is not"},
        {"$T index create --db $F/none sale.day", "cannot open database"},
        {"$T index", "index create"},
    };
    for (size_t s = 0; s < sizeof slips / sizeof *slips; s++)
        must_say(slips[s][0], 2, slips[s][1]);
}

static void appended_rows_and_replaced_tables_are_indexed(void **state)
{
    (void)state;
    must_run("$T index create --db $D sale.day && $T index create --db $D --bins 4 sale.note");
    must_run("cd $F && (echo 6,day 0 > more.csv) && (printf '6,500,a first note\\n1,501,\\n' > sales.csv) &&"
             "$T load --db $D --schema star.sql --append day=more.csv sale=sales.csv && $T check --db $D");
    assert_int_equal(index_number("sale", "pieces", "vectors"), 91); /* those of before, continued */
    assert_int_equal(index_number("sale", "day", "vectors"), 5);
    assert_int_equal(index_number("day", "name", "vectors"),
                     6); /* it has levels, and is written as a whole */
    assert_int_equal(index_number("sale", "note", "vectors"), 5);
    must_run("$T compact --db $D && $T check --db $D"); /* builds them anew */
    assert_int_equal(index_number("sale", "pieces", "vectors"), 93);
    assert_int_equal(index_number("sale", "day", "vectors"), 6);
    must_run(
        "cd $F && $T load --db $D --schema star.sql --force day=day.csv sale=sale.csv && $T check --db $D");
    assert_int_equal(index_number("sale", "pieces", "vectors"), 91);
    assert_int_equal(index_number("sale", "day", "vectors"), 5);
}

static void a_damaged_index_is_a_fault(void **state)
{
    (void)state;
    must_run("printf X | dd of=$(ls $D/tables/sale/pieces.index.*) bs=1 seek=4200 conv=notrunc");
    must_say("$T check --db $D", 1, "FAULT");
    assert_non_null(strstr(run.output, "pieces.index."));
    must_run("$T index drop --db $D sale.pieces && $T index create --db $D sale.pieces && $T check --db $D");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(indexes_come_with_a_load, begin, end),
        cmocka_unit_test_setup_teardown(indexes_are_created_and_dropped, begin, end),
        cmocka_unit_test_setup_teardown(slips_are_explained, begin, end),
        cmocka_unit_test_setup_teardown(appended_rows_and_replaced_tables_are_indexed, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_index_is_a_fault, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
