/* test_report.c: medians, means and ratios are right, and each format prints them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/benchmark/report.h"
#include "tests/support/well_formed.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two queries, two choices, one column. The medians are 4 and 1 ms for plain, 2 and 2 ms for lane-for; SQLite
 * takes 400 and 30 ms. */
static double runs[4][3] = {{4, 9, 3.5}, {2, 1.5, 2.5}, {1, 1, 1}, {2, 2, 2}};
static struct report_cell cells[4];
static struct report_encoding encodings[2] = {{"plain", 4000}, {"lane-for", 1000}};
static struct report_column columns[1] = {{.name = "lo_revenue", .value_bytes = 4, .encodings = encodings}};
static struct report_query queries[2] = {{.name = "q1.1", .sqlite_ms = 400, .cells = &cells[0]},
                                         {.name = "q2.1", .sqlite_ms = 30, .cells = &cells[2]}};
static const char *const choices[] = {"plain", "lane-for"};
static struct report report = {.device = "CPU, 2 threads, \"avx512\"",
                               .why_cpu = "no driver",
                               .database = "ssb1.db",
                               .scale_factor = 0.5,
                               .judge = "SQLite 3",
                               .fact_rows = 1000,
                               .read_ceiling = 1e9,
                               .repeat = 3,
                               .warmup = 1,
                               .compared = true,
                               .choice_count = 2,
                               .choices = choices,
                               .query_count = 2,
                               .queries = queries,
                               .column_count = 1,
                               .columns = columns};

static int fill(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        cells[i] = (struct report_cell){.total = {.runs = runs[i]},
                                        .kernel = {.runs = runs[i]},
                                        .compile_ms = 7,
                                        .skip_ms = 0.25,
                                        .tiles = 9,
                                        .tiles_skipped = 2,
                                        .rows_skipped = 200,
                                        .filter = {.median = 0.5},
                                        .merge = {.median = 0},
                                        .fact_rows = 1000,
                                        .filter_rows = 31,
                                        .filter_bytes = 250,
                                        .merge_rows = 7,
                                        .merge_bytes = 84,
                                        .bytes_read = 123456,
                                        .answer_rows = 35,
                                        .hash = "0123456789abcdef",
                                        .check = ANSWER_OK};
        assert_int_equal(report_times_finish(&cells[i].total, 3, NULL), STATUS_OK);
        assert_int_equal(report_times_finish(&cells[i].kernel, 3, NULL), STATUS_OK);
        cells[i].text =
            (struct report_times){.median = i < 3 ? 5 : 0, .runs = runs[i]}; /* of the last it is not known */
    }
    cells[3].check = ANSWER_WRONG;
    return 0;
}

