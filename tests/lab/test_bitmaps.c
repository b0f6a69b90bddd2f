/*
 * test_bitmaps.c: `tessera lab bitmaps` (lab/bitmaps): the vectors are canonical and do not depend on threads, every
 * method on the processor gives their OR, scans find the same rows, and the kernels compile without a GPU.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/bitmaps/bitmap_host.h"
#include "lab/bitmaps/bitmap_kernel.h"
#include "lab/bitmaps/bitmap_scan.h"
#include "tests/support/gpu/compile_targets.h"
#include "tests/support/lab_tables.h"

#include <stdlib.h>
#include <string.h>

static struct lab lab = {.threads = 2, .repeat = 1, .scale = 1};
static struct error error;

/* One row, and a row more and less than a group, a piece and a part of a vector. */
static const uint64_t sizes[] = {1, 62, 63, 64, 64511, 64512, 64513, 129030, 16515071, 16515072, 16515075};
#define SMALL_SIZES 8u

static void make_set(uint32_t kind, uint64_t rows, uint32_t vectors, unsigned threads, struct bitmap_set *set)
{
    struct lab other = lab;
    other.threads = threads;
    assert_int_equal(bitmap_set_make(&other, &bitmap_kinds[kind], rows, vectors, set, &error), STATUS_OK);
}

/* ---- Vectors ---- */

static void vectors_are_canonical(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < BITMAP_KINDS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct bitmap_set set;
            make_set(kind, sizes[s], 3, 2, &set);
            for (uint32_t v = 0; v < set.count; v++) {
                assert_true(wah_valid(set.vectors[v].words, set.vectors[v].count, sizes[s]));
                assert_true(wah_directory_valid(set.vectors[v], sizes[s], set.directories[v]));
            }
            assert_int_equal(set.stride % 2, 0);
            bitmap_set_free(&set);
        }
}

static void vectors_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < BITMAP_KINDS; kind++) {
        struct bitmap_set one, three;
        make_set(kind, 20000000, 2, 1, &one);
        make_set(kind, 20000000, 2, 3, &three);
        assert_int_equal(one.word_count, three.word_count);
        assert_memory_equal(one.words, three.words, one.word_count * 8);
        bitmap_set_free(&one);
        bitmap_set_free(&three);
    }
}

/* Of any part, and of values that no vector is for. */
static void vectors_of_values_have_their_rows(void **state)
{
    static int32_t values[16515075];
    static uint64_t bits[16515075 / 64 + 1];
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct bitmap_set set;
        for (uint64_t r = 0; r < sizes[s]; r++)
            values[r] = (int32_t)(r * 2654435761u >> 16 & 7) - 4;
        assert_int_equal(
            bitmap_set_of_values(&lab, &bitmap_kinds[BITMAP_UNIFORM], values, sizes[s], -2, 4, &set, &error),
            STATUS_OK);
        for (uint32_t v = 0; v < set.count; v++) {
            assert_true(wah_valid(set.vectors[v].words, set.vectors[v].count, sizes[s]));
            wah_to_bits(set.vectors[v], sizes[s], bits);
            for (uint64_t r = 0; r < sizes[s]; r++)
                if ((bits[r / 64] >> r % 64 & 1) != (values[r] == (int32_t)v - 2))
                    fail_msg("%llu rows, vector %u, row %llu", (unsigned long long)sizes[s], v,
                             (unsigned long long)r);
        }
        bitmap_set_free(&set);
    }
}

static uint64_t rows_of_all(const struct bitmap_set *set)
{
    uint64_t rows = 0;
    for (uint32_t v = 0; v < set->count; v++)
        rows += wah_count(set->vectors[v]);
    return rows;
}

/* Vectors have a quarter of the rows; 64 vectors have few enough runs of 1000 rows to differ from that by some percent. */
static void ranges_have_a_quarter_of_the_rows(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < BITMAP_KINDS; kind++) {
        struct bitmap_set set;
        make_set(kind, 20000000, 64, 2, &set);
        const double share = (double)rows_of_all(&set) / 20000000;
        assert_true(share > 0.23 && share < 0.27);
        bitmap_set_free(&set);
    }
}

/* ---- The processor ---- */

static void methods_agree(void **state)
{
    static const uint32_t counts[] = {1, 2, 5, 33};
    (void)state;
    for (uint32_t kind = 0; kind < BITMAP_KINDS; kind++)
        for (size_t s = 0; s < SMALL_SIZES; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                struct bitmap_set set;
                struct speed speed;
                make_set(kind, sizes[s], counts[c], 2, &set);
                for (uint32_t host = 0; host < BITMAP_HOSTS; host++)
                    if (bitmap_host_available((enum bitmap_host)host) &&
                        bitmap_host_measure(&lab, &set, (enum bitmap_host)host, &speed, &error) != STATUS_OK)
                        fail_msg("%s", error.text);
                bitmap_set_free(&set);
            }
}

