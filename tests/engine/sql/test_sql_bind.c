/* test_sql_bind.c: what names and types mean, and every refusal of the binder, over the star of sql_star.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

/* ---- Types ---- */

/* The types of the answer's columns: "integer(0) decimal(2) date ...". */
static void types_are(const char *sql, const char *expected)
{
    static const char *const names[] = {"number", "date", "timestamp", "boolean", "string", "double"};
    struct sql_statement *statement = prepare_query(sql);
    struct rowset rows;
    char text[256] = "";
    must(sql_run(statement, &rows, NULL, error));
    for (uint32_t c = 0; c < rows.column_count; c++) {
        const struct value_type type = rows.columns[c].type;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", c ? " " : "", names[type.kind]);
        if (type.kind == VALUE_INTEGER && type.scale)
            snprintf(text + strlen(text), sizeof text - strlen(text), ".%u", type.scale);
    }
    rowset_free(&rows);
    sql_statement_free(statement);
    assert_string_equal(text, expected);
}

static void columns_have_their_tables_types(void **state)
{
    (void)state;
    types_are("select * from sales",
              "string number number date timestamp number number.2 boolean string number");
    types_are("select * from shops", "string number date number.1");
    types_are("select id, label from regions", "number string");
}

static void decimals_keep_their_digits(void **state)
{
    (void)state;
    types_are("select paid + pieces, paid + 0.125, paid - area from sales, shops where shop = name",
              "number.2 number.3 number.2");
    types_are("select paid * paid, paid * area, paid * 10, -paid from sales, shops where shop = name",
              "number.4 number.3 number.2 number.2");
    types_are("select 1.50, 1.0, 0.001 from regions", "number.2 number.1 number.3");
}

static void results_have_types(void **state)
{
    (void)state;
    types_are(
        "select sum(pieces), sum(paid), count(*), avg(paid), min(day), max(note), min(online) from sales",
        "number number.2 number double date string boolean");
    types_are(
        "select pieces > 1, day + 1, day - day, at + interval '1' hour, day + interval '1' hour from sales",
        "boolean date number timestamp timestamp");
    types_are("select length(note), upper(note), year(day), cast(at as date), cast(paid as real) from sales",
              "number string number date double");
    types_are("select case when online then 1 else 2.5 end, coalesce(paid, 0), null from sales",
              "number.1 number.2 number");
    types_are("select pieces / 2, paid / 2, pieces / 2.5, 1e2 from sales", "number double double double");
}

static void names(void **state)
{
    (void)state;
    answers("select SHOP, Sales.Pieces from SALES where \"pieces\" = 3", "A,3\n"); /* any case */
    answers("select s.pieces from sales as s where s.pieces = 3", "3\n");
    answers("select pieces as day, 1 from sales where day = '2024-01-31'",
            "3,1\n"); /* columns before aliases */
    answers("select pieces + 1 as more from sales where more = 4", "4\n");
    answers("select kind from products p where p.id = 12", "tea\n");
}

/* ---- Refusals ---- */

static void unknown_names_come_with_a_list(void **state)
{
    (void)state;
    refused("select nope from regions", "line 1, column 8: there is no column nope; there are id, label");
    refused("select r.nope from regions r",
            "line 1, column 8: there is no column r.nope; there are id, label");
    refused("select lable from regions", "line 1, column 8: there is no column lable; did you mean label?");
    refused("select regions.LABLE from regions",
            "line 1, column 8: there is no column regions.LABLE; did you mean label?");
    refused("select paid from regions",
            "line 1, column 8: FROM has no column paid; table sales has it: join it in FROM");
    refused("select x.id from regions r", "line 1, column 8: there is no table or alias 'x' in FROM");
    refused("select regions.id from regions r",
            "line 1, column 8: table regions has the alias r here, which names its columns: r.id");
    refused("select x.* from regions", "line 1, column 8: there is no table or alias 'x' in FROM");
    refused("select id\nfrom region", "line 2, column 6: ");
    refused("select id", "line 1, column 8: there is no column id, because the statement has no FROM");
    refused("select nosuch(id) from regions",
            "line 1, column 8: there is no function nosuch; there are sum,");
    refused("select id as a from regions order by b", "line 1, column 38: there is no column b");
    refused("select b as a, a as b from regions", "line 1, column 8: the alias b leads to itself");
}

