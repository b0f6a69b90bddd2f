/*
 * test_byte_threads.c: one lane that decodes, or all alike (lab/bytes/byte_threads.h): what the host expects is the closed form of
 * its operations, and both kernels compile without a GPU. That they give the same is for test_cuda_byte_threads.c.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/bytes/byte_threads.h"
#include "tests/support/gpu/compile_targets.h"

#include <stdlib.h>

/* The state after n operations, factor^n state + word (factor^(n-1) + ... + 1), by halving n. */
static uint32_t jump(uint32_t factor, uint32_t word, uint32_t n, uint32_t state)
{
    uint32_t power = factor, sum = 1; /* of 2^k operations: state -> power state + sum word */
    for (; n; n >>= 1) {
        if (n & 1)
            state = power * state + sum * word;
        sum += power * sum;
        power *= power;
    }
    return state;
}

static void the_host_does_every_operation(void **state)
{
    enum { LINES = 7, WARPS = 10 };
    static uint32_t words[LINES * BYTE_THREADS_LINE_WORDS];
    static const uint32_t operations[] = {0, 1, 2, 3, 17, 1000, 99999};
    (void)state;
    for (uint32_t line = 0; line < LINES; line++)
        words[line * BYTE_THREADS_LINE_WORDS] = 1000003 * (line + 1);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        for (uint32_t warp = 0; warp < WARPS; warp++) {
            const struct byte_threads_work work = {
                .lines = LINES, .accesses = 5, .operations = operations[o], .factor = 1664525};
            uint32_t wanted = warp;
            for (uint32_t access = 0; access < work.accesses; access++) {
                const uint32_t word = words[(warp + access * WARPS) % LINES * BYTE_THREADS_LINE_WORDS];
                wanted = jump(work.factor, word, work.operations, wanted);
            }
            assert_int_equal(byte_threads_decode(&work, words, warp, WARPS), wanted);
        }
}

static void kernels_compile(void **state)
{
    (void)state;
    need_compile_targets();
    for (int way = 0; way < BYTE_THREADS_WAYS; way++) {
        struct error error = {0};
        char *source;
        assert_int_equal(byte_threads_text((enum byte_threads_way)way, &source, &error), STATUS_OK);
        if (compile_source(byte_threads_kernel((enum byte_threads_way)way), source, compile_sm_90->arch, NULL,
                           &error) != STATUS_OK)
            fail_msg("%s", error.text);
        free(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_does_every_operation),
        cmocka_unit_test(kernels_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
