/*
 * test_sql_aggregates.c: aggregates beyond sum, count, min, max and avg, FILTER, names in clauses, and statements without
 * FROM, on the star of sql_star.h. The answers are DuckDB's.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

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
    answers("select var_pop(people / 2.0), stddev(people / 3.0) n, stddev_pop(people / 1.0) from visits "
            "where people > 50",
            "1406.25,35.35533905932737,75.0\n");
    answers(
        "select shop, variance(people / 2.0), median(people / 2.0) from visits group by shop order by shop",
        "A,1176.125,25.75\nB,,125.0\n");
    /* Variances of doubles need all values, and so does what is counted beside them, in any order. */
    answers("select count(distinct shop), var_pop(people / 2.0) from visits where people > 50",
            "2,1406.25\n");
    answers("select shop, count(distinct people) from visits group by shop having stddev(people / 2.0) > 0",
            "A,2\n");
    refused("select stddev(day) from sales", "line 1, column 8: stddev takes numbers");
    refused("select stddev(distinct pieces) from sales", "line 1, column 8: DISTINCT cannot stand in stddev");
}

static void two_values_are_compared(void **state)
{
    (void)state;
    answers("select covar_pop(pieces, paid), covar_samp(paid, pieces), corr(pieces, 2 * pieces), "
            "corr(pieces, -pieces) "
            "from sales where pieces > 0",
            "-15.427777777777777,-23.141666666666666,1.0,-1.0\n");
    answers("select corr(pieces, 7), covar_samp(pieces, paid), covar_pop(pieces, pieces) from sales where "
            "pieces = 1",
            ",,0.0\n");
    answers("select shop, arg_max(day, pieces), arg_min(note, pieces), max_by(shop, day) from sales group by "
            "shop order by 1",
            "A,2024-01-31,100%,A\nB,2024-03-01,a_b,B\nC,2023-12-31,,C\n");
    refused("select corr(big, pieces) from sales",
            "line 1, column 13: corr needs values that span less than 6 * 10^9");
    refused("select corr(note, pieces) from sales",
            "line 1, column 8: corr takes whole numbers and decimals");
}

static void quantiles_are_exact(void **state)
{
    (void)state;
    answers("select median(people), quantile_cont(people, 0.25), quantile_disc(people, 0.5), mode(people) "
            "from visits",
            "100.0,51.5,100,3\n");
    answers("select shop, median(people) from visits group by shop order by shop", "A,51.5\nB,250.0\n");
    answers("select percentile_cont(0.9) within group (order by people desc), percentile_disc(0) within "
            "group (order by "
            "shop) from visits",
            "22.4,A\n");
    answers("select median(paid), quantile_disc(paid, 0.75), quantile_disc(day, 0.1) from sales",
            "4.985,7.00,2023-12-31\n");
    answers("select median(pieces), mode(note), quantile_disc(day, 1) from sales where pieces = 99", ",,\n");
    answers("select median(big) from sales where big > 1", "9e+18\n");
    answers("select shop, median(pieces) filter (where online), count(*) n from sales group by shop having "
            "median(pieces) > 1 order by shop",
            "A,3.0,2\nB,10.0,2\n");
    refused("select median(day) from sales",
            "line 1, column 8: median takes numbers, between which it can lie");
    refused("select quantile_cont(pieces, 2) from sales",
            "line 1, column 30: quantile_cont takes a constant from 0");
    refused("select quantile_cont(pieces, pieces) from sales",
            "line 1, column 30: quantile_cont takes a constant");
    refused("select pieces, median(pieces) from sales", "line 1, column 8: pieces is neither in GROUP BY");
}

static void distinct_values_are_summed(void **state)
{
    (void)state;
    answers("select sum(distinct product), avg(distinct product), count(distinct gift), count(*) from sales",
            "77,25.666666666666668,3,5\n");
    answers("select online, sum(distinct big), avg(distinct paid), count(distinct shop) from sales group "
            "by online "
            "order by 1",
            "false,8999999999999999993,9.5,2\ntrue,9000000000000000001,1.735,2\n");
    answers("select sum(distinct pieces), count(distinct pieces) from sales where pieces = 99", ",0\n");
    refused("select sum(distinct day) from sales",
            "line 1, column 8: sum(distinct x) takes whole numbers and decimals");
}

