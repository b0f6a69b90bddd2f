/*
 * test_cuda_memory.c: a GPU that runs out of memory: columns that no statement uses make room for a statement's states; a
 * statement whose group tables cannot grow fails with a sentence, and answers once there is room again. Memory is taken
 * away by allocations of the test's own. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "tests/support/not_run.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/ssb/ssb_database.h"
#include "tests/support/gpu/gpu_database.h"

#include <stdlib.h>

#define BALLAST_MAX 4096u
#define MEGABYTE    (UINT64_C(1) << 20)

static cuda_address ballast[BALLAST_MAX];
static uint32_t ballast_count;

/* 24 million rows: more groups than tables have room for at first, and columns of 96 MB */
static int open_gpu(void **state)
{
    (void)state;
    return gpu_database_open(4, "plain");
}

static struct cuda *cuda(void)
{
    return gpu_device_cuda(engine_device(engine));
}

/* Takes the GPU's memory but for about `left` bytes, in pieces that get smaller. */
static void fill(uint64_t left)
{
    uint64_t unused, total;
    for (uint64_t piece = 4096 * MEGABYTE; piece >= 2 * MEGABYTE; piece /= 2)
        for (;;) {
            must(cuda_memory(cuda(), &unused, &total, error));
            if (ballast_count == BALLAST_MAX || unused < left + piece ||
                cuda_allocate(cuda(), piece, "ballast", &ballast[ballast_count], NULL) != STATUS_OK)
                break;
            ballast_count++;
        }
}

static void empty(void)
{
    while (ballast_count > 0)
        cuda_free(cuda(), ballast[--ballast_count]);
}

/* 24 million groups: tables of 8 million places, 200 MB, must grow to eight times as many */
static const char by_row[] =
    "select lo_orderkey, lo_linenumber, count(*), sum(lo_revenue) from lineorder group by "
    "lo_orderkey, lo_linenumber order by lo_orderkey, lo_linenumber limit 5";

static void a_statement_that_ran_out_of_memory_runs_again(void **state)
{
    (void)state;
    struct sql_statement *statement;
    struct rowset rows;
    struct error why = {0};
    size_t used;
    need_gpu(engine);
    char *const expected = sql_answer(engine, database, by_row);
    must(sql_prepare(engine, database, by_row, strlen(by_row), NULL, &statement, &used, error));
    /* room for the tables as they begin, and not for larger ones; compute-sanitizer keeps some of its own */
    const bool may_suffice = getenv("TESSERA_UNDER_SANITIZER");
    fill(600 * MEGABYTE);
    for (int i = 0; i < 3; i++) {
        const enum status status = sql_run(statement, &rows, NULL, &why);
        if (may_suffice && status == STATUS_OK) {
            rowset_free(&rows);
            continue;
        }
        assert_int_equal(status, STATUS_MACHINE);
        assert_non_null(strstr(why.text, "out of memory"));
        assert_int_equal(rows.rows, 0);
    }
    empty();
    for (int i = 0; i < 2; i++) {
        must(sql_run(statement, &rows, NULL, error));
        char *const got = rowset_csv(&rows);
        assert_string_equal(got, expected);
        free(got);
        rowset_free(&rows);
    }
    sql_statement_free(statement);
    free(expected);
}

static void columns_that_nobody_uses_make_room(void **state)
{
    (void)state;
    static const char *const others[] = {
        "select sum(lo_extendedprice), sum(lo_ordtotalprice), sum(lo_tax), "
        "sum(lo_supplycost) from lineorder",
        "select sum(lo_quantity), sum(lo_discount), sum(lo_linenumber) from lineorder"};
    need_gpu(engine);
    char *const expected = sql_answer(engine, database, by_row);
    for (int i = 0; i < 2; i++) /* 24 million rows of seven columns stay behind: some 670 MB */
        free(sql_answer(engine, database, others[i]));
    fill(16 * MEGABYTE);
    /* a bit for each of 50 groups and 24 million orders: 150 MB */
    char *const got = sql_answer(engine, database,
                                 "select lo_quantity, count(*), count(distinct lo_orderkey) from "
                                 "lineorder group by lo_quantity order by lo_quantity");
    assert_non_null(strstr(got, "\n50,"));
    free(got);
    empty();
    char *const again = sql_answer(engine, database, by_row);
    assert_string_equal(again, expected);
    free(again);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_that_ran_out_of_memory_runs_again),
        cmocka_unit_test(columns_that_nobody_uses_make_room),
    };
    return cmocka_run_group_tests(tests, open_gpu, gpu_database_close);
}
