/*
 * test_cuda_peers.c: two GPUs and more answer as one does: the 13 queries of the Star Schema Benchmark and statements of
 * every shape over six segments, in any order of GPUs, with room for all columns and without. Groups are merged by a
 * GPU that reads the others' memory, where the machine lets it. Prints what the merge takes. Needs two GPUs; with fewer it
 * is skipped, unless TESSERA_REQUIRE_GPUS is set.
 *
 * The database has 90 million rows. tests/engine/run/test_engine_devices.c has many small segments.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run/engine.h"
#include "ssb/queries/queries.h"
#include "tests/support/not_run.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/ssb/ssb_database.h"

#include <stdlib.h>

static unsigned gpus;

static int load(void **state)
{
    (void)state;
    struct error why = {0};
    if (cuda_device.number(&gpus, &why) != STATUS_OK || gpus < 2) {
        fprintf(stderr, "skipped, because there are not two GPUs: %s\n", gpus ? "there is one" : why.text);
        return getenv("TESSERA_REQUIRE_GPUS") ? 1 : 0;
    }
    ssb_database_make(15, NULL, 0);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    if (gpus < 2)
        return 0;
    ssb_database_remove();
    return 0;
}

/* `by_gpu`: a GPU merges the states. */
static const struct {
    const char *sql;
    bool by_gpu;
} statements[] = {
    {"select count(*) from lineorder", false}, /* what the catalogue knows */
    {"select count(*), min(lo_supplycost), max(lo_revenue), avg(lo_ordtotalprice), sum(lo_tax) from "
     "lineorder",
     true},
    {"select sum(lo_extendedprice * 50000000000), sum(0 - lo_extendedprice * 30000000000 - 1) / 7 from "
     "lineorder "
     "where lo_orderkey < 500 and lo_quantity < 3",
     true},
    {"select count(*), sum(lo_revenue), max(lo_tax) from lineorder where lo_orderkey < 0", false},
    {"select lo_quantity, lo_discount, lo_tax, count(*), sum(lo_extendedprice * lo_discount), "
     "min(lo_revenue), "
     "max(lo_revenue), sum(lo_extendedprice * 30000000 - lo_revenue) / 110 from lineorder "
     "group by lo_quantity, lo_discount, lo_tax order by 1, 2, 3",
     true},
    {"select d_year, c_city, s_city, count(*), sum(lo_revenue), min(lo_supplycost) from lineorder, date, "
     "customer, "
     "supplier where lo_orderdate = d_datekey and lo_custkey = c_custkey and lo_suppkey = s_suppkey "
     "group by d_year, c_city, s_city order by 1, 2, 3 limit 5000",
     true},
    {"select lo_orderkey, count(*), sum(lo_revenue) from lineorder group by lo_orderkey order by 3 desc, 1 "
     "limit 10",
     true},
    {"select lo_custkey, lo_suppkey, lo_orderkey, lo_extendedprice, count(*), min(lo_revenue), "
     "sum(lo_extendedprice * 3000000000) / 1000 from lineorder where lo_quantity < 4 and lo_discount = 2 "
     "group by lo_custkey, lo_suppkey, lo_orderkey, lo_extendedprice order by 1, 2, 3, 4 limit 3000",
     true},
    {"select lo_custkey, avg(lo_revenue), max(lo_tax) from lineorder group by lo_custkey order by 2 desc, 1 "
     "limit 50",
     true},
    {"select lo_shipmode, count(distinct lo_custkey), count(distinct lo_tax), min(lo_revenue) from lineorder "
     "group by lo_shipmode order by lo_shipmode",
     true},
    {"select lo_custkey, count(distinct lo_suppkey), count(distinct lo_tax), sum(lo_revenue) from lineorder "
     "where "
     "lo_quantity < 9 group by lo_custkey order by 2 desc, 1 limit 100",
     true},
    {"select lo_quantity, count(distinct lo_orderkey) from lineorder where lo_discount = 3 group by "
     "lo_quantity "
     "order by 1",
     true},
    {"select count(distinct lo_custkey), count(distinct lo_extendedprice), count(distinct lo_orderkey) from "
     "lineorder",
     true},
    {"select lo_orderkey * 1000000007 as k, lo_custkey * 1000003 as c, count(distinct lo_partkey) from "
     "lineorder where "
     "lo_quantity = 4 and lo_discount = 2 group by lo_orderkey * 1000000007, lo_custkey * 1000003 order by 3 "
     "desc, 1 limit 50",
     false},
    {"select lo_orderkey, lo_linenumber, lo_revenue from lineorder where lo_quantity = 7 and lo_discount = 3 "
     "and "
     "lo_tax = 1 and lo_extendedprice < 300000",
     false},
    {"select lo_orderkey, lo_linenumber from lineorder where lo_quantity = 7 limit 1000 offset 30", false},
};
#define STATEMENTS (sizeof statements / sizeof *statements)

