/*
 * test_orc_rle2.c: orc-rle2: the general cases of codecs; the specification's examples, each encoding at its limits, and
 * streams that are refused. tests/storage/codec/bytes/test_orc_rle.c has the round trips of both versions.
 */
#include "tests/support/codec/codec_cases.h"
#include "tests/support/orc_streams.h"

#define GROUP 512

/* The specification's items of a patched base; 20 of them. */
static const int32_t patched[] = {2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090,
                                  2100, 2110, 2120, 2130,    2140, 2150, 2160, 2170, 2180, 2190};

static void examples_of_the_specification(void **state)
{
    (void)state;
    const struct orc_version *const v = &orc_version2;
    CHECK_STREAM(v, ((uint16_t[]){10000, 10000, 10000, 10000, 10000}), 5, UNSIGNED(2), 0x0a, 0x27, 0x10);
    CHECK_STREAM(v, ((uint16_t[]){23713, 43806, 57005, 48879}), 4, UNSIGNED(2), 0x5e, 0x03, 0x5c, 0xa1, 0xab,
                 0x1e, 0xde, 0xad, 0xbe, 0xef);
    CHECK_STREAM(v, patched, 20, UNSIGNED(4), 0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70,
                 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4,
                 0xbe, 0xfc, 0xe8);
    CHECK_STREAM(v, ((uint8_t[]){2, 3, 5, 7, 11, 13, 17, 19, 23, 29}), 10, UNSIGNED(1), 0xc6, 0x09, 0x02,
                 0x02, 0x22, 0x42, 0x42, 0x46);
}

static void repeats_are_short_up_to_ten_and_end_at_512(void **state)
{
    (void)state;
    int32_t items[GROUP + 3];
    for (uint32_t i = 0; i < GROUP + 3; i++)
        items[i] = -100;
    CHECK_STREAM(&orc_version2, items, 2, SIGNED(4), 0x4e, 0x01, 0xc7, 0xc7);
    CHECK_STREAM(&orc_version2, items, 3, SIGNED(4), 0x00, 0xc7);
    CHECK_STREAM(&orc_version2, items, 10, SIGNED(4), 0x07, 0xc7);
    CHECK_STREAM(&orc_version2, items, 11, SIGNED(4), 0xc0, 0x0a, 0xc7, 0x01, 0x00);
    CHECK_STREAM(&orc_version2, items, GROUP, SIGNED(4), 0xc1, 0xff, 0xc7, 0x01, 0x00);
    CHECK_STREAM(&orc_version2, items, GROUP + 3, SIGNED(4), 0xc1, 0xff, 0xc7, 0x01, 0x00, 0x00, 0xc7);
}

/* Three equal items end a group before them; two do not. */
static void a_repeat_ends_the_group_before_it(void **state)
{
    (void)state;
    CHECK_STREAM(&orc_version2, ((int16_t[]){1, 0, 0, 0}), 4, SIGNED(2), 0x42, 0x00, 0x80, 0x00, 0x00);
    CHECK_STREAM(&orc_version2, ((uint8_t[]){1, 0, 0, 1, 1}), 5, UNSIGNED(1), 0x40, 0x04, 0x98);
}

static void direct_widths_are_aligned(void **state)
{
    (void)state;
    CHECK_STREAM(&orc_version2, ((uint8_t[]){7, 0, 5}), 3, UNSIGNED(1), 0x46, 0x02, 0x70, 0x50);
    CHECK_STREAM(&orc_version2, ((uint32_t[]){1u << 16}), 1, UNSIGNED(4), 0x6e, 0x00, 0x01, 0x00, 0x00);
    CHECK_STREAM(&orc_version2, ((int64_t[]){INT64_MIN, INT64_MAX, 0, INT64_MIN}), 4, SIGNED(8), 0x7e, 0x03,
                 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                 0xfe, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                 0xff, 0xff);
}

static void deltas_go_up_or_down(void **state)
{
    (void)state;
    CHECK_STREAM(&orc_version2, ((int8_t[]){10, 7, 4, 1}), 4, SIGNED(1), 0xc0, 0x03, 0x14, 0x05);
    CHECK_STREAM(&orc_version2, ((int8_t[]){10, 7, 6, 6, 3}), 5, SIGNED(1), 0xc2, 0x04, 0x14, 0x05, 0x4c);
    CHECK_STREAM(&orc_version2, ((uint8_t[]){0, 2, 3, 3, 4}), 5, UNSIGNED(1), 0xc2, 0x04, 0x00, 0x04, 0x44);
    /* The sign of a first difference of 0 would not say which way. */
    CHECK_STREAM(&orc_version2, ((uint8_t[]){2, 2, 3, 4}), 4, UNSIGNED(1), 0x46, 0x03, 0x22, 0x34);
}

