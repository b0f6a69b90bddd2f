/*
 * test_cuda_levels.c: on a database whose dimensions are stored by levels, a GPU answers as a CPU does on one whose rows
 * lie as they came: the 13 queries by hand and in SQL, and statements that levels decide in part or not at all, join
 * outwards, count rows at each step, or read NULL keys; and so it does if rows of the fact table are clustered besides, whose
 * tiles are kept whole by some of them. Skipped without a GPU, unless TESSERA_REQUIRE_GPU is set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/library/statement.h"
#include "ssb/benchmark/answer.h"
#include "ssb/benchmark/benchmark.h"
#include "ssb/data/load.h"
#include "ssb/queries/queries.h"
#include "tests/support/gpu/on_a_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANES "lo_custkey=lane-levels,lo_partkey=lane-levels,lo_suppkey=lane-levels,lo_orderdate=lane-levels"

static const char *const statements[] = {
    /* prefixes, then a bitmap for what is left; no level at all; many cubes */
    "select sum(lo_revenue), c_nation from lineorder, customer where lo_custkey = c_custkey and c_region = "
    "'ASIA' "
    "and c_mktsegment = 'BUILDING' group by c_nation order by c_nation",
    "select count(*), p_brand1 from lineorder, part where lo_partkey = p_partkey and p_color = 'red' and "
    "p_size < "
    "20 group by p_brand1 order by p_brand1",
    "select count(*), s_city from lineorder, supplier where lo_suppkey = s_suppkey and s_city in ('CHINA    "
    "1', "
    "'CHINA    7', 'INDIA    0', 'BRAZIL   3', 'FRANCE   9', 'KENYA    4') group by s_city order by s_city",
    "select count(*), d_dayofweek from lineorder, date where lo_orderdate = d_datekey and d_weeknuminyear = "
    "6 and "
    "d_year between 1993 and 1996 group by d_dayofweek order by d_dayofweek",
    /* levels and look-ups side by side */
    "select d_yearmonth, c_city, s_nation, sum(lo_revenue) from lineorder, date, customer, supplier where "
    "lo_orderdate = d_datekey and lo_custkey = c_custkey and lo_suppkey = s_suppkey and c_nation = 'CHINA' "
    "and "
    "s_region = 'EUROPE' group by d_yearmonth, c_city, s_nation order by d_yearmonth, c_city, s_nation",
    "select d_sellingseason, max(lo_tax), count(distinct c_name) from lineorder, date, customer where "
    "lo_orderdate = "
    "d_datekey and lo_custkey = c_custkey and c_region = 'AFRICA' group by d_sellingseason order by "
    "d_sellingseason",
    /* rows without a match stay */
    "select s_nation, count(*) from lineorder left join supplier on lo_suppkey = s_suppkey and s_region = "
    "'ASIA' "
    "group by s_nation order by s_nation nulls first",
    /* all rows of one value; conditions on single rows */
    "select count(*), sum(lo_quantity) from lineorder, part where lo_partkey = p_partkey",
    "select count(*) from lineorder, customer, supplier where lo_custkey = c_custkey and lo_suppkey = "
    "s_suppkey and "
    "c_nation = s_nation and c_region = 'AMERICA'",
    "select lo_orderkey, lo_linenumber, c_name from lineorder, customer where lo_custkey = c_custkey and "
    "c_city = "
    "'CHINA    1' and lo_discount = 3 order by lo_orderkey, lo_linenumber",
    /* many rows of few groups: sums in 64 and 128 bits, counts, extrema */
    "select d_year, c_nation, count(*), sum(lo_revenue - lo_supplycost), sum(lo_revenue * 4000037), "
    "min(lo_tax), avg(lo_discount) from lineorder, date, customer where lo_orderdate = d_datekey and "
    "lo_custkey = c_custkey and c_region = 'ASIA' group by d_year, c_nation order by d_year, c_nation",
    "select lo_tax, count(*), sum(lo_revenue), sum(-lo_revenue * 4000037), max(lo_quantity) from lineorder "
    "group by lo_tax order by lo_tax",
    "select s_region, lo_discount, count(*), sum(-lo_extendedprice) from lineorder, supplier where "
    "lo_suppkey = s_suppkey and s_region in ('ASIA', 'EUROPE') group by s_region, lo_discount order by "
    "s_region, lo_discount",
};
#define STATEMENTS (sizeof statements / sizeof *statements)

static char directory[256];
/* The second ones with NULL keys: their date tables are cut. */
static struct database *plain[2], *levels[2], *clustered[2];

