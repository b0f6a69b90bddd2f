/* test_dictionary_blocks.c: what is encoded is decoded again, at odd sizes and of awkward strings; the drawing's example
 * is what the encoder writes; and nothing that a file may say leads out of its blocks or of the strings. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/column/dictionary/dictionary_blocks.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/database_cases.h"
#include "tests/support/codec/string_cases.h"

#include <zstd.h>

#define SEED 20261122u

static struct dictionary_blocks blocks_of(const struct dictionary_encoding *encoding, uint32_t strings)
{
    return (struct dictionary_blocks){.directory = encoding->directory,
                                      .block_count = encoding->block_count,
                                      .strings = strings,
                                      .blocks = encoding->blocks,
                                      .bytes = encoding->bytes};
}

/* Decodes all blocks into memory of exactly their size; false if one is damaged. */
static bool decode(const struct dictionary_blocks *blocks, struct dictionary *strings)
{
    struct dictionary_decoder decoder = {0};
    uint64_t *const starts = malloc((blocks->strings + (size_t)1) * sizeof *starts);
    char *const text = malloc(dictionary_blocks_text(blocks) + !dictionary_blocks_text(blocks));
    bool good = true;
    for (uint32_t b = 0; b < blocks->block_count && good; b++)
        must(dictionary_block_decode(&decoder, blocks, b, starts, text, &good, error));
    dictionary_decoder_close(&decoder);
    starts[blocks->strings] = dictionary_blocks_text(blocks);
    *strings = (struct dictionary){.count = blocks->strings, .starts = starts, .bytes = text};
    return good;
}

static void assert_same(const struct dictionary *a, const struct dictionary *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->starts, b->starts, (a->count + (size_t)1) * sizeof *a->starts);
    assert_memory_equal(a->bytes, b->bytes, a->starts[a->count]);
}

static void round_trip(const struct dictionary *strings)
{
    struct dictionary_encoding encoding;
    struct dictionary decoded;
    must(dictionary_encode(strings, &encoding, error));
    const struct dictionary_blocks blocks = blocks_of(&encoding, strings->count);
    assert_true(dictionary_blocks_valid(&blocks));
    for (uint32_t b = 0; b < encoding.block_count; b++) {
        const struct dictionary_block *const block = &encoding.directory[b];
        assert_true(block[1].first_byte - block->first_byte <= DICTIONARY_BLOCK_BYTES ||
                    block[1].first_string - block->first_string == 1);
    }
    for (uint64_t pad = encoding.bytes; pad % 128; pad++)
        assert_int_equal(encoding.blocks[pad], 0);
    assert_true(decode(&blocks, &decoded));
    assert_same(&decoded, strings);
    strings_free(&decoded);
    dictionary_encoding_free(&encoding);
}

static void what_is_encoded_is_decoded(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 31, 32, 1023, 1025, 60000};
    for (int kind = 0; kind < STRINGS_KINDS; kind++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            if ((kind == STRINGS_NESTED && counts[c] > 1025) || (kind == STRINGS_LONG && counts[c] > 32))
                continue;
            struct dictionary strings = strings_make((enum string_kind)kind, counts[c]);
            assert_int_equal(dictionary_unsorted(&strings), -1);
            round_trip(&strings);
            strings_free(&strings);
        }
}

static void a_string_may_be_longer_than_a_block(void **state)
{
    (void)state;
    char *const text = malloc(3000002);
    assert_non_null(text);
    for (size_t i = 0; i < 3000002; i++)
        text[i] = (char)string_scramble((uint32_t)i);
    text[0] = 'a';
    text[1000000] = 'b';
    memcpy(text + 2000000, text + 1000000, 1000000);
    const uint64_t starts[] = {0, 1000000, 2000000, 3000002};
    round_trip(&(struct dictionary){.count = 3, .starts = starts, .bytes = text});
    free(text);
}

