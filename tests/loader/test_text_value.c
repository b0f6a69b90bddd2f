/* Fields of text as values of each type, at the ends of their ranges, and what is wrong with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/text/text_value_internal.h"
#include "storage/base/double_key.h"
#include "storage/database/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct column_schema column;
static const struct text_reading plain;

static void gives(const char *text, int64_t expected)
{
    int64_t value = 0;
    const char *complaint = text_value(&plain, &column, text, (uint32_t)strlen(text), &value);
    if (complaint || value != expected)
        fail_msg("'%s': %s, %lld", text, complaint ? complaint : "", (long long)value);
}

static void refuses(const char *text, const char *reason)
{
    int64_t value;
    const char *complaint = text_value(&plain, &column, text, (uint32_t)strlen(text), &value);
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
    gives("1.0", 1); /* as pandas writes whole numbers that have a NULL among them */
    gives("12.", 12);
    refuses("1.5", "whole");
    gives("2e3", 2000);
    gives("250e-1", 25);
    refuses("25e-1", "whole");
    refuses("2e", "whole");
    refuses("2e+", "whole");
    refuses("1e10", "range");
    refuses("1e99999999999999999999", "range");
    gives("0e99999999999999999999", 0);
    refuses(" 1", "whole");
    column.type = TYPE_INT64;
    gives("9223372036854775807", INT64_MAX);
    gives("-9223372036854775807", -INT64_MAX);
    gives("-9223372036854775808", INT64_MIN);
    gives("-00009223372036854775808", INT64_MIN);
    gives("-0", 0);
    gives("0000000000000000000000000012", 12);
    refuses("9223372036854775808", "range");
    refuses("-9223372036854775809", "range");
    refuses("99999999999999999999999999999999999999999999", "range");
    refuses("9223372036854775807x", "whole");
}

/* Every length and sign, and a byte that is no digit at every place. */
static void numbers_of_every_length(void **state)
{
    (void)state;
    for (int length = 1; length <= 19; length++) {
        const char digits[] = "9081726354453627180";
        for (int sign = 0; sign < 3; sign++) {
            char text[32];
            snprintf(text, sizeof text, "%s%.*s", sign == 0 ? "" : sign == 1 ? "-" : "+", length, digits);
            column = (struct column_schema){.type = TYPE_INT64};
            gives(text, strtoll(text, NULL, 10));
            column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 18};
            if (length <= 18)
                gives(text, strtoll(text, NULL, 10));
            for (int at = sign != 0; text[at]; at++) {
                static const char wrong[] = "/: .aA\x80\xb0\xff";
                const char kept = text[at];
                for (size_t w = 0; w < sizeof wrong - 1; w++) {
                    text[at] = wrong[w];
                    column.type = TYPE_INT64;
                    if (wrong[w] != '.' || text[at + 1 + (int)strspn(text + at + 1, "0")])
                        refuses(text, length == 1 && wrong[w] == '.' ? "" : "whole");
                    column.type = TYPE_DECIMAL;
                    if (wrong[w] != '.')
                        refuses(text, "no number");
                }
                text[at] = kept;
            }
        }
    }
}

/* A point at every place of up to ten digits. */
static void decimals_of_every_shape(void **state)
{
    (void)state;
    for (int length = 1; length <= 10; length++)
        for (int behind = 0; behind <= length; behind++)
            for (int scale = 0; scale <= 6; scale++) {
                const char digits[] = "1234567899";
                char text[32], reason[32];
                int64_t expected = 0;
                snprintf(text, sizeof text, "-%.*s.%.*s", length - behind, digits, behind,
                         digits + length - behind);
                for (int i = 0; i < length + scale - behind; i++)
                    expected = expected * 10 - (i < length ? digits[i] - '0' : 0);
                column =
                    (struct column_schema){.type = TYPE_DECIMAL, .precision = 18, .scale = (uint8_t)scale};
                snprintf(reason, sizeof reason, "more than %d decimal", scale);
                if (behind <= scale)
                    gives(text, expected);
                else
                    refuses(text, reason);
                column.precision = (uint8_t)(length - behind + scale - 1);
                if (behind <= scale && behind < length && column.precision >= scale)
                    refuses(text, "range");
            }
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
    refuses("1e3", "range");
    gives("1.5e2", 15000);
    gives("-12345E-2", -12345);
    gives("0.00000000000000000000000000000000000000000000000000125e51", 125);
    refuses("12345E-3", "2 decimals");
    refuses("1e", "no number");
    refuses("e1", "no number");
    refuses(".", "no number");
    refuses("-", "no number");
    refuses("1.2.3", "no number");
    refuses("1..2", "no number");
    column.precision = 18;
    column.scale = 0;
    gives("999999999999999999", 999999999999999999);
    refuses("1000000000000000000", "range");
}

