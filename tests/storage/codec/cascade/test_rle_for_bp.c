/* test_rle_for_bp.c: rle-for-bp: the general cases; its bytes are those of gpu-rfor. */
#include "tests/support/codec/codec_cases.h"

static void bytes_are_those_of_gpu_rfor(void **state)
{
    check_same_bytes(cases_codec(state), CODEC_GPU_RFOR);
}

int main(void)
{
    static enum codec_id id = CODEC_RLE_FOR_BP;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(bytes_are_those_of_gpu_rfor, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
