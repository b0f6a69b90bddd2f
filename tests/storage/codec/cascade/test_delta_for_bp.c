/* test_delta_for_bp.c: delta-for-bp: the general cases; its bytes are those of gpu-dfor. */
#include "tests/support/codec/codec_cases.h"

static void bytes_are_those_of_gpu_dfor(void **state)
{
    check_same_bytes(cases_codec(state), CODEC_GPU_DFOR);
}

int main(void)
{
    static enum codec_id id = CODEC_DELTA_FOR_BP;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(bytes_are_those_of_gpu_dfor, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
