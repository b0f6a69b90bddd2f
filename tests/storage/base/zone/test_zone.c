/* test_zone.c: time zones: changes that a file lists, rules for the years after them, and names that are refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/calendar.h"
#include "storage/base/zone/zone.h"
#include "tests/support/zone_files.h"

static const int32_t berlin[2] = {3600, 7200};

static int64_t at(int year, int month, int day, int hour, int minute)
{
    return calendar_days(year, month, day) * 86400 + hour * 3600 + minute * 60;
}

static void changes_count_from_their_second_on(void **state)
{
    const int64_t changes[] = {-1000, 0, 5000000000};
    const struct zone *zone;
    (void)state;
    zone_make("Some/Zone", changes, 3, berlin, "");
    must(zone_find("Some/Zone", &zone, error));
    assert_int_equal(zone_offset(zone, INT64_MIN / 8), 3600);
    assert_int_equal(zone_offset(zone, -1001), 3600);
    assert_int_equal(zone_offset(zone, -1000), 7200);
    assert_int_equal(zone_offset(zone, -1), 7200);
    assert_int_equal(zone_offset(zone, 0), 3600);
    assert_int_equal(zone_offset(zone, 4999999999), 3600);
    assert_int_equal(zone_offset(zone, 5000000000), 7200);
    assert_int_equal(zone_offset(zone, INT64_MAX / 8), 7200);
}

static void rules_are_those_of_posix(void **state)
{
    const struct zone *zone;
    (void)state;
    zone_make("Europe/Berlin", NULL, 0, berlin, "CET-1CEST,M3.5.0,M10.5.0/3");
    must(zone_find("Europe/Berlin", &zone, error));
    assert_int_equal(zone_offset(zone, at(2024, 3, 31, 0, 59)), 3600);
    assert_int_equal(zone_offset(zone, at(2024, 3, 31, 1, 0)), 7200);
    assert_int_equal(zone_offset(zone, at(2024, 10, 27, 0, 59)), 7200);
    assert_int_equal(zone_offset(zone, at(2024, 10, 27, 1, 0)), 3600);
    assert_int_equal(zone_offset(zone, at(3024, 7, 1, 0, 0)), 7200);
    zone_make("South", NULL, 0, berlin,
              "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"); /* summer is around New Year */
    must(zone_find("South", &zone, error));
    assert_int_equal(zone_offset(zone, at(2024, 1, 1, 0, 0)), 39600);
    assert_int_equal(zone_offset(zone, at(2024, 6, 1, 0, 0)), 37800);
    assert_int_equal(zone_offset(zone, at(2024, 10, 5, 15, 29)), 37800);
    assert_int_equal(zone_offset(zone, at(2024, 10, 5, 15, 30)), 39600);
    zone_make("Days", NULL, 0, berlin, "AAA3BBB,J60/0,299/-1:30");
    must(zone_find("Days", &zone, error));
    assert_int_equal(zone_offset(zone, at(2024, 3, 1, 2, 59)),
                     -10800); /* J60 is the first of March in every year */
    assert_int_equal(zone_offset(zone, at(2024, 3, 1, 3, 0)), -7200);
    assert_int_equal(zone_offset(zone, at(2023, 3, 1, 3, 0)), -7200);
    assert_int_equal(zone_offset(zone, at(2024, 10, 26, 0, 29)),
                     -7200); /* day 299 is October 26 in a leap year */
    assert_int_equal(zone_offset(zone, at(2024, 10, 26, 0, 30)), -10800);
    zone_make("Fixed", NULL, 0, berlin, "<-03>3");
    must(zone_find("Fixed", &zone, error));
    assert_int_equal(zone_offset(zone, 0), -10800);
}

