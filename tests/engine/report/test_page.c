/* test_page.c: the report page is one well-formed file that needs nothing else, whatever is shown. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/report/page.h"
#include "tests/support/database_cases.h"
#include "tests/support/well_formed.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#define COUNT(array) (sizeof array / sizeof *(array))

static const char *const queries[] = {"q1.1", "q1.2 <a&b>", "a category with a rather long name"};

static struct page *new_page(const char *title)
{
    struct page *page;
    assert_int_equal(page_create(title, &page, NULL), STATUS_OK);
    return page;
}

static struct chart *new_chart(const struct chart_form *form)
{
    struct chart *chart;
    assert_int_equal(chart_create(form, &chart, NULL), STATUS_OK);
    return chart;
}

/* Prints a page, which is freed, and checks its form; the caller frees the text. */
static char *print(struct page *page)
{
    char *text;
    size_t bytes;
    struct xml xml;
    FILE *const file = open_memstream(&text, &bytes);
    assert_int_equal(page_print(page, file, NULL), STATUS_OK);
    fclose(file);
    page_destroy(page);
    if (!well_formed(text, &xml))
        fail_msg("%s", xml.why);
    return text;
}

static char *print_chart(struct chart *chart)
{
    struct page *const page = new_page("A chart");
    page_chart(page, chart);
    return print(page);
}

static uint32_t occurrences(const char *text, const char *what)
{
    uint32_t count = 0;
    for (; (text = strstr(text, what)); text++)
        count++;
    return count;
}

static void the_checker_finds_what_is_not_well_formed(void **state)
{
    static const char *const wrong[] = {
        "<p>",         "<p></b>",     "<p><b></p></b>",  "<p a=1></p>", "<p>&nbsp;</p>",
        "<p>\x01</p>", "<p>\xff</p>", "<p a=\"<\"></p>", "<p/><p/>",    "<path d=\"Mnan 0\"/>",
        "<p"};
    struct xml xml;
    (void)state;
    assert_true(well_formed("<!DOCTYPE html>\n<p a=\"x &lt; y\">é &amp; <br/></p>\n", &xml));
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(well_formed(wrong[i], &xml));
}

static void a_page_has_its_facts_and_parts_in_order(void **state)
{
    struct page *const page = new_page("Runtimes");
    char *const arguments[] = {"tessera lab", "widths", "--report", "it's my report.html", ""};
    const struct sheet_column columns[] = {{.name = "codec", .text = true},
                                           {.key = "hidden", .group = "decode"},
                                           {.name = "time", .unit = "ms", .digits = 2, .group = "decode"},
                                           {.name = "sum", .unit = "ms", .digits = 2, .group = "decode"}};
    struct sheet *sheet;
    (void)state;
    page_fact(page, "Device", "CPU");
    page_command(page, 5, arguments);
    page_date(page);
    page_section(page, "Widths");
    page_text(page, "A paragraph.");
    assert_int_equal(sheet_create(columns, 4, &sheet, NULL), STATUS_OK);
    page_sheet(page, "A caption.", sheet);
    sheet_text(sheet, "plain"); /* the page has it already */
    sheet_number(sheet, 5);
    sheet_number(sheet, 1.234);
    sheet_missing(sheet, "not installed");
    sheet_text(sheet, "gpu-for");
    sheet_number(sheet, 5);
    sheet_number(sheet, 2);
    sheet_number(sheet, 3);
    page_section(page, "Another");
    page_code(page, "select 1\n  where 1 < 2");
    struct page *const more = new_page("More");
    page_section(more, "Last");
    page_chart(more, new_chart(&(struct chart_form){.title = "A chart"}));
    page_append(page, more);
    page_append(page, NULL);
    char *const text = print(page);
    static const char *const parts[] = {
        "<title>Runtimes</title>",
        "<dt>Device</dt><dd>CPU</dd>",
        "<code>tessera lab widths --report 'it'\\''s my report.html' ''</code>",
        "<dt>Date</dt><dd>20",
        "<h2>Widths</h2>",
        "<p>A paragraph.</p>",
        "<h3>A caption.</h3>",
        "<th colspan=\"2\" class=\"over group\">decode</th>",
        "<th scope=\"col\" class=\"group\">time <span class=\"unit\">ms</span></th>",
        "<td class=\"text\">plain</td><td class=\"group\" data-label=\"decode, time ms\">1.23</td>"
        "<td data-label=\"decode, sum ms\"><i>not installed</i></td>",
        "<h2>Another</h2>",
        "<pre><code><span class=\"line\" style=\"--in:2ch\">select 1\n</span>"
        "<span class=\"line\" style=\"--in:4ch\">  where 1 &lt; 2</span></code></pre>",
        "<h2>Last</h2>",
        "<figcaption>A chart</figcaption>"};
    const char *at = text;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (!(at = strstr(at, parts[i])))
            fail_msg("%s is missing, or out of order", parts[i]);
    assert_null(strstr(text, "hidden"));
    free(text);
}

