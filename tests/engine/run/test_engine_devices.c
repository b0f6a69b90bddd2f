/*
 * test_engine_devices.c: engines of several devices answer as one device does, byte for byte: the 13 queries of the Star
 * Schema Benchmark by hand-written and generated kernels, and statements with every shape of result, over segments of 1 to
 * 30 tiles. Their counts are those of one device. Lists of devices that cannot be are refused with a sentence. If one
 * device fails, the others stop, and the engine answers the next statement. EXPLAIN ANALYZE tells each device's share.
 * On the CPU as two, three and nine devices; TESSERA_TEST_DEVICE=cuda: on all GPUs against the first one.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run/engine_internal.h"
#include "ssb/queries/queries.h"
#include "tests/support/gpu/query_compile.h"
#include "tests/support/split_plan.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/ssb/ssb_database.h"

#include <stdatomic.h>

/* All tests run in it. */
static struct execution execution;

static struct engine *one, *several[3];
static uint32_t engines;

static struct engine *open_engine(const char *device, unsigned threads)
{
    struct engine *engine;
    must(engine_open(&(struct engine_options){.device = device, .threads = threads}, &engine, error));
    return engine;
}

static int load(void **state)
{
    (void)state;
    ssb_database_make(0.02, "plain", 2);
    one = open_engine(test_device(), 2);
    if (engine_is_cuda(one)) {
        several[engines++] = open_engine("cuda:all", 4);
        return 0;
    }
    several[engines++] = open_engine("cpu,cpu", 4);
    several[engines++] = open_engine("cpu,cpu,cpu", 2);
    several[engines++] = open_engine("cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu", 9);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    engine_close(one);
    for (uint32_t e = 0; e < engines; e++)
        engine_close(several[e]);
    ssb_database_remove();
    return 0;
}

/* ---- Answers ---- */

static struct plan *make_plan(const char *sql, const struct hand_kernel *kernel)
{
    struct plan *plan;
    enum sql_explain explain;
    must(plan_statement(database, sql, "plain", &plan, &explain, error));
    if (kernel)
        must(plan_use_kernel(plan, kernel, error));
    return plan;
}

static void answers_alike(const char *sql, const struct hand_kernel *kernel)
{
    static struct split_plan split;
    char *const expected = sql_answer(one, database, sql);
    for (uint32_t round = 0; round < 2 * engines; round++) {
        struct plan *plan = make_plan(sql, kernel);
        struct rowset rows;
        split_make(&split, plan, 1 + below(30));
        must(split_answer_by(&split, several[round % engines], &rows, error));
        split_undo(&split);
        char *const got = rowset_csv(&rows);
        if (strcmp(got, expected) != 0)
            fail_msg("%s, %s:\n%s\nand not  %s", engine_device_text(several[round % engines]), sql, got,
                     expected);
        rowset_free(&rows);
        free(got);
        plan_free(plan);
    }
    free(expected);
}

static void benchmark_queries(void **state)
{
    (void)state;
    for (uint32_t q = 0; q < SSB_QUERIES; q++) {
        answers_alike(ssb_queries[q]->sql, NULL);
        answers_alike(ssb_queries[q]->sql, &ssb_queries[q]->kernel);
    }
}

static const char *const statements[] = {
    "select count(*) from lineorder",
    "select count(*), sum(lo_revenue), min(lo_discount), max(lo_extendedprice), avg(lo_quantity), "
    "count(distinct lo_quantity), count(distinct lo_orderkey) from lineorder where lo_discount between 2 and "
    "7",
    "select count(*), sum(lo_revenue), min(lo_discount), count(distinct lo_tax) from lineorder, date "
    "where lo_orderdate = d_datekey and d_year = 1993 and lo_quantity < 0",
    "select sum(lo_extendedprice * 50000000000), sum(0 - lo_extendedprice * 30000000000 - 1) / 7 from "
    "lineorder "
    "where lo_orderkey < 5 or lo_orderkey > 119990",
    "select d_year, lo_discount, count(*), sum(lo_revenue), min(lo_supplycost), max(lo_tax), "
    "count(distinct lo_quantity), avg(lo_revenue) from lineorder, date where lo_orderdate = d_datekey "
    "group by d_year, lo_discount order by d_year, lo_discount",
    "select lo_quantity, sum(lo_extendedprice * 3000000000 - lo_revenue) / 11, min(lo_tax), max(lo_revenue) "
    "from lineorder where lo_discount = 4 group by lo_quantity order by lo_quantity",
    "select lo_orderkey, count(*), sum(lo_revenue), min(lo_linenumber), count(distinct lo_suppkey) from "
    "lineorder group by lo_orderkey order by lo_orderkey limit 9000",
    "select lo_orderkey, lo_extendedprice, lo_revenue, lo_supplycost, count(*), max(lo_tax) from lineorder "
    "where lo_quantity < 30 group by lo_orderkey, lo_extendedprice, lo_revenue, lo_supplycost "
    "order by lo_orderkey, lo_extendedprice, lo_revenue, lo_supplycost limit 20000",
    "select lo_orderkey, lo_linenumber, lo_revenue from lineorder where lo_discount = 3",
    "select lo_orderkey, lo_revenue from lineorder where lo_discount = 3 limit 40 offset 7",
    "select lo_orderkey from lineorder where lo_quantity > 99",
    "select lo_orderkey, lo_revenue from lineorder where lo_discount = 3 order by lo_revenue desc limit 9",
    "select lo_orderkey, lo_tax from lineorder order by lo_extendedprice - lo_tax limit 20 offset 2",
    "select lo_orderkey, lo_suppkey from lineorder order by lo_revenue limit 300",
};
#define STATEMENTS (sizeof statements / sizeof *statements)

