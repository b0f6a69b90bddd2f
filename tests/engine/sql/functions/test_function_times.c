/* test_function_times.c: functions of dates and timestamps over a star of five sales (sql_star.h), with the answers of DuckDB. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql/sql_star.h"

static void times_are_truncated(void **state)
{
    (void)state;
    answers("select date_trunc('month', day), date_trunc('week', day), date_trunc('quarter', day), "
            "date_trunc('year', day) from sales order by day, shop",
            "2023-12-01,2023-12-25,2023-10-01,2023-01-01\n2024-01-01,2024-01-29,2024-01-01,2024-01-01\n2024-"
            "02-01,2024-02-26,2024-01-01,2024-01-01\n2024-02-01,2024-02-26,2024-01-01,2024-01-01\n2024-03-01,"
            "2024-02-26,2024-01-01,2024-01-01\n");
    answers("select date_trunc('hour', at), date_trunc('minute', at), date_trunc('day', at), "
            "date_trunc('month', at) from sales order by at",
            ",,,\n,,,\n2024-01-31 10:00:00,2024-01-31 10:11:00,2024-01-31 00:00:00,2024-01-01 "
            "00:00:00\n2024-02-29 23:00:00,2024-02-29 23:59:00,2024-02-29 00:00:00,2024-02-01 "
            "00:00:00\n2024-03-01 00:00:00,2024-03-01 00:00:00,2024-03-01 00:00:00,2024-03-01 00:00:00\n");
    answers("select date_trunc('month', day) as m, count(*) from sales group by m order by m",
            "2023-12-01,1\n2024-01-01,1\n2024-02-01,2\n2024-03-01,1\n");
    answers("select date_trunc('HOURS', timestamp '1969-12-31 23:59:59'), date_trunc('week', date "
            "'1969-12-31') from regions limit 1",
            "1969-12-31 23:00:00,1969-12-29\n");
}

static void fields_of_times(void **state)
{
    (void)state;
    answers("select extract(week from day), extract(isodow from day), extract(isoyear from day), "
            "extract(epoch from day) from sales order by day, shop",
            "52,7,2023,1703980800\n5,3,2024,1706659200\n9,4,2024,1709164800\n9,4,2024,1709164800\n9,5,2024,"
            "1709251200\n");
    answers("select extract(week from date '2021-01-03'), isoyear(date '2021-01-03'), extract(dow from date "
            "'2021-01-03'), isodow(date '2021-01-03'), week(date '2020-12-31') from regions limit 1",
            "53,2020,0,7,53\n");
    answers("select epoch(at), hour(at), minute(at), second(at), dayofyear(at), date_part('quarter', at) "
            "from sales order by at",
            ",,,,,\n,,,,,\n1706695872.000000,10,11,12,31,1\n1709251199.250000,23,59,59,60,1\n1709251200."
            "000000,0,0,0,61,1\n");
    answers("select monthname(day), dayname(day), last_day(day), last_day(at) from sales order by day, shop",
            "December,Sunday,2023-12-31,\nJanuary,Wednesday,2024-01-31,2024-01-31\nFebruary,Thursday,2024-02-"
            "29,\nFebruary,Thursday,2024-02-29,2024-02-29\nMarch,Friday,2024-03-31,2024-03-31\n");
}

static void differences_of_times(void **state)
{
    (void)state;
    answers("select date_diff('day', day, date '2024-03-01'), date_diff('month', day, date '2024-03-01'), "
            "datediff('year', day, '2024-03-01'), date_diff('week', day, date '2024-03-01'), "
            "date_diff('quarter', day, date '2024-03-01') from sales order by day, shop",
            "61,3,1,8,1\n30,2,0,4,0\n1,1,0,0,0\n1,1,0,0,0\n0,0,0,0,0\n");
    answers("select date_diff('hour', at, timestamp '2024-03-01 00:00:00'), date_diff('minute', at, day), "
            "date_diff('second', at, at) from sales order by at",
            ",,\n,,\n710,-611,0\n1,-1439,0\n0,0,0\n");
    answers(
        "select day + interval 3 month, day - interval '1 year', day + interval '2' weeks, day + interval 90 "
        "minutes from sales order by day, shop",
        "2024-03-31,2022-12-31,2024-01-14,2023-12-31 01:30:00\n2024-04-30,2023-01-31,2024-02-14,2024-01-31 "
        "01:30:00\n2024-05-29,2023-02-28,2024-03-14,2024-02-29 "
        "01:30:00\n2024-05-29,2023-02-28,2024-03-14,2024-02-29 "
        "01:30:00\n2024-06-01,2023-03-01,2024-03-15,2024-03-01 01:30:00\n");
    answers("select at + interval 1 month, at - interval '1 quarter' from sales order by at",
            ",\n,\n2024-02-29 10:11:12,2023-10-31 10:11:12\n2024-03-29 23:59:59.250000,2023-11-29 "
            "23:59:59.250000\n2024-04-01 00:00:00,2023-12-01 00:00:00\n");
}

static void dates_are_made(void **state)
{
    (void)state;
    answers("select make_date(2024, 2, 29), make_date(2023, 2, 29), make_date(2024, 13, 1), make_date(-5, 1, "
            "1) from regions limit 1",
            "2024-02-29,,,-005-01-01\n");
    answers("select make_date(year(day), 1, pieces) from sales order by pieces",
            "\n\n2024-01-01\n2024-01-03\n2024-01-10\n");
    answers("select current_date - today(), current_date > date '2024-01-01', now() >= timestamp '2024-01-01 "
            "00:00:00', current_timestamp > '2024-01-01' from regions limit 1",
            "0,true,true,true\n");
}

static void times_as_text(void **state)
{
    (void)state;
    answers("select strftime(day, '%Y-%m'), strftime(day, '%d.%m.%y %a %A %b %B %j %u %w %G-W%V %%'), "
            "strftime('%U %W', day) from sales order by day, shop",
            "2023-12,31.12.23 Sun Sunday Dec December 365 7 0 2023-W52 %,53 52\n2024-01,31.01.24 Wed "
            "Wednesday Jan January 031 3 3 2024-W05 %,04 05\n2024-02,29.02.24 Thu Thursday Feb February 060 "
            "4 4 2024-W09 %,08 09\n2024-02,29.02.24 Thu Thursday Feb February 060 4 4 2024-W09 %,08 "
            "09\n2024-03,01.03.24 Fri Friday Mar March 061 5 5 2024-W09 %,08 09\n");
    answers("select strftime(at, '%Y %H'), strftime(at, '%F'), strftime(date '2024-01-31', '%I%p') from "
            "sales order by at",
            ",,12AM\n,,12AM\n2024 10,2024-01-31,12AM\n2024 23,2024-02-29,12AM\n2024 00,2024-03-01,12AM\n");
    answers("select strftime(day, '%Y') as y, sum(pieces) from sales group by y order by y",
            "2023,-2\n2024,14\n");
    /* A byte that marks fields of compiled formats is text in a user's. */
    answers("select strftime(day, '\1%Y\1'), to_char(day, '\1YY\1\1'), strftime(day, '\1') from sales order "
            "by day "
            "limit 1",
            "\0012023\1,\00123\1\1,\1\n");
    answers("select day::varchar || '!' from sales order by day, shop limit 2", "2023-12-31!\n2024-01-31!\n");
}

