/*
 * test_series.c: the time series of `tessera lab series-sizes` (lab/series/series_kinds.h): their models, their text;
 * gzip and bzip2 (lab/series/series_tools.h) at odd sizes; and the figures of the paper's table 1 that stand beside ours
 * (lab/experiments/pattern_record.h).
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/experiments/pattern_record.h"
#include "lab/series/series_kinds.h"
#include "lab/series/series_tools.h"
#include "tests/support/lab_tables.h"

#include <stdlib.h>
#include <string.h>

#define ROWS ((1u << 20) + 777) /* more than a block of a dataset */

static struct lab lab = {.threads = 3, .repeat = 1, .scale = 1};
static struct error error;

static void make(const struct series_kind *kind, unsigned threads, uint64_t rows, struct dataset *dataset)
{
    lab.threads = threads;
    assert_int_equal(dataset_make(&lab, "series", rows, kind->fill, kind->parameters, dataset, &error),
                     STATUS_OK);
}

static const struct series_kind *kind_named(const char *name)
{
    const struct series_kind *kind = series_kinds;
    while (strcmp(kind->name, name) != 0)
        kind++;
    return kind;
}

/* ---- The kinds ---- */

static void kinds_are_the_papers(void **state)
{
    static const char *const names[SERIES_KINDS] = {"TR1", "TR2", "IN1", "IN2", "TS1", "TS2", "PH1", "PH2"};
    (void)state;
    for (uint32_t k = 0; k < SERIES_KINDS; k++)
        assert_string_equal(series_kinds[k].name, names[k]);
}

static void values_are_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < SERIES_KINDS; k++) {
        struct dataset one, three, other;
        make(&series_kinds[k], 1, ROWS, &one);
        make(&series_kinds[k], 3, ROWS, &three);
        make(&series_kinds[(k + 1) % SERIES_KINDS], 3, ROWS, &other);
        assert_memory_equal(one.values, three.values, ROWS * sizeof *one.values);
        assert_memory_not_equal(one.values, other.values, ROWS * sizeof *one.values);
        dataset_free(&lab, &one);
        dataset_free(&lab, &three);
        dataset_free(&lab, &other);
    }
}

/* The rows whose value differs from both neighbours' mean by more than `limit`, in thousandths. */
static uint64_t outlying(const struct dataset *dataset, int32_t limit)
{
    uint64_t count = 0;
    for (uint64_t row = 1; row + 1 < dataset->rows; row++) {
        const int32_t *const v = dataset->values + row;
        count += abs(v[0] - (v[-1] + v[1]) / 2) > limit;
    }
    return count * 1000 / dataset->rows;
}

/* An outlier is uniform within eight times a height of 400 to 1200 on either side: 4.8 % to 4.9 % differ by more than 100;
 * a neighbour of one differs by half as much. */
static void light_curves_have_outliers(void **state)
{
    struct dataset dataset;
    (void)state;
    make(kind_named("TR1"), 3, ROWS, &dataset);
    assert_in_range(outlying(&dataset, 100), 120, 150);
    dataset_free(&lab, &dataset);
}

static void quotations_are_positive_and_stay_near(void **state)
{
    static const struct {
        const char *name;
        int32_t start;
    } quotes[] = {{"IN1", 80000}, {"IN2", 130000}, {"TS1", 1500}};
    (void)state;
    for (uint32_t q = 0; q < 3; q++) {
        struct dataset dataset;
        uint64_t unchanged = 0;
        make(kind_named(quotes[q].name), 3, ROWS, &dataset);
        for (uint64_t row = 0; row < dataset.rows; row++) {
            assert_in_range(dataset.values[row], quotes[q].start / 4, quotes[q].start * 4);
            unchanged += row > 0 && dataset.values[row] == dataset.values[row - 1];
        }
        assert_in_range(unchanged * 1000 / dataset.rows, 5, 250);
        dataset_free(&lab, &dataset);
    }
}

