/* test_rank_rle.c: rank-rle: the general cases, the size of runs, and its bits. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (512 * TILE_ROWS)
static int32_t values[ROWS];

/* 128 runs a tile of 10 bits: 128 + 160 bytes, and 16 of directory. */
static void sizes_follow_from_runs_and_widths(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < ROWS; i += 8) {
        int32_t run = (int32_t)random_bits(&random, 10);
        if (i % 1024 < 32)
            run = i % 16 ? 1023 : 0;
        if (i && run == values[i - 1])
            run ^= 1;
        for (uint32_t j = 0; j < 8; j++)
            values[i + j] = run;
    }
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), (128 + 160 + 16) * 8.0 / 1024, 0.01);
}

/* The worked example of docs/codecs.md: 40 times 7, 60 times 9, then 4. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = r < 40 ? 7 : r < 100 ? 9 : 4;
    const struct codec *codec = codec_by_id(CODEC_RANK_RLE);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 128 + 256);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128);
    static const uint32_t expected_directory[] = {3u << 26, 4, 3, 0};
    assert_memory_equal(directory, expected_directory, sizeof expected_directory);
    for (uint32_t word = 0; word < 32; word++)
        assert_int_equal(data[word], word == 0 ? 1 : word == 1 ? 1 << 8 : word == 3 ? 1 << 4 : 0);
    assert_int_equal(data[32], 3 | 5 << 3 | 0 << 6);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_RANK_RLE;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(sizes_follow_from_runs_and_widths, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