static struct text_reading reading;

static void reads(const char *text, int64_t expected)
{
    int64_t value = 0;
    const char *complaint = text_value(&reading, &column, text, (uint32_t)strlen(text), &value);
    if (complaint || value != expected)
        fail_msg("'%s': %s, %lld", text, complaint ? complaint : "", (long long)value);
}

static void does_not_read(const char *text, const char *reason)
{
    int64_t value;
    const char *complaint = text_value(&reading, &column, text, (uint32_t)strlen(text), &value);
    if (!complaint || !strstr(complaint, reason))
        fail_msg("'%s': %s", text, complaint ? complaint : "taken");
}

static void numbers_are_rounded_if_that_is_asked_for(void **state)
{
    (void)state;
    reading = (struct text_reading){.round = true};
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 5, .scale = 2};
    reads("1.254", 125);
    reads("1.255", 126);
    reads("-1.255", -126);
    reads("-1.25499999999999999999999999999999999999999999999999999999", -125);
    reads("1.25500000000000000000000000000000000000000000000000000001", 126);
    reads("0.005", 1);
    reads("-0.0049", 0);
    reads("0.0005", 0);
    reads("999.994", 99999);
    does_not_read("999.995", "range");
    reads("5e-3", 1);
    column = (struct column_schema){.type = TYPE_INT32};
    reads("2147483647.4", INT32_MAX);
    does_not_read("2147483647.5", "range");
    reads("-2147483648.4", INT32_MIN);
    does_not_read("-2147483648.5", "range");
    does_not_read("1.5x", "whole");
    column = (struct column_schema){.type = TYPE_INT64};
    reads("9223372036854775807.49", INT64_MAX);
    does_not_read("9223372036854775807.5", "range");
    reads("-9223372036854775808.1", INT64_MIN);
}

static void marks_between_thousands_are_read(void **state)
{
    (void)state;
    reading = (struct text_reading){.thousands = ','};
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 12, .scale = 2};
    reads("1,234,567.8", 123456780);
    reads("-12,345", -1234500);
    reads("1234567.8", 123456780);
    reads("999", 99900);
    does_not_read("1,5", "no number"); /* a decimal comma */
    does_not_read("1,2345", "no number");
    does_not_read("1,,234", "no number");
    does_not_read(",123", "no number");
    does_not_read("1234,567", "no number");
    does_not_read("1,234,", "no number");
    does_not_read("1,23,456", "no number");
    does_not_read("1.234,567", "no number");
    does_not_read("1,234.567", "2 decimals");
    reading = (struct text_reading){.thousands = '.', .decimal_mark = ','};
    reads("1.234.567,80", 123456780);
    reads("0,5", 50);
    does_not_read("1.5", "no number");
    int64_t expected;
    column = (struct column_schema){.type = TYPE_DOUBLE};
    assert_null(text_value(&plain, &column, "-1234567.5e-3", 13, &expected));
    reads("-1.234.567,5e-3", expected);
    does_not_read("1,2,3", "number");
    does_not_read("1234.567", "number");
    does_not_read("1.234.56", "number");
    does_not_read("1.23.456,5", "number");
    does_not_read("-.123", "number");
    does_not_read("1e1.000", "number");
    reads("nan", DOUBLE_KEY_NAN);
    reading = (struct text_reading){.decimal_mark = ','};
    reads("-1234567,5e-3", expected);
    does_not_read("-1234567.5e-3", "no number");
    reading = (struct text_reading){.thousands = ' '};
    column = (struct column_schema){.type = TYPE_INT32};
    reads("12 345 678", 12345678);
    reads("-5", -5);
    does_not_read("12 34", "whole");
}

