/* test_result.c: rows go in and come out, sorting is stable and puts NULL first, the text is exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/answer/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[] = {"city", "year", "revenue"};
static const uint8_t IS_STRING[] = {1, 0, 0};

static void add(struct result *result, const char *city, int64_t year, int64_t revenue, bool null)
{
    const struct result_cell row[] = {{.string = city}, {.number = year}, {.number = revenue, .null = null}};
    assert_int_equal(result_add_row(result, row, NULL), STATUS_OK);
}

static void assert_csv(const struct result *result, const char *expected)
{
    char *text;
    size_t bytes;
    assert_int_equal(result_csv(result, &text, &bytes, NULL), STATUS_OK);
    assert_string_equal(text, expected);
    assert_int_equal(bytes, strlen(expected));
    free(text);
}

static void text_has_a_header_and_an_empty_field_for_null(void **state)
{
    (void)state;
    struct result result;
    assert_int_equal(result_create(&result, 3, NAMES, IS_STRING, NULL), STATUS_OK);
    assert_csv(&result, "city,year,revenue\n");
    add(&result, "UNITED KI1", 1997, INT64_MIN, false);
    add(&result, "PERU     9", -1, 5, true);
    add(&result, NULL, 0, INT64_MAX, false);
    assert_csv(&result, "city,year,revenue\nUNITED KI1,1997,-9223372036854775808\nPERU     9,-1,\n"
                        ",0,9223372036854775807\n");
    result_destroy(&result);
    result_destroy(&result);
}

static void strings_are_copies_that_stay_put(void **state)
{
    (void)state;
    struct result result;
    char city[RESULT_NAME_BYTES];
    char long_city[9000];
    memset(long_city, 'x', sizeof long_city - 1);
    long_city[sizeof long_city - 1] = 0;
    assert_int_equal(result_create(&result, 3, NAMES, IS_STRING, NULL), STATUS_OK);
    for (int i = 0; i < 1025; i++) {
        snprintf(city, sizeof city, "city %d", i);
        add(&result, i == 500 ? long_city : city, i, -i, false);
    }
    assert_int_equal(result.rows, 1025);
    for (int i = 0; i < 1025; i++) {
        snprintf(city, sizeof city, "city %d", i);
        assert_string_equal(result_cell(&result, (uint64_t)i, 0)->string, i == 500 ? long_city : city);
        assert_int_equal(result_cell(&result, (uint64_t)i, 2)->number, -i);
    }
    result_destroy(&result);
}

static void sorting_is_stable_and_puts_null_first(void **state)
{
    (void)state;
    struct result result;
    assert_int_equal(result_create(&result, 3, NAMES, IS_STRING, NULL), STATUS_OK);
    const struct result_order by_year_then_revenue[] = {{.column = 1}, {.column = 2, .descending = true}};
    assert_int_equal(result_sort(&result, by_year_then_revenue, 2, NULL), STATUS_OK);
    add(&result, "b", 1993, 7, false);
    add(&result, "a", 1993, 7, false);
    add(&result, "c", 1993, 0, true);
    add(&result, "d", 1992, -5, false);
    add(&result, "e", 1992, 5, false);
    assert_int_equal(result_sort(&result, by_year_then_revenue, 2, NULL), STATUS_OK);
    assert_csv(&result, "city,year,revenue\ne,1992,5\nd,1992,-5\nb,1993,7\na,1993,7\nc,1993,\n");
    const struct result_order by_city[] = {{.column = 0}};
    add(&result, "MFGR#1210", 0, 0, false);
    add(&result, "MFGR#121", 0, 0, false);
    add(&result, "MFGR#122", 0, 0, false);
    add(&result, NULL, 0, 0, false);
    assert_int_equal(result_sort(&result, by_city, 1, NULL), STATUS_OK);
    assert_csv(&result, "city,year,revenue\n,0,0\nMFGR#121,0,0\nMFGR#1210,0,0\nMFGR#122,0,0\na,1993,7\n"
                        "b,1993,7\nc,1993,\nd,1992,-5\ne,1992,5\n");
    result_destroy(&result);
}

static void impossible_shapes_are_refused(void **state)
{
    (void)state;
    struct result result;
    struct error error = {0};
    assert_int_equal(result_create(&result, 0, NAMES, IS_STRING, &error), STATUS_BAD_INPUT);
    assert_int_equal(result_create(&result, RESULT_COLUMNS_MAX + 1, NAMES, IS_STRING, &error),
                     STATUS_BAD_INPUT);
    assert_string_equal(error.text, "an answer of 9 columns was asked for; 1 to 8 can be returned");
    assert_int_equal(result_create(&result, 3, NAMES, IS_STRING, NULL), STATUS_OK);
    add(&result, "a", 1, 1, false);
    add(&result, "b", 2, 2, false);
    const struct result_order by_fourth = {.column = 3};
    assert_int_equal(result_sort(&result, &by_fourth, 1, &error), STATUS_BAD_INPUT);
    result_destroy(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_has_a_header_and_an_empty_field_for_null),
        cmocka_unit_test(strings_are_copies_that_stay_put),
        cmocka_unit_test(sorting_is_stable_and_puts_null_first),
        cmocka_unit_test(impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