static void a_page_needs_no_script_and_no_network(void **state)
{
    static const char *const forbidden[] = {"<script", "src=",   "href=", "url(",
                                            "@import", "https:", "onload"};
    char *const text = print(new_page("Nothing"));
    (void)state;
    for (size_t i = 0; i < COUNT(forbidden); i++)
        assert_null(strstr(text, forbidden[i]));
    assert_int_equal(occurrences(text, "http:"), 1); /* the name space of the root */
    free(text);
}

static void text_is_escaped_everywhere(void **state)
{
    static const char evil[] = "<b>\"&'\xff\x01\xc3\xa9\xed\xa0\x80";
    struct page *const page = new_page(evil);
    struct sheet *sheet;
    const char *const categories[] = {evil};
    struct chart *const chart = new_chart(&(struct chart_form){.title = evil,
                                                               .kind = CHART_POINTS,
                                                               .x = {.title = evil, .unit = evil},
                                                               .y = {.title = evil, .unit = evil},
                                                               .categories = categories,
                                                               .category_count = 1});
    const struct sheet_column column = {.name = evil, .unit = evil, .group = evil, .suffix = evil};
    (void)state;
    page_fact(page, evil, evil);
    page_section(page, evil);
    page_text(page, evil);
    page_code(page, evil);
    chart_series(chart, evil);
    chart_point(chart, (struct chart_point){.y = 1, .label = evil});
    chart_reference(chart, evil, 1, 0);
    page_chart(page, chart);
    assert_int_equal(sheet_create(&column, 1, &sheet, NULL), STATUS_OK);
    sheet_number(sheet, 1);
    sheet_text(sheet, evil);
    sheet_missing(sheet, evil);
    page_sheet(page, evil, sheet);
    char *const text = print(page);
    assert_null(strstr(text, "<b>"));
    assert_non_null(strstr(text, "<h1>&lt;b&gt;&quot;&amp;'\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd"));
    free(text);
}

/* Every kind, on every pair of scales, over numbers and categories, with these points. */
static void draw_all(const struct chart_point *points, uint32_t count)
{
    for (int i = 0; i < 3 * 3 * 3 * 2; i++) {
        struct chart *const chart =
            new_chart(&(struct chart_form){.kind = i % 3,
                                           .title = "All",
                                           .x = {.scale = i / 3 % 3, .title = "x"},
                                           .y = {.scale = i / 9 % 3, .title = "y"},
                                           .categories = i / 27 ? queries : NULL,
                                           .category_count = i / 27 ? (uint32_t)COUNT(queries) : 0});
        for (int s = 0; s < 2; s++) {
            chart_series(chart, "series");
            for (uint32_t p = 0; p < count; p++)
                chart_point(chart, points[p]);
        }
        chart_reference(chart, "level", count ? points[0].y : 1, 0);
        chart_reference(chart, "rising", 0, 2);
        chart_reference(chart, "falling", 5, -1e-3);
        free(print_chart(chart));
    }
}