static void ambiguous_names_ask_for_a_table(void **state)
{
    (void)state;
    refused("select kind from sales, products p, products g where product = p.id and gift = g.id",
            "line 1, column 8: kind could be a column of more than one table");
    refused("select 1 from sales, sales",
            "line 1, column 22: FROM has sales twice; give one of them another alias");
}

static void joins_go_along_references(void **state)
{
    (void)state;
    refused("select 1 from sales left join products",
            "line 1, column 31: an outer JOIN of products needs ON");
    refused("select 1 from sales left join shops on shop = name and r.label > 'a' left join regions r on "
            "region = id",
            "line 1, column 56: ON of shops names r, which is joined later");
}

static void types_that_do_not_fit(void **state)
{
    (void)state;
    refused("select 1 from sales where note = 1",
            "line 1, column 32: a string and a number cannot be compared");
    refused("select 1 from sales where day = 1", "line 1, column 31: a date and a number cannot be compared");
    refused("select 1 from sales where day = 'soon'",
            "line 1, column 31: 'soon' is compared with a date, but is none");
    refused("select 1 from sales where day = '2024-02-30'",
            "line 1, column 31: '2024-02-30' is compared with a date");
    refused("select date '2023-02-29' from sales", "line 1, column 8: '2023-02-29' is no date; write DATE");
    refused("select timestamp '2023-02-28 25:00:00' from sales",
            "line 1, column 8: '2023-02-28 25:00:00' is no time");
    refused("select note + 1 from sales", "line 1, column 8: this needs a number, not a string");
    refused("select -note from sales", "line 1, column 8: this needs a number, not a string");
    refused("select day * 2 from sales", "line 1, column 12: dates are added and subtracted only");
    refused("select day / 2 from sales", "line 1, column 12: dates are added and subtracted only");
    refused("select 7 % day from sales", "line 1, column 10: dates are added and subtracted only");
    refused("select day - 1.5 from sales",
            "line 1, column 12: a date and a number cannot be added or subtracted");
    refused("select 1 - day from sales",
            "line 1, column 10: a number and a date cannot be added or subtracted");
    refused("select day + day from sales", "line 1, column 12: a date and a date cannot be added");
    refused("select 1 from sales where note", "line 1, column 27: this needs a condition, not a string");
    refused("select 1e0 % 2 from sales", "line 1, column 12: % takes whole numbers");
    refused("select pieces like 'a' from sales",
            "line 1, column 15: LIKE needs a string on its left, not a number");
    refused("select note like 'a' escape 'ab' from sales", "line 1, column 29: ESCAPE takes one character");
    refused("select extract(year from pieces) from sales",
            "line 1, column 8: EXTRACT takes a date or timestamp");
    refused("select extract(era from day) from sales",
            "line 1, column 8: EXTRACT knows year, quarter, month");
    refused("select interval '3' day from sales", "line 1, column 8: an INTERVAL stands alone");
    refused("select pieces + interval '3' day from sales",
            "line 1, column 15: an INTERVAL is added to a date");
    refused("select day + interval '3' eon from sales", "line 1, column 14: INTERVAL counts years");
    refused("select day + interval 'x' day from sales", "line 1, column 14: INTERVAL 'x' is no whole number");
    refused("select cast(day as int) from sales", "line 1, column 8: this needs a number, not a date");
    refused("select cast(pieces as blob) from sales", "line 1, column 8: CAST knows INTEGER");
    refused("select abs(note) from sales", "line 1, column 8: abs takes a number");
    refused("select upper(pieces) from sales", "line 1, column 8: upper takes a string");
    refused("select upper() from sales", "line 1, column 8: upper takes 1 value, not 0");
    refused("select case when online then 1 else 'a' end from sales", "line 1, column 30: ");
    refused("select 1 from sales limit 1.5", "line 1, column 27: LIMIT and OFFSET take whole numbers from 0");
}

