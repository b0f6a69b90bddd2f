/*
 * test_posting_lists.c: `tessera lab posting-lists` on a processor: headings are the lengths that were measured, and the paper's sizes of
 * dense lists are found again, also at a hundredth of their length, because the gaps are alike. `posting-queries`: every method has
 * its size, and a processor's its speed, also without a GPU.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/lab_tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static json_t *result, *tables;

static int measure(void **state)
{
    (void)state;
    result = lab_tables("posting-lists --scale 0.01 --repeat 1 "
                        "--codecs gpu-bp128,gpu-bp256,gpu-vbyte128,gpu-vbyte1024",
                        &tables);
    return 0;
}

static int forget(void **state)
{
    (void)state;
    json_decref(result);
    return 0;
}

static void headings_are_what_is_measured(void **state)
{
    json_t *const rows = lab_rows_of(tables, "uniform lists: speed-up over BP32");
    (void)state;
    assert_non_null(lab_rows_of(tables, "lists of 655 and 335544 integers: size"));
    for (uint32_t r = 0; r < 10; r++) {
        assert_float_equal(lab_number(json_array_get(rows, r), "paper_integers"), (double)(65536u << r), 0);
        assert_float_equal(lab_number(json_array_get(rows, r), "integers"), floor((65536u << r) * 0.01), 0);
    }
    assert_true(lab_number(lab_row_of(lab_rows_of(tables, "uniform lists: size"), "codec", "gpu-bp128"),
                           "bits_335544") < 8);
}

static void dense_sizes_are_the_papers(void **state)
{
    static const char *const methods[] = {"BP32",     "SIMD-BP",     "GPU-BP128",    "GPU-BP256",
                                          "VarintGB", "StreamVByte", "GPU-VByte128", "GPU-VByte1024"};
    json_t *const rows = lab_rows_of(tables, "bits an integer");
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        json_t *const row = lab_row_of(rows, "method", methods[m]);
        const double paper = lab_number(row, "paper_bits_uniform_dense");
        assert_float_equal(lab_number(row, "bits_uniform_dense"), paper, 0.01 * paper);
    }
}

static void processors_codecs_have_speeds(void **state)
{
    static const char *const methods[] = {"BP32", "SIMD-BP", "VarintGB", "StreamVByte"};
    json_t *const rows = lab_rows_of(tables, "uniform lists: G integers/s");
    (void)state;
    for (size_t m = 0; m < 4; m++)
        for (uint32_t r = 0; r < 10; r++) {
            char key[64];
            snprintf(key, sizeof key, "%s_gintegers_per_second", methods[m]);
            assert_true(lab_number(json_array_get(rows, r), key) > 0);
        }
    assert_true(json_is_null(
        json_object_get(json_array_get(rows, 0), "GPU-BP128_ours_gintegers_per_second"))); /* no GPU */
}

static void queries_have_sizes_and_speeds(void **state)
{
    json_t *queries, *const measured = lab_tables("posting-queries --scale 0.001 --repeat 1", &queries);
    json_t *const rows = lab_rows_of(queries, "decoding the lists of all queries");
    (void)state;
    assert_int_equal(json_array_size(rows), 8);
    for (uint32_t r = 0; r < 8; r++) {
        json_t *const row = json_array_get(rows, r);
        const bool serial = strncmp(json_string_value(json_object_get(row, "method")), "GPU", 3) != 0;
        assert_true(lab_number(row, "bits") > 4);
        assert_true(json_is_number(json_object_get(row, "published_mintegers_per_second")) == serial);
        assert_true(lab_number(row, "paper_gov2_mintegers_per_second") > 1000);
    }
    assert_float_equal(lab_number(json_array_get(rows, 2), "paper_gov2_times"), 33.64, 1e-6);
    json_decref(measured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_are_what_is_measured),
        cmocka_unit_test(dense_sizes_are_the_papers),
        cmocka_unit_test(processors_codecs_have_speeds),
        cmocka_unit_test(queries_have_sizes_and_speeds),
    };
    return cmocka_run_group_tests(tests, measure, forget);
}
