/* test_gpu_dfor.c: gpu-dfor: the general cases, the published sizes, and its bits. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (512 * TILE_ROWS)
static int32_t values[ROWS];

/* Differences of uniform values of w bits are of w + 1 bits. */
static void overhead_is_0_81_bits(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 4; width <= 10; width++) {
        for (uint32_t i = 0; i < ROWS; i++) /* both ends in every block, so that each needs the full width */
            values[i] = i % 64 == 1   ? 0
                        : i % 64 == 2 ? (1 << width) - 1
                        : i % 64 == 3 ? 0
                                      : (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + 1 + 0.8125, 0.01);
    }
}

static void sorted_numbers_take_1_8_bits(void **state)
{
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)i + 1;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 1.8125, 0.01);
}

/* The worked example of docs/codecs.md: row r holds 100 + 2r. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = 100 + 2 * (int32_t)r;
    const struct codec *codec = codec_by_id(CODEC_GPU_DFOR);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    codec_encode(codec, values, TILE_ROWS, 4, chunk);
    const uint32_t *starts = (const uint32_t *)(chunk + 64), *words = (const uint32_t *)(chunk + 128);
    static const uint32_t expected_starts[] = {1, 11, 17, 23, 30, 40, 46, 52, 58};
    assert_memory_equal(starts, expected_starts, sizeof expected_starts);
    /* the group's first value; block 0: deltas 0, 2, 2, ...: reference 0, width 2; block 1: all 2, width 0 */
    static const uint32_t expected[] = {100,        0,          0x02020202, 0xaaaaaaa8, 0xaaaaaaaa,
                                        0xaaaaaaaa, 0xaaaaaaaa, 0xaaaaaaaa, 0xaaaaaaaa, 0xaaaaaaaa,
                                        0xaaaaaaaa, 2,          0,          0,          0,
                                        0,          0};
    assert_memory_equal(words, expected, sizeof expected);
    assert_int_equal(words[29], 100 + 2 * 512);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_GPU_DFOR;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(overhead_is_0_81_bits, &id),
        cmocka_unit_test_prestate(sorted_numbers_take_1_8_bits, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
