/*
 * test_cuda_byte_threads.c: one lane that decodes, and all alike, give every lane the state that the host computes, at odd numbers of
 * lines, accesses and operations. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "lab/bytes/byte_threads.h"
#include "tests/support/gpu/on_a_gpu.h"

static void check_sizes(struct lab *lab, uint32_t lines)
{
    static const uint32_t operations[] = {0, 1, 3, 4, 5, 127, 1001}, accesses[] = {1, 2, 9};
    struct byte_threads threads;
    struct error error = {0};
    enum status status = byte_threads_open(lab, lines, &threads, &error);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (size_t a = 0; a < sizeof accesses / sizeof *accesses; a++) {
            struct speed speeds[BYTE_THREADS_WAYS];
            if (status == STATUS_OK)
                status = byte_threads_measure(&threads, accesses[a], operations[o], speeds, &error);
            if (status != STATUS_OK)
                fail_msg("%u lines, %u accesses, %u operations: %s", lines, accesses[a], operations[o],
                         error.text);
        }
    byte_threads_close(&threads);
}

static void check_all(const char *device)
{
    static const uint32_t lines[] = {1, 3, 127, 100003};
    struct error error = {0};
    struct lab lab = {.threads = 4, .scale = 1, .repeat = 1};
    if (engine_open(&(struct engine_options){.device = device, .one_device = true}, &lab.engine, &error) !=
        STATUS_OK)
        fail_msg("%s", error.text);
    lab.cuda = gpu_device_cuda(engine_device(lab.engine));
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        check_sizes(&lab, lines[l]);
    engine_close(lab.engine);
}

static void every_lane_has_the_state_of_the_host(void **state)
{
    (void)state;
    check_on_a_gpu(check_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_lane_has_the_state_of_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
