/*
 * test_sql_shell.c: `tessera sql` as scripts meet it: statements and dot commands in a text, positions of errors, exit
 * codes, the parts of the time.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/engine/program/shell_database.h"

static void assert_script(const char *script, int exit_code, const char *output, const char *errors)
{
    char path[PATH_BYTES], shell[PATH_BYTES + 64];
    beside_database("script.sql", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(script, file);
    fclose(file);
    snprintf(shell, sizeof shell, "$T sql --db $D < %s", path);
    run_shell(shell, &run);
    if (run.exit_code != exit_code || !strstr(run.output, output) || !strstr(run.errors, errors))
        fail_msg("%s: exit code %d\n%s\n%s", script, run.exit_code, run.output, run.errors);
}

static void statements_and_dot_commands_are_answered_in_turn(void **state)
{
    (void)state;
    assert_script("-- how many days\nselect count(*) as days from date;\n.mode csv\n"
                  "/* and years */ select count(distinct d_year) as years from date; .mode json;\n"
                  "select min(d_year) as y, 'a' as s from date",
                  0, "days\n----\n2557\nyears\n7\n[\n {\"y\": 1992, \"s\": \"a\"}\n]\n", "");
    assert_string_equal(run.errors, "");
    assert_script("", 0, "", "");
    assert_script(" ; -- nothing\n;;", 0, "", "");
    assert_string_equal(run.output, "");
}

static void the_first_error_ends_a_script(void **state)
{
    (void)state;
    assert_script("select count(*) from date;\nselect\n  nope from date;\nselect 'never' as never from date",
                  2, "2557", "tessera: line 3, column 3: there is no column nope; there are d_datekey, ");
    assert_null(strstr(run.output, "never"));
    assert_script("select count(*) from date; select d_year d_month d_year from date;", 2, "2557",
                  "tessera: line 1, column 50: 'd_year' is not expected here\n");
    assert_script("\n\n  .tabels\nselect 1 from date;", 2, "",
                  "tessera: line 3, column 3: there is no command '.tabels'; did you mean .tables?\n");
    assert_script("select 'x", 2, "", "tessera: line 1, column 8: ");
    assert_script("select 1; select '\xc3\xa4\xe6\x97\xa5',\tnope\n  from date;", 2, "", "nope; there are ");
    assert_non_null(strstr(run.errors, "\n  select 1; select '\xc3\xa4\xe6\x97\xa5', nope\n"
                                       "                          ^\n"));
    assert_script("select count(*)\nfrom dates\nwhere d_year = 1992;", 2, "", "did you mean date?");
    assert_non_null(strstr(run.errors, "\n  from dates\n       ^\n"));
    assert_script("select d_year from date where \n\n", 2, "", "the statement ends where a value should");
    assert_non_null(
        strstr(run.errors, "\n  select d_year from date where\n                               ^\n"));
    assert_script("select ? from date;", 2, "", "only programs can set");
}

/* What help shows can be pasted into a shell. */
static void examples_in_help_run(void **state)
{
    (void)state;
    run_shell(
        "H=$(mktemp -d) && mkdir $H/bin && ln -s $(realpath $T) $H/bin/tessera && cd $H && $T sql --help |"
        " sed '1,/^Examples:/d' > paste.sh && PATH=$H/bin:$PATH sh -e paste.sh && cat parts.csv; rm -r $H",
        &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.output, "d_year  sum(lo_revenue)"));
    assert_non_null(strstr(run.output, "p_partkey"));
    assert_non_null(strstr(run.output, "count(*)\n2000\n"));
}

static void a_database_may_stand_for_a_command(void **state)
{
    (void)state;
    run_shell("$T $D --format csv 'select count(*) as n from date'", &run);
    assert_string_equal(run.output, "n\n2557\n");
    run_shell("echo 'select nope from date' | $T $D", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "there is no column nope"));
    run_shell("$T ./no-such.db", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "there is no command and no database './no-such.db'"));
    run_shell("$T $D/tables", &run); /* a folder that is no database */
    assert_int_equal(run.exit_code, 2);
}

