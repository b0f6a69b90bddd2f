/* test_gpu_bp256.c: gpu-bp256: the general cases, the published sizes, its bits, and end points that it refuses. */
#include <stdint.h>

#define BLOCK_ROWS       256u
#define PUBLISHED_SPARSE 16.20
#define PUBLISHED_DENSE  7.18
static const uint32_t example_ends[] = {0, 80, 104, 128, 152}; /* of docs/codecs.md */

#include "tests/support/codec/gpu_bp_cases.h"

int main(void)
{
    static enum codec_id id = CODEC_GPU_BP256;
    const struct CMUnitTest tests[] = {GPU_BP_CASES(&id)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