static void all_shapes(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < STATEMENTS; s++)
        answers_alike(statements[s], NULL);
}

/* ---- Counts ---- */

static void count(const struct split_plan *split, struct engine *engine, struct scan_counts *counts)
{
    static const struct device_request all = {.segments = NULL};
    struct prepared_plan *prepared;
    struct partial partial;
    struct run_timing timing = {0};
    uint32_t segments = 0;
    must(engine_prepare(engine, split->plan, true, &prepared, error));
    must(engine_run(prepared, &all, &partial, &timing, error));
    partial_free(&partial);
    must(engine_count(prepared, true, counts, error));
    for (uint32_t m = 0; m < engine_members(engine); m++) {
        const struct engine_part part = engine_part(prepared, m);
        assert_true(part.total_ms <= timing.total_ms);
        segments += part.segments;
    }
    assert_int_equal(segments, split->plan->fact->segment_count);
    engine_release(prepared);
}

static void counts_add_up(void **state)
{
    static struct split_plan split;
    static struct scan_counts expected, got;
    (void)state;
    for (uint32_t q = 0; q < SSB_QUERIES; q++) {
        struct plan *plan = make_plan(ssb_queries[q]->sql, NULL);
        split_make(&split, plan, 1 + below(9));
        count(&split, one, &expected);
        for (uint32_t e = 0; e < engines; e++) {
            count(&split, several[e], &got);
            assert_int_equal(got.tiles, expected.tiles);
            assert_int_equal(got.tiles_skipped, expected.tiles_skipped);
            for (uint32_t s = 0; s < plan->step_count; s++) {
                assert_int_equal(got.steps[s].reached, expected.steps[s].reached);
                assert_int_equal(got.steps[s].left, expected.steps[s].left);
            }
            scan_counts_free(&got);
        }
        scan_counts_free(&expected);
        split_undo(&split);
        plan_free(plan);
    }
}

/* ---- Devices ---- */

static void refuses(const char *device, enum status status, const char *sentence)
{
    struct engine *engine;
    struct error why = {0};
    assert_int_equal(engine_open(&(struct engine_options){.device = device}, &engine, &why), status);
    if (!strstr(why.text, sentence))
        fail_msg("%s: %s", device, why.text);
}

static void lists_are_checked(void **state)
{
    (void)state;
    refuses("cpu,cuda", STATUS_BAD_INPUT, "names a CPU and a GPU");
    refuses("cuda:0,cpu", STATUS_BAD_INPUT, "names a CPU and a GPU");
    refuses("cuda:1,1", STATUS_BAD_INPUT, "names GPU 1 twice");
    refuses("cuda,cuda:0", STATUS_BAD_INPUT, "names GPU 0 twice");
    refuses("cuda:0,", STATUS_BAD_INPUT, "is no device");
    refuses("cuda:0,x", STATUS_BAD_INPUT, "is no device");
    refuses("cuda:0,1x", STATUS_BAD_INPUT, "is no device");
    refuses("cuda:9999", STATUS_BAD_INPUT, "is no device");
    refuses("0,1", STATUS_BAD_INPUT, "is no device");
    refuses("cpu,auto", STATUS_BAD_INPUT, "is no device");
    refuses("", STATUS_BAD_INPUT, "is no device");
    refuses(",cpu", STATUS_BAD_INPUT, "is no device");
    refuses("cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,"
            "cpu,cpu,"
            "cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,"
            "cpu,cpu,"
            "cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu",
            STATUS_BAD_INPUT, "more than 64 devices");
    refuses("cuda:1000,1001", STATUS_MACHINE, "");
}

static void one_device_can_be_asked_for(void **state)
{
    struct engine *engine;
    struct error why = {0};
    (void)state;
    assert_int_equal(
        engine_open(&(struct engine_options){.device = "cpu,cpu", .one_device = true}, &engine, &why),
        STATUS_BAD_INPUT);
    assert_non_null(strstr(why.text, "a single one"));
    must(engine_open(&(struct engine_options){.device = "cpu", .one_device = true}, &engine, error));
    engine_close(engine);
}