static const char *text_of(size_t q)
{
    return q < SSB_QUERIES ? ssb_queries[q]->sql : statements[q - SSB_QUERIES].sql;
}

static char *answer(struct engine *engine, size_t q, bool by_hand, bool staged, struct run_timing *timing)
{
    struct sql_statement *statement;
    struct rowset rows;
    size_t used;
    char *text = NULL;
    const char *const sql = text_of(q);
    must(sql_prepare(engine, database, sql, strlen(sql), NULL, &statement, &used, error));
    sql_statement_set(statement, (struct sql_settings){
                                     .kernel = by_hand && q < SSB_QUERIES ? &ssb_queries[q]->kernel : NULL,
                                     .timed = true,
                                     .staged = staged});
    for (uint32_t run = 0; run < 3; run++) {
        must(sql_run(statement, &rows, timing, error));
        char *const again = rowset_csv(&rows);
        if (text)
            assert_string_equal(again, text);
        free(text);
        text = again;
        rowset_free(&rows);
    }
    sql_statement_free(statement);
    return text;
}

static void compare(struct engine *one, const struct engine_options *options, bool staged)
{
    struct engine *several;
    must(engine_open(options, &several, error));
    print_message("%s, budget %s\n", engine_device_text(several),
                  options->gpu_memory ? options->gpu_memory : "free");
    for (size_t q = 0; q < SSB_QUERIES + STATEMENTS; q++)
        for (uint32_t by_hand = 0; by_hand < (q < SSB_QUERIES ? 2u : 1u); by_hand++) {
            struct run_timing alone, together;
            char *const expected = answer(one, q, by_hand, staged, &alone);
            char *const got = answer(several, q, by_hand, staged, &together);
            if (strcmp(got, expected) != 0)
                fail_msg("%s, %s:\n%s\nand not\n%s", options->device, text_of(q), got, expected);
            print_message("  statement %2zu%s: one %.4f ms, together %.4f, of which merge %.4f\n", q,
                          by_hand ? " by hand" : "", alone.total_ms, together.total_ms, together.merge_ms);
            free(expected);
            free(got);
        }
    engine_close(several);
}

static void answers_alike(void **state)
{
    (void)state;
    static const struct {
        struct engine_options options;
        bool staged;
    } cases[] = {{{.device = "cuda:0,1"}, false},
                 {{.device = "cuda:1,0"}, false},
                 {{.device = "cuda:all"}, false},
                 {{.device = "cuda:0,1"}, true},
                 {{.device = "cuda:0,1", .gpu_memory = "0"}, false},
                 {{.device = "cuda:0,1", .gpu_memory = "200M", .late = LATE_OFF}, false}};
    struct engine *one;
    if (gpus < 2)
        not_run("there are no two GPUs that can be used here");
    must(engine_open(&(struct engine_options){.device = "cuda:0"}, &one, error));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        compare(one, &cases[c].options, cases[c].staged);
    engine_close(one);
}

static void explain_tells_who_merged(void **state)
{
    (void)state;
    struct engine *several;
    unsigned wrong = 0;
    if (gpus < 2)
        not_run("there are no two GPUs that can be used here");
    must(engine_open(&(struct engine_options){.device = "cuda:0,1"}, &several, error));
    for (size_t s = 0; s < STATEMENTS; s++) {
        char sql[1024];
        snprintf(sql, sizeof sql, "explain analyze %s", statements[s].sql);
        char *const text = sql_answer(several, database, sql);
        if (!strstr(text, "device 2 of 2, ") || !strstr(text, "exchange: "))
            fail_msg("%s", text);
        if (!statements[s].by_gpu == !strstr(text, "merged by the host")) {
            print_error("%s\n%s\n", sql, text);
            wrong++;
        }
        const char *const line = strstr(text, "device 1 of 2");
        print_message("%.*s\n", (int)(strstr(line, "time: ") - line), line);
        free(text);
    }
    engine_close(several);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_alike),
                                       cmocka_unit_test(explain_tells_who_merged)};
    return cmocka_run_group_tests(tests, load, unload);
}
