/* test_sql_forms.c: short forms of SQL (engine/sql/parse_forms.c) answer as the longer ones that they stand for, over the
 * small star of sql_star.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static void same(const char *statement, const char *longer)
{
    struct sql_statement *const prepared = prepare_query(longer);
    struct rowset rows;
    must(sql_run(prepared, &rows, NULL, error));
    char *const csv = rowset_csv(&rows);
    const char *const body = strchr(csv, '\n') + 1;
    assert_true(*body);
    answers(statement, body);
    free(csv);
    rowset_free(&rows);
    sql_statement_free(prepared);
}

static void rows_are_compared_value_by_value(void **state)
{
    (void)state;
    same("select shop, pieces from sales where (shop, product) in (('A', 12), ('C', -5), ('B', 70)) order by "
         "1",
         "select shop, pieces from sales where shop = 'A' and product = 12 or shop = 'C' and product = -5 "
         "order by 1");
    same("select count(*) from sales where (shop, product) not in (('A', 12))",
         "select count(*) from sales where not (shop = 'A' and product = 12)");
    same("select count(*) from sales where (shop, pieces) = ('A', 3) or ((shop, pieces) <> ('B', 10) and "
         "paid > 2)",
         "select count(*) from sales where shop = 'A' and pieces = 3 or not (shop = 'B' and pieces = 10) and "
         "paid > 2");
    same("select count(*) from sales where not (shop, pieces + 1) in (('A', 4), ('B', null))",
         "select count(*) from sales where not (shop = 'A' and pieces + 1 = 4 or shop = 'B' and pieces + 1 = "
         "null)");
    refused("select 1 from sales where (shop, pieces) in (('A', 1, 2))",
            "line 1, column 57: a row of 2 values is compared with one of 3");
    same("select count(*) from sales where (shop, pieces) in (select shop, pieces from sales)",
         "select count(*) from sales where shop is not null and pieces is not null");
    refused("select count(distinct (shop, pieces)) from sales",
            "line 1, column 37: a row in parentheses is compared by IN, = or <> only");
    refused("select 1 from sales where (shop, 1) in ('A')", "line 1, column 41: ");
}

static void any_and_all(void **state)
{
    (void)state;
    same("select pieces from sales where shop = any (select name from shops where region = 1) order by 1",
         "select pieces from sales where shop in (select name from shops where region = 1) order by 1");
    same("select pieces from sales where shop <> all (select name from shops where region = 1) order by 1",
         "select pieces from sales where shop not in (select name from shops where region = 1) order by 1");
    same("select count(*) from sales where shop = some (select 'A')",
         "select count(*) from sales where shop = 'A'");
    same("select count(*) from sales where paid > all (select 1)",
         "select count(*) from sales where paid > 1");
    refused("select any from sales", "line 1, column 8: there is no column any");
}

static void if_and_operators(void **state)
{
    (void)state;
    same("select if(pieces > 2, 'many', 'few'), iif(online, 1, 0) from sales order by day",
         "select case when pieces > 2 then 'many' else 'few' end, case when online then 1 else 0 end from "
         "sales order by day");
    answers("select sum(if(online, pieces, 0)) from sales", "13\n");
    refused("select if(1 = 1, 2) from sales", "line 1, column 8: there is no function if; write CASE WHEN");
    answers("select 7 // 2, -7 // 2, 7.5 // 2", "3,-3,3.75\n");
    answers("select date '2024-01-31' + 2 * interval '1 month', date '2024-01-31' - interval 1 week * 2",
            "2024-03-31,2024-01-17\n");
    refused("select date '2024-01-31' + interval '1 day' * paid from sales",
            "line 1, column 47: an INTERVAL is multiplied by whole numbers");
    answers("select datepart('year', day) as y, count(*) from sales group by y order by y",
            "2023,1\n2024,4\n");
}

static void the_first_of_each(void **state)
{
    (void)state;
    answers("select distinct on (shop) shop, pieces from sales order by shop, pieces desc",
            "A,3\nB,10\nC,-2\n");
    answers("select distinct on (1) shop, day from sales order by 1, 2",
            "A,2024-01-31\nB,2024-02-29\nC,2023-12-31\n");
    answers("select distinct on (s.shop) s.shop, n from (select shop, day, count(*) as n from sales group by "
            "1, 2) s order "
            "by s.shop, s.day limit 1 offset 1",
            "B,1\n");
    answers("select count(*) from (select distinct on (shop) * from sales) t", "3\n");
    answers("select distinct on (shop) shop from sales where shop = 'A' union all select distinct on (shop) "
            "shop from visits "
            "order by 1",
            "A\nA\nB\n");
    same("select distinct on (shop) shop, sum(pieces) as n, day from sales group by shop, day order by shop, "
         "n desc, day",
         "select shop, sum(pieces) as n, day from sales group by shop, day qualify row_number() over "
         "(partition by shop order "
         "by sum(pieces) desc, day) = 1 order by shop");
}

static void fetch_and_offset(void **state)
{
    (void)state;
    answers("select id from products order by id fetch first 2 rows only", "-5\n12\n");
    answers("select id from products order by id fetch first row only", "-5\n");
    answers("select id from products order by id offset 1 rows fetch next 1 row only", "12\n");
    answers("select id from products order by id offset 1", "12\n70\n");
    answers("select id from products order by id offset 1 limit 1", "12\n");
    answers("select count(*) from regions fetch first 1 rows only", "2\n"); /* FETCH is no alias here */
    answers("select id from products union select id + 100 from products order by 1 offset 4", "112\n170\n");
    refused("select id from products fetch first 2", "line 1, column 38: FETCH FIRST is written");
    refused("select id from products offset id", "line 1, column 32: LIMIT and OFFSET take whole numbers");
    refused("select id from products fetch first id rows only",
            "line 1, column 37: LIMIT and OFFSET take whole numbers");
}

/* As drivers and report generators write values. */
static void strings_beside_numbers(void **state)
{
    (void)state;
    answers("select count(*) from sales where pieces = '3'", "1\n");
    answers("select count(*) from sales where '-2' = pieces or paid between '0.5' and '2.97'", "3\n");
    answers("select count(*) from sales where product in ('12', '70') and online = 'true'", "2\n");
    answers("select count(*) from sales where paid / 1 > '1e1' and online = 'FALSE'", "1\n");
    answers("select case when pieces > '2' then 1 else '2' end from sales where shop = 'A' order by 1",
            "1\n2\n");
    answers("select count(*) from sales where pieces = '3.0' or pieces = '3.5'", "1\n");
    refused("select 1 from sales where pieces = 'x'",
            "line 1, column 34: a number and a string cannot be compared");
    refused("select 1 from sales where pieces = '99999999999999999999'",
            "line 1, column 34: a number and a string");
    refused("select 1 from sales where online = 'yes'", "line 1, column 34: a truth value and a string");
    refused("select 1 from sales where note = 3", "line 1, column 32: a string and a number");
    refused("select pieces + '1' from sales", "line 1, column 17: this needs a number, not a string");
}

static void names(void **state)
{
    (void)state;
    answers("select count(*) from main.sales s join public.shops h on s.shop = h.name", "5\n");
    refused("select 1 from other.sales", "line 1, column 20: ");
    refused("select 1 from shops semi join sales on shop = name",
            "line 1, column 26: semi JOIN is not supported");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_compared_value_by_value),
        cmocka_unit_test(any_and_all),
        cmocka_unit_test(if_and_operators),
        cmocka_unit_test(the_first_of_each),
        cmocka_unit_test(fetch_and_offset),
        cmocka_unit_test(strings_beside_numbers),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, star_open, star_close);
}
