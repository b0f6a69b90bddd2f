/* test_pfor.c: pfor: the general cases, its size with and without outliers, and its bits. */
#include "tests/support/codec/outliers.h"

#define ROWS (256 * TILE_ROWS)
static int32_t values[ROWS];

/* The header of 4 words and a start; 51.2 offsets of 10 bits a tile, and as many remainders. */
static void outliers_take_their_offsets_and_remainders(void **state)
{
    for (uint32_t width = 2; width <= 16; width += 2) {
        fill_outliers(values, ROWS, 4, width, 24, false);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4),
                   width + 0.05 * (10 + 24 - width) + 160 / 1024.0, 0.05);
        fill_outliers(values, ROWS, 4, width, 24, true);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4),
                   width + 0.05 * (10 + 25 - width) + 160 / 1024.0, 0.06);
    }
}

static void overhead_is_five_words_a_tile(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 1; width < 32; width++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + 160 / 1024.0, 0.02);
    }
}

/* The worked example of docs/codecs.md: the frame of the paper's section 2.1, 64 times over. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    static const int32_t frame[] = {1, 2, 3, 3, 2, 2, 2, 3, 3, 1, 1, 64, 2, 3, 1, 1};
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = frame[r % 16];
    const struct codec *codec = codec_by_id(CODEC_PFOR);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    const uint32_t words = 4 + 64 + 20;
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk),
                     128 + (words * 4 + 64 + 127) / 128 * 128);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128);
    assert_int_equal(directory[0], 0);
    assert_int_equal(directory[1], words);
    /* width 2, offsets of 10 bits, remainders of none; 64 exceptions from row 11 on; references 0 and 16 */
    static const uint32_t header[] = {2 | 10 << 8, 64 | 11 << 16, 0, 16};
    assert_memory_equal(data, header, sizeof header);
    static const uint8_t codes[] = {0xf9, 0xea, 0x17, 0x5e};
    for (uint32_t w = 0; w < 64; w++)
        assert_memory_equal(data + 4 + w, codes, sizeof codes);
    /* offsets 0, 16, 32, 48 … */
    assert_int_equal(data[68], 0 | 16 << 10 | 32 << 20 | UINT32_C(48) << 30);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_PFOR;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(outliers_round_trip, &id),
        cmocka_unit_test_prestate(outliers_take_their_offsets_and_remainders, &id),
        cmocka_unit_test_prestate(overhead_is_five_words_a_tile, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
