/*
 * test_kernel_job.c: processes that end while their kernels are compiled on another thread: at any moment of it, a normal end.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/cuda/kernel_job.h"
#include "tests/support/not_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Takes the compiler a tenth of a second. */
static const char source[] =
    "#define TILE_CUDA 1\n#include <stdint.h>\n"
    "#include \"operators/decode/lane_for_cuda.h\"\n"
    "extern \"C\" __global__ void decode(bound_chunk chunk, uint32_t *out)\n{\n"
    "    decode_lane_for<int32_t, 0, 32> decode;\n"
    "    decode.seek(chunk, blockIdx.x, threadIdx.x);\n"
    "    decode.items<false>(out, [&](uint32_t j, int32_t value) { out[j] = value; });\n}\n";

/* A process that asks for kernels and ends after so many microseconds. */
static void ask_and_end(unsigned count, unsigned after)
{
    struct error error;
    const struct nvrtc_request request = {.source = source, .arch = "sm_90"};
    for (unsigned j = 0; j < count; j++) {
        struct kernel_job *job;
        if (kernel_job_start(&request, &job, &error) != STATUS_OK)
            _exit(3);
        kernel_job_release(job);
    }
    usleep(after);
    exit(0);
}

static void a_process_ends_while_kernels_are_compiled(void **state)
{
    (void)state;
    const char *const rounds = getenv("TESSERA_ROUNDS");
    const unsigned most = rounds ? (unsigned)atoi(rounds) : 8;
    setenv("TESSERA_KERNEL_CACHE", "", 1);
    for (unsigned i = 0; i < most; i++) {
        int status;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0)
            ask_and_end(10, i * 370 % 1000 * 1000);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
            not_run("NVRTC was not found, so no kernel is compiled");
        if (!WIFEXITED(status))
            fail_msg("round %u: signal %d", i, WTERMSIG(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_process_ends_while_kernels_are_compiled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