static void texts_name_all_devices(void **state)
{
    struct engine *engine = open_engine("cpu,cpu", 5);
    (void)state;
    assert_int_equal(engine_members(engine), 2);
    assert_int_equal(engine->members[0].threads, 3);
    assert_int_equal(engine->members[1].threads, 2);
    assert_memory_equal(engine_device_text(engine), "2 x CPU (cpu,cpu), 5 threads, ", 30);
    engine_close(engine);
    engine = open_engine("cpu", 5);
    assert_memory_equal(engine_device_text(engine), "CPU, 5 threads, ", 16);
    engine_close(engine);
}

/* ---- Failures ---- */

/* A CPU whose second device fails, while the others work until they are stopped, for ever if need be. */
static bool fails;

static enum status fail_or_wait(struct device_run *run, const struct device_request *request,
                                struct partial *partial, struct run_timing *timing, struct error *why)
{
    static atomic_uint runs;
    if (!fails)
        return cpu_device.run(run, request, partial, timing, why);
    if (atomic_fetch_add(&runs, 1) % 3 == 1)
        return error_set(why, STATUS_MACHINE, "this device has failed");
    for (;;)
        RETURN_IF_ERROR(cancel_check(why));
}

static void a_failure_ends_the_statement(void **state)
{
    struct device_operations operations = cpu_device;
    struct engine *engine = open_engine("cpu,cpu,cpu", 3);
    struct plan *plan = make_plan(ssb_queries[3]->sql, NULL);
    static const struct device_request all = {.segments = NULL};
    (void)state;
    operations.run = fail_or_wait;
    engine->operations = &operations;
    for (uint32_t round = 0; round < 4; round++) {
        struct prepared_plan *prepared;
        struct partial partial;
        struct run_timing timing = {0};
        struct error why = {0};
        fails = round % 2 == 0;
        must(engine_prepare(engine, plan, false, &prepared, error));
        const enum status status = engine_run(prepared, &all, &partial, &timing, &why);
        assert_int_equal(status, fails ? STATUS_MACHINE : STATUS_OK);
        assert_false(cancel_requested());
        if (fails && (memcmp(why.text, "device ", 7) != 0 || !strstr(why.text, "of 3, CPU, 1 thread") ||
                      !strstr(why.text, ": this device has failed")))
            fail_msg("%s", why.text);
        partial_free(&partial);
        engine_release(prepared);
    }
    plan_free(plan);
    engine_close(engine);
}

static void a_stop_stops_all(void **state)
{
    static struct split_plan split;
    struct rowset rows;
    struct error why = {0};
    struct plan *plan = make_plan(statements[4], NULL);
    (void)state;
    split_make(&split, plan, 2);
    execution_stop(&execution);
    assert_int_equal(split_answer_by(&split, several[0], &rows, &why), STATUS_INTERRUPTED);
    assert_memory_equal(why.text, "interrupted", 11);
    execution_resume(&execution);
    must(split_answer_by(&split, several[0], &rows, error));
    rowset_free(&rows);
    split_undo(&split);
    plan_free(plan);
}

/* ---- EXPLAIN ANALYZE ---- */

static void explain_tells_shares(void **state)
{
    (void)state;
    char *const text =
        sql_answer(several[0], database,
                   "explain analyze select lo_tax, sum(lo_revenue) from lineorder group by lo_tax");
    const char *const first = strstr(text, "device 1 of "), *const second = strstr(text, "device 2 of ");
    if (engine_members(several[0]) > 1 &&
        (!first || !second || !strstr(first, ": 1 segment, ") ||
         !strstr(second, ": 0 segments, 0 tiles, 0 MB") || !strstr(second, "exchange: ")))
        fail_msg("%s", text);
    free(text);
    char *const alone = sql_answer(one, database, "explain analyze select count(lo_tax) from lineorder");
    assert_null(strstr(alone, "device 1 of"));
    assert_null(strstr(alone, "exchange"));
    free(alone);
}

int main(void)
{
    execution_enter(&execution);
    const struct CMUnitTest tests[] = {cmocka_unit_test(benchmark_queries),
                                       cmocka_unit_test(all_shapes),
                                       cmocka_unit_test(counts_add_up),
                                       cmocka_unit_test(lists_are_checked),
                                       cmocka_unit_test(one_device_can_be_asked_for),
                                       cmocka_unit_test(texts_name_all_devices),
                                       cmocka_unit_test(a_failure_ends_the_statement),
                                       cmocka_unit_test(a_stop_stops_all),
                                       cmocka_unit_test(explain_tells_shares)};
    random_state = 20261122;
    print_message("seed %llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, load, unload);
}
