/* test_gpu_simdbp128.c: gpu-simdbp128: the general cases, its size, blocks of four tiles, and its bits. */
#include "tests/support/codec/codec_cases.h"

#define BLOCK 4096u
#define ROWS  (64 * BLOCK)
static int32_t values[ROWS];

static void overhead_is_a_word_a_block(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 1; width <= 32; width++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + 32.0 / BLOCK, 0.01);
    }
}

/* As the paper says: one large value widens all 4096 of its block, and no other block. */
static void a_large_value_widens_its_block(void **state)
{
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)(i % 16);
    values[5 * BLOCK + 77] = 1 << 20;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), (63 * 4 + 21) / 64.0 + 32.0 / BLOCK, 0.01);
}

/* Blocks that end with each of their four tiles, and in the middle of one. */
static void partial_blocks_round_trip(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    int64_t *wide = cases_allocate(3 * BLOCK * sizeof *wide);
    for (uint32_t rows = BLOCK - 1; rows <= 2 * BLOCK + 1; rows += 511)
        for (uint32_t value_bytes = 4; value_bytes <= 8; value_bytes += 4)
            for (unsigned width = 0; width <= value_bytes * 8; width++) {
                for (uint32_t i = 0; i < rows; i++)
                    cases_set(wide, i, value_bytes, random_bits(&random, width));
                check_round_trip(cases_codec(state), wide, rows, value_bytes);
            }
    free(wide);
}

/* The worked example of docs/codecs.md: row r holds r / 128 % 8. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < BLOCK; r++)
        values[r] = (int32_t)(r / 128 % 8);
    values[1024 + 128 + 5] = 0;
    const struct codec *codec = codec_by_id(CODEC_GPU_SIMDBP128);
    uint8_t *chunk = cases_allocate(codec->bound(BLOCK, 4));
    assert_int_equal(codec_encode(codec, values, BLOCK, 4, chunk), 128 + 3 * 512);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128);
    assert_int_equal(directory[0], 3u << 25);
    /* 0, 1, … 7 in 3 bits each, over and over; item 9 of lane 5 is 0: bits 27 .. 29 */
    static const uint32_t lines[] = {0x88fac688u, 0xc688fac6u, 0xfac688fau};
    for (uint32_t word = 0; word < 3 * 128; word++)
        assert_int_equal(data[word], word == 5 ? lines[0] & ~(7u << 27) : lines[word / 128]);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_GPU_SIMDBP128;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(overhead_is_a_word_a_block, &id),
        cmocka_unit_test_prestate(a_large_value_widens_its_block, &id),
        cmocka_unit_test_prestate(partial_blocks_round_trip, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
