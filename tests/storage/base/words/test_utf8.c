/* test_utf8.c: every character is read, and no other bytes are one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/words/utf8.h"

#include <stdbool.h>
#include <string.h>

static size_t encode(uint32_t code, char *text)
{
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--, code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(marks[bytes] | code);
    return bytes;
}

static void every_character_is_read(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x120000; code++) {
        char text[4];
        uint32_t found;
        const size_t bytes = encode(code, text);
        const bool none = code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
        assert_int_equal(utf8_character(text, bytes, &found), none ? 0 : bytes);
        if (none)
            continue;
        assert_int_equal(found, code);
        for (size_t left = 1; left < bytes; left++)
            assert_int_equal(utf8_character(text, left, &found), 0);
    }
}

/* All beginnings of three bytes, with an ordinary continuation after them: what is read is what would be written. */
static void no_other_bytes_are_one(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 1u << 24; i += i % 4096 == 4095 ? 1 : 3) {
        const char text[4] = {(char)(i >> 16), (char)(i >> 8), (char)i, (char)0x80};
        char again[4];
        uint32_t code;
        const size_t bytes = utf8_character(text, 4, &code);
        if (bytes && (encode(code, again) != bytes || memcmp(again, text, bytes) != 0))
            fail_msg("%02x %02x %02x", i >> 16, i >> 8 & 255, i & 255);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_is_read),
        cmocka_unit_test(no_other_bytes_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
