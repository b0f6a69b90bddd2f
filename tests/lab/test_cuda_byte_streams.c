/*
 * test_cuda_byte_streams.c: every decoder of `tessera lab byte-streams` on a GPU, as published, its ablations, the thread block and
 * ours, gives the bytes that the scalar encoders got: items of 1, 2, 4 and 8 bytes, sets of odd sizes, of less than a block
 * and of several, and more blocks than the set has. Needs a GPU; without one it is skipped, unless TESSERA_REQUIRE_GPU is
 * set. That the kernels compile is for test_byte_streams.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/device.h"
#include "lab/bytes/byte_kernel.h"
#include "tests/support/gpu/on_a_gpu.h"

#include <stdlib.h>

/* compute-sanitizer takes up to a thousand times as long. */
#define BLOCK           (64u << 10)
#define BLOCK_SANITIZED (4u << 10)

static uint32_t block = BLOCK;
static struct lab lab = {.threads = 4, .scale = 1, .repeat = 1};
static struct error error;

static void must(enum status status, const char *what)
{
    if (status != STATUS_OK)
        fail_msg("%s: %s", what, error.text);
}

/* byte_kernel_measure compares every byte. */
static void check_streams(const struct byte_streams *streams, const char *what)
{
    struct byte_batch batch;
    must(byte_batch_open(&lab, streams, 2 * streams->block_count + 1, &batch, &error), what);
    for (uint32_t d = 0; d < BYTE_DECODERS; d++) {
        struct speed speed;
        must(byte_kernel_measure(&batch, (enum byte_decoder)d, &speed, NULL, &error), what);
    }
    byte_batch_close(&batch);
}

static void check_set(const struct byte_set *set)
{
    for (uint32_t f = 0; f < BYTE_FORMATS; f++) {
        struct byte_streams streams;
        char what[64];
        snprintf(what, sizeof what, "%s of %llu bytes", set->kind->name, (unsigned long long)set->byte_count);
        must(byte_streams_make(&lab, set, (enum byte_format)f, block, &streams, &error), what);
        check_streams(&streams, what);
        byte_streams_free(&streams);
    }
}

static void check_all(const char *device)
{
    if (getenv("TESSERA_UNDER_SANITIZER"))
        block = BLOCK_SANITIZED;
    const uint64_t sizes[] = {8, 56, 1000, block - 8, block, 3 * block + 24};
    must(engine_open(&(struct engine_options){.device = device, .one_device = true}, &lab.engine, &error),
         device);
    lab.cuda = gpu_device_cuda(engine_device(lab.engine));
    must(byte_kernel_compile(&lab, &error), "compiling");
    for (uint32_t kind = 0; kind < BYTE_PAPER_SETS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct byte_set set;
            must(byte_set_make(&lab, &byte_set_kinds[kind], sizes[s], &set, &error), "a set");
            check_set(&set);
            byte_set_free(&set);
        }
    engine_close(lab.engine);
}

static void every_decoder_gives_what_was_compressed(void **state)
{
    (void)state;
    check_on_a_gpu(check_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_decoder_gives_what_was_compressed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
