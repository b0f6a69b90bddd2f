/*
 * test_cuda_stream.c: columns that a GPU does not keep: copied segment by segment, read by kernels from the host's memory, and
 * both, with budgets from nothing to everything; answers equal those of a GPU with room. Needs a GPU; without one it is
 * skipped, unless TESSERA_REQUIRE_GPU is set.
 *
 * The database has 90 million rows in six segments. tests/fuzz/test_partial_fuzz.c has many small ones.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "ssb/queries/queries.h"
#include "tests/support/not_run.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/ssb/ssb_database.h"

#include <stdlib.h>

/* compute-sanitizer takes a hundred times as long. */
#define SCALE_FACTOR    15
#define SCALE_SANITIZED 0.3

static bool gpu, few;

static int load(void **state)
{
    (void)state;
    struct error why = {0};
    struct engine *engine;
    if (engine_open(&(struct engine_options){.device = "cuda"}, &engine, &why) != STATUS_OK) {
        fprintf(stderr, "no GPU: %s\n", why.text);
        return getenv("TESSERA_REQUIRE_GPU") ? 1 : 0;
    }
    engine_close(engine);
    gpu = true;
    few = getenv("TESSERA_UNDER_SANITIZER");
    ssb_database_make(few ? SCALE_SANITIZED : SCALE_FACTOR, NULL, 0);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    if (!gpu)
        return 0;
    ssb_database_remove();
    return 0;
}

/* Statements of every shape; the last ones read many columns, group by many values, and count distinct ones. */
static const char *const others[] = {
    "select lo_orderkey, lo_extendedprice from lineorder where lo_discount = 5 order by lo_extendedprice "
    "desc, lo_orderkey limit 10",
    "select lo_orderkey, lo_orderdate from lineorder order by lo_orderdate desc limit 7 offset 3",
    "select lo_orderkey, lo_revenue from lineorder where lo_quantity = 7 and lo_discount = 3 and lo_tax = 1 "
    "and "
    "lo_extendedprice < 300000 order by lo_orderkey, lo_revenue limit 50",
    "select count(*), min(lo_supplycost), max(lo_revenue), avg(lo_ordtotalprice), sum(lo_tax) from lineorder",
    "select lo_orderkey, count(*), sum(lo_revenue) from lineorder group by lo_orderkey order by 3 desc, 1 "
    "limit 10",
    "select lo_shipmode, count(distinct lo_custkey), count(distinct lo_tax) from lineorder group by "
    "lo_shipmode order "
    "by lo_shipmode",
};
#define OTHERS (sizeof others / sizeof *others)

static char *answer_of(struct engine *engine, const char *text, bool staged, const char *codec,
                       struct run_timing *timing)
{
    struct sql_statement *statement;
    struct rowset rows;
    size_t used;
    must(sql_prepare(engine, database, text, strlen(text), codec, &statement, &used, error));
    sql_statement_set(statement, (struct sql_settings){.staged = staged});
    must(sql_run(statement, &rows, timing, error));
    char *const answer = rowset_csv(&rows);
    rowset_free(&rows);
    must(sql_run(statement, &rows, timing, error)); /* with what the first run has kept */
    char *const again = rowset_csv(&rows);
    assert_string_equal(again, answer);
    free(again);
    rowset_free(&rows);
    sql_statement_free(statement);
    return answer;
}

static const char *text_of(size_t q)
{
    return q < SSB_QUERIES ? ssb_queries[q]->sql : others[q - SSB_QUERIES];
}

static void budgets_answer_alike(void **state)
{
    (void)state;
    static const struct {
        const char *memory;
        enum late_transfer late;
        bool staged;
        const char *codec;
    } cases[] = {{"0", LATE_AUTO, false, NULL},      {"0", LATE_OFF, false, NULL},
                 {"0", LATE_ON, false, NULL},        {"150M", LATE_AUTO, false, NULL},
                 {"600M", LATE_OFF, false, NULL},    {"1.2G", LATE_AUTO, false, NULL},
                 {"0", LATE_AUTO, true, NULL},       {"300M", LATE_OFF, true, NULL},
                 {"0", LATE_AUTO, false, "plain"},   {"700M", LATE_OFF, false, "plain"},
                 {"0", LATE_AUTO, false, "gpu-star"}};
    struct engine *whole;
    char *expected[SSB_QUERIES + OTHERS];
    struct run_timing timing;
    need_gpu(gpu);
    must(engine_open(&(struct engine_options){.device = "cuda"}, &whole, error));
    for (size_t q = 0; q < SSB_QUERIES + OTHERS; q++) {
        expected[q] = answer_of(whole, text_of(q), false, NULL, &timing);
        assert_int_equal(timing.moved_bytes, 0);
    }
    engine_close(whole);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct engine *engine;
        uint64_t moved = 0;
        must(engine_open(
            &(struct engine_options){.device = "cuda", .gpu_memory = cases[i].memory, .late = cases[i].late},
            &engine, error));
        for (size_t q = 0; q < SSB_QUERIES + OTHERS; q++) {
            char *const got = answer_of(engine, text_of(q), cases[i].staged, cases[i].codec, &timing);
            if (strcmp(got, expected[q]) != 0)
                fail_msg("%s with %s of memory: %s\nand not %s", text_of(q), cases[i].memory, got,
                         expected[q]);
            free(got);
            /* Without a condition the general kernel reads nothing, and the host takes the rows. */
            if (strcmp(cases[i].memory, "0") == 0 && timing.kernel != KERNEL_GENERAL &&
                timing.moved_bytes == 0)
                fail_msg("%s with no memory: nothing moved", text_of(q));
            moved += timing.moved_bytes;
        }
        print_message("%s, late %d%s%s%s: %.2f GB moved\n", cases[i].memory, (int)cases[i].late,
                      cases[i].staged ? ", staged" : "", cases[i].codec ? ", " : "",
                      cases[i].codec ? cases[i].codec : "", (double)moved / 1e9);
        engine_close(engine);
    }
    for (size_t q = 0; q < SSB_QUERIES + OTHERS; q++)
        free(expected[q]);
}

/* A statement that is repeated has its columns kept in the place of another's. */
static void what_is_repeated_is_kept(void **state)
{
    (void)state;
    static const char first[] = "select sum(lo_extendedprice) from lineorder where lo_quantity < 25",
                      second[] = "select sum(lo_revenue) from lineorder where lo_tax < 3";
    struct engine *engine;
    struct run_timing timing = {0};
    struct sql_statement *one, *two;
    size_t used;
    need_gpu(gpu);
    must(engine_open(&(struct engine_options){.device = "cuda",
                                              .gpu_memory = few ? "8M" : "400M",
                                              .kernel = KERNEL_SPECIALISED}, /* which loads them once */
                     &engine, error));
    must(sql_prepare(engine, database, first, strlen(first), NULL, &one, &used, error));
    must(sql_prepare(engine, database, second, strlen(second), NULL, &two, &used, error));
    must(sql_measure(one, &timing, error));
    assert_int_equal(timing.moved_bytes, 0);
    must(sql_measure(two, &timing, error));
    assert_true(timing.moved_bytes > 0);
    for (int i = 0; i < 8; i++)
        must(sql_measure(two, &timing, error));
    assert_int_equal(timing.moved_bytes, 0);
    must(sql_measure(one, &timing, error));
    assert_true(timing.moved_bytes > 0);
    sql_statement_free(one);
    sql_statement_free(two);
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_answer_alike),
        cmocka_unit_test(what_is_repeated_is_kept),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
