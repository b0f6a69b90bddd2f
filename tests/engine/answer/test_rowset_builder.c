/* test_rowset_builder.c: rows that are added one by one are found again as they were, whatever their number and the
 * length of their strings; NULLs of both kinds; nothing at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/made_rows.h"

#include <stdio.h>

static const char *const NAMES[] = {"c_city", "d_year", "revenue"};

static struct rowset_builder *begin(void)
{
    const struct value_type types[] = {made_string, made_integer, made_integer};
    return made_begin(3, NAMES, types);
}

static void assert_text(const struct rowset *rows, uint32_t column, uint64_t row, const char *expected)
{
    char buffer[ROWSET_TEXT_BYTES];
    uint32_t length;
    const char *const text = rowset_text(&rows->columns[column], row, buffer, &length);
    if (!expected) {
        assert_null(text);
        return;
    }
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(text, expected, length);
}

static void no_rows_have_names_and_types(void **state)
{
    (void)state;
    struct rowset rows = made_end(begin());
    assert_int_equal(rows.rows, 0);
    assert_int_equal(rows.column_count, 3);
    for (uint32_t c = 0; c < 3; c++)
        assert_string_equal(rows.columns[c].name, NAMES[c]);
    assert_int_equal(rows.columns[0].type.kind, VALUE_STRING);
    assert_int_equal(rows.columns[2].type.kind, VALUE_INTEGER);
    rowset_free(&rows);
    rowset_builder_free(begin()); /* which was never finished */
    rowset_builder_free(NULL);
}

/* More rows than there is room for at first, and one string that is longer than all others. */
static void many_rows_are_kept(void **state)
{
    (void)state;
    static char long_city[10000];
    struct rowset_builder *const builder = begin();
    memset(long_city, 'x', sizeof long_city - 1);
    for (int i = 0; i < 1000; i++) {
        char city[32];
        snprintf(city, sizeof city, "CITY %d", i); /* copied: the buffer is used again */
        const struct rowset_cell row[] = {
            made_text(i == 500 ? long_city : city), {.number = 1992 + i % 7}, {.number = -i}};
        made_add(builder, row);
    }
    struct rowset rows = made_end(builder);
    assert_int_equal(rows.rows, 1000);
    for (int i = 0; i < 1000; i++) {
        char city[32];
        snprintf(city, sizeof city, "CITY %d", i);
        assert_text(&rows, 0, (uint64_t)i, i == 500 ? long_city : city);
        assert_int_equal(rows.columns[1].values[i], 1992 + i % 7);
        assert_int_equal(rows.columns[2].values[i], -i);
    }
    rowset_free(&rows);
}

static void nulls_and_empty_strings_differ(void **state)
{
    (void)state;
    struct rowset_builder *const builder = begin();
    made_add(builder, (const struct rowset_cell[]){made_text(""), {.number = INT64_MIN}, {.null = true}});
    made_add(builder, (const struct rowset_cell[]){{.null = true}, {.null = true}, {.number = INT64_MAX}});
    made_add(builder, (const struct rowset_cell[]){made_text("B"), {.number = 0}, {.number = 0}});
    struct rowset rows = made_end(builder);
    assert_text(&rows, 0, 0, "");
    assert_text(&rows, 0, 1, NULL);
    assert_text(&rows, 0, 2, "B");
    assert_text(&rows, 1, 0, "-9223372036854775808");
    assert_text(&rows, 1, 1, NULL);
    assert_text(&rows, 2, 0, NULL);
    assert_text(&rows, 2, 1, "9223372036854775807");
    rowset_free(&rows);
}

static void lines_become_rows(void **state)
{
    (void)state;
    struct rowset rows;
    assert_int_equal(rowset_of_lines(&rows, "plan", "first\n\nthird line\n", NULL), STATUS_OK);
    assert_int_equal(rows.rows, 3);
    assert_string_equal(rows.columns[0].name, "plan");
    assert_text(&rows, 0, 0, "first");
    assert_text(&rows, 0, 1, "");
    assert_text(&rows, 0, 2, "third line");
    rowset_free(&rows);
    assert_int_equal(rowset_of_lines(&rows, "plan", "", NULL), STATUS_OK);
    assert_int_equal(rows.rows, 0);
    rowset_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_rows_have_names_and_types),
        cmocka_unit_test(many_rows_are_kept),
        cmocka_unit_test(nulls_and_empty_strings_differ),
        cmocka_unit_test(lines_become_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