static void charts_draw_any_numbers(void **state)
{
    static const double odd[] = {NAN,    INFINITY, -INFINITY, 0,      -1,     1,     1e308, -1e308,
                                 5e-324, 1e-300,   1e150,     -1e150, 1e-150, 123.4, 1e15,  2};
    struct chart_point points[COUNT(odd)];
    (void)state;
    draw_all(NULL, 0);
    for (size_t i = 0; i < COUNT(odd); i++) {
        points[i] = (struct chart_point){.x = odd[(i + 5) % COUNT(odd)],
                                         .y = odd[i],
                                         .low = odd[(i + 3) % COUNT(odd)],
                                         .high = odd[(i + 7) % COUNT(odd)],
                                         .label = "p"};
        draw_all(&points[i], 1);
    }
    draw_all(points, COUNT(odd));
    for (size_t i = 0; i < COUNT(odd); i++)
        points[i].x = (double)(i % 4);
    draw_all(points, COUNT(odd));
}

static void empty_charts_say_so(void **state)
{
    (void)state;
    struct chart *chart = new_chart(&(struct chart_form){.title = "Empty"});
    chart_point(chart, (struct chart_point){.x = 1, .y = 1}); /* of no series */
    char *text = print_chart(chart);
    assert_int_equal(occurrences(text, "no values"), 2); /* wide and narrow */
    free(text);
    chart = new_chart(&(struct chart_form){.title = "One"});
    chart_series(chart, "");
    chart_point(chart, (struct chart_point){.x = 1, .y = 1});
    text = print_chart(chart);
    assert_null(strstr(text, "no values"));
    free(text);
}

static void marks_bars_and_error_bars_are_drawn_once_in_each_drawing(void **state)
{
    (void)state;
    struct chart *chart =
        new_chart(&(struct chart_form){.kind = CHART_BARS, .categories = queries, .category_count = 3});
    chart_series(chart, "plain");
    chart_point(chart, (struct chart_point){.x = 0, .y = 4, .low = 3, .high = 5});
    chart_point(chart, (struct chart_point){.x = 1, .y = NAN});
    chart_point(chart, (struct chart_point){.x = 2, .y = 2});
    chart_point(chart, (struct chart_point){.x = 3, .y = 2}); /* there is no such category */
    char *text = print_chart(chart);
    assert_int_equal(occurrences(text, "class=\"bar\""), 2 * (2 + 1)); /* one in the legend */
    assert_int_equal(occurrences(text, "class=\"error\""), 2);
    assert_int_equal(occurrences(text, "<title>plain, q1.1: 4  (3 to 5)</title>"), 2);
    free(text);
    chart = new_chart(&(struct chart_form){.kind = CHART_LINES});
    for (int s = 0; s < 41; s++) {
        chart_series(chart, "s");
        for (int p = 0; p < 3; p++)
            chart_point(chart, (struct chart_point){.x = p, .y = p == 1 && s == 0 ? NAN : 1});
    }
    text = print_chart(chart);
    assert_int_equal(occurrences(text, "class=\"line\""), 2 * 41 * 2);
    assert_int_equal(occurrences(text, "class=\"mark"), 2 * (41 + 41 * 3 - 1));
    assert_int_equal(occurrences(text, "class=\"s39\""), 2 * 2);      /* its line and its legend */
    assert_int_equal(occurrences(text, "class=\"s0 dash1\""), 2 * 2); /* there are forty colours */
    free(text);
}

/* Bars that are too many for a drawing are in several, each with the legend's colours; the legend is in the first. */
static void many_bars_are_drawn_in_several_panels(void **state)
{
    const char *names[30];
    (void)state;
    for (int c = 0; c < 30; c++)
        names[c] = "q1.1";
    struct chart *const chart =
        new_chart(&(struct chart_form){.kind = CHART_BARS, .categories = names, .category_count = 30});
    for (int s = 0; s < 20; s++) {
        chart_series(chart, "codec");
        for (int c = 0; c < 30; c++)
            chart_point(chart, (struct chart_point){.x = c, .y = 1 + c});
    }
    char *const text = print_chart(chart);
    assert_int_equal(occurrences(text, "<svg "), 3 + 8); /* wide: of 14 categories, narrow: of 4 */
    assert_int_equal(occurrences(text, "class=\"bar\""), 2 * 20 * (30 + 1));
    assert_int_equal(occurrences(text, ">codec</text>"), 2 * 20);
    assert_null(strstr(text, "min-width"));
    free(text);
}

