/*
 * test_sql_regressions.c: statements that were once answered wrongly, or refused where they need not be, on the star of
 * sql_star.h. Whatever test_sql_fuzz.c finds comes here, cut down; the answers are SQLite's.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static const struct {
    const char *sql, *answer;
} cases[] = {
    /* A literal's zeros were dropped, and with them that it is a decimal. */
    {"select 7.0 / 2, 7 / 2, -7 / 2, 1.50 / 3 from regions where id = 1", "3.5,3,-3,0.5\n"},

    /* Dates and numbers were alike behind an operator. */
    {"select day + 1 - day, date '2024-01-31' + interval '1' month from sales where pieces = 3",
     "1,2024-02-29\n"},

    /* A branch that was folded to NULL lost its decimals, and the answer with it: 16. */
    {"select case when false then case when 1 in (2) then 2.5 end else 16 end from regions where id = 1",
     "16.0\n"},

    /* An alias of an aggregate in HAVING. */
    {"select shop, sum(pieces) as s from sales group by shop having s > 0 order by shop", "A,4\nB,10\n"},

    /* Groups over a LEFT JOIN with a condition were cut to the values of the rows that fulfil it, also where the
     * expression is not NULL for the others. */
    {"select coalesce(name, 'none') as n, count(*) from sales left join shops on shop = name and area > 100 "
     "group by n "
     "order by n",
     "A,2\nnone,3\n"},
    {"select coalesce(name, 'none'), count(*) from sales left join shops on shop = name and 15 between 12 "
     "and 1 group "
     "by 1",
     "none,5\n"},
    {"select name is null, count(*) from sales left join shops on shop = name and area > 100 group by 1 "
     "order by 1",
     "false,2\ntrue,3\n"},

    /* ON of a LEFT JOIN with conditions on other tables than the joined one, and behind a dimension: was refused. */
    {"select coalesce(label, 'none'), count(*) from sales left join shops on shop = name left join regions "
     "on region = "
     "id and label > 'north' group by 1 order by 1",
     "none,3\nsouth,2\n"},
    {"select coalesce(name, 'none'), count(*), count(area) from sales left join shops on shop = name and "
     "pieces > 1 "
     "group by 1 order by 1",
     "A,1,1\nB,1,1\nnone,3,0\n"},
    {"select coalesce(label, 'none'), count(*) from sales left join shops on shop = name and pieces > 1 left "
     "join "
     "regions on region = id group by 1 order by 1",
     "none,3\nnorth,1\nsouth,1\n"},

    /* ORDER BY's number was that of the item, not of the column, after a star: was by id. */
    {"select *, -id from regions order by 2 desc", "2,south,-2\n1,north,-1\n"},
    {"select * from shops order by 4 desc limit 2", "A,1,2001-05-06,120.5\nB,2,1999-12-31,80.0\n"},
    {"select id, regions.*, 1 from regions order by 3 desc limit 1", "2,2,south,1\n"},

    /* ON's condition on another alias of the table was taken for the join: was 4. */
    {"select count(b.id) from sales left join products a on product = a.id and a.kind = 'coffee' left join "
     "products b on product = b.id and product = a.id",
     "1\n"},

    /* Dates and a NULL, that of an empty subquery, too: was refused. */
    {"select day + null, day - null, null - day, date '2024-01-31' - (select max(day) from sales where "
     "pieces "
     "> 100) is null from sales where pieces = 3",
     ",,,true\n"},
    /* Terms of ROLLUP that always have equal values were one, so the second one was not NULL where it is left out. */
    {"select pieces, round(pieces, 0), count(*) from sales where pieces > 2 group by rollup (pieces, "
     "round(pieces, 0)) order by "
     "1, 2",
     ",,2\n3,,1\n3,3,1\n10,,1\n10,10,1\n"},
    {"select shop, name, grouping(shop), grouping(name), count(*) from sales join shops on shop = name where "
     "shop = 'A' "
     "group by rollup (shop, name) order by 1, 2",
     ",,1,1,2\nA,,0,1,2\nA,A,0,0,2\n"},
    {"select sales.shop, count(*) from sales where shop = 'A' group by rollup (shop, sales.shop) order by 1",
     ",2\nA,2\nA,2\n"},
    /* A term of ROLLUP that begins with parentheses was taken for a list of terms. */
    {"select (pieces + 1) / 2, count(*) from sales where pieces > 2 group by rollup ((pieces + 1) / 2) order "
     "by 1",
     ",2\n2,1\n5,1\n"},
    {"select (pieces)::bigint, shop, count(*) from sales where pieces = 3 group by grouping sets "
     "((pieces)::bigint, "
     "((pieces)::bigint, shop), ()) order by 1, 2",
     ",,1\n3,,1\n3,A,1\n"},
    {"select round(2.5, null), trunc(paid, null) from sales where pieces = 3", ",\n"},
    /* A constant was never NULL where a set of groups leaves it out. */
    {"select 'x' as c, shop, grouping('x', shop), sum(pieces) + 2, 2 from sales where shop < 'B' group by "
     "cube (c, shop) "
     "order by 1, 2",
     ",,3,6,2\n,A,2,6,2\nx,,1,6,2\nx,A,0,6,2\n"},
    /* Nor was the value of a subquery. */
    {"select c, shop, grouping(c), count(*), 2 from (select (select count(*) from regions) as c, shop from "
     "sales where shop "
     "< 'C') t group by rollup (c, shop) order by 1, 2",
     ",,1,4,2\n2,,0,4,2\n2,A,0,2,2\n2,B,0,2,2\n"},
};

static void answers_stay_right(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        answers(cases[c].sql, cases[c].answer);
}

static void refusals_stay(void **state)
{
    (void)state;
    refused("select day * 2 from sales", "line 1, column ");
    refused("select sum(day) from sales", "line 1, column ");
    refused("select count(distinct shop, note) from sales", "line 1, column 8: count takes one value, not 2");
    refused("select * from regions order by 3", "line 1, column 32: ORDER BY 3: the select list has no item");
    refused("select at + 1 from sales", "line 1, column 11: a timestamp and a number cannot be added or "
                                        "subtracted; write + INTERVAL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_stay_right), cmocka_unit_test(refusals_stay)};
    return cmocka_run_group_tests_name("sql regressions", tests, star_open, star_close);
}
