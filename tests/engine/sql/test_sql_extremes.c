/*
 * test_sql_extremes.c: values at the ends of their types: the least and greatest whole numbers of 64 bits,
 * dates far away, intervals that leave the calendar. The answers are SQLite's where it has whole numbers;
 * where its answer is a floating-point number or an error, the statement is refused.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/kernel.h"
#include "engine/library/tessera.h"
#include "tests/support/sql/star_plan.h"
#include "tests/support/sql/sql_star.h"

#define LEAST "-9223372036854775808"

static int open_extremes(void **state)
{
    static const int64_t n[] = {INT64_MIN, INT64_MAX, -1, 0, 0, 1}, d[] = {-1, -1, -1, -1, 0, 2},
                         small[] = {INT32_MIN, INT32_MAX, -1, 0, 7, 1};
    static const char *const decimal[] = {
        "-9999999999999999.99", "9999999999999999.99", "-1.5", "0", "0.05", "1"};
    static const char *const day[] = {"0001-01-01", "9999-12-31", "1969-12-31",
                                      "1970-01-01", "2024-02-29", NULL},
                             *const at[] = {"0001-01-01 00:00:00",        "9999-12-31 23:59:59.999999",
                                            "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00",
                                            "2024-02-29 12:34:56",        NULL};
    static const uint8_t nulls[] = {0, 0, 0, 0, 1, 0};
    static const struct tessera_values columns[] = {{.name = "n", .numbers = n, .nulls = nulls},
                                                    {.name = "d", .numbers = d},
                                                    {.name = "small", .numbers = small},
                                                    {.name = "decimal", .texts = decimal},
                                                    {.name = "day", .texts = day},
                                                    {.name = "at", .texts = at}};
    struct tessera_error told;
    (void)state;
    directory_make(star_path);
    if (tessera_load_rows(
            star_path,
            "CREATE TABLE t (n BIGINT, d BIGINT, small INT, decimal DECIMAL(18,2), day DATE, at TIMESTAMP)",
            "t", columns, 6, 6, TESSERA_LOAD_NEW, &told) != TESSERA_OK)
        fail_msg("%s", told.text);
    must(database_open(star_path, &star_database, error));
    must(engine_open(&(struct engine_options){.device = test_device(), .threads = 2}, &star_engine, error));
    return 0;
}

static void the_least_number_has_no_remainder_by_minus_one(void **state)
{
    (void)state;
    answers("select n % d from t", "0\n0\n0\n0\n\n1\n");
    answers("select n % -1 from t", "0\n0\n0\n0\n\n0\n");
    answers("select small % -1, small % d from t", "0,0\n0,0\n0,0\n0,0\n0,\n0,1\n");
    answers("select " LEAST " % -1, 7 % -1, 7 / -1 from t limit 1", "0,0,-7\n");
    answers("select count(*) from t where n % d = 0", "4\n");
    answers("select sum(n % d), max(n % 10), min(n % 10) from t", "1,7,-8\n");
}

static void the_least_number_is_a_value(void **state)
{
    (void)state;
    answers("select n from t where n = " LEAST, LEAST "\n");
    answers("select min(n), max(n), count(distinct n) from t", LEAST ",9223372036854775807,5\n");
    answers("select coalesce(n, 5) from t order by 1 limit 2", LEAST "\n-1\n");
    answers("select case when n < 0 then n else 0 end from t order by 1 limit 1", LEAST "\n");
    answers("select n / 1, n / 2 from t where d = -1 order by n limit 1", LEAST ",-4611686018427387904\n");
    answers("select small / -1, -small, abs(small) from t where small < -1",
            "2147483648,2147483648,2147483648\n");
    answers("select n in (" LEAST ", 1, null), n not in (" LEAST ", -1) from t where small < 0",
            "true,false\n,false\n");
}

/* Codes of groups are whole numbers of 64 bits: both ends at once are too many, and become two terms. */
static void groups_that_span_64_bits_have_two_terms(void **state)
{
    (void)state;
    answers("select n, count(*) from t group by n order by n",
            ",1\n" LEAST ",1\n-1,1\n0,1\n1,1\n9223372036854775807,1\n");
    answers("select distinct n from t order by n desc limit 2", "9223372036854775807\n1\n");
    refused("select n, count(*) from t group by rollup (n)",
            "the columns of GROUP BY could have too many different values (2^64 in one of them");
}

static void what_leaves_64_bits_is_refused(void **state)
{
    (void)state;
    refused("select n / -1 from t", "line 1, column 10: a value may leave 64 bits");
    refused("select n / d from t", "line 1, column 10: a value may leave 64 bits");
    leaves_64_bits("select -n from t");
    leaves_64_bits("select abs(n) from t");
    leaves_64_bits("select n - 1 from t");
    leaves_64_bits("select n + 0.5 from t");
    leaves_64_bits("select decimal + 0.0001 from t");
    leaves_64_bits("select -(" LEAST ") from t");
    refused("select 9223372036854775808 from t",
            "line 1, column 8: the number 9223372036854775808 does not fit");
}

