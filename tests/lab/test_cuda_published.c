/*
 * test_cuda_published.c: decoding as the papers publish it (lab/kernels/published), the methods of the tables and the steps of GPU-FOR,
 * gives the values that the scalar encoder got, to memory and as a sum: uniform values of every width, runs, sorted values, and lists with long gaps, at odd sizes, also of more than one chunk.
 * Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set. That the kernels compile is for test_kernel_text.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "lab/published/steps.h"
#include "tests/support/gpu/on_a_gpu.h"

static const uint64_t sizes[] = {
    1, 31, 1023, 1025, 4095, 5000, 100003, ENCODED_CHUNK_ROWS + 1, 2 * ENCODED_CHUNK_ROWS + 4097};

static uint32_t of_one_width; /* how often kernels for one width were checked */

/* Decodes the dataset by the method, which compares each value and the sum with the dataset's. */
static void check_method(struct lab *lab, const struct published_method *method, bool one_width,
                         const struct dataset *dataset, const char *what)
{
    struct error error = {0};
    struct encoded encoded;
    struct decode_result result;
    enum status status = encoded_make(lab, codec_by_name(method->codec), dataset, &encoded, &error);
    const bool decodes =
        status == STATUS_OK && encoded.chunk_count && (!one_width || published_one_width(&encoded));
    if (decodes)
        status = published_measure(lab, method, dataset, &encoded, &result, &error);
    of_one_width += one_width && decodes;
    encoded_free(&encoded);
    if (status != STATUS_OK)
        fail_msg("%s, %s, %llu rows: %s", method->name, what, (unsigned long long)dataset->rows, error.text);
}

static void check_methods(struct lab *lab, const struct dataset *dataset, const char *what)
{
    for (size_t m = 0; m < PUBLISHED_METHODS; m++)
        check_method(lab, &published_methods[m], false, dataset, what);
    for (size_t s = 0; s < PUBLISHED_STEPS; s++)
        check_method(lab, &published_steps[s].method, published_steps[s].one_width, dataset, what);
}

static void check_fill(struct lab *lab, dataset_fill *fill, const void *parameters, uint64_t rows,
                       const char *what)
{
    struct error error = {0};
    struct dataset dataset;
    if (dataset_make(lab, what, rows, fill, parameters, &dataset, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    check_methods(lab, &dataset, what);
    dataset_free(lab, &dataset);
}

static void check_all(const char *device)
{
    struct error error = {0};
    struct lab lab = {.threads = 4, .scale = 1, .repeat = 1};
    if (engine_open(&(struct engine_options){.device = device, .one_device = true}, &lab.engine, &error) !=
        STATUS_OK)
        fail_msg("%s", error.text);
    lab.cuda = gpu_device_cuda(engine_device(lab.engine));
    /* Under compute-sanitizer more rows take minutes, and run the same kernels. */
    const uint64_t most = getenv("TESSERA_UNDER_SANITIZER") ? 5000 : UINT64_MAX;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= most; s++) {
        const uint32_t width = (uint32_t)(7 * s % 32);
        check_fill(&lab, fill_uniform, &width, sizes[s], "uniform values");
        check_fill(&lab, fill_sorted, &(struct sorted_parameters){sizes[s], sizes[s] / 9 + 1}, sizes[s],
                   "sorted values in runs");
        check_fill(&lab, fill_sorted, &(struct sorted_parameters){sizes[s], sizes[s] * 2}, sizes[s],
                   "sorted values");
        check_fill(&lab, fill_normal, &(struct normal_parameters){-1e6, 3000}, sizes[s], "normal values");
        check_fill(&lab, fill_zipf, &(struct zipf_parameters){2, 1 << 20}, sizes[s], "Zipf values");
    }
    for (uint32_t width = 0; width <= 31; width++)
        check_fill(&lab, fill_uniform, &width, 5000, "uniform values");
    assert_true(of_one_width >= 32); /* uniform values of more than a bit have one width */
    engine_close(lab.engine);
}

static void every_method_decodes_what_was_encoded(void **state)
{
    (void)state;
    check_on_a_gpu(check_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_decodes_what_was_encoded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
