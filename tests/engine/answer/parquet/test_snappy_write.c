/* test_snappy_write.c: what snappy_write compresses, Snappy's own library gives back: bytes of many kinds, at odd lengths, and in
 * no more than the bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/answer/parquet/snappy_write.h"

#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

#define MOST 300000u

static char plain[MOST], back[MOST];
static uint64_t seed = 7;

static uint32_t draw(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

enum kind { ZEROS, RANDOM, FEW, WORDS, FAR, NUMBERS, ALMOST, KINDS };

static char byte_of(enum kind kind, size_t i)
{
    switch (kind) {
    case ZEROS:
        return 0;
    case RANDOM:
        return (char)draw();
    case FEW:
        return (char)(draw() % 3);
    case WORDS:
        return "some words, some other words. "[(i + draw() % 40 / 39) % 30];
    case FAR: /* repeats after more than 2048 bytes */
        return i < 5000 ? (char)draw() : plain[i - 5000];
    case NUMBERS: /* of eight bytes */
        return (char)(i % 8 < 2 ? draw() : 0);
    default: /* four bytes that come again, then one that differs: copies as short as they may be */
        return (char)(i % 5 == 4 ? draw() : (i / 5 % 1000 * 7 + i % 5 * 31) & 0xff);
    }
}

static void comes_back(const char *bytes, size_t length)
{
    char *const packed = malloc(snappy_write_bound(length));
    size_t whole = sizeof back;
    assert_non_null(packed);
    const size_t count = snappy_write(bytes, length, packed);
    assert_true(count <= snappy_write_bound(length));
    assert_int_equal(snappy_uncompress(packed, count, back, &whole), SNAPPY_OK);
    assert_int_equal(whole, length);
    assert_memory_equal(back, bytes, length);
    free(packed);
}

static void all_kinds_come_back(void **state)
{
    static const size_t lengths[] = {0,   1,   2,    3,     4,     5,     59,    60,    61,     62,    64,
                                     127, 128, 1000, 65535, 65536, 65537, 65540, 99999, 131072, 300000};
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < MOST; i++)
            plain[i] = byte_of((enum kind)kind, i);
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            comes_back(plain, lengths[l]);
        for (unsigned turn = 0; turn < 200; turn++)
            comes_back(plain + draw() % 1000, draw() % 3000);
    }
}

static void what_repeats_becomes_small(void **state)
{
    static char packed[MOST + MOST / 2];
    (void)state;
    memset(plain, 0, MOST);
    assert_true(snappy_write(plain, MOST, packed) < MOST / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kinds_come_back),
                                       cmocka_unit_test(what_repeats_becomes_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
