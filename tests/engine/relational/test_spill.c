/*
 * test_spill.c: each operator with less memory than its rows and its work need (engine/relational/spill/spill.h): the
 * answers are the same, EXPLAIN ANALYZE says what was spilled, no file is left, and a full disk has a sentence.
 *
 * Over SSB at scale factor 0.01 (60 175 rows). $D is the database, $S the folder of files.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"

#define LITTLE "300K"

static char database[PATH_BYTES], folder[PATH_BYTES + 16];
static struct program_run run;

static int load(void **state)
{
    (void)state;
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s/spill", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", database, 1);
    setenv("S", folder, 1);
    run_shell("mkdir $S && $T ssb load --sf 0.01 --db $D", &run);
    return run.exit_code;
}

static int unload(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

#define ORDERS \
    "select lo_orderkey k, min(lo_custkey) c, sum(lo_revenue) r from lineorder group by lo_orderkey"
#define LINES "select lo_orderkey k, lo_linenumber n, lo_quantity q from lineorder"

/* What each operator is called, and a statement that needs more than LITTLE in it. Answers have an order, as far as they can
 * differ. */
static const char *const statements[][2] = {
    {"inner join", "select count(*), sum(a.k * b.n) from (" ORDERS ") a join (" LINES ") b on a.k = b.k"},
    {"inner join, residual",
     "select count(*), sum(a.k) from (" LINES ") a join (" LINES ") b on a.k = b.k and a.q < b.q"},
    {"left join", "select count(*), count(b.k) from (" LINES ") a left join (" ORDERS
                  ") b on a.k = b.k and b.r > 20000000"},
    {"full join", "select count(*), count(a.k), count(b.k) from (" ORDERS ") a full join "
                  "(select k + 20000 k, n from (" LINES ") l) b on a.k = b.k and b.n < 3"},
    {"semi join", "select count(*), sum(a.k) from (" LINES ") a where exists (select 1 from (" LINES ") b "
                  "where b.k = a.k and b.q > a.q + 30)"},
    {"anti join",
     "select count(*), sum(a.k) from (" LINES ") a where not exists (select 1 from (" LINES ") b "
     "where b.k = a.k and b.q > a.q + 30)"},
    {"mark join", "select count(*), sum(a.k) from (" LINES ") a where a.n = 1 or exists (select 1 from "
                  "(" LINES ") b where b.k = a.k and b.q > a.q + 30)"},
    {"mark join with NULLs",
     "select count(*), sum(case when m then 1 when m is null then 2 end) from (select (a.k * 64 + a.n) in "
     "(select nullif(b.k * 64 + b.q, 64) from (" LINES ") b where b.q >= a.n) m from (" LINES ") a) t"},
    {"single join", "select sum((select b.r from (" ORDERS ") b where b.k = a.k)) from (" LINES ") a"},
    {"groups of a table",
     "select lo_orderkey, lo_linenumber, sum(lo_revenue) from lineorder group by lo_orderkey, lo_linenumber "
     "order by lo_orderkey desc, lo_linenumber limit 7"},
    {"groups of rows", "select count(*), sum(x) from (select k % 40000 m, q, count(*) x from (" LINES ") l "
                       "group by k % 40000, q having count(*) < 3) t"},
    {"grouping sets", "select count(*), sum(g), sum(x) from (select k, q, grouping(k) + 2 * grouping(q) g, "
                      "count(*) x from (" LINES ") l group by grouping sets ((k, q), (k), (q))) t"},
    {"grouping sets of all",
     "select count(*), sum(g), sum(x), max(x) from (select k, q, grouping(k, q) g, count(*) x "
     "from (" LINES ") l group by rollup (k, q)) t"},
    {"grouping sets of numbers",
     "select count(*), sum(g) from (select grouping(k, q) g from (" LINES ") l group by rollup (k, q)) t"},
    {"grouping sets of a constant",
     "select count(*), count(c), sum(g), sum(x) from (select k % 4000 m, q, coalesce('a', 'b') c, "
     "grouping(coalesce('a', 'b')) g, count(*) x from (" LINES ") l group by grouping sets "
     "((k % 4000, q, coalesce('a', 'b')), (k % 4000))) t"},
    {"grouping sets of texts",
     "select count(*), min(t), max(t) from (select k % 2000 m, string_agg(s, ',' order by s) "
     "filter (where k < 9) t from (select lo_orderkey k, lo_shipmode s from lineorder) l group by rollup (k "
     "% 2000, s)) t"},
    {"distinct", "select count(*) from (select distinct k, q from (" LINES ") l) t"},
    {"window of partitions",
     "select sum(x), sum(y) from (select row_number() over (partition by k order by q, n) x, "
     "sum(q) over (partition by k order by n) y from (" LINES ") l) t"},
    {"window of all", "select sum(x), max(y) from (select rank() over (order by q, k, n) x, sum(q) over "
                      "(order by k, n rows between 3 preceding and current row) y from (" LINES ") l) t"},
    {"order", "select k, n, q from (" LINES ") l order by q desc, k, n"},
    {"order of ties", "select k, q from (" LINES ") l order by q"},
    {"order of NULLs",
     "select n, nullif(q, 7) x, k from (" LINES ") l order by nullif(q, 7) desc nulls last, n, k"},
    {"order of strings",
     "select s, m, k from (select lo_shipmode m, 'order ' || lo_orderkey s, lo_orderkey k from "
     "lineorder) l order by m desc, s"},
    {"order of wide numbers", "select x, y, k from (select k * 30000007 * k x, -k * 5000000029 y, k from "
                              "(" LINES ") l) l order by x % 3, x % 4000000000000000000 desc, y, k"},
    {"union",
     "select count(*), sum(k) from (select k, q from (" LINES ") a union select k, n from (" LINES ") b) t"},
    {"except",
     "select count(*), sum(k) from (select k, q from (" LINES ") a except select k, n from (" LINES ") b) t"},
    {"intersect all", "select count(*), sum(k) from (select k, q from (" LINES
                      ") a intersect all select k, n from (" LINES ") b) t"},
    {"recursive union",
     "with recursive r(x) as (select lo_orderkey from lineorder union select x + 60000 from r "
     "where x < 120000) select count(*), sum(x) from r"},
};

