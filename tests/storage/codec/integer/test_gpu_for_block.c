/* test_gpu_for_block.c: gpu-for-block: the general cases, its size beside gpu-for's, and its bits. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (256 * TILE_ROWS)
static int32_t values[ROWS];

/* The paper: "no difference in memory overhead". */
static void it_is_as_large_as_with_miniblocks(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 1; width < 32; width++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + 0.75, 0.02);
        for (uint32_t i = 0; i < ROWS; i += 64) /* so that no block has width 0 */
            values[i] = (int32_t)(i / 64 % 2);
        assert_true(bits_a_value(cases_codec(state), values, ROWS, 4) ==
                    bits_a_value(CODEC_GPU_FOR, values, ROWS, 4));
    }
}

/* The worked example of docs/codecs.md: row r holds 100 + r % 8. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = 100 + (int32_t)(r % 8);
    const struct codec *codec = codec_by_id(CODEC_GPU_FOR_BLOCK);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_not_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 0);
    const uint32_t *directory = (const uint32_t *)(chunk + 64);
    for (uint32_t block = 0; block <= 8; block++)
        assert_int_equal(directory[block], 14 * block);
    static const uint8_t bits[] = {0x64, 0, 0, 0, 3, 0, 0, 0, 0x88, 0xc6, 0xfa, 0x88, 0xc6, 0xfa};
    for (uint32_t block = 0; block < 8; block++)
        assert_memory_equal(chunk + 128 + 56 * block, bits, sizeof bits);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_GPU_FOR_BLOCK;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(it_is_as_large_as_with_miniblocks, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
