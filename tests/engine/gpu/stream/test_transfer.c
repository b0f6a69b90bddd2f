/* test_transfer.c: what kernels are expected to read from the host's memory, from the plans of known queries. Needs no GPU. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/stream/transfer.h"
#include "ssb/queries/queries.h"
#include "tests/support/gpu/query_compile.h"
#include "tests/support/sql/sql_answer.h"
#include "tests/support/ssb/ssb_database.h"

static int load(void **state)
{
    (void)state;
    ssb_database_make(0.1, NULL, 2);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    ssb_database_remove();
    return 0;
}

/* The expectation for a column of a query. */
static struct transfer expect(const struct ssb_query *query, const char *codec, const char *column)
{
    struct plan *plan;
    struct kernel kernel;
    enum sql_explain explain;
    struct transfer found = {.share = -1};
    must(plan_statement(database, query->sql, codec, &plan, &explain, error));
    must(plan_use_kernel(plan, &query->kernel, error));
    must(kernel_make(plan, false, &compile_sm_90->target, &kernel, error));
    for (uint32_t c = 0; c < kernel.shape.column_count; c++)
        if (strcmp(plan->columns[kernel.columns[c]].column->schema.name, column) == 0)
            found = transfer_estimate(plan, &kernel, c);
    kernel_free(&kernel);
    plan_free(plan);
    print_message("%s %s: %.3f of its bytes, %.3f of a copy's time\n", query->name, column, found.share,
                  found.lasts);
    assert_true(found.share >= 0 && found.share <= 1);
    return found;
}

static void columns_of_few_survivors_are_read(void **state)
{
    (void)state;
    assert_true(expect(&q21, NULL, "lo_revenue").lasts < 0.5);
    assert_true(expect(&q43, NULL, "lo_supplycost").lasts < 0.3);
    assert_true(expect(&q21, "plain", "lo_revenue").lasts < 0.5);
}

static void levels_are_read_by_planes(void **state)
{
    (void)state;
    assert_true(expect(&q21, NULL, "lo_partkey").share < 0.6);
    assert_true(expect(&q11, NULL, "lo_orderdate").share < 0.7);
    assert_true(expect(&q12, NULL, "lo_orderdate").lasts < 1);
    assert_true(expect(&q13, NULL, "lo_orderdate").lasts < 1);
}

static void filters_of_all_rows_are_copied(void **state)
{
    (void)state;
    assert_true(expect(&q11, "plain", "lo_orderdate").lasts > 1);
    assert_true(expect(&q31, "gpu-for", "lo_custkey").lasts > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_few_survivors_are_read),
        cmocka_unit_test(levels_are_read_by_planes),
        cmocka_unit_test(filters_of_all_rows_are_copied),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