/* What does not exist is no database until a table is made; a statement that fails leaves nothing. */
static void create_table_makes_a_database(void **state)
{
    (void)state;
    char made[PATH_BYTES];
    beside_database("made.db", made);
    setenv("M", made, 1);
    const char *const wrong[] = {"select 1", "insert into t values (1)", "create view v as select 1",
                                 "create table t as select nothing from nowhere",
                                 "create table t as select 1 / 0 + nope"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("Q", wrong[i], 1);
        run_shell("$T sql --device cpu --db $M \"$Q\"", &run);
        assert_int_equal(run.exit_code, 2);
        assert_int_not_equal(access(made, F_OK), 0);
    }
    run_shell("$T sql --device cpu --db $M 'select 1'", &run);
    assert_non_null(strstr(run.errors, "made.db"));
    run_shell(
        "$T sql --device cpu --format csv --db $M 'create table t (a integer); insert into t values (1), "
        "(2); create view v as select sum(a) s from t; from v' && $T $M --device cpu --format csv 'from v'",
        &run);
    assert_int_equal(run.exit_code, 0);
    assert_string_equal(run.output, "s\n3\ns\n3\n");
    /* A folder that is empty may become one, also after SET; one that has other files may not. */
    setenv("Q", "set timezone = 'Asia/Tokyo'; create table t as select 1 a; from t", 1);
    run_shell("rm -rf $M; mkdir $M && $T sql --device cpu --format csv --db $M \"$Q\"", &run);
    assert_int_equal(run.exit_code, 0);
    assert_string_equal(run.output, "a\n1\n");
    run_shell("rm -rf $M; mkdir $M && touch $M/other && $T sql --device cpu --db $M \"$Q\"", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "is no database, or its first load did not finish"));
    run_shell("rm -rf $M", &run);
}

static void quit_ends_a_script_well(void **state)
{
    (void)state;
    assert_script(".quit\nthis is no SQL", 0, "", "");
    assert_script(".exit", 0, "", "");
}

static void tables_and_their_schemas_are_told(void **state)
{
    (void)state;
    assert_script(
        ".tables", 0,
        "lineorder               60175 rows,  17 columns; references customer, part, supplier, date\n", "");
    assert_script(".schema DATE", 0,
                  "CREATE TABLE date (\n    d_datekey INT PRIMARY KEY,\n    d_date TEXT NOT NULL,\n", "");
    assert_script(".schema \"lineorder\";", 0,
                  "    lo_custkey INT NOT NULL REFERENCES customer(c_custkey),\n", "");
    assert_script(".schema lineorders", 2, "", "lineorder");
}

static void schemas_can_be_loaded_again(void **state)
{
    (void)state;
    run_shell("cd $D/.. && $T sql --db $D '.schema' > star.sql && $T sql --db $D --format csv "
              "'select * from supplier' > supplier.csv && $T load --db $D/../again --schema star.sql "
              "supplier=supplier.csv && $T sql --db $D/../again --format csv 'select * from supplier' | "
              "cmp - supplier.csv",
              &run);
    if (run.exit_code != 0)
        fail_msg("%s%s", run.output, run.errors);
}

static void names_are_quoted_where_scripts_need_it(void **state)
{
    (void)state;
    run_shell(
        "mkdir -p $D/../odd && cd $D/../odd && printf '%s\\n' 'CREATE TABLE \"group\" (\"2024\" INT PRIMARY "
        "KEY, "
        "\"a\"\"b\" TEXT, \"order\" INT, \"primary\" INT, \"Gr\303\266\303\237e\" DECIMAL(5,1));' "
        "'CREATE TABLE f (\"from\" INT REFERENCES \"group\", \"\"\"\" DOUBLE);' >one.sql && echo 1,x,2,3,4.5 "
        ">g.csv && "
        "echo 1,0.5 >f.csv && for n in one two; do $T load --db $n --schema $n.sql group=g.csv f=f.csv && $T "
        "sql "
        "--db $n .schema >two.sql && cp two.sql $n.out; done 2>&1 && cmp one.out two.out && cat two.out",
        &run);
    if (run.exit_code != 0)
        fail_msg("%s%s", run.output, run.errors);
    assert_non_null(strstr(
        run.output, "CREATE TABLE \"group\" (\n    \"2024\" INT PRIMARY KEY,\n    \"a\"\"b\" TEXT,\n"));
    assert_non_null(
        strstr(run.output, "    \"from\" INT REFERENCES \"group\"(\"2024\"),\n    \"\"\"\" DOUBLE\n"));
}

