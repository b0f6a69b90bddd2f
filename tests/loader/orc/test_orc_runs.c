/* test_orc_runs.c: ORC's runs of bytes and bits, by the examples of orc_runs.h and at every length. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/orc/orc_runs.h"

#include <string.h>

static void the_examples_decode(void **state)
{
    static const uint8_t zeros[100];
    uint8_t out[300];
    (void)state;
    memset(out, 1, sizeof out);
    assert_true(orc_bytes_decode((const uint8_t[]){0x61, 0x00}, 2, out, 100));
    assert_memory_equal(out, zeros, 100);
    assert_true(orc_bytes_decode((const uint8_t[]){0xfe, 0x44, 0x45}, 3, out, 2));
    assert_memory_equal(out, "\x44\x45", 2);
    assert_true(orc_bytes_decode((const uint8_t[]){0x00, 0x07, 0xff, 0x08, 0x7f, 0x09}, 6, out, 134));
    assert_memory_equal(out, "\x07\x07\x07\x08\x09\x09", 6);
    assert_int_equal(out[133], 9);
}

static void streams_that_end_early_are_refused(void **state)
{
    uint8_t out[300];
    (void)state;
    assert_true(orc_bytes_decode(NULL, 0, out, 0));
    assert_false(orc_bytes_decode(NULL, 0, out, 1));
    assert_false(orc_bytes_decode((const uint8_t[]){0x61}, 1, out, 1));
    assert_false(orc_bytes_decode((const uint8_t[]){0x61, 0x00}, 2, out, 101));
    assert_false(orc_bytes_decode((const uint8_t[]){0xfe, 0x44}, 2, out, 2));
    assert_false(orc_bytes_decode((const uint8_t[]){0xfe, 0x44}, 2, out,
                                  1)); /* the second byte is not needed, but missing */
}

static void a_longer_last_run_is_cut(void **state)
{
    uint8_t out[8];
    (void)state;
    memset(out, 1, sizeof out);
    assert_true(orc_bytes_decode((const uint8_t[]){0x61, 0x00}, 2, out, 5));
    assert_memory_equal(out, "\0\0\0\0\0\1\1\1", 8);
}

static void bits_are_spread_from_the_highest(void **state)
{
    uint8_t bits[40], out[330];
    (void)state;
    for (uint32_t i = 0; i < sizeof bits; i++)
        bits[i] = (uint8_t)(i * 0x9d + 0x35);
    for (uint64_t count = 0; count <= 320; count++)
        for (uint8_t flip = 0; flip < 2; flip++) {
            uint64_t ones = 0;
            memset(out, 7, sizeof out);
            const uint64_t told = orc_bits_spread(bits, count, flip, out);
            for (uint64_t i = 0; i < count; i++) {
                const uint8_t bit = (bits[i / 8] >> (7 - i % 8) & 1) ^ flip;
                assert_int_equal(out[i], bit);
                ones += bit;
            }
            assert_int_equal(told, ones);
            assert_int_equal(out[count], 7);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_decode),
        cmocka_unit_test(streams_that_end_early_are_refused),
        cmocka_unit_test(a_longer_last_run_is_cut),
        cmocka_unit_test(bits_are_spread_from_the_highest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
