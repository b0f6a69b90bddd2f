/* test_calibrate.c: tessera calibrate writes a table that auto can choose by, and its GPU kernels compile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/measure/calibrate.h"
#include "engine/cuda/nvrtc.h"
#include "tests/support/gpu/need_nvrtc.h"
#include "tests/support/run_program.h"

#include <stdlib.h>

static struct program_run run; /* large, so not on the stack */

/* 12 bits; and 24, where nothing is probed. */
static enum status compile_both(void *context, uint32_t index, const struct calibration *calibration,
                                double ns[CODEC_USES], struct error *error)
{
    uint32_t *compiled = context;
    char *source = NULL, *log = NULL;
    void *cubin = NULL;
    size_t bytes = 0;
    (void)index;
    for (uint32_t use = 0; use < CODEC_USES; use++)
        ns[use] = 1;
    if (calibration->width != 12 && calibration->width != 24)
        return STATUS_OK;
    enum status status = calibrate_kernel_source(calibration, &source, error);
    const struct nvrtc_request request = {.source = source, .arch = "sm_90"};
    if (status == STATUS_OK)
        status = nvrtc_compile(&request, &cubin, &bytes, &log, error);
    if (log)
        print_message("%s %u:\n%s\n", calibration->codec->name, calibration->width, log);
    *compiled += status == STATUS_OK;
    free(source);
    free(cubin);
    free(log);
    return status;
}

static void kernels_compile(void **state)
{
    (void)state;
    need_nvrtc();
    struct codec_costs costs = {0};
    struct error error = {0};
    uint32_t compiled = 0;
    if (calibrate_codecs(compile_both, &compiled, NULL, &costs, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(compiled, 2 * calibrate_codec_count());
}

/* Measured here, so only what any machine must give: every codec costs something, and a wrong count would have
 * failed. */
static void a_table_of_this_processor(void **state)
{
    (void)state;
    char path[] = "/tmp/test_calibrate.XXXXXX", shell[256];
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    snprintf(shell, sizeof shell, "$T calibrate --device cpu --out %s", path);
    run_shell(shell, &run);
    assert_string_equal(run.errors, "");
    assert_int_equal(run.exit_code, 0);
    struct codec_costs costs;
    struct error error = {0};
    if (codec_costs_load(path, &costs, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_memory_equal(costs.device, "CPU, ", 5);
    assert_true(costs.read_bytes_per_ns > 0.1);
    uint32_t codecs = 0;
    for (uint32_t id = 1; id < CODEC_COUNT; id++)
        codecs += costs.ns[id][CODEC_USE_FETCH][0] != 0;
    assert_int_equal(codecs, calibrate_codec_count());
    unlink(path);
}

static void slips_are_refused(void **state)
{
    (void)state;
    run_shell("$T calibrate --device gpu", &run);
    assert_int_equal(run.exit_code, 2);
    run_shell("$T calibrate --device cpu --out /nowhere/at/all", &run);
    assert_int_equal(run.exit_code, 2);
    assert_non_null(strstr(run.errors, "/nowhere/at/all"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_compile),
        cmocka_unit_test(a_table_of_this_processor),
        cmocka_unit_test(slips_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