static void dot_commands_check_their_words(void **state)
{
    (void)state;
    assert_script(".mode\n.mode markdown\n.mode\n.timer\n.timer on\n.timer", 0, "table\nmarkdown\noff\non\n",
                  "");
    assert_script(".mode xml", 2, "", "line 1, column 1: 'xml' is no mode; use table, csv, json or markdown");
    assert_script(".index\n.index off\n.index", 0, "auto\noff\n", "");
    assert_script(".like\n.like sqlite\n.like", 0, "standard\nsqlite\n", "");
    assert_script(".time_zone\n.time_zone utc\n.time_zone", 0, "UTC\nUTC\n", "");
    assert_script(".time_zone Nowhere", 2, "", "the time zone 'Nowhere' is not in this system's database");
    assert_script(".index maybe", 2, "", "line 1, column 1: indexes are used auto, on or off, not 'maybe'");
    assert_script(".timer maybe", 2, "", "the timer is on or off, not 'maybe'");
    assert_script(".timer on off", 2, "", ".timer takes one word, not 'off' too");
    assert_script(".tables x", 2, "", ".tables takes nothing behind it, not 'x' too");
    assert_script(".device cpu\n.device", 0, "CPU, ", "");
    assert_script(".device abacus", 2, "", "abacus");
    assert_script(".help", 0, ".quit", "");
    assert_script(".timer on\nselect count(*) from date;", 0, "2557", "1 row; parse ");
}

/* A statement of several levels obeys as one of a single level does. */
static void settings_hold_for_all_levels(void **state)
{
    (void)state;
    assert_script(
        ".mode csv\n.like sqlite\nwith t as (select s_region from supplier where s_region like 'asi%') "
        "select count(*) > 0 as any from t;\nselect count(*) > 0 as inside from (select s_region from "
        "supplier) t "
        "where s_region like 'asi%';",
        0, "any\ntrue\ninside\ntrue\n", "");
    assert_script(".mode csv\nselect count(*) as none from (select s_region from supplier) t where s_region "
                  "like 'asi%';",
                  0, "none\n0\n", "");
    assert_script(".explain on\nselect max(n) from (select count(*) as n from date group by d_year) t;", 0,
                  "plan\n", "");
    assert_non_null(strstr(run.output, "scan date: 2557 rows"));
}

static void tables_can_be_described_in_sql(void **state)
{
    (void)state;
    assert_script(".mode csv\nshow tables;\ndescribe date; select 1 as one from date limit 1;", 0,
                  "table,rows,columns,references\n", "");
    assert_non_null(strstr(run.output, "lineorder,60175,17,\"customer, part, supplier, date\"\n"));
    assert_non_null(strstr(run.output, "column,type,null,key,references\nd_datekey,int32,no,primary,\"\"\n"));
    assert_non_null(strstr(run.output, "one\n1\n"));
    assert_script(".mode csv\nDESC table \"lineorder\"", 0,
                  "lo_custkey,int32,no,foreign,customer(c_custkey)\n", "");
    assert_script("describe dates;", 2, "", "line 1, column 10: database ");
    assert_non_null(strstr(run.errors, "has no table \"dates\"; did you mean date?"));
    assert_script("show columns;", 2, "",
                  "line 1, column 6: there are SHOW TABLES and SHOW VIEWS; DESCRIBE NAME shows");
    assert_script("describe;", 2, "", "line 1, column 9: DESCRIBE needs the name of a table");
    assert_script(
        ".mode csv\ndescribe select d_year / 2.0 as half, upper(d_month) from date; describe (values (now(), "
        "null), (null, 1.25));",
        0,
        "column,type,null,key,references\nhalf,double,yes,\"\",\"\"\nupper(d_month),string,yes,\"\",\"\"\n"
        "column,type,null,key,references\ncolumn1,timestamptz,yes,\"\",\"\"\ncolumn2,\"decimal(18,2)\",yes,"
        "\"\",\"\"\n",
        "");
    assert_script("describe\n  select 1, nope from date", 2, "",
                  "line 2, column 13: there is no column nope");
    assert_script("describe date date;", 2, "", "line 1, column 15: nothing more is expected here");
    assert_script(
        ".explain\n.explain on\nselect count(*) from date;\n.explain off\nselect count(*) from date;", 0,
        "off\nplan\n", "");
    assert_non_null(strstr(run.output, "scan date: 2557 rows"));
    assert_non_null(strstr(run.output, "count(*)\n--------\n    2557\n"));
    assert_script(".explain maybe", 2, "", "line 1, column 1: explain is on, analyze or off, not 'maybe'");
    assert_script(".pager\n.pager off\n.pager\n.rows\n.rows all\n.rows\n.rows 2\nselect d_year from date;", 0,
                  "on\noff\n1000\nall\nd_year\n------\n  1992\n  1992\n2 of 2557 rows are shown; .rows all",
                  "");
    assert_script(".rows no", 2, "", "rows are a number or all, not 'no'");
    run_shell("$T sql --db $D --rows 1 --format csv 'select d_year from date'", &run);
    assert_string_equal(run.output, "d_year\n1992\n"); /* data for a program stay data */
    assert_non_null(strstr(run.errors, "1 of 2557 rows are shown"));
    run_shell("$T sql --db $D --rows -1 'select d_year from date'", &run);
    assert_int_equal(run.exit_code, 2);
}

