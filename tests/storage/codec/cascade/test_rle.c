/* test_rle.c: rle: the general cases, its size, and its bytes. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (64 * TILE_ROWS)
static int32_t values[ROWS];

/* A value and a length for each run, and a word for each tile; runs end with their tile. */
static void takes_two_words_a_run(void **state)
{
    for (uint32_t length = 1; length <= 4 * TILE_ROWS; length *= 4) {
        const double runs = length < TILE_ROWS ? 1.0 / length : 1.0 / TILE_ROWS;
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)(i / length);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 64 * runs + 32.0 / TILE_ROWS, 0.05);
    }
}

/* The worked example of docs/codecs.md: 500 times 7, 12 times 9, 512 times 7. */
static void bytes_are_where_the_format_says(void **state)
{
    static const uint32_t run_values[] = {7, 9, 7, 0}, lengths[] = {500, 12, 512, 0};
    (void)state;
    for (uint32_t i = 0; i < TILE_ROWS; i++)
        values[i] = i < 500 || i >= 512 ? 7 : 9;
    const struct codec *codec = codec_by_id(CODEC_RLE);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 384);
    const uint32_t *const first_run = (const uint32_t *)(chunk + 64);
    assert_int_equal(first_run[0], 0);
    assert_int_equal(first_run[1], 3);
    assert_memory_equal(chunk + 128, run_values, sizeof run_values);
    assert_memory_equal(chunk + 256, lengths, sizeof lengths);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_RLE;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(takes_two_words_a_run, &id),
        cmocka_unit_test_prestate(bytes_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
