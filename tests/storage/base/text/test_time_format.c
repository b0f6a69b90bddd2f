/* test_time_format.c: texts in strptime's formats are the times that they name, and are refused as other texts are. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/calendar_text.h"
#include "storage/base/text/time_format.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Reads a text whose end no zero marks. */
static const char *read(const char *form, const char *text, bool cut, int64_t *value)
{
    static struct time_format format;
    struct error error = {0};
    if (time_format_compile(form, strlen(form), &format, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    return time_format_parse(&format, text, text + strlen(text), cut, value);
}

static void is_time(const char *form, const char *text, const char *iso)
{
    int64_t value = -1, expected;
    const char *const complaint = read(form, text, false, &value);
    assert_null(calendar_parse_timestamp(iso, iso + strlen(iso), &expected));
    if (complaint || value != expected)
        fail_msg("'%s' as %s: %s, %lld instead of %lld", text, form, complaint ? complaint : "",
                 (long long)value, (long long)expected);
}

static void is_none(const char *form, const char *text, const char *said)
{
    int64_t value;
    const char *const complaint = read(form, text, false, &value);
    if (!complaint || strcmp(complaint, said) != 0)
        fail_msg("'%s' as %s: '%s' instead of '%s'", text, form, complaint ? complaint : "", said);
}

static void letters_are_parts_of_times(void **state)
{
    (void)state;
    is_time("%d/%m/%Y", "31/12/1999", "1999-12-31");
    is_time("%d.%m.%y", "1.2.68", "2068-02-01");
    is_time("%d.%m.%y", "01.02.69", "1969-02-01");
    is_time("%Y%m%d", "20240229", "2024-02-29");
    is_time("%-d.%-m.%Y %-H:%-M", "1.2.2024 3:4", "2024-02-01 03:04");
    is_time("%d.%m.%y %H:%M", "07.08.09 10:11", "2009-08-07 10:11");
    is_time("%d-%b-%Y", "05-mAr-2021", "2021-03-05");
    is_time("%B %e, %Y", "September  5,2021", "2021-09-05");
    is_time("%A, %h %d %Y", "Sunday, May 02 2021", "2021-05-02");
    is_time("%a %b %d %T %Y", "Mon Jun 21 23:59:58 2021", "2021-06-21 23:59:58");
    is_time("%m/%d/%Y %I:%M:%S %p", "3/4/2021 12:00:01 AM", "2021-03-04 00:00:01");
    is_time("%m/%d/%Y %I:%M %p", "3/4/2021 12:30pm", "2021-03-04 12:30");
    is_time("%D %I%p", "03/04/21 11PM", "2021-03-04 23:00");
    is_time("%Y-%j", "2024-366", "2024-12-31");
    is_time("%Y%j", "20241", "2024-01-01");
    is_time("%F %T.%f", "2021-01-02 03:04:05.678", "2021-01-02 03:04:05.678");
    is_time("%F %T,%f", "2021-01-02 03:04:05,000001000", "2021-01-02 03:04:05.000001");
    is_time("%FT%R%z", "2021-01-02T03:04+0230", "2021-01-02 00:34");
    is_time("%FT%R%z", "2021-01-02T03:04-05:30", "2021-01-02 08:34");
    is_time("%FT%R %z", "2021-01-02T03:04 +01:00:30", "2021-01-02 02:03:30");
    is_time("%d/%b/%Y:%H:%M:%S %z", "10/Oct/2000:13:55:36 -0700", "2000-10-10 20:55:36"); /* a web log */
    is_time("%F %R %Z", "2021-01-02 03:04 utc", "2021-01-02 03:04");
    is_time("%F %R %Z%%", "2021-01-02 03:04GMT%", "2021-01-02 03:04");
    is_time("%F %H:%M", "2021-12-31 24:00", "2022-01-01");
    is_time("%Y", "2021", "2021-01-01");
    is_time("Q %m %Y", "Q11 2021", "2021-11-01");
    is_time("%d.%m.%Y", "01.01.0000", "0000-01-01");
    is_time("%d.%m.%Y", "31.12.9999", "9999-12-31");
}

static void other_texts_are_refused(void **state)
{
    static const char form[] = "is not of the form %d/%m/%Y", calendar[] = "is a day that no calendar has";
    static const char *const others[] = {
        "",          "1",         "1/2",      "1/2/21",      "1/13/2021", "0/1/2021",
        "1/0/2021",  "32/1/2021", "1-2-2021", "1/2/2021 ",   " 1/2/2021", "a/2/2021",
        "1/2/20211", "1/2/-021",  "1//2021",  "001/02/2021", "+1/2/2021"};
    int64_t value;
    (void)state;
    for (size_t o = 0; o < sizeof others / sizeof *others; o++)
        is_none("%d/%m/%Y", others[o], form);
    is_none("%d/%m/%Y", "29/2/2023", calendar);
    is_none("%d/%m/%Y", "31/4/2023", calendar);
    is_none("%Y-%j", "2023-366", calendar);
    is_none("%Y-%j", "2023-0", "is not of the form %Y-%j");
    is_none("%F %R", "2023-01-01 24:01", "is not of the form %F %R");
    is_none("%F %I %p", "2023-01-01 13 PM", "is not of the form %F %I %p");
    is_none("%F %I %p", "2023-01-01 1 XM", "is not of the form %F %I %p");
    is_none("%b %Y", "Juni 2023", "is not of the form %b %Y");
    is_none("%b %Y", "Ju", "is not of the form %b %Y");
    is_none("%F %z", "2023-01-01 +1600", "is not of the form %F %z");
    is_none("%F %z", "2023-01-01 CET", "is not of the form %F %z");
    is_none("%F %z", "0000-01-01 +0100", "is not in the years 0000 to 9999 of UTC");
    is_none("%F %f", "2023-01-01 0000001", CALENDAR_NANOSECONDS);
    is_none("%F %f", "2023-01-01 1234567890", "is not of the form %F %f");
    assert_null(read("%F %f", "2023-01-01 0000019", true, &value));
    assert_int_equal(value, 1672531200000001);
}

static void formats_are_checked(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {{"%d.%m.%Q", "the format '%d.%m.%Q' has %Q, which is none of %Y"},
               {"%Y%", "has %, which is none of"},
               {"%Y%-", "which is none of"},
               {"%d.%m", "the format '%d.%m' has no year"},
               {"", "has no year"},
               {"%Y %I", "hours of 12 need both"},
               {"%Y %p", "hours of 12 need both"}};
    struct time_format format;
    struct error error = {0};
    char text[200];
    (void)state;
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        assert_int_equal(time_format_compile(bad[b].text, strlen(bad[b].text), &format, &error),
                         STATUS_BAD_INPUT);
        if (!strstr(error.text, bad[b].said))
            fail_msg("%s: %s", bad[b].text, error.text);
    }
    snprintf(text, sizeof text, "%%Y%0100d", 0);
    assert_int_equal(time_format_compile(text, strlen(text), &format, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "longer than 64 parts"));
    const char *const moment = "2024-05-06 07:08";
    int64_t value;
    assert_int_equal(time_format_compile("%Y-%mxxx", 5, &format, &error), STATUS_OK); /* the length counts */
    assert_null(time_format_parse(&format, moment, moment + 7, false, &value));
    assert_int_equal(time_format_compile("%F %Rxxx", 5, &format, &error), STATUS_OK);
    assert_null(time_format_parse(&format, moment, moment + 16, false, &value));
}

/* What strftime writes is read as the time that it was. */
static void the_librarys_texts_are_read(void **state)
{
    static const char *const forms[] = {"%d/%m/%Y %H:%M:%S", "%a, %d %b %Y %T %z", "%A %B %e %Y %I:%M:%S %p",
                                        "%Y%m%d%H%M%S", "%Y-%j %T"};
    uint64_t random = 20261128;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[128];
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const time_t seconds = (time_t)((random >> 20) % 250000000000ull) - 60000000000ll;
        const char *const form = forms[round % 5];
        struct tm parts;
        int64_t value;
        assert_non_null(gmtime_r(&seconds, &parts));
        if (parts.tm_year < -900) /* years of four digits */
            continue;
        assert_true(strftime(text, sizeof text, form, &parts) > 0);
        const char *const complaint = read(form, text, false, &value);
        if (complaint || value != seconds * 1000000)
            fail_msg("'%s' as %s: %s", text, form, complaint ? complaint : "another time");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_parts_of_times),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(formats_are_checked),
        cmocka_unit_test(the_librarys_texts_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
