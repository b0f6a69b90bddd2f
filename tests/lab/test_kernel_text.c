/*
 * test_kernel_text.c: the laboratory's kernels compile, around the decoder of every codec that has one, without a GPU.
 * Skipped where NVRTC is not installed, unless TESSERA_REQUIRE_NVRTC is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/cccl.h"
#include "lab/bench/kernel.h"
#include "lab/lists/list_gpu.h"
#include "lab/published/steps.h"
#include "tests/support/gpu/compile_targets.h"

#define ROWS 5000u

static void compile_text(const char *name, const char *const *options, enum status made, char **source)
{
    struct error error = {0};
    assert_int_equal(made, STATUS_OK);
    if (compile_source(name, *source, compile_sm_90->arch, options, &error) != STATUS_OK)
        fail_msg("%s: %s", name, error.text);
    free(*source);
}

static void compile(const char *name, enum status made, char **source)
{
    compile_text(name, NULL, made, source);
}

static void simple_kernels_compile(void **state)
{
    struct error error = {0};
    char *source = NULL;
    (void)state;
    need_compile_targets();
    compile("compare", kernel_text_compare(&source, &error), &source);
    compile("choose", kernel_text_choose(&source, &error), &source);
    compile("expected", kernel_text_expected(&source, &error), &source);
    compile("lists", list_kernel_text(&source, &error), &source);
}

static void published_kernels_compile(void **state)
{
    static const char *const queries[] = {"q11", "q21"};
    const char *const *options = NULL;
    struct error error = {0};
    char *source = NULL;
    (void)state;
    need_compile_targets();
    const bool cub = cccl_options(&options, &error) == STATUS_OK;
    for (size_t s = 0; s < PUBLISHED_STEPS; s++) {
        const struct published_method *const method = &published_steps[s].method;
        compile(method->name,
                kernel_text_published(method->header, method->type, method->threads, s % 2, &source, &error),
                &source);
    }
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
        compile(queries[q],
                kernel_text_query(queries[q], "for_cuda.h", "for_offsets<16>", 128, &source, &error),
                &source);
        compile(queries[q],
                kernel_text_query(queries[q], "simdbp128_cuda.h", "simdbp128", 128, &source, &error),
                &source);
        compile(queries[q],
                kernel_text_query(queries[q], "plain_cuda.h", "plain_block<4>", 128, &source, &error),
                &source);
    }
    for (size_t m = 0; m < PUBLISHED_METHODS; m++) {
        const struct published_method *const method = &published_methods[m];
        if (method->cub && !cub)
            continue;
        compile_text(
            method->name, method->cub ? options : NULL,
            kernel_text_published(method->header, method->type, method->threads, m % 2, &source, &error),
            &source);
    }
    if (!cub)
        print_message("without CUB's headers: %s\n", error.text);
}

static void kernels_compile_around_every_decoder(void **state)
{
    struct lab lab = {.threads = 2, .scale = 1};
    const uint32_t width = 12;
    struct dataset dataset;
    struct error error = {0};
    char *source = NULL;
    (void)state;
    need_compile_targets();
    assert_int_equal(dataset_make(&lab, "values", ROWS, fill_uniform, &width, &dataset, &error), STATUS_OK);
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *const codec = codec_by_id(id);
        struct encoded encoded;
        struct lab_column column;
        if (codec_is_staged(codec, true))
            continue;
        assert_int_equal(encoded_make(&lab, codec, &dataset, &encoded, &error), STATUS_OK);
        assert_int_equal(lab_column_shape(&encoded, &column, &error), STATUS_OK);
        compile(codec->name, kernel_text_sum(&column.shape, &source, &error), &source);
        compile(codec->name, kernel_text_match(&column.shape, &source, &error), &source);
        compile(codec->name, kernel_text_access(&column.shape, false, &source, &error), &source);
        if (codec->gpu.random_access)
            compile(codec->name, kernel_text_access(&column.shape, true, &source, &error), &source);
        lab_column_close(&column);
        encoded_free(&encoded);
    }
    dataset_free(&lab, &dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_kernels_compile),
        cmocka_unit_test(published_kernels_compile),
        cmocka_unit_test(kernels_compile_around_every_decoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
