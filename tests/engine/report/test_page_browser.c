/*
 * test_page_browser.c: pages as a browser shows them, at 400, 1200 and 2400 pixels: nothing is cut or outside, no text of a
 * chart stands on another, every series has its own colour, texts are dark, no row is only dashes, and the console has no
 * message (page_checks.js). The pages are those of `sql`, `ssb` and `lab`, and one of extremes. Skipped where there is no
 * Chromium, with that reason.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/report/page.h"
#include "tests/support/database_cases.h"
#include "tests/support/not_run.h"
#include "tests/support/run_program.h"

#include <math.h>

static const unsigned widths[] = {400, 1200, 2400};
#define WIDTHS (sizeof widths / sizeof *widths)

static char database[PATH_BYTES], folder[PATH_BYTES];
static struct program_run run;

static int make_folder(void **state)
{
    (void)state;
    directory_make(database);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(database) - strlen("/db")), database);
    setenv("D", folder, 1);
    run_shell("$T ssb load --sf 0.01 --db $D/db", &run);
    return run.exit_code;
}

static int remove_folder(void **state)
{
    (void)state;
    directory_remove(database);
    return 0;
}

static bool has_browser(void)
{
    run_shell(
        "for name in chromium chromium-browser google-chrome; do command -v $name && exit; done; exit 1",
        &run);
    if (run.exit_code != 0) {
        print_message("skipped: there is no Chromium (Debian's package chromium)\n");
        return false;
    }
    run.output[strcspn(run.output, "\n")] = '\0';
    setenv("BROWSER", run.output, 1);
    run_shell("case $(readlink -f \"$BROWSER\") in */snap*) exit 1 ;; esac", &run);
    if (run.exit_code != 0)
        print_message("skipped: a Chromium that is a snap cannot read the test's files\n");
    return run.exit_code == 0;
}

/* Shows the pages of the folder, given by their names, and looks at them. */
static void look_at(const char *const *names, size_t count)
{
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/all.html", folder);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "<!DOCTYPE html>\n<meta charset=\"utf-8\"><pre id=\"findings\"></pre>\n"
            "<script src=\"file://%s/tests/engine/report/page_checks.js\"></script>\n",
            TESSERA_SOURCE);
    for (size_t p = 0; p < count; p++)
        for (size_t w = 0; w < WIDTHS; w++)
            fprintf(file, "<iframe src=\"%s\" width=\"%u\" height=\"900\"></iframe>\n", names[p], widths[w]);
    fclose(file);
    run_shell(
        "HOME=$D timeout 300 \"$BROWSER\" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--allow-file-access-from-files "
        "--user-data-dir=$D/profile --enable-logging=stderr --dump-dom file://$D/all.html",
        &run);
    const char *const findings = strstr(run.output, "id=\"findings\">");
    char done[64];
    snprintf(done, sizeof done, "done %zu</pre>", count * WIDTHS);
    if (run.exit_code != 0 || !findings ||
        strncmp(findings + strlen("id=\"findings\">"), done, strlen(done)) != 0)
        fail_msg("exit code %d\n%.4000s\n%.2000s", run.exit_code, findings ? findings : run.output,
                 run.errors);
    if (strstr(run.errors, "CONSOLE"))
        fail_msg("%.2000s", strstr(run.errors, "CONSOLE"));
}

static void make(const char *command)
{
    run_shell(command, &run);
    if (run.exit_code != 0)
        fail_msg("%s: exit code %d\n%s", command, run.exit_code, run.errors);
}

static void pages_of_the_program_are_whole(void **state)
{
    static const char *const names[] = {"sql.html", "run.html", "compare.html", "lab.html"};
    (void)state;
    if (!has_browser())
        not_run("no browser (Debian: chromium) is installed");
    make("$T sql --db $D/db --report $D/sql.html \"explain analyze select c_city, s_city, d_year, "
         "sum(lo_revenue) as "
         "revenue from lineorder join customer on lo_custkey = c_custkey join supplier on lo_suppkey = "
         "s_suppkey join "
         "date on lo_orderdate = d_datekey where c_nation = 'UNITED STATES' and s_region in ('AMERICA', "
         "'ASIA') and "
         "d_year between 1992 and 1997 and lo_discount between 1 and 9 and lo_tax * lo_quantity > 7 and "
         "lo_quantity < 45 "
         "group by c_city, s_city, d_year order by d_year, revenue desc limit 10; "
         "explain analyze select count(*) from lineorder\"");
    make("$T ssb run --db $D/db --device cpu --repeat 2 --report $D/run.html");
    make("$T ssb compare --db $D/db --device cpu --repeat 2 --report $D/compare.html --codecs "
         "plain,nsf,gpu-for,gpu-dfor,gpu-rfor,lane-for,lane-delta,rank-rle,lane-slice,nsv,gpu-bp128,lane-"
         "pfor,auto");
    make("$T lab widths byte-streams posting-lists --device cpu --scale 0.0002 --repeat 1 --report "
         "$D/lab.html");
    look_at(names, sizeof names / sizeof *names);
}

/* ---- Extremes ---- */

static const char long_word[] =
    "lo_custkey=lane-levels,lo_partkey=lane-levels,lo_suppkey=lane-levels,lo_orderdate=plain,"
    "lo_orderkey=a_codec_of_a_very_long_name_indeed";

static struct chart *new_chart(struct page *page, const struct chart_form *form)
{
    struct chart *chart;
    assert_int_equal(chart_create(form, &chart, NULL), STATUS_OK);
    page_chart(page, chart);
    return chart;
}

