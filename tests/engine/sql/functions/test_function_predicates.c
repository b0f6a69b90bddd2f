/* test_function_predicates.c: IS TRUE, IS DISTINCT FROM and casts over a star of five sales (sql_star.h), with the answers of DuckDB. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static void truth_has_three_values(void **state)
{
    (void)state;
    answers("select online is true, online is not false, (pieces > 1) is unknown, (pieces > 1) is not true "
            "from sales order by day, shop",
            "false,false,false,true\ntrue,true,false,false\nfalse,false,false,true\ntrue,true,true,"
            "true\ntrue,true,false,false\n");
    answers("select count(*) from sales where (pieces > 1) is not true", "3\n");
    answers("select pieces is distinct from 3, pieces is not distinct from null, null is distinct from null, "
            "shop is distinct from note from sales order by day, shop",
            "true,false,false,true\nfalse,false,false,true\ntrue,false,false,true\ntrue,true,false,"
            "true\ntrue,false,false,true\n");
}

static void casts(void **state)
{
    (void)state;
    answers("select '12'::int, '-3.75'::decimal(5,1), ' 1e3 '::double, '2024-02-29'::date, 'true'::boolean, "
            "'2024-02-29 10:00:00'::timestamp from regions limit 1",
            "12,-3.8,1000.0,2024-02-29,true,2024-02-29 10:00:00\n");
    answers("select try_cast('0X10' as double), try_cast('0x10' as double), try_cast('1e2' as double) from "
            "regions limit 1",
            ",,100.0\n");
    answers("select cast(note as integer), try_cast(note as double), try_cast('abc' as date) from sales "
            "where note = '100%' or note = 'plain' order by note",
            ",,\n,,\n");
    answers("select paid::decimal(6,1), paid::integer, (paid / 3)::decimal(8,2), (paid / 3)::integer, "
            "pieces::double from sales order by paid",
            ",,,,\n0.5,0,0.17,0,10.0\n3.0,2,0.99,0,3.0\n7.0,7,2.33,2,-2.0\n12.0,12,4.00,4,1.0\n");
    answers("select 2.45::decimal(3,1), (-2.45)::decimal(3,1), 2.5::double::integer, 1e30::integer, "
            "123.456e0::decimal(4,1) from regions limit 1",
            "2.5,-2.5,2,,123.5\n");
    answers("select online::integer, pieces::boolean, at::date, day::timestamp, pieces::varchar from sales "
            "order by day, shop",
            "0,true,,2023-12-31 00:00:00,-2\n1,true,2024-01-31,2024-01-31 00:00:00,3\n0,true,,2024-02-29 "
            "00:00:00,1\n1,,2024-02-29,2024-02-29 00:00:00,\n1,true,2024-03-01,2024-03-01 00:00:00,10\n");
    answers("select null::varchar || 'x', null::integer + 1, null::date from regions limit 1", ",,\n");
    refused("select cast(paid as decimal(3,2)) from sales",
            "line 1, column 8: a value may have more digits than decimal(3,2), going by the least and "
            "greatest values of its columns; write more digits, up to (18,2)");
    refused("select 'abc'::integer from regions",
            "line 1, column 13: 'abc' is no integer; TRY_CAST gives NULL for such strings");
    refused("select pieces::date from sales",
            "line 1, column 14: a number cannot become a date; make_date(year, month, day) makes dates");
    refused("select pieces::blob from sales",
            "line 1, column 14: CAST knows INTEGER, BIGINT, DECIMAL(p,s), "
            "DOUBLE, VARCHAR, DATE, TIMESTAMP, TIMESTAMPTZ and BOOLEAN, not blob");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(truth_has_three_values), cmocka_unit_test(casts)};
    return cmocka_run_group_tests(tests, star_open, star_close);
}
