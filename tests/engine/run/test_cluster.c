/*
 * test_cluster.c: `--cluster mpi` as a user runs it, with 2 and 3 processes on this machine: the answers and reports of
 * one process, printed once; failures and deaths, told once. Skipped where OpenMPI is not installed.
 *
 * $D is the test's folder, $D/db the benchmark at scale factor 0.02, $R the rank of a process.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/isa.h"
#include "tests/support/database_cases.h"
#include "tests/support/mpirun.h"
#include "tests/support/run_program.h"

#define QUERIES 13

#define STATEMENT                                                                                   \
    "\"select c_nation, d_year, sum(lo_revenue), avg(lo_tax), count(distinct lo_suppkey) from "     \
    "lineorder, customer, date where lo_custkey = c_custkey and lo_orderdate = d_datekey group by " \
    "1, 2\""

static char database[PATH_BYTES]; /* $D/db */
static struct program_run run, other;

static int begin(void **state)
{
    (void)state;
    char folder[PATH_BYTES];
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", folder, 1);
    setenv("OMPI_MCA_btl_vader_backing_directory", folder, 1); /* a killed process leaves its shared memory */
    run_shell("$T ssb load --sf 0.02 --db $D/db", &run);
    return run.exit_code;
}

static int end(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

static void assert_runs(const char *shell, int exit_code)
{
    need_mpirun();
    run_shell(shell, &run);
    if (run.exit_code != exit_code)
        fail_msg("%s: exit code %d, not %d\n%s\n%s", shell, run.exit_code, exit_code, run.output, run.errors);
}

static unsigned times_in(const char *text, const char *part)
{
    unsigned times = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        times++;
    return times;
}

static void assert_said_once(const char *sentence)
{
    if (times_in(run.errors, sentence) != 1)
        fail_msg("'%s' was not said once in\n%s", sentence, run.errors);
}

/* ---- Answers ---- */

static void three_processes_print_one_answer(void **state)
{
    (void)state;
    assert_runs(MPIRUN "-n 3 $T sql --db $D/db --device cpu --cluster mpi --format csv " STATEMENT, 0);
    run_shell("$T sql --db $D/db --device cpu --format csv " STATEMENT, &other);
    assert_int_equal(other.exit_code, 0);
    assert_string_equal(run.output, other.output);
}

/* Plans are scanned by all processes, operators run in the first one. */
#define TREES                                                                                                \
    "\"with r as (select lo_suppkey, sum(lo_revenue) as v from lineorder group by 1) select s_name, v from " \
    "r, "                                                                                                    \
    "supplier where lo_suppkey = s_suppkey and v > (select avg(v) from r) order by 2 desc, 1 limit 20; "     \
    "select "                                                                                                \
    "count(*) from lineorder where lo_custkey in (select c_custkey from customer where c_region = 'ASIA') "  \
    "and "                                                                                                   \
    "lo_quantity > (select avg(lo_quantity) from lineorder); select count(*), sum(lo_tax) from lineorder "   \
    "where "                                                                                                 \
    "lo_orderkey not in (select lo_orderkey from lineorder where lo_quantity > 30); select d_year, "         \
    "sum(lo_revenue) as v, rank() "                                                                          \
    "over "                                                                                                  \
    "(order by sum(lo_revenue) desc) as r from lineorder, date where lo_orderdate = d_datekey group by "     \
    "d_year "                                                                                                \
    "order by 1; select c_city from customer union select s_city from supplier order by 1 limit 30; select " \
    "a.d_year, count(*) from date a join date b on a.d_year = b.d_year + 1 group by 1 order by 1; select 7 " \
    "* 6, "                                                                                                  \
    "'a' || 'b'; select count(*) from (select lo_orderkey, lo_tax from lineorder where lo_discount = 3 "     \
    "limit "                                                                                                 \
    "1000) t; explain analyze select max(v) from (select sum(lo_tax) as v from lineorder group by "          \
    "lo_suppkey) "                                                                                           \
    "t; select 1 from (values (1), (2)) v (x) where x = 2\""

static void statements_of_several_blocks_are_answered_by_several_processes(void **state)
{
    char *line;
    (void)state;
    assert_runs(MPIRUN "-n 3 $T sql --db $D/db --device cpu --cluster mpi --format csv " TREES, 0);
    run_shell("$T sql --db $D/db --device cpu --format csv " TREES, &other);
    assert_int_equal(other.exit_code, 0);
    /* EXPLAIN ANALYZE has times in it, and tells of processes */
    assert_non_null(line = strstr(run.output, "plan\n"));
    *line = '\0';
    assert_non_null(line = strstr(other.output, "plan\n"));
    *line = '\0';
    assert_string_equal(run.output, other.output);
}

/* What process 0 alone finds out ends the statement for all, and the next one is answered. */
static void an_operator_that_fails_ends_the_statement_for_all(void **state)
{
    (void)state;
    assert_runs("printf 'select count(*) from date;\nselect d_year, (select s_suppkey from supplier) from "
                "date;\n' | " MPIRUN "-n 2 $T sql --db $D/db --device cpu --cluster mpi --format csv",
                2);
    assert_string_equal(run.output, "count(*)\n2557\n");
    assert_said_once("where one value should stand");
}

static void a_process_without_a_launcher_is_a_cluster_of_one(void **state)
{
    (void)state;
    for (enum isa_level level = ISA_BASELINE; level <= isa_level(); level++) {
        char expected[128];
        setenv("TESSERA_ISA", isa_name(level), 1);
        assert_runs("$T sql --db $D/db --cluster mpi --device cpu --threads 1 --format csv \"select count(*) "
                    "from date; .device\n\"",
                    0);
        unsetenv("TESSERA_ISA");
        snprintf(expected, sizeof expected, "\n2557\n1 process on 1 host, each CPU, 1 thread, %s\n",
                 isa_name(level));
        assert_string_equal(strchr(run.output, '\n'), expected);
    }
}

/* Process 0 reads the script and gives it to the others; a dot command is for all, and prints once. */
static void a_script_is_read_by_the_first_process(void **state)
{
    (void)state;
    assert_runs(
        "printf 'select count(*) from date;\\n.mode csv\\nselect max(d_year)\\nfrom date;\\n' | " MPIRUN
        "-n 2 $T sql --db $D/db --device cpu --cluster mpi --timer",
        0);
    assert_string_equal(run.output, "count(*)\n--------\n    2557\nmax(d_year)\n1998\n");
    assert_int_equal(times_in(run.errors, "1 row; parse"), 2);
}

static void a_statement_that_fails_ends_all(void **state)
{
    (void)state;
    assert_runs(
        "printf 'select count(*) from date;\\nselect nothing from date;\\nselect 1 from date;' | " MPIRUN
        "-n 2 $T sql --db $D/db --device cpu --cluster mpi",
        2);
    assert_string_equal(run.output, "count(*)\n--------\n    2557\n");
    assert_said_once("tessera: line 2, column 8: there is no column nothing");
}

/* ---- The benchmark ---- */

/* Process 0 encodes what is missing and asks SQLite. */
static void all_queries_answer_as_sqlite_does(void **state)
{
    (void)state;
    assert_runs(
        MPIRUN
        "-n 3 $T ssb run --db $D/db --device cpu --cluster mpi --codec gpu-for --repeat 2 --format csv",
        0);
    assert_int_equal(times_in(run.output, ",ok\n"), QUERIES);
    assert_said_once("SQLite was loaded from the raw rows");
    assert_runs("$T ssb run --db $D/db --device cpu --codec gpu-for --repeat 1 --format csv", 0);
    assert_int_equal(times_in(run.output, ",ok\n"), QUERIES);
}

static void codecs_are_compared(void **state)
{
    (void)state;
    assert_runs(
        MPIRUN
        "-n 2 $T ssb compare --db $D/db --device cpu --cluster mpi --codecs plain,nsf --query q1.1,q3.2 "
        "--repeat 1 --verify plain --format csv",
        0);
    assert_int_equal(times_in(run.output, ",ok\n"), 2);
    assert_int_equal(times_in(run.output, ",skipped\n"), 2);
}

/* ---- Parts of a load ---- */

/* Runs the statement in 3 processes over the parts, and in one over the whole. */
static void assert_parts_answer(const char *sql)
{
    char command[1024];
    snprintf(command, sizeof command,
             MPIRUN "-n 3 $T sql --db \"$D/part.{part}\" --device cpu --cluster mpi --format csv \"%s\"",
             sql);
    assert_runs(command, 0);
    snprintf(command, sizeof command, "$T sql --db $D/db --device cpu --format csv \"%s\"", sql);
    run_shell(command, &other);
    assert_int_equal(other.exit_code, 0);
    if (strcmp(run.output, other.output) != 0)
        fail_msg("%s\nanswers  %.2000s\nand not  %.2000s", sql, run.output, other.output);
}

/* One command line has many statements, because starting processes takes a while. */
static void parts_answer_as_the_whole(void **state)
{
    (void)state;
    assert_runs("for i in 1 2 3; do $T ssb load --sf 0.02 --part $i/3 --db $D/part.$i || exit; done", 0);
    assert_parts_answer(
        "select * from lineorder; select lo_orderkey, c_name, lo_tax + 1 from lineorder, customer where "
        "lo_custkey = "
        "c_custkey and lo_quantity = 7 order by lo_discount desc, 3 limit 50 offset 7; select lo_orderkey, "
        "lo_orderpriority from lineorder limit 5 offset 80000; select * from date where d_year = 1994; "
        "select "
        "count(*), sum(lo_revenue), avg(lo_tax), count(distinct lo_custkey) from lineorder; select "
        "lo_shipmode, "
        "lo_custkey, count(distinct lo_partkey), max(lo_orderdate) from lineorder group by 1, 2; select "
        "upper(lo_shipmode), lo_tax from lineorder where lo_quantity < 3 order by 1; select count(*), sum(v) "
        "from "
        "(select lo_custkey, sum(lo_tax) as v from lineorder group by 1) t where v > (select "
        "avg(lo_quantity) "
        "from lineorder); select lo_orderkey from lineorder where lo_tax = 1 except select lo_orderkey from "
        "lineorder where lo_tax < 7 and lo_tax <> 1 order by 1 limit 40");
    assert_runs(
        MPIRUN
        "-n 3 $T ssb run --db \"$D/part.{part}\" --device cpu --cluster mpi --codec gpu-for --repeat 1 "
        "--format csv",
        0);
    assert_int_equal(times_in(run.output, ",ok\n"), QUERIES);
}

static void a_part_alone_says_so(void **state)
{
    (void)state;
    assert_runs("$T sql --db $D/part.2 --device cpu \"select count(*) from lineorder\"", 0);
    assert_said_once("part.2 has part 2 of 3 of table lineorder, ");
    assert_runs("$T ssb run --db $D/part.2 --device cpu --query q1.1 --repeat 1 --format csv", 0);
    assert_said_once("SQLite has all rows; so answers are compared with the plain codec's");
    assert_runs("$T ssb run --db $D/part.2 --device cpu --query q1.1 --verify sqlite", 2);
    assert_runs("$T ssb load --sf 0.02 --part 4/3 --db $D/none", 2);
    assert_runs("$T ssb load --from $D --part 1/3 --db $D/none", 2);
}

#define TWO_OF(directory, errors)                                                                      \
    "(" MPIRUN "-n 2 $T sql --db \"$D/" directory ".{part}\" --cluster mpi \"select 1 from date\" 2> " \
    "$D/" errors "; echo exit $? >> $D/" errors ") & "

/* All three at the same time, because mpirun takes seconds to end after a failure. */
static void parts_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    assert_runs("for db in half.1 half.2 other.1; do $T ssb load --sf 0.02 --part 1/2 --db $D/$db || exit; "
                "done; $T ssb "
                "load --sf 0.02 --part 2/2 --mode all --db $D/other.2",
                0);
    assert_runs(TWO_OF("part", "a") TWO_OF("half", "b") TWO_OF("other", "c") "wait; cat $D/a $D/b $D/c >&2",
                0);
    assert_said_once("table lineorder is in 3 parts, and 2 processes run");
    assert_said_once("processes 0 and 1 both have part 1 of table lineorder");
    assert_said_once("process 1 of 2 has another database than process 0");
    assert_int_equal(times_in(run.errors, "exit 2\n"), 3);
}

