/* test_alp.c: alp: the general cases, decimals with and without exceptions, doubles of every kind, and its bits. */
#include "storage/base/double_key.h"
#include "tests/support/codec/codec_cases.h"

#define MANY (64 * TILE_ROWS)

static int64_t values[MANY];

static void decimals_take_the_bits_of_their_digits(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < MANY; i++)
        values[i] = double_key_of((double)random_bits(&random, 17) / 100);
    check_bits(bits_a_value(cases_codec(state), values, MANY, 8), 17 + 0.1875, 0.07);
}

static void exceptions_take_their_values_and_rows(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t i = 0; i < MANY; i++)
        values[i] = i % 64 == 7 ? double_key_of((double)random_next(&random) * 0x1.3p-70)
                                : double_key_of((double)random_bits(&random, 17) / 100);
    check_bits(bits_a_value(cases_codec(state), values, MANY, 8), 17 + 0.1875 + 80.0 / 64, 0.07);
}

static void doubles_of_every_kind_come_back(void **state)
{
    static const uint32_t sizes[] = {1, 31, 1023, 1024, 1025, 5000};
    static int64_t tile[TILE_ROWS];
    const struct codec *codec = codec_by_id(cases_codec(state));
    uint64_t random = CODEC_CASES_SEED;
    for (uint32_t kind = 0; kind < 6; kind++) {
        for (uint32_t i = 0; i < 5000; i++) {
            const int64_t any = (int64_t)random_next(&random),
                          small = (int64_t)random_bits(&random, 20) - 500000;
            values[i] = kind == 0   ? any /* also -0 and NaNs that no column has */
                        : kind == 1 ? double_key_of((double)small / 1000)
                        : kind == 2 ? (i % 5 ? double_key_of((double)small) : DOUBLE_KEY_NAN)
                        : kind == 3 ? double_key_of((double)small / 3)
                        : kind == 4 ? double_key_of((double)small * (i % 2 ? 1e-300 : 1e300))
                                    : double_key_of((double)(any >> 13) / 1e9);
            values[i] = i % 97 == 3 ? (i % 2 ? DOUBLE_KEY_INFINITY : DOUBLE_KEY_MINUS_INFINITY) : values[i];
            values[i] = i % 101 == 5 ? -1 : values[i];
        }
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            uint8_t *chunk = cases_allocate(codec->bound(sizes[s], 8));
            struct chunk_view view;
            struct error why = {0};
            const size_t bytes = codec_encode(codec, values, sizes[s], 8, chunk);
            assert_int_equal(chunk_open(chunk, bytes, &view, &why), STATUS_OK);
            for (uint32_t row = 0; row < sizes[s]; row++) {
                if (row % TILE_ROWS == 0)
                    codec->decode_tile(&view, row / TILE_ROWS, tile);
                assert_int_equal(tile[row % TILE_ROWS], values[row]);
                assert_int_equal(codec->value(&view, row), values[row]);
            }
            free(chunk);
        }
    }
}

/* The worked example of docs/codecs.md: row r holds (100 + r % 8) / 100, but row 37 holds infinity. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = r == 37 ? DOUBLE_KEY_INFINITY : double_key_of((100 + (double)(r % 8)) / 100);
    const struct codec *codec = codec_by_id(CODEC_ALP);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 8));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 8, chunk), 128 + (3 * 128 + 256) + 128);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128),
                   *lists = (const uint32_t *)(chunk + 128 + 640);
    static const uint32_t expected_directory[] = {0, 3, 100, 0, 0, 1 | 2 << 16 | 1u << 31};
    assert_memory_equal(directory, expected_directory, sizeof expected_directory);
    assert_int_equal(data[5],
                     0x6db6db6du & ~(7u << 3)); /* lane 5: all items are 5, but item 1 (row 37) is 0 */
    static const uint32_t expected_list[] = {0, 0x7ff00000, 37};
    assert_memory_equal(lists, expected_list, sizeof expected_list);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_ALP;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(decimals_take_the_bits_of_their_digits, &id),
        cmocka_unit_test_prestate(exceptions_take_their_values_and_rows, &id),
        cmocka_unit_test_prestate(doubles_of_every_kind_come_back, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
