/* test_thrift.c: structs in Thrift's compact protocol are read, and what is wrong is noticed and never followed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/parquet/thrift.h"

#include <string.h>

/* Reads a struct whose fields are all skipped; true if it was right, and all of it was read. */
static bool skips(const uint8_t *bytes, size_t count)
{
    struct thrift thrift = {bytes, bytes + count, false};
    for (struct thrift_field field = {0}; thrift_next(&thrift, &field);)
        thrift_skip(&thrift, &field);
    return !thrift.bad && thrift.at == thrift.end;
}

#define SKIPS(...) skips((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void fields_are_read(void **state)
{
    static const uint8_t bytes[] = {0x15, 0x06,             /* 1: i32 3 */
                                    0x16, 0x9f, 0x8d, 0x06, /* 2: i64 -50000 */
                                    0x21,                   /* 4: true */
                                    0x12,                   /* 5: false */
                                    0x18, 0x02, 'a',  'b',  /* 6: "ab" */
                                    0x19, 0x25, 0x01, 0x04, /* 7: [-1, 2] */
                                    0x13, 0xfe,             /* 8: byte -2 */
                                    0x05, 0xc8, 0x01, 0x02, /* 100: i32 1 */
                                    0x00};
    struct thrift thrift = {bytes, bytes + sizeof bytes, false};
    struct thrift_field field = {0}, item;
    uint32_t length, count;
    (void)state;
    assert_true(thrift_next(&thrift, &field));
    assert_int_equal(thrift_number(&thrift, &field), 3);
    assert_true(thrift_next(&thrift, &field));
    assert_int_equal(thrift_number(&thrift, &field), -50000);
    assert_true(thrift_next(&thrift, &field));
    assert_int_equal(field.id, 4);
    assert_true(thrift_truth(&thrift, &field));
    assert_true(thrift_next(&thrift, &field));
    assert_false(thrift_truth(&thrift, &field));
    assert_true(thrift_next(&thrift, &field));
    assert_memory_equal(thrift_binary(&thrift, &field, &length), "ab", 2);
    assert_int_equal(length, 2);
    assert_true(thrift_next(&thrift, &field));
    thrift_list(&thrift, &field, &item, &count);
    assert_int_equal(count, 2);
    assert_int_equal(thrift_number(&thrift, &item), -1);
    assert_int_equal(thrift_number(&thrift, &item), 2);
    assert_true(thrift_next(&thrift, &field));
    assert_int_equal(thrift_number(&thrift, &field), -2);
    assert_true(thrift_next(&thrift, &field));
    assert_int_equal(field.id, 100);
    assert_int_equal(thrift_number(&thrift, &field), 1);
    assert_false(thrift_next(&thrift, &field));
    assert_false(thrift.bad);
    assert_true(skips(bytes, sizeof bytes));
    for (size_t less = 0; less < sizeof bytes; less++)
        assert_false(skips(bytes, less));
}

static void everything_is_skipped(void **state)
{
    (void)state;
    assert_true(SKIPS(0x17, 1, 2, 3, 4, 5, 6, 7, 8, 0));                                /* a double */
    assert_true(SKIPS(0x1d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0)); /* a UUID */
    assert_true(
        SKIPS(0x1b, 0x02, 0x85, 0x01, 'k', 0x02, 0x01, 'l', 0x04, 0)); /* a map of texts and numbers */
    assert_true(SKIPS(0x1b, 0x00, 0));                                 /* an empty map */
    assert_true(SKIPS(0x19, 0x21, 0x01, 0x02, 0));                     /* a list of truth values */
    assert_true(SKIPS(0x1c, 0x15, 0x02, 0x1c, 0x00, 0x00, 0));         /* a struct in a struct */
    assert_true(SKIPS(0x19, 0xf5, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)); /* 15 numbers */
}

static void what_is_wrong_is_not_followed(void **state)
{
    static const uint8_t large[] = {0x15, 0x80, 0x80, 0x80, 0x80, 0x20, 0x00},
                         text[] = {0x18, 0x01, 'a', 0x00};
    uint8_t deep[1000];
    (void)state;
    assert_false(SKIPS(0x1e, 0x00, 0));      /* type 14 */
    assert_false(SKIPS(0x18, 0x7f, 'a', 0)); /* a text longer than the bytes */
    assert_false(SKIPS(0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0));
    assert_false(SKIPS(0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0)); /* 2^31 structs */
    assert_false(
        SKIPS(0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0)); /* too long */
    memset(deep, 0x1c, sizeof deep); /* structs in structs */
    assert_false(skips(deep, sizeof deep));
    memset(deep, 0x19, sizeof deep); /* lists of lists */
    assert_false(skips(deep, sizeof deep));

    struct thrift thrift = {large, large + sizeof large, false};
    struct thrift_field field = {0};
    assert_true(thrift_next(&thrift, &field));
    assert_int_equal(thrift_number(&thrift, &field), 0); /* no i32 is 2^32 */
    assert_true(thrift.bad);
    assert_false(thrift_next(&thrift, &field));

    struct thrift other = {text, text + sizeof text, false};
    field = (struct thrift_field){0};
    assert_true(thrift_next(&other, &field));
    assert_int_equal(thrift_number(&other, &field), 0); /* a text is no number */
    assert_true(other.bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(everything_is_skipped),
        cmocka_unit_test(what_is_wrong_is_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