/* Makes a plan for a GPU and its kernel. `host`: of a plan for the CPU. */
static enum status kernel_of(const char *sql, bool host)
{
    const struct sql_options options = {.threads = 1, .on_gpu = !host};
    const struct kernel_target target = {
        .shared_block = 227u << 10, .shared_multiprocessor = 228u << 10, .threads = 2048};
    struct error told = {0};
    struct kernel kernel;
    struct plan *plan;
    enum status status = star_plan(star_database, sql, &options, &plan, &told);
    if (status != STATUS_OK)
        return status;
    status = kernel_make(plan, false, &target, &kernel, &told);
    kernel_free(&kernel);
    plan_free(plan);
    return status;
}

/* What may leave 64 bits is checked on the host: no plan for a GPU computes it in its scan, and no kernel. */
static void a_kernel_computes_nothing_that_may_leave_64_bits(void **state)
{
    static const char *const in_scan[] = {
        "select sum(n + 1) from t", "select count(*) from t where n + 1 > 0",
        "select count(*) from t group by n + 1", "select count(*) from t where n > decimal"};
    (void)state;
    for (size_t s = 0; s < sizeof in_scan / sizeof *in_scan; s++) {
        assert_int_equal(kernel_of(in_scan[s], false), STATUS_BAD_INPUT);
        assert_int_equal(kernel_of(in_scan[s], true), STATUS_BAD_INPUT);
    }
    assert_int_equal(kernel_of("select sum(small + 1), sum(small) + 9223372036854775807 from t", false),
                     STATUS_OK);
    assert_int_equal(kernel_of("select n + 1 from t", false), STATUS_OK);
}

/* Nothing is below the least number or above the greatest; bounds do not wrap. */
static void comparisons_at_the_ends(void **state)
{
    (void)state;
    answers("select count(*) from t where small > 9223372036854775807", "0\n");
    answers("select count(*) from t where small < " LEAST, "0\n");
    answers("select count(*) from t where small >= " LEAST, "6\n");
    answers("select count(*) from t where small <= 9223372036854775807", "6\n");
    answers("select count(*) from t where n < " LEAST, "0\n");
    answers("select count(*) from t where n <= " LEAST, "1\n");
    answers("select count(*) from t where n > 9223372036854775807", "0\n");
    answers("select count(*) from t where n >= 9223372036854775807", "1\n");
    answers("select count(*) from t where n > -9223372036854775.75", "4\n");
    answers("select count(*) from t where decimal in (-1.5, 1, 1.005, 0.05, 9223372036854775807)", "3\n");

    static const char sql[] = "select count(*) from t where small < ? and small > ?";
    struct sql_statement *statement = prepare_query(sql);
    const struct sql_parameter least = {.type = {.kind = VALUE_INTEGER}, .value = INT64_MIN},
                               tenths = {.type = {.kind = VALUE_INTEGER, .scale = 1}, .value = INT64_MIN};
    must(sql_parameter_set(statement, 0, &least, error));
    must(sql_parameter_set(statement, 1, &tenths, error));
    statement_answers(statement, sql, "0\n");
    sql_statement_free(statement);
}

static void dates_and_times_far_away(void **state)
{
    (void)state;
    answers("select extract(second from at), extract(hour from at), year(day), extract(dow from day), "
            "extract(doy from "
            "day) from t where small < 1",
            "0,0,1,1,1\n59,23,1969,3,365\n0,0,1970,4,1\n");
    answers("select day + 2000000000 - 2000000000, year(day + 2000000000) from t where small = -1",
            "1969-12-31,5477784\n");
    refused("select day + 2147000000 from t",
            "line 1, column 12: a date may be more than 5 million years from today");
    leaves_64_bits("select year(day + n) from t");
    refused("select year(date '2024-01-01' + 9223372036854775807) from t",
            "line 1, column 31: a value may leave");
    refused("select year(date '2024-01-01' + 9000000000000000000) from t",
            "line 1, column 31: a date may be more");
    refused("select date '2024-01-01' + interval '999999999' year from t",
            "line 1, column 26: a date may be more");
    refused("select date '2024-01-01' + interval '999999999' week from t",
            "line 1, column 28: INTERVAL '999999999' week is longer than 292,000 years");
    refused("select date '2024-01-01' + interval '200000000' day from t",
            "line 1, column 28: INTERVAL '200000000' day is longer than 292,000 years");
    answers("select date '2024-01-01' + interval '100000' week, date '2024-01-01' - interval '1' week from t "
            "limit 1",
            "3940-07-15,2023-12-25\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_number_has_no_remainder_by_minus_one),
        cmocka_unit_test(the_least_number_is_a_value),
        cmocka_unit_test(groups_that_span_64_bits_have_two_terms),
        cmocka_unit_test(what_leaves_64_bits_is_refused),
        cmocka_unit_test(a_kernel_computes_nothing_that_may_leave_64_bits),
        cmocka_unit_test(comparisons_at_the_ends),
        cmocka_unit_test(dates_and_times_far_away),
    };
    return cmocka_run_group_tests_name("sql extremes", tests, open_extremes, star_close);
}
