/*
 * test_pattern.c: distances of time series to a pattern (lab/bench/pattern.h): known answers, every codec on a
 * processor, on all threads and on one, and that a wrong answer is refused; the time series that the experiment makes.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/bench/pattern.h"
#include "lab/bench/transfer.h"

#include <stdlib.h>
#include <string.h>

#define SERIES 1200u /* more than a chunk's 1024 */

static struct lab lab = {.threads = 2, .repeat = 2, .scale = 1};
static struct error error;

/* Row i of the pattern is 3i. Series s differs from it at its first s % 1000 + 5 rows, but series 777 at rows 3 and 1000
 * alone: it is the one that is most like the pattern. */
static int32_t values_wanted[TILE_ROWS];

static int setup(void **state)
{
    struct dataset *const dataset = calloc(1, sizeof *dataset);
    int32_t *const values = malloc((size_t)SERIES * TILE_ROWS * sizeof *values);
    assert_true(dataset && values);
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        values_wanted[row] = 3 * (int32_t)row;
    for (uint32_t s = 0; s < SERIES; s++)
        for (uint32_t row = 0; row < TILE_ROWS; row++) {
            const bool differs = s == 777 ? row == 3 || row == 1000 : row < s % 1000 + 5;
            values[s * TILE_ROWS + row] = values_wanted[row] + differs;
        }
    *state = dataset;
    return dataset_adopt(&lab, values, (uint64_t)SERIES * TILE_ROWS, dataset, &error) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    dataset_free(&lab, *state);
    free(*state);
    return 0;
}

static void distances_are_known(void **state)
{
    struct pattern pattern;
    assert_int_equal(pattern_open(&lab, *state, values_wanted, &pattern, &error), STATUS_OK);
    assert_int_equal(pattern.series, SERIES);
    for (uint32_t s = 0; s < SERIES; s++)
        assert_int_equal(pattern.expected[s], s == 777 ? 2 : s % 1000 + 5);
    assert_true(pattern.best == (UINT64_C(2) << 32 | 777));
    pattern_close(&pattern);
}

static enum status measure(struct pattern *pattern, const struct codec *codec, const struct dataset *dataset)
{
    static const enum pattern_way ways[] = {PATTERN_CPU, PATTERN_CPU_THREAD};
    struct encoded encoded;
    enum status status = encoded_make(&lab, codec, dataset, &encoded, &error);
    for (uint32_t w = 0; status == STATUS_OK && w < sizeof ways / sizeof *ways; w++) {
        struct speed speed = {0};
        assert_int_not_equal(encoded.chunk_count, 0);
        memset(pattern->found, 0xff, pattern->series * sizeof *pattern->found);
        status = pattern_measure(pattern, &encoded, ways[w], &speed, &error);
        assert_true(status != STATUS_OK || (speed.least > 0 && speed.median >= speed.least));
    }
    encoded_free(&encoded);
    return status;
}

static void every_codec_gives_them(void **state)
{
    struct pattern pattern;
    assert_int_equal(pattern_open(&lab, *state, values_wanted, &pattern, &error), STATUS_OK);
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        if (measure(&pattern, codec_by_id(id), *state) != STATUS_OK)
            fail_msg("%s: %s", codec_by_id(id)->name, error.text);
    pattern_close(&pattern);
}

static void wrong_answers_are_refused(void **state)
{
    struct pattern pattern;
    assert_int_equal(pattern_open(&lab, *state, values_wanted, &pattern, &error), STATUS_OK);
    pattern.expected[1100]++;
    assert_int_equal(measure(&pattern, codec_baseline(), *state), STATUS_CHECK_FAILED);
    assert_non_null(
        strstr(error.text, "time series 1100 differs from the pattern at 106 positions, not at 105"));
    pattern.expected[1100]--;
    assert_int_equal(measure(&pattern, codec_baseline(), *state), STATUS_OK);
    pattern.best--;
    assert_int_equal(measure(&pattern, codec_baseline(), *state), STATUS_CHECK_FAILED);
    assert_non_null(strstr(error.text, "is 776, not 777"));
    pattern_close(&pattern);
}

static void series_are_whole(void **state)
{
    struct dataset part = *(struct dataset *)*state;
    struct pattern pattern;
    part.rows = TILE_ROWS + 1;
    assert_int_equal(pattern_open(&lab, &part, values_wanted, &pattern, &error), STATUS_BAD_INPUT);
    pattern_close(&pattern);
}

/* Successive differences are small, but for two at each of 5 % outliers; some series begin as the pattern does. */
static void series_are_walks_with_outliers(void **state)
{
    struct series_parameters series = {.step_bits = 6, .outlier_bits = 20};
    struct dataset dataset;
    struct pattern pattern;
    uint64_t large = 0;
    (void)state;
    series_pattern(&series);
    for (uint32_t row = 0; row < SERIES_ROWS; row++) {
        assert_in_range(series.pattern[row], 0, (8 << 6) - 1);
        assert_true(row == 0 || abs(series.pattern[row] - series.pattern[row - 1]) < 1 << 5);
    }
    assert_int_equal(
        dataset_make(&lab, "series", SERIES * SERIES_ROWS, fill_series, &series, &dataset, &error),
        STATUS_OK);
    for (uint64_t row = 0; row < dataset.rows; row++)
        large += dataset.values[row] < 0 || dataset.values[row] >= 8 << 6;
    assert_in_range(large * 1000 / dataset.rows, 48, 51);
    assert_int_equal(pattern_open(&lab, &dataset, series.pattern, &pattern, &error), STATUS_OK);
    assert_in_range(pattern.best >> 32, 10, 200);
    assert_int_equal(measure(&pattern, codec_baseline(), &dataset), STATUS_OK);
    pattern_close(&pattern);
    dataset_free(&lab, &dataset);
}

static void bytes_come_back_from_a_file(void **state)
{
    struct encoded encoded;
    struct transfer transfer;
    assert_int_equal(encoded_make(&lab, codec_baseline(), *state, &encoded, &error), STATUS_OK);
    assert_int_equal(transfer_measure(&lab, &encoded, &transfer, &error), STATUS_OK);
    assert_true(transfer.file.least > 0 && transfer.device.median == 0);
    encoded_free(&encoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_known),
        cmocka_unit_test(every_codec_gives_them),
        cmocka_unit_test(wrong_answers_are_refused),
        cmocka_unit_test(series_are_whole),
        cmocka_unit_test(series_are_walks_with_outliers),
        cmocka_unit_test(bytes_come_back_from_a_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
