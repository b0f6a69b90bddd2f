/* test_chart_text.c: charts drawn with letters. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/chart_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char text[16384];

static void draw(const struct chart *chart)
{
    FILE *const out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    chart_text(chart, out);
    assert_int_equal(fclose(out), 0);
}

static struct chart *made(const struct chart_form *form)
{
    struct chart *chart = NULL;
    struct error error = {0};
    assert_int_equal(chart_create(form, &chart, &error), STATUS_OK);
    return chart;
}

/* Two series: the first one at the top, the second one at 0, and both in one place at x = 3. */
static void series_have_letters(void **state)
{
    static const struct chart_form form = {.kind = CHART_LINES,
                                           .title = "two lines",
                                           .x = {.title = "width", .unit = "bits"},
                                           .y = {.title = "time"}};
    struct chart *const chart = made(&form);
    (void)state;
    chart_series(chart, "gpu");
    for (int x = 1; x <= 3; x++)
        chart_point(chart, (struct chart_point){.x = x, .y = 10});
    chart_series(chart, "cpu");
    chart_point(chart, (struct chart_point){.x = 1, .y = 0});
    chart_point(chart, (struct chart_point){.x = 2, .y = NAN});
    chart_point(chart, (struct chart_point){.x = 3, .y = 10});
    draw(chart);
    const char *const top = strchr(strstr(text, "\n\n"), '|'), *const bottom = strstr(text, " 0 |");
    assert_non_null(strstr(text, "two lines\n"));
    assert_non_null(strstr(text, "up: time; right: width, bits"));
    assert_non_null(strstr(text, "a gpu   b cpu"));
    assert_true(strpbrk(top, "ab*")[0] == 'a'); /* x = 1 */
    assert_non_null(memchr(top, '*', strcspn(top, "\n")));
    assert_null(memchr(top, 'b', strcspn(top, "\n")));
    assert_non_null(bottom);
    assert_non_null(memchr(bottom, 'b', strcspn(bottom, "\n")));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
    chart_destroy(chart);
}

static void categories_and_empty_charts_are_drawn(void **state)
{
    static const char *const categories[] = {"orderkey", "quantity"};
    static const struct chart_form form = {.kind = CHART_BARS,
                                           .title = "bars",
                                           .categories = categories,
                                           .category_count = 2,
                                           .y = {.scale = CHART_LOG10}};
    struct chart *const chart = made(&form);
    (void)state;
    draw(chart);
    assert_non_null(strstr(text, "orderkey"));
    chart_series(chart, "one");
    chart_point(chart, (struct chart_point){.x = 1, .y = 5});
    chart_point(chart, (struct chart_point){.x = 0, .y = -5}); /* a log scale has no place for it */
    draw(chart);
    assert_non_null(strstr(text, "a one"));
    uint32_t marks = 0;
    for (const char *row = strchr(text, '|'); row; row = strchr(row + 1, '|'))
        marks += memchr(row, 'a', strcspn(row, "\n")) != NULL;
    assert_int_equal(marks, 1);
    chart_destroy(chart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_have_letters),
        cmocka_unit_test(categories_and_empty_charts_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
