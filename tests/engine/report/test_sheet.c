/* test_sheet.c: a table of figures as text, CSV and JSON. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/report/sheet.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum status sheet_printer(const struct sheet *sheet, FILE *file, struct error *error);

static struct sheet *make(const struct sheet_column *columns, uint32_t count)
{
    struct sheet *sheet;
    assert_int_equal(sheet_create(columns, count, &sheet, NULL), STATUS_OK);
    return sheet;
}

static void assert_prints(sheet_printer *print, const struct sheet *sheet, const char *expected)
{
    char *text;
    size_t bytes;
    FILE *const file = open_memstream(&text, &bytes);
    assert_int_equal(print(sheet, file, NULL), STATUS_OK);
    fclose(file);
    assert_string_equal(text, expected);
    free(text);
}

/* Two groups; a column for people only, one for programs only; a scale and a suffix. */
static struct sheet *codecs(void)
{
    static const struct sheet_column columns[] = {
        {.key = "codec", .name = "codec", .text = true},
        {.key = "bytes",
         .name = "read",
         .unit = "MB",
         .group = "scan",
         .digits = 2,
         .scale = 1e-6,
         .whole = true},
        {.name = "share", .unit = "%", .group = "scan", .digits = 1},
        {.key = "device", .text = true},
        {.key = "speed", .name = "speed", .group = "against plain", .digits = 2, .suffix = "x"},
    };
    struct sheet *const sheet = make(columns, 5);
    sheet_text(sheet, "plain");
    sheet_number(sheet, 12345678901);
    sheet_number(sheet, 99.96);
    sheet_text(sheet, "CPU, \"avx2\"");
    sheet_number(sheet, 1);
    sheet_text(sheet, "größe");
    sheet_missing(sheet, "not installed");
    sheet_number(sheet, NAN);
    sheet_text(sheet, NULL);
    sheet_number(sheet, 2.0 / 3);
    return sheet;
}

static void people_see_aligned_columns_under_their_groups(void **state)
{
    (void)state;
    struct sheet *const sheet = codecs();
    assert_prints(sheet_print_table, sheet,
                  "       scan                    against plain\n"
                  "codec        read MB  share %          speed\n"
                  "plain       12345.68    100.0          1.00x\n"
                  "größe  not installed        -          0.67x\n");
    sheet_destroy(sheet);
}

static void programs_see_keys_and_all_digits(void **state)
{
    (void)state;
    struct sheet *const sheet = codecs();
    assert_prints(sheet_print_csv, sheet,
                  "codec,bytes,device,speed\n"
                  "plain,12345678901,\"CPU, \"\"avx2\"\"\",1\n"
                  "größe,,,0.666666667\n");
    json_t *const json = sheet_json(sheet), *const first = json_array_get(json, 0),
                  *const second = json_array_get(json, 1);
    assert_int_equal(json_array_size(json), 2);
    assert_int_equal(json_integer_value(json_object_get(first, "bytes")), 12345678901);
    assert_true(json_real_value(json_object_get(first, "speed")) == 1);
    assert_null(json_object_get(first, "share"));
    assert_string_equal(json_string_value(json_object_get(second, "codec")), "größe");
    assert_true(json_is_null(json_object_get(second, "bytes")));
    assert_true(json_is_null(json_object_get(second, "device")));
    json_decref(json);
    sheet_destroy(sheet);
}

static void significant_digits_hold_for_any_size(void **state)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0, "0.00"},
                 {1, "1.00"},
                 {-0.0123456, "-0.0123"},
                 {123456, "123456"},
                 {99.96, "100.0"},
                 {4e15, "4e+15"},
                 {1e300, "1e+300"},
                 {1e-12, "1e-12"},
                 {-2e-300, "-2e-300"},
                 {0.00012345, "0.000123"}};
    const struct sheet_column column = {.key = "x", .name = "x", .significant = 3};
    char buffer[SHEET_NUMBER_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sheet_cell cell = {.kind = SHEET_NUMBER, .number = cases[i].number};
        assert_string_equal(sheet_cell_text(&column, &cell, buffer), cases[i].text);
    }
}

static void empty_sheets_have_heads_and_incomplete_rows_are_not_printed(void **state)
{
    const struct sheet_column columns[] = {{.key = "a", .name = "a"}, {.key = "b", .name = "b", .unit = "s"}};
    struct sheet *sheet = make(columns, 2);
    (void)state;
    assert_prints(sheet_print_table, sheet, "a  b s\n");
    assert_prints(sheet_print_csv, sheet, "a,b\n");
    sheet_number(sheet, 1);
    assert_int_equal(sheet_rows(sheet), 0);
    assert_prints(sheet_print_csv, sheet, "a,b\n");
    sheet_destroy(sheet);
    sheet = make(columns, 0);
    sheet_number(sheet, 1);
    assert_int_equal(sheet_rows(sheet), 0);
    assert_prints(sheet_print_table, sheet, "\n");
    sheet_destroy(sheet);
    sheet_destroy(NULL);
}

static void text_that_is_not_utf8_is_refused_as_json(void **state)
{
    const struct sheet_column column = {.key = "path", .name = "path", .text = true};
    struct sheet *const sheet = make(&column, 1);
    (void)state;
    sheet_text(sheet, "\xff");
    assert_null(sheet_json(sheet));
    sheet_destroy(sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_see_aligned_columns_under_their_groups),
        cmocka_unit_test(programs_see_keys_and_all_digits),
        cmocka_unit_test(significant_digits_hold_for_any_size),
        cmocka_unit_test(empty_sheets_have_heads_and_incomplete_rows_are_not_printed),
        cmocka_unit_test(text_that_is_not_utf8_is_refused_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
