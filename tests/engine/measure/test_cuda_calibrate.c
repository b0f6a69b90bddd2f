/*
 * test_cuda_calibrate.c: the calibration on a GPU, whose kernels count every row that a filter and a probe keep
 * at widths 1 to 28 and sum what they fetch, and fail if a count is wrong. Where there is a GPU
 * (TESSERA_REQUIRE_GPU insists).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/measure/calibrate.h"
#include "tests/support/not_run.h"

#include <stdlib.h>

static void every_kernel_counts_right(void **state)
{
    (void)state;
    struct cuda *cuda = NULL;
    struct codec_costs costs = {0};
    struct error error = {0};
    if (cuda_open(0, &cuda, &error) != STATUS_OK) {
        if (getenv("TESSERA_REQUIRE_GPU"))
            fail_msg("%s", error.text);
        need_gpu(false);
    }
    const bool once = getenv("TESSERA_UNDER_SANITIZER"); /* a launch takes up to a thousand times as long */
    const enum status status = calibrate_cuda(cuda, 0, once, NULL, &costs, &error);
    cuda_close(cuda);
    if (status != STATUS_OK)
        fail_msg("%s", error.text);
    for (uint32_t use = 0; use < CODEC_USES; use++)
        for (uint32_t w = 0; w < CODEC_COST_WIDTHS; w++)
            assert_true(costs.ns[CODEC_LANE_FOR][use][w] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_counts_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
