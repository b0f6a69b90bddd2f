/* test_chunk.c: what chunk_open checks in the header, what it says, and how codecs are found by name. */
#include "tests/support/codec/codec_cases.h"

static uint8_t *one_chunk(size_t *bytes)
{
    int32_t values[1500];
    for (int32_t i = 0; i < 1500; i++)
        values[i] = i * i;
    const struct codec *codec = codec_by_id(CODEC_LANE_FOR);
    uint8_t *chunk = cases_allocate(codec->bound(1500, 4));
    *bytes = codec_encode(codec, values, 1500, 4, chunk);
    return chunk;
}

static void a_sound_chunk_opens(void **state)
{
    (void)state;
    size_t bytes;
    uint8_t *encoded = one_chunk(&bytes);
    struct chunk_view chunk;
    struct error error = {0};
    assert_int_equal(chunk_open(encoded, bytes, &chunk, &error), STATUS_OK);
    assert_string_equal(chunk.codec->name, "lane-for");
    assert_int_equal(chunk.rows, 1500);
    assert_int_equal(chunk.tiles, 2);
    assert_int_equal(chunk.value_bytes, 4);
    assert_int_equal(chunk.size, bytes);
    assert_ptr_equal(chunk.directory, encoded + 64);
    assert_ptr_equal(chunk.data, encoded + 128);
    assert_int_equal(chunk.value_bytes, 4);
    free(encoded);
}

static void each_wrong_field_of_the_header_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset, bytes;
        uint64_t value;
        const char *sentence;
    } cases[] = {
        {offsetof(struct chunk_header, codec), 4, 0, "codec number 0"},
        {offsetof(struct chunk_header, codec), 4, CODEC_COUNT, "use a newer version"},
        {offsetof(struct chunk_header, codec), 4, CODEC_RANK_RLE, "rank-rle directory"},
        {offsetof(struct chunk_header, rows), 4, 0, "row count"},
        {offsetof(struct chunk_header, rows), 4, SEGMENT_ROWS + 1, "row count"},
        {offsetof(struct chunk_header, rows), 4, 3000, "lane-for directory"},
        {offsetof(struct chunk_header, value_bytes), 4, 5, "neither 4 nor 8"},
        {offsetof(struct chunk_header, value_bytes), 4, 8, "lane-for directory"},
        {offsetof(struct chunk_header, width_low), 4, 32, "widths"},
        {offsetof(struct chunk_header, width_low), 4, 1, "lane-for directory"},
        {offsetof(struct chunk_header, width_high), 4, 33, "widths"},
        {offsetof(struct chunk_header, reserved), 4, 1, "reserved"},
        {offsetof(struct chunk_header, reserved2), 8, 1, "reserved"},
        {offsetof(struct chunk_header, directory_bytes), 8, 8, "lane-for directory"},
        {offsetof(struct chunk_header, directory_bytes), 8, UINT64_MAX, "sections"},
        {offsetof(struct chunk_header, data_bytes), 8, UINT64_MAX - 63, "sections"},
        {offsetof(struct chunk_header, data_bytes), 8, 0, "sections"},
        {offsetof(struct chunk_header, auxiliary_bytes), 8, UINT64_MAX / 2, "sections"},
        {offsetof(struct chunk_header, chunk_bytes), 8, 128, "sections"},
    };
    size_t bytes;
    uint8_t *encoded = one_chunk(&bytes);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *damaged = cases_allocate(bytes);
        struct chunk_view chunk;
        struct error error = {0};
        memcpy(damaged, encoded, bytes);
        memcpy(damaged + cases[i].offset, &cases[i].value, cases[i].bytes);
        assert_int_equal(chunk_open(damaged, bytes, &chunk, &error), STATUS_BAD_INPUT);
        if (!strstr(error.text, cases[i].sentence))
            fail_msg("case %zu: expected '%s' in: %s", i, cases[i].sentence, error.text);
        free(damaged);
    }
    free(encoded);
}

static void codecs_have_a_name_and_a_number(void **state)
{
    (void)state;
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const struct codec *codec = codec_by_id(id);
        assert_non_null(codec);
        assert_int_equal(codec->id, id);
        assert_ptr_equal(codec_by_name(codec->name), codec);
        assert_ptr_equal(codec_by_id_isa(id, isa_level()), codec);
    }
    assert_null(codec_by_id(CODEC_NONE));
    assert_null(codec_by_id(CODEC_COUNT));
    assert_null(codec_by_name("lane"));
}

static void all_names_are_listed(void **state)
{
    (void)state;
    static const char first[] = "plain, nsf, gpu-for, ";
    char names[CODEC_NAMES_BYTES];
    const char *at = codec_names(names, sizeof names);
    assert_int_equal(strncmp(at, first, strlen(first)), 0);
    for (uint32_t id = 1; id < CODEC_COUNT; id++) {
        const char *const name = codec_by_id(id)->name;
        assert_int_equal(strncmp(at, name, strlen(name)), 0);
        at += strlen(name);
        const char *const after = id + 1 < CODEC_COUNT ? ", " : "";
        assert_int_equal(strncmp(at, after, strlen(after)), 0);
        at += strlen(after);
    }
    assert_string_equal(at, "");
    assert_int_equal(codec_by_name("gpu-for")->id, CODEC_GPU_FOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_chunk_opens),
        cmocka_unit_test(each_wrong_field_of_the_header_is_refused),
        cmocka_unit_test(codecs_have_a_name_and_a_number),
        cmocka_unit_test(all_names_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