/* A gap of more than 255 has entries of its own. */
static void patches_may_be_far_apart(void **state)
{
    (void)state;
    static const uint32_t places[] = {0, 1, 255, 256, 257, 509, 510, 511};
    for (unsigned p = 0; p < sizeof places / sizeof *places; p++) {
        int64_t items[GROUP];
        for (uint32_t i = 0; i < GROUP; i++)
            items[i] = (int64_t)(i * 5 % 8) - 1000;
        items[places[p]] = INT64_C(1) << 40;
        uint8_t stream[4096 + 64];
        const size_t bytes = orc_rle2_encode(items, GROUP, SIGNED(8), stream);
        assert_int_equal(stream[0], 0x80 | 2 << 1 | 1);
        assert_int_equal(stream[2], 1 << 5 | 29);
        const uint32_t gap = places[p];
        assert_int_equal(stream[3] & 31, gap == 511 ? 3 : gap > 255 ? 2 : 1);
        check_stream_decodes(&orc_version2, items, GROUP, SIGNED(8), stream, bytes);
    }
}

/* A base beyond 56 bits, or differences beyond 63, are not patched. */
static void wide_outliers_round_trip(void **state)
{
    (void)state;
    static const int64_t bases[] = {0,
                                    -1,
                                    -127,
                                    -128,
                                    -255,
                                    -256,
                                    INT64_MIN,
                                    -(INT64_C(1) << 56),
                                    1 - (INT64_C(1) << 56),
                                    INT64_C(1) << 56,
                                    INT64_MIN / 2,
                                    INT64_MAX / 2};
    for (unsigned b = 0; b < sizeof bases / sizeof *bases; b++)
        for (unsigned bit = 3; bit < 63; bit++) {
            int64_t items[100];
            for (unsigned i = 0; i < 100; i++)
                items[i] = bases[b] + (i * 5 % 8);
            items[1] = bases[b];
            items[70] = (int64_t)((uint64_t)bases[b] + (UINT64_C(1) << bit));
            uint8_t stream[1100];
            assert_true(orc_rle2_bound(100, SIGNED(8)) <= sizeof stream);
            const size_t bytes = orc_rle2_encode(items, 100, SIGNED(8), stream);
            check_stream_decodes(&orc_version2, items, 100, SIGNED(8), stream, bytes);
            check_stream_decodes(&orc_version2, items, 100, UNSIGNED(8), stream,
                                 orc_rle2_encode(items, 100, UNSIGNED(8), stream));
        }
}

/* What these writers do not write, but others may. */
static void all_widths_are_read(void **state)
{
    (void)state;
    static const uint8_t widths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                     17, 18, 19, 20, 21, 22, 23, 24, 26, 28, 30, 32, 40, 48, 56, 64};
    for (uint32_t code = 0; code < 32; code++)
        for (uint32_t count = 1; count <= GROUP; count = count * 3 + 1) {
            uint64_t items[GROUP];
            uint8_t stream[2 + GROUP * 8] = {(uint8_t)(0x40 | code << 1 | (count - 1) >> 8),
                                             (uint8_t)(count - 1)};
            uint32_t bit = 16;
            for (uint32_t i = 0; i < count; i++) {
                items[i] = (i * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - widths[code]);
                for (uint32_t b = widths[code]; b--; bit++)
                    stream[bit / 8] |= (uint8_t)((items[i] >> b & 1) << (7 - bit % 8));
            }
            check_stream_decodes(&orc_version2, items, count, UNSIGNED(8), stream, (bit + 7) / 8);
        }
    CHECK_DECODES(&orc_version2, ((int32_t[]){5}), 1, SIGNED(4), 0xc0, 0x00, 0x0a, 0x02);
    CHECK_DECODES(&orc_version2, ((int32_t[]){5, 6}), 2, SIGNED(4), 0xc2, 0x01, 0x0a, 0x02);
    CHECK_DECODES(&orc_version2, ((int32_t[]){5, 5, 8}), 3, SIGNED(4), 0xc6, 0x02, 0x0a, 0x00, 0x30);
}

static void damaged_streams_are_refused(void **state)
{
    (void)state;
    const struct orc_version *const v = &orc_version2;
    CHECK_REFUSED(v, 4, UNSIGNED(2), 0x0a, 0x27, 0x10);       /* 5 items */
    CHECK_REFUSED(v, 6, UNSIGNED(2), 0x0a, 0x27, 0x10);       /* and no others */
    CHECK_REFUSED(v, 5, UNSIGNED(2), 0x0a, 0x27);             /* 2 bytes a code */
    CHECK_REFUSED(v, 5, UNSIGNED(2), 0x0a, 0x27, 0x10, 0x00); /* a byte too many */
    CHECK_REFUSED(v, 4, UNSIGNED(2), 0x5e);
    CHECK_REFUSED(v, 4, UNSIGNED(2), 0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe);
    CHECK_REFUSED(v, 3, UNSIGNED(2), 0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef);
    CHECK_REFUSED(v, 2, UNSIGNED(1), 0xc6);
    CHECK_REFUSED(v, 2, UNSIGNED(1), 0xc0, 0x01, 0x02);
    CHECK_REFUSED(v, 2, UNSIGNED(1), 0xc0, 0x01, 0x02, 0x80);
    CHECK_REFUSED(v, 1, UNSIGNED(1), 0xc6, 0x00, 0x02, 0x02); /* one item, with deltas */
    CHECK_REFUSED(v, 10, UNSIGNED(1), 0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42);
}

