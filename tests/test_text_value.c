/* Fields of text as values of each type, at the ends of their ranges, and what is wrong with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/text_source.h"
#include "storage/database.h"

#include <string.h>

static struct column_schema column;

static void gives(const char *text, int64_t expected)
{
    int64_t value = 0;
    const char *complaint = text_value(&column, text, (uint32_t)strlen(text), &value);
    if (complaint || value != expected)
        fail_msg("'%s': %s, %lld", text, complaint ? complaint : "", (long long)value);
}

static void refuses(const char *text, const char *reason)
{
    int64_t value;
    const char *complaint = text_value(&column, text, (uint32_t)strlen(text), &value);
    if (!complaint || !strstr(complaint, reason))
        fail_msg("'%s': %s", text, complaint ? complaint : "taken");
}

static void whole_numbers(void **state)
{
    (void)state;
    column = (struct column_schema){.type = TYPE_INT32};
    gives("0", 0);
    gives("-2147483648", INT32_MIN);
    gives("+2147483647", INT32_MAX);
    refuses("2147483648", "range");
    refuses("", "whole");
    refuses("-", "whole");
    refuses("1.0", "whole");
    refuses(" 1", "whole");
    column.type = TYPE_INT64;
    gives("9223372036854775807", INT64_MAX);
    gives("-9223372036854775807", -INT64_MAX);
    gives("0000000000000000000000000012", 12);
    refuses("9223372036854775808", "range");
    refuses("99999999999999999999999999999999999999999999", "range");
    refuses("9223372036854775807x", "whole");
}

static void decimals(void **state)
{
    (void)state;
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 5, .scale = 2};
    gives("1", 100);
    gives("-1.5", -150);
    gives(".25", 25);
    gives("3.", 300);
    gives("1.2500", 125);
    gives("999.99", 99999);
    refuses("1000", "range");
    refuses("1.255", "2 decimals");
    refuses("1e3", "no number");
    refuses(".", "no number");
    column.precision = 18;
    column.scale = 0;
    gives("999999999999999999", 999999999999999999);
    refuses("1000000000000000000", "range");
}

static void dates_times_and_truth(void **state)
{
    (void)state;
    column = (struct column_schema){.type = TYPE_DATE};
    gives("1970-01-02", 1);
    gives("2000-02-29", 11016);
    refuses("1900-02-29", "calendar");
    refuses("1994-1-01", "YYYY-MM-DD");
    refuses("1994-01-01 ", "YYYY-MM-DD");
    column.type = TYPE_TIMESTAMP;
    gives("1970-01-01", 0);
    gives("1970-01-01T00:01", 60000000);
    gives("1970-01-01 00:00:01.5Z", 1500000);
    gives("1969-12-31 23:59:59.999999", -1);
    refuses("1970-01-01 24:00", "no time");
    refuses("1970-01-01 00:00:00.0000001", "6 decimals");
    column.type = TYPE_BOOL;
    gives("TRUE", 1);
    gives("no", 0);
    refuses("2", "neither");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(decimals),
        cmocka_unit_test(dates_times_and_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
