/*
 * test_sketch.c: sketches (operators/group/sketch.h, engine/aggregate/sketch.c) against exact answers: the error bounds
 * that docs/sql.md states, on random and skewed values, from no value to a million; and that the same rows have the same
 * answer in any order, codec, number of threads, and in a window.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/aggregate/measure.h"
#include "operators/group/sketch.h"
#include "storage/base/double_key.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/load_program.h"

#include <math.h>
#include <stdlib.h>

static int64_t any_value(void)
{
    const uint64_t value = (uint64_t)below(UINT32_MAX) << 32 | below(UINT32_MAX);
    return (int64_t)(value >> below(64)) * (chance(50) ? 1 : -1);
}

/* ---- Buckets ---- */

static void check_bucket(int64_t value)
{
    const int64_t bucket = sketch_bucket(value), middle = sketch_middle(bucket);
    const double most = fabs((double)value) / 512;
    assert_int_equal(sketch_bucket(middle), bucket);
    assert_true(fabs((double)value - (double)middle) <= most);
    if (value > -512 && value < 512)
        assert_int_equal(middle, value);
    if (value > INT64_MIN)
        assert_int_equal(sketch_bucket(-value), -bucket);
    if (value < INT64_MAX)
        assert_in_range(sketch_bucket(value + 1) - bucket, 0, 1);
}

static void buckets_are_narrow(void **state)
{
    (void)state;
    for (int64_t value = -5000; value <= 5000; value++)
        check_bucket(value);
    for (uint32_t bits = 1; bits < 63; bits++)
        for (int64_t near = -2; near <= 2; near++)
            check_bucket((INT64_C(1) << bits) + near);
    check_bucket(INT64_MAX);
    check_bucket(INT64_MIN);
    for (uint32_t i = 0; i < 1000000; i++)
        check_bucket(any_value());
}

/* ---- Lists ---- */

