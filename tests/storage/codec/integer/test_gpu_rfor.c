/* test_gpu_rfor.c: gpu-rfor: the general cases, its bits, and the size of runs. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (512 * TILE_ROWS)
static int32_t values[ROWS];

/* Runs of exactly 8: 64 a block. Values: 3 + ceil(64 * 10 / 32) words, lengths: 3 + 1, two starts: for 512
 * rows. */
static void sizes_follow_from_runs_and_widths(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i += 8) {
        int32_t run = (int32_t)random_bits(&random, 10);
        if (i % 512 < 32) /* both ends in every block, and no two runs that join */
            run = i % 16 ? 1023 : 0;
        if (i && run == values[i - 1])
            run ^= 1;
        for (uint32_t j = 0; j < 8; j++)
            values[i + j] = run;
    }
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), (3 + 20 + 3 + 1 + 2) * 32.0 / 512, 0.01);
}

/* The worked example of docs/codecs.md: 500 times 7, 12 times 9; then 512 times 7. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = r >= 500 && r < 512 ? 9 : 7;
    const struct codec *codec = codec_by_id(CODEC_GPU_RFOR);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 128 + 128 + 128);
    static const uint32_t expected_starts[] = {0, 4, 8, 0, 4, 8};
    static const uint32_t expected_values[] = {7, 0x02020202, 2, 2 << 2, 7, 0, 1, 0};
    static const uint32_t expected_runs[] = {12, 0x09090909, 2, 488, 512, 0, 1, 0};
    assert_memory_equal(chunk + 64, expected_starts, sizeof expected_starts);
    assert_memory_equal(chunk + 128, expected_values, sizeof expected_values);
    assert_memory_equal(chunk + 256, expected_runs, sizeof expected_runs);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_GPU_RFOR;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(sizes_follow_from_runs_and_widths, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
