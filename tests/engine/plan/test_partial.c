/*
 * test_partial.c: partial results of disjoint segments merge into the answer of all of them: sums of 64 and 128 bits,
 * counts, averages, extrema, distinct values, slots, hashed groups of one and of several words, rows with and without a
 * limit; by hand-written kernels, too. Segments of 1 to 30 tiles, in 1 to 6 parts. On the device that
 * TESSERA_TEST_DEVICE names. Random queries do the same in tests/fuzz/test_partial_fuzz.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/queries/queries.h"
#include "tests/support/gpu/query_compile.h"
#include "tests/support/split_plan.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/ssb/ssb_database.h"

static struct engine *engine;
static const struct device_operations *operations;
static struct device *device;

static int load(void **state)
{
    (void)state;
    ssb_database_make(0.01, "plain", 2);
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &engine, error));
    operations = engine_is_cuda(engine) ? &cuda_device : &cpu_device;
    must(operations->open(&(struct device_options){.threads = 2, .memory = UINT64_MAX}, &device, error));
    return 0;
}

static int unload(void **state)
{
    (void)state;
    operations->close(device);
    engine_close(engine);
    ssb_database_remove();
    return 0;
}

static void merges(const char *sql, const struct hand_kernel *kernel)
{
    static struct split_plan split;
    char *const expected = sql_answer(engine, database, sql);
    for (uint32_t round = 0; round < 8; round++) {
        struct plan *plan;
        struct rowset rows;
        enum sql_explain explain;
        must(plan_statement(database, sql, "plain", &plan, &explain, error));
        if (kernel)
            must(plan_use_kernel(plan, kernel, error));
        split_make(&split, plan, 1 + below(30));
        must(split_answer(&split, operations, device, 1 + below(6), &rows, error));
        split_undo(&split);
        char *const got = rowset_csv(&rows);
        if (strcmp(got, expected) != 0)
            fail_msg("%s\nanswers  %s\nand not  %s", sql, got, expected);
        rowset_free(&rows);
        free(got);
        plan_free(plan);
    }
    free(expected);
}

static void one_group(void **state)
{
    (void)state;
    merges("select count(*), sum(lo_revenue), min(lo_discount), max(lo_extendedprice), avg(lo_quantity), "
           "count(distinct lo_quantity) from lineorder where lo_discount between 2 and 7",
           NULL);
    merges("select count(*), sum(lo_revenue), min(lo_discount), count(distinct lo_tax) from lineorder, date "
           "where lo_orderdate = d_datekey and d_year = 1993 and lo_quantity < 0",
           NULL);
    merges("select sum(lo_extendedprice * 50000000000), sum(0 - lo_extendedprice * 30000000000 - 1) / 7 from "
           "lineorder where lo_orderkey < 5 or lo_orderkey > 59990",
           NULL);
}

static void slots(void **state)
{
    (void)state;
    merges("select d_year, lo_discount, count(*), sum(lo_revenue), min(lo_supplycost), max(lo_tax), "
           "count(distinct lo_quantity), avg(lo_revenue) from lineorder, date where lo_orderdate = d_datekey "
           "group by d_year, lo_discount order by d_year, lo_discount",
           NULL);
    merges("select c_region, count(distinct lo_partkey), count(distinct lo_extendedprice) from lineorder, "
           "customer "
           "where lo_custkey = c_custkey group by c_region order by c_region",
           NULL);
}

static void hashed_groups(void **state)
{
    (void)state;
    merges(
        "select lo_orderkey, count(*), sum(lo_revenue), min(lo_linenumber), count(distinct lo_suppkey) from "
        "lineorder group by lo_orderkey order by lo_orderkey limit 3000",
        NULL);
    merges("select lo_orderkey, lo_extendedprice, lo_revenue, lo_supplycost, count(*), max(lo_tax), "
           "count(distinct lo_discount) from lineorder where lo_quantity < 30 group by lo_orderkey, "
           "lo_extendedprice, "
           "lo_revenue, lo_supplycost order by lo_orderkey, lo_extendedprice, lo_revenue, lo_supplycost "
           "limit 2000",
           NULL);
    merges("select lo_orderkey * 100000 + lo_partkey as k, sum(lo_tax) from lineorder where lo_discount = 3 "
           "group by "
           "lo_orderkey * 100000 + lo_partkey having sum(lo_tax) > 3 order by k",
           NULL);
}

static void rows(void **state)
{
    (void)state;
    merges("select lo_orderkey, lo_linenumber, lo_revenue from lineorder where lo_discount = 3", NULL);
    merges("select lo_orderkey, lo_revenue from lineorder where lo_discount = 3 limit 40 offset 7", NULL);
    merges("select lo_orderkey, lo_revenue from lineorder where lo_quantity = 3 order by lo_revenue desc, "
           "lo_orderkey "
           "limit 100",
           NULL);
    merges("select lo_orderkey from lineorder where lo_quantity > 99", NULL);
}

static void hand_written_kernels(void **state)
{
    (void)state;
    for (uint32_t q = 0; q < SSB_QUERIES; q++)
        merges(ssb_queries[q]->sql, &ssb_queries[q]->kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_group), cmocka_unit_test(slots),
                                       cmocka_unit_test(hashed_groups), cmocka_unit_test(rows),
                                       cmocka_unit_test(hand_written_kernels)};
    random_state = 20261121;
    print_message("seed %llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, load, unload);
}
