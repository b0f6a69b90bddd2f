/*
 * test_orc_rle1.c: orc-rle1: the general cases of codecs; the specification's examples, each kind of group at its limits, and
 * streams that are refused. tests/storage/codec/bytes/test_orc_rle.c has the round trips of both versions.
 */
#include "tests/support/codec/codec_cases.h"
#include "tests/support/orc_streams.h"

static void examples_of_the_specification(void **state)
{
    (void)state;
    uint8_t items[100];
    memset(items, 7, sizeof items);
    CHECK_STREAM(&orc_version1, items, 100, UNSIGNED(1), 0x61, 0x00, 0x07);
    for (uint8_t i = 0; i < 100; i++)
        items[i] = (uint8_t)(100 - i);
    CHECK_STREAM(&orc_version1, items, 100, UNSIGNED(1), 0x61, 0xff, 0x64);
    CHECK_STREAM(&orc_version1, ((uint8_t[]){2, 3, 6, 7, 11}), 5, UNSIGNED(1), 0xfb, 0x02, 0x03, 0x06, 0x07,
                 0x0b);
}

static void runs_end_at_130_and_literals_at_128(void **state)
{
    (void)state;
    uint16_t items[131];
    for (uint16_t i = 0; i < 131; i++)
        items[i] = (uint16_t)(i * 127);
    CHECK_STREAM(&orc_version1, items, 131, UNSIGNED(2), 0x7f, 0x7f, 0x00, 0xff, 0xfe, 0x80, 0x01);
    int8_t letters[129];
    uint8_t stream[131] = {0x80};
    for (unsigned i = 0; i < 129; i++) {
        letters[i] = (int8_t)(i % 3 == 1);
        stream[1 + i + (i == 128)] = i % 3 == 1 ? 2 : 0;
    }
    stream[129] = 0xff;
    check_stream(&orc_version1, letters, 129, SIGNED(1), stream, sizeof stream);
}

/* A run takes the two items before its third one from the literals, and none that another group has. */
static void a_run_begins_at_its_third_item(void **state)
{
    (void)state;
    CHECK_STREAM(&orc_version1, ((int32_t[]){5, 9, 9, 9}), 4, SIGNED(4), 0xff, 0x0a, 0x00, 0x00, 0x12);
    CHECK_STREAM(&orc_version1, ((int32_t[]){1, 2, 3, 5, 7, 9}), 6, SIGNED(4), 0x00, 0x01, 0x02, 0x00, 0x02,
                 0x0a);
    CHECK_STREAM(&orc_version1, ((int32_t[]){0, -128, -256}), 3, SIGNED(4), 0x00, 0x80, 0x00);
    CHECK_STREAM(&orc_version1, ((int32_t[]){0, 127, 254}), 3, SIGNED(4), 0x00, 0x7f, 0x00);
    CHECK_STREAM(&orc_version1, ((int32_t[]){0, 128, 256}), 3, UNSIGNED(4), 0xfd, 0x00, 0x80, 0x01, 0x80,
                 0x02);
}

static void arithmetic_wraps(void **state)
{
    (void)state;
    CHECK_STREAM(&orc_version1, ((int64_t[]){INT64_MAX, INT64_MIN, INT64_MIN + 1}), 3, SIGNED(8), 0x00, 0x01,
                 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
    CHECK_DECODES(&orc_version1, ((uint8_t[]){255, 0, 1}), 3, UNSIGNED(1), 0x00, 0x01, 0xff, 0x03);
    CHECK_DECODES(&orc_version1, ((int64_t[]){-1}), 1, UNSIGNED(8), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                  0xff, 0xff, 0xff, 0x7f);
}

static void damaged_streams_are_refused(void **state)
{
    (void)state;
    CHECK_REFUSED(&orc_version1, 3, UNSIGNED(4), 0x01, 0x00, 0x07);       /* 4 items */
    CHECK_REFUSED(&orc_version1, 1, UNSIGNED(4), 0xfe, 0x00, 0x07);       /* 2 items */
    CHECK_REFUSED(&orc_version1, 4, UNSIGNED(4), 0x00, 0x00, 0x07);       /* 3 items */
    CHECK_REFUSED(&orc_version1, 3, UNSIGNED(4), 0x00, 0x00, 0x07, 0x00); /* a byte too many */
    CHECK_REFUSED(&orc_version1, 3, UNSIGNED(4), 0x00, 0x00, 0x80);
    CHECK_REFUSED(&orc_version1, 3, UNSIGNED(4), 0x00, 0x00);
    CHECK_REFUSED(&orc_version1, 3, UNSIGNED(4), 0x00);
    CHECK_REFUSED(&orc_version1, 1, UNSIGNED(4), 0xff);
    CHECK_REFUSED(&orc_version1, 2, UNSIGNED(4), 0xfe, 0x01, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80);
    CHECK_REFUSED(&orc_version1, 1, UNSIGNED(8), 0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                  0x80, 0x00);
}

/* The worked example of docs/codecs.md: the last row, 8, fills up the tile. */
static void bytes_are_where_the_format_says(void **state)
{
    static const int32_t values[] = {100, 99, 98, 97, 3, -2, 300, 8};
    static const uint8_t stream[] = {0x01, 0xff, 0xc8, 0x01, 0xfd, 0x06, 0x03, 0xd8, 0x04, 0x7f, 0x00,
                                     0x10, 0x7f, 0x00, 0x10, 0x7f, 0x00, 0x10, 0x7f, 0x00, 0x10, 0x7f,
                                     0x00, 0x10, 0x7f, 0x00, 0x10, 0x7f, 0x00, 0x10, 0x68, 0x00, 0x10};
    check_chunk_stream(cases_codec(state), values, 8, stream, sizeof stream);
}

int main(void)
{
    static enum codec_id id = CODEC_ORC_RLE1;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(bytes_are_where_the_format_says, &id),
        cmocka_unit_test(examples_of_the_specification),
        cmocka_unit_test(runs_end_at_130_and_literals_at_128),
        cmocka_unit_test(a_run_begins_at_its_third_item),
        cmocka_unit_test(arithmetic_wraps),
        cmocka_unit_test(damaged_streams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