static void blanks_and_quotes_between_thousands_may_be_typeset(void **state)
{
    (void)state;
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 12, .scale = 2};
    reading = (struct text_reading){.thousands = ' ', .decimal_mark = ','};
    reads("1\u00a0234\u202f567,5", 123456750);
    reads("1\u2009234", 123400);
    does_not_read("1\u00a023", "no number");
    does_not_read("1\xc2", "no number");
    reading = (struct text_reading){.thousands = '\''};
    reads("1'234\u2019567.5", 123456750);
    does_not_read("1\u2018234", "no number");
}

static void currencies_stand_before_or_behind_numbers(void **state)
{
    static const char *const amounts[] = {"€ 1.234,50", "€1.234,50",  "1.234,50 €",     "1.234,50\u00a0€",
                                          "1234,5",     "+€ 1234,50", " \u202f1.234,50"};
    (void)state;
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 12, .scale = 2};
    reading = (struct text_reading){.thousands = '.', .decimal_mark = ',', .currency = "€"};
    for (size_t a = 0; a < sizeof amounts / sizeof *amounts; a++)
        reads(amounts[a], 123450);
    reads("-€ 0,99", -99);
    reads("€ -0,99", -99);
    reads("-0,99 €", -99);
    does_not_read("€ 1 €", "no number"); /* one sign each */
    does_not_read("- € -1", "no number");
    does_not_read("--1", "no number");
    does_not_read("$ 1", "no number"); /* another currency */
    does_not_read("1 € 2", "no number");
    does_not_read("1 %", "no number");
    does_not_read("€", "no number");
    does_not_read("", "no number");
    does_not_read("€ 1.2345,00", "no number");
    does_not_read("€ 0,999", "2 decimals");
    reading = (struct text_reading){.thousands = ',', .currency = "$"};
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 18, .scale = 0};
    reads("$999,999,999,999,999,999", 999999999999999999); /* more than a double has */
    reads("-$999,999,999,999,999,998", -999999999999999998);
    reading = (struct text_reading){.currency = "CHF"};
    column = (struct column_schema){.type = TYPE_INT32};
    reads("CHF 5", 5);
    reads("5CHF", 5);
    does_not_read("CH 5", "whole");
    column = (struct column_schema){.type = TYPE_DATE};
    does_not_read("CHF 5", "no date");
}

static void percents_are_points_or_fractions(void **state)
{
    (void)state;
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 9, .scale = 4};
    reading = (struct text_reading){.decimal_mark = ',', .percent = TEXT_PERCENT_POINTS};
    reads("12,5 %", 125000);
    reads("12,5%", 125000);
    reads("12,5", 125000);
    does_not_read("12,5 %%", "no number");
    does_not_read("%", "no number");
    reading.percent = TEXT_PERCENT_FRACTION;
    reads("12,5\u00a0%", 1250);
    reads("12,5", 125000);
    reads("-5 %", -500);
    reads("+,5%", 50);
    reads("0 %", 0);
    reads("123456%", 12345600);
    reads("1,00000 %", 100);
    does_not_read("0,001%", "4 decimals");
    does_not_read("1e1 %", "no number");
    does_not_read(", %", "no number");
    does_not_read("%", "no number");
    column = (struct column_schema){.type = TYPE_INT32};
    reads("300 %", 3);
    does_not_read("50 %", "whole");
    column = (struct column_schema){.type = TYPE_DOUBLE};
    int64_t expected;
    assert_null(text_value(&plain, &column, "0.07", 4, &expected));
    reads("7 %", expected);
}

static void dates_and_times_are_of_forms(void **state)
{
    struct time_format date, time;
    (void)state;
    assert_int_equal(time_format_compile("%d.%m.%y", 8, &date, NULL), STATUS_OK);
    assert_int_equal(time_format_compile("%d.%m.%Y %H:%M:%S.%f", 20, &time, NULL), STATUS_OK);
    reading = (struct text_reading){.date_format = &date, .timestamp_format = &time};
    column = (struct column_schema){.type = TYPE_DATE};
    reads("2.1.70", 1);
    reads("31.12.69", -1);
    does_not_read("1970-01-02", "is not of the form %d.%m.%y");
    does_not_read("29.02.23", "calendar");
    column = (struct column_schema){.type = TYPE_TIMESTAMP};
    reads("01.01.1970 00:00:00.000001", 1);
    does_not_read("01.01.1970 00:00:00.0000011", "6 decimals");
    does_not_read("01.01.1970", "is not of the form %d.%m.%Y %H:%M:%S.%f");
    reading.cut_nanoseconds = true;
    reads("01.01.1970 00:00:00.0000011", 1);
    column = (struct column_schema){.type = TYPE_DATE};
    reading.date_format = &time;
    reads("02.01.1970 00:00:00.0", 1);
    does_not_read("02.01.1970 00:00:01.0", "is no whole day");
}