static char *print(report_writer *write, const struct report *what)
{
    char *text;
    size_t bytes;
    struct error error = {0};
    FILE *file = open_memstream(&text, &bytes);
    if (write(what, file, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    fclose(file);
    return text;
}

static void medians_of_odd_and_even_counts(void **state)
{
    (void)state;
    double values[] = {5, 1, 4, 2};
    struct report_times times = {.runs = values};
    const double medians[] = {5, 3, 4, 3};
    for (uint32_t count = 1; count <= 4; count++) {
        assert_int_equal(report_times_finish(&times, count, NULL), STATUS_OK);
        assert_true(times.median == medians[count - 1]);
        assert_true(times.min == (count == 1 ? 5 : 1));
        assert_true(values[0] == 5); /* runs stay in their order */
    }
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9 * fabs(b);
}

static void totals_are_sums_and_geometric_means(void **state)
{
    (void)state;
    struct report_totals plain, lane;
    report_totals(&report, 0, &plain);
    report_totals(&report, 1, &lane);
    assert_true(near(plain.total_ms, 5) && near(plain.mean_ms, 2) && near(plain.speed, 1));
    assert_true(near(lane.total_ms, 4) && near(lane.mean_ms, 2) && near(lane.speed, 1));
    assert_true(near(plain.mean_text_ms, 5) && lane.mean_text_ms == 0);
    assert_true(near(plain.least_sqlite, 30) && near(plain.mean_sqlite, sqrt(100.0 * 30.0)));
    assert_true(near(lane.least_sqlite, 15) && near(lane.mean_sqlite, sqrt(200.0 * 15.0)));
    assert_int_equal(lane.plain_bytes, 4000);
    assert_int_equal(lane.bytes, 1000);
    assert_true(near(report_bits(&report, &encodings[1]), 8));
    assert_true(near(report_ratio(&report, &columns[0], &encodings[1]), 4));
}

static void times_of_zero_do_not_spoil_the_means(void **state)
{
    (void)state;
    struct report_totals totals;
    double median = cells[2].total.median;
    cells[2].total.median = 0;
    report_totals(&report, 0, &totals);
    cells[2].total.median = median;
    assert_true(isfinite(totals.mean_ms) && totals.mean_ms > 0);
}

static void csv_has_a_line_for_each_query_and_choice(void **state)
{
    (void)state;
    char *text = print(report_csv, &report);
    assert_string_equal(
        text,
        "query,codec,device,rows,answer_rows,tiles,tiles_skipped,bytes_read,total_median_ms,total_min_ms,"
        "text_to_rows_median_ms,kernel_median_ms,kernel_min_ms,percent_of_ceiling,compile_ms,skip_ms,speed,"
        "sqlite_ms,result_hash,"
        "check\n"
        "q1.1,plain,\"CPU, 2 threads, \"\"avx512\"\"\",1000,35,9,2,123456,4,3.5,5,4,3.5,"
        "3.0864,7,0.25,1,400,0123456789abcdef,ok\n"
        "q1.1,lane-for,\"CPU, 2 threads, \"\"avx512\"\"\",1000,35,9,2,123456,2,1.5,5,2,1.5,"
        "6.1728,7,0.25,2,400,0123456789abcdef,ok\n"
        "q2.1,plain,\"CPU, 2 threads, \"\"avx512\"\"\",1000,35,9,2,123456,1,1,5,1,1,"
        "12.3456,7,0.25,1,30,0123456789abcdef,ok\n"
        "q2.1,lane-for,\"CPU, 2 threads, \"\"avx512\"\"\",1000,35,9,2,123456,2,2,,2,2,"
        "6.1728,7,0.25,0.5,30,0123456789abcdef,wrong\n"
        "\ncolumn,choice,codec,bytes,bits_per_value,ratio\n"
        "lo_revenue,plain,plain,4000,32,1\nlo_revenue,lane-for,lane-for,1000,8,4\n");
    free(text);
}

static void a_profile_has_a_line_for_each_step(void **state)
{
    (void)state;
    struct report profile = report;
    profile.profile = true;
    profile.compared = false;
    profile.query_count = 1;
    char *text = print(report_csv, &profile);
    const char *steps = strstr(text, "\n\n");
    assert_non_null(steps);
    assert_string_equal(steps, "\n\nquery,codec,step,rows,bytes,median_ms,gb_per_second,percent_of_ceiling\n"
                               "q1.1,plain,filter,31,250,0.5,0.0005,0.05\n"
                               "q1.1,plain,scan,800,123456,4,0.030864,3.0864\n"
                               "q1.1,plain,merge,7,84,0,84,8400\n" /* 0 ms is the clock's step */
                               "q1.1,lane-for,filter,31,250,0.5,0.0005,0.05\n"
                               "q1.1,lane-for,scan,800,123456,2,0.061728,6.1728\n"
                               "q1.1,lane-for,merge,7,84,0,84,8400\n");
    free(text);
    profile.on_gpu = true; /* there is no merge step */
    profile.choice_count = 1;
    text = print(report_table, &profile);
    assert_non_null(strstr(
        text, "query  codec  step    rows  read MB  time ms  rate GB/s  % of max  % of total  tiles "
              "skipped\n"
              "q1.1   plain  filter    31    0.000   0.5000       0.00       0.1        12.5\n"
              "q1.1   plain  scan     800    0.123   4.0000       0.03       3.1       100.0  2 of 9\n"));
    assert_null(strstr(text, "merge"));
    free(text);
    text = print(report_json, &profile);
    json_t *root = json_loads(text, 0, NULL);
    const json_t *list = json_object_get(json_array_get(json_object_get(root, "queries"), 0), "steps");
    assert_int_equal(json_array_size(list), 2);
    const json_t *scan = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(scan, "step")), "scan");
    assert_int_equal(json_integer_value(json_object_get(scan, "rows")), 800);
    assert_int_equal(json_integer_value(json_object_get(scan, "bytes")), 123456);
    assert_true(json_real_value(json_object_get(scan, "median_ms")) == 4);
    assert_true(near(json_real_value(json_object_get(scan, "gb_per_second")), 0.030864));
    assert_true(near(json_real_value(json_object_get(scan, "percent_of_ceiling")), 3.0864));
    json_decref(root);
    free(text);
}