/* A sheet that is wider than a page is several tables with the first column, and groups are whole where they can be. */
static void wide_sheets_are_several_tables(void **state)
{
    struct sheet_column columns[31] = {{.name = "codec", .text = true}};
    struct page *const page = new_page("Wide");
    struct sheet *sheet;
    (void)state;
    for (int c = 1; c < 31; c++)
        columns[c] =
            (struct sheet_column){.name = "time", .unit = "ms", .group = (c - 1) / 3 % 2 ? "a" : "b"};
    assert_int_equal(sheet_create(columns, 31, &sheet, NULL), STATUS_OK);
    for (int c = 0; c < 2 * 31; c++) {
        if (c % 31 == 0)
            sheet_text(sheet, "plain");
        else
            sheet_number(sheet, 12345678);
    }
    page_sheet(page, NULL, sheet);
    char *const text = print(page);
    assert_in_range(occurrences(text, "<table>"), 3, 5);
    assert_int_equal(occurrences(text, ">plain</td>"), 2 * occurrences(text, "<table>"));
    assert_int_equal(occurrences(text, ">12345678</td>"), 2 * 30);
    assert_int_equal(occurrences(text, "<th colspan=\"3\""), 10);
    free(text);
}

/* Rows and columns of dashes are one sentence, with their reasons; a column without a heading has such, too. */
static void what_was_not_measured_is_a_sentence(void **state)
{
    const struct sheet_column columns[] = {{.name = "codec", .text = true},
                                           {.name = "time", .unit = "ms"},
                                           {.name = "sum", .group = "nvCOMP"},
                                           {.name = "", .text = true}};
    static const char *const reasons[] = {"", "not installed", "not installed", "no GPU"};
    struct page *const page = new_page("Dashes");
    struct sheet *sheet;
    (void)state;
    assert_int_equal(sheet_create(columns, 4, &sheet, NULL), STATUS_OK);
    for (int row = 0; row < 4; row++) {
        sheet_text(sheet, &"abcd"[row]);
        if (row)
            sheet_missing(sheet, NULL);
        else
            sheet_number(sheet, 1);
        sheet_missing(sheet, NULL);
        sheet_text(sheet, reasons[row]);
    }
    page_sheet(page, NULL, sheet);
    char *const text = print(page);
    assert_int_equal(occurrences(text, "<tr>"), 2); /* the names, and one row */
    assert_non_null(strstr(text, ">Not measured: bcd, cd (not installed), d (no GPU), nvCOMP: sum.</p>"));
    assert_null(strstr(text, "<i>"));
    free(text);
}

static void runs_become_a_median_and_its_quartiles(void **state)
{
    static const double runs[] = {9, 1, 5, 3, 100};
    struct chart *const chart = new_chart(&(struct chart_form){.title = "Runs"});
    (void)state;
    chart_series(chart, "s");
    chart_runs(chart, 1, runs, 5, "five");
    chart_runs(chart, 2, runs, 2, NULL);
    chart_runs(chart, 3, runs, 1, NULL);
    chart_runs(chart, 4, runs, 0, NULL);
    const struct chart_point *const points = chart->series[0].points;
    assert_true(points[0].y == 5 && points[0].low == 3 && points[0].high == 9);
    assert_string_equal(points[0].label, "five");
    assert_true(points[1].y == 5 && points[1].low == 3 && points[1].high == 7);
    assert_true(points[2].y == 9 && points[2].low == 9 && points[2].high == 9);
    assert_true(isnan(points[3].y));
    assert_true(runs[0] == 9); /* runs stay in their order */
    free(print_chart(chart));
}

static void labels_do_not_cover_each_other(void **state)
{
    struct chart *const chart = new_chart(&(struct chart_form){.kind = CHART_POINTS});
    (void)state;
    chart_series(chart, "s");
    for (int i = 0; i < 9; i++)
        chart_point(chart, (struct chart_point){.x = 5, .y = 5, .label = "same"}); /* one label has no room */
    chart_point(chart, (struct chart_point){.x = 10, .y = 10});
    chart_point(chart, (struct chart_point){.x = 0, .y = 0, .label = "corner"});
    char *const text = print_chart(chart);
    assert_in_range(occurrences(text, ">same</text>"), 2 * 4, 2 * 8);
    assert_int_equal(occurrences(text, ">corner</text>"), 2);
    free(text);
}