/* The answer of a statement comes before the script goes on; the writer waits for it. */
static void scripts_are_run_while_they_arrive(void **state)
{
    (void)state;
    run_shell(
        "mkfifo $D.in $D.out; $T sql --format csv --db $D < $D.in > $D.out & exec 3> $D.in 4< $D.out; "
        "printf 'select count(*) as a from date; select ' >&3; read -r x <&4; read -r y <&4; echo got $x $y; "
        "printf \"'a;b' as b, d_year from date limit 1;\\n.mode json\\n.mode\\n\" >&3; "
        "read -r x <&4; read -r y <&4; read -r z <&4; echo got $x $y $z; "
        "printf '\\n  select #' >&3; exec 3>&-; cat <&4; wait $!; echo code $?; rm $D.in $D.out",
        &run);
    assert_string_equal(run.output, "got a 2557\ngot b,d_year a;b,1992 json\ncode 2\n");
    assert_non_null(strstr(run.errors, "tessera: line 5, column 10: the character '#'"));
    /* An error does not wait for the end of the script. */
    run_shell(
        "mkfifo $D.in; (echo 'select nope from date;'; exec sleep 200) > $D.in & timeout 100 $T sql --db "
        "$D < $D.in "
        "2>&1; echo code $?; kill $!; rm $D.in",
        &run);
    assert_non_null(strstr(run.output, "line 1, column 8: there is no column nope"));
    assert_non_null(strstr(run.output, "code 2"));
    /* A statement of megabytes, and many small ones. */
    run_shell(
        "(printf 'select count(*) as many from date where d_year in (1992'; seq -s '' -f ',%g' 10000 260000; "
        "echo ');'; for i in $(seq 400); do echo 'select 1 as few from date limit 1;'; done) | "
        "$T sql --format csv --db $D | sort | uniq -c | tr -s ' '",
        &run);
    assert_string_equal(run.output, " 400 1\n 1 366\n 400 few\n 1 many\n");
}

#define TIMER_TRIES 20

/* Runs a statement; fails unless the parts that the timer names are within the total; returns whether they are 95 % of it. */
static bool the_parts_are_the_time(const char *statement)
{
    static const char *const parts[] = {"parse ", "bind ",  "plan ",      "compile ", "load ",
                                        "run ",   "fetch ", "operators ", "output ",  "write "};
    char command[600];
    double part, total = 0, sum = 0;
    snprintf(command, sizeof command, "$T sql --db $D --timer --format json \"%s\" > /dev/null", statement);
    run_shell(command, &run);
    assert_int_equal(run.exit_code, 0);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        const char *const at = strstr(run.errors, parts[p]);
        if (!at || sscanf(at + strlen(parts[p]), "%lf", &part) != 1)
            fail_msg("no %s in %s", parts[p], run.errors);
        sum += part;
    }
    const char *const end = strstr(run.errors, "; total ");
    assert_true(end && sscanf(end, "; total %lf on CPU", &total) == 1);
    assert_true(sum <= total + 0.01);
    return sum >= 0.95 * total;
}

