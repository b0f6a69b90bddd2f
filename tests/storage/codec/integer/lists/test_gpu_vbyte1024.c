/* test_gpu_vbyte1024.c: gpu-vbyte1024: the general cases, the published sizes, its bytes, and chunks that it refuses. */
#include "tests/support/codec/posting_lists.h"

#define ROWS (512 * TILE_ROWS)
static int32_t values[ROWS];

/* Table 1 of the paper, uniform lists. */
static void gaps_take_the_published_bits(void **state)
{
    check_published_bits(cases_codec(state), 17.78, 10.06);
}

/* Selectors, an end point and, because whole words are padded by one, a word of padding. */
static void each_length_has_its_size(void **state)
{
    for (unsigned bytes = 1; bytes <= 4; bytes++) {
        for (uint32_t i = 0; i < ROWS; i++)
            values[i] = (int32_t)(UINT32_MAX >> (32 - 8 * bytes));
        check_bits(bits_a_value(cases_codec(state), values, ROWS, 4), 8 * bytes + 2 + 64.0 / 1024, 0.01);
    }
}

static void lengths_may_be_mixed(void **state)
{
    check_mixed_lengths(cases_codec(state));
}

/* The worked example of docs/codecs.md. */
static void bytes_are_where_the_format_says(void **state)
{
    uint8_t *chunk = check_bytes_example(cases_codec(state), 1024);
    static const uint32_t ends[] = {0, 1288};
    assert_memory_equal(chunk + 64, ends, sizeof ends);
    free(chunk);
}

static void wrong_places_are_refused(void **state)
{
    uint8_t *chunk = check_bytes_example(cases_codec(state), 1024);
    check_end_point_refused(chunk, 0, 4);
    check_end_point_refused(chunk, 1, 4);
    check_end_point_refused(chunk, 1, -4);
    check_end_point_refused(chunk, 1, 4);
    struct chunk_view view;
    const uint64_t size = ((const struct chunk_header *)chunk)->chunk_bytes;
    chunk[128 + 4] = 0x55; /* four values of 2 bytes: the block is longer than its end point says */
    assert_int_equal(chunk_open(chunk, size, &view, NULL), STATUS_BAD_INPUT);
    free(chunk);
}

int main(void)
{
    static enum codec_id id = CODEC_GPU_VBYTE1024;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(gaps_take_the_published_bits, &id),
        cmocka_unit_test_prestate(each_length_has_its_size, &id),
        cmocka_unit_test_prestate(lengths_may_be_mixed, &id),
        cmocka_unit_test_prestate(bytes_are_where_the_format_says, &id),
        cmocka_unit_test_prestate(wrong_places_are_refused, &id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
