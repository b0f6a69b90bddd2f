/*
 * test_command_load.c: `tessera load` as it is typed: patterns of files, NULL texts, sizes, appending, and what it says
 * of options that make no sense. What rows may hold is in test_table_loader.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"

static int make_files(void **state)
{
    setup(state);
    run_shell("cd $D/.. && printf 'CREATE TABLE sales (shop TEXT, pieces INT);' >star.sql && printf 'B,2\\n' "
              ">sales-2.csv "
              "&& printf 'A,1\\n' >sales-1.csv && printf 'C,3\\n' >'sales-[3].csv' && printf "
              "'X,\\nY,\"\"\\n' >null.csv "
              "&& printf 'X,-\\n-,\\n' >dash.csv",
              &run);
    return run.exit_code;
}

/* Loads; then the table reads like this. */
static void load(const char *arguments, int exit_code, const char *said, const char *rows)
{
    load_ends(arguments, exit_code, said);
    if (rows)
        answer_is("select * from sales", rows);
}

static void patterns_stand_for_files(void **state)
{
    (void)state;
    load("'sales=sales-?.csv'", 0, "2 rows", "shop,pieces\nA,1\nB,2\n");
    load("--force 'sales=sales-[3].csv'", 0, "1 row", "shop,pieces\nC,3\n"); /* a file of that very name */
    load("--force 'sales=sales-1.csv,sales-[23].csv'", 0, "2 rows", "shop,pieces\nA,1\nB,2\n");
    load("--force 'sales=none-*.csv'", 2, "no file is called like 'none-*.csv'", "shop,pieces\nA,1\nB,2\n");
}

static void null_is_what_the_option_says(void **state)
{
    (void)state;
    load("sales=null.csv", 2, "null.csv:2: column pieces: '' is no whole number", NULL);
    load("--null '' sales=null.csv", 2, "null.csv:2: column pieces: '' is no whole number", NULL);
    load("--null - sales=dash.csv", 2, "dash.csv:2: column pieces: '' is no whole number", NULL);
    load("--max-errors 1 --null - sales=dash.csv", 0, "1 row was left out", "shop,pieces\nX,\n");
    load("--force --max-errors 1 --null '' sales=null.csv", 0, "1 row was left out", "shop,pieces\nX,\n");
}

static void rows_are_appended(void **state)
{
    (void)state;
    load("--append sales=sales-1.csv", 2, "cannot open database", NULL);
    load("sales=sales-1.csv", 0, "1 row", NULL);
    load("sales=sales-2.csv", 2, "give --append to add rows to it, or --force to replace it", NULL);
    load("--append sales=sales-2.csv", 0, "1 row", "shop,pieces\nA,1\nB,2\n");
    load("--append --force sales=sales-2.csv", 2, "give one of the two", "shop,pieces\nA,1\nB,2\n");
}

/* The database knows its tables, with keys and references of several columns. */
static void an_append_needs_no_schema(void **state)
{
    static const struct {
        const char *arguments;
        int exit_code;
        const char *said;
    } loads[] = {{"--append --db none sales=sold.csv", 2, "cannot open database"},
                 {"--append sales=sold.csv", 2, "give --db DIR, and TABLE=FILE"},
                 {"--db $D sales=sold.csv", 2, "give --db DIR, --schema FILE"},
                 {"--db $D --append offer=sold.csv", 2, "the schema has no table 'offer'"},
                 {"--db $D --append sales=sold.csv", 2, "no row of table offers has the key"},
                 {"--db $D --append sales=sold.csv offers=more.csv", 0, "2 rows"},
                 {"--db $D --append offers=more.csv", 2, "(part, firm)"}};
    (void)state;
    run_shell(
        "cd $D/.. && printf 'CREATE TABLE offers (part INT, firm TEXT, \"the price\" DECIMAL(8,2), PRIMARY "
        "KEY (part, firm)); CREATE TABLE sales (n INT NOT NULL, part INT, firm TEXT, FOREIGN KEY (part, "
        "firm) "
        "REFERENCES offers (part, firm));' >star.sql && printf '1,a,2.50\n' >offers.csv && printf '7,1,a\n' "
        ">sales.csv && printf '2,b,3\n' >more.csv && printf '8,2,b\n' >sold.csv",
        &run);
    load("sales=sales.csv offers=offers.csv", 0, "2 rows", NULL);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        char shell[PATH_BYTES];
        snprintf(shell, sizeof shell, "cd $D/.. && $T load %s", loads[i].arguments);
        run_shell(shell, &run);
        if (run.exit_code != loads[i].exit_code || !strstr(run.errors, loads[i].said))
            fail_msg("%s: exit code %d\n%s", shell, run.exit_code, run.errors);
    }
    answer_is("select n, \"the price\" from sales s join offers o on s.part = o.part and s.firm = o.firm "
              "order by n",
              "n,the price\n7,2.50\n8,3.00\n");
}

/* The old rows of a dimension move, and the table that references it has none yet. */
static void rows_are_appended_to_an_empty_fact_table(void **state)
{
    (void)state;
    run_shell("cd $D/.. && printf 'CREATE TABLE shops (name TEXT PRIMARY KEY, city TEXT);"
              "CREATE TABLE sales (shop TEXT REFERENCES shops, pieces INT);' >star.sql && : >none.csv && "
              "for i in 1 2 3 4 5 6 7 8 9; do echo \"s$i,c$((i % 3))\"; done >shops.csv && "
              "for i in 1 2 3 4 5 6 7 8 9; do echo \"t$i,b\"; done >more.csv && echo t9,5 >sold.csv",
              &run);
    assert_int_equal(run.exit_code, 0);
    load("sales=none.csv shops=shops.csv", 0, "9 rows", "shop,pieces\n");
    load("--append sales=sold.csv shops=more.csv", 0, "10 rows", "shop,pieces\nt9,5\n");
    answer_is("select city, sum(pieces) as n from sales join shops on shop = name group by city",
              "city,n\nb,5\n");
    load("--force sales=none.csv shops=shops.csv", 0, "9 rows", "shop,pieces\n");
    load("--append shops=more.csv", 0, "9 rows", "shop,pieces\n");
    load("--append sales=sold.csv", 0, "1 row", "shop,pieces\nt9,5\n");
    run_shell("$T check --db $D", &run);
    assert_int_equal(run.exit_code, 0);
}