static void ask(const char *statement, const char *options)
{
    char shell[256];
    setenv("Q", statement, 1);
    snprintf(shell, sizeof shell, "$T sql --device cpu --db $D --spill $S %s --format csv \"$Q\"", options);
    run_shell(shell, &run);
}

static void assert_nothing_is_left(void)
{
    run_shell("ls -A $S", &run);
    assert_string_equal(run.output, "");
}

static void answers_are_the_same_in_little_memory(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++) {
        ask(statements[s][1], "");
        if (run.exit_code)
            fail_msg("%s: %s", statements[s][0], run.errors);
        char *const expected = strdup(run.output);
        for (int threads = 1; threads <= 2; threads++) {
            ask(statements[s][1], threads == 1 ? "--memory " LITTLE " --threads 1" : "--memory " LITTLE);
            if (run.exit_code || strcmp(run.output, expected) != 0)
                fail_msg("%s: %.300s%s, not %.300s", statements[s][0], run.output, run.errors, expected);
        }
        free(expected);
        ask(statements[s][1], "--timer --memory " LITTLE);
        if (!strstr(run.errors, "MB, spilled "))
            fail_msg("%s did not spill: %s", statements[s][0], run.errors);
        assert_nothing_is_left();
    }
}

static void explain_tells_what_an_operator_spilled(void **state)
{
    (void)state;
    setenv("Q", statements[0][1], 1);
    run_shell("$T sql --device cpu --db $D --spill $S --memory " LITTLE
              " \"explain analyze $Q\" | grep 'join by'",
              &run);
    assert_non_null(strstr(run.output, " MB spilled"));
}

static void a_full_disk_has_a_sentence(void **state)
{
    (void)state;
    setenv("Q", statements[0][1], 1);
    run_shell("trap '' XFSZ; ulimit -f 400; $T sql --device cpu --db $D --spill $S --memory " LITTLE
              " \"$Q\"",
              &run);
    assert_int_equal(run.exit_code, 3);
    assert_non_null(strstr(run.errors, folder));
    assert_non_null(strstr(run.errors, "make room there, or name another folder (--spill"));
    assert_nothing_is_left();
}

static void nothing_is_left_by_a_statement_that_ends_early(void **state)
{
    static const char *const signals[] = {"INT", "KILL"};
    (void)state;
    setenv("Q",
           "select count(*) from (" LINES ") a join (" LINES ") b on a.q = b.q and a.k * a.n < b.k - b.n", 1);
    for (size_t s = 0; s < 2; s++) {
        setenv("SIGNAL", signals[s], 1);
        run_shell("timeout -s $SIGNAL 1 $T sql --device cpu --db $D --spill $S --memory " LITTLE " \"$Q\"",
                  &run);
        assert_int_not_equal(run.exit_code, 0);
        assert_nothing_is_left();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_the_same_in_little_memory),
        cmocka_unit_test(explain_tells_what_an_operator_spilled),
        cmocka_unit_test(a_full_disk_has_a_sentence),
        cmocka_unit_test(nothing_is_left_by_a_statement_that_ends_early),
    };
    return cmocka_run_group_tests_name("spill", tests, load, unload);
}