static void json_has_the_fields_of_the_manual(void **state)
{
    (void)state;
    char *text = print(report_json, &report);
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    const json_t *list = json_object_get(root, "queries");
    assert_int_equal(json_array_size(list), 4);
    const json_t *last = json_array_get(list, 3), *times = json_object_get(last, "total_ms");
    assert_string_equal(json_string_value(json_object_get(last, "query")), "q2.1");
    assert_string_equal(json_string_value(json_object_get(last, "codec")), "lane-for");
    assert_string_equal(json_string_value(json_object_get(last, "check")), "wrong");
    assert_string_equal(json_string_value(json_object_get(last, "result_hash")), "0123456789abcdef");
    assert_int_equal(json_integer_value(json_object_get(last, "bytes_read")), 123456);
    assert_int_equal(json_integer_value(json_object_get(last, "rows")), 1000);
    assert_int_equal(json_array_size(json_object_get(times, "runs")), 3);
    assert_true(json_real_value(json_object_get(times, "median")) == 2);
    assert_true(json_real_value(json_object_get(times, "min")) == 2);
    assert_non_null(json_object_get(json_object_get(last, "kernel_ms"), "median"));
    assert_true(json_real_value(json_object_get(last, "compile_ms")) == 7);
    assert_true(json_real_value(json_object_get(last, "skip_ms")) == 0.25);
    assert_int_equal(json_integer_value(json_object_get(last, "tiles")), 9);
    assert_int_equal(json_integer_value(json_object_get(last, "tiles_skipped")), 2);
    assert_null(json_object_get(last, "steps"));
    assert_true(json_real_value(json_object_get(last, "sqlite_ms")) == 30);
    assert_string_equal(json_string_value(json_object_get(root, "why_cpu")), "no driver");
    assert_int_equal(json_array_size(json_object_get(root, "columns")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "totals")), 2);
    json_decref(root);
    free(text);
}

static void a_path_that_is_no_text_is_a_sentence_not_a_crash(void **state)
{
    (void)state;
    struct report strange = report;
    struct error error = {0};
    strange.database = "\xff\xfe";
    FILE *null = fopen("/dev/null", "w");
    assert_int_equal(report_json(&strange, null, &error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "UTF-8"));
    fclose(null);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    report_writer *const writers[] = {report_table, report_csv, report_json};
    for (int i = 0; i < 3; i++) {
        FILE *full = fopen("/dev/full", "w");
        setvbuf(full, NULL, _IONBF, 0);
        struct error error = {0};
        assert_int_equal(writers[i](&report, full, &error), STATUS_MACHINE);
        assert_non_null(strstr(error.text, "cannot write the report"));
        fclose(full);
    }
}

static void the_table_begins_with_the_device_and_names_wrong_answers(void **state)
{
    (void)state;
    char *text = print(report_table, &report);
    const char *const first = "Device:   CPU, 2 threads, \"avx512\" (no driver)\n";
    assert_int_equal(strncmp(text, first, strlen(first)), 0);
    assert_non_null(strstr(text, "  ok\n"));
    assert_non_null(strstr(text, "  wrong lane-for\n"));
    assert_non_null(strstr(text, "lineorder MB  row bits  ratio\n"));
    assert_non_null(strstr(text, "        0.00      8.00  4.00x\n"));
    assert_non_null(strstr(text, "On a CPU the ratios count"));
    free(text);
    cells[3].check = ANSWER_SKIPPED;
    text = print(report_table, &report);
    assert_non_null(strstr(text, "  ok, skipped lane-for\n"));
    cells[3].check = ANSWER_WRONG;
    free(text);
}

static void the_page_has_a_chart_and_a_table_for_each_question(void **state)
{
    char *const arguments[] = {"tessera ssb compare", "--db", "ssb1.db"};
    static const char *const parts[] = {"<dd>CPU, 2 threads, &quot;avx512&quot; (no driver)</dd>",
                                        "<dd>3 right, 1 wrong, 0 not checked</dd>",
                                        "<code>tessera ssb compare --db ssb1.db</code>",
                                        "<h2>Runtimes</h2>",
                                        "<title>plain, q1.1: 4 ms (3.75 to 6.5)</title>",
                                        "Speed of each query against plain",
                                        "wrong lane-for</td>",
                                        "<h2>Sizes</h2>",
                                        "<title>lane-for, lo_revenue: 8 bits a value</title>",
                                        "<h2>Roofline</h2>",
                                        "<title>plain, q1.1, 1.2346e+05 bytes: 4 ms (3.75 to 6.5)</title>",
                                        "read ceiling: 1.0 GB/s",
                                        "0123456789abcdef</td>"};
    struct page *page;
    char *text;
    size_t bytes;
    struct xml xml;
    (void)state;
    assert_int_equal(report_page(&report, 3, arguments, &page, NULL), STATUS_OK);
    FILE *const file = open_memstream(&text, &bytes);
    assert_int_equal(page_print(page, file, NULL), STATUS_OK);
    fclose(file);
    page_destroy(page);
    if (!well_formed(text, &xml))
        fail_msg("%s", xml.why);
    const char *at = text;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!(at = strstr(at, parts[i])))
            fail_msg("%s is missing, or out of order", parts[i]);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_of_odd_and_even_counts),
        cmocka_unit_test(totals_are_sums_and_geometric_means),
        cmocka_unit_test(times_of_zero_do_not_spoil_the_means),
        cmocka_unit_test(csv_has_a_line_for_each_query_and_choice),
        cmocka_unit_test(a_profile_has_a_line_for_each_step),
        cmocka_unit_test(json_has_the_fields_of_the_manual),
        cmocka_unit_test(a_path_that_is_no_text_is_a_sentence_not_a_crash),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(the_page_has_a_chart_and_a_table_for_each_question),
        cmocka_unit_test(the_table_begins_with_the_device_and_names_wrong_answers),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