/* Of the year 1, so that the listed changes are far away, and of times around them. */
static void local_times_are_found_as_in_postgresql(void **state)
{
    const struct zone *zone;
    (void)state;
    zone_make("Local", (const int64_t[]){0, 5000000000}, 2, berlin, "");
    must(zone_find("Local", &zone, error));
    assert_int_equal(zone_offset_of_local(zone, -62135596800), 3600);
    assert_int_equal(zone_offset_of_local(zone, 3599), 3600);
    assert_int_equal(zone_offset_of_local(zone, 3600), 3600); /* skipped */
    assert_int_equal(zone_offset_of_local(zone, 7199), 3600);
    assert_int_equal(zone_offset_of_local(zone, 7200), 7200);
    assert_int_equal(zone_offset_of_local(zone, 5000000000 + 3599), 7200);
    assert_int_equal(zone_offset_of_local(zone, 5000000000 + 3600), 3600); /* twice */
    assert_int_equal(zone_offset_of_local(zone, 5000000000 + 7200), 3600);
    assert_int_equal(zone_next_change(zone, -1), 0);
    assert_int_equal(zone_next_change(zone, 0), 5000000000);
    assert_int_equal(zone_next_change(zone, 5000000000), INT64_MAX);
    zone_make("Rules", NULL, 0, berlin, "CET-1CEST,M3.5.0,M10.5.0/3");
    must(zone_find("Rules", &zone, error));
    assert_int_equal(zone_next_change(zone, at(2024, 1, 1, 0, 0)), at(2024, 3, 31, 1, 0));
    assert_int_equal(zone_next_change(zone, at(2024, 3, 31, 1, 0)), at(2024, 10, 27, 1, 0));
    assert_int_equal(zone_next_change(zone, at(2024, 12, 31, 23, 30)), at(2025, 3, 30, 1, 0));
    assert_int_equal(zone_offset_of_local(zone, at(2024, 3, 31, 2, 30)), 3600);
    assert_int_equal(zone_offset_of_local(zone, at(2024, 3, 31, 3, 0)), 7200);
    assert_int_equal(zone_offset_of_local(zone, at(2024, 10, 27, 1, 59)), 7200);
    assert_int_equal(zone_offset_of_local(zone, at(2024, 10, 27, 2, 0)), 3600);
    assert_string_equal(zone_name(zone), "Rules");
    assert_string_equal(zone_name(NULL), "UTC");
    const struct zone *again;
    must(zone_find("Rules", &again, error));
    assert_ptr_equal(again, zone);
}

static void names_are_in_any_case(void **state)
{
    const struct zone *zone, *again;
    (void)state;
    zone_make("America/Some_Town", NULL, 0, berlin, "CET-1CEST,M3.5.0,M10.5.0/3");
    must(zone_find("aMERICA/some_TOWN", &zone, error));
    assert_string_equal(zone_name(zone), "America/Some_Town");
    must(zone_find("America/Some_Town", &again, error));
    assert_ptr_equal(again, zone);
    zone_make("America/Some_town", (const int64_t[]){5}, 1, berlin,
              ""); /* the letters that are written come first */
    must(zone_find("America/Some_town", &again, error));
    assert_ptr_not_equal(again, zone);
    struct error why;
    assert_int_equal(zone_find("america", &again, &why), STATUS_BAD_INPUT);
    assert_int_equal(zone_find("america/some_tow", &again, &why), STATUS_BAD_INPUT);
    assert_int_equal(zone_find("america//town", &again, &why), STATUS_BAD_INPUT);
    const int64_t noon = at(2024, 7, 1, 12, 0) * 1000000 + 5;
    assert_int_equal(zone_instant(zone, noon), noon - INT64_C(7200000000));
    assert_int_equal(zone_local(zone, zone_instant(zone, noon)), noon);
    assert_int_equal(zone_instant(NULL, noon), noon);
    assert_int_equal(zone_local(NULL, noon), noon);
}

static void utc_needs_no_file(void **state)
{
    static const char *const names[] = {"", "UTC", "GMT", "Etc/UTC"};
    const struct zone *zone;
    (void)state;
    setenv("TZDIR", "/nowhere", 1);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        must(zone_find(names[n], &zone, error));
        assert_int_equal(zone_offset(zone, 1700000000), 0);
    }
}

static void names_and_files_that_are_none_are_refused(void **state)
{
    static const char *const names[] = {"Nowhere", "../../etc/passwd", "/etc/passwd", "A\nB", "Rule", "Cut",
                                        "."},
                             *const rules[] = {"CET-1CEST,M13.5.0,M10.5.0",
                                               "CET-1CEST,M3.5.0",
                                               "C",
                                               "CET",
                                               "CET-1CEST,M3.5.0,M10.5.0x",
                                               "FAR50",
                                               "CET-1FAR-50,M3.5.0,M10.5.0"};
    const struct zone *zone;
    struct error why;
    char file[PATH_BYTES + 64];
    (void)state;
    zone_make("Cut", (const int64_t[]){1, 2}, 2, berlin, "");
    snprintf(file, sizeof file, "%s/Cut", getenv("TZDIR"));
    assert_int_equal(truncate(file, 120), 0);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        assert_int_equal(zone_find(names[n], &zone, &why), STATUS_BAD_INPUT);
        assert_non_null(strstr(why.text, "is not in this system's database"));
    }
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        zone_make("Rule", NULL, 0, berlin, rules[r]);
        assert_int_equal(zone_find("Rule", &zone, &why), STATUS_BAD_INPUT);
    }
    zone_make("Late", (const int64_t[]){0, INT64_MAX - 1}, 2, berlin,
              ""); /* sums with offsets leave 64 bits */
    assert_int_equal(zone_find("Late", &zone, &why), STATUS_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_count_from_their_second_on, setup, teardown),
        cmocka_unit_test_setup_teardown(rules_are_those_of_posix, setup, teardown),
        cmocka_unit_test_setup_teardown(local_times_are_found_as_in_postgresql, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_in_any_case, setup, teardown),
        cmocka_unit_test(utc_needs_no_file),
        cmocka_unit_test_setup_teardown(names_and_files_that_are_none_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