static void equal_strings_and_the_empty_string_are_decoded(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, 3, 6, 9}, none[] = {0, 0};
    round_trip(&(struct dictionary){.count = 3, .starts = starts, .bytes = "catcatcat"});
    round_trip(&(struct dictionary){.count = 1, .starts = none, .bytes = ""});
}

/* ---- Handmade blocks ---- */

/* One block of zstd. `strings` strings of `bytes` bytes. */
struct hand {
    struct dictionary_block directory[2];
    uint8_t packed[256];
};

static struct dictionary_blocks hand_make(struct hand *hand, const void *content, size_t size,
                                          uint32_t strings, uint64_t bytes)
{
    const size_t packed = ZSTD_compress(hand->packed, sizeof hand->packed, content, size, 1);
    assert_false(ZSTD_isError(packed));
    hand->directory[0] = (struct dictionary_block){0};
    hand->directory[1] =
        (struct dictionary_block){.first_byte = bytes, .offset = packed, .first_string = strings};
    return (struct dictionary_blocks){.directory = hand->directory,
                                      .block_count = 1,
                                      .strings = strings,
                                      .blocks = hand->packed,
                                      .bytes = packed};
}

static void the_example_of_the_drawing_is_what_is_written(void **state)
{
    (void)state;
    static const char drawn[] = "\0\4\0\4\1\3bluesred";
    static const uint64_t starts[] = {0, 4, 9, 12};
    struct dictionary_encoding encoding;
    char content[64];
    must(dictionary_encode(&(struct dictionary){.count = 3, .starts = starts, .bytes = "bluebluesred"},
                           &encoding, error));
    assert_int_equal(encoding.block_count, 1);
    assert_int_equal(ZSTD_decompress(content, sizeof content, encoding.blocks, encoding.bytes),
                     sizeof drawn - 1);
    assert_memory_equal(content, drawn, sizeof drawn - 1);
    dictionary_encoding_free(&encoding);
}

static void streams_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what, *content;
        size_t size;
        uint32_t strings;
        uint64_t bytes;
        bool good;
    } cases[] = {
        {"the drawing's example", "\0\4\0\4\1\3bluesred", 14, 3, 12, true},
        {"a number of two bytes", "\0\x81\0x", 4, 1, 1, true},
        {"the first string shares", "\1\4\0\4\1\3bluesred", 14, 3, 13, false},
        {"more is shared than the string before has", "\0\5\0\4\1\3bluesred", 14, 3, 13, false},
        {"more bytes than strings have", "\0\4\0\4\1\3bluesredd", 15, 3, 12, false},
        {"fewer bytes than strings have", "\0\4\0\4\1\3bluesre", 13, 3, 12, false},
        {"more strings than numbers", "\0\4\0\4\1\3", 6, 7, 12, false},
        {"no content", "", 0, 1, 0, false},
        {"the block is larger", "\0\4\0\4\1\3bluesred", 14, 3, 13, false},
        {"the block is smaller", "\0\4\0\4\1\3bluesred", 14, 3, 11, false},
        {"a number of six bytes", "\0\x80\x80\x80\x80\x80\0", 7, 1, 0, false},
        {"a number that does not end", "\0\x81", 2, 1, 1, false},
        {"a number near 2^35",
         "\0\0\1\xff\xff\xff\xff\x7f"
         "a",
         9, 2, 20, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct hand hand;
        struct dictionary decoded;
        const struct dictionary_blocks blocks =
            hand_make(&hand, cases[c].content, cases[c].size, cases[c].strings, cases[c].bytes);
        const bool good = decode(&blocks, &decoded);
        if (good != cases[c].good)
            fail_msg("%s: decoded as %s", cases[c].what, good ? "good" : "damaged");
        strings_free(&decoded);
    }
}