static int compare_values(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t estimate(enum measure_kind kind, const int64_t *values, uint64_t count, bool real,
                        int64_t percent, struct measure_entry *entries)
{
    const struct measure *const measure = measure_of(kind);
    const struct measure_sketch *const sketch = measure->sketch;
    struct measure_list list = {.entries = entries,
                                .real = real,
                                .fraction = percent,
                                .whole = 100,
                                .most = INT64_MAX,
                                .least = count ? values[0] : 0,
                                .greatest = count ? values[count - 1] : 0};
    struct error error;
    int64_t value = 0;
    bool null = false;
    if (count == 0)
        return 0;
    if (sketch->weight) {
        static unsigned char ranks[SKETCH_REGISTERS];
        memset(ranks, 0, sizeof ranks);
        for (uint64_t i = 0; i < count; i++) {
            unsigned char *const rank = &ranks[sketch->cell_of(values[i])];
            const int64_t weight = sketch->weight_of(values[i]);
            assert_in_range(weight, 1, SKETCH_RANKS);
            *rank = weight > *rank ? (unsigned char)weight : *rank;
        }
        for (int64_t r = 0; r < (int64_t)SKETCH_REGISTERS; r++)
            if (ranks[r])
                entries[list.count++] = (struct measure_entry){.order = r, .value = r, .rows = ranks[r]};
    } else {
        for (uint64_t i = 0; i < count; i++) {
            const int64_t cell = real ? sketch->double_cell_of(values[i]) : sketch->cell_of(values[i]);
            if (list.count == 0 || entries[list.count - 1].value != cell)
                entries[list.count++] = (struct measure_entry){.order = cell, .value = cell};
            entries[list.count - 1].rows++;
            list.rows++;
        }
    }
    assert_int_equal(measure->of_values(measure, &list, &value, &null, &error), STATUS_OK);
    assert_false(null);
    return value;
}

#define VALUES 1000000u
static int64_t values[VALUES];
static struct measure_entry entries[VALUES];

/* Distinct values of one shape: numbers in a row, multiples, keys of doubles, any. */
static void fill_distinct(uint32_t shape, uint64_t count)
{
    const int64_t seed = (int64_t)below(UINT32_MAX) << 20;
    for (uint64_t i = 0; i < count; i++)
        values[i] = shape == 0   ? (int64_t)i
                    : shape == 1 ? (int64_t)i * 1000 - 5000000
                    : shape == 2 ? double_key_of((double)i / 7)
                                 : seed + (int64_t)(i * UINT64_C(0x9e3779b97f4a7c1));
}

/* 4096 registers have a standard error of 1.04 / sqrt(4096) = 1.6 %. */
static void distinct_values_are_estimated(void **state)
{
    static const uint64_t counts[] = {1, 2, 3, 10, 100, 1000, 4096, 10000, 30000, 100000, 1000000};
    double squares = 0;
    uint32_t measured = 0;
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (uint32_t shape = 0; shape < 4; shape++)
            for (uint32_t repeat = 0; repeat < (counts[c] > 30000 ? 1u : 5u); repeat++) {
                fill_distinct(shape, counts[c]);
                const int64_t found =
                    estimate(MEASURE_APPROX_COUNT_DISTINCT, values, counts[c], false, 0, entries);
                const double error = (double)found / (double)counts[c] - 1;
                if (counts[c] <= 10)
                    assert_int_equal(found, counts[c]);
                assert_true(fabs(error) < 0.06);
                squares += error * error;
                measured++;
            }
    assert_true(sqrt(squares / measured) < 0.0163);
}

static void check_quantiles(uint64_t count, bool real)
{
    qsort(values, count, sizeof *values, compare_values);
    for (int64_t percent = 0; percent <= 100; percent += 1 + below(7)) {
        const uint64_t rank = (count * (uint64_t)percent + 99) / 100;
        const int64_t exact = values[rank ? rank - 1 : 0],
                      found = estimate(MEASURE_APPROX_QUANTILE, values, count, real, percent, entries);
        const double x = real ? double_of_key(exact) : (double)exact,
                     y = real ? double_of_key(found) : (double)found;
        assert_true(x == y || fabs(x - y) <= fabs(x) / 512 || (isnan(x) && isnan(y)));
        if (percent == 0 || percent == 100)
            assert_int_equal(found, exact);
    }
}

static void quantiles_are_within_their_bound(void **state)
{
    (void)state;
    for (uint32_t repeat = 0; repeat < 400; repeat++) {
        const uint64_t count = 1 + below(repeat % 10 ? 300 : 20000);
        const uint32_t shape = below(4);
        const bool real = chance(50);
        for (uint64_t i = 0; i < count; i++) {
            const double number = shape == 0   ? (double)below(1000)
                                  : shape == 1 ? exp((double)below(4000) / 100) /* skewed */
                                  : shape == 2 ? -1e6 / (1.0 + below(100000))
                                               : (double)any_value();
            values[i] = real ? double_key_of(number) : chance(99) ? (int64_t)number : any_value();
        }
        if (chance(20)) /* all in one bucket */
            for (uint64_t i = 0; i < count; i++)
                values[i] = real ? double_key_of(100000.25 + below(100)) : 100000 + below(100);
        if (real && chance(30)) {
            values[0] = double_key_of(INFINITY);
            values[count / 2] = double_key_of(chance(50) ? -INFINITY : NAN);
        }
        check_quantiles(count, real);
    }
}

/* ---- Statements ---- */

static void file_is(const char *name, void (*write)(FILE *))
{
    char file[PATH_BYTES + 64];
    snprintf(file, sizeof file, "%s", path);
    snprintf(strrchr(file, '/') + 1, 64, "%s", name);
    FILE *const out = fopen(file, "wb");
    assert_non_null(out);
    write(out);
    assert_int_equal(fclose(out), 0);
}

static void write_schema(FILE *out)
{
    fputs("CREATE TABLE t (g INTEGER, few INTEGER, many BIGINT, paid DECIMAL(12,2), real DOUBLE PRECISION, "
          "name TEXT, day DATE);\n",
          out);
}

/* Rows 0 .. ROWS - 1, backwards the second time; the same rows either way. */
#define ROWS 40000
static bool backwards;
static void write_rows(FILE *out)
{
    for (int i = 0; i < ROWS; i++) {
        const int row = backwards ? ROWS - 1 - i : i;
        const uint32_t hash = (uint32_t)row * 2654435761u;
        const double skewed = exp((double)(hash >> 8 & 0xffff) / 5000);
        fprintf(out, "%d,", row % 7);
        if (row % 13)
            fprintf(out, "%u", hash % 100);
        fprintf(out, ",%lld,%.2f,%.17g,n%u,20%02u-%02u-%02u\n", (long long)hash * 1000003 - 77, skewed,
                -1000 / skewed, hash % 5000, hash % 30, 1 + hash % 12, 1 + hash % 28);
    }
}

#define LISTED                                                                               \
    "approx_count_distinct(few), approx_count_distinct(many), approx_count_distinct(name), " \
    "approx_count_distinct(real)"
static const char *const questions[] = {
    "select " LISTED " from t",
    "select g, approx_count_distinct(many), approx_quantile(paid, 0.5) from t group by g order by g",
    "select g, approx_quantile(real, 0.9), approx_quantile(real, 0), approx_quantile(real, 1) from t group "
    "by "
    "rollup (g) order by g",
    "select approx_quantile(many, 0.25), approx_quantile(day, 0.5), approx_quantile(few, 0.75) from t",
    "select approx_count_distinct(name), approx_quantile(paid, 0.99) from t where few < 10",
};

static void ask(const char *options, const char *question, char *answer, size_t bytes)
{
    setenv("Q", question, 1);
    setenv("O", options, 1);
    run_shell("$T sql --device cpu --db $D --format csv $O \"$Q\"", &run);
    if (run.exit_code != 0)
        fail_msg("%s\n%s", question, run.errors);
    assert_true(strlen(run.output) < bytes);
    memcpy(answer, run.output, strlen(run.output) + 1);
}

/* The first load's answers, to which all others are compared. */
static char known[sizeof questions / sizeof *questions][1 << 14];

static void load_and_compare(const char *codec, bool first)
{
    static char answer[1 << 14];
    char arguments[256];
    file_is("t.csv", write_rows);
    snprintf(arguments, sizeof arguments, "--force --codec %s t=t.csv", codec);
    load_ends(arguments, 0, "");
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        if (first)
            ask("--threads 1", questions[q], known[q], sizeof known[q]);
        ask("--threads 1", questions[q], answer, sizeof answer);
        assert_string_equal(answer, known[q]);
        ask("--threads 2", questions[q], answer, sizeof answer);
        assert_string_equal(answer, known[q]);
    }
}