/* Random texts: a percent is a hundredth, a currency changes nothing, and nothing is read beyond the text's end. */
static void signs_change_no_digit(void **state)
{
    static const char bytes[] = "01234567890123456789..-+e";
    const struct text_reading signs = {.thousands = ',', .currency = "kr", .percent = TEXT_PERCENT_FRACTION};
    uint64_t seed = 5;
    (void)state;
    column = (struct column_schema){.type = TYPE_DECIMAL, .precision = 18, .scale = 6};
    for (int i = 0; i < 300000; i++) {
        char number[32], hundredth[40], marked[40];
        int length = 0;
        for (int n = 1 + (int)((seed >> 40) % 14); length < n; length++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            number[length] = bytes[(seed >> 33) % (sizeof bytes - 1)];
        }
        const bool exponent = memchr(number, 'e', (size_t)length) != NULL, percent = i & 1;
        const int wanted =
                      snprintf(hundredth, sizeof hundredth, "%.*s%s", length, number, percent ? "e-2" : ""),
                  given = snprintf(marked, sizeof marked, "%s%.*s%s", i & 2 ? "kr " : "", length, number,
                                   percent ? " %"
                                   : i & 4 ? "kr"
                                           : "");
        int64_t one = 0, other = 0;
        char *const exact = malloc((size_t)given);
        memcpy(exact, marked, (size_t)given);
        const char *const first = text_value(&plain, &column, hundredth, (uint32_t)wanted, &one),
                          *const second = text_value(&signs, &column, exact, (uint32_t)given, &other);
        free(exact);
        if (exponent && percent        ? !second
            : (i & 6) == 6 && !percent ? !second /* the currency twice */
                                       : !first != !second || (!first && one != other))
            fail_msg("%s: %s %lld, %s: %s %lld", hundredth, first ? first : "", (long long)one, marked,
                     second ? second : "", (long long)other);
    }
}

/* The way of rare forms gives what the fast way gives. */
static void both_ways_agree(void **state)
{
    static const char bytes[] = "0123456789012345678900..-+e1";
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < 300000; i++) {
        char text[24];
        uint32_t length = 0;
        for (uint32_t n = 1 + (uint32_t)(seed >> 40) % 20; length < n; length++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            text[length] = bytes[(seed >> 33) % (sizeof bytes - 1)];
        }
        column = (struct column_schema){.type = (enum column_type)(i % 3),
                                        .precision = (uint8_t)(1 + (seed >> 20) % 18)};
        column.scale = (uint8_t)((seed >> 50) % (column.precision + 1u));
        int64_t one = 0, other = 0;
        const char *const first = text_value(&plain, &column, text, length, &one), *const second =
                                                                                       text_number(
                                                                                           &column, text,
                                                                                           length, false,
                                                                                           &other);
        if (!first != !second || (!first && one != other))
            fail_msg("%.*s, type %d (%d,%d): %s %lld, %s %lld", (int)length, text, column.type,
                     column.precision, column.scale, first ? first : "", (long long)one, second ? second : "",
                     (long long)other);
    }
}

static void times_have_offsets_and_nanoseconds(void **state)
{
    (void)state;
    reading = (struct text_reading){0};
    column = (struct column_schema){.type = TYPE_TIMESTAMP};
    reads("1970-01-01 02:00:00+02", 0);
    reads("1970-01-01T02:30:00.5+02:30", 500000);
    reads("1969-12-31 19:00:00 -0500", 0);
    reads("1970-01-01 00:53:28+00:53:28", 0); /* PostgreSQL, of times before zones */
    reads("1970-01-01 00:01 UTC", 60000000);
    reads("1970-01-01 00:00:00.000001000", 1);
    does_not_read("1970-01-01 00:00:00.0000015", "6 decimals");
    reads("9999-12-31 23:59:59+01", INT64_C(253402297199000000));
    does_not_read("9999-12-31 23:59:59-01", "years");
    does_not_read("0000-01-01 00:59:59+01", "years");
    does_not_read("1970-01-01 00:00+", "no time");
    does_not_read("1970-01-01 00:00+1", "no time");
    does_not_read("1970-01-01 00:00+16", "no time");
    does_not_read("1970-01-01 00:00 ", "no time");
    does_not_read("1970-01-01 00:00:00ZZ", "no time");
    does_not_read("1970-01-01 00:00:00+02:", "no time");
    does_not_read("1970-01-01 00:00:00 CET", "no time");
    reading.cut_nanoseconds = true;
    reads("1970-01-01 00:00:00.0000019", 1);
    reads("1969-12-31 23:59:59.999999999", -1);
    reads("1970-01-01 00:00:00.123456789Z", 123456);
    column = (struct column_schema){.type = TYPE_DATE};
    reads("1970-01-02 00:00:00", 1);
    reads("1969-12-31T00:00:00.000", -1);
    does_not_read("1970-01-02 00:00:01", "no date");
}