/* Two items of 8 bits at base 1, with a patch of 8 bits. The third and the fourth byte, the entries, and whether that is
 * right. */
static void check_patches(bool right, uint8_t third, uint8_t fourth, uint16_t entry0, uint16_t entry1)
{
    const uint8_t stream[] = {0x8e,
                              0x01,
                              third,
                              fourth,
                              0x01,
                              0x05,
                              0x06,
                              (uint8_t)(entry0 >> 8),
                              (uint8_t)entry0,
                              (uint8_t)(entry1 >> 8),
                              (uint8_t)entry1};
    uint16_t items[2];
    assert_int_equal(orc_rle2_decode(stream, sizeof stream, UNSIGNED(2), items, 2, NULL), right);
}

static void damaged_patches_are_refused(void **state)
{
    (void)state;
    check_patches(true, 7, 7 << 5 | 2, 0x0001, 0x0101);
    check_patches(true, 7, 7 << 5 | 2, 0x0000, 0x0101);
    check_patches(false, 7, 7 << 5 | 2, 0x0001, 0x0201);    /* item 2 */
    check_patches(false, 7, 7 << 5 | 2, 0xff00, 0x0101);    /* item 256 */
    check_patches(false, 7, 7 << 5 | 2, 0x0101, 0x0001);    /* item 1 twice */
    check_patches(false, 7, 7 << 5 | 0, 0x0001, 0x0101);    /* no patches */
    check_patches(false, 7, 7 << 5 | 3, 0x0001, 0x0101);    /* three entries */
    check_patches(false, 31, 0 << 5 | 1, 0x0001, 0x0101);   /* patches of 64 bits */
    check_patches(false, 30, 7 << 5 | 1, 0x0001, 0x0101);   /* of 56 bits, and gaps of 8: too short */
    check_patches(false, 0xe7, 7 << 5 | 2, 0x0001, 0x0101); /* a base of 8 bytes: too short */
    CHECK_DECODES(&orc_version2, ((int64_t[]){-2, 3}), 2, SIGNED(8), 0x8e, 0x01, 0x00, 0x01, 0x83, 0x01, 0x06,
                  0x00);
    CHECK_REFUSED(&orc_version2, 2, SIGNED(8), 0x8e, 0x01, 0x00, 0x01, 0x83, 0x01, 0x06);
    CHECK_REFUSED(&orc_version2, 2, SIGNED(8), 0x8e, 0x01, 0x00, 0x01, 0x83, 0x01);
    CHECK_REFUSED(&orc_version2, 2, SIGNED(8), 0x8e, 0x01, 0x00, 0x01);
    CHECK_REFUSED(&orc_version2, 2, SIGNED(8), 0x8e, 0x01, 0x00);
}

/* The worked example of docs/codecs.md: a group of each encoding, and the zeros that fill up the tile. */
static void bytes_are_where_the_format_says(void **state)
{
    static const int32_t values[] = {10000, 10000, 10000, 10000, 10000, 1,    -3,   2,    7,       0,
                                     0,     0,     2,     3,     5,     7,    11,   13,   17,      19,
                                     23,    29,    0,     0,     0,     2030, 2000, 2020, 1000000, 2040,
                                     2050,  2060,  2070,  2080,  2090,  2100, 2110, 2120, 2130,    2140,
                                     2150,  2160,  2170,  2180,  2190,  0};
    static const uint8_t stream[] = {0x0a, 0x4e, 0x20, 0x46, 0x03, 0x25, 0x4e, 0x00, 0x00, 0xc6, 0x09,
                                     0x04, 0x02, 0x22, 0x42, 0x42, 0x46, 0x00, 0x00, 0x8e, 0x13, 0x2b,
                                     0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46,
                                     0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4,
                                     0xbe, 0xfc, 0xe8, 0xc1, 0xff, 0x00, 0x00, 0xc1, 0xd2, 0x00, 0x00};
    check_chunk_stream(cases_codec(state), values, sizeof values / sizeof *values, stream, sizeof stream);
}

int main(void)
{
    static enum codec_id id = CODEC_ORC_RLE2;
    const struct CMUnitTest tests[] = {
        CODEC_CASES(&id),
        cmocka_unit_test_prestate(bytes_are_where_the_format_says, &id),
        cmocka_unit_test(examples_of_the_specification),
        cmocka_unit_test(repeats_are_short_up_to_ten_and_end_at_512),
        cmocka_unit_test(a_repeat_ends_the_group_before_it),
        cmocka_unit_test(direct_widths_are_aligned),
        cmocka_unit_test(deltas_go_up_or_down),
        cmocka_unit_test(patches_may_be_far_apart),
        cmocka_unit_test(wide_outliers_round_trip),
        cmocka_unit_test(all_widths_are_read),
        cmocka_unit_test(damaged_streams_are_refused),
        cmocka_unit_test(damaged_patches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