static void counts_have_a_mean(void **state)
{
    struct dataset dataset;
    int64_t sum = 0;
    (void)state;
    make(kind_named("TS2"), 3, ROWS, &dataset);
    for (uint64_t row = 0; row < dataset.rows; row++) {
        assert_true(dataset.values[row] >= 0);
        sum += dataset.values[row];
    }
    assert_in_range(sum / (int64_t)dataset.rows, 300, 330); /* the level and the rain */
    dataset_free(&lab, &dataset);
}

/* 75 beats a minute, whose R waves are the only ones above 0.8 mV. */
static void hearts_beat(void **state)
{
    const uint32_t minutes = 40, high = 160; /* of 200 steps a mV */
    struct dataset dataset;
    uint32_t beats = 0, last = 0;
    (void)state;
    make(kind_named("PH1"), 3, minutes * 60 * 360, &dataset);
    for (uint32_t row = 0; row < dataset.rows; row++)
        if (dataset.values[row] > (int32_t)high && (last == 0 || row - last > 100)) {
            beats++;
            last = row;
        }
    assert_in_range(beats / minutes, 73, 77);
    dataset_free(&lab, &dataset);
}

/* ---- Text ---- */

static void assert_text(uint32_t decimals, const char *wanted)
{
    int32_t values[] = {12345, -7, 0, INT32_MIN, INT32_MAX};
    const struct dataset dataset = {.values = values, .rows = sizeof values / sizeof *values};
    char *text;
    uint64_t bytes;
    assert_int_equal(series_text(&dataset, decimals, &text, &bytes, &error), STATUS_OK);
    assert_int_equal(bytes, strlen(wanted));
    assert_memory_equal(text, wanted, bytes);
    assert_true(bytes <= dataset.rows * SERIES_LINE_BYTES);
    free(text);
}

static void text_has_a_value_a_line(void **state)
{
    (void)state;
    assert_text(0, "12345\n-7\n0\n-2147483648\n2147483647\n");
    assert_text(3, "12.345\n-0.007\n0.000\n-2147483.648\n2147483.647\n");
    assert_text(5, "0.12345\n-0.00007\n0.00000\n-21474.83648\n21474.83647\n");
}

/* ---- gzip and bzip2 ---- */

/* Each measurement compares what comes back. */
static void tools_give_all_bytes_back(void **state)
{
    static const uint32_t sizes[] = {1, 7, 1023, 65537, 1000003};
    uint8_t *const bytes = malloc(1000003);
    uint64_t random = 5;
    (void)state;
    assert_non_null(bytes);
    for (uint32_t i = 0; i < 1000003; i++)
        bytes[i] = (uint8_t)random_next(&random);
    for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (enum series_tool tool = 0; tool < SERIES_TOOLS; tool++) {
            struct series_tool_result result;
            if (series_tool_measure(&lab, tool, bytes, sizes[s], &result, &error) != STATUS_OK)
                fail_msg("%u bytes: %s", sizes[s], error.text);
            /* random bytes cannot be compressed; a file has a header and an end */
            assert_in_range(result.bytes, sizes[s] + 18, sizes[s] + sizes[s] / 100 + 600);
            assert_true(result.restore.least > 0 && result.restore.least <= result.restore.median);
        }
    memset(bytes, 'a', 1000003);
    for (enum series_tool tool = 0; tool < SERIES_TOOLS; tool++) {
        struct series_tool_result result;
        assert_int_equal(series_tool_measure(&lab, tool, bytes, 1000003, &result, &error), STATUS_OK);
        assert_in_range(result.bytes, 20, 1100);
    }
    free(bytes);
}

/* ---- The paper's figures ---- */

