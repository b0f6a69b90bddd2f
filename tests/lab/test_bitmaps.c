/*
 * test_bitmaps.c: `tessera lab bitmaps` (lab/bitmaps): the vectors are canonical and do not depend on threads, every
 * method on the processor gives their OR, scans find the same rows, and the kernels compile without a GPU.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cccl.h"
#include "lab/bitmaps/bitmap_host.h"
#include "lab/bitmaps/bitmap_scan.h"
#include "lab/bitmaps/bitmap_tables.h"
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
    assert_true(lab_number(lab_row_of(rows, "column", "sorted"), "sequential_ms") > 0);
    assert_int_equal((int)lab_number(lab_row_of(rows, "column", "lo_orderdate 1993"), "vectors"), 365);
    assert_int_equal(json_array_size(lab_rows_of(tables, "index against scan")), 35);
    assert_int_equal(json_array_size(lab_rows_of(tables, "the ranges for which")), 5);
    json_decref(result);
}

/* ---- Layouts ---- */

/* Two tiles at least, so that hybrid is not ideal, of at most 32 vectors; a range of two vectors has no such layout. */
static void hybrids_are_never_ideal(void **state)
{
    (void)state;
    assert_int_equal(bitmap_hybrid_k(1), 0);
    assert_int_equal(bitmap_hybrid_k(2), 0);
    for (uint32_t columns = 3; columns <= BITMAP_VECTORS_MAX; columns++) {
        const uint32_t k = bitmap_hybrid_k(columns);
        assert_true(k >= 1 && k <= 16 && bitmap_layout_tiles(k, columns) >= 2);
        assert_true(k == 16 || bitmap_layout_tiles(2 * k, columns) == 1);
        assert_true(bitmap_layout_tiles(k, columns) <= BITMAP_ROW_VECTORS_MAX);
    }
    assert_int_equal(bitmap_hybrid_k(3), 1);
    assert_int_equal(bitmap_hybrid_k(8), 2);
    assert_int_equal(bitmap_hybrid_k(32), 8);
    assert_int_equal(bitmap_hybrid_k(33), 16);
}

/* Each k and each j is in a layout that is measured; threads of a block are whole warps, 1024 at most. */
static void every_k_and_j_is_offered(void **state)
{
    uint32_t of_k[BITMAP_LAYOUT_KS] = {0}, of_j[BITMAP_LAYOUT_JS] = {0};
    (void)state;
    for (uint32_t k = 0; k < BITMAP_LAYOUT_KS; k++)
        for (uint32_t j = 0; j < BITMAP_LAYOUT_JS; j++) {
            const uint32_t threads = bitmap_layout_k(k) * bitmap_layout_j(j);
            if (!bitmap_layout_offered(bitmap_layout_k(k), bitmap_layout_j(j)))
                continue;
            assert_true(threads % 32 == 0 && threads <= 1024);
            of_k[k]++;
            of_j[j]++;
        }
    for (uint32_t i = 0; i < BITMAP_LAYOUT_KS; i++)
        assert_true(of_k[i] > 0 && of_j[i] > 0);
    assert_true(bitmap_layout_offered(512, 2) && bitmap_layout_offered(1, 1024));
    assert_false(bitmap_layout_offered(512, 4));
}

/* ---- Kernels ---- */

static void compile_all(const char *name, char *source, const char *const *options)
{
    for (size_t t = 0; t < compile_target_count; t++)
        if (compile_source(name, source, compile_targets[t]->arch, options, &error) != STATUS_OK)
            fail_msg("%s: %s", compile_targets[t]->arch, error.text);
    free(source);
}

static void kernels_compile(void **state)
{
    char *source;
    (void)state;
    need_compile_targets();
    assert_int_equal(bitmap_kernel_text(&source, &error), STATUS_OK);
    compile_all("bitmaps", source, NULL);
}

/* DeviceScan's kernels. */
static void scans_of_cub_compile(void **state)
{
    const char *const *options;
    char *source;
    (void)state;
    need_compile_targets();
    if (cccl_options(&options, &error) != STATUS_OK)
        not_run("CUB's headers are not installed");
    assert_int_equal(bitmap_cub_text(&source, &error), STATUS_OK);
    compile_all("CUB's scan", source, options);
}

/* ---- Tables of a GPU, of figures that are given ---- */

