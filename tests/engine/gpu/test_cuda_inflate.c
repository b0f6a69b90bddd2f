/*
 * test_cuda_inflate.c: the decoder that a GPU gives to loads (engine/gpu/byte_decoder.h), against the host's: streams of
 * other programs' sizes, damaged ones, and of schemes that the GPU leaves to the host. Needs a GPU; without one it is
 * skipped, unless TESSERA_REQUIRE_GPU is set.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/byte_decoder.h"
#include "storage/codec/bytes/deflate.h"
#include "tests/support/codec/codec_cases.h"
#include "tests/support/not_run.h"

#define JOBS 5000u

static struct byte_decoder gpu;

static int open_gpu(void **state)
{
    struct error error = {0};
    (void)state;
    if (cuda_byte_device.open("cuda", 0, &gpu, &error) != STATUS_OK) {
        printf("skipped: %s\n", error.text);
        return getenv("TESSERA_REQUIRE_GPU") != NULL;
    }
    return 0;
}

static int close_gpu(void **state)
{
    (void)state;
    cuda_byte_device.close(&gpu);
    return 0;
}

/* Sizes from 0 to 256 KiB, most of them small. Rooms are exact, too large, or too small. */
static void make_job(struct byte_job *job, uint64_t *random)
{
    static const uint32_t sizes[] = {0, 1, 31, 1023, 1025, 65536, 262144};
    const bool odd = random_bits(random, 3) == 0;
    const uint32_t bytes =
        odd ? sizes[random_next(random) % (sizeof sizes / sizeof *sizes)] : (uint32_t)random_bits(random, 13);
    const unsigned symbols = 1 + (unsigned)random_bits(random, 3);
    uint8_t *text = cases_allocate(bytes + 1), *stream = cases_allocate(deflate_encode_bound(bytes));
    for (uint32_t i = 0; i < bytes; i++)
        text[i] = i > 40 && random_bits(random, 2) ? text[i - 33] : (uint8_t)random_bits(random, symbols);
    const bool stored = random_bits(random, 4) == 0;
    size_t size = bytes;
    if (stored)
        memcpy(stream, text, bytes);
    else
        size = deflate_encode(text, bytes, stream);
    if (random_bits(random, 2) == 0 && size)
        stream[random_next(random) % size] ^= (uint8_t)(1u << random_bits(random, 3));
    const uint32_t room = random_bits(random, 2)   ? bytes
                          : random_bits(random, 2) ? bytes + 1000
                                                   : bytes - bytes / 3;
    *job = (struct byte_job){.scheme = stored ? BYTE_STORED : BYTE_DEFLATE,
                             .in = stream,
                             .in_bytes = (uint32_t)size,
                             .out_room = room,
                             .out = cases_allocate(room + 1)};
    free(text);
}

static void streams_give_what_the_host_gives(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    static struct byte_job ours[JOBS], theirs[JOBS];
    struct error error = {0};
    uint32_t bad = 0;
    (void)state;
    need_gpu(gpu.context);
    for (uint32_t j = 0; j < JOBS; j++) {
        make_job(&ours[j], &random);
        theirs[j] = ours[j];
        theirs[j].out = cases_allocate(ours[j].out_room + 1);
        ours[j].out[ours[j].out_room] = 0xcc; /* behind the room */
    }
    assert_int_equal(byte_decoder_host.decode(&byte_decoder_host, theirs, JOBS, &error), STATUS_OK);
    for (int round = 0; round < 2; round++) { /* buffers are used again */
        if (gpu.decode(&gpu, ours, JOBS, &error) != STATUS_OK)
            fail_msg("%s", error.text);
        for (uint32_t j = 0; j < JOBS; j++) {
            if (ours[j].bad != theirs[j].bad || (!ours[j].bad && ours[j].out_bytes != theirs[j].out_bytes))
                fail_msg("job %u: bad %d, %u bytes; the host: %d, %u", j, ours[j].bad, ours[j].out_bytes,
                         theirs[j].bad, theirs[j].out_bytes);
            if (!ours[j].bad)
                assert_memory_equal(ours[j].out, theirs[j].out, ours[j].out_bytes);
            assert_int_equal(ours[j].out[ours[j].out_room], 0xcc);
            bad += ours[j].bad;
        }
    }
    assert_in_range(bad, 100, 2 * JOBS - 100);
    for (uint32_t j = 0; j < JOBS; j++) {
        free((void *)(uintptr_t)ours[j].in);
        free(ours[j].out);
        free(theirs[j].out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streams_give_what_the_host_gives)};
    return cmocka_run_group_tests(tests, open_gpu, close_gpu);
}