static void strings_are_joined_in_order(void **state)
{
    (void)state;
    answers("select string_agg(note, ' | ') from sales", "100% | Mixed | a_b | plain\n");
    answers("select string_agg(shop, '-' order by day desc), string_agg(distinct shop, '' order by shop "
            "desc) from sales",
            "B-A-B-A-C,CBA\n");
    answers("select shop, group_concat(note) as notes from sales group by shop order by notes",
            "C,\nA,\"100%,plain\"\nB,\"Mixed,a_b\"\n");
    answers("select listagg(kind, '/') within group (order by id) from products", "tea/tea/coffee\n");
    answers("select string_agg(kind, '/' order by since nulls last) from products", "tea/tea/coffee\n");
    answers("select string_agg(distinct shop, '' order by shop desc) filter (where pieces > 0) from sales",
            "BA\n");
    answers("select upper(string_agg(note, ',')) from sales having string_agg(note, ',') like '100%'",
            "\"100%,MIXED,A_B,PLAIN\"\n");
    answers(
        "select shop, string_agg(note, ',') || '!' as notes from sales group by shop order by notes, shop",
        "C,\nA,\"100%,plain!\"\nB,\"Mixed,a_b!\"\n");
    refused("select string_agg(pieces, ',') from sales", "line 1, column 8: string_agg takes strings");
    refused("select string_agg(note, shop) from sales",
            "line 1, column 25: the separator of string_agg is a constant");
    refused("select string_agg(distinct note, ',' order by day) from sales",
            "line 1, column 47: string_agg(DISTINCT x ORDER BY y) has no one y for an x");
}

static void groups_have_sets(void **state)
{
    (void)state;
    answers("select shop, online, count(*), sum(pieces), grouping(shop, online) from sales group by rollup "
            "(shop, online) "
            "order by 5, 1, 2",
            "A,false,1,1,0\nA,true,1,3,0\nB,true,2,10,0\nC,false,1,-2,0\nA,,2,4,1\nB,,2,10,1\nC,,1,-2,1\n,,5,"
            "12,3\n");
    answers("select shop, online, count(distinct day) from sales group by cube (shop, online) having "
            "count(*) > 1 "
            "order by 1, 2",
            ",,4\n,false,2\n,true,3\nA,,2\nB,,2\nB,true,2\n");
    answers("select shop, online, avg(pieces) from sales group by grouping sets ((shop), (online), ()) order "
            "by 1, 2",
            ",,3.0\n,false,-0.5\n,true,6.5\nA,,2.0\nB,,10.0\nC,,-2.0\n");
    answers("select shop, count(*) from sales where pieces = 99 group by rollup (shop)", ",0\n");
    answers("select shop, median(people) from visits group by rollup (shop) order by 1",
            ",100.0\nA,51.5\nB,250.0\n");
    answers("select shop, sum(people) from visits group by all order by 1", "A,103\nB,250\n");
    answers("select max(people) from visits group by ()", "250\n");
    answers("select case when grouping(shop) = 1 then 'all' else shop end as place, sum(people) from visits "
            "group by "
            "rollup (shop) order by 2",
            "A,103\nB,250\nall,353\n");
    refused("select shop, grouping(people) from visits group by shop",
            "line 1, column 23: grouping takes terms of");
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
    answers("select count(*)", "1\n");
    refused("select *", "line 1, column 8: * needs tables, and the statement has no FROM");
    refused("select x", "line 1, column 8: there is no column x, because the statement has no FROM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aggregates_take_a_filter),   cmocka_unit_test(conditions_are_aggregated),
        cmocka_unit_test(variances_are_exact),        cmocka_unit_test(clauses_take_aliases_and_numbers),
        cmocka_unit_test(two_values_are_compared),    cmocka_unit_test(quantiles_are_exact),
        cmocka_unit_test(distinct_values_are_summed), cmocka_unit_test(strings_are_joined_in_order),
        cmocka_unit_test(groups_have_sets),           cmocka_unit_test(a_statement_without_from_has_one_row)};
    return cmocka_run_group_tests_name("sql aggregates", tests, star_open, star_close);
}