static void what_is_refused_of_times(void **state)
{
    (void)state;
    refused("select date_trunc('month', pieces) from sales",
            "line 1, column 8: date_trunc takes a date or timestamp, not a number");
    refused("select date_trunc('millennium', day) from sales",
            "line 1, column 19: date_trunc begins with a unit: 'year', 'quarter', 'month', 'week', 'day', "
            "'hour', 'minute' or 'second'");
    refused("select strftime(day, '%Q') from sales",
            "line 1, column 8: the format '%Q' has a letter that is not known; there are %Y %y %m %d %B %b "
            "%A %a %j %w %u %G %V %U %W %F %H %I %p %M %S %f %g %T %R and %%");
    answers("select strftime(at, '%T') from sales where at is not null order by strftime(at, '%T')",
            "00:00:00\n10:11:12\n23:59:59\n");
    refused("select extract(fortnight from day) from sales",
            "line 1, column 8: EXTRACT knows year, quarter, month, week, day, dow, isodow, doy, isoyear, "
            "decade, century, millennium, hour, minute, second, millisecond, microsecond and epoch, not "
            "'fortnight'");
    refused("select day + interval '1 year 2 months' from sales",
            "line 1, column 41: INTERVAL takes one number and unit; add several intervals");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_truncated),  cmocka_unit_test(fields_of_times),
        cmocka_unit_test(differences_of_times), cmocka_unit_test(dates_are_made),
        cmocka_unit_test(times_as_text),        cmocka_unit_test(what_is_refused_of_times)};
    return cmocka_run_group_tests(tests, star_open, star_close);
}
