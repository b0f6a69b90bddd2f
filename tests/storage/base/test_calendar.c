/* The calendar against the C library's, day by day over 800 years, and what months do at their ends. */
#define _GNU_SOURCE
#include "storage/base/calendar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <time.h>

static void days_agree_with_the_c_library(void **state)
{
    (void)state;
    for (int64_t days = -150000; days < 150000; days++) {
        const time_t seconds = (time_t)days * 86400;
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        const struct calendar_date date = calendar_date_of(days);
        assert_int_equal(date.year, tm.tm_year + 1900);
        assert_int_equal(date.month, tm.tm_mon + 1);
        assert_int_equal(date.day, tm.tm_mday);
        assert_int_equal(calendar_days(date.year, date.month, date.day), days);
        assert_int_equal(calendar_date_field(days, CALENDAR_DAY_OF_WEEK), tm.tm_wday);
        assert_int_equal(calendar_date_field(days, CALENDAR_DAY_OF_YEAR), tm.tm_yday + 1);
        assert_int_equal(calendar_date_field(days, CALENDAR_QUARTER), tm.tm_mon / 3 + 1);
        char week[32], written[64];
        strftime(week, sizeof week, "%G %V %u", &tm);
        snprintf(written, sizeof written, "%d %02d %d", (int)calendar_date_field(days, CALENDAR_ISO_YEAR),
                 (int)calendar_date_field(days, CALENDAR_WEEK),
                 (int)calendar_date_field(days, CALENDAR_ISO_DAY));
        assert_string_equal(written, week);
        assert_int_equal(calendar_date_truncate(days, CALENDAR_WEEK), days - (tm.tm_wday + 6) % 7);
        assert_int_equal(calendar_date_truncate(days, CALENDAR_YEAR), days - tm.tm_yday);
        assert_int_equal(calendar_date_truncate(days, CALENDAR_MONTH), days - tm.tm_mday + 1);
        assert_int_equal(calendar_date_truncate(days, CALENDAR_QUARTER),
                         calendar_days(date.year, tm.tm_mon / 3 * 3 + 1, 1));
    }
}

static void times_are_truncated(void **state)
{
    (void)state;
    const int64_t time = -CALENDAR_DAY_MICROSECONDS + 3723000007; /* 1969-12-31 01:02:03.000007 */
    assert_int_equal(calendar_timestamp_truncate(time, CALENDAR_SECOND), time - 7);
    assert_int_equal(calendar_timestamp_truncate(time, CALENDAR_MINUTE), time - 3000007);
    assert_int_equal(calendar_timestamp_truncate(time, CALENDAR_HOUR), time - 123000007);
    assert_int_equal(calendar_timestamp_truncate(time, CALENDAR_DAY), -CALENDAR_DAY_MICROSECONDS);
    assert_int_equal(calendar_timestamp_truncate(time, CALENDAR_MONTH), -31 * CALENDAR_DAY_MICROSECONDS);
}

static void months_are_cut_to_their_last_day(void **state)
{
    (void)state;
    assert_int_equal(calendar_add_months(calendar_days(1996, 1, 31), 1), calendar_days(1996, 2, 29));
    assert_int_equal(calendar_add_months(calendar_days(1995, 1, 31), 1), calendar_days(1995, 2, 28));
    assert_int_equal(calendar_add_months(calendar_days(1996, 2, 29), 12), calendar_days(1997, 2, 28));
    assert_int_equal(calendar_add_months(calendar_days(1996, 3, 31), -1), calendar_days(1996, 2, 29));
    assert_int_equal(calendar_add_months(calendar_days(1996, 12, 15), -12), calendar_days(1995, 12, 15));
    assert_int_equal(calendar_add_months(calendar_days(-1, 1, 1), -13), calendar_days(-3, 12, 1));
}

static void times_before_1970_have_the_fields_of_their_day(void **state)
{
    (void)state;
    const int64_t evening =
        calendar_days(1969, 12, 31) * CALENDAR_DAY_MICROSECONDS + ((23 * 60 + 59) * 60 + 58) * 1000000ll + 7;
    assert_int_equal(calendar_timestamp_field(evening, CALENDAR_YEAR), 1969);
    assert_int_equal(calendar_timestamp_field(evening, CALENDAR_HOUR), 23);
    assert_int_equal(calendar_timestamp_field(evening, CALENDAR_MINUTE), 59);
    assert_int_equal(calendar_timestamp_field(evening, CALENDAR_SECOND), 58);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_agree_with_the_c_library),
        cmocka_unit_test(times_are_truncated),
        cmocka_unit_test(months_are_cut_to_their_last_day),
        cmocka_unit_test(times_before_1970_have_the_fields_of_their_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