/* ---- Failures ---- */

static void a_process_that_fails_ends_all(void **state)
{
    (void)state;
    assert_runs(
        MPIRUN
        "-n 3 sh -c 'if [ $OMPI_COMM_WORLD_RANK = 2 ]; then DB=$D/none; else DB=$D/db; fi; exec $T sql "
        "--db $DB --device cpu --cluster mpi \"select count(*) from date\"'",
        2);
    assert_string_equal(run.output, "");
    assert_said_once("tessera: process 2 of 3, on ");
    assert_said_once("cannot open database");
}

/* Process 1 is killed once it has met the others (it has descriptors of their processes), in the middle of a script that
 * does not end by itself. The others notice, one tells it, and all end with exit code 3. The launcher then kills what it
 * has started, so the shells that take the exit codes are in sessions of their own, which it does not reach, and may end
 * after it. */
static void a_process_that_dies_ends_all(void **state)
{
    (void)state;
    assert_runs("yes 'select sum(lo_revenue) from lineorder;' | timeout 60 " MPIRUN
                "-n 3 setsid -w sh -c 'R=$OMPI_COMM_WORLD_RANK; exec 3<&0; $T sql --db $D/db --device cpu "
                "--cluster mpi > /dev/null 2> $D/said.$R <&3 & P=$!; if [ $R = 1 ]; then "
                "until ls -l /proc/$P/fd | grep -q pidfd || ! kill -0 $P; do sleep 0.01; done; "
                "kill -STOP $P; sleep 0.2; kill -KILL $P; fi; wait $P; echo $? > $D/code.$R'; "
                "for i in $(seq 1000); do [ -s $D/code.0 ] && [ -s $D/code.2 ] && break; sleep 0.01; done; "
                "cat $D/said.* >&2; cat $D/code.0 $D/code.2",
                0);
    assert_said_once("has died, so the statement has no answer");
    assert_said_once("tessera: process 1 of 3 (process id ");
    assert_string_equal(run.output, "3\n3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_processes_print_one_answer),
        cmocka_unit_test(statements_of_several_blocks_are_answered_by_several_processes),
        cmocka_unit_test(an_operator_that_fails_ends_the_statement_for_all),
        cmocka_unit_test(a_process_without_a_launcher_is_a_cluster_of_one),
        cmocka_unit_test(a_script_is_read_by_the_first_process),
        cmocka_unit_test(a_statement_that_fails_ends_all),
        cmocka_unit_test(all_queries_answer_as_sqlite_does),
        cmocka_unit_test(codecs_are_compared),
        cmocka_unit_test(parts_answer_as_the_whole),
        cmocka_unit_test(a_part_alone_says_so),
        cmocka_unit_test(parts_that_do_not_fit_are_refused),
        cmocka_unit_test(a_process_that_fails_ends_all),
        cmocka_unit_test(a_process_that_dies_ends_all),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
