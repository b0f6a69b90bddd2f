/*
 * test_sql_report.c: `tessera sql --report` writes what EXPLAIN ANALYZE measured as one page, or leaves no trace.
 *
 * Over SSB at scale factor 0.01 (60 175 rows). $D is the folder of the database $D/db and of the page $D/page.html.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_cases.h"
#include "tests/support/run_program.h"
#include "tests/support/well_formed.h"

#include <sys/stat.h>

#define ANALYSED                                                                                            \
    "explain analyze select d_year, sum(lo_revenue) from lineorder, date, supplier where lo_orderdate = "   \
    "d_datekey and lo_suppkey = s_suppkey and s_region <> '<&>' and s_region = 'ASIA' and lo_quantity < 25" \
    " and lo_tax * lo_quantity > 7 group by d_year"

static char database[PATH_BYTES], folder[PATH_BYTES], text[1 << 20];
static struct program_run run;

static int load(void **state)
{
    (void)state;
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", folder, 1);
    run_shell("$T ssb load --sf 0.01 --db $D/db", &run);
    return run.exit_code;
}

static int unload(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

static void assert_runs(const char *command, int exit_code)
{
    run_shell(command, &run);
    if (run.exit_code != exit_code)
        fail_msg("%s: exit code %d\n%s\n%s", command, run.exit_code, run.output, run.errors);
}

/* Reads the page, which must be well-formed and need nothing else. */
static void read_page(void)
{
    char path[PATH_BYTES + 16];
    struct xml xml;
    snprintf(path, sizeof path, "%s/page.html", folder);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (!well_formed(text, &xml))
        fail_msg("%s", xml.why);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "src="));
}

static void assert_in_order(const char *const *parts, size_t count)
{
    const char *at = text;
    for (size_t i = 0; i < count; i++)
        if (!(at = strstr(at, parts[i])))
            fail_msg("%s is missing, or out of order", parts[i]);
}
#define IN_ORDER(...)                                            \
    do {                                                         \
        static const char *const parts_[] = {__VA_ARGS__};       \
        assert_in_order(parts_, sizeof parts_ / sizeof *parts_); \
    } while (0)

static uint32_t occurrences(const char *what)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        count++;
    return count;
}

static void a_page_has_statement_plan_and_steps(void **state)
{
    (void)state;
    assert_runs("$T sql --db $D/db --device cpu --report $D/page.html \" " ANALYSED ";\n\"", 0);
    assert_int_equal(strncmp(run.output, "plan\n", 5), 0); /* what is printed is as without a report */
    assert_non_null(strstr(run.output, "├─  inner join date: "));
    read_page();
    IN_ORDER("<dt>Device</dt><dd>CPU", "<dt>Database</dt><dd>", "<dt>Command</dt><dd><code>tessera sql --db ",
             "<h2>Statement</h2>\n<pre><code><span class=\"line\" style=\"--in:2ch\">explain analyze select "
             "d_year",
             "s_region &lt;&gt; '&lt;&amp;&gt;'", "group by d_year;</span></code></pre>", "<h2>Plan</h2>",
             "\">device: CPU", "├─  inner join date: ", "└─  condition ", "<h2>Scan of lineorder</h2>",
             "tiles: 59, skipped by their minima and maxima: 0", "Time of each step",
             "Rows that reach each step",
             "<td class=\"text\">range lo_quantity</td><td data-label=\"rows before\">60175</td><td ",
             "semi-join supplier</td>", "condition 1</td>", "groups</td>", "whole scan</td>",
             "Time against bytes read", "read ceiling: ", "<td class=\"text\">lo_quantity</td>",
             "dimensions</td>", "scan</td>", "total</td>", "output</td>");
    assert_non_null(strstr(text, "data-label=\"condition\">lo_quantity between "));
    assert_null(strstr(text, "The share of each device"));
}

static void a_page_has_the_shares_of_several_devices(void **state)
{
    (void)state;
    assert_runs("$T sql --db $D/db --device cpu,cpu --report $D/page.html \"" ANALYSED "\"", 0);
    read_page();
    IN_ORDER("<dd>2 x CPU", "The share of each device", "<td class=\"text\">1: CPU",
             "<td class=\"text\">2: CPU", "merged by the host");
}

/* Other statements of the script are answered, and are not on the page. */
static void each_analysed_statement_and_each_level_has_a_section(void **state)
{
    (void)state;
    assert_runs(
        "$T sql --db $D/db --report $D/page.html \"explain analyze select count(*) from date where d_year = "
        "1;"
        "select 'not shown' from date limit 1; explain select 'not run' from date; explain analyze with t as "
        "(select lo_suppkey, sum(lo_revenue) as r from lineorder group by 1) select max(r) from t;\n"
        ".explain analyze\nselect 1 as one\"",
        0);
    read_page();
    IN_ORDER("<h2>Statement</h2>", "<h2>Plan</h2>", "<h2>Scan of date</h2>", "no row can be in the answer",
             "<h2>Statement 2</h2>", "<h2>Scan of lineorder</h2>", "Time of each step",
             "<h2>Scan of answer</h2>", "Time of each step", "<h2>Statement 3</h2>", "select 1 as one",
             "one row of constants");
    assert_int_equal(occurrences("<h2>"), 3 * 2 + 3);
    assert_int_equal(occurrences("not shown"), 1); /* in the command line */
}

/* A page that is there stays as it was, and nothing is left beside it. */
static void assert_refused(const char *command, int exit_code, const char *sentence)
{
    assert_runs("echo before > $D/page.html", 0);
    assert_runs(command, exit_code);
    if (!strstr(run.errors, sentence))
        fail_msg("%s: %s", command, run.errors);
    assert_runs("cat $D/page.html; ls -A $D", 0);
    assert_string_equal(run.output, "before\ndb\npage.html\n");
}

static void nothing_is_written_after_a_failure(void **state)
{
    (void)state;
    assert_refused("$T sql --db $D/db --report $D/page.html 'select count(*) from date'", 2,
                   "--report shows what EXPLAIN ANALYZE measures, and no statement had it");
    assert_refused(
        "$T sql --db $D/db --report $D/page.html 'explain analyze select count(*) from date; select x'", 2,
        "line 1, column 51: ");
    assert_refused("$T sql --db $D/db --report $D/no/page.html 'select 1'", 2, "no/page.html");
    assert_refused("$T sql --db $D/db --report $D 'select 1'", 2, "a folder");
    assert_refused("$T sql --db $D/db --report /dev/full 'select 1'", 2, "which is no file");
}

/* A file may have few bytes, as on a disk that is full. */
static void a_full_disk_leaves_the_old_page(void **state)
{
    (void)state;
    assert_refused("trap '' XFSZ; ulimit -f 8; $T sql --db $D/db --report $D/page.html \"" ANALYSED "\"", 3,
                   "page.html");
}

static void help_tells_it(void **state)
{
    (void)state;
    assert_runs("$T sql --help", 0);
    assert_non_null(strstr(run.output, "--report=FILE.html"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_statement_plan_and_steps),
        cmocka_unit_test(a_page_has_the_shares_of_several_devices),
        cmocka_unit_test(each_analysed_statement_and_each_level_has_a_section),
        cmocka_unit_test(nothing_is_written_after_a_failure),
        cmocka_unit_test(a_full_disk_leaves_the_old_page),
        cmocka_unit_test(help_tells_it),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
