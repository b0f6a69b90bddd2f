/* test_progress_bar.c: what the line says, that it is drawn on terminals only, and that it goes away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/program/progress_bar.h"
#include "storage/base/clock.h"
#include "tests/support/pseudo_terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[PROGRESS_BAR_WIDTH_MAX + 1];

static void the_line_tells_part_rate_and_time_left(void **state)
{
    (void)state;
    progress_bar_format(line, 200, "loading lineorder", "rows", 3000000, 6000000, 0, 2);
    assert_string_equal(
        line, "loading lineorder  [===============               ]  50 %   1.5 M rows/s   0:02 left");
    progress_bar_format(line, 200, "loading", "bytes", 1, 3601, 0, 1);
    assert_non_null(strstr(line, "  0 %   1 B/s   1:00:00 left"));
    progress_bar_format(line, 200, "sales", "bytes", 430000000, 860000000, 12345678, 1);
    assert_string_equal(line,
                        "sales  [===============               ]  50 %   12 M rows   430 MB/s   0:01 left");
    progress_bar_format(line, 200, "sales", "bytes", 430000000, 0, 12345678, 1);
    assert_string_equal(line, "sales  430 MB   12 M rows   430 MB/s");
    progress_bar_format(line, 200, "loading", "rows", 999, 1000, 0, 1);
    assert_non_null(strstr(line, " 99 %   999 rows/s   0:00 left"));
}

static void without_a_unit_only_the_share_is_told(void **state)
{
    (void)state;
    progress_bar_format(line, 200, "running", NULL, 5, 10, 0, 2);
    assert_string_equal(line, "running  [===============               ]  50 %   0:02 left");
    progress_bar_format(line, 200, "running", NULL, 5, 0, 0, 2);
    assert_string_equal(line, "running");
}

static void odd_numbers_make_a_line_too(void **state)
{
    (void)state;
    progress_bar_format(line, 200, "loading", "rows", 0, 10, 0, 0);
    assert_string_equal(line, "loading  [                              ]   0 %   --:-- left");
    progress_bar_format(line, 200, "loading", "rows", 20, 10, 0, 1);
    assert_non_null(strstr(line, "100 %"));
    progress_bar_format(line, 200, "loading", "rows", 2500, 0, 0, 1);
    assert_string_equal(line, "loading  2.5 k rows   2.5 k rows/s");
    progress_bar_format(line, 200, "loading", "rows", UINT64_MAX / 2, UINT64_MAX, 0, 1e-9);
    assert_non_null(strstr(line, " 50 %"));
    progress_bar_format(line, 200, "storing star.db", "", 0, 0, 0, 0);
    assert_string_equal(line, "storing star.db");
}

/* The first reports come at once, and say nothing about how long it takes. */
static void what_cannot_be_estimated_is_not(void **state)
{
    (void)state;
    progress_bar_format(line, 200, "reading", "bytes", 1 << 20, 600 << 20, 9000, 0);
    assert_string_equal(line, "reading  [                              ]   0 %   9.0 k rows   --:-- left");
    progress_bar_format(line, 200, "reading", "bytes", 1 << 20, 600 << 20, 9000, 0.4);
    assert_non_null(strstr(line, "   --:-- left"));
    progress_bar_format(line, 200, "reading", "bytes", 300 << 20, 600 << 20, 9000, 0.6);
    assert_non_null(strstr(line, "   0:01 left"));
}

static void a_narrow_line_says_what_matters_most(void **state)
{
    (void)state;
    static const struct {
        unsigned width;
        const char *line;
    } cases[] = {{79, "reading sales  [==========           ]  48 %   12 M rows   430 MB/s   0:01 left"},
                 {60, "reading sales  [======        ]  48 %   430 MB/s   0:01 left"},
                 {50, "reading sales  [=======        ]  48 %   0:01 left"},
                 {40, "reading sales  48 %   0:01 left"},
                 {25, "reading sales  48 %"},
                 {10, "reading sa"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        progress_bar_format(line, cases[i].width, "reading sales", "bytes", 430000000, 890000000, 12345678,
                            1);
        assert_string_equal(line, cases[i].line);
    }
}

static void the_line_is_never_wider_than_asked(void **state)
{
    (void)state;
    char what[1000];
    memset(what, 'x', sizeof what - 1);
    what[sizeof what - 1] = '\0';
    for (unsigned width = 0; width <= PROGRESS_BAR_WIDTH_MAX + 10; width += 7) {
        progress_bar_format(line, width, what, "rows", 1, 2, 0, 1);
        assert_true(strlen(line) == (width < PROGRESS_BAR_WIDTH_MAX ? width : PROGRESS_BAR_WIDTH_MAX));
    }
}

static void without_a_terminal_there_is_no_bar(void **state)
{
    (void)state;
    int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    struct progress *bar = progress_bar_open();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(null);
    assert_null(bar);
    progress_bar_clear(NULL);
}

static void on_a_terminal_it_is_drawn_seldom_and_wiped_at_the_end(void **state)
{
    (void)state;
    need_pseudo_terminal();
    int terminal, screen, saved = dup(STDERR_FILENO);
    assert_int_equal(openpty(&terminal, &screen, NULL, NULL, NULL), 0);
    setenv("TERM", "xterm", 1);
    dup2(screen, STDERR_FILENO);
    struct progress *bar = progress_bar_open();
    const double begin = clock_ms();
    for (uint64_t i = 1; bar && i <= 1000; i++)
        bar->report(bar, "counting", "rows", i, 1000);
    const double took = clock_ms() - begin;
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(screen);
    assert_non_null(bar);
    char shown[4096] = {0};
    size_t used = 0;
    ssize_t got;
    while (used < sizeof shown - 1 && (got = read(terminal, shown + used, sizeof shown - 1 - used)) > 0)
        used += (size_t)got;
    close(terminal);
    /* a thousand reports in well under 10 ms: one drawing, one wiping; where they take longer, ten a second */
    unsigned drawings = 0;
    for (const char *at = shown; (at = strstr(at, "counting")) != NULL; at++)
        drawings++;
    assert_in_range(drawings, 1, 1 + (unsigned)(took / 100));
    assert_string_equal(shown + used - 4, "\r\033[K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_tells_part_rate_and_time_left),
        cmocka_unit_test(without_a_unit_only_the_share_is_told),
        cmocka_unit_test(odd_numbers_make_a_line_too),
        cmocka_unit_test(what_cannot_be_estimated_is_not),
        cmocka_unit_test(a_narrow_line_says_what_matters_most),
        cmocka_unit_test(the_line_is_never_wider_than_asked),
        cmocka_unit_test(without_a_terminal_there_is_no_bar),
        cmocka_unit_test(on_a_terminal_it_is_drawn_seldom_and_wiped_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
