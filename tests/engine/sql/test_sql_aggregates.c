/*
 * test_sql_aggregates.c: aggregates beyond sum, count, min, max and avg, FILTER, names in clauses, and statements without
 * FROM, on the star of sql_star.h. The answers are DuckDB's.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql_star.h"

static void aggregates_take_a_filter(void **state)
{
    (void)state;
    answers("select count(*) filter (where online), sum(pieces) filter (where online), count(distinct shop) "
            "filter (where pieces > 0) from sales",
            "3,13,2\n");
    answers(
        "select shop, sum(paid) filter (where pieces < 0) as s, avg(pieces) filter (where online) from sales "
        "group by shop order by shop",
        "A,,3.0\nB,,10.0\nC,7.00,\n");
    answers("select sum(pieces) FILTER (WHERE false), count(*) filter (where pieces is null) from sales",
            ",1\n");
    refused("select abs(pieces) filter (where online) from sales",
            "line 1, column 20: FILTER stands after aggregates only, and abs is none");
}

static void conditions_are_aggregated(void **state)
{
    (void)state;
    answers(
        "select shop, bool_and(online), bool_or(online), count_if(pieces > 1), every(pieces > 0) from sales "
        "group by shop order by shop",
        "A,false,true,1,true\nB,true,true,1,true\nC,false,false,0,false\n");
    answers("select bool_and(online), count_if(online), any_value(note) from sales where pieces = 99",
            ",0,\n");
    answers("select any_value(label) from regions where id = 2", "south\n");
    answers("select bool_or(pieces) from sales", "true\n");
    refused("select bool_and() from sales", "line 1, column 8: bool_and takes one value");
    refused("select bool_and(note) from sales", "line 1, column 17: this needs a condition, not a string");
}

static void variances_are_exact(void **state)
{
    (void)state;
    answers("select var_pop(people), var_samp(people), stddev_pop(people), stddev_samp(people) from visits "
            "where people > 50",
            "5625.0,11250.0,75.0,106.06601717798213\n");
    answers("select shop, variance(people), stddev(people), var_pop(people) from visits group by shop order "
            "by shop",
            "A,4704.5,68.58935777509511,2352.25\nB,,,0.0\n");
    answers("select var_pop(paid), stddev(paid) from sales where paid is null or paid = 7", "0.0,\n");
    answers("select var_pop(pieces) from sales where pieces = 99", "\n");
    /* Values that would cancel in floating point, and whose squares leave 64 bits. */
    answers("select var_pop(big + pieces), var_pop(big) from sales where big > 1", "1.0,0.0\n");
    answers("select var_pop(big) from sales", "1.944e+37\n");
    answers("select var_pop(online), var_pop(2.5 * pieces) from sales where pieces > 0",
            "0.2222222222222222,"
            "93.05555555555556\n");
    refused("select stddev(day) from sales", "line 1, column 8: stddev takes numbers");
    refused("select stddev(distinct pieces) from sales", "line 1, column 8: DISTINCT cannot stand in stddev");
}

static void clauses_take_aliases_and_numbers(void **state)
{
    (void)state;
    answers("select shop as Place, sum(pieces) as Total from sales group by place having TOTAL > 0 order by "
            "total",
            "A,4\nB,10\n");
    answers("select year(day) y, count(*) n from sales group by 1 having n > 1 order by 2 desc", "2024,4\n");
}

static void a_statement_without_from_has_one_row(void **state)
{
    (void)state;
    answers("select 7 * 6, 'x', null, date '2024-01-31' + 1, 1 / 4.0, true", "42,x,,2024-02-01,0.25,true\n");
    answers("select 1 where 2 > 3", "");
    answers("select 1 as a where 'a' < 'b' order by a limit 1", "1\n");
    answers("select 1 limit 0", "");
    answers("explain select 1", "one row of constants: nothing is read\n");
    refused("select count(*)", "line 1, column 8: aggregates, GROUP BY, HAVING and DISTINCT need rows");
    refused("select *", "line 1, column 8: * needs tables, and the statement has no FROM");
    refused("select x", "line 1, column 8: there is no column x, because the statement has no FROM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aggregates_take_a_filter), cmocka_unit_test(conditions_are_aggregated),
        cmocka_unit_test(variances_are_exact), cmocka_unit_test(clauses_take_aliases_and_numbers),
        cmocka_unit_test(a_statement_without_from_has_one_row)};
    return cmocka_run_group_tests_name("sql aggregates", tests, star_open, star_close);
}
