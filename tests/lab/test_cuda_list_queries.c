/*
 * test_cuda_list_queries.c: AND and OR of posting lists on a GPU (lab/kernels/lists_cuda.h) give the documents that a count for each document
 * gives, which list_gpu_measure compares: of 2 to 8 lists at odd lengths, of one document, of all documents, and of more than a tile of
 * the scan. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "lab/lists/list_gpu.h"
#include "tests/support/gpu/on_a_gpu.h"

#include <stdlib.h>

static const struct {
    uint32_t documents, lists, lengths[LIST_QUERY_MAX];
} queries[] = {
    {1, 2, {1, 1}},
    {31, 2, {1, 31}},
    {1000, 3, {31, 1000, 1000}}, /* two lists have nearly every document */
    {5000, 2, {1023, 1025}},
    {8192 * 32, 2, {8191, 8192}},
    {8193 * 32 + 1, 2, {8193, 100003}},
    {100003, 8, {33, 100, 1000, 1023, 1025, 5000, 20000, 70001}},
    {3000017, 4, {20000, 300000, 1048577, 2000003}},
};

/* The lists' gaps, as if they had been decoded there. */
static void check_query(struct list_gpu *gpu, size_t q)
{
    struct lab *const lab = gpu->lab;
    struct error error = {0};
    struct list_query query;
    struct list_gpu_result result;
    cuda_address gaps[LIST_QUERY_MAX];
    enum status status =
        list_query_make(lab, queries[q].documents, queries[q].lists, queries[q].lengths, &query, &error);
    for (uint32_t l = 0; l < query.lists; l++)
        gaps[l] = query.gaps[l].on_device;
    if (status == STATUS_OK)
        status = list_gpu_measure(gpu, &query, gaps, &result, &error);
    list_query_free(lab, &query);
    if (status != STATUS_OK)
        fail_msg("query %zu: %s", q, error.text);
}

static void check_all(const char *device)
{
    const uint32_t most = getenv("TESSERA_UNDER_SANITIZER") ? 300000 : UINT32_MAX;
    struct error error = {0};
    struct lab lab = {.threads = 4, .scale = 1, .repeat = 2};
    struct list_gpu gpu;
    if (engine_open(&(struct engine_options){.device = device, .one_device = true}, &lab.engine, &error) !=
        STATUS_OK)
        fail_msg("%s", error.text);
    lab.cuda = gpu_device_cuda(engine_device(lab.engine));
    if (list_gpu_open(&lab, &gpu, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
        if (queries[q].documents <= most)
            check_query(&gpu, q);
    list_gpu_close(&gpu);
    engine_close(lab.engine);
}

static void answers_are_those_of_the_reference(void **state)
{
    (void)state;
    check_on_a_gpu(check_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_of_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