/* The sums that table 1 prints, in ms; its parts are rounded. */
static void table_1_sums_up(void **state)
{
    static const struct {
        uint32_t scheme;
        double level;
        enum pattern_way way;
        double sum;
    } rows[] = {
        {0, 1, PATTERN_CPU_THREAD, 69705}, {0, 1, PATTERN_FUSED, 67922},      {1, 2, PATTERN_FUSED, 33821},
        {1, 2, PATTERN_STAGED, 34208},     {1, 2, PATTERN_CPU_THREAD, 41640}, {1, 4, PATTERN_FUSED, 16966},
        {1, 4, PATTERN_STAGED, 17318},     {1, 4, PATTERN_CPU_THREAD, 24213}, {1, 6, PATTERN_FUSED, 11369},
        {1, 6, PATTERN_STAGED, 11701},     {1, 6, PATTERN_CPU_THREAD, 18307},
    };
    (void)state;
    for (uint32_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const struct pattern_record record = {.scheme = &pattern_schemes[rows[r].scheme],
                                              .level = rows[r].level};
        const struct pattern_paper *const paper = pattern_paper(&record, rows[r].way);
        assert_non_null(paper);
        assert_float_equal(paper->io + paper->memory + paper->computation, rows[r].sum, 3);
        assert_null(pattern_paper(&record, PATTERN_CPU));
    }
    assert_null(
        pattern_paper(&(struct pattern_record){.scheme = &pattern_schemes[2], .level = 2}, PATTERN_FUSED));
}

/* ---- The experiment ---- */

/* Sizes depend on no clock: the paper's claims of figure 1 that hold for these series. */
static void lightweight_methods_compress_as_in_the_paper(void **state)
{
    json_t *tables, *row;
    json_t *const result = lab_tables("series-sizes --scale 0.0002 --repeat 1", &tables);
    json_t *const rows = lab_rows_of(tables, "ratio of 65536 values");
    size_t r;
    (void)state;
    assert_int_equal(json_array_size(rows), SERIES_KINDS);
    json_array_foreach(rows, r, row)
    {
        const double light = lab_number(row, "light_ratio");
        assert_true(light > 2 && light < 7);
        assert_true(light >= lab_number(row, "pfor_ratio") && light >= lab_number(row, "pfor_diff_ratio"));
        assert_true(lab_number(row, "bzip2_to_gzip") > 1 && lab_number(row, "bzip2_to_gzip_text") > 1);
        assert_float_equal(lab_number(row, "light_to_gzip") * lab_number(row, "gzip_ratio"), light, 1e-6);
    }
    json_decref(result);
}

/* Nine sizes, and one thread beside all: without compression once a size, two codecs at three levels. */
static void speedups_have_the_papers_sizes(void **state)
{
    json_t *tables;
    json_t *const result = lab_tables("pattern --scale 0.0002 --repeat 1 --threads 2", &tables);
    json_t *const rows = lab_rows_of(tables, "speed-up");
    const size_t of_size = 2 * (1 + 2 * PATTERN_LEVELS);
    (void)state;
    assert_int_equal(json_array_size(rows), 9 * of_size);
    assert_float_equal(lab_number(json_array_get(rows, 0), "paper_megabytes"), 2, 0);
    assert_float_equal(lab_number(json_array_get(rows, 9 * of_size - 1), "paper_megabytes"), 1024, 0);
    /* at the greatest size, level 6, one thread: 69.705 s / 18.307 s */
    json_t *const thread = json_array_get(rows, 8 * of_size + 11);
    assert_string_equal(json_string_value(json_object_get(thread, "way")), "CPU, one thread");
    assert_string_equal(json_string_value(json_object_get(thread, "codec")), "pfor-diff");
    assert_float_equal(lab_number(thread, "paper_speedup"), 69.705 / 18.307, 0.01);
    assert_float_equal(lab_number(thread, "paper_io_speedup"), 67.295 / 11.345, 0.01);
    json_decref(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_the_papers),
        cmocka_unit_test(values_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(light_curves_have_outliers),
        cmocka_unit_test(quotations_are_positive_and_stay_near),
        cmocka_unit_test(counts_have_a_mean),
        cmocka_unit_test(hearts_beat),
        cmocka_unit_test(text_has_a_value_a_line),
        cmocka_unit_test(tools_give_all_bytes_back),
        cmocka_unit_test(table_1_sums_up),
        cmocka_unit_test(lightweight_methods_compress_as_in_the_paper),
        cmocka_unit_test(speedups_have_the_papers_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
