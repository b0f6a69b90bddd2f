/* test_lane_pfor.c: lane-pfor: the general cases, its size with and without outliers, and its bits. */
#include "tests/support/codec/outliers.h"

#define ROWS (256 * TILE_ROWS)
static int32_t values[ROWS];

/* 51.2 exceptions a tile, of 10 bits of position and the high bits; 16 bytes of directory, 4 of high part. */
static void outliers_take_their_positions_and_high_bits(void **state)
{
    for (uint32_t width = 2; width <= 16; width += 2) {
        fill_outliers(values, ROWS, 4, width, 24, false);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4),
                   width + 0.05 * (10 + 24 - width) + 20 * 8 / 1024.0, 0.05);
        fill_outliers(values, ROWS, 4, width, 24, true);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4),
                   width + 0.05 * (10 + 25 - width) + 20 * 8 / 1024.0, 0.06);
    }
}

static void without_outliers_it_is_an_eighth_of_a_bit(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 1; width < 32; width++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + 0.125, 0.02);
    }
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t bits_of(uint64_t value)
{
    return value ? 64 - (uint32_t)__builtin_clzll(value) : 0;
}

/* The bytes of a tile with codes of `width` bits from the sorted value `begin` on, which `inside` values have. */
static uint32_t bytes_with(const int32_t *sorted, uint32_t width, uint32_t begin, uint32_t inside)
{
    const uint32_t end = begin + inside, count = TILE_ROWS - inside;
    if (count == 0)
        return width * 128;
    const int64_t low = (int64_t)sorted[begin == 0 ? end : 0] - sorted[begin];
    const int64_t high = (int64_t)sorted[end == TILE_ROWS ? begin - 1 : TILE_ROWS - 1] - sorted[begin];
    const uint32_t high_width = bits_of((uint64_t)((high >> width) - (low >> width)));
    return width * 128 + 4 + (count * 10 + 31) / 32 * 4 + (count * high_width + 31) / 32 * 4;
}

/* No width gives fewer bytes than the one taken, if the codes are those of as many values as possible. */
static void the_width_is_the_one_of_the_fewest_bytes(void **state)
{
    const struct codec *codec = codec_by_id(cases_codec(state));
    uint64_t random = CODEC_CASES_SEED;
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    for (uint32_t round = 0; round < 20; round++) {
        fill_heavy_tails(values, TILE_ROWS, 4, &random);
        assert_int_not_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 0);
        const uint32_t *directory = (const uint32_t *)(chunk + 64);
        const uint32_t width = directory[0] >> 26, count = directory[3] & 0xffff,
                       high_width = directory[3] >> 16;
        const uint32_t taken =
            width * 128 + 4 + (count * 10 + 31) / 32 * 4 + (count * high_width + 31) / 32 * 4;
        qsort(values, TILE_ROWS, sizeof *values, ascending);
        for (uint32_t other = 0; other < 32; other++) {
            uint32_t begin = 0, inside = 0;
            for (uint32_t first = 0; first < TILE_ROWS; first++) {
                uint32_t end = first;
                while (end < TILE_ROWS && ((int64_t)values[end] - values[first]) >> other == 0)
                    end++;
                begin = end - first > inside ? first : begin;
                inside = end - first > inside ? end - first : inside;
            }
            assert_true(taken <= bytes_with(values, other, begin, inside));
            if (other == width && count == TILE_ROWS - inside)
                assert_int_equal(taken, bytes_with(values, other, begin, inside));
        }
    }
    free(chunk);
}

/* The worked example of docs/codecs.md: row r holds 100 + r % 8, but row 37 holds 1000 and row 700 holds -1. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = r == 37 ? 1000 : r == 700 ? -1 : 100 + (int32_t)(r % 8);
    const struct codec *codec = codec_by_id(CODEC_LANE_PFOR);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    assert_int_equal(codec_encode(codec, values, TILE_ROWS, 4, chunk), 128 + (3 * 128 + 256) + 128);
    const uint32_t *directory = (const uint32_t *)(chunk + 64), *data = (const uint32_t *)(chunk + 128),
                   *lists = (const uint32_t *)(chunk + 128 + 640);
    static const uint32_t expected_directory[] = {3u << 26, 100, 0, 2 | 7 << 16};
    assert_memory_equal(directory, expected_directory, sizeof expected_directory);
    /* lane 5: all items are 5, but item 1 (row 37) is 900 % 8 = 4 */
    assert_int_equal(data[5], (0x6db6db6du & ~(7u << 3)) | 4u << 3);
    assert_int_equal(data[32 + 5], 0xdb6db6dbu);
    /* high parts: 900 / 8 = 112 of row 37; -101 / 8 = -13 (downwards) of row 700 */
    static const uint32_t expected_list[] = {(uint32_t)-13, 37 | 700 << 10, (112 + 13) | 0 << 7};
    assert_memory_equal(lists, expected_list, sizeof expected_list);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_LANE_PFOR;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(outliers_round_trip, &id),
        cmocka_unit_test_prestate(outliers_take_their_positions_and_high_bits, &id),
        cmocka_unit_test_prestate(without_outliers_it_is_an_eighth_of_a_bit, &id),
        cmocka_unit_test_prestate(the_width_is_the_one_of_the_fewest_bytes, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