/* As many series and categories as reports have, and more. */
static void add_bars(struct page *page, uint32_t series, uint32_t categories)
{
    static const char *names[200];
    char text[200][48];
    for (uint32_t c = 0; c < categories; c++) {
        snprintf(text[c], sizeof *text, "semi-join of a long name %u", (unsigned)c);
        names[c] = text[c];
    }
    struct chart *const chart = new_chart(page, &(struct chart_form){.kind = CHART_BARS,
                                                                     .title = "Bars",
                                                                     .x = {.title = "step"},
                                                                     .y = {.title = "time", .unit = "ms"},
                                                                     .categories = names,
                                                                     .category_count = categories});
    for (uint32_t s = 0; s < series; s++) {
        chart_series(chart, s ? "a codec" : long_word);
        for (uint32_t c = 0; c < categories; c++)
            chart_point(chart, (struct chart_point){.x = c, .y = 1 + (s * 7 + c) % 13, .label = "bar"});
    }
    chart_reference(chart, "a ceiling that no bar reaches", 14, 0);
}

/* Points that crowd along the roof, each with a name, and several roofs with theirs. */
static void add_roofs(struct page *page, enum chart_scale scale, unsigned seed)
{
    static const double slopes[] = {1e-7, 1.2e-7, 5e-7};
    struct chart *const chart = new_chart(page, &(struct chart_form){.kind = CHART_POINTS,
                                                                     .title = long_word,
                                                                     .x = {"read", "bytes", scale, 0, 0},
                                                                     .y = {long_word, "ms", scale, 0, 0}});
    for (unsigned s = 0; s < 3; s++) {
        chart_series(chart, s ? "steps" : "whole scan");
        for (unsigned p = 0; p < 6; p++) {
            const double x = 1e4 * pow(1.7, (seed * 5 + p * 3 + s) % 11);
            chart_point(chart,
                        (struct chart_point){.x = x,
                                             .y = x * slopes[(p + s) % 3] * (1 + 0.04 * (seed % 5)),
                                             .label = p % 2 ? "semi-join customer" : "range lo_quantity"});
        }
    }
    for (unsigned r = 0; r < 3; r++)
        chart_reference(chart, r == 2 ? "link to the GPU: 2.0 GB/s" : "read ceiling: 20.2 GB/s", 0,
                        slopes[r]);
    chart_reference(chart, "the least that a launch takes", 2e-3, 0);
}

static void add_lines(struct page *page)
{
    char name[64];
    struct chart *const chart =
        new_chart(page, &(struct chart_form){.kind = CHART_LINES,
                                             .title = "Lines",
                                             .x = {"width", "bits", CHART_LOG2, 0, 0},
                                             .y = {"rate", "GB/s", CHART_LOG10, 0, 0}});
    for (uint32_t s = 0; s < 40; s++) {
        snprintf(name, sizeof name, "Delta+FOR+BitPack %u", (unsigned)s);
        chart_series(chart, name);
        for (uint32_t p = 1; p < 40; p++)
            chart_point(chart, (struct chart_point){.x = p * 1e5, .y = pow(2, s % 9) * p});
    }
}

static void add_sheet(struct page *page, uint32_t columns, bool texts)
{
    struct sheet_column made[64];
    struct sheet *sheet;
    for (uint32_t c = 0; c < columns; c++)
        made[c] = (struct sheet_column){.name = c % 5 ? "time" : "geometric mean of all",
                                        .unit = "ms",
                                        .digits = 3,
                                        .text = c == 0 || (texts && c % 3 == 0),
                                        .group = c == 0      ? NULL
                                                 : c / 4 % 2 ? "decode to memory"
                                                             : long_word};
    assert_int_equal(sheet_create(made, columns, &sheet, NULL), STATUS_OK);
    for (uint32_t row = 0; row < 6; row++)
        for (uint32_t c = 0; c < columns; c++) {
            if (c == 0)
                sheet_text(sheet, row == 1 ? long_word : "gpu-for");
            else if (row % 3 == 2 || c == 2)
                sheet_missing(sheet, row == 2 ? "not installed" : NULL);
            else if (made[c].text)
                sheet_text(
                    sheet,
                    "lo_suppkey -> supplier where (supplier.s_nation = 'UNITED STATES') (2 of 20 rows)");
            else
                sheet_number(sheet, 1234567.891 * row);
        }
    page_sheet(page, "A sheet.", sheet);
}

static void nothing_is_cut_of_extremes(void **state)
{
    static const char *const names[] = {"extremes.html"};
    char path[PATH_BYTES + 32];
    struct page *page;
    (void)state;
    if (!has_browser())
        not_run("no browser (Debian: chromium) is installed");
    assert_int_equal(page_create(long_word, &page, NULL), STATUS_OK);
    page_fact(page, "Command", long_word);
    page_section(page, long_word);
    page_text(page, long_word);
    page_code(page,
              "select 1\n├─  semi-join  lo_custkey -> customer where (customer.c_nation = 'UNITED STATES') "
              "(2 of 300 "
              "rows), levels c_region, c_nation: 3 of 11 bits, 0.02276 MB, expected to keep 0.667 %\n\n  ");
    page_code(page, long_word);
    for (uint32_t i = 0; i < 10; i++)
        add_roofs(page, i % 2 ? CHART_LOG10 : CHART_LINEAR, i);
    for (uint32_t series = 1; series < 41; series += 13)
        for (uint32_t categories = 1; categories < 60; categories += 19)
            add_bars(page, series, categories);
    add_lines(page);
    for (uint32_t columns = 1; columns < 64; columns += 9)
        add_sheet(page, columns, columns % 2 == 0);
    snprintf(path, sizeof path, "%s/extremes.html", folder);
    assert_int_equal(page_write(path, page, NULL), STATUS_OK);
    page_destroy(page);
    look_at(names, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_of_the_program_are_whole),
                                       cmocka_unit_test(nothing_is_cut_of_extremes)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
