/*
 * test_cuda_bitmaps.c: on a GPU, every way to OR a range of compressed vectors gives the groups that the host got by its scalar loops: the
 * paper's decompression, with our sums and with CUB's, COA, ROA, ideal hybrid, hybrid in every layout of the laboratory, `inline` and flat
 * bitsets. Sizes are odd, from one row on, and ranges have 1 to 4096 vectors. What the strategies read and write is what the paper's
 * formulas say. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cccl.h"
#include "engine/gpu/device.h"
#include "lab/bitmaps/bitmap_device.h"
#include "tests/support/gpu/on_a_gpu.h"

/* Around a group, a piece, a tile of our sums and of CUB's. */
static const uint64_t sizes[] = {1, 62, 64, 64511, 64513, 194000, 516097, 1000003};
static const uint32_t counts[] = {1, 2, 3, 5, 33, 130, 1025, 2049, 4096};
#define MOST_GROUPS           UINT64_C(4000000) /* of a set: larger ones are left out */
#define MOST_GROUPS_SANITIZED UINT64_C(40000)

struct bench {
    struct lab lab;
    struct bitmap_kernels kernels;
};

static void open_bench(const char *device, struct bench *bench)
{
    struct error error = {0};
    *bench = (struct bench){.lab = {.threads = 4, .scale = 1, .repeat = 1}};
    const struct engine_options options = {.device = device, .one_device = true};
    if (engine_open(&options, &bench->lab.engine, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    bench->lab.cuda = gpu_device_cuda(engine_device(bench->lab.engine));
    if (bitmap_kernels_open(&bench->lab, &bench->kernels, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

static void close_bench(struct bench *bench)
{
    bitmap_kernels_close(&bench->kernels);
    engine_close(bench->lab.engine);
}

static void check_traffic(const struct bitmap_times *times, enum bitmap_step step, uint64_t reads,
                          uint64_t writes)
{
    const struct bitmap_traffic *const traffic = &times->traffic[step];
    if (traffic->counted[0] != reads || traffic->counted[1] != writes)
        fail_msg("%s reads %llu words and writes %llu, not %llu and %llu", bitmap_step_names[step],
                 (unsigned long long)traffic->counted[0], (unsigned long long)traffic->counted[1],
                 (unsigned long long)reads, (unsigned long long)writes);
}

/* The paper's formulas of m vectors of n / w words; threads that take two words at once have an even number of them. */
static void check_formulas(const struct bitmap_set *set, const struct bitmap_times *times)
{
    const uint64_t m = set->count, words = set->groups, even = (words + 1) / 2 * 2;
    const uint64_t columns = m > 32 ? 32 : 2 * bitmap_hybrid_k(set->count);
    check_traffic(times, BITMAP_BY_COA, (2 * m - 2) * even, (m - 1) * even);
    if (m <= 2048) {
        check_traffic(times, BITMAP_BY_ROA, m * words, words);
        check_traffic(times, BITMAP_BY_IDEAL, m * even, even);
    }
    if (columns) {
        const uint64_t k = (m + columns - 1) / columns;
        assert_true(k >= 2);
        check_traffic(times, BITMAP_BY_HYBRID, (m + k) * even, (k + 1) * even);
    }
}

static void check_set(struct bench *bench, uint32_t kind, uint64_t rows, uint32_t count)
{
    const struct bitmap_options options = {.counts = true, .layouts = true};
    struct error error = {0};
    struct bitmap_set set;
    struct bitmap_times times;
    enum status status = bitmap_set_make(&bench->lab, &bitmap_kinds[kind], rows, count, &set, &error);
    if (status == STATUS_OK)
        status = bitmap_device_measure(&bench->kernels, &set, &options, &times, &error);
    if (status != STATUS_OK)
        fail_msg("%s, %u vectors of %llu rows: %s", bitmap_kinds[kind].name, count, (unsigned long long)rows,
                 error.text);
    check_formulas(&set, &times);
    for (uint32_t k = 0; k < BITMAP_LAYOUT_KS; k++)
        for (uint32_t j = 0; j < BITMAP_LAYOUT_JS; j++)
            assert_int_equal(times.layouts[k][j].median > 0,
                             bitmap_layout_offered(bitmap_layout_k(k), bitmap_layout_j(j)));
    bitmap_set_free(&set);
}

static void check_all(const char *device)
{
    const uint64_t most = getenv("TESSERA_UNDER_SANITIZER") ? MOST_GROUPS_SANITIZED : MOST_GROUPS;
    struct bench bench;
    open_bench(device, &bench);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            if (sizes[s] / 63 * counts[c] <= most)
                check_set(&bench, (uint32_t)(s + c) % BITMAP_KINDS, sizes[s], counts[c]);
    close_bench(&bench);
}

static void every_way_gives_the_groups_of_the_host(void **state)
{
    (void)state;
    check_on_a_gpu(check_all);
}

static void check_refusals(const char *device)
{
    const struct bitmap_options options = {.counts = false};
    struct bench bench;
    struct error error = {0};
    struct bitmap_set set;
    struct bitmap_times times;
    open_bench(device, &bench);
    assert_int_equal(bitmap_set_make(&bench.lab, &bitmap_kinds[BITMAP_UNIFORM], 100000, 5, &set, &error),
                     STATUS_OK);
    set.expected[1000] ^= 1;
    assert_int_equal(bitmap_device_measure(&bench.kernels, &set, &options, &times, &error),
                     STATUS_CHECK_FAILED);
    bitmap_set_free(&set);
    close_bench(&bench);
}

static void wrong_groups_are_refused(void **state)
{
    (void)state;
    check_on_a_gpu(check_refusals);
}

/* Where CUB's headers are found, its scans are there, and are timed. */
static void check_cub(const char *device)
{
    const struct bitmap_options options = {.counts = false};
    const char *const *cub;
    struct bench bench;
    struct error error = {0};
    struct bitmap_set set;
    struct bitmap_times times;
    const bool installed = cccl_options(&cub, &error) == STATUS_OK;
    open_bench(device, &bench);
    if (installed && !bitmap_kernels_have_cub(&bench.kernels))
        fail_msg("%s", bench.kernels.without_cub.text);
    assert_int_equal(bitmap_set_make(&bench.lab, &bitmap_kinds[BITMAP_UNIFORM], 1000003, 5, &set, &error),
                     STATUS_OK);
    if (bitmap_device_measure(&bench.kernels, &set, &options, &times, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(times.decompress_cub.median > 0, installed);
    for (uint32_t summed = 0; summed < BITMAP_SUMMED; summed++) {
        assert_true(times.sums[summed][BITMAP_SUMS_OURS].median > 0);
        assert_int_equal(times.sums[summed][BITMAP_SUMS_CUB].median > 0, installed);
    }
    bitmap_set_free(&set);
    close_bench(&bench);
}

static void sums_are_cubs_where_it_is_installed(void **state)
{
    (void)state;
    check_on_a_gpu(check_cub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_gives_the_groups_of_the_host),
        cmocka_unit_test(wrong_groups_are_refused),
        cmocka_unit_test(sums_are_cubs_where_it_is_installed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