static void aggregates_have_their_place(void **state)
{
    (void)state;
    refused("select shop, pieces from sales group by shop",
            "line 1, column 14: pieces is neither in GROUP BY nor inside an aggregate");
    refused("select shop, count(*) from sales", "line 1, column 8: shop is neither in GROUP BY");
    refused("select count(*) from sales order by day", "line 1, column 37: day is neither in GROUP BY");
    refused("select count(*) from sales where sum(pieces) > 1",
            "line 1, column 34: sum is an aggregate, which cannot stand in WHERE");
    refused("select sum(count(*)) from sales", "line 1, column 12: count is an aggregate");
    refused("select 1 from sales group by sum(pieces)",
            "line 1, column 30: GROUP BY cannot hold an aggregate");
    refused("select *, count(*) from sales",
            "line 1, column 8: * cannot stand beside aggregates or GROUP BY");
    refused("select count(*) + * from sales", "line 1, column 19: * stands alone");
    refused("select total(pieces) from sales", "line 1, column 8: total() is SQLite's own; use sum()");
    refused("select sum(note) from sales", "line 1, column 8: sum takes numbers");
    refused("select avg(day) from sales", "line 1, column 8: avg takes numbers");
    refused("select sum() from sales", "line 1, column 8: sum takes one value");
    refused("select sum(*) from sales", "line 1, column 8: sum takes one value");
    refused("select 1 from sales group by 2", "line 1, column 30: GROUP BY 2: the select list has no item");
    refused("select shop from sales order by 0",
            "line 1, column 33: ORDER BY 0: the select list has no item");
}

static void doubles_are_values_like_others(void **state)
{
    (void)state;
    answers("select max(1e0 * pieces), min(pieces * -1e0) from sales", "10.0,-10.0\n");
    answers("select count(distinct paid / 2) from sales", "4\n");
    answers("select paid / 2, count(*) from sales group by 1 order by 1 nulls last limit 1", "0.25,1\n");
    answers("select sum(paid) / 2 from sales", "11.235\n");
    answers("select paid / 2 from sales where paid / 2 > 5", "6.0\n");
}

static void what_may_leave_64_bits_is_refused(void **state)
{
    (void)state;
    leaves_64_bits("select big * 2 from sales");
    leaves_64_bits("select big + big from sales");
    leaves_64_bits("select big * 1.0001 from sales");
    refused("select 9223372036854775808 from sales",
            "line 1, column 8: the number 9223372036854775808 does not fit");
    refused("select 0.1234567890123456789 from sales",
            "line 1, column 8: the number 0.1234567890123456789 does not fit");
    refused("select paid * 0.1234567890123456789 from sales", "line 1, column ");
    answers("select max(big) - 1 from sales", "8999999999999999999\n");
    answers("select big - 1 from sales where pieces = 3", "8999999999999999999\n");
    answers("select count(*) from sales group by big, pieces, paid, at order by at", "1\n1\n1\n1\n1\n");
    char many[2048] = "select count(*) from sales group by big";
    for (int i = 1; i < 70; i++)
        sprintf(many + strlen(many), ", big - %d", i);
    refused(many, "the columns of GROUP BY could have too many different values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_their_tables_types),
        cmocka_unit_test(decimals_keep_their_digits),
        cmocka_unit_test(results_have_types),
        cmocka_unit_test(names),
        cmocka_unit_test(unknown_names_come_with_a_list),
        cmocka_unit_test(ambiguous_names_ask_for_a_table),
        cmocka_unit_test(joins_go_along_references),
        cmocka_unit_test(types_that_do_not_fit),
        cmocka_unit_test(aggregates_have_their_place),
        cmocka_unit_test(doubles_are_values_like_others),
        cmocka_unit_test(what_may_leave_64_bits_is_refused),
    };
    return cmocka_run_group_tests_name("sql_bind", tests, star_open, star_close);
}
