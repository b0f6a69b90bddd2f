/* test_gpu_for.c: gpu-for: the general cases, the published sizes, its bits, and four different widths. */
#include "tests/support/codec/codec_cases.h"

#define ROWS (512 * TILE_ROWS)
static int32_t values[ROWS];

static void overhead_is_three_quarters_of_a_bit(void **state)
{
    uint64_t random = CODEC_CASES_SEED;
    for (unsigned width = 8; width <= 31; width++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)random_bits(&random, width);
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), width + 0.75, 0.01);
    }
}

static void sorted_numbers_take_7_75_bits(void **state)
{
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = (int32_t)i + 1;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 7.75, 0.01);
}

static void a_block_of_equal_values_takes_six_words_and_a_start(void **state)
{
    for (uint32_t i = 0; i < ROWS; i++)
        values[i] = -7;
    check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 7.0 * 32 / 128, 0.01);
}

/* The worked example of docs/codecs.md: row r holds 100 + r % 8. */
static void bits_are_where_the_format_says(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < TILE_ROWS; r++)
        values[r] = 100 + (int32_t)(r % 8);
    const struct codec *codec = codec_by_id(CODEC_GPU_FOR);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    codec_encode(codec, values, TILE_ROWS, 4, chunk);
    const uint32_t *starts = (const uint32_t *)(chunk + 64), *words = (const uint32_t *)(chunk + 128);
    for (uint32_t block = 0; block <= 8; block++)
        assert_int_equal(starts[block], block * 14);
    for (uint32_t block = 0; block < 8; block++) {
        assert_int_equal(words[14 * block], 100);
        assert_int_equal(words[14 * block + 1], 0x03030303);
        for (uint32_t miniblock = 0; miniblock < 4; miniblock++) {
            assert_int_equal(words[14 * block + 2 + 3 * miniblock], 0x88fac688u);
            assert_int_equal(words[14 * block + 3 + 3 * miniblock], 0xc688fac6u);
            assert_int_equal(words[14 * block + 4 + 3 * miniblock], 0xfac688fau);
        }
    }
    free(chunk);
}

/* No encoder of ours makes them, but the format has them: widths 0, 1, 8 and 32 in one block. */
static void miniblocks_may_differ_in_width(void **state)
{
    (void)state;
    memset(values, 0, TILE_ROWS * sizeof *values);
    values[5] = INT32_MIN; /* makes block 0 as long as can be, so that the shorter one fits */
    const struct codec *codec = codec_by_id(CODEC_GPU_FOR);
    uint8_t *chunk = cases_allocate(codec->bound(TILE_ROWS, 4));
    const size_t encoded = codec_encode(codec, values, TILE_ROWS, 4, chunk);
    struct chunk_header *header = (struct chunk_header *)chunk;
    uint32_t *starts = (uint32_t *)(chunk + 64), *words = (uint32_t *)(chunk + 128);
    const uint32_t old_end = starts[1], taken = 2 + 1 + 1 + 8 + 32, shorter = old_end - taken;
    memmove(words + taken, words + old_end, header->data_bytes - old_end * 4);
    memset(words + (header->data_bytes / 4 - shorter), 0, shorter * 4);
    for (uint32_t block = 1; block <= 8; block++)
        starts[block] -= shorter;
    header->data_bytes -= shorter * 4;
    header->chunk_bytes = 128 + (header->data_bytes + 127) / 128 * 128;
    assert_true(header->chunk_bytes <= encoded);
    words[0] = 1000;
    words[1] = 0x20080100;
    words[2] = 0;
    words[3] = 0xaaaaaaaa;
    for (uint32_t i = 0; i < 8; i++)
        words[4 + i] = 0x03020100 + i * 0x04040404;
    for (uint32_t i = 0; i < 32; i++)
        words[12 + i] = i << 20;
    struct chunk_view view;
    struct error error = {0};
    assert_int_equal(chunk_open(chunk, header->chunk_bytes, &view, &error), STATUS_OK);
    for (int level = 0; level <= (int)isa_level(); level++) {
        _Alignas(64) int32_t tile[TILE_ROWS];
        view.codec = codec_by_id_isa(CODEC_GPU_FOR, (enum isa_level)level);
        view.codec->decode_tile(&view, 0, tile);
        for (int32_t i = 0; i < 32; i++) {
            assert_int_equal(tile[i], 1000);
            assert_int_equal(tile[32 + i], 1000 + i % 2);
            assert_int_equal(tile[64 + i], 1000 + i);
            assert_int_equal(tile[96 + i], 1000 + (i << 20));
            for (uint32_t m = 0; m < 4; m++)
                assert_int_equal(view.codec->value(&view, 32 * m + (uint32_t)i), tile[32 * m + (uint32_t)i]);
        }
        assert_int_equal(tile[128], 0);
        assert_int_equal(tile[1023], 0);
    }
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_GPU_FOR;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(overhead_is_three_quarters_of_a_bit, &id),
        cmocka_unit_test_prestate(sorted_numbers_take_7_75_bits, &id),
        cmocka_unit_test_prestate(a_block_of_equal_values_takes_six_words_and_a_start, &id),
        cmocka_unit_test_prestate(bits_are_where_the_format_says, &id),
        cmocka_unit_test_prestate(miniblocks_may_differ_in_width, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