static const struct bitmap_kernels no_kernels = {
    .without_cub = {.status = STATUS_MACHINE, .text = "there is no CUB"}};

/* `strategy` takes 2 ms with decompression, 4 with the transfer, all others 10 times as long. */
static struct bitmap_record record_of(uint32_t vectors, enum bitmap_step strategy, double pairs_ms)
{
    struct bitmap_record record = {
        .name = "uniform", .rows = 1000, .compressed_bytes = 8, .vectors = vectors};
    for (uint32_t step = 0; step < BITMAP_STEPS; step++)
        record.gpu.steps[step].median = step == strategy ? 1 : 10;
    record.gpu.steps[BITMAP_DECOMPRESS].median = 1;
    record.gpu.steps[BITMAP_TRANSFER].median = 2;
    record.host[BITMAP_HOST_PAIRS].median = pairs_ms;
    return record;
}

/* The tables of the records, in lab.tables. */
static struct lab show(const struct bitmap_record *records, uint32_t count)
{
    struct lab own = {.format = LAB_JSON, .read_ceiling = 1e9, .tables = json_array()};
    assert_int_equal(page_create("bitmaps", &own.page, &error), STATUS_OK);
    assert_int_equal(bitmap_tables(&(struct bitmap_records){&own, &no_kernels, records, count}, &error),
                     STATUS_OK);
    return own;
}

static void forget(struct lab *own)
{
    page_destroy(own->page);
    json_decref(own->tables);
}

static void claims_are_counted(void **state)
{
    const struct bitmap_record records[] = {record_of(8, BITMAP_BY_IDEAL, 40),
                                            record_of(128, BITMAP_BY_IDEAL, 1)};
    struct lab own = show(records, 2);
    (void)state;
    json_t *const claims = lab_rows_of(own.tables, "decompression and a strategy");
    assert_int_equal(json_array_size(claims), 12);
    json_t *const ideal = json_array_get(claims, 3), *const fastest = json_array_get(claims, 4),
                  *const all = json_array_get(claims, 11);
    assert_int_equal((int)lab_number(ideal, "tests"), 2);
    assert_true(lab_number(ideal, "faster") == 0.5);
    assert_true(lab_number(ideal, "mean") == (20 + 0.5) / 2);
    assert_true(lab_number(ideal, "most") == 20);
    assert_true(json_is_null(json_object_get(ideal, "paper_mean")));
    assert_true(lab_number(fastest, "mean") == lab_number(ideal, "mean"));
    assert_int_equal((int)lab_number(all, "tests"), 8);
    assert_true(lab_number(all, "most") == 10);
    assert_true(lab_number(all, "paper_mean") == 11.5 && lab_number(all, "paper_most") == 54.1 &&
                lab_number(all, "paper_faster") == 0.988);
    forget(&own);
}

static void queries_have_the_papers_strategy(void **state)
{
    const struct bitmap_record records[] = {record_of(1024, BITMAP_BY_IDEAL, 1),
                                            record_of(1025, BITMAP_BY_ROA, 1),
                                            record_of(4096, BITMAP_BY_HYBRID, 1)};
    static const char *const names[] = {"ideal", "ROA", "hybrid"};
    struct lab own = show(records, 3);
    (void)state;
    json_t *const queries = lab_rows_of(own.tables, "queries");
    for (size_t i = 0; i < 3; i++) {
        json_t *const row = json_array_get(queries, i);
        assert_string_equal(json_string_value(json_object_get(row, "fastest")), names[i]);
        assert_string_equal(json_string_value(json_object_get(row, "paper_fastest")), names[i]);
        assert_true(lab_number(row, "published_ms") == 2 && lab_number(row, "published_transfer_ms") == 4);
    }
    assert_int_equal(json_array_size(lab_rows_of(own.tables, "exclusive sums of decompression: ours and "
                                                             "cub::DeviceScan, which is not here: there")),
                     3);
    forget(&own);
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
        cmocka_unit_test(hybrids_are_never_ideal),
        cmocka_unit_test(every_k_and_j_is_offered),
        cmocka_unit_test(kernels_compile),
        cmocka_unit_test(scans_of_cub_compile),
        cmocka_unit_test(claims_are_counted),
        cmocka_unit_test(queries_have_the_papers_strategy),
        cmocka_unit_test(scans_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