static void wrong_results_are_refused(void **state)
{
    struct bitmap_set set;
    struct speed speed;
    (void)state;
    make_set(BITMAP_UNIFORM, 100000, 4, 2, &set);
    set.expected[1000] ^= 1;
    for (uint32_t host = 0; host < BITMAP_HOSTS; host++) {
        if (!bitmap_host_available((enum bitmap_host)host))
            continue;
        assert_int_equal(bitmap_host_measure(&lab, &set, (enum bitmap_host)host, &speed, &error),
                         STATUS_CHECK_FAILED);
        assert_non_null(strstr(error.text, "the result is wrong"));
    }
    bitmap_set_free(&set);
}

/* A range of 1 .. 4 of 8 values, at a size that is no multiple of anything. */
static void scans_agree_or_are_refused(void **state)
{
    static const uint32_t width = 3;
    struct dataset dataset;
    struct encoded encoded;
    struct bitmap_set set;
    struct speed by_index, by_scan;
    (void)state;
    assert_int_equal(dataset_make(&lab, "a column", 1300001, fill_uniform, &width, &dataset, &error),
                     STATUS_OK);
    assert_int_equal(encoded_make(&lab, codec_by_name("lane-slice"), &dataset, &encoded, &error), STATUS_OK);
    assert_int_equal(bitmap_set_of_values(&lab, &bitmap_kinds[BITMAP_UNIFORM], dataset.values, dataset.rows,
                                          3, 4, &set, &error),
                     STATUS_OK);
    struct bitmap_scan scan = {.lab = &lab, .set = &set, .encoded = &encoded};
    assert_int_equal(bitmap_scan_open(&scan, &error), STATUS_OK);
    for (uint32_t count = 1; count <= 4; count++)
        if (bitmap_scan_cpu(&scan, 3, count, &by_index, &by_scan, &error) != STATUS_OK)
            fail_msg("%s", error.text);
    assert_int_equal(bitmap_scan_cpu(&scan, 2, 4, &by_index, &by_scan, &error), STATUS_CHECK_FAILED);
    assert_non_null(strstr(error.text, "values 2 to 5"));
    bitmap_scan_close(&scan);
    bitmap_set_free(&set);
    encoded_free(&encoded);
    dataset_free(&lab, &dataset);
}

static void the_experiment_runs(void **state)
{
    json_t *tables, *const result = lab_tables("bitmaps --scale 0.0002 --repeat 1", &tables);
    json_t *const rows = lab_rows_of(tables, "on the processor");
    (void)state;
    assert_true(json_array_size(rows) >= 12);
    assert_true(lab_number(lab_row_of(rows, "column", "sorted"), "pieces") > 0);
    assert_int_equal((int)lab_number(lab_row_of(rows, "column", "lo_orderdate 1993"), "vectors"), 365);
    assert_int_equal(json_array_size(lab_rows_of(tables, "index against scan")), 35);
    assert_int_equal(json_array_size(lab_rows_of(tables, "the ranges for which")), 5);
    json_decref(result);
}

/* ---- Kernels ---- */

static void kernels_compile(void **state)
{
    char *source;
    (void)state;
    need_compile_targets();
    assert_int_equal(bitmap_kernel_text(&source, &error), STATUS_OK);
    for (size_t t = 0; t < compile_target_count; t++)
        if (compile_source("bitmaps", source, compile_targets[t]->arch, NULL, &error) != STATUS_OK)
            fail_msg("%s: %s", compile_targets[t]->arch, error.text);
    free(source);
}

/* One with as many bits in each tile, and one where they differ. */
static void scans_compile(void **state)
{
    (void)state;
    need_compile_targets();
    for (uint32_t width = 3; width <= 11; width += 4)
        for (uint64_t rows = 1000; rows <= 100000; rows += 99000) {
            struct dataset dataset;
            struct encoded encoded;
            struct lab_column column = {.segments = NULL};
            char *source;
            assert_int_equal(dataset_make(&lab, "a column", rows, fill_uniform, &width, &dataset, &error),
                             STATUS_OK);
            if (rows > 1000)
                memset(dataset.values, 0, TILE_ROWS * sizeof *dataset.values);
            assert_int_equal(encoded_make(&lab, codec_by_name("lane-slice"), &dataset, &encoded, &error),
                             STATUS_OK);
            assert_int_equal(lab_column_shape(&encoded, &column, &error), STATUS_OK);
            assert_int_equal(bitmap_scan_text(&column.shape, &source, &error), STATUS_OK);
            for (size_t t = 0; t < compile_target_count; t++)
                if (compile_source("scan", source, compile_targets[t]->arch, NULL, &error) != STATUS_OK)
                    fail_msg("%s: %s", compile_targets[t]->arch, error.text);
            free(source);
            lab_column_close(&column);
            encoded_free(&encoded);
            dataset_free(&lab, &dataset);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_canonical),
        cmocka_unit_test(vectors_do_not_depend_on_threads),
        cmocka_unit_test(vectors_of_values_have_their_rows),
        cmocka_unit_test(ranges_have_a_quarter_of_the_rows),
        cmocka_unit_test(methods_agree),
        cmocka_unit_test(wrong_results_are_refused),
        cmocka_unit_test(scans_agree_or_are_refused),
        cmocka_unit_test(the_experiment_runs),
        cmocka_unit_test(kernels_compile),
        cmocka_unit_test(scans_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
