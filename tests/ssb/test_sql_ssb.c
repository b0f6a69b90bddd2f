/*
 * test_sql_ssb.c: the 13 SSB queries answer alike by the kernels that are written by hand, whose answers SQLite checks
 * (test_ssb_run.c), and by those that are made from their plans: name by name, row by row. Scale factor 0.01;
 * sorted by date once, so that tiles are skipped.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/benchmark/answer.h"
#include "ssb/benchmark/benchmark.h"
#include "ssb/data/load.h"
#include "ssb/queries/queries.h"
#include "tests/support/database_cases.h"

static char path[PATH_BYTES];

static void answers_are_the_same(struct engine *engine, struct database *database,
                                 const struct ssb_query *query, const char *codec)
{
    struct sql_statement *by_hand, *made;
    struct rowset expected, rows;
    size_t used;
    must(benchmark_statement(engine, database, query, codec, false, PLAN_INDEX_OFF, &by_hand, error));
    must(sql_run(by_hand, &expected, NULL, error));
    must(sql_prepare(engine, database, query->sql, strlen(query->sql), codec, &made, &used, error));
    assert_int_equal(used, strlen(query->sql));
    for (int round = 0; round < 2; round++) { /* a plan is run twice */
        must(sql_run(made, &rows, NULL, error));
        must(answer_compare(query->name, "by hand", &expected, &rows, error));
        rowset_free(&rows);
    }
    rowset_free(&expected);
    sql_statement_free(by_hand);
    sql_statement_free(made);
}

static void load(const char *sort_by, const char *date_codec)
{
    struct ssb_load_options options = {
        .directory = path, .sort_by = sort_by, .codecs = date_codec, .threads = 2};
    options.data.scale_factor = 0.01;
    directory_make(path);
    must(ssb_load(&options, NULL, error));
}

static void every_query(const char *codec)
{
    struct database *database;
    struct engine *engine;
    must(database_open(path, &database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        answers_are_the_same(engine, database, ssb_queries[q], codec);
    engine_close(engine);
    database_close(database);
}

static void by_the_codecs_of_auto(void **state)
{
    (void)state;
    load(NULL, NULL);
    every_query(NULL);
    every_query("plain");
    every_query("gpu-star");
    directory_remove(path);
}

static void where_tiles_are_skipped(void **state)
{
    (void)state;
    load("lo_orderdate", "rank-rle");
    every_query(NULL);
    directory_remove(path);
}

/* The days of one week of every year: between the first and the last of them lies nearly the whole table, but few tiles
 * hold one. */
static void tiles_between_passing_rows_are_skipped(void **state)
{
    static const char sql[] =
        "select count(*), sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey and "
        "d_weeknuminyear = 6";
    struct database *database;
    struct engine *engine;
    struct sql_statement *statement;
    const struct plan *plan;
    struct rowset sorted, unsorted;
    size_t used;
    (void)state;
    for (int round = 0; round < 2; round++) {
        load(round ? "lo_orderdate" : NULL, NULL);
        must(database_open(path, &database, error));
        must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
        must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
        must(sql_plan(statement, &plan, error));
        if (round)
            assert_in_range(plan->scan.kept_tiles, 7, plan->scan.tiles / 3);
        else
            assert_int_equal(plan->scan.kept_tiles, plan->scan.tiles);
        must(sql_run(statement, round ? &sorted : &unsorted, NULL, error));
        sql_statement_free(statement);
        engine_close(engine);
        database_close(database);
        directory_remove(path);
    }
    must(answer_compare("week 6", "the unsorted table", &unsorted, &sorted, error));
    rowset_free(&sorted);
    rowset_free(&unsorted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_the_codecs_of_auto),
                                       cmocka_unit_test(where_tiles_are_skipped),
                                       cmocka_unit_test(tiles_between_passing_rows_are_skipped)};
    return cmocka_run_group_tests_name("sql_ssb", tests, NULL, NULL);
}