static void must(enum status status, const struct error *error)
{
    if (status != STATUS_OK)
        fail_msg("%s", error->text);
}

static void make(const char *name, bool by_levels, const char *cluster_by, bool nulls,
                 struct database **database)
{
    char path[300];
    struct error error = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const struct ssb_load_options options = {
        .data = {.scale_factor = 0.05, .dates = nulls ? SSB_DATES_CLASSIC : SSB_DATES_FULL},
        .directory = path,
        .cluster_by = cluster_by,
        .codecs = by_levels ? PLANES : NULL,
        .dimension_order = by_levels ? DIMENSION_LEVELS : DIMENSION_FILE,
        .dangling_null = nulls};
    must(ssb_load(&options, NULL, &error), &error);
    must(database_open(path, database, &error), &error);
}

static int load(void **state)
{
    const char *temporary = getenv("TMPDIR");
    (void)state;
    snprintf(directory, sizeof directory, "%s/test_cuda_levels.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(directory))
        return -1;
    for (int nulls = 0; nulls < 2; nulls++) {
        make(nulls ? "plain_nulls" : "plain", false, NULL, nulls, &plain[nulls]);
        make(nulls ? "levels_nulls" : "levels", true, NULL, nulls, &levels[nulls]);
        make(nulls ? "clustered_nulls" : "clustered", true, "auto", nulls, &clustered[nulls]);
    }
    return 0;
}

static int unload(void **state)
{
    char command[300];
    (void)state;
    for (int nulls = 0; nulls < 2; nulls++) {
        database_close(plain[nulls]);
        database_close(levels[nulls]);
        database_close(clustered[nulls]);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

/* Runs a statement, and counts the rows of its steps, which another kernel does. */
static void answer(struct sql_statement *statement, struct rowset *rows)
{
    struct scan_counts counts = {0};
    struct run_timing timing;
    struct error error = {0};
    must(sql_run(statement, rows, &timing, &error), &error);
    must(sql_count(statement, true, &counts, &error), &error);
    scan_counts_free(&counts);
    sql_statement_free(statement);
}

static void compare(struct sql_statement *expected, struct sql_statement *got, const char *what)
{
    struct rowset rows[2];
    struct error error = {0};
    answer(expected, &rows[0]);
    answer(got, &rows[1]);
    must(answer_compare(what, "CPU without levels", &rows[0], &rows[1], &error), &error);
    rowset_free(&rows[0]);
    rowset_free(&rows[1]);
}

static struct sql_statement *prepare(struct engine *engine, struct database *database, const char *sql)
{
    struct sql_statement *statement;
    struct error error = {0};
    size_t used;
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, &error), &error);
    return statement;
}

static struct sql_statement *by_hand(struct engine *engine, struct database *database,
                                     const struct ssb_query *query)
{
    struct sql_statement *statement;
    struct error error = {0};
    must(benchmark_statement(engine, database, query, NULL, false, PLAN_INDEX_OFF, &statement, &error),
         &error);
    return statement;
}

static void compare_all(struct engine *cpu, struct database *plain_one, struct engine *engine,
                        struct database *other)
{
    for (size_t q = 0; q < SSB_QUERIES; q++) {
        compare(by_hand(cpu, plain_one, ssb_queries[q]), by_hand(engine, other, ssb_queries[q]),
                ssb_queries[q]->name);
        compare(prepare(cpu, plain_one, ssb_queries[q]->sql), prepare(engine, other, ssb_queries[q]->sql),
                ssb_queries[q]->name);
    }
    for (size_t s = 0; s < STATEMENTS; s++)
        compare(prepare(cpu, plain_one, statements[s]), prepare(engine, other, statements[s]), statements[s]);
}

static void answers_are_equal(const char *device)
{
    struct engine *cpu, *engine;
    struct error error = {0};
    must(engine_open(&(struct engine_options){.device = "cpu"}, &cpu, &error), &error);
    must(engine_open(&(struct engine_options){.device = device}, &engine, &error), &error);
    for (int nulls = 0; nulls < 2; nulls++) {
        compare_all(cpu, plain[nulls], engine, levels[nulls]);
        compare_all(cpu, plain[nulls], engine, clustered[nulls]);
    }
    engine_close(engine);
    engine_close(cpu);
}

static void on_the_cpu(void **state)
{
    (void)state;
    answers_are_equal("cpu");
}

static void on_a_gpu(void **state)
{
    (void)state;
    check_on_a_gpu(answers_are_equal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_cpu), cmocka_unit_test(on_a_gpu)};
    return cmocka_run_group_tests(tests, load, unload);
}