static void rows_have_one_answer(void **state)
{
    (void)state;
    file_is("star.sql", write_schema);
    load_and_compare("auto", true);
    load_and_compare("plain", false);
    backwards = true;
    load_and_compare("smallest", false);
}

/* few: a hundredth of it is 1, so its buckets are single values. */
static void answers_are_near_the_exact_ones(void **state)
{
    (void)state;
    answer_is(
        "select approx_count_distinct(few) = count(distinct few), approx_quantile(few, 0.3) = "
        "quantile_disc(few, 0.3), approx_quantile(day, 0.3) = quantile_disc(day, 0.3), "
        "abs(approx_count_distinct(many) - 40000) < 2000, abs(approx_count_distinct(name) - 5000) < 250 "
        "from t",
        "approx_count_distinct(few) = count(distinct few),\"approx_quantile(few, 0.3) = "
        "quantile_disc(few, 0.3)\",\"approx_quantile(day, 0.3) = quantile_disc(day, 0.3)\","
        "abs(approx_count_distinct(many) - 40000) < 2000,abs(approx_count_distinct(name) - 5000) < 250\n"
        "true,true,true,true,true\n");
    answer_is(
        "select count(*) as n from (select g, approx_quantile(paid, 0.5) a, quantile_disc(paid, 0.5) e, "
        "approx_quantile(real, 0.9) b, quantile_disc(real, 0.9) f from t group by g) s where abs(a - e) * "
        "512 <= e + 5 and abs(b - f) * 512 <= abs(f)",
        "n\n7\n");
}

static void windows_have_the_answers_of_groups(void **state)
{
    (void)state;
    answer_is(
        "select count(*) as n from (select distinct g, approx_count_distinct(many) over (partition by g) "
        "as m, approx_quantile(paid, 0.9) over (partition by g) as p, approx_quantile(day, 0.1) over "
        "(partition by g) as d from t) w join (select g, approx_count_distinct(many) as m, "
        "approx_quantile(paid, 0.9) as p, approx_quantile(day, 0.1) as d from t group by g) s on w.g = s.g "
        "and w.m = s.m and w.p = s.p and w.d = s.d",
        "n\n7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_narrow),
        cmocka_unit_test(distinct_values_are_estimated),
        cmocka_unit_test(quantiles_are_within_their_bound),
        cmocka_unit_test(rows_have_one_answer),
        cmocka_unit_test(answers_are_near_the_exact_ones),
        cmocka_unit_test(windows_have_the_answers_of_groups),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