static void holds(enum column_type type, int precision, int scale, const char *expected)
{
    char text[TEXT_RANGE_BYTES];
    column = (struct column_schema){.type = type, .precision = (uint8_t)precision, .scale = (uint8_t)scale};
    text_value_range(&column, text);
    assert_string_equal(text, expected);
    char *const high = strstr(text, " to ") + 4;
    int64_t most;
    assert_null(text_value(&plain, &column, high, (uint32_t)strlen(high), &most)); /* both ends are taken, */
    assert_null(text_value(&plain, &column, text, (uint32_t)strcspn(text, " "), &most));
    high[strlen(high) - 1]++; /* and a digit beyond is not */
    assert_non_null(text_value(&plain, &column, high, (uint32_t)strlen(high), &most));
}

static void what_a_column_holds_is_told(void **state)
{
    (void)state;
    holds(TYPE_INT32, 0, 0, "-2147483648 to 2147483647");
    holds(TYPE_INT64, 0, 0, "-9223372036854775808 to 9223372036854775807");
    holds(TYPE_DECIMAL, 5, 2, "-999.99 to 999.99");
    holds(TYPE_DECIMAL, 3, 3, "-0.999 to 0.999");
    holds(TYPE_DECIMAL, 1, 0, "-9 to 9");
    holds(TYPE_DECIMAL, 18, 0, "-999999999999999999 to 999999999999999999");
    holds(TYPE_DECIMAL, 18, 18, "-0.999999999999999999 to 0.999999999999999999");
}

static void dates_times_and_truth(void **state)
{
    (void)state;
    column = (struct column_schema){.type = TYPE_DATE};
    gives("1970-01-02", 1);
    gives("2000-02-29", 11016);
    refuses("1900-02-29", "calendar");
    gives("1970-1-2", 1);
    refuses("1994-1-", "YYYY-MM-DD");
    refuses("1994-1-123", "YYYY-MM-DD");
    refuses("94-1-1", "YYYY-MM-DD");
    refuses("1994-01-01 ", "YYYY-MM-DD");
    column.type = TYPE_TIMESTAMP;
    gives("1970-01-01", 0);
    gives("1970-01-01T00:01", 60000000);
    gives("1970-01-01 00:00:01.5Z", 1500000);
    gives("1969-12-31 23:59:59.999999", -1);
    gives("1970-01-01 24:00", 86400000000);
    gives("1970-1-1 1:2:3", 3723000000);
    refuses("1970-01-01 24:00:00.1", "no time");
    refuses("1970-01-01 24:01", "no time");
    refuses("1970-01-01 25:00", "no time");
    refuses("1970-01-01 00:00:00.0000001", "6 decimals");
    column.type = TYPE_BOOL;
    gives("TRUE", 1);
    gives("no", 0);
    refuses("2", "neither");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_rounded_if_that_is_asked_for),
        cmocka_unit_test(marks_between_thousands_are_read),
        cmocka_unit_test(blanks_and_quotes_between_thousands_may_be_typeset),
        cmocka_unit_test(currencies_stand_before_or_behind_numbers),
        cmocka_unit_test(percents_are_points_or_fractions),
        cmocka_unit_test(dates_and_times_are_of_forms),
        cmocka_unit_test(signs_change_no_digit),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(times_have_offsets_and_nanoseconds),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(numbers_of_every_length),
        cmocka_unit_test(decimals),
        cmocka_unit_test(decimals_of_every_shape),
        cmocka_unit_test(what_a_column_holds_is_told),
        cmocka_unit_test(dates_times_and_truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