static void sizes_of_memory_are_read(void **state)
{
    (void)state;
    load("--memory 64M sales=sales-1.csv", 0, "1 row", NULL);
    load("--force --memory 1g sales=sales-1.csv", 0, "1 row", NULL);
    load("--force --memory 10 sales=sales-1.csv", 3, "--memory allows 0; give more", NULL);
    load("--force --memory lots sales=sales-1.csv", 2, "--memory: 'lots' is no number of bytes", NULL);
    load("--force --memory 0 sales=sales-1.csv", 2, "--memory 0: a load needs memory", NULL);
    load("--force --memory 1GX sales=sales-1.csv", 2, "--memory: '1GX' is no number of bytes",
         "shop,pieces\nA,1\n");
}

/* A GPU that is asked for must be there; text needs none. Where there is one, it gives the same rows. */
static void the_device_is_what_the_option_says(void **state)
{
    static const char ask[] =
        "$T sql --device cpu --db $D --format csv 'select count(*), sum(price), max(word) from t'";
    static const char orc[] =
        "cd $D/.. && printf 'CREATE TABLE t (price DECIMAL(18,2), word TEXT);' >t.sql && "
        "$T load --force --db $D --schema t.sql --device %s "
        "t=" TESSERA_SOURCE "/tests/data/orc/pyarrow-rows-0.12-zlib.orc";
    char shell[PATH_BYTES], *rows;
    (void)state;
    load("--force --device gpu sales=sales-1.csv", 2, "--device 'gpu' is not auto, cpu, cuda or cuda:N",
         NULL);
    load("--force --device cpu sales=sales-1.csv", 0, "1 row", "shop,pieces\nA,1\n");
    snprintf(shell, sizeof shell, orc, "cpu");
    run_shell(shell, &run);
    assert_int_equal(run.exit_code, 0);
    run_shell(ask, &run);
    rows = strdup(run.output);
    assert_non_null(rows);
    snprintf(shell, sizeof shell, orc, "cuda");
    run_shell(shell, &run);
    if (run.exit_code == 3 && !getenv("TESSERA_REQUIRE_GPU")) {
        assert_non_null(strstr(run.errors, "no GPU can be used"));
    } else {
        assert_int_equal(run.exit_code, 0);
        assert_non_null(strstr(run.errors, "of its time"));
    }
    run_shell(ask, &run);
    assert_string_equal(run.output, rows);
    free(rows);
}

/* The first signal ends a load that waits for a pipe, with nothing left behind. It is sent once the program handles it
 * (the second of the signals that /proc says it catches) and had time to come to the pipe. */
static void a_load_that_waits_can_be_stopped(void **state)
{
    static const struct {
        const char *before, *arguments;
    } waits[] = {{"", "sales=fifo"},                                    /* which nobody opens to write */
                 {"exec 3<>fifo;", "sales=fifo"},                       /* which nobody writes to */
                 {"exec 3<>fifo; printf 'A,1\\nB' >&3;", "sales=fifo"}, /* whose writer stalls */
                 {"exec 3<>fifo;", "sales=- <&3"},
                 {"", "sales=sales-1.csv,fifo"},
                 {"", "--schema fifo sales=sales-1.csv"}};
    char before[16];
    (void)state;
    run_shell("cd $D/.. && mkfifo fifo && ls -A | wc -l", &run);
    snprintf(before, sizeof before, "%.15s", run.output);
    for (size_t w = 0; w < 2 * sizeof waits / sizeof *waits; w++) {
        const char *const signal = w % 2 ? "TERM" : "INT", *const arguments = waits[w / 2].arguments;
        char shell[PATH_BYTES];
        snprintf(shell, sizeof shell,
                 "cd $D/..; %s $T load --db $D --schema star.sql %s & p=$!; "
                 "until grep -q -e '^SigCgt:.*[2367abef]$' -e '^State:.Z' /proc/$p/status; do sleep 0.01; "
                 "done; sleep 0.2; "
                 "kill -s %s $p; wait $p",
                 waits[w / 2].before, arguments, signal);
        run_shell(shell, &run);
        if (run.exit_code != 130 || !strstr(run.errors, "interrupted; what was not finished is undone"))
            fail_msg("%s %s, %s: exit code %d\n%s", waits[w / 2].before, arguments, signal, run.exit_code,
                     run.errors);
        run_shell("cd $D/.. && ls -A | wc -l", &run);
        assert_string_equal(run.output, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_device_is_what_the_option_says, make_files, teardown),
        cmocka_unit_test_setup_teardown(patterns_stand_for_files, make_files, teardown),
        cmocka_unit_test_setup_teardown(null_is_what_the_option_says, make_files, teardown),
        cmocka_unit_test_setup_teardown(rows_are_appended, make_files, teardown),
        cmocka_unit_test_setup_teardown(an_append_needs_no_schema, make_files, teardown),
        cmocka_unit_test_setup_teardown(rows_are_appended_to_an_empty_fact_table, make_files, teardown),
        cmocka_unit_test_setup_teardown(sizes_of_memory_are_read, make_files, teardown),
        cmocka_unit_test_setup_teardown(a_load_that_waits_can_be_stopped, make_files, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
