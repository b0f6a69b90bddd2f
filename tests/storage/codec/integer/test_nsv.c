/* test_nsv.c: nsv: the general cases, its size, and its bytes. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (64 * TILE_ROWS)
static int32_t values[ROWS];

/* Two bits of length and the bytes of each value, and a start for each tile. */
static void takes_whole_bytes_and_two_bits(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 2; width <= 30; width += 4) {
        double bytes = 0;
        for (uint32_t i = 0; i < ROWS; i++) {
            const uint32_t value = (uint32_t)random_bits(&random, width);
            values[i] = (int32_t)value;
            bytes += value < 1 << 8 ? 1 : value < 1 << 16 ? 2 : value < 1 << 24 ? 3 : 4;
        }
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 2 + 8 * bytes / ROWS + 32.0 / TILE_ROWS,
                   0.05);
    }
}

/* The worked example of docs/codecs.md: 1, 300, 70000, -1, and then 1 for ever. */
static void bytes_are_where_the_format_says(void **state)
{
    static const uint8_t expected[] = {0x01, 0x2c, 0x01, 0x70, 0x11, 0x01, 0xff, 0xff, 0xff, 0xff, 0x01};
    static const int32_t first[] = {1, 300, 70000, -1};
    (void)state;
    for (uint32_t i = 0; i < TILE_ROWS; i++)
        values[i] = i < 4 ? first[i] : 1;
    const struct codec *codec = codec_by_id(CODEC_NSV);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    const size_t bytes = codec_encode(codec, values, TILE_ROWS, 4, chunk);
    const uint32_t *const starts = (const uint32_t *)(chunk + 64);
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[1], 1030);
    assert_memory_equal(chunk + 128, expected, sizeof expected);
    assert_int_equal(chunk[bytes - 256], 0xe4);
    for (size_t i = bytes - 255; i < bytes; i++)
        assert_int_equal(chunk[i], 0);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_NSV;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(takes_whole_bytes_and_two_bits, &id),
        cmocka_unit_test_prestate(bytes_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