/* ---- The file ---- */

static char folder[PATH_BYTES]; /* an empty folder */

static int make_folder(void **state)
{
    (void)state;
    directory_make(folder);
    return mkdir(folder, 0777);
}

static int remove_folder(void **state)
{
    (void)state;
    directory_remove(folder);
    return 0;
}

static void file_path(const char *name, char path[PATH_BYTES + 64])
{
    snprintf(path, PATH_BYTES + 64, "%s/%s", folder, name);
}

static void write_fails(const char *to, const char *sentence)
{
    struct page *const page = new_page("A page");
    struct error error = {0};
    assert_int_not_equal(page_write(to, page, &error), STATUS_OK);
    if (!strstr(error.text, sentence) || !strstr(error.text, to))
        fail_msg("%s", error.text);
    page_destroy(page);
}

static void a_file_is_replaced_whole(void **state)
{
    struct stat stat_of;
    struct page *const page = new_page("A page");
    char file[PATH_BYTES + 64], partial[PATH_BYTES + 64], link[PATH_BYTES + 64];
    (void)state;
    file_path("report.html", file);
    file_path("report.html.partial", partial);
    file_path("link.html", link);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(page_check(file, NULL), STATUS_OK);
        assert_int_equal(page_write(file, page, NULL), STATUS_OK);
        assert_int_equal(truncate(file, i ? 0 : 1), 0);
    }
    assert_int_not_equal(stat(partial, &stat_of), 0);
    assert_int_equal(symlink("report.html", link), 0);
    assert_int_equal(page_write(link, page, NULL), STATUS_OK);
    assert_int_equal(lstat(link, &stat_of), 0);
    assert_true(S_ISLNK(stat_of.st_mode));
    assert_int_equal(stat(file, &stat_of), 0);
    assert_true(stat_of.st_size > 1000);
    page_destroy(page);
}

static void a_path_that_cannot_be_written_is_told_early(void **state)
{
    struct error error = {0};
    struct stat stat_of;
    char nowhere[PATH_BYTES + 64];
    (void)state;
    file_path("no/folder/report.html", nowhere);
    assert_int_equal(page_check(nowhere, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "No such file"));
    assert_non_null(strstr(error.text, nowhere));
    write_fails(nowhere, "No such file");
    assert_int_equal(page_check(folder, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "a folder"));
    write_fails("/dev/null", "no file");
    assert_int_equal(page_check("/dev/null", &error), STATUS_BAD_INPUT);
    assert_int_equal(stat("/dev/null", &stat_of), 0);
    assert_true(S_ISCHR(stat_of.st_mode));
    assert_int_equal(page_check("report.html", NULL), STATUS_OK); /* here */
    assert_int_equal(page_check("/report.html", NULL), access("/", W_OK) == 0 ? STATUS_OK : STATUS_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checker_finds_what_is_not_well_formed),
        cmocka_unit_test(a_page_has_its_facts_and_parts_in_order),
        cmocka_unit_test(a_page_needs_no_script_and_no_network),
        cmocka_unit_test(text_is_escaped_everywhere),
        cmocka_unit_test(charts_draw_any_numbers),
        cmocka_unit_test(empty_charts_say_so),
        cmocka_unit_test(marks_bars_and_error_bars_are_drawn_once_in_each_drawing),
        cmocka_unit_test(many_bars_are_drawn_in_several_panels),
        cmocka_unit_test(wide_sheets_are_several_tables),
        cmocka_unit_test(what_was_not_measured_is_a_sentence),
        cmocka_unit_test(runs_become_a_median_and_its_quartiles),
        cmocka_unit_test(labels_do_not_cover_each_other),
        cmocka_unit_test(a_file_is_replaced_whole),
        cmocka_unit_test(a_path_that_cannot_be_written_is_told_early),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
