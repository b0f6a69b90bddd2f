/* test_function_numbers.c: functions of numbers over a star of five sales (sql_star.h), with the answers of DuckDB. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static void decimals_are_rounded_exactly(void **state)
{
    (void)state;
    answers("select round(paid), round(paid, 1), round(paid, -1), round(paid, 3) from sales order by paid",
            ",,,\n1,0.5,0,0.50\n3,3.0,0,2.97\n7,7.0,10,7.00\n12,12.0,10,12.00\n");
    answers(
        "select round(-2.5), round(2.5), round(-2.45, 1), round(1234, -2), round(7, 3) from regions limit 1",
        "-3,3,-2.5,1200,7\n");
    answers(
        "select floor(-0.5), ceil(-0.5), trunc(-0.5), floor(2.99), ceiling(2.01), trunc(2.99) from regions "
        "limit 1",
        "-1,0,0,2,3,2\n");
    answers("select pieces, floor(pieces / 3.0), ceil(pieces / 3.0) from sales where pieces < 2 order by 1",
            "-2,-1.0,0.0\n1,0.0,1.0\n");
    answers("select round(null), round(1e0 / 3, 3), round(12345e0, -2) from regions limit 1",
            ",0.333,12300.0\n");
    answers("select round(avg(paid), 2), round(sum(paid), 1) from sales", "5.62,22.5\n");
    answers("select round(paid) as r, count(*) from sales group by r order by r",
            ",1\n1,1\n3,1\n7,1\n12,1\n");
}

static void arithmetic(void **state)
{
    (void)state;
    answers(
        "select mod(pieces, 2), mod(paid, 2), mod(pieces, 0) from sales order by pieces nulls last limit 2",
        "0,1.00,\n1,0.00,\n");
    answers("select sign(pieces), sign(paid - 7), sign(-0.5e0) from sales order by pieces",
            ",,-1\n-1,0,-1\n1,1,-1\n1,-1,-1\n1,-1,-1\n");
    answers("select greatest(pieces, 2), least(pieces, paid), greatest(shop, note, 'Z') from sales order by "
            "pieces",
            "2,,Z\n2,-2.00,Z\n2,1.00,Z\n3,2.97,plain\n10,0.50,a_b\n");
    answers("select greatest(null, 3, null), least(null, null), greatest(date '2024-01-01', day) from sales "
            "order by day limit 1",
            "3,,2024-01-01\n");
}

static void real_functions(void **state)
{
    (void)state;
    answers("select sqrt(2), power(2, 10), exp(0), ln(1), log10(1000), log(100), log2(8), pi() from regions "
            "limit 1",
            "1.4142135623730951,1024.0,1.0,0.0,3.0,2.0,3.0,3.141592653589793\n");
    answers("select sqrt(-1), ln(0), ln(-1), power(-8, 0.5), power(-2, 3) from regions limit 1",
            ",,,,-8.0\n");
    answers("select count(*) from sales where sqrt(pieces) > 1.5 and power(paid, 2) < 9", "2\n");
}

static void what_is_refused(void **state)
{
    (void)state;
    refused("select round(paid, pieces) from sales",
            "line 1, column 20: round takes a constant number of digits");
    refused("select sqrt(1, 2) from sales", "line 1, column 8: sqrt takes 1 value, not 2");
    refused("select rond(paid) from sales",
            "line 1, column 8: there is no function rond; did you mean round?");
    refused("select cuont(paid) from sales",
            "line 1, column 8: there is no function cuont; did you mean count?");
    refused("select isnull(paid, 1) from sales",
            "line 1, column 8: there is no function isnull; write coalesce");
    refused("select mod(paid, 1e0) from sales", "line 1, column 8: mod takes whole numbers and decimals");
    refused("select round(shop) from sales", "line 1, column 8: this needs a number, not a string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decimals_are_rounded_exactly),
                                       cmocka_unit_test(arithmetic), cmocka_unit_test(real_functions),
                                       cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, star_open, star_close);
}