static void memory_is_limited(void **state)
{
    (void)state;
    run_shell("$T sql --db $D --memory 100K --timer 'select * from lineorder' > /dev/null", &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.errors, " MB, spilled "));
    run_shell("$T sql --db $D --memory 100K --spill /nowhere 'select * from lineorder' > /dev/null", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "cannot make a file in /nowhere"));
    run_shell("$T sql --db $D --memory 1 'select lo_orderkey, sum(lo_revenue) from lineorder group by 1'",
              &run);
    assert_int_equal(run.exit_code, 3);
    assert_non_null(strstr(run.errors, "of the 1 that are allowed are in use; allow more (--memory)"));
    run_shell("$T sql --db $D --memory 1G --spill /nowhere --timer 'select count(*) from lineorder'", &run);
    assert_int_equal(run.exit_code, 0);
    assert_non_null(strstr(run.errors, "; memory 0.0 MB\n"));
    run_shell("$T sql --db $D --memory lots 'select 1'", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "--memory: 'lots' is no number of bytes"));
}

/* Of a statement that one scan answers, of one with joins and sorts above scans, of rows that are printed. A machine that is
 * busy may stop the program between two parts. */
static void the_timer_names_the_time(void **state)
{
    static const char *const statements[] = {
        "select * from lineorder",
        "select d_year, sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey group by d_year",
        "select a.n, count(*) from (select lo_custkey k, count(*) n from lineorder group by lo_custkey) a "
        "join "
        "(select lo_partkey k, sum(lo_revenue) n from lineorder group by lo_partkey) b on a.k = b.k group by "
        "a.n "
        "order by 2 desc",
        "select lo_orderkey, sum(lo_revenue) over (partition by lo_custkey order by lo_orderkey) from "
        "lineorder "
        "order by 2"};
    (void)state;
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++)
        for (int tries = 0; !the_parts_are_the_time(statements[s]); tries++)
            if (tries == TIMER_TRIES)
                fail_msg("%s", run.errors);
}

/* As `cat` ends: by SIGPIPE, at once and without a word. The subshell tells the program's code on standard error. */
static void a_reader_that_has_gone_ends_a_script(void **state)
{
    static const char *const shells[] = {
        "for i in 1 2 3 4 5 6 7 8 9; do echo 'select * from lineorder;'; done | "
        "($T sql --db $D --format csv; echo \"code $?\" >&2) | head -1",
        "($T sql --db $D --format csv 'select * from lineorder'; echo \"code $?\" >&2) | head -1"};
    (void)state;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        run_shell(shells[i], &run);
        assert_memory_equal(run.output, "lo_orderkey,", 12);
        assert_string_equal(run.errors, "code 141\n");
    }
    run_shell("$T sql --db $D 'select * from lineorder' > /dev/full", &run);
    assert_int_equal(run.exit_code, 3);
    assert_non_null(
        strstr(run.errors, "could not be written: No space left on device; what was printed is not"));
    run_shell("$T sql --db $D '.tables' > /dev/full", &run);
    assert_int_equal(run.exit_code, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_and_dot_commands_are_answered_in_turn),
        cmocka_unit_test(the_first_error_ends_a_script),
        cmocka_unit_test(create_table_makes_a_database),
        cmocka_unit_test(quit_ends_a_script_well),
        cmocka_unit_test(examples_in_help_run),
        cmocka_unit_test(a_database_may_stand_for_a_command),
        cmocka_unit_test(tables_and_their_schemas_are_told),
        cmocka_unit_test(schemas_can_be_loaded_again),
        cmocka_unit_test(names_are_quoted_where_scripts_need_it),
        cmocka_unit_test(dot_commands_check_their_words),
        cmocka_unit_test(settings_hold_for_all_levels),
        cmocka_unit_test(tables_can_be_described_in_sql),
        cmocka_unit_test(scripts_are_run_while_they_arrive),
        cmocka_unit_test(the_timer_names_the_time),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(a_reader_that_has_gone_ends_a_script),
    };
    return cmocka_run_group_tests_name("sql_shell", tests, load, unload);
}
