/*
 * test_cuda_published.c: decoding as the papers publish it (lab/kernels/published) gives the values that the scalar encoder got, to memory
 * and as a sum: uniform values of every width, runs, sorted values, and lists with long gaps, at odd sizes, also of more than one chunk.
 * Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set. That the kernels compile is for test_kernel_text.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "lab/published/published.h"
#include "tests/support/gpu/on_a_gpu.h"

static const uint64_t sizes[] = {
    1, 31, 1023, 1025, 4095, 5000, 100003, ENCODED_CHUNK_ROWS + 1, 2 * ENCODED_CHUNK_ROWS + 4097};

/* Decodes the dataset by every method, which compares each value and the sum with the dataset's. */
static void check_methods(struct lab *lab, const struct dataset *dataset, const char *what)
{
    for (size_t m = 0; m < PUBLISHED_METHODS; m++) {
        struct error error = {0};
        struct encoded encoded;
        struct decode_result result;
        enum status status =
            encoded_make(lab, codec_by_name(published_methods[m].codec), dataset, &encoded, &error);
        if (status == STATUS_OK && encoded.chunk_count)
            status = published_measure(lab, &published_methods[m], dataset, &encoded, &result, &error);
        encoded_free(&encoded);
        if (status != STATUS_OK)
            fail_msg("%s, %s, %llu rows: %s", published_methods[m].name, what,
                     (unsigned long long)dataset->rows, error.text);
    }
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
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
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