static void directories_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct dictionary strings = strings_make(STRINGS_NUMBERED, 60000);
    struct dictionary_encoding encoding;
    must(dictionary_encode(&strings, &encoding, error));
    struct dictionary_blocks blocks = blocks_of(&encoding, strings.count);
    const uint32_t last = encoding.block_count;
    assert_true(last >= 3);
    /* Each word of 4 bytes is checked, whatever replaces it (first bytes and offsets are less than 2^32). */
    for (uint32_t entry = 0; entry <= last; entry++)
        for (int word = 0; word < 6; word++) {
            static const uint32_t others[] = {0, 0x7fffffff, 0xffffffff};
            for (int other = 0; other < 3; other++) {
                uint32_t *const place = (uint32_t *)(void *)&encoding.directory[entry] + word, kept = *place;
                struct dictionary decoded;
                if (kept == others[other])
                    continue;
                *place = others[other];
                if (dictionary_blocks_valid(&blocks))
                    fail_msg("entry %u, word %d: %u is taken", entry, word, others[other]);
                *place = kept + 1; /* may be valid, but then the streams do not fit */
                if (dictionary_blocks_valid(&blocks)) {
                    assert_false(decode(&blocks, &decoded));
                    strings_free(&decoded);
                }
                *place = kept;
            }
        }
    assert_true(dictionary_blocks_valid(&blocks));
    blocks.strings++;
    assert_false(dictionary_blocks_valid(&blocks));
    blocks = blocks_of(&encoding, strings.count);
    blocks.bytes--;
    assert_false(dictionary_blocks_valid(&blocks));
    blocks = blocks_of(&encoding, strings.count);
    blocks.block_count = 0;
    assert_false(dictionary_blocks_valid(&blocks));
    dictionary_encoding_free(&encoding);
    strings_free(&strings);
}

static void a_small_block_cannot_ask_for_much_memory(void **state)
{
    (void)state;
    struct dictionary_block directory[2] = {{0},
                                            {.first_byte = UINT32_MAX, .offset = 100, .first_string = 1}};
    const uint8_t bytes[100] = {0};
    const struct dictionary_blocks blocks = {
        .directory = directory, .block_count = 1, .strings = 1, .blocks = bytes, .bytes = 100};
    assert_false(dictionary_blocks_valid(&blocks));
    directory[1].first_byte = 1 << 20;
    assert_true(dictionary_blocks_valid(&blocks));
    directory[1].first_byte = 1000;
    directory[1].first_string = 1002;
    assert_false(dictionary_blocks_valid(&(struct dictionary_blocks){
        .directory = directory, .block_count = 1, .strings = 1002, .blocks = bytes, .bytes = 100}));
}

/* Random damage to the content of a block gives strings that lie in the block, or none. */
static void any_content_stays_inside(void **state)
{
    (void)state;
    random_state = SEED;
    print_message("seed %u\n", SEED);
    for (int round = 0; round < 20000; round++) {
        static const char example[] = "\0\4\0\4\1\3bluesred";
        uint8_t content[64];
        struct hand hand;
        struct dictionary decoded;
        memcpy(content, example, sizeof example);
        for (uint32_t hit = below(3); hit < 3; hit++)
            content[below(14)] = (uint8_t)(below(2) ? below(12) : below(256));
        const uint32_t strings = below(4) ? 3 : 1 + below(8);
        const struct dictionary_blocks blocks = hand_make(&hand, content, 14 - !below(4), strings, below(20));
        if (decode(&blocks, &decoded))
            for (uint32_t s = 0; s < strings; s++)
                assert_true(decoded.starts[s] <= decoded.starts[s + 1]);
        strings_free(&decoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_is_decoded),
        cmocka_unit_test(a_string_may_be_longer_than_a_block),
        cmocka_unit_test(equal_strings_and_the_empty_string_are_decoded),
        cmocka_unit_test(the_example_of_the_drawing_is_what_is_written),
        cmocka_unit_test(streams_that_do_not_fit_are_refused),
        cmocka_unit_test(directories_that_do_not_fit_are_refused),
        cmocka_unit_test(a_small_block_cannot_ask_for_much_memory),
        cmocka_unit_test(any_content_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
